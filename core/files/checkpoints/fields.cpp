#include "files/checkpoints/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "files/checkpoints/checkpoint.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

const Json* found_in(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void wrong(const std::string& field, const Json& value, const char* type) {
  throw CheckpointError(fmt::format("config.json: \"{}\" is {}, not {}", field, value.dump(), type));
}

[[noreturn]] void missing(const char* field) {
  throw CheckpointError(fmt::format("config.json: there is no \"{}\"", field));
}

}  // namespace

CheckpointFields::CheckpointFields(Json config, Json decoding)
    : config_(std::move(config)), decoding_(std::move(decoding)) {}

const Json* CheckpointFields::find(const char* field) const {
  return found_in(config_, field);
}

const Json* CheckpointFields::find_decoding(const char* field) const {
  const Json* const over = found_in(decoding_, field);
  return over ? over : find(field);
}

std::int64_t CheckpointFields::whole(const char* field, std::optional<std::int64_t> absent) const {
  const Json* const value = find(field);
  if (!value && absent) return *absent;
  if (!value) missing(field);
  if (!value->is_number_integer() || *value < 0 || *value > 1'000'000'000) wrong(field, *value, "a whole number");
  return value->get<std::int64_t>();
}

double CheckpointFields::number(const char* field, std::optional<double> absent) const {
  const Json* const value = find(field);
  if (!value && absent) return *absent;
  if (!value) missing(field);
  if (!value->is_number()) wrong(field, *value, "a number");
  return value->get<double>();
}

bool CheckpointFields::truth(const char* field, std::optional<bool> absent) const {
  const Json* const value = find(field);
  if (!value && absent) return *absent;
  if (!value) missing(field);
  if (!value->is_boolean()) wrong(field, *value, "true or false");
  return value->get<bool>();
}

std::string CheckpointFields::text(const char* field, std::optional<std::string> absent) const {
  const Json* const value = find(field);
  if (!value && absent) return *absent;
  if (!value) missing(field);
  if (!value->is_string()) wrong(field, *value, "a text");
  return value->get<std::string>();
}

std::vector<std::string> CheckpointFields::texts(const char* field) const {
  const Json* const value = find(field);
  std::vector<std::string> texts;
  if (value && !value->is_array()) wrong(field, *value, "a list of texts");
  for (const Json& text : value ? *value : Json::array()) {
    if (!text.is_string()) wrong(field, *value, "a list of texts");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::vector<std::string> CheckpointFields::repeated_texts(const char* field) const {
  constexpr std::int64_t most = 1000;
  const Json* const value = find(field);
  std::vector<std::string> texts;
  for (const Json& group : value ? *value : Json::array()) {
    const bool known = group.is_array() && group.size() == 2 && group[0].is_array() && group[1].is_number_unsigned() &&
                       group[1] < most &&
                       std::ranges::all_of(group[0], [](const Json& text) { return text.is_string(); });
    if (!known) wrong(field, *value, "a list of lists of texts, each with a number");
    for (std::int64_t i = 0; i < group[1].get<std::int64_t>(); ++i)
      for (const Json& text : group[0]) texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::int64_t CheckpointFields::token(const char* field, std::optional<std::int64_t> absent) const {
  const Json* value = find_decoding(field);
  if (!value && absent) return *absent;
  if (!value) missing(field);
  if (value->is_array() && !value->empty()) value = &value->front();
  if (!value->is_number_integer() || *value < 0 || *value > 1'000'000'000) wrong(field, *value, "one token id");
  return value->get<std::int64_t>();
}

std::vector<std::int64_t> CheckpointFields::tokens(const char* field) const {
  const Json* const value = find_decoding(field);
  std::vector<std::int64_t> ids;
  if (!value || value->is_null()) return ids;
  for (const Json& id : value->is_array() ? *value : Json::array({*value})) {
    if (!id.is_number_integer()) wrong(field, *value, "token ids");
    ids.push_back(id.get<std::int64_t>());
  }
  return ids;
}

std::int64_t CheckpointFields::suppressed_token() const {
  const Json* const words = find_decoding("bad_words_ids");
  if (!words) return -1;
  const bool one = words->is_array() && words->size() == 1 && words->front().is_array() && words->front().size() == 1 &&
                   words->front().front().is_number_unsigned();
  if (!one) wrong("bad_words_ids", *words, "a list of one word of one token, the only supported form");
  return words->front().front().get<std::int64_t>();
}

void CheckpointFields::must_be_false(const char* field) const {
  if (truth(field, false)) refuse(field, "false");
}

Json CheckpointFields::object(const char* field) const {
  const Json* const value = find(field);
  if (!value) return Json::object();
  if (!value->is_object()) wrong(field, *value, "an object");
  return *value;
}

void CheckpointFields::refuse(const std::string& field, const std::string& allowed) const {
  const Json* const value = find(field.c_str());
  throw CheckpointError(fmt::format("config.json: \"{}\" is {}, supported: {}", field,
                                    value ? value->dump() : std::string("absent"), allowed));
}

}  // namespace attnscope
