// A checkpoint's config.json, field by field, each checked as it is read.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

class CheckpointFields {
 public:
  // `decoding` is laid over `config` for what concerns decoding.
  CheckpointFields(nlohmann::json config, nlohmann::json decoding);

  // Throw CheckpointError naming the field where it is of another type; without `absent`, also where it is not there.
  // null is not there.
  std::int64_t whole(const char* field, std::optional<std::int64_t> absent = {}) const;
  double number(const char* field, std::optional<double> absent = {}) const;
  bool truth(const char* field, std::optional<bool> absent = {}) const;
  std::string text(const char* field, std::optional<std::string> absent = {}) const;

  // A piece's number, as decoding has it; of a list the only one.
  std::int64_t token(const char* field, std::optional<std::int64_t> absent = {}) const;

  // The one piece that bad_words_ids bans, −1: none. Longer words, and several, are refused.
  std::int64_t suppressed_token() const;

  // Throws CheckpointError if the field is there and true, as what it asks for is not supported.
  void must_be_false(const char* field) const;

  // The object of that name; empty where there is none.
  nlohmann::json object(const char* field) const;

  // Always throws: `field` holds what is not supported.
  [[noreturn]] void refuse(const std::string& field, const std::string& allowed) const;

 private:
  const nlohmann::json* find(const char* field) const;
  const nlohmann::json* find_decoding(const char* field) const;

  nlohmann::json config_, decoding_;
};

}  // namespace attnscope
