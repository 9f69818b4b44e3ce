#include "session/remote/permission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <variant>

#include "common/mark.h"
#include "common/utf8.h"

namespace attnscope {
namespace {

// Requests take time from training, some without yielding: the limit is about what a window asks for.
constexpr double longest_cost_seconds = 120;
constexpr double most_cost_megabytes = 1024;
constexpr std::int64_t most_pairs_a_length = 5000;
constexpr std::int64_t most_orders = 64;
constexpr double largest_perplexity_asked = 1000;
constexpr std::size_t max_edges = 100;
constexpr std::size_t most_text_bytes = 4096;  // SentencePiece takes quadratic time over unknown characters

template <typename... Kinds>
bool is_any_of(const Command& command) {
  return (std::holds_alternative<Kinds>(command) || ...);
}

bool is_short(const std::string& text) {
  return text.size() <= most_text_bytes;
}

struct IsBounded {
  bool operator()(const CostQuestion& asked) const {
    return asked.longest >= shortest_cost && asked.longest <= longest_cost && asked.seconds > 0 &&
           asked.seconds <= longest_cost_seconds && asked.megabytes > 0 && asked.megabytes <= most_cost_megabytes;
  }
  bool operator()(const LengthQuestion& asked) const {
    return asked.pairs_a_length > 0 && asked.pairs_a_length <= most_pairs_a_length;
  }
  bool operator()(const OrderQuestion& asked) const {
    return asked.orders >= 0 && asked.orders <= most_orders && is_short(asked.text);
  }
  bool operator()(const TsneStudy& asked) const {
    return asked.perplexity >= 1 && asked.perplexity <= largest_perplexity_asked;
  }
  bool operator()(const ContrastQuestion& asked) const {
    return is_short(asked.clean) && is_short(asked.corrupted) && std::ranges::all_of(asked.between, is_short);
  }
  bool operator()(const CircuitStudy& asked) const { return (*this)(asked.question); }
  bool operator()(const CorpusCircuitStudy& asked) const { return (*this)(asked.question); }
  bool operator()(const TrialStudy& asked) const { return (*this)(asked.question); }
  bool operator()(const SweepQuestion& asked) const { return (*this)(asked.contrasts); }
  bool operator()(const ScoreQuestion& asked) const { return (*this)(asked.contrasts); }
  bool operator()(const AttributionQuestion& asked) const { return is_short(asked.text); }
  bool operator()(const GradientQuestion& asked) const { return is_short(asked.text); }
  bool operator()(const TensorsQuestion& asked) const { return is_short(asked.text); }
  bool operator()(const FormationStudy& asked) const {
    return (*this)(asked.question) && is_short(asked.facts.clean.text) && is_short(asked.facts.corrupted.text) &&
           asked.circuit.edges.size() <= max_edges;
  }
  bool operator()(const HeldOutStudy&) const { return true; }
  bool operator()(const HeadsQuestion&) const { return true; }
  bool operator()(const HeadsHistoryQuestion&) const { return true; }
};

// The text is truncated before tokenization.
bool is_bounded(const Probe& probe) {
  return is_short(probe.senses) && std::ranges::all_of(probe.interventions.replaced, is_short, &ReplacedToken::text);
}

}  // namespace

std::optional<Message> refusal(const Command& command, bool control) {
  const auto* study = std::get_if<StartStudy>(&command);
  const auto* probe = std::get_if<Probe>(&command);
  if ((study && !std::visit(IsBounded(), study->question)) || (probe && !is_bounded(*probe)))
    return Message{Severity::warning, mark("This analysis is available only where the run is training")};
  if (study || probe || is_any_of<CancelStudy>(command)) return std::nullopt;
  if (!is_any_of<Train, Pause, Step, Adjust, Pin, Unpin>(command))
    return Message{Severity::warning,
                   mark("Runs can be opened, restarted, compared and saved only where they are training")};
  if (!control) return Message{Severity::warning, mark("Read-only window: only the training process can change this")};
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  if (const auto* adjust = std::get_if<Adjust>(&command); adjust && adjust->config.training.threads > cores)
    return Message{Severity::warning,
                   fmt::format(mark("training.threads is {}, but the machine that trains has {} cores: not changed"),
                               adjust->config.training.threads, cores)};
  if (const auto* pin = std::get_if<Pin>(&command); pin && (utf8_fault(pin->text) || !is_short(pin->text)))
    return Message{Severity::warning, mark("A pinned sentence must be short and in UTF-8")};
  return std::nullopt;
}

}  // namespace attnscope
