#include "inspect/probe/order.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "common/mark.h"
#include "data/corpus/random.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

class OrderReader {
 public:
  OrderReader(SequenceModel& model, const Tokenizer& tokenizer, const YieldCallback& yield)
      : model_(model), tokenizer_(tokenizer), yield_(yield) {}

  // Decodes the text and computes the probability of `expected`; if that is empty, it is set to the output.
  OrderReading read(const std::string& text, const Interventions& interventions, std::vector<int>& expected) {
    Snapshot whole;
    inspect_model(
        model_, tokenizer_, {.text = text, .interventions = interventions},
        [&](Snapshot latest) { whole = std::move(latest); }, yield_);
    if (expected.empty()) expected = ids_of(whole.target_out);
    return {whole.output_text, log_prob(whole, interventions, expected)};
  }

 private:
  double log_prob(const Snapshot& whole, const Interventions& interventions, const std::vector<int>& expected) {
    Inspection inspection{.interventions = &interventions};
    std::vector<int> inputs = {model_.config().special().start};
    if (!expected.empty()) inputs.insert(inputs.end(), expected.begin(), expected.end() - 1);
    const Memory memory = model_.encode(ids_tensor(ids_of(whole.source), model_.device()), {}, &inspection);
    const torch::Tensor features = model_.decode(ids_tensor(inputs, model_.device()), memory, nullptr, &inspection);
    const torch::Tensor log_probs = torch::log_softmax(model_.logits(features)[0], -1);  // T×V
    const torch::Tensor written = ids_tensor(expected, model_.device()).t();             // T×1
    return log_probs.gather(1, written).sum().item<double>();
  }

  SequenceModel& model_;
  const Tokenizer& tokenizer_;
  const YieldCallback& yield_;
};

std::string problem_of(const ModelConfig& model, const std::string& text) {
  if (!model.has_encoder())
    return mark(
        "A language model reads in order because of its causal mask: use a translation model to shuffle words.");
  if (words_of(text).size() < 2) return mark("There is nothing to shuffle: type at least two words.");
  return {};
}

}  // namespace

std::vector<std::string> shuffled_words(const std::string& text, std::int64_t count, std::int64_t seed) {
  std::vector<std::string> words = words_of(text), orders = {joined(words)};
  Random random(seed);
  // A few words have few orders: repeated duplicates mean that all have been found.
  for (std::int64_t tries = 0; tries < 20 * count && std::ssize(orders) < count; ++tries) {
    random.shuffle(words);
    const std::string order = joined(words);
    if (std::ranges::find(orders, order) == orders.end()) orders.push_back(order);
  }
  return orders;
}

OrderResult compare_orders(SequenceModel& model, const Tokenizer& tokenizer, const OrderQuestion& question,
                           const FractionCallback& progress) {
  const std::string with_positions = model.config().is_recurrent() ? "recurrence" : model.config().positions;
  OrderResult result{.question = question, .positions = with_positions, .orders = {}};
  result.problem = problem_of(model.config(), question.text);
  if (!result.problem.empty()) return result;
  const bool can_disable_positions = !model.config().is_recurrent() && model.config().positions != "none";
  const std::vector<std::string> texts = shuffled_words(question.text, question.orders + 1, question.seed);
  const YieldCallback yield = [&] {
    progress(static_cast<double>(result.orders.size()) / static_cast<double>(texts.size()));
  };
  OrderReader reader(model, tokenizer, yield);
  Interventions without_positions;
  without_positions.no_positions = true;
  std::vector<int> expected, expected_without_positions;
  for (const std::string& text : texts) {
    WordOrder order{.text = text, .with_positions = reader.read(text, {}, expected), .without_positions = {}};
    if (can_disable_positions)
      order.without_positions.push_back(reader.read(text, without_positions, expected_without_positions));
    result.orders.push_back(std::move(order));
    yield();
  }
  return result;
}

}  // namespace attnscope
