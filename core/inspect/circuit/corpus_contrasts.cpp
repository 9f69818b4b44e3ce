#include "inspect/circuit/corpus_contrasts.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "common/split.h"

namespace attnscope {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t most_other_words = 2;
constexpr std::size_t most_searched = 20'000;        // pairs, for word swaps
constexpr std::size_t most_searched_text = 1 << 20;  // bytes of running text

Words words_of(std::string_view text) {
  Words words;
  for (const std::string_view word : split(text, " "))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::size_t> differences(const Words& one, const Words& other) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < one.size(); ++i)
    if (one[i] != other[i]) at.push_back(i);
  return at;
}

// A sentence similar to the pair.
struct Like {
  Words words;
  int side = -1;  // index of the word that its pronoun refers to; −1: unknown
};

std::optional<Like> like(const Pair& pair, const Words& model, std::size_t changing) {
  Like found{words_of(pair.source)};
  if (found.words.size() != model.size()) return {};
  std::vector<std::size_t> others = differences(found.words, model);
  std::erase(others, changing);
  if (others.size() > most_other_words) return {};
  const auto named = std::ranges::find(found.words, pair.antecedent);
  if (named != found.words.end()) found.side = static_cast<int>(named - found.words.begin());
  return found;
}

// The words at the contrasting position when the pronoun refers to the word `side`.
using SideWords = std::map<int, std::set<std::string>>;

// Determines the two positions at which most similar sentences differ from the pair; sentences that differ elsewhere
// are of another kind.
std::set<std::size_t> usual_places(const std::vector<Like>& all, const Words& model, std::size_t changing) {
  std::map<std::size_t, int> counts;
  for (const Like& it : all)
    for (const std::size_t at : differences(it.words, model))
      if (at != changing) ++counts[at];
  std::vector<std::pair<int, std::size_t>> order;
  for (const auto& [at, count] : counts) order.emplace_back(-count, at);
  std::ranges::sort(order);
  std::set<std::size_t> places;
  for (std::size_t i = 0; i < std::min(most_other_words, order.size()); ++i) places.insert(order[i].second);
  return places;
}

// A word found at the contrasting position.
struct OtherWord {
  int side = -1;                           // which word the pronoun then refers to
  std::size_t unlike = 99;                 // number of other words that differ in the most similar such sentence
  std::set<std::string> messages_of = {};  // what pronouns refer to in sentences with it, of any kind
};

// The words between the commas around the pronoun: what follows them may refer to somebody else.
Words clause_of_pronoun(const std::string& source) {
  Words clause;
  for (std::string& word : words_of(source)) {
    const bool last = word.ends_with(',');
    clause.push_back(std::move(word));
    if (!last) continue;
    if (std::ranges::find(clause, "it") != clause.end()) break;
    clause.clear();
  }
  return clause;
}

// Empty if the sentence's own word is not among them.
std::map<std::string, OtherWord> words_seen_at(const Corpus& corpus, const Words& model, std::size_t changing) {
  std::map<std::string, OtherWord> seen;
  for (const PairList* part : {&corpus.test, &corpus.validation, &corpus.train})
    for (const Pair& pair : *part) {
      const std::optional<Like> it = like(pair, model, changing);
      if (!it || it->side < 0) continue;
      std::vector<std::size_t> others = differences(it->words, model);
      std::erase(others, changing);
      OtherWord& word = seen.try_emplace(it->words[changing], OtherWord{it->side}).first->second;
      word.unlike = std::min(word.unlike, others.size());
    }
  if (!seen.contains(model[changing])) return {};
  for (const PairList* part : {&corpus.test, &corpus.validation, &corpus.train})
    for (const Pair& pair : *part) {
      if (pair.antecedent.empty()) continue;
      for (const std::string& word : clause_of_pronoun(pair.source))
        if (const auto found = seen.find(word); found != seen.end()) found->second.messages_of.insert(pair.antecedent);
    }
  return seen;
}

// True if both readings are possible, so the sentence is ambiguous.
bool is_ambiguous(const OtherWord& one, const OtherWord& other) {
  return std::ranges::any_of(one.messages_of,
                             [&](const std::string& noun) { return other.messages_of.contains(noun); });
}

}  // namespace

std::vector<ContrastQuestion> contrasts_like(const Corpus& corpus, const ContrastQuestion& pair, std::size_t most) {
  const Words clean = words_of(pair.clean), corrupted = words_of(pair.corrupted);
  if (clean.size() != corrupted.size()) return {};
  const std::vector<std::size_t> differ = differences(clean, corrupted);
  if (differ.size() != 1) return {};
  const std::size_t changing = differ.front();

  std::vector<Like> all;
  for (const PairList* part : {&corpus.test, &corpus.validation, &corpus.train})
    for (const Pair& it : *part)
      if (std::optional<Like> found = like(it, clean, changing)) all.push_back(*std::move(found));
  const std::set<std::size_t> places = usual_places(all, clean, changing);
  std::erase_if(all, [&](const Like& it) {
    return std::ranges::any_of(differences(it.words, clean),
                               [&](std::size_t at) { return at != changing && !places.contains(at); });
  });

  SideWords sides;
  for (const Like& it : all)
    if (it.side >= 0) sides[it.side].insert(it.words[changing]);
  std::vector<ContrastQuestion> contrasts;
  std::set<Words> taken;
  for (const Like& it : all) {
    if (contrasts.size() == most) break;
    Words key = it.words;
    key[changing].clear();
    Words contrast = it.words;
    if (it.side >= 0) {
      Words candidates;
      for (const auto& [side, words] : sides)
        if (side != it.side) candidates.insert(candidates.end(), words.begin(), words.end());
      if (candidates.empty()) continue;
      contrast[changing] = candidates[contrasts.size() % candidates.size()];
    } else if (it.words[changing] == clean[changing] || it.words[changing] == corrupted[changing]) {
      contrast[changing] = it.words[changing] == clean[changing] ? corrupted[changing] : clean[changing];
    } else {
      continue;
    }
    if (taken.insert(key).second) contrasts.push_back({joined(it.words), joined(contrast), {}});
  }
  return contrasts;
}

