// The bar of all in which what is shown is not the plain model, and the one place that takes it back.
#pragma once

#include "base/skin.h"
#include "plain/departures.h"
#include "shell/scope.h"

namespace attnscope {

Departures departures_of(const Scope& scope);

void take_back(Scope& scope, const Departure& departure);

void back_to_plain_model(Scope& scope);

// What was chosen by places in the sentence or its output, when it is another one; and by places in its output alone.
void let_go_of_places(Scope& scope);
void let_go_of_output(Scope& scope);

// How its last button is labelled.
enum class DeparturesLabel { full, brief };

// The bar's, in one line; 0 while the plain model is shown, and there is no bar.
float departures_width(const Scope& scope, DeparturesLabel label, const Skin& skin);

// At the cursor, in as many lines as it needs.
void draw_departures(Scope& scope, DeparturesLabel label, const Skin& skin);

}  // namespace attnscope
