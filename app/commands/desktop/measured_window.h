// The window with given snapshots, drawn offscreen for timing.
#pragma once

#include <memory>

#include "base/input.h"
#include "commands/desktop/bench_window.h"
#include "shell/sentence.h"
#include "window/font_files.h"
#include "window/offscreen.h"
#include "window/renderer.h"

namespace attnscope {

class MeasuredWindow {
 public:
  MeasuredWindow() : screen_(measured_width, measured_height), renderer_(find_fonts()) {
    prepare_input(ImGui::GetIO());
    scope_.a.run.run = 1;
  }

  AppState& scope() { return scope_; }

  void show(std::shared_ptr<const Snapshot> snapshot) {
    scope_.a.run.config.model = snapshot->model;
    receive(scope_, {}, std::move(snapshot));
  }

  struct Frame {
    double own = 0;    // ms of this thread's processor time; OpenGL rasterizes in other threads
    double whole = 0;  // ms until the frame is complete
  };
  Frame draw() {
    const auto begin = Clock::now();
    const double used = thread_milliseconds();
    renderer_.draw(scope_, 1, [] {
      ImGui::GetIO().DisplaySize = {measured_width, measured_height};
      ImGui::GetIO().DeltaTime = 1.F / 60;
    });
    const double own = thread_milliseconds() - used;
    screen_.finish();
    scope_.commands.clear();
    return {own, milliseconds_since(begin)};
  }

 private:
  AppState scope_;
  Offscreen screen_;
  Renderer renderer_;
};

}  // namespace attnscope
