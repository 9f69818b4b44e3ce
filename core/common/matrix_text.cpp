#include "common/matrix_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace attnscope {
namespace {

// JSON numbers are doubles: returns the one with the fewest digits that round-trip to this float.
double short_double(float value) {
  if (!std::isfinite(value)) return static_cast<double>(value);
  const std::string text = fmt::format("{}", value);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

std::vector<std::string> all_labels(std::span<const std::string> labels, int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(label_of(labels, i, 0));
  return all;
}

}  // namespace

std::string label_of(std::span<const std::string> labels, int index, int first) {
  if (labels.empty()) return std::to_string(first + index);
  return static_cast<std::size_t>(index) < labels.size() ? labels[static_cast<std::size_t>(index)] : "";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string matrix_csv(const Matrix& matrix, std::span<const std::string> row_labels,
                       std::span<const std::string> col_labels) {
  std::string text;
  for (int col = 0; col < matrix.cols; ++col) text += "," + csv_field(label_of(col_labels, col, 0));
  text += '\n';
  for (int row = 0; row < matrix.rows; ++row) {
    text += csv_field(label_of(row_labels, row, 0));
    for (int col = 0; col < matrix.cols; ++col) text += fmt::format(",{}", matrix.at(row, col));
    text += '\n';
  }
  return text;
}

std::string matrix_json(const Matrix& matrix, std::span<const std::string> row_labels,
                        std::span<const std::string> col_labels) {
  nlohmann::ordered_json json;
  json["rows"] = all_labels(row_labels, matrix.rows);
  json["cols"] = all_labels(col_labels, matrix.cols);
  auto& values = json["values"] = nlohmann::ordered_json::array();
  for (int row = 0; row < matrix.rows; ++row) {
    nlohmann::ordered_json line = nlohmann::ordered_json::array();
    for (int col = 0; col < matrix.cols; ++col) line.push_back(short_double(matrix.at(row, col)));
    values.push_back(std::move(line));
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace attnscope
