#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/positions/modes.h"
#include "workspaces/positions/numbers.h"

namespace attnscope {
namespace {

constexpr std::array modes = {
    WorkspaceView{"numbers", "In this model",
                  "This model's positional encoding in numbers, and how similar positions are to each other."},
    WorkspaceView{"turning", "Rotary embeddings (RoPE)",
                  "RoPE: queries and keys are rotated in pairs of dimensions, and q\u00B7k depends on their distance.",
                  "RoPE", ViewNeeds::nothing},
    WorkspaceView{"wavelengths", "Wavelengths",
                  "The sinusoids, with wavelengths from 2\u03C0 to 10000\u00B72\u03C0 positions, far beyond the length "
                  "limit (paper \u00A73.5).",
                  nullptr, ViewNeeds::nothing},
    WorkspaceView{"locality", "Attention distance",
                  "The mean distance from a query to what it attends to, layer by layer.", "Distance",
                  ViewNeeds::attention},
    WorkspaceView{"shuffled", "Word order",
                  "The model's output for shuffled words, with and without positional encoding (paper \u00A73.5)."},
};
static_assert(modes.size() == static_cast<std::size_t>(PositionsMode::shuffled) + 1);

// ---- the keys

template <int by>
void change_mode(WorkspaceContext& context) {
  PositionsView& view = context.views.of<PositionsView>();
  const int last = static_cast<int>(modes.size()) - 1;
  view.mode = static_cast<PositionsMode>(clamped(static_cast<int>(view.mode) + by, 0, last));
}

template <int by>
void move_query(WorkspaceContext& context) {
  PositionsView& view = context.views.of<PositionsView>();
  if (view.mode == PositionsMode::turning) view.turning.query = clamped(view.turning.query + by, 0, last_position);
  if (view.mode == PositionsMode::wavelengths)
    view.wavelengths.far = clamped(by > 0 ? view.wavelengths.far * 2 : view.wavelengths.far / 2, 32, most_far);
}

template <int by>
void move_key(WorkspaceContext& context) {
  PositionsView& view = context.views.of<PositionsView>();
  if (view.mode == PositionsMode::turning) view.turning.key = clamped(view.turning.key + by, 0, last_position);
}

void move_together(WorkspaceContext& context) {
  PositionsView& view = context.views.of<PositionsView>();
  if (view.mode == PositionsMode::turning) move_both(view.turning);
}

void reshuffle(WorkspaceContext& context) {
  PositionsView& view = context.views.of<PositionsView>();
  if (view.mode != PositionsMode::shuffled) return;
  ++view.orders.seed;
  ask_for_orders(context, view.orders);
}

constexpr const char* next_mode = mark("next view, previous view");
constexpr const char* query = mark("the query's position; range of the waves");
constexpr std::array keys = {
    WorkspaceKey{{.key = Key::page_down}, next_mode, change_mode<1>},
    WorkspaceKey{{.key = Key::page_up}, next_mode, change_mode<-1>},
    WorkspaceKey{{.key = Key::left, .repeats = true}, query, move_query<-1>},
    WorkspaceKey{{.key = Key::right, .repeats = true}, query, move_query<1>},
    WorkspaceKey{{.key = Key::up, .repeats = true}, "the key's position", move_key<1>},
    WorkspaceKey{{.key = Key::down, .repeats = true}, "the key's position", move_key<-1>},
    WorkspaceKey{{.key = Key::enter, .repeats = true}, "query and key move together", move_together},
    WorkspaceKey{{.key = Key::home}, "shuffle the words again", reshuffle},
};

// ---- the numbers

WorkspaceNumbers turning_numbers(const TurningView& view) {
  const int pairs = view.width / 2;
  WorkspaceNumbers numbers{Matrix(pairs, 4), {}, {"theta", "query", "key", "cos of the difference"}, "rope turned"};
  for (int pair = 0; pair < pairs; ++pair) {
    const double theta = rope_angle(pair, view.width, view.base);
    numbers.rows.push_back(fmt::format("pair {}", pair));
    const std::array of_pair = {theta, view.query * theta, view.key * theta, std::cos((view.query - view.key) * theta)};
    for (int col = 0; col < 4; ++col)
      numbers.matrix.at(pair, col) = static_cast<float>(of_pair[static_cast<std::size_t>(col)]);
  }
  return numbers;
}

WorkspaceNumbers wavelength_numbers(const WavelengthsView& view) {
  WorkspaceNumbers numbers{Matrix(static_cast<int>(view.lengths.x.size()), 1), {}, {"wavelength"}, "wavelengths"};
  for (std::size_t i = 0; i < view.lengths.x.size(); ++i) {
    numbers.rows.push_back(fmt::format("dimension {}", view.lengths.x[i]));
    numbers.matrix.values[i] = static_cast<float>(view.lengths.y[i]);
  }
  return numbers;
}

WorkspaceNumbers locality_numbers(const LocalityView& view) {
  WorkspaceNumbers numbers{
      Matrix(static_cast<int>(view.heads.size()), 2), {}, {"distance", "all equal"}, "mean distances"};
  int row = 0;
  for (const HeadDistance& head : view.heads) {
    numbers.rows.push_back(head_name(head.place, view.snapshot->model));
    numbers.matrix.at(row, 0) = static_cast<float>(head.distance);
    numbers.matrix.at(row++, 1) = static_cast<float>(head.alike);
  }
  return numbers;
}

WorkspaceNumbers table_numbers(const PositionNumbersView& view) {
  WorkspaceNumbers numbers{view.shown.values, {}, {}, "positions " + view.shown.name};
  for (int row = 0; row < view.shown.values.rows; ++row) numbers.rows.push_back(fmt::to_string(view.shown.first + row));
  for (int col = 0; col < view.shown.values.cols; ++col) numbers.cols.push_back(fmt::to_string(col));
  return numbers;
}

void draw_modes(PositionsView& view, const Snapshot* snapshot, const Skin& skin) {
  view.mode = static_cast<PositionsMode>(
      draw_view_choices(modes, static_cast<std::size_t>(view.mode), skin, {}, snapshot));
  end_choices();
}

void draw_numbers(WorkspaceContext& context, PositionsView&) {
  const Snapshot* newest = context.maps.newest.snapshot.get();
  if (newest && is_recorded(*newest))
    return draw_quiet_note(recorded_note(context.maps.newest), ImGui::GetContentRegionAvail(), context.skin);
  draw_position_numbers(newest, context.views.of<PositionNumbersView>(), context.textures, context.skin);
}

}  // namespace

std::span<const WorkspaceKey> position_keys() {
  return keys;
}

std::span<const WorkspaceView> position_modes() {
  return modes;
}

void show_position_mode(Views& views, std::size_t mode) {
  views.of<PositionsView>().mode = static_cast<PositionsMode>(mode);
}

std::optional<WorkspaceNumbers> position_mode_numbers(const Views& views) {
  const PositionsView& view = views.of<PositionsView>();
  const PositionNumbersView& table = views.of<PositionNumbersView>();
  if (view.mode == PositionsMode::numbers && !table.shown.values.empty()) return table_numbers(table);
  if (view.mode == PositionsMode::turning && view.turning.of_width > 0) return turning_numbers(view.turning);
  if (view.mode == PositionsMode::wavelengths && view.wavelengths.of_width > 0)
    return wavelength_numbers(view.wavelengths);
  if (view.mode == PositionsMode::locality && !view.locality.heads.empty()) return locality_numbers(view.locality);
  if (view.mode == PositionsMode::shuffled) return order_numbers(view.orders);
  return std::nullopt;
}

void draw_positions(WorkspaceContext& context) {
  PositionsView& view = context.views.of<PositionsView>();
  draw_modes(view, context.maps.newest.snapshot.get(), context.skin);
  // Same order as PositionsMode.
  constexpr std::array draws = {draw_numbers, draw_turning, draw_wavelengths, draw_locality, draw_shuffled};
  static_assert(draws.size() == modes.size());
  draws[static_cast<std::size_t>(view.mode)](context, view);
}

}  // namespace attnscope
