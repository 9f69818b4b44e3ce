#include "inspect/probe/inspect_model.h"

#include <algorithm>
#include <span>
#include <utility>

#include "common/clamped.h"
#include "config/inspection_size.h"
#include "data/tokenizer/tokenizer.h"
#include "inspect/probe/bounded_tokens.h"
#include "inspect/probe/choices.h"
#include "inspect/probe/data_flow.h"
#include "inspect/probe/readings.h"
#include "inspect/probe/recurrent_states.h"
#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

std::shared_ptr<const std::vector<PositionTable>> position_tables(SequenceModel& model) {
  auto tables = std::make_shared<std::vector<PositionTable>>();
  for (const PositionTensor& tensor : model.positions())
    tables->push_back({tensor.name, static_cast<int>(tensor.first), to_matrix(tensor.values)});
  return tables;
}

// The state of the text's last token after that layer of the stack that reads it, D; a text without tokens: 0.
torch::Tensor state_of(SequenceModel& model, const Tokenizer& tokenizer, const std::string& text, int layer) {
  const ModelConfig& config = model.config();
  bool truncated = false;
  const bool decoder = config.is_language_model();
  const std::vector<int> ids = ids_of(decoder ? prompt_tokens(tokenizer, text, config.max_length, truncated)
                                              : source_tokens(tokenizer, text, config.max_length, truncated));
  const auto is_added = [&](int id) {
    return id == tokenizer.opening() || id == tokenizer.source_end() || id == config.special().end;
  };
  const auto last = std::find_if_not(ids.rbegin(), ids.rend(), is_added);
  if (last == ids.rend()) return torch::zeros({config.d_model}, model.device());
  Inspection inspection{.states_wanted = true};
  const torch::Tensor row = ids_tensor(ids, model.device());
  if (decoder) {
    model.decode(row, {}, nullptr, &inspection);
  } else {
    model.encode(row, {}, &inspection);
  }
  return inspection.states.at(static_cast<std::size_t>(layer) + 1)[0][ids.rend() - last - 1];
}

// A text's state exists in the stack that reads it; the direction of a neuron can be added in any stack.
bool can_steer(const ModelConfig& config, const Steering& steering) {
  const auto& [decoder, layer] = steering.place;
  const int layers = part_size(config, decoder ? AttentionPart::decoder : AttentionPart::encoder).layers;
  const bool fits =
      steering.is_given ? std::ssize(steering.direction) == config.d_model : decoder == config.is_language_model();
  return !config.is_recurrent() && fits && layer >= 0 && layer < layers;
}

// Resolves typed tokens to ids, and texts to directions; texts that match no token have no effect.
Interventions resolved(Interventions interventions, SequenceModel& model, const Tokenizer& tokenizer,
                       const YieldCallback& yield) {
  std::erase_if(interventions.steered, [&](const Steering& it) { return !can_steer(model.config(), it); });
  for (Steering& steering : interventions.steered) {
    if (steering.is_given) continue;
    steering.direction = to_values(state_of(model, tokenizer, steering.plus, steering.place.layer) -
                                   state_of(model, tokenizer, steering.minus, steering.place.layer));
    if (yield) yield();
  }
  for (ReplacedToken& replaced : interventions.replaced) {
    if (replaced.id >= 0) continue;
    const std::vector<Token> tokens = tokenizer.encode(replaced.text, replaced.target ? Side::target : Side::source);
    if (!tokens.empty()) replaced.id = tokens.front().id;
  }
  std::erase_if(interventions.replaced,
                [&](const ReplacedToken& it) { return it.id < 0 || it.id >= tokenizer.vocab_size(); });
  return interventions;
}

// The head whose tensors are requested, directly or through a box of the data flow.
std::optional<HeadPlace> wanted_head(const Probe& probe, const ModelConfig& model) {
  if (probe.inside && probe.inside->head >= 0 && probe.inside->head < part_size(model, probe.inside->part).heads)
    return probe.inside;
  if (!probe.data_flow) return std::nullopt;
  const auto& [box, layer, head, token, convolution] = *probe.data_flow;
  const bool cross = box.part == FlowPart::cross_attention;
  if (!cross && box.part != FlowPart::self_attention) return std::nullopt;
  const auto layers = static_cast<int>(box.decoder ? model.num_decoder_layers : model.num_encoder_layers);
  const AttentionPart part = cross         ? AttentionPart::cross
                             : box.decoder ? AttentionPart::decoder
                                           : AttentionPart::encoder;
  return HeadPlace{part, clamped(layer, 0, layers - 1), clamped(head, 0, part_size(model, part).heads - 1)};
}

