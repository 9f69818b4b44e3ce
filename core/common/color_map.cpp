#include "common/color_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/clamped.h"

namespace attnscope {
namespace {

constexpr int table_size = 256;
using Table = std::array<Color32, table_size>;

constexpr Color32 rgb(double red, double green, double blue) {
  const auto byte = [](double v) { return static_cast<Color32>((v < 0 ? 0 : v > 1 ? 1 : v) * 255 + 0.5); };
  return byte(red) | byte(green) << 8 | byte(blue) << 16 | 0xFF000000U;
}

// Matt Zucker's polynomial for matplotlib's viridis (https://www.shadertoy.com/view/WlfXRN, CC0), within 2 % of it.
constexpr Table viridis_table() {
  constexpr double c[7][3] = {{0.2777273272234177, 0.005407344544966578, 0.3340998053353061},
                              {0.1050930431085774, 1.404613529898575, 1.384590162594685},
                              {-0.3308618287255563, 0.214847559468213, 0.09509516302823659},
                              {-4.634230498983486, -5.799100973351585, -19.33244095627987},
                              {6.228269936347081, 14.17993336680509, 56.69055260068105},
                              {4.776384997670288, -13.74514537774601, -65.35303263337234},
                              {-5.435455855934631, 4.645852612178535, 26.3124352495832}};
  Table table{};
  for (int i = 0; i < table_size; ++i) {
    const double t = i / (table_size - 1.0);
    double channel[3] = {};
    for (int power = 6; power >= 0; --power)
      for (int k = 0; k < 3; ++k) channel[k] = channel[k] * t + c[power][k];
    table[static_cast<std::size_t>(i)] = rgb(channel[0], channel[1], channel[2]);
  }
  return table;
}

// Interpolates linearly between five colors, written 0xRRGGBB.
constexpr Table table_through(const std::array<unsigned, 5>& stops) {
  Table table{};
  for (int i = 0; i < table_size; ++i) {
    const double position = i / (table_size - 1.0) * 4;
    const int stop = std::min(3, static_cast<int>(position));
    const double t = position - stop;
    const auto channel = [&](int shift) {
      const double from = stops[static_cast<std::size_t>(stop)] >> shift & 0xFFU;
      const double to = stops[static_cast<std::size_t>(stop) + 1] >> shift & 0xFFU;
      return (from + (to - from) * t) / 255;
    };
    table[static_cast<std::size_t>(i)] = rgb(channel(16), channel(8), channel(0));
  }
  return table;
}

constexpr Table viridis = viridis_table();
constexpr Table blue_orange = table_through({0x9AD0FF, 0x2F74C0, 0x151920, 0xB5651D, 0xFFC680});
constexpr Table blue_red = table_through({0x2166AC, 0x92C5DE, 0xF7F7F7, 0xF4A582, 0xB2182B});  // ColorBrewer RdBu
constexpr Color32 not_a_number = 0xFF808080U;

}  // namespace

std::span<const Color32> color_table(ColorMap map) {
  return map == ColorMap::viridis ? viridis : map == ColorMap::blue_orange ? blue_orange : blue_red;
}

Color32 map_color(ColorMap map, float t) {
  if (std::isnan(t)) return not_a_number;
  return color_table(map)[static_cast<std::size_t>(clamped(t, 0.0F, 1.0F) * (table_size - 1) + 0.5F)];
}

Color32 text_on(Color32 background) {
  const float luma = 0.299F * static_cast<float>(background & 0xFFU) +
                     0.587F * static_cast<float>(background >> 8 & 0xFFU) +
                     0.114F * static_cast<float>(background >> 16 & 0xFFU);
  return luma > 135 ? 0xFF101010U : 0xFFF4F4F4U;
}

Color32 faded(Color32 color, float alpha) {
  const auto opacity = static_cast<Color32>(static_cast<float>(color >> 24) * clamped(alpha, 0.0F, 1.0F) + 0.5F);
  return (color & 0x00FFFFFFU) | opacity << 24;
}

Color32 mixed(Color32 a, Color32 b, float t) {
  Color32 result = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const auto from = static_cast<float>(a >> shift & 0xFFU);
    const auto to = static_cast<float>(b >> shift & 0xFFU);
    result |= static_cast<Color32>(from + (to - from) * clamped(t, 0.0F, 1.0F) + 0.5F) << shift;
  }
  return result;
}

}  // namespace attnscope
