#include "shell/glossary/term_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "config/schedule.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

using Values = std::vector<double>;

// A rectangle in relative coordinates: 0…1 from left to right and from top to bottom.
struct Box {
  float left = 0, top = 0, right = 1, bottom = 1;
};

class Sheet {
 public:
  Sheet(ImVec2 corner, ImVec2 size, const Skin& skin)
      : corner_(corner), size_(size), skin_(skin), list_(*ImGui::GetWindowDrawList()) {}

  const Theme& theme() const { return skin_.theme; }

  ImVec2 at(float x, float y) const { return {corner_.x + x * size_.x, corner_.y + y * size_.y}; }

  void line(ImVec2 from, ImVec2 to, Color32 color, float thickness = 1) {
    list_.AddLine(from, to, color, skin_.stroke(skin_.px(thickness)));
  }

  void arrow(ImVec2 from, ImVec2 to, Color32 color, float thickness = 1.5F) {
    const float angle = std::atan2(to.y - from.y, to.x - from.x), length = skin_.px(7);
    line(from, to, color, thickness);
    for (const float side : {2.6F, -2.6F})
      line(to, {to.x + length * std::cos(angle + side), to.y + length * std::sin(angle + side)}, color, thickness);
  }

  void text(ImVec2 middle, const std::string& text, Color32 color) {
    const ImVec2 extent = text_size(skin_.fonts.small, text);
    draw_text(list_, skin_.fonts.small, {middle.x - extent.x / 2, middle.y - extent.y / 2}, color, text.c_str());
  }

  void framed(Box box, const std::string& label, Color32 frame) {
    list_.AddRect(at(box.left, box.top), at(box.right, box.bottom), frame, skin_.px(3));
    text(at((box.left + box.right) / 2, (box.top + box.bottom) / 2), label, theme().text);
  }

  // One bar per value, from the zero line; those selected by `strong` in the accent color, the others faint.
  template <typename Strong>
  void bars(Box box, const Values& values, double low, double high, Strong strong) {
    const float step = (box.right - box.left) / static_cast<float>(values.size());
    const auto y = [&](double value) {
      return box.bottom - static_cast<float>((value - low) / (high - low)) * (box.bottom - box.top);
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float left = box.left + step * (static_cast<float>(i) + 0.15F);
      const auto [top, bottom] = std::minmax({y(values[i]), y(0)});
      list_.AddRectFilled(at(left, top), at(left + step * 0.7F, bottom), strong(i) ? theme().accent : theme().text_dim);
    }
    line(at(box.left, y(0)), at(box.right, y(0)), theme().border);
  }
  void bars(Box box, const Values& values, double low, double high) {
    bars(box, values, low, high, [](std::size_t) { return true; });
  }

  // `color_of(row, column)` gives each cell's color.
  template <typename ColorOf>
  void cells(Box box, int rows, int cols, ColorOf color_of) {
    const ImVec2 low = at(box.left, box.top), high = at(box.right, box.bottom);
    const ImVec2 cell{(high.x - low.x) / static_cast<float>(cols), (high.y - low.y) / static_cast<float>(rows)};
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        const ImVec2 corner{low.x + cell.x * static_cast<float>(col), low.y + cell.y * static_cast<float>(row)};
        list_.AddRectFilled(corner, {corner.x + cell.x - 1, corner.y + cell.y - 1}, color_of(row, col));
      }
    }
  }

  // Plots `function` from `low` to `high`, scaled to the range `least` … `most`, with axes at zero.
  template <typename Function>
  void curve(Box box, ImVec2 across, ImVec2 along, Color32 color, Function function) {
    const auto place = [&](float x, float y) {
      const float right = (x - across.x) / (across.y - across.x), up = (y - along.x) / (along.y - along.x);
      return at(box.left + right * (box.right - box.left), box.bottom - up * (box.bottom - box.top));
    };
    line(place(across.x, 0), place(across.y, 0), theme().border);
    constexpr int points = 120;
    for (int i = 0; i < points; ++i) {
      const auto x = [&](int index) {
        return across.x + (across.y - across.x) * static_cast<float>(index) / static_cast<float>(points);
      };
      const float from = function(x(i)), to = function(x(i + 1));
      if (std::min(from, to) < along.x || std::max(from, to) > along.y) continue;
      line(place(x(i), from), place(x(i + 1), to), color, 2);
    }
  }

 private:
  ImVec2 corner_, size_;
  const Skin& skin_;
  ImDrawList& list_;
};

