#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/mechanisms/modes.h"

namespace attnscope {
namespace {

constexpr std::array modes = {
    WorkspaceView{"induction", "Induction heads",
                  "Which heads of a language model continue a repeated sequence, and when they formed (arXiv "
                  "2209.11895)."},
    WorkspaceView{"grokking", "Grokking",
                  "The frequencies with which a model computes modulo p, and how they grew (arXiv 2301.05217)."},
    WorkspaceView{.name = "runs",
                  .title = "Runs",
                  .help = "All runs of a folder, for example of a sweep: any result against any setting, with the "
                          "fitted power. A click opens a run.",
                  .needs = ViewNeeds::nothing},
};

template <int by>
void change_mode(WorkspaceContext& context) {
  MechanismMode& mode = context.views.of<MechanismsView>().mode;
  mode = static_cast<MechanismMode>(clamped(static_cast<int>(mode) + by, 0, static_cast<int>(modes.size()) - 1));
}

constexpr std::array keys = {
    WorkspaceKey{{.key = Key::page_down}, "next view, previous view", change_mode<1>},
    WorkspaceKey{{.key = Key::page_up}, "next view, previous view", change_mode<-1>},
};

}  // namespace

std::span<const WorkspaceKey> mechanism_keys() {
  return keys;
}

std::span<const WorkspaceView> mechanism_modes() {
  return modes;
}

void show_mechanism_mode(Views& views, std::size_t mode) {
  views.of<MechanismsView>().mode = static_cast<MechanismMode>(mode);
}

void draw_mechanisms(WorkspaceContext& context) {
  MechanismsView& view = context.views.of<MechanismsView>();
  view.mode = static_cast<MechanismMode>(draw_view_choices(
      modes, static_cast<std::size_t>(view.mode), context.skin, {}, context.maps.newest.snapshot.get()));
  if (view.mode == MechanismMode::runs) return draw_runs(context, view.runs);
  if (!context.has_run) {
    end_choices();
    return draw_quiet_note(tr("No run is open. Open or train one, for example with the preset induction-heads."),
                           ImGui::GetContentRegionAvail(), context.skin);
  }
  if (view.mode == MechanismMode::induction) return draw_induction(context, view.induction);
  draw_fourier(context, view.fourier);
}

std::optional<WorkspaceNumbers> mechanism_numbers(const Views& views) {
  const MechanismsView& view = views.of<MechanismsView>();
  if (view.mode == MechanismMode::induction && !view.induction.scores.empty())
    return WorkspaceNumbers{view.induction.scores, view.induction.heads, {"previous", "induction", "first", "copying"},
                            "induction scores"};
  if (view.mode == MechanismMode::fourier && !view.fourier.spectrum.empty())
    return WorkspaceNumbers{view.fourier.spectrum, view.fourier.frequencies, view.fourier.steps,
                            "power of the frequencies"};
  return std::nullopt;
}

void take_mechanism(MechanismsView& all, InductionResult result, std::uint64_t run, std::int64_t step) {
  InductionView& view = all.induction;
  ++view.version;
  view.heads.clear();
  view.over_steps.clear();
  if (!result.points.empty()) {
    const std::vector<HeadInduction>& heads = result.points.back().heads;
    view.scores = Matrix(static_cast<int>(heads.size()), 4);
    view.over_steps.resize(1 + 2 * heads.size());
    for (std::size_t i = 0; i < heads.size(); ++i) {
      view.heads.push_back(layer_and_head(heads[i].place.layer, heads[i].place.head));
      const std::array values = {heads[i].previous, heads[i].induction, heads[i].first, heads[i].copying};
      for (int col = 0; col < view.scores.cols; ++col)
        view.scores.at(static_cast<int>(i), col) = static_cast<float>(values[static_cast<std::size_t>(col)]);
    }
    const auto add = [](Series& series, std::int64_t x, double y) {
      series.x.push_back(static_cast<double>(x));
      series.y.push_back(y);
    };
    for (const InductionPoint& point : result.points) {
      add(view.over_steps[0], point.step, point.nll);
      for (std::size_t i = 0; i < heads.size(); ++i) {
        add(view.over_steps[1 + i], point.step, point.heads[i].induction);
        add(view.over_steps[1 + heads.size() + i], point.step, point.heads[i].previous);
      }
    }
  }
  view.study.run = run;
  view.study.step = step;
  view.study.result = std::move(result);
}

void take_mechanism(MechanismsView& all, FourierResult result, std::uint64_t run, std::int64_t step) {
  FourierView& view = all.fourier;
  ++view.version;
  view.losses.assign(3, {});
  view.frequencies.clear();
  view.steps.clear();
  view.spectrum = {};
  if (!result.points.empty()) {
    const std::size_t count = result.points.back().power.size();
    view.spectrum = Matrix(static_cast<int>(count), static_cast<int>(result.points.size()));
    for (std::size_t k = 0; k < count; ++k) view.frequencies.push_back(std::to_string(k + 1));
    for (std::size_t i = 0; i < result.points.size(); ++i) {
      const FourierPoint& point = result.points[i];
      view.steps.push_back(grouped(point.step));
      for (std::size_t k = 0; k < count; ++k)
        view.spectrum.at(static_cast<int>(k), static_cast<int>(i)) = static_cast<float>(100 * point.power[k]);
      const std::array losses = {point.loss, point.restricted, point.excluded};
      for (std::size_t line = 0; line < (result.has_losses ? losses.size() : 1); ++line) {
        view.losses[line].x.push_back(static_cast<double>(std::max<std::int64_t>(1, point.step)));
        view.losses[line].y.push_back(losses[line]);
      }
    }
  }
  view.circle = clamped(view.circle, 0, std::max(0, static_cast<int>(result.key.size()) - 1));
  view.study.run = run;
  view.study.step = step;
  view.study.result = std::move(result);
}

}  // namespace attnscope