std::vector<std::string> contrasts_of(const Corpus& corpus, const std::string& sentence, std::size_t most) {
  const Words words = words_of(sentence);
  std::vector<std::string> contrasts;
  for (std::size_t changing = words.size(); changing-- > 0 && contrasts.size() < most;) {
    const std::map<std::string, OtherWord> seen = words_seen_at(corpus, words, changing);
    const auto own = seen.find(words[changing]);
    if (own == seen.end()) continue;
    std::vector<std::string> others;
    for (const auto& [word, facts] : seen)
      if (facts.side != own->second.side) others.push_back(word);
    std::ranges::stable_sort(others, {}, [&](const std::string& word) {
      const OtherWord& facts = seen.at(word);
      return std::tuple(facts.unlike, is_ambiguous(facts, own->second), -std::ssize(facts.messages_of));
    });
    for (const std::string& word : others) {
      if (contrasts.size() == most) break;
      Words contrast = words;
      contrast[changing] = word;
      contrasts.push_back(joined(contrast));
    }
  }
  return contrasts;
}

std::vector<std::string> word_swaps_of(const Corpus& corpus, const std::string& sentence, std::size_t most) {
  const Words words = words_of(sentence);
  if (words.empty()) return {};
  const auto word_at = [](const Words& of, std::size_t at) { return at < of.size() ? of[at] : std::string(); };
  struct Count {
    int between_neighbors = 0, after_same_word = 0;
  };
  std::map<std::pair<std::size_t, std::string>, Count> counts;  // by position in the sentence and other word
  const auto count = [&](const std::string& text) {
    const Words seen = words_of(text);
    for (std::size_t at = 0; at < words.size(); ++at)
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const bool after_same = at == 0 ? i == 0 : i > 0 && seen[i - 1] == words[at - 1];
        const bool before_same = word_at(seen, i + 1) == word_at(words, at + 1);
        // Any word can begin a sentence, so a first word must also fit what follows.
        if (!after_same || seen[i] == words[at] || (at == 0 && !before_same)) continue;
        Count& found = counts[{at, seen[i]}];
        ++(before_same ? found.between_neighbors : found.after_same_word);
      }
  };
  std::size_t searched = 0;
  for (const PairList* part : {&corpus.test, &corpus.validation, &corpus.train})
    for (const Pair& pair : *part)
      if (searched++ < most_searched) count(pair.source);
  const std::string_view text = corpus.text.train;
  for (const std::string& line : lines_of(text.substr(0, text.rfind('\n', most_searched_text)))) count(line);

  std::vector<std::pair<std::size_t, std::string>> swaps;
  for (const auto& [swap, times] : counts) swaps.push_back(swap);
  std::ranges::stable_sort(swaps, std::ranges::greater(), [&](const auto& swap) {
    const Count& times = counts.at(swap);
    return std::pair(times.between_neighbors, times.after_same_word);
  });
  std::vector<std::string> contrasts;
  for (const auto& [at, word] : swaps) {
    if (contrasts.size() == most) break;
    Words contrast = words;
    contrast[at] = word;
    contrasts.push_back(joined(contrast));
  }
  return contrasts;
}

CorpusCases cases_like(SequenceModel& model, const Tokenizer& tokenizer, const ContrastFacts& pair,
                       const std::vector<ContrastQuestion>& contrasts, const FractionCallback& progress) {
  CorpusCases found;
  for (const ContrastQuestion& contrast : contrasts) {
    if (progress) progress(static_cast<double>(found.tried) / static_cast<double>(contrasts.size()));
    ++found.tried;
    try {
      auto runs = std::make_shared<const ContrastRuns>(model, tokenizer, contrast);
      if (runs->facts().a.id == pair.b.id && runs->facts().b.id == pair.a.id)
        runs = std::make_shared<const ContrastRuns>(model, tokenizer,
                                                    ContrastQuestion{contrast.corrupted, contrast.clean, {}});
      const ContrastFacts& facts = runs->facts();
      if (facts.a.id != pair.a.id || facts.b.id != pair.b.id || facts.words.size() != pair.words.size()) continue;
      if (!tells_apart(facts)) continue;
      found.cases.push_back(case_of(std::move(runs)));
    } catch (const NotContrasting&) {
      continue;
    }
  }
  if (found.cases.empty()) return found;
  std::vector<Slot>& names = found.cases.front().slots;
  for (std::size_t i = 0; i < pair.words.size(); ++i) {
    const auto named = [&](const ContrastCase& it) { return it.slots[i].name == pair.words[i].name; };
    const bool same = std::ranges::all_of(found.cases, named) &&
                      std::ranges::find(pair.differ, static_cast<int>(i)) == pair.differ.end();
    names[i].name = pair.words[i].name + (same ? "" : "…");
  }
  return found;
}

}  // namespace attnscope
