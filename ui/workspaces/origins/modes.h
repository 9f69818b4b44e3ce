// The origins of attention: one view per chapter, and the controls above them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "workspaces/origins/view.h"
#include "workspaces/workspace.h"

namespace attnscope {

// ---- for the table of workspaces
void draw_origins(WorkspaceContext& context);
std::span<const WorkspaceKey> origin_keys();
std::span<const WorkspaceView> origin_modes();
void show_origin_mode(Views& views, std::size_t mode);
void ask_for_origins(const Views& views, Probe& probe);
std::optional<WorkspaceNumbers> origin_numbers(const Views& views);
bool is_learning(const Views& views);

// ---- one function per view
void draw_kernels(WorkspaceContext& context, OriginsView& view);
void draw_learned(WorkspaceContext& context, OriginsView& view);
void draw_scaling(WorkspaceContext& context, OriginsView& view);
void draw_schedule(WorkspaceContext& context, OriginsView& view);
void draw_superposition(WorkspaceContext& context, OriginsView& view);
void draw_cell(WorkspaceContext& context, OriginsView& view);
void draw_state_attention(WorkspaceContext& context, OriginsView& view);
void draw_bottleneck(WorkspaceContext& context, OriginsView& view);
void draw_through_time(WorkspaceContext& context, OriginsView& view);
void draw_cost(WorkspaceContext& context, OriginsView& view);
void draw_lengths(WorkspaceContext& context, OriginsView& view);
void draw_classes(WorkspaceContext& context, OriginsView& view);
// For the drawn query, one row per key.
std::optional<WorkspaceNumbers> scaling_numbers(const ScalingView& view);
std::optional<WorkspaceNumbers> gradient_numbers(const GradientsView& view);
std::optional<WorkspaceNumbers> cost_numbers(const CostView& view);
std::optional<WorkspaceNumbers> length_numbers(const LengthsView& view);
std::optional<WorkspaceNumbers> class_numbers(const ClassesView& view);

// Requests the result for the open chapter, replacing studies of other chapters.
void ask_for_gradients(WorkspaceContext& context, GradientsView& view, int output);
// Requests it once per sentence and run, when no other study is running.
void ask_for_new_gradients(WorkspaceContext& context, GradientsView& view);
void ask_for_cost(WorkspaceContext& context, CostView& view);
void ask_for_lengths(WorkspaceContext& context, LengthsView& view);
void ask_for_classes(WorkspaceContext& context, ClassesView& view);

// ---- shared by both chapters on pooling

// Draws the controls of the points, in the row.
void draw_point_controls(PointsView& view, const Skin& skin);

struct PoolingPicture {
  std::span<const PlotLine> lines;
  const Matrix& weights;      // queries × keys; point size is proportional to the weight in row view.query
  std::uint64_t version = 0;  // of the weights
  std::function<std::string(double query, double key)> formula;  // formula of a weight
  const Series* low = nullptr;                                   // optional faint lines on both sides of the estimate
  const Series* high = nullptr;
  std::optional<double> average = {};  // mean of all values: the estimate of an infinitely wide kernel
};

// Draws the points, which the mouse drags, adds and removes, above the matrix of weights; fills the rest of the window.
void draw_pooling(PointsView& view, const PoolingPicture& picture, TextureStore& textures, const Skin& skin);

// Two columns: that picture on the left, `right` next to it.
void draw_beside(const std::function<void()>& left, const std::function<void()>& right, const Skin& skin);

struct SliderText {
  const char* word;  // label before it
  const char* help;
  bool first = false;  // first in its row
};
bool draw_slider(const SliderText& text, double& value, double low, double high, const char* format, bool logarithmic,
                 const Skin& skin);
bool draw_slider(const SliderText& text, int& value, int low, int high, bool logarithmic, const Skin& skin);

}  // namespace attnscope
