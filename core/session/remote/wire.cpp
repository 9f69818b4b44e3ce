#include "session/remote/wire.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/json_text.h"
#include "messages/metrics.h"
#include "session/remote/wire_fields.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "numbers are sent in the byte order of this machine");

template <typename T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
// A class, so that its member functions find each other in any order.
struct PacketWriter {
  // Many numbers at once, as bytes.
  template <Number T>
  static Json written(const std::vector<T>& values) {
    std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return Json::binary(std::move(bytes));
  }

  template <typename List>
  static Json written_list(const List& values) {
    Json list = Json::array();
    for (const auto& value : values) list.push_back(written(value));
    return list;
  }

  template <typename T>
  requires(!Number<T>) static Json written(const std::vector<T>& values) { return written_list(values); }
  template <typename T, std::size_t n>
  static Json written(const std::array<T, n>& values) {
    return written_list(values);
  }

  // Null, or a list of one.
  template <typename Pointer>
  static Json written_pointer(const Pointer& value) {
    return value ? Json::array({written(*value)}) : Json(nullptr);
  }
  template <typename T>
  static Json written(const std::optional<T>& value) {
    return written_pointer(value);
  }
  template <typename T>
  static Json written(const std::shared_ptr<const T>& value) {
    return written_pointer(value);
  }

  template <typename... Kinds>
  static Json written(const std::variant<Kinds...>& value) {
    return std::visit([&](const auto& held) { return Json::array({value.index(), written(held)}); }, value);
  }

  static Json written(const std::string& text) { return text; }
  static Json written(const Config& config) { return to_json(config); }
  // Uses the table of configuration fields.
  static Json written(const ModelConfig& model) {
    return to_json(Config{.corpus = {}, .tokenizer = {}, .model = model, .training = {}});
  }
  static Json written(const Matrix& matrix) { return Json::array({matrix.rows, matrix.cols, written(matrix.values)}); }
  static Json written(const EffectGrid& grid) { return Json::array({grid.rows, grid.cols, written(grid.effects)}); }
  static Json written(const MetricPoint& point) {
    Json values = Json::array();
    for (std::size_t i = 0; i < metric_rows.size(); ++i) values.push_back(written(point[i]));
    return Json::array({point.step, std::move(values)});
  }

  template <typename T>
  static Json written(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<int>(value);
    } else if constexpr (HasFields<T>) {
      Json list = Json::array();
      std::apply([&](const auto&... fields) { (list.push_back(written(fields)), ...); }, fields_of(value));
      return list;
    } else {
      return value;  // a number or a boolean
    }
  }
};

struct PacketReader {
  [[noreturn]] static void refuse(const char* expected, const Json& found) {
    throw WireError(fmt::format("a packet has {} where {} should be", found.type_name(), expected));
  }

  static const Json& list_of(const Json& json, std::size_t size) {
    if (!json.is_array()) refuse("a list", json);
    if (json.size() != size)
      throw WireError(fmt::format("a packet has {} fields where {} should be", json.size(), size));
    return json;
  }

  template <std::integral T>
  requires Number<T>
  static void read_number(const Json& json, T& value) {
    if (!json.is_number_integer()) refuse("a whole number", json);
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                : std::in_range<T>(json.get<std::int64_t>());
    if (!fits) throw WireError("a packet has a number that is too large for its field");
    value = json.get<T>();
  }
  template <std::floating_point T>
  static void read_number(const Json& json, T& value) {
    if (!json.is_number()) refuse("a number", json);
    value = json.get<T>();
  }

