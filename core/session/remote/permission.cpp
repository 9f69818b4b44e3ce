#include "session/remote/permission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <variant>

#include "common/mark.h"
#include "common/utf8.h"
#include "messages/overrides.h"

namespace attnscope {
namespace {

// Requests take time from training, some without yielding: the limit is about what a window asks for.
constexpr double longest_cost_seconds = 120;
constexpr double most_cost_megabytes = 1024;
constexpr std::int64_t most_pairs_a_length = 5000;
constexpr std::int64_t most_orders = 64;
constexpr double largest_perplexity_asked = 1000;
constexpr std::size_t max_edges = 100;
constexpr std::size_t most_steered = 32;  // each takes two forward passes
constexpr std::size_t most_steered_width = 65'536;  // d_model
constexpr double largest_l1 = 1000;
constexpr int most_dictionary_width = 16, most_dictionary_steps = 10'000;
constexpr std::size_t most_text_bytes = 4096;  // SentencePiece takes quadratic time over unknown characters

template <typename... Kinds>
bool is_any_of(const Command& command) {
  return (std::holds_alternative<Kinds>(command) || ...);
}

bool is_finite(float number) {
  return std::isfinite(number);
}

bool is_short(const std::string& text) {
  return text.size() <= most_text_bytes;
}

// Returns what is out of range, with the limits; empty: nothing.
struct OutOfRange {
  std::string operator()(const CostQuestion& asked) const {
    if (asked.longest < shortest_cost || asked.longest > longest_cost)
      return fmt::format(mark("a length of {} tokens; allowed: {} to {}"), asked.longest, shortest_cost, longest_cost);
    if (!(asked.seconds > 0 && asked.seconds <= longest_cost_seconds))
      return fmt::format(mark("{:g} seconds; allowed: up to {:g}"), asked.seconds, longest_cost_seconds);
    if (!(asked.megabytes > 0 && asked.megabytes <= most_cost_megabytes))
      return fmt::format(mark("{:g} MB; allowed: up to {:g}"), asked.megabytes, most_cost_megabytes);
    return {};
  }
  std::string operator()(const LengthQuestion& asked) const {
    if (asked.pairs_a_length > 0 && asked.pairs_a_length <= most_pairs_a_length) return {};
    return fmt::format(mark("{} pairs per length; allowed: 1 to {}"), asked.pairs_a_length, most_pairs_a_length);
  }
  std::string operator()(const OrderQuestion& asked) const {
    if (asked.orders < 0 || asked.orders > most_orders)
      return fmt::format(mark("{} word orders; allowed: up to {}"), asked.orders, most_orders);
    return (*this)(asked.text);
  }
  std::string operator()(const TsneStudy& asked) const {
    if (asked.perplexity >= 1 && asked.perplexity <= largest_perplexity_asked) return {};
    return fmt::format(mark("a perplexity of {:g}; allowed: 1 to {:g}"), asked.perplexity, largest_perplexity_asked);
  }
  std::string operator()(const std::string& text) const {
    if (text.size() <= most_text_bytes) return {};
    return fmt::format(mark("a text of {} bytes; allowed: up to {}"), text.size(), most_text_bytes);
  }
  std::string operator()(const ContrastQuestion& asked) const {
    for (const std::string* text : {&asked.clean, &asked.corrupted})
      if (std::string why = (*this)(*text); !why.empty()) return why;
    for (const std::string& word : asked.between)
      if (std::string why = (*this)(word); !why.empty()) return why;
    return {};
  }
  std::string operator()(const CircuitStudy& asked) const { return (*this)(asked.question); }
  std::string operator()(const CorpusCircuitStudy& asked) const { return (*this)(asked.question); }
  std::string operator()(const TrialStudy& asked) const { return (*this)(asked.question); }
  std::string operator()(const SweepQuestion& asked) const { return (*this)(asked.contrasts); }
  std::string operator()(const ScoreQuestion& asked) const { return (*this)(asked.contrasts); }
  std::string operator()(const AttributionQuestion& asked) const { return (*this)(asked.text); }
  std::string operator()(const GradientQuestion& asked) const { return (*this)(asked.text); }
  std::string operator()(const NearestQuestion& asked) const { return (*this)(asked.text); }
  std::string operator()(const ProbingQuestion& asked) const { return (*this)(asked.word); }
  std::string operator()(const TensorsQuestion& asked) const { return (*this)(asked.text); }
  std::string operator()(const NeuronsQuestion& asked) const {
    const DictionaryOptions options = asked.dictionary.value_or(DictionaryOptions());
    if (!(options.l1 >= 0 && options.l1 <= largest_l1))
      return fmt::format(mark("an L1 coefficient of {:g}; allowed: 0 to {:g}"), options.l1, largest_l1);
    if (options.width > 0 && options.width <= most_dictionary_width && options.active >= 0 && options.steps >= 0 &&
        options.steps <= most_dictionary_steps)
      return {};
    return fmt::format(mark("a dictionary of {} × d_model features in {} steps; allowed: up to {} and {}"),
                       options.width, options.steps, most_dictionary_width, most_dictionary_steps);
  }
  std::string operator()(const FormationStudy& asked) const {
    if (asked.circuit.edges.size() > max_edges)
      return fmt::format(mark("a circuit of {} edges; allowed: up to {}"), asked.circuit.edges.size(), max_edges);
    return (*this)(ContrastQuestion{asked.facts.clean.text, asked.facts.corrupted.text, asked.question.between});
  }
  std::string operator()(const Probe& asked) const {  // the text is truncated before tokenization
    for (const ReplacedToken& replaced : asked.interventions.replaced)
      if (std::string why = (*this)(replaced.text); !why.empty()) return why;
    for (const Steering& steering : asked.interventions.steered) {
      for (const std::string* text : {&steering.plus, &steering.minus})
        if (std::string why = (*this)(*text); !why.empty()) return why;
      if (!(std::abs(steering.factor) <= largest_steering))
        return fmt::format(mark("a steering factor of {:g}; allowed: {:g} to {:g}"), steering.factor,
                           -largest_steering, largest_steering);
      if (steering.direction.size() > most_steered_width || !std::ranges::all_of(steering.direction, is_finite))
        return fmt::format(mark("a direction of {} numbers; allowed: up to {}, all finite"), steering.direction.size(),
                           most_steered_width);
    }
    if (asked.interventions.steered.size() > most_steered)
      return fmt::format(mark("{} steered layers; allowed: up to {}"), asked.interventions.steered.size(),
                         most_steered);
    return (*this)(asked.senses);
  }
  std::string operator()(const StartStudy& asked) const { return std::visit(*this, asked.question); }
  std::string operator()(const auto&) const { return {}; }
};

}  // namespace

std::optional<Message> refusal(const Command& command, bool control) {
  if (const std::string why = std::visit(OutOfRange(), command); !why.empty())
    return Message{Severity::warning, fmt::format(mark("A window elsewhere cannot ask for this: {}"), why)};
  if (is_any_of<StartStudy, Probe, CancelStudy>(command)) return std::nullopt;
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
