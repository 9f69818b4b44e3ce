// What can be done to the head, the query and the key that are chosen in Attention.
#pragma once

#include <string>

#include "shell/scope.h"

namespace attnscope {

// A head that is looked at now, of a model that has several; recorded steps cannot be changed without their weights.
bool has_head(const Scope& scope);
bool is_head_off(const Scope& scope);
void switch_head(Scope& scope);  // off, or on again
bool is_layer_off(const Scope& scope);
void switch_layer(Scope& scope);

// With a query and a key chosen, or a key alone.
bool has_cell(const Scope& scope);
bool has_key(const Scope& scope);
void force_cell(Scope& scope);  // all of the query's weight goes to the key
bool is_key_hidden(const Scope& scope);
void hide_key(Scope& scope);  // from every query of the head, or shows it again

// Why not: after what the action says of itself. Empty where it can be done.
std::string head_problem(const Scope& scope);
std::string key_problem(const Scope& scope);

void open_head(Scope& scope);    // large
void open_inside(Scope& scope);  // its own numbers

}  // namespace attnscope