  template <Number T>
  static void read(const Json& json, std::vector<T>& values) {
    if (!json.is_binary()) refuse("bytes", json);
    const std::vector<std::uint8_t>& bytes = json.get_binary();
    if (bytes.size() % sizeof(T) != 0) throw WireError("a packet has truncated numbers");
    values.resize(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  template <typename T>
  requires(!Number<T>) static void read(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) refuse("a list", json);
    values.clear();
    for (const Json& item : json) read(item, values.emplace_back());
  }
  template <typename T, std::size_t n>
  static void read(const Json& json, std::array<T, n>& values) {
    list_of(json, n);
    for (std::size_t i = 0; i < n; ++i) read(json[i], values[i]);
  }

  template <typename T>
  static void read(const Json& json, std::optional<T>& value) {
    value.reset();
    if (!json.is_null()) read(list_of(json, 1)[0], value.emplace());
  }
  template <typename T>
  static void read(const Json& json, std::shared_ptr<const T>& value) {
    value.reset();
    if (json.is_null()) return;
    auto made = std::make_shared<T>();
    read(list_of(json, 1)[0], *made);
    value = std::move(made);
  }

  template <typename Variant, std::size_t... kinds>
  static void read_kind(const Json& json, Variant& value, std::size_t kind, std::index_sequence<kinds...>) {
    const bool known = ((kind == kinds && (read(json, value.template emplace<kinds>()), true)) || ...);
    if (!known) throw WireError("a packet has an item of an unknown kind");
  }
  template <typename... Kinds>
  static void read(const Json& json, std::variant<Kinds...>& value) {
    std::size_t kind = 0;
    read_number(list_of(json, 2)[0], kind);
    read_kind(json[1], value, kind, std::index_sequence_for<Kinds...>());
  }

  static void read(const Json& json, std::string& text) {
    if (!json.is_string()) refuse("a text", json);
    text = json.get_ref<const std::string&>();
  }
  static void read(const Json& json, Config& config) {
    try {
      config = config_from_json(json);
    } catch (const ConfigError& error) {
      throw WireError(error.what());
    } catch (const Json::exception& error) {  // an invalid UTF-8 string in the quoted value
      throw WireError(error.what());
    }
  }
  static void read(const Json& json, ModelConfig& model) {
    Config config;
    read(json, config);
    model = std::move(config.model);
  }
  template <typename Grid, typename Values>
  static void read_grid(const Json& json, Grid& grid, Values& values) {
    list_of(json, 3);
    read_number(json[0], grid.rows);
    read_number(json[1], grid.cols);
    read(json[2], values);
    if (grid.rows < 0 || grid.cols < 0 || static_cast<std::int64_t>(grid.rows) * grid.cols != std::ssize(values))
      throw WireError(fmt::format("a packet has {} numbers of {} × {}", values.size(), grid.rows, grid.cols));
  }
  static void read(const Json& json, Matrix& matrix) { read_grid(json, matrix, matrix.values); }
  static void read(const Json& json, EffectGrid& grid) { read_grid(json, grid, grid.effects); }
  static void read(const Json& json, MetricPoint& point) {
    std::array<std::optional<double>, metric_rows.size()> values;
    read_number(list_of(json, 2)[0], point.step);
    read(json[1], values);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i]) point.set(i, *values[i]);
  }

  template <typename T>
  static void read(const Json& json, T& value) {
    if constexpr (std::is_enum_v<T>) {
      int number = 0;
      read_number(json, number);
      if (number < 0 || number > static_cast<int>(last_value<T>))
        throw WireError("a packet has a value that its kind does not allow");
      value = static_cast<T>(number);
    } else if constexpr (HasFields<T>) {
      list_of(json, field_count<T>());
      [[maybe_unused]] std::size_t i = 0;
      std::apply([&](auto&... fields) { (read(json[i++], fields), ...); }, fields_of(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) refuse("true or false", json);
      value = json.get<bool>();
    } else {
      read_number(json, value);
    }
  }
};

// ---- packets

template <typename Packet>
std::string bytes_of_packet(const Packet& packet) {
  std::string bytes;
  Json::to_msgpack(PacketWriter::written(packet), bytes);
  return bytes;
}

// Checks the depth before anything is built: nesting too deep would overflow the stack.
class Depth : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool key(std::string&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= most_json_depth; }
  bool end_object() override { return depth_-- > 0; }
  bool start_array(std::size_t) override { return ++depth_ <= most_json_depth; }
  bool end_array() override { return depth_-- > 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  int depth_ = 0;
};

template <typename Packet>
Packet packet_of(std::string_view bytes) {
  Depth depth;
  if (!Json::sax_parse(bytes, &depth, nlohmann::json::input_format_t::msgpack))
    throw WireError("a packet is not MessagePack, or is nested too deeply");
  Packet packet;
  PacketReader::read(Json::from_msgpack(bytes), packet);
  return packet;
}

}  // namespace

std::string wire_bytes(const ToServer& packet) {
  return bytes_of_packet(packet);
}
std::string wire_bytes(const ToClient& packet) {
  return bytes_of_packet(packet);
}
ToServer read_to_server(std::string_view bytes) {
  return packet_of<ToServer>(bytes);
}
ToClient read_to_client(std::string_view bytes) {
  return packet_of<ToClient>(bytes);
}

}  // namespace attnscope
