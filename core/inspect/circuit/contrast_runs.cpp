#include "inspect/circuit/contrast_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "common/mark.h"
#include "inspect/probe/bounded_tokens.h"
#include "inspect/probe/tensors.h"
#include "model/inspection.h"
#include "training/decoding/search.h"

namespace attnscope {
namespace {

constexpr std::size_t most_side_by_side = 128;
constexpr std::int64_t nothing_row = 2, mean_row = 3;  // rows of the recorded values

std::vector<Token> read_text(const Tokenizer& tokenizer, const ModelConfig& model, const std::string& text) {
  std::vector<Token> tokens;
  if (model.is_language_model()) {
    for (const int id : prompt_ids(tokenizer, text)) tokens.push_back(tokenizer.as_token(id));
  } else {
    bool truncated = false;
    tokens = source_tokens(tokenizer, text, std::numeric_limits<std::int32_t>::max(), truncated);
  }
  return tokens;
}

// Throws the reason why the sentences cannot be compared.
void check_contrasts(const ContrastFacts& facts, const ModelConfig& model) {
  const std::size_t clean = facts.clean.tokens.size(), corrupted = facts.corrupted.tokens.size();
  if (facts.clean.tokens == facts.corrupted.tokens) throw NotContrasting(mark("The two sentences are the same."));
  if (clean != corrupted) {
    throw NotContrasting(fmt::format(
        mark("The sentences have {} and {} tokens; patching needs the same number of tokens."), clean, corrupted));
  }
  const std::int64_t room = model.max_length - (model.is_language_model() ? 1 : 0);  // for its output
  if (static_cast<std::int64_t>(clean) > room)
    throw NotContrasting(
        fmt::format(mark("The sentences have {} tokens, but the model accepts at most {}."), clean, room));
}

std::vector<int> greedy(SequenceModel& model, const torch::Tensor& source) {
  const bool language_model = model.config().is_language_model();
  SearchOptions options{.beam = 1};
  if (language_model) options.limit = std::min<std::int64_t>(24, model.config().max_length - source.size(1));
  return beam_search(model, source, {}, options).front().front().ids;
}

// Both tokens that can begin the word, with and without word mark; only those in the vocabulary.
std::vector<int> tokens_named(const Tokenizer& tokenizer, const std::string& word) {
  std::vector<int> ids;
  for (int id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string token = tokenizer.token(id);
    if (token == word || token == std::string(word_mark) + word) ids.push_back(id);
  }
  return ids;
}

bool contains(const std::vector<int>& ids, int id) {
  return std::ranges::find(ids, id) != ids.end();
}

// The point of comparison: after `prefix`, between tokens a and b.
struct AskedAt {
  std::vector<int> prefix;
  int a = 0, b = 0;
};

AskedAt parting_step(const std::vector<int>& clean, const std::vector<int>& corrupted, int end) {
  const auto [at, in_other] = std::ranges::mismatch(clean, corrupted);
  const auto id = [end](const std::vector<int>& ids, auto it) { return it == ids.end() ? end : *it; };
  if (at == clean.end() && in_other == corrupted.end())
    throw NoDifference(mark("No circuit found: the model gives the same output for both sentences."));
  return {{clean.begin(), at}, id(clean, at), id(corrupted, in_other)};
}

// The step at which the clean output has one of the two words; the first divergence, if that is earlier or neither word
// occurs; the first step if the outputs do not diverge.
AskedAt step_between(const Tokenizer& tokenizer, const std::vector<std::string>& words, const std::vector<int>& clean,
                     const std::vector<int>& corrupted) {
  const std::array forms = {tokens_named(tokenizer, words[0]), tokens_named(tokenizer, words[1])};
  for (std::size_t i = 0; i < forms.size(); ++i)
    if (forms[i].empty())
      throw NotContrasting(fmt::format(mark("\"{}\" is not a single token of the vocabulary."), words[i]));
  const auto parted = std::ranges::mismatch(clean, corrupted).in1;
  const auto is_asked = [&](int id) { return contains(forms[0], id) || contains(forms[1], id); };
  const auto named = std::find_if(clean.begin(), clean.end(), is_asked);
  auto at = named == clean.end() || parted < named ? parted : named;
  if (at == clean.end()) at = clean.begin();
  AskedAt step{{clean.begin(), at}, forms[0].front(), forms[1].front()};
  // The form generated there: with or without the word mark.
  const auto marked = [&](int id) { return tokenizer.token(id).starts_with(word_mark); };
  const bool mark = at == clean.end() || marked(*at);
  for (const int id : forms[0])
    if (marked(id) == mark) step.a = id;
  for (const int id : forms[1])
    if (marked(id) == mark) step.b = id;
  return step;
}

// The position of the only mask, the same in both sentences.
std::int64_t masked_position(const ContrastFacts& facts, const Tokenizer& tokenizer, int mask) {
  const auto is_mask = [mask](const Token& token) { return token.id == mask; };
  const auto at = std::ranges::find_if(facts.clean.tokens, is_mask) - facts.clean.tokens.begin();
  const auto other = std::ranges::find_if(facts.corrupted.tokens, is_mask) - facts.corrupted.tokens.begin();
  if (mask < 0 || at == std::ssize(facts.clean.tokens) || at != other) {
    throw NotContrasting(fmt::format(mark("Put {} at the same place of both sentences: the two predictions there are "
                                          "compared."),
                                     mask < 0 ? "[MASK]" : tokenizer.token(mask)));
  }
  return at;
}

torch::Tensor tensor_of(const std::vector<int>& ids, torch::Device device) {
  return ids_tensor(ids, device);
}

}  // namespace

ContrastRuns::ContrastRuns(SequenceModel& model, const Tokenizer& tokenizer, const ContrastQuestion& question)
    : ContrastRuns(model, tokenizer) {
  read_contrasts(question.clean, question.corrupted);
  write_both(question);
  run_to_step();
}

ContrastRuns::ContrastRuns(SequenceModel& model, const Tokenizer& tokenizer, const ContrastFacts& asked)
    : ContrastRuns(model, tokenizer) {
  read_contrasts(asked.clean.text, asked.corrupted.text);
  facts_.a = asked.a;
  facts_.b = asked.b;
  facts_.prefix = asked.prefix;
  run_to_step();
}

void ContrastRuns::read_contrasts(const std::string& clean, const std::string& corrupted) {
  if (config().is_classifier())
    throw NotContrasting(mark("A classifier does not generate tokens, so its outputs cannot diverge at a token."));
  if (config().is_masked_lm() && !config().fills_masks())
    throw NotContrasting(mark("This model has no head that predicts tokens."));
  model_.check_standing_still();
  facts_.language_model = config().is_language_model();
  facts_.recurrent = config().is_recurrent();
  facts_.clean = {clean, read_text(tokenizer_, config(), clean), {}, 0};
  facts_.corrupted = {corrupted, read_text(tokenizer_, config(), corrupted), {}, 0};
  check_contrasts(facts_, config());
  if (config().is_masked_lm()) asked_ = masked_position(facts_, tokenizer_, config().special().mask);
  facts_.words = slots_of(facts_.clean.tokens);
  for (std::size_t i = 0; i < facts_.words.size(); ++i) {
    const auto differs = [&](int at) {
      return facts_.clean.tokens[static_cast<std::size_t>(at)] != facts_.corrupted.tokens[static_cast<std::size_t>(at)];
    };
    if (std::ranges::any_of(facts_.words[i].positions, differs)) facts_.differ.push_back(static_cast<int>(i));
  }
}

void ContrastRuns::write_both(const ContrastQuestion& question) {
  if (config().is_masked_lm()) return fill_both(question);
  const std::vector<int> clean = greedy(model_, source(ContrastSide::clean));
  const std::vector<int> corrupted = greedy(model_, source(ContrastSide::corrupted));
  facts_.clean.output = tokenizer_.decode(clean);
  facts_.corrupted.output = tokenizer_.decode(corrupted);
  const AskedAt step = question.between.empty() ? parting_step(clean, corrupted, config().special().end)
                                                : step_between(tokenizer_, question.between, clean, corrupted);
  facts_.a = tokenizer_.as_token(step.a);
  facts_.b = tokenizer_.as_token(step.b);
  for (const int id : step.prefix) facts_.prefix.push_back(tokenizer_.as_token(id));
}

void ContrastRuns::fill_both(const ContrastQuestion& question) {
  const auto best = [&](ContrastSide side) {
    const torch::Tensor features = model_.decode({}, model_.encode(source(side), {}));
    return static_cast<int>(model_.logits(features[0][asked_]).argmax().item<std::int64_t>());
  };
  std::array answers = {best(ContrastSide::clean), best(ContrastSide::corrupted)};
  facts_.clean.output = tokenizer_.decode(std::span(&answers[0], 1));
  facts_.corrupted.output = tokenizer_.decode(std::span(&answers[1], 1));
  if (!question.between.empty()) {
    const AskedAt step = step_between(tokenizer_, question.between, {answers[0]}, {answers[1]});
    answers = {step.a, step.b};
  }
  if (answers[0] == answers[1])
    throw NoDifference(mark("No circuit found: the model gives the same output for both sentences."));
  facts_.a = tokenizer_.as_token(answers[0]);
  facts_.b = tokenizer_.as_token(answers[1]);
}

void ContrastRuns::run_to_step() {
  prefix_ = ids_of(facts_.prefix);
  if (!facts_.language_model) prefix_.insert(prefix_.begin(), config().special().start);
  keep_runs();
  const std::array untouched = {ChangedRun{ContrastSide::clean}, ChangedRun{ContrastSide::corrupted}};
  const std::vector<Odds> odds = read(untouched);
  facts_.clean.margin = odds[0].margin;
  facts_.corrupted.margin = odds[1].margin;
}

torch::Tensor ContrastRuns::source(ContrastSide contrast) const {
  return tensor_of(ids_of(facts_.of(contrast).tokens), model_.device());
}

void ContrastRuns::keep_runs() {
  kept_.values_wanted = true;
  const torch::Tensor sources = torch::cat({source(ContrastSide::clean), source(ContrastSide::corrupted)});
  torch::Tensor input = tensor_of(prefix_, model_.device()).expand({2, -1});
  if (facts_.language_model) {
    input = torch::cat({sources, input}, 1);
  } else {
    memory_ = model_.encode(sources, {}, &kept_);
  }
  model_.decode(input, memory_, nullptr, &kept_);
  for (const auto& [site, value] : kept_.values) {
    const std::int64_t along = value.dim() - 2;  // the position dimension
    const torch::Tensor mean = value.mean(along, true).mean(0, true).expand_as(value.slice(0, 0, 1));
    values_[site] = torch::cat({value, torch::zeros_like(value.slice(0, 0, 1)), mean});
  }
  kept_.values.clear();
}

int ContrastRuns::positions(AttentionPart part) const {
  const std::size_t tokens = facts_.clean.tokens.size();
  if (part == AttentionPart::encoder) return static_cast<int>(tokens);
  return static_cast<int>(prefix_.size() + (facts_.language_model ? tokens : 0));
}

torch::Tensor ContrastRuns::weights(ContrastSide contrast, AttentionPart part, int layer) const {
  const AttentionWeights& maps = part == AttentionPart::encoder   ? kept_.encoder
                                 : part == AttentionPart::decoder ? kept_.decoder
                                                                  : kept_.cross;
  return maps[static_cast<std::size_t>(layer)][contrast == ContrastSide::clean ? 0 : 1];
}

torch::Tensor ContrastRuns::value(ContrastSide contrast, const ValueSite& site) const {
  return values_.at(site)[contrast == ContrastSide::clean ? 0 : 1];
}

torch::Tensor ContrastRuns::parameter(const std::string& name) const {
  const auto parameters = model_.named_parameters();
  const torch::Tensor* found = parameters.find(name);
  return found ? *found : torch::Tensor();
}

bool ContrastRuns::changes_encoder(const ChangedRun& run) const {
  return std::ranges::any_of(run.changes, [](const Change& it) { return it.site.part == AttentionPart::encoder; });
}

Patches ContrastRuns::patches_of(std::span<const ChangedRun> runs) const {
  Patches patches{.values = &values_, .puts = {}, .exchanges = {}};
  for (std::size_t row = 0; row < runs.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    for (const Change& change : runs[row].changes) {
      const std::int64_t from = change.kind == ChangeKind::zero       ? nothing_row
                                : change.kind == ChangeKind::mean     ? mean_row
                                : runs[row].of == ContrastSide::clean ? 1
                                                                      : 0;
      const std::vector<int> heads = change.site.kind == ValueKind::heads ? change.heads : std::vector<int>{0};
      for (const int head : heads) {
        for (const int position : change.positions) {
          if (change.kind == ChangeKind::exchange) {
            patches.exchanges.push_back(
                {at, {change.site.part, change.site.layer, head}, position, change.one, change.other});
          } else {
            patches.puts.push_back({at, change.site, head, position, from});
          }
        }
      }
    }
  }
  return patches;
}

std::vector<Odds> ContrastRuns::read(std::span<const ChangedRun> runs, const YieldCallback& yield) const {
  // Runs with an unchanged encoder need not run it again.
  std::vector<std::size_t> order(runs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto parted =
      std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return changes_encoder(runs[i]); });
  const auto encoded = static_cast<std::size_t>(parted - order.begin());
  std::vector<Odds> odds(runs.size());
  for (std::size_t begin = 0; begin < order.size();) {
    const std::size_t limit = begin < encoded ? encoded : order.size();
    const std::size_t end = std::min(begin + most_side_by_side, limit);
    std::vector<ChangedRun> together;
    for (std::size_t i = begin; i < end; ++i) together.push_back(runs[order[i]]);
    const std::vector<Odds> read = read_side_by_side(together);
    for (std::size_t i = begin; i < end; ++i) odds[order[i]] = read[i - begin];
    if (yield) yield();
    begin = end;
  }
  return odds;
}

