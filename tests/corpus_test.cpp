#include "data/corpus/corpus.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "data/corpus/grammar/clause.h"
#include "data/corpus/grammar/grammar.h"
#include "data/corpus/grammar/lexicon.h"
#include "data/corpus/grammar/template.h"
#include "data/corpus/modular.h"
#include "data/corpus/random.h"
#include "data/corpus/words.h"

namespace attnscope {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

CorpusConfig config_of(std::string source, std::string target = "") {
  return {.source = std::move(source), .target = std::move(target)};
}

const Corpus& english_french() {
  static const Corpus corpus = load_corpus(config_of("english-french"));
  return corpus;
}

std::vector<Pair> all_pairs(const Corpus& corpus) {
  std::vector<Pair> pairs = corpus.train;
  pairs.insert(pairs.end(), corpus.validation.begin(), corpus.validation.end());
  pairs.insert(pairs.end(), corpus.test.begin(), corpus.test.end());
  return pairs;
}

std::set<std::string> sources(const std::vector<Pair>& pairs) {
  std::set<std::string> found;
  for (const Pair& pair : pairs) found.insert(pair.source);
  return found;
}

bool has(const std::vector<Pair>& pairs, std::string_view source, std::string_view target) {
  return std::any_of(pairs.begin(), pairs.end(),
                     [&](const Pair& pair) { return pair.source == source && pair.target == target; });
}

// ---- randomness

TEST(Random, IsTheSameEverywhere) {
  Random random(1);
  std::vector<int> items = {0, 1, 2, 3, 4, 5, 6, 7};
  random.shuffle(items);
  const std::vector<int> first = items;
  Random again(1);
  items = {0, 1, 2, 3, 4, 5, 6, 7};
  again.shuffle(items);
  EXPECT_EQ(items, first);
  EXPECT_NE(items, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);  // the published test vector
}

TEST(Random, StaysBelowItsBound) {
  Random random(5);
  std::vector<int> counts(3);
  for (int i = 0; i < 3000; ++i) ++counts.at(random.below(3));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
}

// ---- French

TEST(French, ElidesAndContracts) {
  Slots slots;
  slots.noun('A', noun("tree")).noun('B', noun("axe")).noun('C', noun("church")).noun('D', noun("hospital"), true);
  slots.noun('E', noun("knife"));
  EXPECT_EQ(slots.french("[le A] [du A] [au A] [un A] [ce A]"), "l'arbre de l'arbre à l'arbre un arbre cet arbre");
  EXPECT_EQ(slots.french("[le B] [du B] [au B]"), "la hache de la hache à la hache");
  EXPECT_EQ(slots.french("[mon C] [son C] [ce C]"), "mon église son église cette église");
  EXPECT_EQ(slots.french("[le D] [du D] [au D]"), "les hôpitaux des hôpitaux aux hôpitaux");
  EXPECT_EQ(slots.french("[du E] [au E]"), "du couteau au couteau");
  EXPECT_EQ(elided("que", "Emma"), "qu'Emma");
  EXPECT_EQ(elided("ne", "vois"), "ne vois");
}

TEST(French, ASentenceBeginsWithACapitalAndEndsWithAMark) {
  EXPECT_EQ(sentence("les \u00E9l\u00E8ves lisent"), "Les \u00E9l\u00E8ves lisent.");
  EXPECT_EQ(sentence("\u00E9tait-ce lui ?"), "\u00C9tait-ce lui ?");
}

TEST(French, PlacesAndAgreesAdjectives) {
  Slots slots;
  slots.noun('A', noun("tree")).noun('B', noun("house"), true).noun('C', noun("cow"));
  slots.adjective('O', adjective("old")).adjective('P', adjective("beautiful")).adjective('W', adjective("white"));
  EXPECT_EQ(slots.french("[le O A], [un P A], [un W A]"), "le vieil arbre, un bel arbre, un arbre blanc");
  EXPECT_EQ(slots.french("[le O B], [un O B], [W B]"), "les vieilles maisons, de vieilles maisons, blanches");
  EXPECT_EQ(slots.french("[O C] [il C] tombé[e C]"), "vieille elle tombée");
  EXPECT_EQ(slots.english("[a O] [A], [a C]"), "an old tree, a cow");
}

TEST(French, AThingMayHaveAnAttributeWhereverItStands) {
  Slots slots;
  slots.noun('A', noun("tree")).attribute('A', adjective("old"));
  slots.noun('B', noun("animal"))
      .attribute('B', adjective("tired"))
      .noun('C', noun("cow"))
      .attribute('C', adjective("white"));
  EXPECT_EQ(slots.english("the [A], [a A], the [B] and the [C]"),
            "the old tree, an old tree, the tired animal and the white cow");
  EXPECT_EQ(slots.french("[le A] [du A] [le B] [au B]"),
            "le vieil arbre du vieil arbre l'animal fatigué à l'animal fatigué");
  EXPECT_EQ(slots.french("[le C] est tombé[e C]"), "la vache blanche est tombée");
}

TEST(French, RefusesAnUnknownSlot) {
  EXPECT_THROW(Slots().french("[le A]"), std::logic_error);
  EXPECT_THROW(noun("unicorn"), std::logic_error);
}

TEST(Lexicon, EveryClassIsHalfMasculine) {
  for (const std::string_view name : noun_class_names()) {
    const auto members = noun_class(name);
    const auto masculine =
        std::count_if(members.begin(), members.end(), [](const Noun* n) { return n->gender == 'm'; });
    EXPECT_EQ(2 * static_cast<std::size_t>(masculine), members.size()) << name;
  }
}

// ---- the English-French corpus

TEST(EnglishFrench, IsLargeAndEverySourceIsThereOnce) {
  const std::vector<Pair> pairs = all_pairs(english_french());
  EXPECT_GE(pairs.size(), 50000u);
  EXPECT_EQ(sources(pairs).size(), pairs.size());
  std::map<std::string, std::size_t> categories;
  for (const Pair& pair : pairs) ++categories[pair.category];
  EXPECT_GE(categories["pronoun"], 24000u);
  for (const char* name :
       {"reasons", "circumstances", "two senses", "royalty", "kinds", "distance", "greeting", "basic"})
    EXPECT_GE(categories[name], 2000u);
  EXPECT_THAT(categories, SizeIs(9));
}

TEST(EnglishFrench, DependsOnTheSeedAlone) {
  EXPECT_EQ(load_corpus(config_of("english-french")).hash, english_french().hash);
  CorpusConfig other = config_of("english-french");
  other.seed = 2;
  EXPECT_NE(load_corpus(other).hash, english_french().hash);
}

TEST(EnglishFrench, HoldsTheFamousSentencesForTheTest) {
  const std::pair<const char*, const char*> famous[] = {
      {"The animal didn't cross the street because it was too tired.",
       "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."},
      {"The animal didn't cross the street because it was too wide.",
       "L'animal n'a pas traversé la rue parce qu'elle était trop large."}};
  for (std::int64_t seed = 1; seed <= 3; ++seed) {
    CorpusConfig config = config_of("english-french");
    config.seed = seed;
    const Corpus corpus = load_corpus(config);
    for (const auto& [source, target] : famous) {
      EXPECT_TRUE(has(corpus.test, source, target));
      EXPECT_EQ(sources(corpus.train).count(source), 0u);
    }
    for (const Pair& pair : corpus.train) {
      const bool both = pair.source.find("animal") != std::string::npos &&
                        pair.source.find("cross") != std::string::npos &&
                        pair.source.find("street") != std::string::npos;
      const bool of_frames =
          pair.category == "pronoun" || pair.category == "reasons" || pair.category == "circumstances";
      EXPECT_FALSE(both && of_frames) << pair.source;
    }
  }
}

TEST(EnglishFrench, ConjugatesClauses) {
  const std::vector<Subject> all = subjects();
  const auto of = [&](std::string_view en) { return *std::ranges::find(all, en, &Subject::en); };
  const Verb& see = verb("see");
  for (const auto& [subject, tense, mood, en, fr] :
       std::initializer_list<std::tuple<const char*, Tense, Mood, const char*, const char*>>{
           {"she", Tense::present, Mood::affirmed, "she sees", "elle voit"},
           {"I", Tense::past, Mood::affirmed, "I saw", "j'ai vu"},
           {"she", Tense::present, Mood::denied, "she doesn't see", "elle ne voit pas"},
           {"I", Tense::past, Mood::denied, "I didn't see", "je n'ai pas vu"},
           {"she", Tense::past, Mood::asked, "did she see", "est-ce qu'elle a vu"}}) {
    EXPECT_EQ(english_clause(of(subject), see, tense, mood), en);
    EXPECT_EQ(french_clause(of(subject), see, tense, mood), fr);
  }
}

TEST(EnglishFrench, SplitsByCombination) {
  const Corpus& corpus = english_french();
  const double all = static_cast<double>(all_pairs(corpus).size());
  EXPECT_NEAR(static_cast<double>(corpus.train.size()) / all, 0.90, 0.02);
  EXPECT_NEAR(static_cast<double>(corpus.validation.size()) / all, 0.05, 0.015);
  EXPECT_NEAR(static_cast<double>(corpus.test.size()) / all, 0.05, 0.015);

  // The drafts of the same seed, each with its key: frame family and both nouns.
  std::map<std::string, std::string> keys;
  for (const Draft& draft : english_french_drafts(1)) keys[draft.pair.source] = draft.key;
  std::map<std::string, std::set<int>> parts_of_key;
  int part = 0;
  for (const auto* pairs : {&corpus.train, &corpus.validation, &corpus.test}) {
    for (const Pair& pair : *pairs) parts_of_key[keys.at(pair.source)].insert(part);
    ++part;
  }
  for (const auto& [key, parts] : parts_of_key) EXPECT_THAT(parts, SizeIs(1)) << key;
}

TEST(EnglishFrench, EveryHeldOutAntecedentIsWellSeenInTraining) {
  // Played in one frame of sentences alone.
  const std::vector<const Noun*> instruments = noun_class("instrument");
  std::map<std::string, int> seen;
  for (const Pair& pair : english_french().train) ++seen[pair.antecedent];
  for (const Pair& pair : english_french().test) {
    if (pair.category == "pronoun") {
      const bool played = std::ranges::find(instruments, &noun(pair.antecedent)) != instruments.end();
      EXPECT_GE(seen[pair.antecedent], played ? 18 : 20) << pair.antecedent;
    }
  }
}

// Whole words, so that "ils" is not "il"; whatever the case of its first letter.
bool has_word(std::string text, std::string_view word) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ',' || c == '.' || c == '?' || c == '\''; }, ' ');
  text = " " + text + " ";
  if (text[1] >= 'A' && text[1] <= 'Z') text[1] = static_cast<char>(text[1] - 'A' + 'a');
  return text.find(" " + std::string(word) + " ") != std::string::npos;
}

