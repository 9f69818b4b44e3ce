// What the buttons, the menu and the keys do to the run; nothing when it cannot be done now.
#pragma once

#include <string>

#include "shell/app_state.h"

namespace attnscope {

bool can_train(const AppState& scope);
bool can_reset(const AppState& scope);
// The present run has no corpus, and one has been chosen in the setup.
bool waits_for_corpus(const AppState& scope);
void play_or_pause(AppState& scope);
void step_once(AppState& scope);
void reset(AppState& scope);   // with the edited configuration
void adjust(AppState& scope);  // brings edited live fields into force

// What is wrong with the configuration; empty when nothing is.
std::string config_complaint(const Config& config);

// A path dropped onto the window: a folder is opened as a run, a saved view as such, another file proposed as the
// corpus.
void drop_path(AppState& scope, const std::string& path, bool is_folder);

// ---- studies: begun by an action, told of as they go, ended with a message

void start_study(AppState& scope, StudyQuestion question);  // in place of the one under way; nothing without a run
void cancel_study(AppState& scope);

// "Translating the held-out pairs"
std::string study_text(const StudyQuestion& question, const ModelConfig& model);

// What came of it, with the step that it is of.
std::string result_text(const StudyResult& result);

void receive(AppState& scope, const StudyProgress& progress);
void receive(AppState& scope, const StudyEnded& ended);

}  // namespace attnscope
