#include "shell/captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "base/numbers.h"
#include "base/translation.h"
#include "files/captures/page.h"
#include "messages/metrics.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"
#include "workspaces/circuit/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

// The nearest view before the shown one that shows the capture, else the first; else one that can be shown.
void settle_view(AppState& scope, const Snapshot& snapshot) {
  const Workspace& workspace = *scope.layout.workspace;
  if (!workspace.views) return;
  const auto views = workspace.views();
  const auto has_place = [&](const WorkspaceView& view) { return !view_refusal(view, snapshot); };
  const auto is_of_capture = [&](const WorkspaceView& view) {
    return has_place(view) && view.needs != ViewNeeds::nothing;
  };
  const std::size_t shown = workspace.shown(scope.views);
  if (has_place(views[shown])) return;
  std::size_t chosen = shown;
  while (chosen > 0 && !is_of_capture(views[chosen])) --chosen;
  const auto index_of = [&](auto found) { return static_cast<std::size_t>(found - views.begin()); };
  if (!is_of_capture(views[chosen])) chosen = index_of(std::ranges::find_if(views, is_of_capture));
  if (chosen == views.size()) chosen = index_of(std::ranges::find_if(views, has_place));
  workspace.show(scope.views, chosen);
}

void draw_line(const std::string& name, const std::string& value, const Skin& skin) {
  small_text(skin.theme.text_dim, name, skin);
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, value, skin);
}

}  // namespace

bool shows_capture(const AppState& scope) {
  return scope.a.run.config.model.is_capture();
}

bool has_curves(const AppState& scope) {
  return !shows_capture(scope) || !scope.a.curves[metric("loss")].points().x.empty();
}

void settle_capture(AppState& scope) {
  if (!shows_capture(scope)) return;
  if (!example_of(scope)) set_sentence(scope, scope.a.run.examples.front().source);
  const Snapshot* snapshot = scope.a.complete.snapshot.get();
  if (!snapshot || !snapshot->captured) return;
  if (workspace_refusal(*scope.layout.workspace, *snapshot)) scope.layout.workspace = find_workspace("attention");
  settle_view(scope, *snapshot);
}

const char* absence(const AppState& scope, const Workspace& workspace) {
  const Snapshot* snapshot = scope.a.complete.snapshot.get();
  return snapshot ? workspace_refusal(workspace, *snapshot) : nullptr;
}

const char* absence(const AppState& scope, const WorkspaceView& view) {
  const Snapshot* snapshot = scope.a.complete.snapshot.get();
  return snapshot ? view_refusal(view, *snapshot) : nullptr;
}

void draw_capture_facts(const AppState& scope, const Skin& skin) {
  bold_text(tr("Capture"), skin);
  draw_wrapped_label(
      skin.fonts.small, skin.theme.text_dim,
      tr("Attention that another program recorded. There is no model: nothing can be trained, decoded or "
         "changed. To do that, open a run (File, Open run)."),
      skin);
  ImGui::Spacing();
  draw_line(tr("file"), scope.a.run.folder, skin);
  draw_line(tr("sentences"), grouped(std::ssize(scope.a.run.examples)), skin);
  const Snapshot* snapshot = scope.a.complete.snapshot.get();
  if (!snapshot || !snapshot->captured) return;
  for (const AttentionPart part : attention_parts) {
    const PartSize size = part_size(snapshot->model, part);
    if (size.layers == 0) continue;
    draw_line(tr(text_of(part, snapshot->model).name),
              trf("{} × {} heads, {} queries, {} keys", size.layers, size.heads, row_tokens(*snapshot, part).size(),
                  col_tokens(*snapshot, part).size()),
              skin);
  }
  const CapturedSentence& captured = *snapshot->captured;
  if (snapshot->model.is_signed()) draw_line(tr("values"), tr("of either sign"), skin);
  if (captured.second >= 0) draw_line(tr("sentence B"), trf("from token {} on", captured.second), skin);
  if (captured.grid_rows > 0)
    draw_line(tr("image patches"), fmt::format("{} × {}", captured.grid_rows, captured.grid_cols), skin);
  for (const auto& [name, value] : captured.labels) draw_line(name, value, skin);
}

// ---- saving

bool can_save_capture(const AppState& scope) {
  const Snapshot* snapshot = shown_maps(scope).complete.snapshot.get();
  return snapshot && !(snapshot->encoder.empty() && snapshot->decoder.empty() && snapshot->cross.empty());
}

std::string capture_name(const AppState& scope) {
  return scope.a.run.name;
}

namespace {

// The sentence with its recorded steps and the present one.
PinnedSentence sentence_to_save(const AppState& scope) {
  PinnedSentence sentence{scope.layout.sentence, {}};
  if (const PinnedSentence* recorded = recorded_sentence(scope); recorded && shown_side(scope) == RunSide::a)
    sentence.frames = recorded->frames;
  const Shown& present = shown_run(scope).complete;
  if (sentence.frames.empty() || present.snapshot->step > sentence.frames.back()->step)
    sentence.frames.push_back(present.snapshot);
  return sentence;
}

std::string circuit_to_save(const AppState& scope) {
  const CircuitView& view = scope.views.of<CircuitView>();
  if (!view.inspection || view.run != scope.a.run.run || shown_side(scope) == RunSide::b) return {};
  return page_circuit(view.inspection->facts, view.inspection->found);
}

// The sentence first, then the other pinned ones.
std::string page_to_save(const AppState& scope) {
  std::vector<PinnedSentence> sentences = {sentence_to_save(scope)};
  if (shown_side(scope) == RunSide::a)
    std::ranges::remove_copy(scope.a.history.sentences(), std::back_inserter(sentences), scope.layout.sentence,
                             &PinnedSentence::text);
  std::size_t left_out = 0;
  sentences = thinned_for_page(std::move(sentences), left_out);
  const RunOpened& run = shown_run(scope).run;
  const CaptureFacts facts{
      .labels = page_labels(run.name, run.config.model, run.num_parameters,
                            fmt::format("attnscope {}, Export, Interactive page", scope.facts.version)),
      .losses = losses_for_page(shown_run(scope).curves[metric("loss")].points(), sentences),
      .circuit = circuit_to_save(scope)};
  return page_html(scope.facts.page, capture_bytes(sentences, facts),
                   {std::string(language_codes[static_cast<std::size_t>(language_of(scope))]),
                    [](const char* english) { return std::string(tr(english)); }});
}

void save_or_say(AppState& scope, const std::string& path, bool replace, const std::function<std::string()>& bytes) {
  if (!can_save_capture(scope)) return;
  try {
    scope.commands.push_back(WriteFile{path, bytes(), replace});
  } catch (const Error& error) {
    notify(scope, Severity::error, trf("Nothing was saved: {}", tr_filled(error.what())));
  }
}

}  // namespace

void save_capture(AppState& scope, const std::string& path, bool replace) {
  save_or_say(scope, path, replace, [&] {
    const PinnedSentence sentence = sentence_to_save(scope);
    return capture_bytes({&sentence, 1},
                         {.losses = losses_for_page(shown_run(scope).curves[metric("loss")].points(), {&sentence, 1})});
  });
}

void save_page(AppState& scope, const std::string& path, bool replace) {
  save_or_say(scope, path, replace, [&] { return page_to_save(scope); });
}

}  // namespace attnscope
