// Every message, filled by chance: each field by its type.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "messages/metrics.h"
#include "session/remote/packets.h"
#include "session/remote/wire_fields.h"

namespace attnscope {

class Filler {
 public:
  explicit Filler(std::uint32_t seed) : random_(seed) {}

  // The kind of the packet's variant, and of the command or event in it, at those places; the rest by chance.
  template <typename Packet>
  Packet packet(std::size_t kind, std::size_t kind_within) {
    Packet packet;
    kind_within_ = kind_within;
    fill_kind(packet, kind);
    return packet;
  }

  template <typename T>
  T made() {
    T value;
    fill(value);
    return value;
  }

 private:
  template <typename T>
  static constexpr bool is_message = std::is_same_v<T, Command> || std::is_same_v<T, Event>;

  std::uint64_t below(std::uint64_t count) { return random_() % count; }
  std::size_t few() { return depth_ > 6 ? 0 : static_cast<std::size_t>(below(3)); }

  void fill(bool& value) { value = below(2) == 1; }
  template <typename T>
  requires std::is_arithmetic_v<T>
  void fill(T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(below(1000)) / 8;
    } else {  // most often one that there could be
      const std::uint64_t most = below(4) == 0 ? 1000 : 4;
      value = static_cast<T>(below(2 * most)) - static_cast<T>(std::is_signed_v<T> ? most / 2 : 0);
    }
  }
  void fill(std::string& value) {
    value.clear();
    for (std::size_t i = below(8); i > 0; --i) value += static_cast<char>(below(256));
  }
  template <typename T>
  void fill(std::vector<T>& values) {
    values.resize(few());
    ++depth_;
    for (auto&& value : values) fill(value);
    --depth_;
  }
  template <typename T, std::size_t n>
  void fill(std::array<T, n>& values) {
    for (T& value : values) fill(value);
  }
  template <typename T>
  void fill(std::optional<T>& value) {
    if (few() > 0) fill(value.emplace());
  }
  template <typename T>
  void fill(std::shared_ptr<const T>& value) {
    if (few() == 0) return;
    auto made = std::make_shared<T>();
    ++depth_;
    fill(*made);
    --depth_;
    value = std::move(made);
  }
  template <typename... Kinds>
  void fill(std::variant<Kinds...>& value) {
    const std::size_t kind = is_message<std::variant<Kinds...>> ? kind_within_ : below(sizeof...(Kinds));
    fill_kind(value, kind % sizeof...(Kinds));
  }
  template <typename... Kinds>
  void fill_kind(std::variant<Kinds...>& value, std::size_t kind) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((i == kind ? fill(value.template emplace<i>()) : void()), ...);
    }
    (std::index_sequence_for<Kinds...>());
  }
  void fill(Config& config) {
    fill(config.corpus.source);
    config.training.steps = 1 + static_cast<std::int64_t>(below(1000));
    config.model = model();
  }
  void fill(ModelConfig& value) { value = model(); }
  ModelConfig model() {
    ModelConfig model;
    model.num_heads = std::int64_t{1} << below(3);
    model.tied_embeddings = below(2) == 1;
    return model;
  }
  void fill(Matrix& matrix) {
    matrix = Matrix(static_cast<int>(below(3)), static_cast<int>(below(3)));
    for (float& value : matrix.values) fill(value);
  }
  void fill(EffectGrid& grid) {
    grid.rows = static_cast<int>(below(3));
    grid.cols = static_cast<int>(below(3));
    grid.effects.resize(static_cast<std::size_t>(grid.rows * grid.cols));
    for (auto& effect : grid.effects) fill(effect);
  }
  void fill(MetricPoint& point) {
    fill(point.step);
    for (std::size_t i = 0; i < metric_rows.size(); ++i) {
      const double value = static_cast<double>(below(1000)) / 7;
      if (below(2) == 1) point.set(i, value);
    }
  }
  template <typename T>
  requires std::is_enum_v<T>
  void fill(T& value) { value = static_cast<T>(below(static_cast<std::uint64_t>(last_value<T>) + 1)); }
  template <typename T>
  requires(std::is_class_v<T>) void fill(T& value) {
    ++depth_;
    std::apply([&](auto&... fields) { (fill(fields), ...); }, fields_of(value));
    --depth_;
  }

  std::mt19937 random_;
  std::size_t kind_within_ = 0;
  int depth_ = 0;
};

}  // namespace attnscope
