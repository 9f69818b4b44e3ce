// The window on snapshots of anybody's making, drawn offscreen to be timed.
#pragma once

#include <memory>

#include "base/input.h"
#include "commands/measurement.h"
#include "shell/looking.h"
#include "window/font_files.h"
#include "window/offscreen.h"
#include "window/renderer.h"

namespace attnscope {

class MeasuredWindow {
 public:
  MeasuredWindow() : screen_(width, height), renderer_(find_fonts()) {
    prepare_input(ImGui::GetIO());
    scope_.run.run = 1;
  }

  Scope& scope() { return scope_; }

  void show(std::shared_ptr<const Snapshot> snapshot) {
    scope_.run.config.model = snapshot->model;
    receive(scope_, {}, std::move(snapshot));
  }

  struct Frame {
    double own = 0;    // ms until everything has been handed to OpenGL
    double whole = 0;  // ms until it is drawn
  };
  Frame draw() {
    const auto begin = Clock::now();
    renderer_.draw(scope_, 1, [] {
      ImGui::GetIO().DisplaySize = {width, height};
      ImGui::GetIO().DeltaTime = 1.F / 60;
    });
    const double own = milliseconds_since(begin);
    screen_.finish();
    scope_.commands.clear();
    return {own, milliseconds_since(begin)};
  }

 private:
  static constexpr int width = 1600;
  static constexpr int height = 1000;

  Scope scope_;
  Offscreen screen_;
  Renderer renderer_;
};

}  // namespace attnscope
