// Undo (Ctrl+Z) for selections in the sentence, the setup, the interventions, the output, and the open run. Nothing
// reports changes: the current selection is compared with the previous one once per frame. While a field is edited or a
// slider dragged the comparison is suspended, so that the whole edit is one undo step. Text fields have their own undo
// while they are active.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "messages/interventions.h"
#include "messages/messages.h"

namespace attnscope {

struct AppState;

struct Chosen {
  std::uint64_t run = 0;  // RunOpened::run
  std::string sentence;
  std::string reference;
  Config edited;
  Interventions interventions;
  std::string prefix;
  std::vector<int> prefix_ids;
  std::vector<int> hypothesis;
  bool operator==(const Chosen&) const = default;
};

struct UndoHistory {
  enum class Direction { back, forth };
  struct Return {  // pending until its run is open
    std::string folder;
    Direction direction;
  };

  std::optional<Chosen> present;          // at the last comparison
  std::vector<Chosen> past;               // newest last
  std::vector<Chosen> future;             // undone states; the last one was undone last
  std::map<std::uint64_t, OpenRun> runs;  // replaced runs, with what is needed to reopen them
  std::optional<Return> returning;
};

inline constexpr std::size_t max_undo = 100;

// Compares the selection with the previous one; call once per frame, after everything was drawn.
void settle_undo(AppState& scope);

bool can_undo(const AppState& scope);
bool can_redo(const AppState& scope);
void undo(AppState& scope);
void redo(AppState& scope);

// "Undo reset", "Redo sentence"
std::string undo_title(const AppState& scope);
std::string redo_title(const AppState& scope);

// Handles that a run replaced `before`, the number of the run that was open.
void receive_in_undo(AppState& scope, std::uint64_t before);

// Handles that no run was opened: cancels the pending undo.
void give_up_return(AppState& scope);

}  // namespace attnscope