// The part of the sentence about "it", without its verb and its degree.
std::string facts_about_it(const std::string& sentence) {
  std::string said = sentence.substr(sentence.find(" it ") + 4);
  said = said.substr(0, said.find_first_of(",."));
  for (const std::string start : {"was ", "is ", "too ", "very ", "so "}) {
    if (said.starts_with(start)) said = said.substr(start.size());
  }
  return said;
}

// "The king's palace" and "the queen's palace" are one thing in French, and the king's and the duke's are not: what is
// asked of a person's word there is the kind, and never the sex.
TEST(Kinds, FrenchTellsTheKindAndNotTheSex) {
  std::map<std::string, std::set<std::string>> owners;  // by what French calls the thing
  for (const Pair& pair : all_pairs(english_french())) {
    constexpr std::string_view asked = "Where is the ";
    if (pair.category != "kinds" || !pair.source.starts_with(asked)) continue;
    const std::string owner = pair.source.substr(asked.size(), pair.source.find("'s ") - asked.size());
    const std::string thing = pair.target.substr(0, pair.target.size() - 1);
    owners[thing.substr(thing.rfind(' ') + 1).substr(0, 5)].insert(owner);
  }
  EXPECT_THAT(owners["royal"], testing::ElementsAre("king", "queen"));
  EXPECT_THAT(owners["ducal"], testing::ElementsAre("duchess", "duke"));
  EXPECT_THAT(owners["frate"], testing::ElementsAre("brother", "sister"));
  EXPECT_THAT(owners, SizeIs(gender_pairs().size()));
}

// Not only by its capital letter: small letters stand in both senses.
TEST(Senses, AppleHasBothInSmallLetters) {
  std::map<int, int> counts;
  for (const Pair& pair : english_french().train)
    if (has_word(pair.source, "apple")) ++counts[sense_in("apple", pair)];
  EXPECT_GE(counts[0], 50);
  EXPECT_GE(counts[1], 50);
}

// The number of sentences about "it" in the corpus; with its seed, the drafts are the corpus's own.
constexpr std::size_t num_pronoun_drafts = 32000;

// A sentence about "it" without what is said of somebody else behind it.
std::string without_aside(const std::string& sentence, std::string_view aside) {
  return sentence.substr(0, sentence.find(aside));
}

std::ptrdiff_t spaces(const std::string& text) {
  return std::ranges::count(text, ' ');
}

TEST(Pronouns, NameTheirAntecedentAndPronoun) {
  for (const Pair& pair : english_french().test) {
    if (pair.category != "pronoun") {
      EXPECT_TRUE(pair.pronoun.empty() && pair.antecedent.empty());
      continue;
    }
    const Noun& antecedent = noun(pair.antecedent);
    EXPECT_EQ(pair.pronoun, antecedent.gender == 'f' ? "elle" : "il") << pair.source;
    EXPECT_TRUE(has_word(pair.source, "it")) << pair.source;
    EXPECT_TRUE(has_word(pair.source, pair.antecedent)) << pair.source;
    EXPECT_TRUE(has_word(pair.target, std::string(antecedent.fr))) << pair.target;
    const std::string target = without_aside(pair.target, ", et ");
    EXPECT_TRUE(has_word(target, pair.pronoun)) << pair.target;
    EXPECT_FALSE(has_word(target, pair.pronoun == "il" ? "elle" : "il")) << pair.target;
  }
}

