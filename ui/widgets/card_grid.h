// Small pictures in a grid that wraps, each under a title with the range of its colours.
#pragma once

#include <imgui.h>

#include <string>

#include "base/color_map.h"
#include "base/skin.h"

namespace attnscope {

// Where the next card stands: from left to right, then in the next row. Before every card is a gutter.
struct CardGrid {
  ImVec2 origin;
  ImVec2 card;
  float gutter = 0;
  float row_gap = 0;
  int columns = 1;
  int column = 0;
  float y = 0;  // of the row, below the origin

  float width() const { return static_cast<float>(columns) * (gutter + card.x); }
  // The top left corner of the next card.
  ImVec2 next();
  // What comes next begins a row.
  void new_row();
  // Advances the cursor past all cards.
  void end();
};

// As many columns of at least that width as fit into `room`, and at most so many.
CardGrid card_grid(float room, float least_width, int most_columns, float height, float gutter, const Skin& skin);

struct CardTitle {
  std::string title;
  std::string help;
  ColorMap map = ColorMap::viridis;
  float low = 0;
  float high = 1;
  bool open = false;  // some values lie above `high`
};

float card_title_height(const Skin& skin);

// The title, at the cursor, and the colours' range at the right end; true when the title was clicked.
bool draw_card_title(const CardTitle& title, float width, const Skin& skin);

}  // namespace attnscope
