// What Ctrl+Z takes back: whatever somebody chose of the sentence, the setup, the interventions and the output, and
// which run is open. Nobody reports a change: what is chosen is compared with what was, once a frame. While a field is
// being edited or a slider dragged nothing is compared, so that all of it is one step; text fields have an undo of
// their own until they are left.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plain/config.h"
#include "plain/interventions.h"
#include "plain/messages.h"

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
  struct Return {  // to a run that is being opened
    std::string folder;
    Direction direction;
  };

  std::optional<Chosen> present;          // when it was last compared
  std::vector<Chosen> past;               // the newest last
  std::vector<Chosen> future;             // what was taken back; the last was taken back last
  std::map<std::uint64_t, OpenRun> runs;  // those whose place was taken: what brings them back
  std::optional<Return> returning;
};

inline constexpr std::size_t max_undo = 100;

// Compares; once a frame, after everything was drawn.
void settle_undo(AppState& scope);

bool can_undo(const AppState& scope);
bool can_redo(const AppState& scope);
void undo(AppState& scope);
void redo(AppState& scope);

// "Undo reset", "Redo sentence"
std::string undo_title(const AppState& scope);
std::string redo_title(const AppState& scope);

// A run has taken the place of `before`, the number of the run that was open.
void receive_in_undo(AppState& scope, std::uint64_t before);

// No run was opened: what was to be brought back is not.
void give_up_return(AppState& scope);

}  // namespace attnscope
