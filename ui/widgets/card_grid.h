// A wrapping grid of small pictures, each with a title and its color range.
#pragma once

#include <imgui.h>

#include <string>

#include "common/color_map.h"
#include "base/skin.h"

namespace attnscope {

// Places cards from left to right, then in the next row, with a gutter before each card.
struct CardGrid {
  ImVec2 origin;
  ImVec2 card;
  float gutter = 0;
  float row_gap = 0;
  int columns = 1;
  int column = 0;
  float y = 0;  // of the row, relative to the origin

  float width() const { return static_cast<float>(columns) * (gutter + card.x); }
  // Returns the top left corner of the next card.
  ImVec2 next();
  // Starts a new row with the next card.
  void new_row();
  // Advances the cursor past all cards.
  void end();
};

// Makes as many columns of at least `least_width` as fit into `room`, up to the given maximum.
CardGrid card_grid(float room, float least_width, int most_columns, float height, float gutter, const Skin& skin);

struct CardTitle {
  std::string title;
  std::string help;
  ColorMap map = ColorMap::viridis;
  float low = 0;
  float high = 1;
  bool open = false;  // some values are above `high`
};

float card_title_height(const Skin& skin);

// Draws the title at the cursor, and the color range at the right end. Returns true if the title was clicked.
bool draw_card_title(const CardTitle& title, float width, const Skin& skin);

}  // namespace attnscope