// The decoder's inputs and outputs that are fixed before decoding.
struct Course {
  std::vector<Token> inputs;  // known in advance; at least one
  std::vector<Token> given;   // outputs to follow instead of the model's own: the inputs' successors and possibly more
  std::int64_t limit = 0;     // maximum number of inputs
  bool ends = true;           // stop at </s>
};

// One inspection, stage by stage; extends the snapshot.
class SnapshotBuilder {
 public:
  SnapshotBuilder(SequenceModel& model, const Tokenizer& tokenizer, const Probe& probe, const YieldCallback& yield)
      : model_(model), tokenizer_(tokenizer), probe_(probe), yield_(yield) {
    snapshot.model = config();
    snapshot.source_text = probe.text;
    snapshot.interventions = resolved(probe.interventions, model, tokenizer, yield);
    snapshot.positions = position_tables(model);
    record_.interventions = interventions();
    record_.sublayers_wanted = probe.sublayers || probe.data_flow;
    record_.head_wanted = wanted_head(probe, config());
  }

  Snapshot snapshot;

  // The tokens, the decoder's course, and the encoder's part.
  void begin();

  // The reference output, if known; call before decode().
  void set_gold(std::vector<Token> gold) {
    if (!config().is_masked_lm()) gold_ = std::move(gold);
  }
  std::vector<Token> reference() const;

  // The outputs, and all maps.
  void decode();

 private:
  const ModelConfig& config() const { return model_.config(); }
  std::int64_t longest() const { return longest_inspection(config()); }
  const Interventions* interventions() const {
    return snapshot.interventions.empty() ? nullptr : &snapshot.interventions;
  }
  Token end() const { return token_of(special().end, tokenizer_, config()); }
  SpecialTokens special() const { return config().special(); }
  Side written_side() const { return config().is_language_model() ? Side::source : Side::target; }

  std::vector<Token> prefix(std::int64_t room);
  Course translation();
  Course continuation();
  void follow();
  void follow_gold();
  void begin_filling();
  void fill();
  std::string filled_text() const;
  std::vector<float> masked_log_probs();
  void keep_inside();
  std::string written_text() const;

  SequenceModel& model_;
  const Tokenizer& tokenizer_;
  const Probe& probe_;
  const YieldCallback& yield_;
  Inspection record_;
  Memory memory_;
  Course course_;
  std::vector<Token> gold_;  // of a masked language model: the source before it is masked
};

void SnapshotBuilder::begin() {
  if (config().is_language_model()) {
    course_ = continuation();
    snapshot.target_in = course_.inputs;
  } else {
    snapshot.source = source_tokens(tokenizer_, probe_.text, longest(), snapshot.truncated);
    if (config().is_masked_lm()) return begin_filling();
    course_ = translation();
    memory_ = model_.encode(ids_tensor(ids_of(snapshot.source), model_.device()), {}, &record_);
    snapshot.encoder = to_maps(record_.encoder);
    keep_inside();
  }
  snapshot.forced = course_.given.size();
}

void SnapshotBuilder::begin_filling() {
  gold_ = snapshot.source;
  for (const int position : probe_.masked) {
    if (position >= 0 && position < std::ssize(snapshot.source) && special().mask >= 0)
      snapshot.source[static_cast<std::size_t>(position)] = token_of(special().mask, tokenizer_, config());
  }
  memory_ = model_.encode(ids_tensor(ids_of(snapshot.source), model_.device()), {}, &record_);
  snapshot.encoder = to_maps(record_.encoder);
  keep_inside();
}

