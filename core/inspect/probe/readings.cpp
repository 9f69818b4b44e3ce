#include "inspect/probe/readings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/bleu.h"
#include "common/clamped.h"
#include "config/inspection_size.h"
#include "data/tokenizer/tokenizer.h"
#include "inspect/probe/choices.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"
#include "training/decoding/search.h"

namespace attnscope {
namespace {

constexpr std::int64_t lens_guesses = 3;

// A pass over the whole output.
struct WholePass {
  Inspection record;
  torch::Tensor features;  // 1×T×D

  WholePass(SequenceModel& model, const Snapshot& whole)
      : record{.interventions = whole.interventions.empty() ? nullptr : &whole.interventions,
               .sublayers_wanted = true,
               .hidden_wanted = true} {
    Memory memory;
    const auto ids = [&](std::span<const Token> tokens) { return ids_tensor(ids_of(tokens), model.device()); };
    if (!model.config().is_language_model()) memory = model.encode(ids(whole.typed()), {}, &record);
    features = model.decode(ids(whole.target_in), memory, nullptr, &record);
  }
};

std::vector<LensRow> read_rows(SequenceModel& model, const Tokenizer& tokenizer, const Snapshot& whole,
                               const Inspection& record, const LensTranslation& translate, const YieldCallback& yield) {
  std::vector<LensRow> rows;
  for (const auto& [layer, within, stream] : lens_streams(record)) {
    if (yield) yield();
    const torch::Tensor read = translate ? translate(rows.size(), stream) : stream;
    const torch::Tensor logits = model.logits(model.finished(read)).squeeze(0);  // T×V
    LensRow& row = rows.emplace_back(LensRow{layer, within, {}});
    for (std::int64_t step = 0; step < logits.size(0); ++step) {
      const Choice choice(logits[step], tokenizer, model.config());
      const int written = whole.target_out[static_cast<std::size_t>(step)].id;
      row.cells.push_back({choice.best(lens_guesses), choice.probability(written), choice.rank(written)});
    }
  }
  return rows;
}

class Finder {
 public:
  Finder(SequenceModel& model, const Tokenizer& tokenizer, const Probe& probe, const Snapshot& whole,
         const YieldCallback& yield)
      : model_(model),
        tokenizer_(tokenizer),
        probe_(probe),
        whole_(whole),
        yield_(yield),
        typed_(ids_of(whole.typed())),
        source_(ids_tensor(typed_, model.device())) {
    const std::size_t steered = probe.follow_reference ? 0 : whole.prefix;
    search_.length_penalty = probe.options.length_penalty;
    search_.limit = writing_limit(model.config(), typed_.size(), steered);
    search_.prefix =
        ids_of(std::span(whole.target_out).subspan(static_cast<std::size_t>(whole.first_output()), steered));
    search_.interventions = whole.interventions.empty() ? nullptr : &whole.interventions;
  }

  Decodings find() {
    Decodings found;
    found.readings.push_back(reading(Method::greedy, 1, search(1).front()));
    found.length_penalty = search_.length_penalty;
    add_beam(found);
    for (std::int64_t i = 0; i < clamped<std::int64_t>(probe_.options.num_samples, 0, max_probe_samples); ++i)
      found.readings.push_back(reading(Method::sample, static_cast<int>(i) + 1, draw(i)));
    add_steps(found);
    found.hypothesis = inspect(probe_.hypothesis.empty() ? best_of_beam(found) : probe_.hypothesis);
    return found;
  }

 private:
  std::vector<Hypothesis> search(std::int64_t beam, std::vector<SearchTree>* trees = nullptr) {
    search_.beam = beam;
    return std::move(beam_search(model_, source_, {}, search_, yield_, trees).front());
  }

  void add_beam(Decodings& found) {
    std::vector<SearchTree> trees;
    const auto hypotheses = search(clamped<std::int64_t>(probe_.options.beam, 1, max_probe_beam), &trees);
    for (std::size_t i = 0; i < hypotheses.size(); ++i)
      found.readings.push_back(reading(Method::beam, static_cast<int>(i) + 1, hypotheses[i]));
    for (const Extension& node : trees.front()) {
      found.tree.push_back(
          {node.parent, node.step, token(node.token), node.log_prob, node.total, node.score, node.state});
    }
  }

  Hypothesis draw(std::int64_t number) {
    SamplingOptions sampling = probe_.options.sampling;
    sampling.seed += number;
    Sampler sampler(sampling);
    return sample(model_, source_, sampler, search_, yield_);
  }

  Reading reading(Method method, int number, const Hypothesis& hypothesis) const {
    Reading made{method, number, {}, hypothesis.log_probs, hypothesis.log_prob, hypothesis.score, {}, {}, {}};
    for (const int id : hypothesis.ids) made.tokens.push_back(token(id));
    if (hypothesis.finished) made.tokens.push_back(token(model_.config().special().end));
    made.text = text(hypothesis.ids);
    made.finished = hypothesis.finished;
    if (!probe_.reference.empty()) made.bleu = bleu_of(made.text);
    return made;
  }

  double bleu_of(const std::string& text) const {
    const std::array references = {std::vector{probe_.reference}};
    return bleu(std::array{text}, references);
  }

  std::string text(const std::vector<int>& ids) const {
    return model_.config().is_language_model() ? continued_text(tokenizer_, typed_, ids) : tokenizer_.decode(ids);
  }

  Token token(int id) const { return token_of(id, tokenizer_, model_.config()); }

