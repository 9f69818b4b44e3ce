// The colors of both themes: legible, and distinguishable without seeing red and green apart.
#include "base/theme.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace attnscope {
namespace {

using Rgb = std::array<double, 3>;  // linear, 0…1

Rgb linear(Color32 color) {
  Rgb rgb;
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = (color >> (8 * i) & 0xFF) / 255.0;
    rgb[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return rgb;
}

double luminance(Color32 color) {
  const Rgb rgb = linear(color);
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

// WCAG 2.2.
double contrast(Color32 a, Color32 b) {
  const auto [dark, light] = std::minmax({luminance(a), luminance(b)});
  return (light + 0.05) / (dark + 0.05);
}

// Machado, Oliveira and Fernandes 2009, severity 1.
Rgb deuteranopic(Color32 color) {
  constexpr std::array<Rgb, 3> matrix = {
      {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
  const Rgb rgb = linear(color);
  Rgb seen;
  for (std::size_t i = 0; i < 3; ++i)
    seen[i] = std::clamp(matrix[i][0] * rgb[0] + matrix[i][1] * rgb[1] + matrix[i][2] * rgb[2], 0.0, 1.0);
  return seen;
}

std::array<double, 3> lab(const Rgb& rgb) {
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505);
  const double y = f(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]);
  const double z = f((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double seen_difference(Color32 a, Color32 b) {
  const auto one = lab(deuteranopic(a)), other = lab(deuteranopic(b));
  return std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

constexpr std::array names = {ThemeName::dark, ThemeName::light};

TEST(Theme, KnownContrasts) {
  EXPECT_NEAR(contrast(0xFF000000, 0xFFFFFFFF), 21, 1e-9);
  EXPECT_NEAR(contrast(0xFF777777, 0xFFFFFFFF), 4.48, 0.01);
  EXPECT_LT(seen_difference(0xFF0000FF, 0xFF00A0A0), 40) << "red and olive";
}

TEST(Theme, TextIsLegible) {
  for (const ThemeName name : names) {
    const Theme& colors = theme(name);
    for (const Theme& shown : {colors, projected(colors)})
      for (const Color32 ink : {shown.text, shown.text_dim, shown.accent, shown.success, shown.warning, shown.error})
        for (const Color32 paper : {shown.background, shown.panel, shown.raised, shown.hovered, shown.masked})
          EXPECT_GE(contrast(ink, paper), 4.5) << theme_text(name) << std::hex << " ink " << ink << " on " << paper;
  }
}

TEST(Theme, OnAProjectorTextBordersAndGridsAreStronger) {
  for (const ThemeName name : names) {
    const Theme& plain = theme(name);
    const Theme strong = projected(plain);
    for (const auto color : {&Theme::text, &Theme::text_dim, &Theme::border, &Theme::grid})
      EXPECT_GT(contrast(strong.*color, plain.background), contrast(plain.*color, plain.background) + 0.01)
          << theme_text(name);
  }
}

TEST(Theme, LinesStandOut) {
  for (const ThemeName name : names)
    for (const Color32 line : theme(name).series)
      EXPECT_GE(contrast(line, theme(name).background), 3) << theme_text(name) << std::hex << ' ' << line;
}

TEST(Theme, ColorsDifferInDeuteranopia) {
  for (const ThemeName name : names) {
    const Theme& colors = theme(name);
    const std::vector<Color32> series(colors.series.begin(), colors.series.end());
    const std::vector<Color32> states = {colors.success, colors.warning, colors.error};
    for (const std::vector<Color32>& palette : {series, states})
      for (std::size_t i = 0; i < palette.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          EXPECT_GE(seen_difference(palette[i], palette[j]), 15) << theme_text(name) << ' ' << i << ' ' << j;
  }
}

}  // namespace
}  // namespace attnscope