Values softmax_of(Values scores, double temperature = 1) {
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score / temperature);
  for (double& score : scores) score /= sum;
  return scores;
}

const Values example_scores = {1, 2.2, 0.3, -0.8, 1.4};

// ---- distributions

void draw_softmax(Sheet& sheet) {
  sheet.bars({0, 0.1F, 0.4F, 0.9F}, example_scores, -1, 2.4, [](std::size_t) { return false; });
  sheet.arrow(sheet.at(0.45F, 0.5F), sheet.at(0.55F, 0.5F), sheet.theme().text);
  sheet.bars({0.6F, 0.1F, 1, 0.9F}, softmax_of(example_scores), 0, 0.6);
}

void draw_temperature(Sheet& sheet) {
  float left = 0;
  for (const double temperature : {0.5, 1.0, 2.0}) {
    sheet.bars({left, 0.05F, left + 0.27F, 0.78F}, softmax_of(example_scores, temperature), 0, 0.85);
    sheet.text(sheet.at(left + 0.135F, 0.92F), fmt::format("T = {:g}", temperature), sheet.theme().text_dim);
    left += 0.365F;
  }
}

Values sorted_probabilities() {
  return {0.42, 0.24, 0.12, 0.08, 0.06, 0.04, 0.03, 0.01};
}

void draw_top_k(Sheet& sheet) {
  sheet.bars({0, 0.05F, 1, 0.78F}, sorted_probabilities(), 0, 0.45, [](std::size_t i) { return i < 3; });
  sheet.text(sheet.at(0.19F, 0.92F), "k = 3", sheet.theme().text);
}

void draw_top_p(Sheet& sheet) {
  double sum = 0;
  std::size_t kept = 0;
  const Values probabilities = sorted_probabilities();
  while (sum < 0.9) sum += probabilities[kept++];
  sheet.bars({0, 0.05F, 1, 0.78F}, probabilities, 0, 0.45, [&](std::size_t i) { return i < kept; });
  sheet.text(sheet.at(0.31F, 0.92F), fmt::format("Σ = {:.2f} ≥ 0.90", sum), sheet.theme().text);
}

void draw_label_smoothing(Sheet& sheet) {
  Values smoothed(10, 0.1 / 10);
  smoothed[3] += 0.9;
  Values hard(10, 0);
  hard[3] = 1;
  sheet.bars({0, 0.05F, 0.42F, 0.9F}, hard, 0, 1);
  sheet.arrow(sheet.at(0.46F, 0.5F), sheet.at(0.54F, 0.5F), sheet.theme().text);
  sheet.bars({0.58F, 0.05F, 1, 0.9F}, smoothed, 0, 1);
}

void draw_one_hot(Sheet& sheet) {
  sheet.cells({0, 0.35F, 1, 0.6F}, 1, 16,
              [&](int, int col) { return col == 5 ? sheet.theme().accent : sheet.theme().raised; });
}

void draw_entropy(Sheet& sheet) {
  sheet.curve({0.05F, 0.08F, 0.95F, 0.82F}, {0, 1}, {0, 0.7F}, sheet.theme().accent, [](float p) {
    const auto part = [](float q) { return q <= 0 ? 0.0F : -q * std::log(q); };
    return part(p) + part(1 - p);
  });
  sheet.text(sheet.at(0.5F, 0.93F), "p = 0 … 1", sheet.theme().text_dim);
}