// Share of the pronoun pairs in which what is said of "it" has one form in French, whatever "it" stands for.
double same_statement(const Corpus& corpus) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> forms;  // English, pronoun, French
  const auto french = [](const Pair& pair) {
    const std::string from = pair.target.substr(pair.target.find(pair.pronoun + " "));
    return from.substr(pair.pronoun.size() + 1, from.find_first_of(",.") - pair.pronoun.size() - 1);
  };
  for (const Pair& pair : corpus.train)
    if (pair.category == "pronoun") forms[facts_about_it(pair.source)][pair.pronoun].insert(french(pair));
  double alike = 0, all = 0;
  for (const Pair& pair : corpus.train) {
    if (pair.category != "pronoun") continue;
    ++all;
    const auto& of = forms[facts_about_it(pair.source)];
    if (of.size() < 2) continue;
    alike += std::ranges::any_of(of.at("il"), [&](const std::string& form) { return of.at("elle").contains(form); });
  }
  return alike / all;
}

// At least two statements in five have the same French form for both genders, so the gender is needed only at "it".
TEST(Pronouns, AreOftenFollowedByFormsWithoutGender) {
  EXPECT_GE(same_statement(english_french()), 0.4);
}

// "Because" is not always followed by "it": who it is has to be looked up, and what agrees agrees with them.
TEST(Reasons, AreSomebodyElses) {
  std::map<std::string, int> counts;
  for (const Pair& pair : all_pairs(english_french())) {
    if (pair.category != "reasons") continue;
    EXPECT_TRUE(pair.antecedent.empty() && !has_word(pair.source, "it")) << pair.source;
    for (const auto& [en, fr] : {std::pair(" she was ", "elle était"),
                                 {" I was ", "j'étais"},
                                 {" we were ", "nous étions"},
                                 {" my parents were ", "mes parents étaient"}})
      if (pair.source.find(en) != std::string::npos) {
        ++counts[en];
        EXPECT_THAT(pair.target, HasSubstr(fr));
      }
  }
  EXPECT_THAT(counts, SizeIs(4));
  for (const auto& [text, count] : counts) EXPECT_GE(count, 50) << text;
  const std::vector<Pair> pairs = all_pairs(english_french());
  EXPECT_TRUE(std::ranges::any_of(pairs, [](const Pair& pair) {
    return pair.source.ends_with("because she was very happy.") &&
           pair.target.ends_with("parce qu'elle était très heureuse.");
  }));
}

// "It" need not stand for anything: what is said of it tells, and whether French says il or c'.
TEST(Circumstances, HaveAnItThatStandsForNothing) {
  std::map<std::string, int> counts;
  for (const Pair& pair : all_pairs(english_french())) {
    if (pair.category != "circumstances") continue;
    EXPECT_TRUE(pair.antecedent.empty() && has_word(pair.source, "it")) << pair.source;
    EXPECT_FALSE(has_word(pair.target, "elle")) << pair.target;
    for (const auto& [en, fr] : {std::pair("because it was raining", "parce qu'il pleuvait"),
                                 {"because it is Sunday", "parce que c'est dimanche"},
                                 {"Because it was late", "Comme il était tard"},
                                 {"but it was a game", "mais c'était un jeu"}})
      if (pair.source.find(en) != std::string::npos) {
        ++counts[en];
        EXPECT_THAT(pair.target, HasSubstr(fr));
      }
  }
  EXPECT_THAT(counts, SizeIs(4));
}

// The two things of a pronoun draft: its key is frame|A|B.
std::array<std::string, 2> targets_of(const Draft& draft) {
  const std::size_t bar = draft.key.find('|'), second_bar = draft.key.find('|', bar + 1);
  return {draft.key.substr(bar + 1, second_bar - bar - 1), draft.key.substr(second_bar + 1)};
}

// The adjective between "the" and the thing; "" if there is none.
std::string attribute_of(const std::string& thing, const std::string& source) {
  const std::string text = " " + source;
  for (const Adjective& each : adjectives()) {
    for (const std::string the : {" the ", " The "})
      if (text.find(the + std::string(each.en) + " " + thing) != std::string::npos) return std::string(each.en);
  }
  return "";
}

// An adjective such as "tired" before a noun does not yet say what "it" refers to.
TEST(Pronouns, StandForThingsOfWhichAsMuchIsSaid) {
  Random random(1);
  const std::vector<Draft> drafts = pronoun_drafts(num_pronoun_drafts, random);
  int described = 0, misleading = 0;
  for (const Draft& draft : drafts) {
    bool has_attribute = false;
    for (const std::string& thing : targets_of(draft)) {
      const std::string attribute = attribute_of(thing, draft.pair.source);
      if (attribute.empty()) continue;
      has_attribute = true;
      misleading += thing != draft.pair.antecedent;
      EXPECT_NE(attribute, facts_about_it(draft.pair.source)) << draft.pair.source;
    }
    described += has_attribute;
  }
  const auto share = [&](int count) { return static_cast<double>(count) / static_cast<double>(drafts.size()); };
  EXPECT_NEAR(share(described), 0.35, 0.07);
  EXPECT_NEAR(share(misleading), 0.23, 0.07);
  EXPECT_TRUE(std::ranges::any_of(drafts, [](const Draft& draft) {
    return draft.pair.source.starts_with("The sick goat ") && draft.pair.target.starts_with("La chèvre malade ");
  }));
}

// The last adjective of a sentence need not describe "it".
TEST(Pronouns, AreFollowedByWhatIsSaidOfSomebodyElse) {
  Random random(1);
  const std::vector<Draft> drafts = pronoun_drafts(num_pronoun_drafts, random);
  const auto has_aside = [](const Draft& draft) { return draft.pair.source.find(", and ") != std::string::npos; };
  std::set<std::string> facts_about_others, facts_about_things;
  double asides = 0;
  for (const Draft& draft : drafts) {
    facts_about_things.insert(facts_about_it(draft.pair.source));
    if (!has_aside(draft)) continue;
    ++asides;
    EXPECT_THAT(draft.pair.target, HasSubstr(", et ")) << draft.pair.source;
    EXPECT_THAT(draft.pair.source, testing::Not(testing::StartsWith("Because "))) << draft.pair.source;
    const std::string& source = draft.pair.source;
    const std::size_t last = source.rfind(' ') + 1;
    facts_about_others.insert(source.substr(last, source.size() - 1 - last));
  }
  EXPECT_NEAR(asides / static_cast<double>(drafts.size()), 0.2, 0.07);
  EXPECT_EQ(std::ranges::count_if(facts_about_others,
                                  [&](const std::string& word) { return facts_about_things.contains(word); }),
            9);
  EXPECT_TRUE(std::ranges::any_of(drafts, [](const Draft& draft) {
    return draft.pair.source.ends_with(", and she was tired.") &&
           draft.pair.target.ends_with(", et elle était fatiguée.");
  }));
}