// The prediction of every position, or a discriminator's verdict on every token.
void SnapshotBuilder::fill() {
  torch::Tensor features;
  if (config().fills_masks()) {
    features = model_.decode({}, memory_, nullptr, &record_);
    const torch::Tensor logits = model_.logits(features).squeeze(0);  // S×V
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
      if (yield_) yield_();
      const Choice choice(logits[i], tokenizer_, config());
      const int there = gold_[static_cast<std::size_t>(i)].id;
      DecodingStep& step = snapshot.decoding.emplace_back(choice.step(std::nullopt, probe_.options.sampling));
      step.reference = choice.gold(there);
      snapshot.gold.push_back(*step.reference);
      snapshot.target_out.push_back(step.candidates[static_cast<std::size_t>(step.chosen)].token);
    }
    snapshot.target_in = snapshot.source;
    snapshot.output_text = filled_text();
    if (probe_.decoding) snapshot.masked_log_probs = masked_log_probs();
  } else if (const torch::Tensor replaced = model_.replaced(memory_); replaced.defined()) {
    snapshot.replaced = to_values(replaced[0]);
  }
  if (probe_.sublayers) snapshot.sublayers = to_effects(record_.sublayers);
  if (probe_.data_flow) {
    const FlowPass pass{snapshot, record_, memory_, features};
    snapshot.data_flow = std::make_shared<const DataFlow>(data_flow_of(model_, tokenizer_, *probe_.data_flow, pass));
  }
}

// The text with the most probable token at every masked position.
std::string SnapshotBuilder::filled_text() const {
  std::vector<int> ids = ids_of(snapshot.source);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == special().mask) ids[i] = snapshot.target_out[i].id;
  return tokenizer_.decode(ids);
}

// Each token is masked in a row of its own.
std::vector<float> SnapshotBuilder::masked_log_probs() {
  constexpr std::int64_t rows_a_pass = 32;
  const auto length = std::ssize(gold_);
  const torch::Tensor ids = ids_tensor(ids_of(gold_), model_.device());
  std::vector<float> log_probs;
  for (std::int64_t first = 0; first < length; first += rows_a_pass) {
    if (yield_) yield_();
    const std::int64_t rows = std::min<std::int64_t>(rows_a_pass, length - first);
    torch::Tensor masked = ids.repeat({rows, 1});
    for (std::int64_t row = 0; row < rows; ++row) masked[row][first + row] = special().mask;
    Inspection inspection{.interventions = interventions()};
    const torch::Tensor features = model_.decode({}, model_.encode(masked, {}, &inspection), nullptr, &inspection);
    for (std::int64_t row = 0; row < rows; ++row) {
      const int id = gold_[static_cast<std::size_t>(first + row)].id;
      const torch::Tensor scores = torch::log_softmax(model_.logits(features[row][first + row]), -1);
      const bool counts = id != special().mask && id != special().end && id != tokenizer_.opening();
      log_probs.push_back(counts ? scores[id].item<float>() : 0);
    }
  }
  return log_probs;
}

// Up to its own end token.
std::vector<Token> SnapshotBuilder::prefix(std::int64_t room) {
  std::vector<Token> tokens;
  if (!probe_.prefix.empty())
    tokens = bounded_tokens(tokenizer_, probe_.prefix, written_side(), room, Keep::beginning, snapshot.truncated);
  for (const int id : probe_.prefix_ids) {
    if (id >= 0 && id < model_.vocab_size()) tokens.push_back(token_of(id, tokenizer_, config()));
  }
  if (!config().is_language_model()) {
    const auto ends = std::ranges::find(tokens, special().end, &Token::id);
    if (ends != tokens.end()) tokens.erase(ends + 1, tokens.end());
  }
  if (static_cast<std::int64_t>(tokens.size()) > room) {
    snapshot.truncated = true;
    tokens.resize(static_cast<std::size_t>(room));
  }
  return tokens;
}

Course SnapshotBuilder::translation() {
  Course course;
  course.inputs = {token_of(special().start, tokenizer_, config())};
  course.limit = writing_limit(config(), snapshot.source.size(), 0);
  course.given = probe_.follow_reference ? reference() : prefix(course.limit - 1);
  if (probe_.follow_reference) course.limit = static_cast<std::int64_t>(course.given.size());
  snapshot.prefix = course.given.size();
  const int first = special().first;
  if (first >= 0 && (course.given.empty() || course.given.front().id != first))
    course.given.insert(course.given.begin(), token_of(first, tokenizer_, config()));
  for (const Token& token : course.given) {
    if (token.id != special().end && std::ssize(course.inputs) < course.limit) course.inputs.push_back(token);
  }
  return course;
}

