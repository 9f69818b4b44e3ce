// The decoding workspace inside the window, with a snapshot that has all its outputs.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "decodings_fixture.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/decoding/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {

class DecodingPanel : public testing::Test {
 protected:
  explicit DecodingPanel(DecodingMode mode) {
    scope.layout.workspace = find_workspace("decoding");
    decoding.mode = mode;
    receive(scope, {fixture_run(3), Status{Activity::paused, 3, "CPU"}}, nullptr);
  }

  // Answers what was asked last.
  void show(std::shared_ptr<Snapshot> snapshot, int frames = 3) {
    snapshot->request = scope.asked.request;
    receive(scope, {}, std::move(snapshot));
    scope.commands.clear();
    ui.frames(frames, draw);
  }

  void show(DecodingsSize size) {
    auto snapshot = fixture_snapshot({4, size.steps, 2, 2});
    snapshot->decodings = fixture_decodings(size, snapshot->source);
    show(std::move(snapshot));
  }

  // The n-th of those drawn.
  void click(std::string_view text, int nth = 0) {
    const auto at = ui.find_text(text, nth);
    ASSERT_TRUE(at) << text;
    ui.click(*at, draw);
  }

  const Decodings& decodings() const { return *scope.a.complete.snapshot->decodings; }

  AppState scope;
  DecodingView& decoding = scope.views.of<DecodingView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

}  // namespace attnscope
