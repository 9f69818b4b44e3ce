#include "shell/captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/translation.h"
#include "files/captures/capture.h"
#include "messages/metrics.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

// The nearest view before the shown one that the capture can fill, else the first.
void settle_view(AppState& scope, const Snapshot& snapshot) {
  const Workspace& workspace = *scope.layout.workspace;
  const auto views = workspace.views();
  const auto has_place = [&](const WorkspaceView& view) { return !view_refusal(view, snapshot); };
  const std::size_t shown = workspace.shown(scope.views);
  if (has_place(views[shown])) return;
  std::size_t chosen = shown;
  while (chosen > 0 && !has_place(views[chosen])) --chosen;
  if (!has_place(views[chosen]))
    chosen = static_cast<std::size_t>(std::ranges::find_if(views, has_place) - views.begin());
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

void save_capture(AppState& scope, const std::string& path, bool replace) {
  if (!can_save_capture(scope)) return;
  PinnedSentence sentence{scope.layout.sentence, {}};
  if (const PinnedSentence* recorded = recorded_sentence(scope); recorded && shown_side(scope) == RunSide::a)
    sentence.frames = recorded->frames;
  const Shown& present = shown_run(scope).complete;
  if (sentence.frames.empty() || present.snapshot->step > sentence.frames.back()->step)
    sentence.frames.push_back(present.snapshot);
  try {
    scope.commands.push_back(WriteFile{path, capture_bytes({&sentence, 1}), replace});
  } catch (const Error& error) {
    notify(scope, Severity::error, error.what());
  }
}

}  // namespace attnscope
