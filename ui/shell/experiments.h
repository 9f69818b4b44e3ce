// The gallery of experiments: each card trains a model and opens the view that shows the result.
#pragma once

#include "base/skin.h"
#include "lessons/experiment.h"

namespace attnscope {

struct AppState;
struct FileRead;

struct ExperimentsView {
  bool asked = false;  // the gallery is to be opened
};

// Enters the experiment's configuration, resets and trains, and shows its view. The current run is kept as for Reset.
void begin_experiment(AppState& scope, const Experiment& experiment);

bool is_experiment(const FileRead& read);
void receive_experiment(AppState& scope, const FileRead& read);  // adds it to the gallery and opens that
void receive_lesson_of_experiment(AppState& scope, const FileRead& read);

void draw_experiments(AppState& scope, const Skin& skin);  // the dialog

}  // namespace attnscope