// The word before "it" varies, so the model cannot store the antecedent at "because".
TEST(Pronouns, StandBehindMoreThanOneWord) {
  Random random(1);
  std::map<std::string, int> counts;
  const std::vector<Draft> drafts = pronoun_drafts(num_pronoun_drafts, random);
  for (const Draft& draft : drafts) {
    for (const auto& [en, fr] : {std::pair(" because it ", " parce qu'"),
                                 {" since it ", " puisqu'"},
                                 {" as it ", " car "},
                                 {"Because it ", "Comme "},
                                 {"Since it ", "Puisqu'"},
                                 {"As it ", "Comme "}}) {
      if (draft.pair.source.find(en) == std::string::npos) continue;
      ++counts[en];
      EXPECT_THAT(draft.pair.target, HasSubstr(fr + draft.pair.pronoun + " ")) << draft.pair.source;
    }
  }
  EXPECT_NEAR(counts["Since it "] + counts[" since it "], 0.24 * static_cast<double>(drafts.size()), 1000);
  EXPECT_NEAR(counts["As it "] + counts[" as it "], 0.24 * static_cast<double>(drafts.size()), 1000);
  EXPECT_THAT(counts, SizeIs(6));
}

struct Tally {
  int all = 0;
  int feminine = 0;
  void add(const Pair& pair) {
    ++all;
    feminine += pair.pronoun == "elle";
  }
  double share() const { return static_cast<double>(feminine) / all; }
};

TEST(Pronouns, NeitherFrameNorPredicateGivesTheGenderAway) {
  Random random(1);
  std::map<std::string, Tally> by_frame;
  std::map<std::string, Tally> by_predicate;
  int first = 0;
  int mixed = 0;
  const std::vector<Draft> drafts = pronoun_drafts(num_pronoun_drafts, random);
  for (const Draft& draft : drafts) {
    const std::size_t bar = draft.key.find('|');
    const std::size_t second_bar = draft.key.find('|', bar + 1);
    const std::string frame = draft.key.substr(0, bar);
    const std::string a = draft.key.substr(bar + 1, second_bar - bar - 1);
    const std::string b = draft.key.substr(second_bar + 1);
    by_frame[frame].add(draft.pair);
    by_predicate[frame + ": " + facts_about_it(draft.pair.source)].add(draft.pair);
    first += a == draft.pair.antecedent;
    mixed += noun(a).gender != noun(b).gender;
  }
  EXPECT_GE(by_frame.size(), 25u);
  for (const auto& [frame, tally] : by_frame) EXPECT_NEAR(tally.share(), 0.5, 0.03) << frame << ", of " << tally.all;
  for (const auto& [predicate, tally] : by_predicate) {
    EXPECT_NEAR(tally.share(), 0.5, 0.16) << predicate << ", of " << tally.all;
  }
  EXPECT_NEAR(static_cast<double>(first) / static_cast<double>(drafts.size()), 0.5, 0.02);
  EXPECT_GE(static_cast<double>(mixed) / static_cast<double>(drafts.size()), 0.70);
}

TEST(EnglishFrench, FrenchIsElidedAndContracted) {
  const auto unelided = ::testing::Matches(ContainsRegex(
      "(^| )([Ll]e|[Ll]a|de|que|[Nn]e|[Jj]e|[Cc]e|[Mm]a|[Ss]a|(un|[Ll]e|[Cc]e|[Mm]on|[Ss]on) vieux|beau|nouveau) "
      "(a|e[^t]|é|è|ê|â|i|î|o|ô|œ|u|homme|hôtel|horloge|hôpital)"));
  const auto uncontracted = ::testing::Matches(ContainsRegex("(^| )(de le|de les|à le|à les) "));
  const auto overelided =
      ::testing::Matches(ContainsRegex("'(hache|haie|hangar)|( cet|Cet|bel|vieil|nouvel) [bcdfgjklmnpqrstvwxz]"));
  const auto unfit = ::testing::Matches(ContainsRegex("\\[|\\]|  | [?!.]|^[a-z]|[^.?!]$|’|\u00a0"));
  for (const Pair& pair : all_pairs(english_french())) {
    EXPECT_FALSE(unelided(pair.target)) << pair.target;
    EXPECT_FALSE(uncontracted(pair.target)) << pair.target;
    EXPECT_FALSE(overelided(pair.target)) << pair.target;
    EXPECT_FALSE(unfit(pair.target)) << pair.target;
    EXPECT_FALSE(unfit(pair.source)) << pair.source;
    const std::string alone = pair.category == "pronoun" ? without_aside(pair.source, ", and ") : pair.source;
    EXPECT_LE(spaces(alone), 15) << pair.source;
    EXPECT_LE(spaces(pair.source) - spaces(alone), 5) << pair.source;
  }
  EXPECT_TRUE(unelided("Je vois le arbre.") && uncontracted("C'est à le roi.") && unfit("Oui ?"));
}

// A plural or feminine subject and the last word of its sentence.
TEST(EnglishFrench, AgreesAcrossADistance) {
  int seen = 0;
  for (const Pair& pair : all_pairs(english_french())) {
    if (pair.category != "distance") continue;
    const bool plural = pair.target.starts_with("Les ");
    EXPECT_EQ(has_word(pair.source, "are") || has_word(pair.source, "were"), plural) << pair.source;
    if (plural) {
      EXPECT_TRUE(pair.target.ends_with("s.") || pair.target.ends_with("x.")) << pair.target;
    }
    seen += plural;
  }
  EXPECT_GE(seen, 1000);
}

// ---- the tasks that follow a rule

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

TEST(BuiltIns, AreAllThereAndDisjoint) {
  EXPECT_THAT(built_in_corpora(), SizeIs(11));
  for (const BuiltIn& built_in : built_in_corpora()) {
    if (built_in.name == "modular") continue;                                          // see Modular
    if (load_corpus(config_of(std::string(built_in.name)), {}, true).drawn) continue;  // see Drawn
    const Corpus corpus = load_corpus(config_of(std::string(built_in.name)));
    EXPECT_EQ(corpus.name, built_in.name);
    EXPECT_THAT(corpus.hash, SizeIs(16));
    const std::vector<Pair> pairs = all_pairs(corpus);
    EXPECT_GE(pairs.size(), 20000u);
    EXPECT_EQ(sources(pairs).size(), pairs.size()) << built_in.name;
    EXPECT_GE(corpus.validation.size(), 500u);
    EXPECT_GE(corpus.test.size(), 500u);
  }
}

TEST(BuiltIns, FollowTheirRule) {
  for (const Pair& pair : load_corpus(config_of("copy")).test) EXPECT_EQ(pair.source, pair.target);
  for (const Pair& pair : load_corpus(config_of("reverse")).test) {
    EXPECT_EQ(std::string(pair.source.rbegin(), pair.source.rend()), pair.target);
  }
  for (const Pair& pair : load_corpus(config_of("sort")).test) {
    std::string letters = without_spaces(pair.source);
    std::sort(letters.begin(), letters.end());
    EXPECT_EQ(without_spaces(pair.target), letters);
  }
  for (const Pair& pair : load_corpus(config_of("addition")).test) {
    const std::string sum = without_spaces(pair.source);
    const std::size_t plus = sum.find('+');
    EXPECT_EQ(std::stoi(sum.substr(0, plus)) + std::stoi(sum.substr(plus + 1)), std::stoi(without_spaces(pair.target)));
  }
}

