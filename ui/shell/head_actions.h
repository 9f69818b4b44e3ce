// Actions on the head, the query and the key selected in Attention.
#pragma once

#include <string>

#include "shell/app_state.h"

namespace attnscope {

// True if a head of a multi-head model is on display. Recorded steps cannot be changed without their weights.
bool has_head(const AppState& scope);
bool is_head_off(const AppState& scope);
void switch_head(AppState& scope);  // toggles ablation of the head
bool is_layer_off(const AppState& scope);
void switch_layer(AppState& scope);

// With a query and a key selected, or only a key.
bool has_cell(const AppState& scope);
bool has_key(const AppState& scope);
void force_cell(AppState& scope);  // gives all of the query's weight to the key
bool is_key_hidden(const AppState& scope);
void hide_key(AppState& scope);  // toggles hiding it from every query of the head

// The reason why the action is unavailable, appended to its help; empty if it is available.
std::string head_problem(const AppState& scope);
std::string key_problem(const AppState& scope);

void open_head(AppState& scope);    // enlarged
void open_inside(AppState& scope);  // shows the head's own numbers

}  // namespace attnscope