// The end of the prompt matters most for the continuation, so it is retained, with room for the output.
Course SnapshotBuilder::continuation() {
  const std::int64_t context = longest();
  Course course;
  course.ends = config().writing_ends();
  course.inputs = prompt_tokens(tokenizer_, probe_.text, context, snapshot.truncated);
  if (course.inputs.empty()) course.inputs.push_back(end());
  const std::size_t typed = course.inputs.size();
  snapshot.target_in = course.inputs;  // only the prompt, as reference() expects
  snapshot.forced = typed - 1;
  const std::vector<Token> steered =
      probe_.follow_reference ? reference() : prefix(context - static_cast<std::int64_t>(typed));
  course.inputs.insert(course.inputs.end(), steered.begin(), steered.end());
  snapshot.prefix = steered.size();
  course.given.assign(course.inputs.begin() + 1, course.inputs.end());
  course.limit = probe_.follow_reference
                     ? static_cast<std::int64_t>(course.inputs.size())
                     : static_cast<std::int64_t>(typed) - 1 + writing_limit(config(), typed, snapshot.prefix);
  return course;
}

// The complete reference with </s>; in a language model as much as the context holds after the prompt.
std::vector<Token> SnapshotBuilder::reference() const {
  if (config().is_masked_lm() || (probe_.reference.empty() && !probe_.follow_reference)) return {};
  bool cut = false;
  const auto typed = static_cast<std::int64_t>(snapshot.typed().size());
  const std::int64_t added = special().first >= 0 ? 2 : 1;
  const std::int64_t room = config().is_language_model() ? longest() - typed : longest() - added;
  std::vector<Token> tokens = bounded_tokens(tokenizer_, probe_.reference, written_side(), room, Keep::beginning, cut);
  if (config().is_language_model()) return tokens;
  if (special().first >= 0) tokens.insert(tokens.begin(), token_of(special().first, tokenizer_, config()));
  if (special().ends_targets) tokens.push_back(end());
  return tokens;
}

void SnapshotBuilder::decode() {
  if (config().is_masked_lm()) return fill();
  follow();
  // The decoder is causal, so one pass over the whole output gives every step's rows.
  const torch::Tensor features =
      model_.decode(ids_tensor(ids_of(snapshot.target_in), model_.device()), memory_, nullptr, &record_);
  snapshot.decoder = to_maps(record_.decoder);
  snapshot.cross = to_maps(record_.cross);
  snapshot.output_text = written_text();
  keep_inside();
  if (probe_.sublayers) snapshot.sublayers = to_effects(record_.sublayers);
  if (probe_.data_flow) {
    const FlowPass pass{snapshot, record_, memory_, features};
    snapshot.data_flow = std::make_shared<const DataFlow>(data_flow_of(model_, tokenizer_, *probe_.data_flow, pass));
  }
  if (probe_.recurrent && config().is_recurrent())
    snapshot.recurrent =
        std::make_shared<const RecurrentStates>(inspect_cells(model_, tokenizer_, *probe_.recurrent, snapshot, yield_));
  follow_gold();
}

// Decodes: all known inputs in one pass, then one token at a time.
void SnapshotBuilder::follow() {
  DecoderCache cache;
  std::vector<Token> block = course_.inputs;
  const auto typed = static_cast<std::size_t>(snapshot.first_output());
  bool ended = false;
  while (!ended && static_cast<std::int64_t>(snapshot.decoding.size()) < course_.limit) {
    if (yield_) yield_();
    Inspection inspection{.interventions = interventions()};
    const torch::Tensor features =
        model_.decode(ids_tensor(ids_of(block), model_.device()), memory_, &cache, &inspection);  // 1×n×D
    const torch::Tensor logits = model_.logits(features).squeeze(0);                              // n×V
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
      const std::size_t step = snapshot.decoding.size();
      const auto next = step < course_.given.size() ? std::optional(course_.given[step].id) : std::nullopt;
      const Choice choice(logits[i], tokenizer_, config());
      DecodingStep& decided = snapshot.decoding.emplace_back(choice.step(next, probe_.options.sampling));
      if (step >= typed && step - typed < gold_.size()) decided.reference = choice.gold(gold_[step - typed].id);
      snapshot.target_out.push_back(decided.candidates[decided.chosen].token);
    }
    ended = course_.ends && snapshot.target_out.back().id == special().end;
    block = {snapshot.target_out.back()};
  }
  snapshot.target_in = course_.inputs;
  snapshot.target_in.insert(snapshot.target_in.end(), snapshot.target_out.begin() + course_.inputs.size() - 1,
                            snapshot.target_out.end() - 1);
  snapshot.stopped_at_limit = !ended && !config().is_classifier();
}