void draw_cross_entropy(Sheet& sheet) {
  sheet.curve({0.05F, 0.05F, 0.95F, 0.82F}, {0, 1}, {0, 4}, sheet.theme().accent,
              [](float p) { return -std::log(std::max(p, 1e-3F)); });
  sheet.text(sheet.at(0.5F, 0.93F), "−ln p, p = 0 … 1", sheet.theme().text_dim);
}

// ---- attention

void draw_attention(Sheet& sheet) {
  const std::array words = {"the", "cat", "sleeps", "because", "it"};
  const Values weights = {0.06, 0.66, 0.1, 0.06, 0.12};
  const auto x = [](std::size_t i) { return 0.1F + 0.2F * static_cast<float>(i); };
  for (std::size_t i = 0; i < words.size(); ++i) {
    sheet.text(sheet.at(x(i), 0.08F), words[i], sheet.theme().text);
    sheet.line(sheet.at(x(4), 0.84F), sheet.at(x(i), 0.16F), sheet.theme().accent,
               1 + 9 * static_cast<float>(weights[i]));
  }
  sheet.text(sheet.at(x(4), 0.93F), words[4], sheet.theme().accent);
}

void draw_mask(Sheet& sheet) {
  sheet.cells({0.3F, 0, 0.7F, 1}, 6, 6,
              [&](int row, int col) { return col > row ? sheet.theme().masked : sheet.theme().accent; });
}

void draw_alibi(Sheet& sheet) {
  constexpr int size = 8;
  sheet.cells({0.3F, 0, 0.7F, 1}, size, size, [](int row, int col) {
    return map_color(ColorMap::viridis, 1 - static_cast<float>(std::abs(row - col)) / size);
  });
}

void draw_relative(Sheet& sheet) {
  constexpr int size = 9, farthest = 3;
  sheet.cells({0.3F, 0, 0.7F, 1}, size, size, [&](int row, int col) {
    const int distance = std::clamp(col - row, -farthest, farthest);
    return map_color(ColorMap::viridis, static_cast<float>(distance + farthest) / (2 * farthest));
  });
}

// ---- layers and positional encodings

void draw_sinusoids(Sheet& sheet) {
  constexpr int positions = 24, width = 32;  // §3.5
  sheet.cells({0, 0, 1, 1}, width / 2, positions, [](int row, int col) {
    const float angle = static_cast<float>(col) / std::pow(10000.0F, 2.0F * static_cast<float>(row) / width);
    return map_color(ColorMap::viridis, 0.5F + 0.5F * std::sin(angle));
  });
}

void draw_waves(Sheet& sheet) {
  for (int i = 0; i < 3; ++i) {
    const float top = static_cast<float>(i) * 0.34F;
    sheet.curve({0, top, 1, top + 0.3F}, {0, 40}, {-1.1F, 1.1F}, sheet.theme().series[static_cast<std::size_t>(i)],
                [&](float position) { return std::sin(position / std::pow(3.0F, static_cast<float>(i))); });
  }
}

void draw_residual(Sheet& sheet) {
  const Color32 color = sheet.theme().text;
  sheet.framed({0.3F, 0.5F, 0.62F, 0.86F}, "f(x)", sheet.theme().accent);
  sheet.arrow(sheet.at(0, 0.25F), sheet.at(0.76F, 0.25F), color);
  sheet.line(sheet.at(0.14F, 0.25F), sheet.at(0.14F, 0.68F), color);
  sheet.arrow(sheet.at(0.14F, 0.68F), sheet.at(0.3F, 0.68F), color);
  sheet.line(sheet.at(0.62F, 0.68F), sheet.at(0.8F, 0.68F), color);
  sheet.arrow(sheet.at(0.8F, 0.68F), sheet.at(0.8F, 0.36F), color);
  sheet.text(sheet.at(0.8F, 0.25F), "+", color);
  sheet.arrow(sheet.at(0.84F, 0.25F), sheet.at(1, 0.25F), color);
  sheet.text(sheet.at(0.05F, 0.12F), "x", color);
  sheet.text(sheet.at(0.92F, 0.12F), "x + f(x)", color);
}

