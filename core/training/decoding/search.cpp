#include "training/decoding/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

#include "data/tokenizer/tokenizer.h"
#include "model/kernels/thread_pool.h"
#include "training/decoding/stepper.h"

namespace attnscope {
namespace {

// The best tokens of every row, best first, on the CPU.
struct BestTokens {
  torch::Tensor log_probs;  // double N×K
  torch::Tensor ids;        // int64 N×K
};

// K = 2·beam: half of them may be </s>, so that `beam` hypotheses continue. A beam of one needs no second candidate.
// Inside the prefix there is only one candidate, whatever its probability.
BestTokens best_tokens(const torch::Tensor& log_probs, std::int64_t step, const SearchOptions& options) {
  torch::Tensor values, ids;
  if (step < static_cast<std::int64_t>(options.prefix.size())) {
    const int token = options.prefix[static_cast<std::size_t>(step)];
    values = log_probs.narrow(1, token, 1);
    ids = torch::full({log_probs.size(0), 1}, token, torch::kInt64);
  } else if (options.beam == 1) {
    std::tie(values, ids) = log_probs.max(-1, true);
  } else {
    std::tie(values, ids) = log_probs.topk(std::min(2 * options.beam, log_probs.size(1)));
  }
  return {values.to(torch::kCPU, torch::kFloat64).contiguous(), ids.cpu().contiguous()};
}

void append(Hypothesis& hypothesis, int token, double log_prob, const SearchOptions& options) {
  hypothesis.log_probs.push_back(log_prob);
  hypothesis.log_prob += log_prob;
  hypothesis.finished = options.eos_ends && token == options.end;
  if (!hypothesis.finished) hypothesis.ids.push_back(token);
  hypothesis.score = length_penalised(hypothesis.log_prob, hypothesis.log_probs.size(), options.length_penalty);
}

// The search for one source.
struct Beam {
  explicit Beam(std::int64_t longest) : limit(longest) {}
  bool goes_on(std::int64_t length) const { return length < limit && !live.empty(); }

