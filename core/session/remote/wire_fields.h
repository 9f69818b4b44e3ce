// The fields of every message, in the order of their declaration, which is the order of transmission.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "messages/batch_inspection.h"
#include "messages/data_flow.h"
#include "messages/decodings.h"
#include "messages/embeddings.h"
#include "messages/messages.h"
#include "messages/recurrent_states.h"
#include "messages/senses.h"
#include "messages/snapshot.h"
#include "session/remote/packets.h"

namespace attnscope {

// Converts to any field type.
struct AnyField {
  template <typename T>
  operator T() const;
};

template <typename T, std::size_t... i>
constexpr bool has_so_many(std::index_sequence<i...>) {
  return requires {
    T{(static_cast<void>(i), AnyField{})...};
  };
}

// The number of fields of the aggregate.
template <typename T, std::size_t n = 0>
constexpr std::size_t field_count() {
  if constexpr (has_so_many<T>(std::make_index_sequence<n + 1>())) {
    return field_count<T, n + 1>();
  } else {
    return n;
  }
}

template <typename T>
concept HasFields = std::is_aggregate_v<T>;

// Returns references to all fields of an aggregate. Without reflection, a structured binding of the right size is the
// only way; more than 36 fields do not compile.
template <HasFields Message>
auto fields_of(Message& message) {
  constexpr std::size_t count = field_count<std::remove_const_t<Message>>();
  static_assert(count <= 36, "add a line for messages with more fields");
#define ATTNSCOPE_FIELDS(n, ...)   \
  if constexpr (count == n) {      \
    auto& [__VA_ARGS__] = message; \
    return std::tie(__VA_ARGS__);  \
  }
  ATTNSCOPE_FIELDS(1, a)
  ATTNSCOPE_FIELDS(2, a, b)
  ATTNSCOPE_FIELDS(3, a, b, c)
  ATTNSCOPE_FIELDS(4, a, b, c, d)
  ATTNSCOPE_FIELDS(5, a, b, c, d, e)
  ATTNSCOPE_FIELDS(6, a, b, c, d, e, f)
  ATTNSCOPE_FIELDS(7, a, b, c, d, e, f, g)
  ATTNSCOPE_FIELDS(8, a, b, c, d, e, f, g, h)
  ATTNSCOPE_FIELDS(9, a, b, c, d, e, f, g, h, i)
  ATTNSCOPE_FIELDS(10, a, b, c, d, e, f, g, h, i, j)
  ATTNSCOPE_FIELDS(11, a, b, c, d, e, f, g, h, i, j, k)
  ATTNSCOPE_FIELDS(12, a, b, c, d, e, f, g, h, i, j, k, l)
  ATTNSCOPE_FIELDS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  ATTNSCOPE_FIELDS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  ATTNSCOPE_FIELDS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  ATTNSCOPE_FIELDS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  ATTNSCOPE_FIELDS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
  ATTNSCOPE_FIELDS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
  ATTNSCOPE_FIELDS(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
  ATTNSCOPE_FIELDS(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  ATTNSCOPE_FIELDS(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  ATTNSCOPE_FIELDS(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
  ATTNSCOPE_FIELDS(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
  ATTNSCOPE_FIELDS(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
  ATTNSCOPE_FIELDS(25, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
  ATTNSCOPE_FIELDS(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
  ATTNSCOPE_FIELDS(27, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A)
  ATTNSCOPE_FIELDS(28, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B)
  ATTNSCOPE_FIELDS(29, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C)
  ATTNSCOPE_FIELDS(30, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D)
  ATTNSCOPE_FIELDS(31, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E)
  ATTNSCOPE_FIELDS(32, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F)
  ATTNSCOPE_FIELDS(33, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F,
                   G)
  ATTNSCOPE_FIELDS(34, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F,
                   G, H)
  ATTNSCOPE_FIELDS(35, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F,
                   G, H, I)
  ATTNSCOPE_FIELDS(36, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F,
                   G, H, I, J)
#undef ATTNSCOPE_FIELDS
  if constexpr (count == 0) return std::tuple<>{};
}

// The last value of every enumeration: higher ones are rejected.
template <typename Enumeration>
inline constexpr Enumeration last_value = Enumeration::has_no_last_value;
template <>
inline constexpr auto last_value<AttentionPart> = AttentionPart::cross;
template <>
inline constexpr auto last_value<DropoutPlace::Columns> = DropoutPlace::Columns::target;
template <>
inline constexpr auto last_value<FlowPart> = FlowPart::probabilities;
template <>
inline constexpr auto last_value<FlowOp> = FlowOp::by_distance;
template <>
inline constexpr auto last_value<Method> = Method::sample;
template <>
inline constexpr auto last_value<HypothesisState> = HypothesisState::finished;
template <>
inline constexpr auto last_value<EmbeddingMatrix> = EmbeddingMatrix::output;
template <>
inline constexpr auto last_value<WordKind> = WordKind::verb;
template <>
inline constexpr auto last_value<WordGender> = WordGender::feminine;
template <>
inline constexpr auto last_value<WordNumber> = WordNumber::plural;
template <>
inline constexpr auto last_value<Sublayer> = Sublayer::feed_forward;
template <>
inline constexpr auto last_value<LogitPartKind> = LogitPartKind::biases;
template <>
inline constexpr auto last_value<CostLayer> = CostLayer::convolution;
template <>
inline constexpr auto last_value<ValueKind> = ValueKind::feed_forward;
template <>
inline constexpr auto last_value<ActivationKind> = ActivationKind::head;
template <>
inline constexpr auto last_value<TokenLabel> = TokenLabel::depth;
template <>
inline constexpr auto last_value<VectorKind> = VectorKind::head;
template <>
inline constexpr auto last_value<ChangeKind> = ChangeKind::exchange;
template <>
inline constexpr auto last_value<ContrastSide> = ContrastSide::corrupted;
template <>
inline constexpr auto last_value<RunSide> = RunSide::b;
template <>
inline constexpr auto last_value<Activity> = Activity::finished;
template <>
inline constexpr auto last_value<Severity> = Severity::error;

}  // namespace attnscope