TEST(BuiltIns, DatesAreIso) {
  const Corpus corpus = load_corpus(config_of("dates"));
  for (const Pair& pair : corpus.test) {
    EXPECT_THAT(pair.target, MatchesRegex("(19|20)[0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"));
    EXPECT_THAT(pair.source, HasSubstr(pair.target.substr(0, 4)));
  }
}

// ---- modular arithmetic

CorpusConfig modular_config(const std::string& operation, std::int64_t modulus = 13) {
  CorpusConfig config = config_of("modular");
  config.operation = operation;
  config.modulus = modulus;
  config.held_out = 25;
  return config;
}

TEST(Modular, HasEveryPairOnceAndTheRightResult) {
  for (const char* operation : {"+", "-", "*", "/", "x^2+y^2"}) {
    const Corpus corpus = load_corpus(modular_config(operation));
    const std::size_t count = *operation == '/' ? 13 * 12 : 13 * 13;
    EXPECT_EQ(sources(all_pairs(corpus)).size(), count) << operation;
    EXPECT_EQ(corpus.validation.size(), count / 4);
    EXPECT_EQ(corpus.test.size(), count / 4);
    for (const Pair& pair : all_pairs(corpus)) {
      std::istringstream text(pair.source);
      int a = 0, b = 0;
      std::string sign, equals;
      text >> a >> sign >> b >> equals;
      const int c = std::stoi(pair.target);
      ASSERT_TRUE(c >= 0 && c < 13 && equals == "=") << pair.source;
      const int error = sign == "+"   ? a + b - c
                        : sign == "-" ? a - b - c
                        : sign == "*" ? a * b - c
                        : sign == "/" ? c * b - a
                                      : a * a + b * b - c;
      EXPECT_EQ(error % 13, 0) << pair.source;
    }
  }
}

TEST(Modular, DivisionNeedsAPrime) {
  EXPECT_THROW(load_corpus(modular_config("/", 12)), CorpusError);
  EXPECT_THROW(load_corpus(modular_config("*", 1 + 8)), CorpusError);
  EXPECT_NO_THROW(load_corpus(modular_config("+", 12)));
}

TEST(Modular, ProductsAreSumsInTheOrderOfAGenerator) {
  const std::vector<int> order = Modular(modular_config("*")).in_cyclic_order();
  ASSERT_THAT(order, SizeIs(12));
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t j = 0; j < 12; ++j) EXPECT_EQ(order[i] * order[j] % 13, order[(i + j) % 12]);
  EXPECT_THAT(Modular(modular_config("+", 5)).in_cyclic_order(), ElementsAre(0, 1, 2, 3, 4));
}

// ---- corpora that are drawn during training

TEST(Drawn, RepeatsHasAPeriodThatVariesAndNoWordTwiceInIt) {
  const DrawnCorpus corpus = repeats();
  EXPECT_THAT(corpus.words, SizeIs(62));
  Random random(3);
  std::set<std::size_t> periods;
  for (int i = 0; i < 500; ++i) {
    const DrawnExample example = corpus.draw(random, 63);
    ASSERT_THAT(example.words, SizeIs(63));
    const auto first = std::ranges::find(example.determined, true);
    const auto period = static_cast<std::size_t>(first - example.determined.begin()) - 1;
    periods.insert(period);
    EXPECT_TRUE(std::all_of(first, example.determined.end(), [](bool follows) { return follows; }));
    for (std::size_t at = period; at < 63; ++at) ASSERT_EQ(example.words[at], example.words[at - period]);
    EXPECT_EQ(std::set(example.words.begin(), example.words.begin() + static_cast<std::ptrdiff_t>(period)).size(),
              period);
  }
  EXPECT_EQ(*periods.begin(), 15U);
  EXPECT_EQ(*periods.rbegin(), 31U);
  EXPECT_THAT(periods, SizeIs(17));
  for (const std::size_t length : {1, 2, 3, 500}) EXPECT_THAT(corpus.draw(random, length).words, SizeIs(length));
}

// Removes pairs of partners until none is left: what remains of the prefix of a Dyck word are opening brackets.
std::string without_pairs(std::string text) {
  for (std::size_t at = 0; at + 1 < text.size();) {
    const std::string_view pair = std::string_view(text).substr(at, 2);
    if (pair == "()" || pair == "[]" || pair == "{}") {
      text.erase(at, 2);
      at = 0;
    } else {
      ++at;
    }
  }
  return text;
}

TEST(Drawn, BracketsCloseInOrder) {
  const DrawnCorpus corpus = brackets();
  Random random(3);
  std::map<std::size_t, int> depths;
  for (int i = 0; i < 200; ++i) {
    const DrawnExample example = corpus.draw(random, 63);
    ASSERT_THAT(example.words, SizeIs(63));
    ASSERT_THAT(example.determined, SizeIs(63));
    const std::string text = without_spaces(text_of(corpus, example));
    for (std::size_t end = 1; end <= text.size(); ++end) {
      const std::string open = without_pairs(text.substr(0, end));
      ASSERT_EQ(open.find_first_of(")]}"), std::string::npos) << text;
      ++depths[open.size()];
      EXPECT_EQ(example.determined[end - 1], std::string(")]}").find(text[end - 1]) != std::string::npos);
    }
  }
  EXPECT_EQ(depths.rbegin()->first, 4U);
  EXPECT_GT(depths[4], 200);
}

// By trying every rule.
TEST(Drawn, RulesDetermineWhatAllRulesThatFitAgreeOn) {
  constexpr int p = 5;
  const DrawnCorpus corpus = rules(p);
  EXPECT_THAT(corpus.words, ElementsAre("f(0)", "f(1)", "f(2)", "f(3)", "f(4)", "0", "1", "2", "3", "4"));
  Random random(3);
  std::set<std::pair<int, int>> drawn;
  for (int i = 0; i < 300; ++i) {
    const DrawnExample example = corpus.draw(random, 13);
    ASSERT_THAT(example.determined, SizeIs(13));
    std::vector<std::pair<int, int>> fitting;
    for (int a = 0; a < p; ++a)
      for (int b = 0; b < p; ++b) fitting.emplace_back(a, b);
    for (std::size_t at = 0; at + 1 < 13; at += 2) {
      const int x = example.words[at];
      std::set<int> answers;
      for (const auto& [a, b] : fitting) answers.insert((a * x + b) % p);
      EXPECT_FALSE(example.determined[at]) << "x is random";
      EXPECT_EQ(example.determined[at + 1], answers.size() == 1);
      std::erase_if(fitting,
                    [&](const auto& rule) { return (rule.first * x + rule.second) % p != example.words[at + 1] - p; });
    }
    ASSERT_FALSE(fitting.empty()) << "some rule fits all examples";
    if (fitting.size() == 1) drawn.insert(fitting.front());
  }
  EXPECT_THAT(drawn, SizeIs(p * p)) << "every rule is drawn";
  EXPECT_THROW(rules(6), CorpusError);
}

