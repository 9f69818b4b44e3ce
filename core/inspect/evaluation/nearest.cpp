#include "inspect/evaluation/nearest.h"

#include <algorithm>
#include <limits>
#include <set>

#include "common/mark.h"
#include "config/inspection_size.h"
#include "inspect/evaluation/senses.h"
#include "inspect/probe/bounded_tokens.h"
#include "inspect/probe/tensors.h"
#include "model/inspection.h"

namespace attnscope {
namespace {

constexpr std::size_t most_contexts = 20;

// Reads the vectors that a question is about from passes of the stack that reads texts.
class VectorReader {
 public:
  VectorReader(SequenceModel& model, const NearestQuestion& question)
      : model_(model), question_(question), decoder_(model.config().is_language_model()) {}

  bool of_decoder() const { return decoder_; }

  Inspection wanted() const {
    if (question_.kind == VectorKind::state) return {.states_wanted = true};
    return {.head_wanted =
                HeadPlace{decoder_ ? AttentionPart::decoder : AttentionPart::encoder, question_.layer, question_.head}};
  }

  // B×L×W
  torch::Tensor read(const Inspection& inspection) const {
    const auto layer = static_cast<std::size_t>(question_.layer) + 1;
    if (question_.kind == VectorKind::state)
      return layer < inspection.states.size() ? inspection.states[layer] : torch::Tensor();
    if (!inspection.head) return {};
    const HeadTensors& head = *inspection.head;
    if (question_.kind == VectorKind::query) return head.q.select(1, question_.head);
    const std::int64_t groups = head.k.size(1), heads = head.q.size(1);  // keys may be shared by several heads
    if (question_.kind == VectorKind::key) return head.k.select(1, question_.head * groups / heads);
    const std::int64_t width = head.heads_output.size(-1) / heads;
    return head.heads_output.slice(-1, question_.head * width, (question_.head + 1) * width);
  }

  // With the target, 1×T, cross-attention is recorded, too.
  Inspection pass(const std::vector<int>& ids, const torch::Tensor& target_in = {}) const {
    Inspection inspection = wanted();
    const torch::Tensor row = ids_tensor(ids, model_.device());
    if (decoder_) {
      model_.decode(row, {}, nullptr, &inspection);
    } else {
      const Memory memory = model_.encode(row, {}, &inspection);
      if (target_in.defined()) model_.decode(target_in, memory, nullptr, &inspection);
    }
    return inspection;
  }

  // The attention of a token to all tokens in a pass over one sentence: the head's, or the mean of the layer's.
  torch::Tensor attention(const Inspection& inspection, std::int64_t position) const {
    const AttentionWeights& all = decoder_ ? inspection.decoder : inspection.encoder;
    const torch::Tensor heads = all[static_cast<std::size_t>(question_.layer)][0].select(1, position);  // H×K
    return (question_.kind == VectorKind::state ? heads.mean(0) : heads[question_.head]).cpu();
  }