void draw_layer_norm(Sheet& sheet) {
  Values values = {3.1, 5.2, 4.0, 6.3, 2.2, 4.6}, normed;
  double mean = 0, square = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) square += (value - mean) * (value - mean) / static_cast<double>(values.size());
  for (const double value : values) normed.push_back((value - mean) / std::sqrt(square));
  sheet.bars({0, 0.05F, 0.4F, 0.95F}, values, -2.5, 6.5, [](std::size_t) { return false; });
  sheet.arrow(sheet.at(0.45F, 0.5F), sheet.at(0.55F, 0.5F), sheet.theme().text);
  sheet.bars({0.6F, 0.05F, 1, 0.95F}, normed, -2.5, 6.5);
}

void draw_activations(Sheet& sheet) {
  const Box box{0.1F, 0.02F, 0.9F, 0.98F};
  sheet.curve(box, {-3, 3}, {-0.5F, 3}, sheet.theme().series[0], [](float x) { return std::max(0.0F, x); });
  sheet.curve(box, {-3, 3}, {-0.5F, 3}, sheet.theme().series[1],
              [](float x) { return 0.5F * x * (1 + std::erf(x / std::numbers::sqrt2_v<float>)); });
  sheet.text(sheet.at(0.36F, 0.7F), "ReLU", sheet.theme().series[0]);
  sheet.text(sheet.at(0.36F, 0.97F), "GELU", sheet.theme().series[1]);
}

void draw_gate(Sheet& sheet) {
  sheet.curve({0.05F, 0.05F, 0.95F, 0.95F}, {-6, 6}, {0, 1}, sheet.theme().accent,
              [](float x) { return 1 / (1 + std::exp(-x)); });
}

void draw_dropout(Sheet& sheet) {
  sheet.cells({0, 0.2F, 1, 0.8F}, 4, 20, [&](int row, int col) {
    return (row * 7 + col * 3) % 10 == 0 ? sheet.theme().masked : sheet.theme().accent;
  });
}

void draw_rotary(Sheet& sheet) {
  for (int i = 0; i < 3; ++i) {
    const float angle = 0.7F * static_cast<float>(i) + 0.2F, middle = 0.17F + 0.33F * static_cast<float>(i);
    const ImVec2 foot = sheet.at(middle, 0.45F), reach = sheet.at(middle + 0.12F, 0.45F);
    const float length = reach.x - foot.x;
    sheet.arrow(foot, {foot.x + length * std::cos(angle), foot.y - length * std::sin(angle)}, sheet.theme().accent, 2);
    sheet.text(sheet.at(middle, 0.92F), fmt::format("{} θ", i), sheet.theme().text_dim);
  }
}

void draw_cosine(Sheet& sheet) {
  const ImVec2 foot = sheet.at(0.3F, 0.9F);
  sheet.arrow(foot, sheet.at(0.75F, 0.75F), sheet.theme().series[0], 2);
  sheet.arrow(foot, sheet.at(0.6F, 0.15F), sheet.theme().series[1], 2);
  sheet.text(sheet.at(0.46F, 0.68F), "θ", sheet.theme().text);
}

void draw_kernel(Sheet& sheet) {
  const Box box{0.02F, 0.05F, 0.98F, 0.95F};
  for (const float width : {0.5F, 1.5F})
    sheet.curve(box, {-4, 4}, {0, 1}, sheet.theme().series[width < 1 ? 0 : 1],
                [&](float x) { return std::exp(-x * x / (2 * width * width)); });
}

// ---- training and decoding

void draw_warm_up(Sheet& sheet) {
  const Config standard;  // Noam's schedule, §5.3
  const auto rate = [&](float step) {
    const auto update = static_cast<std::int64_t>(std::lround(step));
    return static_cast<float>(learning_rate_at(standard.training, standard.model.d_model, update));
  };
  const float peak = rate(static_cast<float>(standard.training.warmup_steps));
  sheet.curve({0.05F, 0.05F, 0.95F, 0.92F}, {1, 4000}, {0, 1.05F * peak}, sheet.theme().accent, rate);
}