TEST(Drawn, IsTextOnly) {
  for (const char* name : {"repeats", "brackets", "rules"}) {
    CorpusConfig config = config_of(name);
    config.modulus = 7;
    EXPECT_THROW(load_corpus(config), CorpusError);
    const Corpus corpus = load_corpus(config, {}, true);
    EXPECT_TRUE(corpus.drawn);
    EXPECT_THAT(lines_of(corpus.text.test), SizeIs(100));
    EXPECT_EQ(corpus.hash, load_corpus(config, {}, true).hash);
  }
}

// ---- the user's files

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "attnscope-corpus-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view bytes) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path.string();
  }

  static std::string refusal(const CorpusConfig& config) {
    try {
      load_corpus(config);
    } catch (const CorpusError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(Files, ReadsATsv) {
  std::string text = "\xEF\xBB\xBFHi.\tSalut\u00a0!\tCC-BY 2.0\r\n";
  for (int i = 0; i < 100; ++i) text += "word " + std::to_string(i) + "\tmot\u202f" + std::to_string(i) + "\n";
  text += "last\tdernier";  // no newline at the end
  const Corpus corpus = load_corpus(config_of(write("pairs.tsv", text)));
  EXPECT_EQ(corpus.name, "pairs.tsv");
  EXPECT_EQ(corpus.report.lines_read, 102);
  EXPECT_EQ(corpus.report.skipped, 0);
  const std::vector<Pair> pairs = all_pairs(corpus);
  EXPECT_THAT(pairs, SizeIs(102));
  EXPECT_TRUE(has(pairs, "Hi.", "Salut !"));
  EXPECT_TRUE(has(pairs, "word 7", "mot 7"));
  EXPECT_TRUE(has(pairs, "last", "dernier"));
  EXPECT_THAT(corpus.validation, SizeIs(5));
  EXPECT_THAT(corpus.test, SizeIs(5));
}

TEST_F(Files, NamesEveryUnusableLine) {
  using namespace std::string_literals;
  const std::string text = "good\tbon\n"s + "\n" + "no tab here\n" + "\tnothing before\n" + "nothing after\t \n" +
                           "bad \xFF byte\tx\n" + "overlong \xC0\xAF\tx\n" + "surrogate \xED\xA0\x80\tx\n" +
                           "nul \0 byte\tx\n"s + std::string(20000, 'a') + "\tx\n" + "good\tbon\n" + "one\tun\n" +
                           "two\tdeux\n" + "cut \xE2\x82\tx\n";
  const std::string path = write("hostile.tsv", text);
  const Corpus corpus = load_corpus(config_of(path));
  EXPECT_EQ(corpus.report.lines_read, 14);
  EXPECT_EQ(corpus.report.duplicates, 1);
  EXPECT_EQ(corpus.report.skipped, 10);
  std::map<std::int64_t, std::string> reasons;
  for (const SkippedLine& line : corpus.report.examples) {
    EXPECT_EQ(line.file, path);
    reasons[line.line] = line.reason;
  }
  EXPECT_EQ(reasons[2], "blank line");
  EXPECT_THAT(reasons[3], HasSubstr("no tab"));
  EXPECT_THAT(reasons[4], HasSubstr("source"));
  EXPECT_THAT(reasons[5], HasSubstr("target"));
  for (const int line : {6, 7, 8, 14}) EXPECT_THAT(reasons[line], HasSubstr("UTF-8")) << line;
  EXPECT_THAT(reasons[9], HasSubstr("null byte"));
  EXPECT_THAT(reasons[10], HasSubstr("longer than 10000 bytes"));
  EXPECT_THAT(reasons[11], HasSubstr("earlier"));
  EXPECT_THAT(all_pairs(corpus), SizeIs(3));
}

TEST_F(Files, NamesTwentyLinesAndCountsTheRest) {
  std::string text = "a\tb\n";
  for (int i = 0; i < 100; ++i) text += "no tab\n";
  const Corpus corpus = load_corpus(config_of(write("many.tsv", text)));
  EXPECT_EQ(corpus.report.skipped, 100);
  EXPECT_THAT(corpus.report.examples, SizeIs(20));
}

TEST_F(Files, KeepsTheTranslationsOfASentenceTogether) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    for (const char* way : {"a", "b", "c"})
      text += "source " + std::to_string(i) + "\t" + way + std::to_string(i) + "\n";
  }
  const Corpus corpus = load_corpus(config_of(write("several.tsv", text)));
  const auto train = sources(corpus.train);
  const auto validation = sources(corpus.validation);
  const auto test = sources(corpus.test);
  EXPECT_EQ(validation.size(), 20u);
  EXPECT_EQ(test.size(), 20u);
  EXPECT_EQ(train.size() + validation.size() + test.size(), 400u);
  EXPECT_EQ(sources(all_pairs(corpus)).size(), 400u);
  EXPECT_THAT(corpus.test, SizeIs(60));
}

TEST_F(Files, SplitsTheSmallestFiles) {
  const Corpus three = load_corpus(config_of(write("3.tsv", "a\t1\nb\t2\nc\t3\n")));
  EXPECT_THAT(three.train, SizeIs(1));
  EXPECT_THAT(three.validation, SizeIs(1));
  EXPECT_THAT(three.test, SizeIs(1));
  const Corpus one = load_corpus(config_of(write("1.tsv", "a\t1\n")));
  EXPECT_THAT(one.train, SizeIs(1));
  EXPECT_THAT(one.validation, SizeIs(0)) << "what was trained on is no test";
  EXPECT_THAT(one.test, SizeIs(0));
}

TEST_F(Files, ReadsParallelFiles) {
  const std::string en = write("a.en", "one\ntwo\n\nthree\nfour\tstill four\n");
  const std::string fr = write("a.fr", "un\r\ndeux\r\n\r\ntrois\r\nquatre\r\n");
  const Corpus corpus = load_corpus(config_of(en, fr));
  EXPECT_EQ(corpus.report.lines_read, 5);
  EXPECT_EQ(corpus.report.skipped, 1);
  EXPECT_TRUE(has(all_pairs(corpus), "three", "trois"));
  EXPECT_TRUE(has(all_pairs(corpus), "four\tstill four", "quatre"));
}

TEST_F(Files, RefusesParallelFilesOfDifferentLength) {
  const std::string en = write("a.en", "one\ntwo\nthree\n");
  const std::string fr = write("a.fr", "un\n");
  EXPECT_THAT(refusal(config_of(en, fr)), AllOf(HasSubstr(en + " has 3"), HasSubstr(fr + " has 1")));
  EXPECT_THAT(refusal(config_of(fr, en)), AllOf(HasSubstr(en + " has 3"), HasSubstr(fr + " has 1")));
}

TEST_F(Files, RefusesWhatCannotBeUsed) {
  EXPECT_THAT(refusal(config_of("no-such-corpus")), AllOf(HasSubstr("no-such-corpus"), HasSubstr("english-french")));
  EXPECT_THAT(refusal(config_of(folder_.string())), HasSubstr("directory"));
  EXPECT_THAT(refusal(config_of(write("empty.tsv", ""))), HasSubstr("empty"));
  EXPECT_THAT(refusal(config_of(write("useless.tsv", "one\ntwo\n"))), AllOf(HasSubstr("2 lines"), HasSubstr("no tab")));
  EXPECT_THAT(refusal(config_of(write("a.en", "one\n"), (folder_ / "missing.fr").string())), HasSubstr("missing.fr"));
  EXPECT_THAT(refusal(config_of("/dev/null")), HasSubstr("regular file"));
}

