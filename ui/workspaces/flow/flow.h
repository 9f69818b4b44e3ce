// The model from text to probabilities, on one page: the architecture as the paper's figure 1 has it, and what goes
// through each of its boxes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/translation.h"
#include "workspaces/flow/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// ---- the views; each fills what is left of the window

void draw_architecture(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin);

// One query against all keys: the match, its weight, and the values adding up (paper §3.2).
void draw_lookup(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin);

// The next batch as the trainer sees it: pieces, padding, masks, smoothed targets, dropout.
void draw_batch(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin);

// A word and the numbers from 1 to `count` in the row of choices.
void draw_numbers(const char* word, int count, int& chosen, const char* help, const Skin& skin);
inline constexpr const char* layer_help = mark("Enter, Backspace: next layer, previous layer.");
inline constexpr const char* head_help = mark("Home, End: previous head, next head.");

// Where no number is one.
inline constexpr const char* diverged_note = mark(
    "Every value is NaN: the weights diverged. Open an earlier checkpoint, or Reset and train with a smaller learning "
    "rate.");

// ---- parts of the view "Architecture"

// The boxes, from the bottom to the top, with what goes along the arrows; a click chooses one. Fills `size`.
void draw_diagram(const Snapshot& snapshot, FlowView& view, ImVec2 size, const Skin& skin);

// The matrices of the chosen box. Fills what is left of the window.
void draw_tensors(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin);

// How one number of a box came about, ending with "= its value".
std::string flow_arithmetic(const DataFlow& flow, int matrix, int row, int col);

// The table of the view "Soft database" as it was drawn last.
std::optional<WorkspaceNumbers> lookup_numbers(const LookupView& view);

// ---- parts of the view "Batch"

// What the loss compares a position with (paper §5.4, in PyTorch's form): the right piece, and every other one.
struct SmoothedTarget {
  double right = 1;
  double other = 0;
};
SmoothedTarget smoothed_target(double label_smoothing, std::int64_t num_outputs);

// A row in one piece, as it is read; what begins and ends it stands apart.
std::string row_text(const BatchSide& side, int row);

// Queries × keys of one row: 0 where the key is seen, else the sum of the masks that hide it.
inline constexpr int mask_ahead = 1;
inline constexpr int mask_padding = 2;
Matrix batch_mask(const BatchInspection& batch, BatchMask mask, int row);

// Moves the chosen row and position by so many, within the batch.
void move_in_batch(BatchView& view, int rows, int positions);

// The ids of all its sides.
std::optional<WorkspaceNumbers> batch_numbers(const BatchView& view);

// ---- the workspace, as the table of workspaces has it

void draw_flow(WorkspaceContext& context);
std::span<const WorkspaceKey> flow_keys();
std::span<const WorkspaceView> flow_modes();
void show_flow_mode(Views& views, std::size_t mode);
void ask_for_flow(const Views& views, Probe& probe);
std::optional<WorkspaceNumbers> flow_numbers(const Views& views);

}  // namespace attnscope
