// A sentence as the model's input: tokens and their IDs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/skin.h"
#include "messages/snapshot.h"

namespace attnscope {

struct TokenStripOptions {
  bool show_ids = true;  // below each token; always in the tooltip
  int selected = -1;
  int underlined = 0;              // number of tokens underlined, starting at the first
  int masked_from = -1;            // tokens from here on are masked; −1: none
  std::string_view masked_note;    // the reason, in the tooltip
  std::span<const float> weights;  // 0…1 per token, shown as its background (viridis); empty: none
  bool weights_below = false;      // as a line below the token instead, with length proportional to the weight
  std::string_view weight_name = "weight";
  std::span<const UnseenWord> unseen;  // their tokens are underlined, with an explanation in the tooltip
  std::span<const int> marked;         // outlined; in ascending order
  std::string_view marked_note;        // the reason, in the tooltip
};

// The note about a word that does not occur in the training data.
std::string unseen_note(const UnseenWord& word);

// Returns the first word that has a suggested replacement; otherwise the first. `words` must not be empty.
const UnseenWord& first_to_mend(std::span<const UnseenWord> words);

struct TokenStripResult {
  int hovered = -1;
  int clicked = -1;
};

TokenStripResult draw_token_strip(const char* id, std::span<const Token> tokens, const TokenStripOptions& options,
                                  const Skin& skin);

}  // namespace attnscope
