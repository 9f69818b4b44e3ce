// Text in windows, in tooltips, and in pictures.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "base/skin.h"

namespace attnscope {

// ---- in windows

// Draws text of any origin (sentences, tokens, paths, messages). Characters that Dear ImGui cannot represent are shown
// as code points; lines break by Dear ImGui's rules, but not inside numbers.
void plain_text(std::string_view text);
void bold_text(std::string_view text, const Skin& skin);
void mono_text(std::string_view text, const Skin& skin);
void dim_text(std::string_view text, const Skin& skin);
void colored_text(Color32 color, std::string_view text);

// Dim words with the full text in their tooltip.
void quiet_words(std::string_view words, std::string_view help, const Skin& skin);

// Draws text wrapped to the window's width.
void wrapped_text(Color32 color, std::string_view text);
void small_text(Color32 color, std::string_view text, const Skin& skin);

// Draws a heading, shortened if necessary, with a few words next to it if there is room. The tooltip of either has the
// full text.
void draw_caption(const char* title, const std::string& words, std::string_view help, const Skin& skin);

// Draws dim text centered in `size`, in place of a picture; advances the cursor.
// A width of 0 is all the room.
void draw_quiet_note(const char* text, ImVec2 size, const Skin& skin);

// Shows line breaks as glyphs.
std::string one_line(std::string_view text);

// Shortens the text to `width`: its beginning and "…", or "…" and its end.
std::string shortened(const ImFont* font, const std::string& text, float width);
std::string shortened_at_start(const ImFont* font, const std::string& text, float width);
// Only the beginning, without "…", for cells in which "…" would take half the room; empty if not one letter fits.
std::string letters_that_fit(const ImFont* font, const std::string& text, float width);

// Like ImGui::BeginCombo and ImGui::Selectable, but for any text: "##" is shown literally. Text too long for the combo
// ends in "…".
bool begin_combo(const char* id, const std::string& shown, ImGuiComboFlags flags = 0);
bool selectable_text(const std::string& text, bool chosen, ImGuiSelectableFlags flags = 0);

// Like ImGui::Button and ImGui::SmallButton, but for any text.
bool text_button(const std::string& text);
bool small_text_button(const std::string& text);

// Shows a wrapped tooltip for the last item after the mouse has rested on it; also on disabled items. `about`: the
// item's label, if it may have a glossary entry; the tooltip then mentions it and F1 opens it.
void help_tooltip(std::string_view text, const Skin& skin, std::string_view about = {});

// ---- text that is part of a picture and included in its exported file

// Draws at the cursor as an item: it can be hovered, and what follows is placed below it or, after SameLine, next to
// it.
void draw_label(ImFont* font, Color32 color, std::string_view text, const Skin& skin);

// Draws a label wrapped to its width.
void draw_wrapped_label(ImFont* font, Color32 color, std::string_view text, const Skin& skin);

}  // namespace attnscope