 private:
  SequenceModel& model_;
  const NearestQuestion& question_;
  bool decoder_;
};

std::string problem_of(const NearestQuestion& question, const ModelConfig& config) {
  if (config.is_recurrent() || config.is_capture())
    return mark("Contexts are compared by the states and heads of a Transformer.");
  const std::int64_t layers = config.is_language_model() ? config.num_decoder_layers : config.num_encoder_layers;
  if (question.layer < 0 || question.layer >= layers || question.head < 0 || question.head >= config.num_heads)
    return mark("The model has no such layer or head.");
  return {};
}

// As a snapshot of the sentence has them, so that a token has the same number.
std::vector<int> ids_of_text(const Tokenizer& tokenizer, const ModelConfig& config, const std::string& text) {
  bool truncated = false;
  const std::int64_t longest = longest_inspection(config);
  if (!config.is_language_model()) return ids_of(source_tokens(tokenizer, text, longest, truncated));
  std::vector<int> ids = ids_of(prompt_tokens(tokenizer, text, longest, truncated));
  if (ids.empty()) ids.push_back(config.special().end);
  return ids;
}

// The targets of a sentence of the sample, without </s>: as they enter, and as they are predicted.
struct Targets {
  torch::Tensor in = {}, out = {};  // int64 1×T
};

Targets targets_of(const TokenSample& sample, std::size_t sentence, const ModelConfig& config) {
  if (config.is_language_model() || !config.has_decoder()) return {};
  const auto [batch, row] = sample.places[sentence];
  const Batch& from = sample.batches[batch];
  const std::int64_t length = target_positions(from, config)[row].sum().item<std::int64_t>() - 1;
  if (length <= 0) return {};
  const auto part = [&](const torch::Tensor& ids) { return ids.slice(0, row, row + 1).slice(1, 0, length); };
  return {part(from.target_in), part(from.target_out)};
}

// The output token whose cross-attention to that position is largest, averaged over the heads of the last layer.
std::string output_at(const Inspection& pass, const Targets& targets, std::int64_t position,
                      const Tokenizer& tokenizer) {
  if (!targets.in.defined() || pass.cross.empty()) return {};
  const torch::Tensor weights = pass.cross.back()[0].mean(0).select(1, position);  // T
  const auto at = weights.argmax().item<std::int64_t>();
  return tokenizer.token(static_cast<int>(targets.out[0][at].item<std::int64_t>()));
}

}  // namespace

NearestResult nearest_contexts(SequenceModel& model, const Tokenizer& tokenizer, const std::vector<Batch>& batches,
                               const PairList& pairs, const NearestQuestion& question, const YieldCallback& yield) {
  NearestResult made{.problem = problem_of(question, model.config()), .question = question};
  if (!made.problem.empty()) return made;
  const torch::NoGradGuard no_gradients;
  const VectorReader reader(model, question);
  const std::vector<int> ids = ids_of_text(tokenizer, model.config(), question.text);
  const auto token = std::clamp<std::int64_t>(question.token, 0, std::ssize(ids) - 1);
  made.question.token = static_cast<int>(token);
  made.token = tokenizer.token(ids[static_cast<std::size_t>(token)]);
  const torch::Tensor chosen = reader.read(reader.pass(ids))[0][token].to(torch::kCPU, torch::kFloat32);
  const TokenSample sample(
      model, batches, reader.of_decoder(), reader.wanted(),
      [&](const Inspection& inspection) { return reader.read(inspection); }, yield);
  made.tokens = sample.tokens();
  if (made.tokens == 0) return made;
  const torch::Tensor cosines = torch::cosine_similarity(sample.values, chosen.unsqueeze(0), 1);
  const torch::Tensor order = cosines.argsort(0, true);
  const std::vector<std::string> senses =
      pairs.empty() || reader.of_decoder() ? std::vector<std::string>() : token_senses(sample, tokenizer, pairs);
  std::set<std::int64_t> sentences;
  for (std::int64_t i = 0; i < order.size(0) && made.contexts.size() < most_contexts; ++i) {
    const auto row = order[i].item<std::int64_t>();
    const auto next = std::ranges::upper_bound(sample.sentences, row);
    const std::int64_t begin = *(next - 1);
    if (!sentences.insert(begin).second) continue;
    if (yield) yield();
    std::vector<int> sentence;
    for (std::int64_t at = begin; at < *next; ++at)
      sentence.push_back(static_cast<int>(sample.ids[at].item<std::int64_t>()));
    const Targets targets = targets_of(sample, static_cast<std::size_t>(next - 1 - sample.sentences.begin()),
                                       model.config());
    const Inspection pass = reader.pass(sentence, targets.in);
    const torch::Tensor weights = reader.attention(pass, row - begin);
    const TokenSample::Rows around = sample.around(row);
    const auto attended = static_cast<std::size_t>(weights.argmax().item<std::int64_t>());
    made.contexts.push_back(
        {{sample.texts(tokenizer, around), to_values(weights.slice(0, around.first - begin, around.end - begin)),
          static_cast<int>(row - around.first), cosines[row].item<float>()},
         tokenizer.token(sentence[attended]),
         static_cast<int>(row - begin),
         senses.empty() ? "" : senses[static_cast<std::size_t>(row)],
         output_at(pass, targets, row - begin, tokenizer)});
  }
  return made;
}

}  // namespace attnscope
