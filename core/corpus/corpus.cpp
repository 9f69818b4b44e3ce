#include "corpus/corpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "corpus/draft.h"
#include "corpus/grammar/grammar.h"
#include "corpus/random.h"
#include "corpus/synthetic.h"
#include "corpus/text_file.h"

namespace attnscope {
namespace {

constexpr std::array<BuiltIn, 6> descriptions = {{
    {"english-french", "60 000 sentences of a small grammar; to translate “it”, its noun must be found"},
    {"copy", "letters, written again"},
    {"reverse", "letters, backwards"},
    {"sort", "letters, in alphabetical order"},
    {"addition", "the sum of two numbers of up to three digits"},
    {"dates", "dates as people write them, to ISO 8601"},
}};

std::vector<Draft> make_drafts(const CorpusConfig& config, const CorpusProgress& progress) {
  if (config.source == "english-french") return english_french_drafts(config.seed, progress);
  if (config.source == "copy") return copy_drafts(config.seed);
  if (config.source == "reverse") return reverse_drafts(config.seed);
  if (config.source == "sort") return sort_drafts(config.seed);
  if (config.source == "addition") return addition_drafts(config.seed);
  return date_drafts(config.seed);
}

// One key in twenty is validated on, one in twenty is for the test; which, depends on key and seed alone.
void split_by_key(std::vector<Draft> drafts, std::int64_t seed, Corpus& corpus) {
  for (Draft& draft : drafts) {
    const std::uint64_t part = draft.pinned ? 1 : lot(draft.key, seed) % 20;
    (part == 0 ? corpus.validation : part == 1 ? corpus.test : corpus.train).push_back(std::move(draft.pair));
  }
}

// Whole sources go to one part, so that no sentence is trained on in one translation and tested in another.
void split_by_source(std::vector<Pair> pairs, std::int64_t seed, Corpus& corpus) {
  constexpr std::size_t most_held_out = 5000;
  std::unordered_map<std::string, std::size_t> ranks;
  for (const Pair& pair : pairs) ranks.emplace(pair.source, 0);
  if (ranks.size() < 3) {
    corpus.train = corpus.validation = corpus.test = std::move(pairs);
    return;
  }
  std::vector<std::pair<std::uint64_t, std::string_view>> order;
  order.reserve(ranks.size());
  for (const auto& [source, rank] : ranks) order.emplace_back(lot(source, seed), source);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) ranks.at(std::string(order[i].second)) = i;

  const std::size_t held_out = std::clamp<std::size_t>(ranks.size() / 20, 1, most_held_out);
  for (Pair& pair : pairs) {
    const std::size_t rank = ranks.at(pair.source);
    auto& part = rank < held_out ? corpus.validation : rank < 2 * held_out ? corpus.test : corpus.train;
    part.push_back(std::move(pair));
  }
}

std::string hash_of(const Corpus& corpus) {
  std::uint64_t state = fnv_start;
  for (const auto* part : {&corpus.train, &corpus.validation, &corpus.test}) {
    for (const Pair& pair : *part) {
      state = fnv1a(pair.source, state);
      state = fnv1a("\t", state);
      state = fnv1a(pair.target, state);
      state = fnv1a("\n", state);
    }
    state = fnv1a("\f", state);  // where one part ends and the next begins
  }
  return fmt::format("{:016x}", state);
}

bool is_built_in(std::string_view name) {
  return std::any_of(descriptions.begin(), descriptions.end(), [&](const BuiltIn& b) { return b.name == name; });
}

void require_known(const CorpusConfig& config) {
  std::error_code error;
  if (!config.target.empty() || std::filesystem::exists(config.source, error)) return;
  std::vector<std::string_view> names;
  for (const BuiltIn& built_in : descriptions) names.push_back(built_in.name);
  throw CorpusError(fmt::format("{}: no such file, and no built-in corpus of that name (there are {})", config.source,
                                fmt::join(names, ", ")));
}

}  // namespace

std::span<const BuiltIn> built_in_corpora() {
  return descriptions;
}

Corpus load_corpus(const CorpusConfig& config, const CorpusProgress& progress) {
  Corpus corpus;
  if (config.target.empty() && is_built_in(config.source)) {
    corpus.name = config.source;
    std::vector<Draft> drafts = make_drafts(config, progress);
    corpus.report.lines_read = static_cast<std::int64_t>(drafts.size());
    split_by_key(std::move(drafts), config.seed, corpus);
  } else {
    require_known(config);
    corpus.name = std::filesystem::path(config.source).filename().string();
    std::vector<Pair> pairs = config.target.empty()
                                  ? read_tsv(config.source, corpus.report, progress)
                                  : read_parallel(config.source, config.target, corpus.report, progress);
    split_by_source(std::move(pairs), config.seed, corpus);
  }
  corpus.hash = hash_of(corpus);
  if (progress) progress(1);
  return corpus;
}

}  // namespace attnscope
