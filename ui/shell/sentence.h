// The current sentence, and the probes of the model with it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shell/app_state.h"

namespace attnscope {

// Replaces the sentence and requests a forward pass. Clears selections by position in the old sentence. Sets the
// reference from the corpus if the sentence is one of its examples.
void set_sentence(AppState& scope, std::string text);

// Moves the sentence to the front of the recent ones.
void remember_sentence(AppState& scope);

// Same for a run's folder.
void remember_run(AppState& scope, const std::string& folder);

// The corpus example equal to the current sentence; null if there is none.
const Example* example_of(const AppState& scope);

// The Probe that the window needs now: the sentence, with the options that the open workspace needs.
Probe wanted_probe(const AppState& scope);

// Requests that Probe if it differs from the last one requested; once per frame.
void ask_for_inspection(AppState& scope);

// Requests it again because the model changed.
void probe_sentence(AppState& scope);

// ---- events of the session

// Handles events. A null snapshot keeps the present one. A new run replaces configuration and curves and is probed with
// the sentence. `of_b` is the newest snapshot of run B.
void receive(AppState& scope, std::vector<Event> events, std::shared_ptr<const Snapshot> snapshot,
             std::shared_ptr<const Snapshot> of_b = nullptr);

}  // namespace attnscope
