// A checkpoint's config.json, with each field checked when it is read.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

class CheckpointFields {
 public:
  // `decoding` overrides `config` for the decoding fields.
  CheckpointFields(nlohmann::json config, nlohmann::json decoding);

  // Throw CheckpointError naming the field if it has another type; without `absent`, also if it is missing. null counts
  // as missing.
  std::int64_t whole(const char* field, std::optional<std::int64_t> absent = {}) const;
  double number(const char* field, std::optional<double> absent = {}) const;
  bool truth(const char* field, std::optional<bool> absent = {}) const;
  std::string text(const char* field, std::optional<std::string> absent = {}) const;

  // A list of texts; empty if it is missing.
  std::vector<std::string> texts(const char* field) const;

  // [[["global", "local"], 2]]: the texts of each list so many times; empty if it is missing.
  std::vector<std::string> repeated_texts(const char* field) const;

  // A token id in a decoding field; the first of a list.
  std::int64_t token(const char* field, std::optional<std::int64_t> absent = {}) const;

  // All of a list, or the only one; empty if the field is missing.
  std::vector<std::int64_t> tokens(const char* field) const;

  // The one token banned by bad_words_ids, −1: none. Throws for longer words and for several.
  std::int64_t suppressed_token() const;

  // Throws CheckpointError if the field is true, because the option is not supported.
  void must_be_false(const char* field) const;

  // The object of that name; empty if there is none.
  nlohmann::json object(const char* field) const;

  // Always throws: the value of `field` is not supported.
  [[noreturn]] void refuse(const std::string& field, const std::string& allowed) const;

 private:
  const nlohmann::json* find(const char* field) const;
  const nlohmann::json* find_decoding(const char* field) const;

  nlohmann::json config_, decoding_;
};

}  // namespace attnscope