TEST_F(Files, ReportsProgressAndCanBeGivenUp) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "s" + std::to_string(i) + "\tt\n";
  const std::string path = write("long.tsv", text);
  std::vector<double> fractions;
  load_corpus(config_of(path), [&](double fraction) { fractions.push_back(fraction); });
  EXPECT_GE(fractions.size(), 5u);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1);
  struct GivenUp {};
  EXPECT_THROW(load_corpus(config_of(path), [](double) { throw GivenUp(); }), GivenUp);
}

TEST_F(Files, AnotherSeparatorStandsBetweenTheSides) {
  CorpusConfig config =
      config_of(write("dates.txt", "2/10/93    _1993-02-10\n16+75  _91  \nno bar\nsnake _a_b\textra\n  left  _ right  \n"));
  config.separator = "_";
  const Corpus corpus = load_corpus(config);
  const std::vector<Pair> pairs = all_pairs(corpus);
  EXPECT_TRUE(has(pairs, "2/10/93", "1993-02-10"));
  EXPECT_TRUE(has(pairs, "16+75", "91"));
  EXPECT_TRUE(has(pairs, "snake", "a_b"));
  EXPECT_TRUE(has(pairs, "left", "right")) << "without the blanks around them";
  ASSERT_THAT(corpus.report.examples, SizeIs(1));
  EXPECT_EQ(corpus.report.examples[0].reason, "no \"_\" between source and target");
}

TEST_F(Files, CommasFollowRfc4180) {
  const std::string csv =
      "\xEF\xBB\xBF" "english,french,notes\r\n\"The cat, really.\",\"Le \"\"chat\"\".\",x\r\n"
      "5\" of rain,Il pleut\r\n\"two\r\nlines\",deux lignes\r\nalone\r\nlast,fin\n\"open,a\n";
  for (const char* name : {"pairs.csv", "pairs.txt"}) {
    CorpusConfig config = config_of(write(name, csv));
    if (std::string_view(name) == "pairs.txt") config.separator = ",";
    const Corpus corpus = load_corpus(config);
    const std::vector<Pair> pairs = all_pairs(corpus);
    EXPECT_THAT(pairs, SizeIs(4)) << name;
    EXPECT_TRUE(has(pairs, "The cat, really.", "Le \"chat\"."));
    EXPECT_TRUE(has(pairs, "5\" of rain", "Il pleut"));
    EXPECT_TRUE(has(pairs, "two lines", "deux lignes"));
    EXPECT_TRUE(has(pairs, "last", "fin"));
    ASSERT_THAT(corpus.report.examples, SizeIs(3));
    EXPECT_EQ(corpus.report.examples[0].line, 1);
    EXPECT_THAT(corpus.report.examples[0].reason, HasSubstr("read as a header: english,french"));
    EXPECT_EQ(corpus.report.examples[1].line, 6);
    EXPECT_EQ(corpus.report.examples[1].reason, "no comma between source and target");
    EXPECT_EQ(corpus.report.examples[2].reason, "the quote that opens in line 8 is not closed");
    EXPECT_EQ(corpus.report.lines_read, 8);
    EXPECT_EQ(corpus.report.skipped, 3);
  }
  EXPECT_THAT(all_pairs(load_corpus(config_of(write("words.csv", "chat,cat\nchien,dog\nroi,king\n")))), SizeIs(3))
      << "no header";
}