// R×V at the compared step. With `encode` false the encoder's output is unchanged.
torch::Tensor ContrastRuns::logits_of(std::span<const ChangedRun> runs, bool encode, Inspection& inspection) const {
  std::vector<std::int64_t> which;
  for (const ChangedRun& run : runs) which.push_back(run.of == ContrastSide::clean ? 0 : 1);
  const torch::Tensor rows = torch::tensor(which).to(model_.device());
  torch::Tensor input = tensor_of(prefix_, model_.device()).expand({rows.size(0), -1});
  Memory memory;
  const auto sources = [&] {
    return torch::cat({source(ContrastSide::clean), source(ContrastSide::corrupted)}).index_select(0, rows);
  };
  if (facts_.language_model) {
    input = torch::cat({sources(), input}, 1);
  } else if (encode) {
    memory = model_.encode(sources(), {}, &inspection);
  } else {
    memory.states = memory_.states.index_select(0, rows);
    for (const torch::Tensor& last : memory_.last) memory.last.push_back(last.index_select(0, rows));
  }
  return model_.logits(model_.decode(input, memory, nullptr, &inspection).select(1, asked_))
      .to(torch::kCPU, torch::kFloat64);
}

std::vector<Odds> ContrastRuns::odds_of(const torch::Tensor& logits) const {
  const torch::Tensor margins = (logits.select(1, facts_.a.id) - logits.select(1, facts_.b.id)).contiguous();
  const torch::Tensor best = model_.writable(logits.clone()).argmax(1).contiguous();
  std::vector<Odds> odds;
  for (std::int64_t row = 0; row < logits.size(0); ++row)
    odds.push_back({margins.data_ptr<double>()[row], static_cast<int>(best.data_ptr<std::int64_t>()[row])});
  return odds;
}

