// The first line of the window: menu, training buttons, where the run stands.
#pragma once

#include "base/look.h"
#include "shell/scope.h"

namespace attnscope {

enum class Icon { play, pause, step, reset };

// A button with a drawn icon before its label: fonts rarely have these signs. True when pressed.
bool icon_button(const char* label, Icon icon, Color32 icon_color, bool enabled, std::string_view help,
                 const Look& look);

void draw_menu_bar(Scope& scope, const Look& look);

// "step 1 240 · loss 1.83 · 9.1k tok/s · CPU"
std::string status_line(const Scope& scope);

// "12 345 678" and "9.1k": whole numbers for reading, rates for glancing.
std::string grouped(std::int64_t number);
std::string rounded(double number);

void set_zoom(Layout& layout, float zoom);
void set_presentation(Scope& scope, bool on);
void browse(Scope& scope, Browsing purpose);

// Saves the run to where it was saved before, or asks where; nothing without a run.
enum class SaveTo { same, chosen };
void save(Scope& scope, SaveTo where);

}  // namespace attnscope