void draw_teacher_forcing(Sheet& sheet) {
  const std::array read = {"<s>", "le", "chat", "dort"}, written = {"le", "chat", "dort", "</s>"};
  for (std::size_t i = 0; i < read.size(); ++i) {
    const float left = 0.02F + 0.25F * static_cast<float>(i);
    sheet.framed({left, 0.04F, left + 0.2F, 0.32F}, written[i], sheet.theme().accent);
    sheet.arrow(sheet.at(left + 0.1F, 0.66F), sheet.at(left + 0.1F, 0.36F), sheet.theme().text);
    sheet.framed({left, 0.68F, left + 0.2F, 0.96F}, read[i], sheet.theme().border);
  }
}

// Two of four hypotheses survive each step.
void draw_beam(Sheet& sheet) {
  const auto level = [](int depth) { return 0.05F + 0.3F * static_cast<float>(depth); };
  std::array<float, 2> kept = {0.5F, 0.5F};
  for (int depth = 0; depth < 3; ++depth) {
    std::array<float, 2> next{};
    std::size_t num_next = 0;
    for (int i = 0; i < 4; ++i) {
      const float y = 0.14F + 0.24F * static_cast<float>(i);
      const bool goes_on = i == 1 || i == (depth == 1 ? 0 : 2);
      if (goes_on) next[num_next++] = y;
      sheet.line(sheet.at(level(depth), kept[static_cast<std::size_t>(i / 2)]), sheet.at(level(depth + 1), y),
                 goes_on ? sheet.theme().accent : sheet.theme().border, goes_on ? 3.0F : 1.0F);
    }
    kept = next;
  }
}

struct Picture {
  std::string_view term;
  void (*draw)(Sheet&);
};

constexpr std::array pictures = {
    Picture{"activation function", draw_activations},
    Picture{"ALiBi", draw_alibi},
    Picture{"attention", draw_attention},
    Picture{"beam search", draw_beam},
    Picture{"cosine", draw_cosine},
    Picture{"cross-entropy", draw_cross_entropy},
    Picture{"dropout", draw_dropout},
    Picture{"entropy", draw_entropy},
    Picture{"gate", draw_gate},
    Picture{"kernel regression", draw_kernel},
    Picture{"label smoothing", draw_label_smoothing},
    Picture{"layer norm", draw_layer_norm},
    Picture{"look-ahead mask", draw_mask},
    Picture{"one-hot vector", draw_one_hot},
    Picture{"positional encoding", draw_waves},
    Picture{"relative positions", draw_relative},
    Picture{"residual connection", draw_residual},
    Picture{"rotary embeddings (RoPE)", draw_rotary},
    Picture{"sinusoids", draw_sinusoids},
    Picture{"softmax", draw_softmax},
    Picture{"teacher forcing", draw_teacher_forcing},
    Picture{"temperature", draw_temperature},
    Picture{"top-k", draw_top_k},
    Picture{"top-p", draw_top_p},
    Picture{"warm-up", draw_warm_up},
};

const Picture* picture_of(std::string_view term) {
  const auto found = std::ranges::find(pictures, term, &Picture::term);
  return found == pictures.end() ? nullptr : &*found;
}

}  // namespace

bool has_picture(std::string_view term) {
  return picture_of(term) != nullptr;
}

void draw_term_picture(std::string_view term, const Skin& skin) {
  const Picture* picture = picture_of(term);
  if (!picture) return;
  const ImVec2 size{std::min(ImGui::GetContentRegionAvail().x, skin.px(330)), skin.px(120)};
  Sheet sheet(ImGui::GetCursorScreenPos(), size, skin);
  picture->draw(sheet);
  ImGui::Dummy(size);
}

}  // namespace attnscope
