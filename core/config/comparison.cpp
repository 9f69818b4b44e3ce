#include "config/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace attnscope {
namespace {

constexpr std::size_t most_named = 2;

// "rope" is self-explanatory, "0" and "true" are not.
std::string named(const FieldDifference& difference, const std::string& value) {
  Config scratch;
  const FieldPointer pointer = config_field(difference.key).value(scratch);
  const bool is_word = std::holds_alternative<std::string*>(pointer) && !value.empty();
  return is_word ? value.substr(value.find_last_of('/') + 1) : fmt::format("{} {}", difference.label, value);
}

std::string rest_text(std::size_t count) {
  return count > most_named ? fmt::format(" and {} more", count - most_named) : "";
}

std::string name_of(const std::vector<FieldDifference>& differences, std::string FieldDifference::*value) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(differences.size(), most_named); ++i)
    names.push_back(named(differences[i], differences[i].*value));
  return fmt::format("{}{}", fmt::join(names, ", "), rest_text(differences.size()));
}

// The fields that determine the batches and their order (training/batches.h); of the model's only max_length.
constexpr std::array<std::string_view, 6> batch_fields = {
    "model.max_length",     "training.batch_size",         "training.batch_tokens",
    "training.batch_order", "training.accumulation_steps", "training.seed"};

}  // namespace

std::vector<FieldDifference> differences(const Config& a, const Config& b) {
  std::vector<FieldDifference> found;
  for (const ConfigField& field : config_fields()) {
    if (!is_used(a, field) || !is_used(b, field)) continue;
    FieldDifference difference{field.key, field.label, field_text(a, field), field_text(b, field)};
    if (difference.a != difference.b) found.push_back(std::move(difference));
  }
  return found;
}

std::string title_of(const std::vector<FieldDifference>& differences) {
  if (differences.empty()) return "no difference";
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < std::min(differences.size(), most_named); ++i)
    titles.push_back(fmt::format("{}: {} · {}", differences[i].label, differences[i].a, differences[i].b));
  return fmt::format("{}{}", fmt::join(titles, ", "), rest_text(differences.size()));
}

std::string name_of_a(const std::vector<FieldDifference>& differences) {
  return name_of(differences, &FieldDifference::a);
}

std::string name_of_b(const std::vector<FieldDifference>& differences) {
  return name_of(differences, &FieldDifference::b);
}

std::string other_batches(const Config& a, const Config& b) {
  if (a.corpus != b.corpus)
    return "The two runs use different corpora, so their batches and losses are not computed on the same text.";
  if (a.tokenizer != b.tokenizer)
    return "The two runs use different tokenizers: the text is the same, but its tokens differ, so losses per token "
           "are not comparable.";
  if (a.model.reads_text() != b.model.reads_text())
    return "One run trains on running text, the other on pairs, so their losses are not computed on the same text.";
  for (const FieldDifference& difference : differences(a, b)) {
    if (std::ranges::find(batch_fields, difference.key) != batch_fields.end())
      return fmt::format("The runs differ in “{}” ({} and {}), so they do not train on the same batches.",
                         difference.label, difference.a, difference.b);
  }
  return {};
}

Config moved_along(const Config& other, const Config& before, const Config& after) {
  Config moved = other;
  for (const ConfigField& field : config_fields()) {
    const std::string was = field_text(before, field), is = field_text(after, field);
    if (was != is && field_text(other, field) == was) set_field(moved, field.key, is);
  }
  return moved;
}

}  // namespace attnscope
