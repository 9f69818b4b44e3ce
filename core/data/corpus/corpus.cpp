#include "data/corpus/corpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/clamped.h"
#include "data/corpus/corpus_writer.h"
#include "data/corpus/draft.h"
#include "data/corpus/grammar/grammar.h"
#include "data/corpus/modular.h"
#include "data/corpus/random.h"
#include "data/corpus/text_file.h"

namespace attnscope {
namespace {

constexpr std::array<BuiltIn, 11> descriptions = {{
    {"english-french", "70 000 sentences from a small grammar; to translate “it”, the model must find its noun"},
    {"copy", "letters, copied"},
    {"reverse", "letters, reversed"},
    {"sort", "letters, sorted alphabetically"},
    {"addition", "the sum of two numbers of up to three digits"},
    {"dates", "dates in everyday formats, converted to ISO 8601"},
    {"verdicts", "guests’ verdicts for a classifier: praise, complaint or mixed; word order and “not” decide"},
    {"modular", "arithmetic modulo p, for a classifier: “3 + 5 =” and the result"},
    {"repeats", "random letters and digits, repeated, for a decoder-only model; every batch has new ones"},
    {"brackets", "nested brackets of three kinds, for a decoder-only model; every batch has new ones"},
    {"rules", "values of a linear function modulo p, for a decoder-only model; every example has another function"},
}};

// The corpora whose examples are drawn during training.
DrawnCorpus drawn_corpus(const CorpusConfig& config) {
  if (config.source == "repeats") return repeats();
  if (config.source == "brackets") return brackets();
  return config.source == "rules" ? rules(config.modulus) : DrawnCorpus();
}

std::vector<Draft> make_drafts(const CorpusConfig& config, const CorpusProgress& progress) {
  if (config.source == "english-french") return english_french_drafts(config.seed, progress);
  if (config.source == "copy") return copy_drafts(config.seed);
  if (config.source == "reverse") return reverse_drafts(config.seed);
  if (config.source == "sort") return sort_drafts(config.seed);
  if (config.source == "addition") return addition_drafts(config.seed);
  if (config.source == "verdicts") return verdict_drafts(config.seed);
  return date_drafts(config.seed);
}

// Assigns one key in twenty to validation and one in twenty to the test; the choice depends only on key and seed.
void split_by_key(const std::vector<Draft>& drafts, const CorpusConfig& config, CorpusWriter& writer, Corpus& corpus) {
  for (const Draft& draft : drafts) writer.add(draft.pair);
  writer.finish(corpus, config, [&](std::size_t i) {
    const std::uint64_t part = drafts[i].pinned ? 1 : lot(drafts[i].key, config.seed) % 20;
    return part == 0 ? 1 : part == 1 ? 2 : 0;
  });
}

// Keeps all pairs of a source in one part, so that no sentence is trained on in one translation and tested in another.
// The sources with the lowest lots are held out.
void split_by_source(const std::vector<std::uint64_t>& lots, const CorpusConfig& config, CorpusWriter& writer,
                     Corpus& corpus) {
  constexpr std::size_t most_held_out = 5000;
  std::vector<std::uint64_t> sources = lots;
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  const double share = static_cast<double>(sources.size()) * config.held_out / 100;
  const std::size_t held_out = clamped<std::size_t>(static_cast<std::size_t>(share), 1, most_held_out);
  // of fewer than three sources all are trained on: what was trained on is no test
  const bool splits = sources.size() >= 3;
  const auto first = [&](std::size_t rank) { return rank < sources.size() ? sources[rank] : UINT64_MAX; };
  const std::uint64_t tested = splits ? first(held_out) : 0, trained = splits ? first(2 * held_out) : 0;
  std::vector<std::uint64_t>().swap(sources);
  writer.finish(corpus, config, [&](std::size_t i) { return lots[i] < tested ? 1 : lots[i] < trained ? 2 : 0; });
}

std::string hash_of(const Text& text) {
  std::uint64_t state = fnv_start;
  for (const std::string* part : {&text.train, &text.validation, &text.test})
    state = fnv1a("\f", fnv1a(*part, state));  // separates the parts
  return fmt::format("{:016x}", state);
}

void require_known(const CorpusConfig& config) {
  std::error_code error;
  if (!config.target.empty() || std::filesystem::exists(config.source, error)) return;
  std::vector<std::string_view> names;
  for (const BuiltIn& built_in : descriptions) names.push_back(built_in.name);
  throw CorpusError(fmt::format("{}: no such file, and no built-in corpus of that name (available: {})", config.source,
                                fmt::join(names, ", ")));
}

std::string name_of_file(const CorpusConfig& config) {
  return std::filesystem::path(config.source).filename().string();
}

Corpus load_pairs(const CorpusConfig& config, const CorpusProgress& progress) {
  Corpus corpus;
  if (config.target.empty() && drawn_corpus(config)) {
    throw CorpusError(fmt::format("{} has no pairs: it is a corpus for a language model "
                                  "(model.architecture=decoder-only, tokenizer.type=word)",
                                  config.source));
  }
  const bool built_in = config.target.empty() && is_built_in(config.source);
  corpus.name = built_in ? config.source : name_of_file(config);
  const std::string stored = config.source == "modular" ? std::string() : stored_name(config);
  if (open_stored(stored, config, corpus)) return corpus;
  CorpusWriter writer(stored);
  if (built_in && config.source != "modular") {
    const std::vector<Draft> drafts = make_drafts(config, progress);
    corpus.report.lines_read = static_cast<std::int64_t>(drafts.size());
    split_by_key(drafts, config, writer, corpus);
    return corpus;
  }
  std::vector<std::uint64_t> lots;
  const auto add = [&](const PairView& pair) {
    lots.push_back(lot(pair.source, config.seed));
    writer.add(pair);
  };
  if (built_in) {
    const std::vector<Pair> pairs = Modular(config).all_pairs();
    corpus.report.lines_read = static_cast<std::int64_t>(pairs.size());
    std::ranges::for_each(pairs, add);
  } else {
    require_known(config);
    read_pairs(config, add, corpus.report, progress);
  }
  split_by_source(lots, config, writer, corpus);
  return corpus;
}

std::string as_lines(const PairList& pairs) {
  std::string text;
  pairs.for_each([&](const PairView& pair) { text += fmt::format("{} → {}\n", pair.source, pair.target); });
  return text;
}

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

// The byte offset of the character with this number.
std::size_t offset_of_character(std::string_view text, std::int64_t number) {
  std::size_t offset = 0;
  for (; offset < text.size(); ++offset) {
    if (begins_character(text[offset]) && number-- == 0) break;
  }
  return offset;
}

Text split_by_place(std::string text) {
  const std::int64_t in_training = num_characters(text) * 9 / 10;
  if (in_training == 0) return {std::move(text), {}, {}};
  const std::size_t cut = offset_of_character(text, in_training);
  const std::string rest = text.substr(cut);
  text.resize(cut);
  return {std::move(text), rest, rest};
}

// Examples for the tokenizer, for prompts and for the test.
std::string drawn_lines(const DrawnCorpus& drawn, Random& random, std::int64_t count) {
  constexpr std::size_t length = 63;  // words; with the line end, a context of 64 tokens
  std::string lines;
  for (std::int64_t i = 0; i < count; ++i) lines += text_of(drawn, drawn.draw(random, length)) + '\n';
  return lines;
}

Corpus draw_text(const CorpusConfig& config) {
  Corpus corpus;
  corpus.name = config.source;
  corpus.drawn = drawn_corpus(config);
  Random random(config.seed);
  corpus.text.train = drawn_lines(corpus.drawn, random, 500);
  corpus.text.validation = drawn_lines(corpus.drawn, random, 100);
  corpus.text.test = drawn_lines(corpus.drawn, random, 100);
  return corpus;
}

Corpus load_text(const CorpusConfig& config, const CorpusProgress& progress) {
  Corpus corpus;
  if (drawn_corpus(config)) {
    corpus = draw_text(config);
  } else if (is_built_in(config.source)) {
    corpus = load_pairs(config, progress);
    corpus.text = {as_lines(std::exchange(corpus.train, {})), as_lines(std::exchange(corpus.validation, {})),
                   as_lines(std::exchange(corpus.test, {}))};
  } else {
    require_known(config);
    corpus.name = name_of_file(config);
    std::string text = read_text(config, corpus.report, progress);
    corpus.text = split_by_place(config.lowercase ? lowercased(text) : std::move(text));
  }
  corpus.hash = hash_of(corpus.text);
  corpus.caches_tokens = corpus.text.train.size() >= smallest_stored;
  return corpus;
}

}  // namespace

bool is_built_in(std::string_view name) {
  return std::any_of(descriptions.begin(), descriptions.end(), [&](const BuiltIn& b) { return b.name == name; });
}

std::span<const BuiltIn> built_in_corpora() {
  return descriptions;
}

Corpus load_corpus(const CorpusConfig& config, const CorpusProgress& progress, bool as_text) {
  CorpusConfig text_config = config;
  text_config.target.clear();
  Corpus corpus = as_text ? load_text(text_config, progress) : load_pairs(config, progress);
  if (progress) progress(1);
  return corpus;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string left_out_text(const Corpus& corpus) {
  const CorpusReport& report = corpus.report;
  const std::int64_t left_out = report.skipped + report.duplicates;
  if (left_out == 0) return {};
  std::string text = fmt::format("{}: {} of {} lines skipped, {} of them duplicates", corpus.name, left_out,
                                 report.lines_read, report.duplicates);
  for (const SkippedLine& line : report.examples) {
    text += fmt::format("\n  {}:{}: {}", line.file, line.line, line.reason);
  }
  if (left_out > static_cast<std::int64_t>(report.examples.size())) text += "\n  …";
  return text;
}

std::int64_t num_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), begins_character);
}

}  // namespace attnscope
