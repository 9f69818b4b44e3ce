// What can be done to the head, the query and the key that are chosen in Attention.
#pragma once

#include <string>

#include "shell/app_state.h"

namespace attnscope {

// A head that is looked at now, of a model that has several; recorded steps cannot be changed without their weights.
bool has_head(const AppState& scope);
bool is_head_off(const AppState& scope);
void switch_head(AppState& scope);  // off, or on again
bool is_layer_off(const AppState& scope);
void switch_layer(AppState& scope);

// With a query and a key chosen, or a key alone.
bool has_cell(const AppState& scope);
bool has_key(const AppState& scope);
void force_cell(AppState& scope);  // all of the query's weight goes to the key
bool is_key_hidden(const AppState& scope);
void hide_key(AppState& scope);  // from every query of the head, or shows it again

// Why not: after what the action says of itself. Empty where it can be done.
std::string head_problem(const AppState& scope);
std::string key_problem(const AppState& scope);

void open_head(AppState& scope);    // large
void open_inside(AppState& scope);  // its own numbers

}  // namespace attnscope