  // The ranks of every step, and every layer's guesses (logit lens), from one pass over the whole output.
  void add_steps(Decodings& found) {
    if (yield_) yield_();
    const WholePass pass(model_, whole_);
    found.ranks = plotted_ranks(model_.vocab_size());
    const torch::Tensor logits = model_.logits(pass.features).squeeze(0);  // T×V
    for (std::int64_t step = 0; step < logits.size(0); ++step)
      found.ranked.push_back(Choice(logits[step], tokenizer_, model_.config()).ranked(found.ranks));
    found.lens = read_rows(model_, tokenizer_, whole_, pass.record, {}, yield_);
  }

  static std::vector<int> best_of_beam(const Decodings& found) {
    return ids_of(std::ranges::find(found.readings, Method::beam, &Reading::method)->tokens);
  }

  HypothesisInspection inspect(const std::vector<int>& asked) {
    Hypothesis hypothesis;
    hypothesis.ids = asked;
    std::erase_if(hypothesis.ids, [&](int id) { return id < 0 || id >= model_.vocab_size(); });
    if (model_.config().writing_ends()) {
      const auto end = std::ranges::find(hypothesis.ids, model_.config().special().end);
      hypothesis.finished = end != hypothesis.ids.end();
      hypothesis.ids.erase(end, hypothesis.ids.end());
    }
    HypothesisAttention attention = attention_of(model_, source_, hypothesis, search_.interventions);
    HypothesisInspection made;
    made.ids = asked;
    made.text = text(hypothesis.ids);
    for (const int id : rows_of(attention.queries, hypothesis)) made.queries.push_back(token(id));
    for (const int id : attention.keys) made.keys.push_back(token(id));
    made.maps = std::move(attention.maps);
    return made;
  }

  // Ids that label the rows of the maps: a language model's inputs; otherwise the tokens generated from them.
  std::vector<int> rows_of(std::vector<int> inputs, const Hypothesis& hypothesis) const {
    if (model_.config().is_language_model() || (!hypothesis.finished && hypothesis.ids.empty())) return inputs;
    inputs.erase(inputs.begin());
    inputs.push_back(hypothesis.finished ? model_.config().special().end : hypothesis.ids.back());
    return inputs;
  }

  SequenceModel& model_;
  const Tokenizer& tokenizer_;
  const Probe& probe_;
  const Snapshot& whole_;
  const YieldCallback& yield_;
  std::vector<int> typed_;
  torch::Tensor source_;  // int64 1×S: the source, or the prompt
  SearchOptions search_;
};

// ---- one hypothesis

std::vector<int> ids_of(const torch::Tensor& row) {
  const torch::Tensor host = row.cpu().contiguous();
  const auto* id = host.data_ptr<std::int64_t>();
  return {id, id + host.numel()};
}

}  // namespace

std::int64_t writing_limit(const ModelConfig& model, std::size_t typed, std::size_t prefix) {
  const auto length = static_cast<std::int64_t>(typed);
  const std::int64_t longest = longest_inspection(model);
  if (!model.is_language_model()) return std::min(output_limit(model, length), longest);
  return std::min(longest - length + 1, static_cast<std::int64_t>(prefix) + longest_continuation);
}

Decodings find_decodings(SequenceModel& model, const Tokenizer& tokenizer, const Probe& probe, const Snapshot& whole,
                         const YieldCallback& yield) {
  return Finder(model, tokenizer, probe, whole, yield).find();
}

// ---- the logit lens

std::vector<LensStream> lens_streams(const Inspection& pass) {
  std::vector<LensStream> streams;
  for (std::size_t i = 0; i < pass.hidden.size(); ++i) {
    const int layer = static_cast<int>(i);
    for (const SublayerTensors& sublayer : pass.sublayers)
      if (sublayer.decoder && sublayer.layer == layer) streams.push_back({layer, sublayer.sublayer, sublayer.out});
    // The whole layer ends with its last sublayer.
    if (!streams.empty() && streams.back().layer == layer) streams.pop_back();
    streams.push_back({layer, std::nullopt, pass.hidden[i]});
  }
  return streams;
}

std::vector<LensRow> lens_rows(SequenceModel& model, const Tokenizer& tokenizer, const Snapshot& whole,
                               const LensTranslation& translate, const YieldCallback& yield) {
  return read_rows(model, tokenizer, whole, WholePass(model, whole).record, translate, yield);
}

// ---- one hypothesis

HypothesisAttention attention_of(SequenceModel& model, const torch::Tensor& source, const Hypothesis& hypothesis,
                                 const Interventions* interventions) {
  const bool language_model = model.config().is_language_model();
  std::vector<int> inputs = language_model ? ids_of(source) : std::vector<int>{model.config().special().start};
  inputs.insert(inputs.end(), hypothesis.ids.begin(), hypothesis.ids.end());
  if (!hypothesis.finished && !hypothesis.ids.empty()) inputs.pop_back();  // no token follows it
  const auto most = static_cast<std::size_t>(longest_inspection(model.config()));
  if (inputs.size() > most) inputs.erase(inputs.begin(), inputs.end() - static_cast<std::ptrdiff_t>(most));

  Inspection record{.interventions = interventions};
  const Memory memory = language_model ? Memory() : model.encode(source, {}, &record);
  model.decode(ids_tensor(inputs, model.device()), memory, nullptr, &record);
  return {inputs, language_model ? inputs : ids_of(source), to_maps(language_model ? record.decoder : record.cross)};
}

}  // namespace attnscope
