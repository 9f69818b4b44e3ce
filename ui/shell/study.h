// The study under way: begun by an action, told of as it goes, ended with a message.
#pragma once

#include "shell/scope.h"

namespace attnscope {

bool can_study(const Scope& scope);
void start_study(Scope& scope, StudyQuestion question);  // in place of the one under way; nothing without a run
void cancel_study(Scope& scope);

// "Translating the held-out pairs"
std::string study_text(const StudyQuestion& question, const ModelConfig& model);

// What came of it, with the step that it is of.
std::string result_text(const StudyResult& result);

void receive(Scope& scope, const StudyProgress& progress);
void receive(Scope& scope, const StudyEnded& ended);

}  // namespace attnscope