  std::int64_t limit;  // maximum number of tokens
  std::vector<Hypothesis> live{1};
  std::vector<std::size_t> parents;  // of the live hypotheses: their indices in `live` one step before
  std::vector<int> nodes{-1};        // of the live hypotheses: their last extension in the tree
  std::vector<Hypothesis> finished;
  SearchTree tree;
};

// Extends every live hypothesis by its best tokens, sorted by total; parents are still indices in `live`. Its rows in
// `best` begin at `row`.
std::vector<Extension> best_extensions(const Beam& beam, const BestTokens& best, std::int64_t row,
                                       const SearchOptions& options) {
  const std::int64_t k = best.ids.size(1);
  const auto* log_prob = best.log_probs.data_ptr<double>() + row * k;
  const auto* id = best.ids.data_ptr<std::int64_t>() + row * k;
  std::vector<Extension> extensions;
  for (std::size_t parent = 0; parent < beam.live.size(); ++parent) {
    const std::size_t length = beam.live[parent].log_probs.size() + 1;
    for (std::int64_t rank = 0; rank < k; ++rank, ++log_prob, ++id) {
      // A diverged model returns NaN, which has no order.
      const double usable = std::isnan(*log_prob) ? -std::numeric_limits<double>::infinity() : *log_prob;
      const double total = beam.live[parent].log_prob + usable;
      extensions.push_back({static_cast<int>(parent), static_cast<int>(length) - 1, static_cast<int>(*id), usable,
                            total, length_penalised(total, length, options.length_penalty), HypothesisState::pruned});
    }
  }
  std::stable_sort(extensions.begin(), extensions.end(),
                   [](const Extension& a, const Extension& b) { return a.total > b.total; });
  extensions.resize(std::min(extensions.size(), static_cast<std::size_t>(2 * options.beam)));
  return extensions;
}

// One step of one beam: finished hypotheses among the best `beam` are collected; the best `beam` unfinished ones stay
// alive.
void extend(Beam& beam, const BestTokens& best, std::int64_t row, const SearchOptions& options) {
  const auto width = static_cast<std::size_t>(options.beam);
  std::vector<Extension> extensions = best_extensions(beam, best, row, options);
  std::vector<Hypothesis> extended;
  std::vector<int> nodes;
  beam.parents.clear();
  for (std::size_t rank = 0; rank < extensions.size(); ++rank) {
    Extension& extension = extensions[rank];
    const auto parent = static_cast<std::size_t>(extension.parent);
    extension.parent = beam.nodes[parent];
    Hypothesis hypothesis = beam.live[parent];
    append(hypothesis, extension.token, extension.log_prob, options);
    if (hypothesis.finished && rank < width) {
      extension.state = HypothesisState::finished;
      beam.finished.push_back(std::move(hypothesis));
    } else if (!hypothesis.finished && extended.size() < width) {
      extension.state = HypothesisState::kept;
      extended.push_back(std::move(hypothesis));
      beam.parents.push_back(parent);
      nodes.push_back(static_cast<int>(beam.tree.size() + rank));
    }
  }
  beam.tree.insert(beam.tree.end(), extensions.begin(), extensions.end());
  beam.live = std::move(extended);
  beam.nodes = std::move(nodes);
  if (beam.finished.size() < width) return;
  beam.live.clear();
  beam.parents.clear();
}

std::vector<Hypothesis> result(Beam& beam, const SearchOptions& options) {
  std::vector<Hypothesis>& found = beam.finished.empty() ? beam.live : beam.finished;
  std::stable_sort(found.begin(), found.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (static_cast<std::int64_t>(found.size()) > options.beam) found.resize(options.beam);
  return std::move(found);
}

// B parallel searches, each up to its own limit; options.limit is ignored.
std::vector<std::vector<Hypothesis>> search(const NextLogProbs& next, const torch::Tensor& begin,
                                            std::span<const std::int64_t> limits, const SearchOptions& options,
                                            std::vector<SearchTree>* trees) {
  std::vector<Beam> beams(limits.begin(), limits.end());
  std::vector<std::int64_t> rows(beams.size());
  std::iota(rows.begin(), rows.end(), 0);
  torch::Tensor tokens = begin;
  for (std::int64_t length = 0; !rows.empty(); ++length) {
    const BestTokens best = best_tokens(next(torch::tensor(rows, torch::kInt64), tokens), length, options);
    rows.clear();
    std::vector<std::int64_t> newest;
    std::int64_t row = 0;
    for (Beam& beam : beams) {
      if (!beam.goes_on(length)) continue;
      const auto num_live = static_cast<std::int64_t>(beam.live.size());
      extend(beam, best, row, options);
      if (beam.goes_on(length + 1)) {
        for (const std::size_t parent : beam.parents) rows.push_back(row + static_cast<std::int64_t>(parent));
        for (const Hypothesis& hypothesis : beam.live) newest.push_back(hypothesis.ids.back());
      }
      row += num_live;
    }
    tokens = torch::tensor(newest, torch::kInt64).unsqueeze(1);
  }
  std::vector<std::vector<Hypothesis>> found;
  for (Beam& beam : beams) found.push_back(result(beam, options));
  if (trees) {
    trees->clear();
    for (Beam& beam : beams) trees->push_back(std::move(beam.tree));
  }
  return found;
}

// The requested or default maximum length for a source of this many tokens, limited by the number of positions.
std::int64_t limit_of(const SearchOptions& options, const ModelConfig& config, std::int64_t source_length) {
  const std::int64_t limit = options.limit == 0 ? output_limit(config, source_length) : options.limit;
  if (config.is_classifier()) return 1;
  return config.is_language_model() ? limit : std::min(limit, config.max_length);
}

// A label needs no </s>.
void finish(Hypothesis& hypothesis) {
  hypothesis.finished = true;
}

// Indices of the sources, sorted by length and cut into batches; prompts are of one length, because they are not
// padded.
std::vector<std::vector<std::size_t>> batches_of(std::span<const std::vector<int>> sources, bool prompts,
                                                 std::int64_t beam) {
  constexpr std::size_t most_rows = 128, most_tokens = 8192;
  std::vector<std::size_t> order(sources.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return sources[i].size(); });
  std::vector<std::vector<std::size_t>> batches;
  for (const std::size_t i : order) {
    const std::size_t length = sources[i].size(), width = static_cast<std::size_t>(beam);
    const std::size_t most = std::min(most_rows, most_tokens / length) / width;
    const bool fits = !batches.empty() && batches.back().size() < most &&
                      (!prompts || sources[batches.back().front()].size() == length);
    if (!fits) batches.emplace_back();
    batches.back().push_back(i);
  }
  return batches;
}

// Number of non-padding tokens of every source: B.
std::vector<std::int64_t> lengths_of(const torch::Tensor& source, const torch::Tensor& padding) {
  if (!padding.defined()) return std::vector(static_cast<std::size_t>(source.size(0)), source.size(1));
  const torch::Tensor lengths = padding.logical_not().sum(1).cpu();
  return {lengths.data_ptr<std::int64_t>(), lengths.data_ptr<std::int64_t>() + lengths.numel()};
}

void settle(SearchOptions& options, const ModelConfig& config) {
  options.eos_ends = config.writing_ends();
  options.end = config.special().end;
  const int first = config.special().first;
  if (first >= 0 && (options.prefix.empty() || options.prefix.front() != first))
    options.prefix.insert(options.prefix.begin(), first);
}

}  // namespace

std::string_view describe(HypothesisState state) {
  return state == HypothesisState::kept ? "kept" : state == HypothesisState::pruned ? "pruned" : "finished";
}

std::vector<std::vector<Hypothesis>> beam_search(const NextLogProbs& next, const torch::Tensor& begin,
                                                 const SearchOptions& options, std::vector<SearchTree>* trees) {
  const std::vector limits(static_cast<std::size_t>(begin.size(0)), options.limit);
  return search(next, begin, limits, options, trees);
}

std::vector<std::vector<Hypothesis>> beam_search(SequenceModel& model, const torch::Tensor& source,
                                                 const torch::Tensor& padding, SearchOptions options,
                                                 const YieldCallback& yield, std::vector<SearchTree>* trees) {
  settle(options, model.config());
  std::vector<std::int64_t> limits = lengths_of(source, padding);
  for (std::int64_t& limit : limits) limit = limit_of(options, model.config(), limit);
  Stepper stepper(model, source, padding, yield, options.interventions);
  auto found = search([&](const auto& rows, const auto& tokens) { return stepper.advance(rows, tokens); },
                      stepper.begin(), limits, options, trees);
  if (model.config().is_classifier())
    for (auto& of_source : found) std::ranges::for_each(of_source, finish);
  return found;
}

std::vector<std::vector<Hypothesis>> search_all(SequenceModel& model, std::span<const std::vector<int>> sources,
                                                const SearchOptions& options, const FractionCallback& progress) {
  const auto batches = batches_of(sources, model.config().is_language_model(), options.beam);
  std::vector<std::vector<Hypothesis>> found(sources.size());
  std::size_t done = 0;
  const auto report = [&] {
    if (progress) progress(static_cast<double>(done) / static_cast<double>(sources.size()));
  };
  const int padding_id = model.config().special().padding;
  const auto search = [&](std::size_t number, bool callers) {
    const std::vector<std::size_t>& batch = batches[number];
    const auto longest = static_cast<std::int64_t>(sources[batch.back()].size());
    torch::Tensor ids = torch::full({std::ssize(batch), longest}, padding_id, torch::kInt64);
    for (std::size_t row = 0; row < batch.size(); ++row)
      std::ranges::copy(sources[batch[row]], ids.data_ptr<std::int64_t>() + static_cast<std::int64_t>(row) * longest);
    ids = ids.to(model.device());
    const bool padded = sources[batch.front()].size() != sources[batch.back()].size();
    auto of_batch = beam_search(model, ids, padded ? ids.eq(padding_id) : torch::Tensor(), options,
                                callers ? YieldCallback(report) : YieldCallback());
    for (std::size_t row = 0; row < batch.size(); ++row) found[batch[row]] = std::move(of_batch[row]);
  };
  kernels::run_by_turns(batches.size(), !model.device().is_cpu(), search, [&](std::size_t number) {
    done += batches[number].size();
    report();
  });
  return found;
}

Hypothesis sample(SequenceModel& model, const torch::Tensor& source, Sampler& sampler, SearchOptions options,
                  const YieldCallback& yield) {
  settle(options, model.config());
  const std::int64_t limit = limit_of(options, model.config(), source.size(1));
  Stepper stepper(model, source, {}, yield, options.interventions);
  const torch::Tensor row = torch::zeros({1}, torch::kInt64);
  torch::Tensor tokens = stepper.begin();
  Hypothesis hypothesis;
  for (std::int64_t length = 0; length < limit && !hypothesis.finished; ++length) {
    const torch::Tensor log_probs = stepper.advance(row, tokens).to(torch::kCPU, torch::kFloat32).contiguous();  // 1×V
    const std::span next(log_probs.data_ptr<float>(), static_cast<std::size_t>(log_probs.numel()));
    const auto step = static_cast<std::size_t>(length);
    const int token = step < options.prefix.size() ? options.prefix[step] : sampler.draw(next);
    append(hypothesis, token, next[token], options);
    tokens = torch::full({1, 1}, token, torch::kInt64);
  }
  if (model.config().is_classifier()) finish(hypothesis);
  return hypothesis;
}

std::int64_t output_limit(const ModelConfig& config, std::int64_t source_length) {
  if (config.is_classifier()) return 1;
  return config.is_language_model() ? config.max_length : std::min(config.max_length, source_length + 50);
}

}  // namespace attnscope