std::vector<Odds> ContrastRuns::read_side_by_side(std::span<const ChangedRun> runs) const {
  const Patches patches = patches_of(runs);
  Inspection inspection{.patches = &patches};
  const bool encode = std::ranges::any_of(runs, [&](const ChangedRun& run) { return changes_encoder(run); });
  return odds_of(logits_of(runs, encode, inspection));
}

std::vector<Odds> ContrastRuns::read(const ActivationChange& change) const {
  const std::array runs = {ChangedRun{ContrastSide::clean}, ChangedRun{ContrastSide::corrupted}};
  Inspection inspection{.changes = {change}};
  return odds_of(logits_of(runs, !change.place.decoder, inspection));
}

std::vector<Odds> ContrastRuns::read(std::span<const ChangedRun> runs, const PathEnd& end,
                                     const YieldCallback& yield) const {
  std::vector<Odds> odds;
  for (std::size_t begin = 0; begin < runs.size(); begin += most_side_by_side) {
    const std::vector<Odds> some =
        read_path(runs.subspan(begin, std::min(most_side_by_side, runs.size() - begin)), end);
    odds.insert(odds.end(), some.begin(), some.end());
    if (yield) yield();
  }
  return odds;
}

// The first pass applies the changes with everything before the end held fixed, and records the outputs of the end's
// heads; the second pass patches them in.
std::vector<Odds> ContrastRuns::read_path(std::span<const ChangedRun> runs, const PathEnd& end) const {
  Patches held{.values = &values_, .puts = {}, .exchanges = {}};
  for (const auto& [site, value] : values_) {
    if (site.kind == ValueKind::state || !goes_straight(site, end)) continue;
    for (std::size_t row = 0; row < runs.size(); ++row)
      held.puts.push_back({static_cast<std::int64_t>(row), site, 0, -1, runs[row].of == ContrastSide::clean ? 0 : 1});
  }
  const Patches changes = patches_of(runs);
  held.puts.insert(held.puts.end(), changes.puts.begin(), changes.puts.end());
  Inspection first{.patches = &held, .values_wanted = true};
  logits_of(runs, end.part != AttentionPart::decoder, first);

  const ValueSite site{ValueKind::heads, end.part, end.layer};
  const RunValues given = {{site, first.values.at(site)}};
  Patches arrived{.values = &given, .puts = {}, .exchanges = {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    for (const int head : end.heads)
      for (const int position : end.positions) arrived.puts.push_back({row, site, head, position, row});
  }
  Inspection second{.patches = &arrived};
  return odds_of(logits_of(runs, end.part == AttentionPart::encoder, second));
}

double ContrastRuns::share(ContrastSide of, double margin) const {
  const double moved = of == ContrastSide::corrupted ? margin - facts_.corrupted.margin : facts_.clean.margin - margin;
  return moved / facts_.effect();
}

std::string ContrastRuns::written(const ChangedRun& run, const YieldCallback& yield) const {
  const Patches patches = patches_of(std::span(&run, 1));
  Inspection inspection{.patches = &patches};
  Memory memory;
  std::vector<int> input;
  std::int64_t limit = output_limit(config(), static_cast<std::int64_t>(facts_.clean.tokens.size()));
  if (facts_.language_model) {
    input = ids_of(facts_.of(run.of).tokens);
    limit = std::min<std::int64_t>(24, config().max_length - static_cast<std::int64_t>(input.size()));
  } else {
    memory = model_.encode(source(run.of), {}, &inspection);
    input = {config().special().start};
  }
  const std::size_t begin = input.size();
  if (config().is_masked_lm()) limit = 1;
  // A change in the decoder applies once its position has been decoded.
  while (static_cast<std::int64_t>(input.size() - begin) < limit) {
    if (yield) yield();
    Patches reached = patches;
    std::erase_if(reached.puts, [&](const Put& put) {
      return put.site.part != AttentionPart::encoder && put.position >= static_cast<int>(input.size());
    });
    std::erase_if(reached.exchanges, [&](const Exchange& it) {
      return it.place.part != AttentionPart::encoder && it.query >= static_cast<int>(input.size());
    });
    Inspection step{.patches = &reached};
    const torch::Tensor features = model_.decode(tensor_of(input, model_.device()), memory, nullptr, &step);
    const torch::Tensor scores = model_.writable(model_.logits(features.select(1, asked_)));
    const int next = static_cast<int>(scores.argmax(1).item<std::int64_t>());
    if (next == config().special().end && config().writing_ends()) break;
    input.push_back(next);
  }
  return tokenizer_.decode(std::span(input).subspan(begin));
}

}  // namespace attnscope
