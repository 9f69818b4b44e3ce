// Text: in the flow of a window, in tooltips, and in pictures.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "base/skin.h"

namespace attnscope {

// ---- in the flow of a window

// All text that comes from outside (sentences, pieces, paths, messages) goes through these: signs that Dear ImGui
// cannot hold are told by their numbers, and lines are broken as it breaks them, but not within numbers.
void plain_text(std::string_view text);
void bold_text(std::string_view text, const Skin& skin);
void mono_text(std::string_view text, const Skin& skin);
void dim_text(std::string_view text, const Skin& skin);
void colored_text(Color32 color, std::string_view text);

// Dim words with the whole of it in their tooltip.
void quiet_words(std::string_view words, std::string_view help, const Skin& skin);

// Broken into as many lines as they need.
void wrapped_text(Color32 color, std::string_view text);
void small_text(Color32 color, std::string_view text, const Skin& skin);

// A heading, shortened where it must be, a few words beside it if there is room, and the whole of it in the tooltip of
// both.
void draw_caption(const char* title, const std::string& words, std::string_view help, const Skin& skin);

// Dim text in the middle of `size`, where a picture could be; advances the cursor.
void draw_quiet_note(const char* text, ImVec2 size, const Skin& skin);

// Line breaks as signs.
std::string one_line(std::string_view text);

// The text, or its beginning and "…", no wider than `width`; and the text, or "…" and its end.
std::string shortened(const ImFont* font, const std::string& text, float width);
std::string shortened_at_start(const ImFont* font, const std::string& text, float width);
// The beginning alone, for cells in which "…" would take the place of half of it; empty where not one letter fits.
std::string letters_that_fit(const ImFont* font, const std::string& text, float width);

// As ImGui::BeginCombo and ImGui::Selectable, for any text: "##" in it is nothing but two signs. What does not fit
// before the arrow of a combo ends in "…".
bool begin_combo(const char* id, const std::string& shown, ImGuiComboFlags flags = 0);
bool selectable_text(const std::string& text, bool chosen, ImGuiSelectableFlags flags = 0);

// As ImGui::Button and ImGui::SmallButton, for any text.
bool text_button(const std::string& text);
bool small_text_button(const std::string& text);

// What the last item does, wrapped, once the mouse has rested on it. Works on disabled items too. `about` is the label
// it has, if that may have an entry in the glossary: then the tooltip says so, and F1 opens it.
void help_tooltip(std::string_view text, const Skin& skin, std::string_view about = {});

// ---- lines that belong to a picture: they are in the file when it is saved

// At the cursor, as an item: it can be hovered, and what follows stands beneath it or, after SameLine, beside it.
void draw_label(ImFont* font, Color32 color, std::string_view text, const Skin& skin);

// Broken into as many lines as it needs.
void draw_wrapped_label(ImFont* font, Color32 color, std::string_view text, const Skin& skin);

}  // namespace attnscope
