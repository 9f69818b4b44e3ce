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
#include "session/remote/packet_cursor.h"
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
  // By the table of configuration fields: a document of its own.
  static Json written(const Config& config) { return Json::binary(Json::to_msgpack(to_json(config))); }
  static Json written(const ModelConfig& model) {
    return written(Config{.corpus = {}, .tokenizer = {}, .model = model, .training = {}});
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

constexpr std::size_t largest_config = std::size_t{64} << 10;
constexpr int most_nested = 8;  // snapshots within snapshots

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

class PacketReader {
 public:
  explicit PacketReader(std::string_view bytes) : in_(bytes, largest_read) {}

  template <typename Packet>
  Packet packet() {
    Packet packet;
    read(packet);
    if (!in_.at_end()) throw WireError("a packet continues after its end");
    return packet;
  }

 private:
  void expect_list(std::size_t size) {
    const std::size_t found = in_.list();
    if (found != size) throw WireError(fmt::format("a packet has {} fields where {} should be", found, size));
  }

  template <Number T>
  void read(T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(in_.real());
    } else {
      value = in_.whole<T>();
    }
  }
  void read(bool& value) { value = in_.boolean(); }

  template <Number T>
  void read(std::vector<T>& values) {
    const std::string_view bytes = in_.binary();
    if (bytes.size() % sizeof(T) != 0) throw WireError("a packet has truncated numbers");
    in_.take_room(bytes.size());
    values.resize(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  template <typename T>
  requires(!Number<T>) void read(std::vector<T>& values) {
    const std::size_t count = in_.list();
    in_.take_room(count * sizeof(T));
    values.clear();
    values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) read(values.emplace_back());
  }
  template <typename T, std::size_t n>
  void read(std::array<T, n>& values) {
    expect_list(n);
    for (T& value : values) read(value);
  }

  // Nil, or a list of one.
  bool begins_value() {
    if (in_.take_nil()) return false;
    expect_list(1);
    return true;
  }
  template <typename T>
  void read(std::optional<T>& value) {
    value.reset();
    if (begins_value()) read(value.emplace());
  }
  template <typename T>
  void read(std::shared_ptr<const T>& value) {
    value.reset();
    if (!begins_value()) return;
    if (++nested_ > most_nested) throw WireError("a packet is nested too deeply");
    in_.take_room(sizeof(T));
    auto made = std::make_shared<T>();
    read(*made);
    value = std::move(made);
    --nested_;
  }

  template <typename Variant, std::size_t... kinds>
  void read_kind(Variant& value, std::size_t kind, std::index_sequence<kinds...>) {
    const bool known = ((kind == kinds && (read(value.template emplace<kinds>()), true)) || ...);
    if (!known) throw WireError("a packet has an item of an unknown kind");
  }
  template <typename... Kinds>
  void read(std::variant<Kinds...>& value) {
    expect_list(2);
    read_kind(value, in_.whole<std::size_t>(), std::index_sequence_for<Kinds...>());
  }

  void read(std::string& text) {
    const std::string_view bytes = in_.text();
    in_.take_room(bytes.size());
    text = bytes;
  }
  void read(Config& config) {
    const std::string_view bytes = in_.binary();
    Depth depth;
    if (bytes.size() > largest_config || !Json::sax_parse(bytes, &depth, Json::input_format_t::msgpack))
      throw WireError("a packet has a configuration that cannot be read");
    try {
      config = config_from_json(Json::from_msgpack(bytes));
    } catch (const ConfigError& error) {
      throw WireError(error.what());
    } catch (const Json::exception& error) {  // an invalid UTF-8 string in the quoted value
      throw WireError(error.what());
    }
  }
  void read(ModelConfig& model) {
    Config config;
    read(config);
    model = std::move(config.model);
  }
  template <typename Grid, typename Values>
  void read_grid(Grid& grid, Values& values) {
    expect_list(3);
    read(grid.rows);
    read(grid.cols);
    read(values);
    if (grid.rows < 0 || grid.cols < 0 || static_cast<std::int64_t>(grid.rows) * grid.cols != std::ssize(values))
      throw WireError(fmt::format("a packet has {} numbers of {} × {}", values.size(), grid.rows, grid.cols));
  }
  void read(Matrix& matrix) { read_grid(matrix, matrix.values); }
  void read(EffectGrid& grid) { read_grid(grid, grid.effects); }
  void read(MetricPoint& point) {
    std::array<std::optional<double>, metric_rows.size()> values;
    expect_list(2);
    read(point.step);
    read(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i]) point.set(i, *values[i]);
  }
  template <typename T>
  requires std::is_enum_v<T>
  void read(T& value) {
    const int number = in_.whole<int>();
    if (number < 0 || number > static_cast<int>(last_value<T>))
      throw WireError("a packet has a value that its kind does not allow");
    value = static_cast<T>(number);
  }
  template <HasFields T>
  void read(T& value) {
    expect_list(field_count<T>());
    std::apply([&](auto&... fields) { (read(fields), ...); }, fields_of(value));
  }

  PacketCursor in_;
  int nested_ = 0;
};

// ---- packets

template <typename Packet>
std::string bytes_of_packet(const Packet& packet) {
  std::string bytes;
  Json::to_msgpack(PacketWriter::written(packet), bytes);
  return bytes;
}

}  // namespace

std::string wire_bytes(const ToServer& packet) {
  return bytes_of_packet(packet);
}
std::string wire_bytes(const ToClient& packet) {
  return bytes_of_packet(packet);
}
ToServer read_to_server(std::string_view bytes) {
  return PacketReader(bytes).packet<ToServer>();
}
ToClient read_to_client(std::string_view bytes) {
  return PacketReader(bytes).packet<ToClient>();
}

}  // namespace attnscope
