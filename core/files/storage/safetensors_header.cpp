#include "files/storage/safetensors_header.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/json_text.h"
#include "files/storage/safetensors.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

// A SAX handler, because nlohmann::json would silently accept the last of two equal keys, and build any depth. The
// header is an object (depth 1) of tensors or metadata (2), whose fields are strings or lists (3) of numbers.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  SafetensorsHeader take() && { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (in_list_ || depth_ >= 2) fail("an unexpected object");
    if (++depth_ == 1) return true;
    in_metadata_ = name_ == metadata_key;
    if (!in_metadata_) header_.tensors.push_back({name_, {}, {}, 0, 0});
    fields_.clear();
    return true;
  }

  bool end_object() override {
    if (depth_ == 2 && !in_metadata_) finish_tensor();
    --depth_;
    return true;
  }

  bool key(string_t& key) override {
    std::set<std::string>& seen = depth_ == 1 ? names_ : fields_;
    if (depth_ == 1) name_ = key;
    if (!seen.insert(key).second) fail(fmt::format("\"{}\" appears twice", key));
    if (depth_ == 1) return true;
    field_ = key;
    if (!in_metadata_ && key != "dtype" && key != "shape" && key != "data_offsets") {
      fail(fmt::format("unknown field \"{}\"", key));
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || in_list_ || field_ == "dtype") fail("an unexpected list");
    in_list_ = true;
    return true;
  }

  bool end_array() override {
    in_list_ = false;
    return true;
  }

  bool string(string_t& text) override {
    if (depth_ == 2 && in_metadata_) {
      header_.metadata.emplace(field_, text);
    } else if (depth_ == 2 && !in_list_ && field_ == "dtype") {
      header_.tensors.back().dtype = text;
    } else {
      fail("an unexpected string");
    }
    return true;
  }

  bool number_unsigned(number_unsigned_t number) override {
    if (!in_list_) fail(fmt::format("the unexpected number {}", number));
    if (field_ == "shape") {
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        fail(fmt::format("the extent {} is too large", number));
      }
      header_.tensors.back().shape.push_back(static_cast<std::int64_t>(number));
    } else {
      offsets_.push_back(number);
      if (offsets_.size() > 2) fail("data_offsets has more than two numbers");
    }
    return true;
  }

  bool number_integer(number_integer_t number) override { fail(fmt::format("the negative number {}", number)); }
  bool number_float(number_float_t, const string_t& text) override {
    fail(fmt::format("{} is not a whole number below 2^64", text));
  }
  bool null() override { fail("an unexpected null"); }
  bool boolean(bool) override { fail("an unexpected true or false"); }
  bool binary(binary_t&) override { fail("binary data in the header"); }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    throw SafetensorsError(fmt::format("the header is not JSON: {}", message_of(error)));
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    if (name_.empty()) throw SafetensorsError(fmt::format("header: {}", reason));
    throw SafetensorsError(fmt::format("header: \"{}\": {}", name_, reason));
  }

  void finish_tensor() {
    for (const char* const field : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.contains(field)) fail(fmt::format("there is no {}", field));
    }
    if (offsets_.size() != 2) fail("data_offsets is not two numbers");
    header_.tensors.back().begin = offsets_[0];
    header_.tensors.back().end = offsets_[1];
    offsets_.clear();
  }

  SafetensorsHeader header_;
  int depth_ = 0;  // number of open objects
  bool in_metadata_ = false;
  bool in_list_ = false;
  std::string name_;                    // tensor name, or __metadata__
  std::string field_;                   // within it
  std::set<std::string> names_;         // seen so far
  std::set<std::string> fields_;        // seen so far in this tensor
  std::vector<std::uint64_t> offsets_;  // data_offsets of this tensor
};

}  // namespace

SafetensorsHeader parse_header(std::string_view text) {
  if (!text.starts_with('{')) throw SafetensorsError("the header does not begin with {");
  HeaderReader reader;
  Json::sax_parse(text, &reader);
  return std::move(reader).take();
}

}  // namespace attnscope
