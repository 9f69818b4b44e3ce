// Actions of buttons, menu and keys on the run. Functions do nothing if the action is unavailable.
#pragma once

#include <string>

#include "shell/app_state.h"

namespace attnscope {

bool can_train(const AppState& scope);
bool can_reset(const AppState& scope);
// True if the present run has no corpus and one is selected in the setup.
bool waits_for_corpus(const AppState& scope);
void play_or_pause(AppState& scope);
void step_once(AppState& scope);
void reset(AppState& scope);   // with the edited configuration
void adjust(AppState& scope);  // applies edited live fields

// The error in the configuration; empty if valid.
std::string config_complaint(const Config& config);

// Handles a path dropped onto the window: opens a folder as a run, and captures and saved views as such; proposes any
// other file as the corpus.
void drop_path(AppState& scope, const std::string& path, bool is_folder);

// ---- studies: started by an action, with progress while they run and a message at the end

void start_study(AppState& scope, StudyQuestion question);  // replaces the running one; does nothing without a run
void cancel_study(AppState& scope);

// "Translating the held-out pairs"
std::string study_text(const StudyQuestion& question, const ModelConfig& model);

// The result in words, with its step.
std::string result_text(const StudyResult& result);

void receive(AppState& scope, const StudyProgress& progress);
void receive(AppState& scope, const StudyEnded& ended);

}  // namespace attnscope
