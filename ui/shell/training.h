// What the buttons, the menu and the keys do to the run; nothing when it cannot be done now.
#pragma once

#include <string>

#include "shell/scope.h"

namespace attnscope {

bool can_train(const Scope& scope);
bool can_reset(const Scope& scope);
// The present run has no corpus, and one has been chosen in the setup.
bool waits_for_corpus(const Scope& scope);
void play_or_pause(Scope& scope);
void step_once(Scope& scope);
void reset(Scope& scope);   // with the edited configuration
void adjust(Scope& scope);  // brings edited live fields into force

// What is wrong with the configuration; empty when nothing is.
std::string config_complaint(const Config& config);

// A path dropped onto the window: a folder is opened as a run, a saved view as such, another file proposed as the
// corpus.
void drop_path(Scope& scope, const std::string& path, bool is_folder);

// ---- studies: begun by an action, told of as they go, ended with a message

void start_study(Scope& scope, StudyQuestion question);  // in place of the one under way; nothing without a run
void cancel_study(Scope& scope);

// "Translating the held-out pairs"
std::string study_text(const StudyQuestion& question, const ModelConfig& model);

// What came of it, with the step that it is of.
std::string result_text(const StudyResult& result);

void receive(Scope& scope, const StudyProgress& progress);
void receive(Scope& scope, const StudyEnded& ended);

}  // namespace attnscope
