// The model from text to probabilities on one page: the architecture as in the paper's figure 1, and the tensors in
// each of its boxes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/translation.h"
#include "workspaces/flow/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// ---- the views; each fills the rest of the window

void draw_architecture(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin);

// One query against all keys: the scores, the weights, and the weighted sum of values (paper §3.2).
void draw_lookup(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin);

// The next batch as the trainer sees it: tokens, padding, masks, smoothed targets, dropout.
void draw_batch(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin);

// Draws a word and the numbers from 1 to `count` in the row of choices.
void draw_numbers(const char* word, int count, int& chosen, const char* help, const Skin& skin);
inline constexpr const char* layer_help = mark("Enter, Backspace: next layer, previous layer.");
inline constexpr const char* head_help = mark("Home, End: previous head, next head.");

// Shown if all numbers are NaN.
inline constexpr const char* diverged_note = mark(
    "Every value is NaN: the weights diverged. Open an earlier checkpoint, or Reset and train with a smaller learning "
    "rate.");

// ---- parts of the view "Architecture"

// Draws the boxes from bottom to top, with tensor shapes along the arrows; a click selects a box. Fills `size`.
void draw_diagram(const Snapshot& snapshot, FlowView& view, ImVec2 size, const Skin& skin);

// Draws the matrices of the selected box. Fills the rest of the window.
void draw_tensors(const Shown& shown, FlowView& view, TextureStore& textures, const Skin& skin);

// Shows how one number of a box was computed, ending with "= its value".
std::string flow_arithmetic(const DataFlow& flow, int matrix, int row, int col);

// The table of the view "Soft database" as last drawn.
std::optional<WorkspaceNumbers> lookup_numbers(const LookupView& view);

// ---- parts of the view "Batch"

// The target distribution of a position (paper §5.4, as in PyTorch): probability of the correct token, and of every
// other one.
struct SmoothedTarget {
  double right = 1;
  double other = 0;
};
SmoothedTarget smoothed_target(double label_smoothing, std::int64_t num_outputs);

// A row as running text; start and end tokens are set apart.
std::string row_text(const BatchSide& side, int row);

// Queries × keys of one row: 0 if the key is visible, else the sum of the masks that hide it.
inline constexpr int mask_ahead = 1;
inline constexpr int mask_padding = 2;
Matrix batch_mask(const BatchInspection& batch, BatchMask mask, int row);

// Moves the selected row and position, within the batch.
void move_in_batch(BatchView& view, int rows, int positions);

// The token IDs of all its sides.
std::optional<WorkspaceNumbers> batch_numbers(const BatchView& view);

// ---- the workspace for the table of workspaces

void draw_flow(WorkspaceContext& context);
std::span<const WorkspaceKey> flow_keys();
std::span<const WorkspaceView> flow_modes();
void show_flow_mode(Views& views, std::size_t mode);
void ask_for_flow(const Views& views, Probe& probe);
std::optional<WorkspaceNumbers> flow_numbers(const Views& views);

}  // namespace attnscope
