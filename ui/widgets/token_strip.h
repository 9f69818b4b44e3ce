// A sentence as the model has it: pieces and their numbers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/skin.h"
#include "plain/snapshot.h"

namespace attnscope {

struct TokenStripOptions {
  bool show_ids = true;  // beneath each piece; always in the tooltip
  int selected = -1;
  int underlined = 0;              // so many pieces from the first on
  int masked_from = -1;            // pieces from here on are hidden from the model; −1: none
  std::string_view masked_note;    // why, in the tooltip
  std::span<const float> weights;  // 0…1 a piece, shown as its background (viridis); empty: none
  bool weights_below = false;      // as a line beneath it instead, so long as it weighs
  std::string_view weight_name = "weight";
  std::span<const UnseenWord> unseen;  // their pieces are underlined, and the tooltip says why
  std::span<const int> marked;         // outlined; ascending
  std::string_view marked_note;        // why, in the tooltip
};

// What there is to say of a word that training has not seen.
std::string unseen_note(const UnseenWord& word);

// The first for which there is another to offer; else the first. There is at least one.
const UnseenWord& first_to_mend(std::span<const UnseenWord> words);

struct TokenStripResult {
  int hovered = -1;
  int clicked = -1;
};

TokenStripResult draw_token_strip(const char* id, std::span<const Token> tokens, const TokenStripOptions& options,
                                  const Skin& skin);

}  // namespace attnscope
