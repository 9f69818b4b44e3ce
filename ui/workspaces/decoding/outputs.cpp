#include "workspaces/decoding/modes.h"

#include <fmt/format.h>

#include "base/translation.h"
#include "widgets/heatmap.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"
#include "workspaces/decoding/controls.h"

namespace attnscope {
namespace {

void draw_buttons(const HypothesisInspection& hypothesis, DecodingView& view, const Skin& skin) {
  if (ImGui::Button(tr_label("Force this prefix"))) steer(view, hypothesis.ids);
  help_tooltip(tr("Makes these tokens the forced prefix: every mode then shows how the decoder continues. “Clear "
                  "prefix”, above, undoes it."),
               skin);
  next_in_row(button_width(tr("Step through")), skin.px(4));
  if (ImGui::Button(tr_label("Step through"))) {
    steer(view, hypothesis.ids);
    view.mode = DecodingMode::steps;
    view.time_step = -1;
  }
  help_tooltip(tr("Forces this prefix and shows it step by step: what the decoder saw and what it chose from."), skin);
  next_in_row(button_width(tr("Best")), skin.px(4));
  ImGui::BeginDisabled(view.hypothesis.empty());
  if (ImGui::Button(tr_label("Best"))) view.hypothesis.clear();
  ImGui::EndDisabled();
  help_tooltip(tr("Selects the best hypothesis of the beam again."), skin);
}

void draw_map(const Shown& shown, const DecodingView& view, TextureStore& textures, const Skin& skin) {
  const HypothesisInspection& hypothesis = shown.snapshot->decodings->hypothesis;
  const ModelConfig& model = shown.snapshot->model;
  if (hypothesis.maps.empty())
    return draw_quiet_note(no_attention_text(model).c_str(), ImGui::GetContentRegionAvail(), skin);
  const std::vector<std::string> rows = texts_of(hypothesis.queries);
  const std::vector<std::string> cols = texts_of(hypothesis.keys);
  HeatmapOptions options;
  options.row_axis = model.is_language_model() ? tr("query (input)") : tr("generated");
  options.col_axis = model.is_language_model() ? tr("key") : tr("source");
  options.row_labels = rows;
  options.col_labels = cols;
  options.stretch = 3;
  options.mask_upper = model.is_language_model();
  draw_heatmap("hypothesis", shown_map(hypothesis.maps, view), shown_map_version(shown, hypothesis.maps, view),
               ImVec2(0, 0), options, textures, skin);
}

}  // namespace

const Shown& settled(const Shown& shown, DecodingView& view, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  const Snapshot* before = view.settled.snapshot.get();
  const bool same = before != nullptr && before->run == snapshot.run && before->source_text == snapshot.source_text;
  if (!same) view.settled = {};
  if (snapshot.decodings) view.settled = shown;
  if (!view.settled.snapshot) draw_quiet_note("…", ImGui::GetContentRegionAvail(), skin);
  return view.settled;
}

void draw_hypothesis(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin) {
  const HypothesisInspection& hypothesis = shown.snapshot->decodings->hypothesis;
  if (has_choice(hypothesis.maps)) {
    draw_choosers(hypothesis.maps, view, skin);
    next_in_row(button_width(tr("Force this prefix")), skin.px(4));
  }
  draw_buttons(hypothesis, view, skin);
  const std::string text = one_line(hypothesis.text);
  plain_text(text);
  help_tooltip(trf("{}\nThe selected output; the map shows what each of its steps attends to (paper §3.2.3).", text),
               skin);
  draw_map(shown, view, textures, skin);
}

}  // namespace attnscope