TEST_F(Files, OtherFormatsAreNamedWithWhatHelps) {
  const std::string utf16("a\0b\0\t\0c\0d\0\n\0", 12);
  for (const auto& [bytes, help] : std::map<std::string, std::string>{
           {"\xFF\xFE" + utf16, "iconv -f UTF-16 "},
           {utf16, "iconv -f UTF-16LE"},
           {std::string("\x1F\x8B\x08\x00", 4), "gunzip -k"},
           {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n", "git lfs pull"}}) {
    const std::string path = write("other.tsv", bytes);
    for (const bool as_text : {false, true})
      EXPECT_THAT([&] { load_corpus(config_of(path), {}, as_text); },
                  ::testing::ThrowsMessage<CorpusError>(AllOf(HasSubstr(path), HasSubstr(help))));
  }
}

TEST_F(Files, AreReadInTheComposedForm) {
  // e + U+0301; U+00A0; U+202F; U+3000
  const std::string path = write("nfd.tsv", "cafe\xCC\x81\xC2\xA0!\tb\xE2\x80\xAF" "c\xE3\x80\x80" "d\n");
  CorpusConfig config = config_of(path);
  EXPECT_TRUE(has(all_pairs(load_corpus(config)), "caf\xC3\xA9 !", "b c d"));
  config.normalize = false;
  EXPECT_TRUE(has(all_pairs(load_corpus(config)), "cafe\xCC\x81\xC2\xA0!", "b\xE2\x80\xAF" "c\xE3\x80\x80" "d"));
}

TEST_F(Files, SmallLettersAreThoseOfEveryAlphabet) {
  CorpusConfig config = config_of(write("big.tsv", "ÄPFEL und Öl\tÉTÉ Σ Ж 123 ß\nb\tB\nB\tb\n"));
  config.lowercase = true;
  const Corpus corpus = load_corpus(config);
  const std::vector<Pair> pairs = all_pairs(corpus);
  EXPECT_TRUE(has(pairs, "äpfel und öl", "été σ ж 123 ß"));
  EXPECT_TRUE(has(pairs, "b", "b"));
  EXPECT_FALSE(has(pairs, "B", "b"));
  CorpusConfig text = config_of(write("big.txt", "ÀB\ncD\nEF\n"));
  text.lowercase = true;
  const Corpus read = load_corpus(text, {}, true);
  EXPECT_EQ(read.text.train + read.text.test, "àb\ncd\nef\n");
}

TEST_F(Files, AsMuchIsHeldOutAsIsAskedFor) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += std::to_string(i) + "\t" + std::to_string(i) + "\n";
  CorpusConfig config = config_of(write("thousand.tsv", lines));
  for (const auto& [percent, sources] : {std::pair{5.0, 50u}, {1.0, 10u}, {0.1, 1u}, {40.0, 400u}}) {
    config.held_out = percent;
    const Corpus corpus = load_corpus(config);
    EXPECT_THAT(corpus.validation, SizeIs(sources));
    EXPECT_THAT(corpus.test, SizeIs(sources));
    EXPECT_THAT(corpus.train, SizeIs(1000 - 2 * sources));
  }
}

TEST_F(Files, TheHashTellsContentAndSplitApart) {
  const std::string path = write("a.tsv", "a\t1\nb\t2\nc\t3\nd\t4\ne\t5\nf\t6\n");
  const std::string hash = load_corpus(config_of(path)).hash;
  EXPECT_EQ(load_corpus(config_of(path)).hash, hash);
  EXPECT_NE(load_corpus(config_of(write("b.tsv", "a\t1\nb\t2\nc\t3\nd\t4\ne\t5\nf\t7\n"))).hash, hash);
  std::set<std::string> hashes;
  for (std::int64_t seed = 1; seed <= 5; ++seed) hashes.insert(load_corpus({.source = path, .seed = seed}).hash);
  EXPECT_GT(hashes.size(), 1u);
}

// ---- running text

class TextFiles : public Files {
 protected:
  Corpus read(const std::string& content, std::int64_t seed = 1) {
    return load_corpus({.source = write("text.txt", content), .seed = seed}, {}, true);
  }
  std::string refusal_as_text(const std::string& source) {
    try {
      load_corpus(config_of(source), {}, true);
    } catch (const CorpusError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(TextFiles, AreSplitByCharacters) {
  const Corpus corpus = read("éa\nb\n🙂cdeéfgh🙂ij\n\nké\n");  // 21 characters: 18 and 3
  EXPECT_EQ(corpus.text.train, "éa\nb\n🙂cdeéfgh🙂ij\n\n");
  EXPECT_EQ(corpus.text.validation, "ké\n");
  EXPECT_EQ(corpus.text.test, corpus.text.validation);
  EXPECT_EQ(num_characters(corpus.text.train), 18);
  EXPECT_TRUE(all_pairs(corpus).empty());
  EXPECT_EQ(corpus.name, "text.txt");
}

// At every length, no character is split, lost or read twice.
TEST_F(TextFiles, LoseNothingAtTheCut) {
  std::string content;
  for (std::int64_t characters = 2; characters < 60; ++characters) {
    content = "é";
    for (std::int64_t i = 1; i < characters; ++i) content += i % 3 == 0 ? "漢" : "🙂";
    const Text text = read(content).text;
    EXPECT_EQ(text.train + text.validation, content);
    EXPECT_EQ(num_characters(text.train), characters * 9 / 10);
    EXPECT_NE(static_cast<unsigned char>(text.validation[0]) & 0xC0U, 0x80U);
  }
  EXPECT_EQ(read("é").text, (Text{"é", "", ""}));
}

TEST_F(TextFiles, AreKeptAsTheyStand) {
  const std::string content = "  indented\n\n\ntwice\ntwice\n\ttab\tand  spaces  \n \n\u2028x\nno end";
  const Corpus corpus = read(content);
  EXPECT_EQ(corpus.text.train + corpus.text.validation, content);
  EXPECT_EQ(corpus.report.lines_read, 9);
  EXPECT_EQ(corpus.report.skipped + corpus.report.duplicates, 0);
  const Corpus windows = read("\xEF\xBB\xBFone\r\n\r\ntwo\r\n");
  EXPECT_EQ(windows.text.train + windows.text.validation, "one\n\ntwo\n");
}

TEST_F(TextFiles, HaveLinesOfAnyLength) {
  const std::string content = std::string(200'000, 'a') + "\n" + std::string(70'000, 'b');
  const Corpus corpus = read(content);
  EXPECT_EQ(corpus.text.train + corpus.text.validation, content);
  EXPECT_EQ(corpus.report.skipped, 0);
}

TEST_F(TextFiles, AreReadWithoutTheLinesThatAreNoText) {
  using namespace std::string_literals;
  const Corpus corpus = read("good line\nbad \xFF\nnul \0\nsurrogate \xED\xA0\x80\n\nanother good line\n"s);
  EXPECT_EQ(corpus.text.train + corpus.text.validation, "good line\n\nanother good line\n");
  EXPECT_EQ(corpus.report.lines_read, 6);
  EXPECT_EQ(corpus.report.skipped, 3);
  ASSERT_THAT(corpus.report.examples, SizeIs(3));
  EXPECT_EQ(corpus.report.examples[0].line, 2);
  EXPECT_THAT(corpus.report.examples[0].reason, HasSubstr("UTF-8"));
  EXPECT_THAT(corpus.report.examples[1].reason, HasSubstr("null byte"));
  EXPECT_EQ(corpus.report.examples[2].line, 4);
}

TEST_F(TextFiles, AreRefusedWhenTheyAreNoText) {
  EXPECT_THAT(refusal_as_text(folder_.string()), HasSubstr("directory"));
  EXPECT_THAT(refusal_as_text((folder_ / "missing.txt").string()), HasSubstr("missing.txt: no such file"));
  EXPECT_THAT(refusal_as_text("/dev/null"), HasSubstr("regular file"));
  for (const char* blank : {"", "\n", " \t\r\n\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF\r\n"}) {
    EXPECT_THAT(refusal_as_text(write("blank.txt", blank)), HasSubstr("empty"));
  }
  std::string binary;
  Random random(1);
  while (binary.size() < 100'000) binary += static_cast<char>(random.below(256));
  EXPECT_THAT(refusal_as_text(write("picture.png", binary)), AllOf(HasSubstr("picture.png"), HasSubstr("not text")));
  EXPECT_THAT(refusal_as_text(write("null.txt", std::string("a\0\0\0\n\0\0\0", 8))),
              AllOf(HasSubstr("not text"), HasSubstr("line 1"), HasSubstr("null byte")));
}

TEST_F(TextFiles, AreRefusedWhenTheyAreTooLarge) {
  const std::string path = write("large.txt", "a");
  std::filesystem::resize_file(path, 10ULL << 30U);  // sparse: takes no room
  EXPECT_THAT(refusal_as_text(path), AllOf(HasSubstr("10737418240 bytes"), HasSubstr("1073741824 bytes")));
}

TEST_F(TextFiles, AreToldApartByTheirHash) {
  const std::string hash = read("some text\n").hash;
  EXPECT_EQ(read("some text\n").hash, hash);
  EXPECT_EQ(read("some text\n", 2).hash, hash);  // the split has no draw in it
  EXPECT_NE(read("some text").hash, hash);
  EXPECT_NE(read("some test\n").hash, hash);
}

TEST_F(TextFiles, AreReadFromTheSourceAlone) {
  const CorpusConfig config = config_of(write("text.txt", "source\tand tab\n"), "no such target");
  EXPECT_EQ(load_corpus(config, {}, true).text.train, "source\tand ta");
}

TEST(BuiltInText, IsALineAPair) {
  const Corpus pairs = load_corpus(config_of("dates"));
  const Corpus corpus = load_corpus(config_of("dates"), {}, true);
  EXPECT_TRUE(all_pairs(corpus).empty());
  const auto count = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  EXPECT_EQ(count(corpus.text.train), std::ssize(pairs.train));
  EXPECT_EQ(count(corpus.text.validation), std::ssize(pairs.validation));
  EXPECT_EQ(count(corpus.text.test), std::ssize(pairs.test));
  const Pair& last = pairs.test.back();
  EXPECT_TRUE(corpus.text.test.ends_with("\n" + last.source + " → " + last.target + "\n"));
  EXPECT_NE(corpus.hash, pairs.hash);
}

// Saved runs contain this hash; a different one would report that their corpus has changed.
TEST(EnglishFrench, KeepsItsHash) {
  EXPECT_EQ(english_french().hash, "8becf4f49ac07ded");
}

}  // namespace
}  // namespace attnscope