// The decoder's probability of every reference token, given the preceding ones (teacher forcing).
void SnapshotBuilder::follow_gold() {
  if (gold_.empty()) return;
  std::vector<int> inputs = config().is_language_model() ? ids_of(snapshot.typed()) : std::vector{special().start};
  const std::size_t first = inputs.size() - 1;
  for (std::size_t i = 0; i + 1 < gold_.size(); ++i) inputs.push_back(gold_[i].id);
  Inspection inspection{.interventions = interventions()};
  const torch::Tensor features =
      model_.decode(ids_tensor(inputs, model_.device()), memory_, nullptr, &inspection);  // 1×T×D
  const torch::Tensor logits = model_.logits(features).squeeze(0);                        // T×V
  for (std::size_t i = 0; i < gold_.size(); ++i) {
    const Choice choice(logits[static_cast<std::int64_t>(first + i)], tokenizer_, config());
    snapshot.gold.push_back(choice.gold(gold_[i].id));
  }
}

void SnapshotBuilder::keep_inside() {
  if (record_.head) snapshot.inside = to_head_inside(*record_.head, *record_.head_wanted);
}

// After a prompt, only the continuation.
std::string SnapshotBuilder::written_text() const {
  if (!config().is_language_model()) return tokenizer_.decode(ids_of(snapshot.target_out));
  const std::vector<int> prompt = ids_of(snapshot.typed());
  std::vector<int> written = ids_of(std::span(snapshot.target_in).subspan(prompt.size()));
  written.push_back(snapshot.target_out.back().id);
  return continued_text(tokenizer_, prompt, written);
}

// The same probe on the unmodified model.
std::shared_ptr<const Snapshot> original_snapshot(SequenceModel& model, const Tokenizer& tokenizer, Probe probe,
                                                  const YieldCallback& yield) {
  probe.interventions = {};
  probe.decoding = false;
  probe.data_flow.reset();
  probe.recurrent.reset();
  std::shared_ptr<const Snapshot> whole;
  inspect_model(
      model, tokenizer, probe, [&](Snapshot latest) { whole = std::make_shared<const Snapshot>(std::move(latest)); },
      yield);
  return whole;
}

// The generated tokens, without the typed ones.
std::vector<Token> written(const Snapshot& whole) {
  return {whole.target_out.begin() + whole.first_output(), whole.target_out.end()};
}

}  // namespace

AttentionMaps to_maps(const AttentionWeights& weights) {
  AttentionMaps maps;
  for (const torch::Tensor& layer : weights) {
    const torch::Tensor heads = layer.squeeze(0).to(torch::kCPU, torch::kFloat32).contiguous();  // H×Q×K
    auto& row = maps.emplace_back();
    for (std::int64_t head = 0; head < heads.size(0); ++head) {
      Matrix& map = row.emplace_back(static_cast<int>(heads.size(1)), static_cast<int>(heads.size(2)));
      std::copy_n(heads[head].data_ptr<float>(), map.values.size(), map.values.begin());
    }
  }
  return maps;
}

void inspect_model(SequenceModel& model, const Tokenizer& tokenizer, const Probe& probe,
                   const std::function<void(Snapshot)>& publish, const YieldCallback& yield) {
  model.check_standing_still();
  check(probe.options.sampling);

  SnapshotBuilder builder(model, tokenizer, probe, yield);
  builder.begin();
  publish(builder.snapshot);

  std::vector<Token> gold = builder.reference();
  if (!builder.snapshot.interventions.empty()) {
    builder.snapshot.untouched = original_snapshot(model, tokenizer, probe, yield);
    if (gold.empty()) gold = written(*builder.snapshot.untouched);
  }
  builder.set_gold(std::move(gold));
  builder.decode();
  if (!probe.decoding || model.config().is_masked_lm()) return publish(std::move(builder.snapshot));
  publish(builder.snapshot);
  builder.snapshot.decodings =
      std::make_shared<const Decodings>(find_decodings(model, tokenizer, probe, builder.snapshot, yield));
  publish(std::move(builder.snapshot));
}

}  // namespace attnscope
