// The left column: every field of the configuration, made from the table in plain/config.h.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/skin.h"
#include "shell/scope.h"

namespace attnscope {

// Fills what is left of the window.
void draw_setup(Scope& scope, const Skin& skin);

// What is wrong, by the field it is shown at; empty when nothing is.
std::map<std::string_view, std::string> field_complaints(const Config& config);

// How many fields of `edited` wait for Reset.
int waiting_fields(const Config& running, const Config& edited);

}  // namespace attnscope
