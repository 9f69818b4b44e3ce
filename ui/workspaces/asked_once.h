// Asks for the study of a view once per run and question, and again as the run trains; the button asks again.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/workspace.h"

namespace attnscope {

// A study that is asked for once per run, and again on request.
template <typename Question, typename Result>
struct AskedOnce {
  Question question = {};
  std::optional<std::pair<std::uint64_t, Question>> asked = {};  // the run and its newest question
  std::optional<Result> result = {};
  std::uint64_t run = 0;
  std::int64_t step = 0;
};

struct AskedOptions {
  bool offers_experiments = false;  // the note has a button to the gallery, whose runs the view can show
  bool follows_training = true;     // asks again as the run trains
};

// Draws “Recompute” at the end of the row. Returns the result to show, or null after a note that says why there is
// none.
template <typename Question, typename Result>
const Result* asked_result(WorkspaceContext& context, AskedOnce<Question, Result>& study, const char* working_note,
                           const AskedOptions& options = {}) {
  const Skin& skin = context.skin;
  const bool working = context.studying || context.study.has_value();
  const std::uint64_t run = context.live ? context.live->run : 0;
  if (study.result && run != 0 && study.run != run) study.result.reset();
  const std::pair wanted{run, study.question};
  // While the run trains, again after every fifth of its steps, and at its end.
  const std::int64_t step = context.live ? context.live->step : 0;
  const bool trained = options.follows_training && study.result &&
                       (step > study.step + study.step / 5 + 20 ||
                        (step > study.step && step == context.config.training.steps));
  bool asks = run != 0 && (trained || study.asked != wanted);
  ImGui::BeginDisabled(working || run == 0);
  asks |= row_button(tr_label("Recompute"));
  ImGui::EndDisabled();
  help_tooltip(tr("Measures again with the current weights and those of every recorded step."), skin);
  if (asks && !working) {
    study.asked = wanted;
    context.study = study.question;
  }
  if (study.result) {
    ImGui::SameLine(0, skin.px(10));
    dim_text(trf("step {}", grouped(study.step)), skin);
  }
  if (study.result && study.result->problem.empty()) return &*study.result;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool offers = study.result && options.offers_experiments;
  if (offers) ImGui::SetCursorPosY(ImGui::GetCursorPosY() + room.y * 0.35F);
  draw_quiet_note(study.result ? tr_filled(study.result->problem).c_str() : working_note,
                  {room.x, offers ? skin.px(48) : room.y}, skin);
  if (!offers) return nullptr;
  const char* offer = tr_label("Experiments…");
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + (room.x - button_width(offer)) / 2);
  if (ImGui::Button(offer)) context.experiments_wanted = true;
  help_tooltip(tr("Opens the gallery: known results to train and watch, among them those that this view shows."), skin);
  return nullptr;
}

}  // namespace attnscope
