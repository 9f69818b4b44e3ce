// The sentence that is looked at, and what is asked of the model about it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shell/app_state.h"

namespace attnscope {

// Replaces the sentence and asks for a look at it. What was chosen by places in the old one is let go; the reference is
// the corpus's, where the sentence is one of its examples.
void set_sentence(AppState& scope, std::string text);

// Puts the sentence at the head of the recent ones.
void remember_sentence(AppState& scope);

// The same of a run's folder.
void remember_run(AppState& scope, const std::string& folder);

// The corpus's example that the present sentence is; null when it is none.
const Example* example_of(const AppState& scope);

// The look that the window needs now: of the sentence, and with what the open workspace shows.
Probe wanted_probe(const AppState& scope);

// Asks for that look if it is another than the one asked for last; once a frame.
void ask_for_inspection(AppState& scope);

// Asks for it anew: the model is another one.
void probe_sentence(AppState& scope);

// ---- what the session reported

// A null snapshot leaves the present one. A new run replaces configuration and curves and is asked to look at the
// sentence. `of_other` is the newest of the run that the present one is compared with.
void receive(AppState& scope, std::vector<Event> events, std::shared_ptr<const Snapshot> snapshot,
             std::shared_ptr<const Snapshot> of_other = nullptr);

}  // namespace attnscope
