// Measures of attention and of translations.
#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

#include "analysis/attention_measures.h"
#include "analysis/bleu.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Token> tokens(std::initializer_list<const char*> tokens) {
  std::vector<Token> list;
  for (const char* token : tokens) list.push_back({static_cast<int>(list.size()), token});
  return list;
}

std::vector<std::string> texts(const std::vector<WordSpan>& words) {
  std::vector<std::string> list;
  for (const WordSpan& word : words) list.push_back(word.text);
  return list;
}

Matrix matrix(int rows, int cols, std::vector<float> values) {
  Matrix made(rows, cols);
  made.values = std::move(values);
  return made;
}

TEST(Entropy, IsZeroForOneKeyAndLogarithmForAllAlike) {
  const auto entropies = row_entropies(matrix(2, 4, {0, 1, 0, 0, .25F, .25F, .25F, .25F}));
  EXPECT_NEAR(entropies[0], 0, 1e-6);
  EXPECT_NEAR(entropies[1], std::log(4.0), 1e-6);
  EXPECT_NEAR(mean_entropy(matrix(2, 4, {0, 1, 0, 0, .25F, .25F, .25F, .25F})), std::log(4.0) / 2, 1e-6);
  EXPECT_EQ(mean_entropy({}), 0);
}

TEST(MapMeasures, HaveKnownAnswers) {
  const MapMeasures sharp = measures_of(matrix(2, 2, {1, 0, 1, 0}), false);
  EXPECT_EQ(sharp.entropy, 0);
  EXPECT_NEAR(sharp.most_entropy, std::log(2.0), 1e-6);
  EXPECT_FLOAT_EQ(sharp.distance, 0.5F);
  EXPECT_FLOAT_EQ(sharp.largest, 1);
  EXPECT_FALSE(near_uniform(sharp));
  EXPECT_TRUE(near_uniform(measures_of(matrix(1, 4, {.25F, .25F, .25F, .25F}), false)));
  EXPECT_EQ(measures_of({}, true).most_entropy, 0);
}

TEST(MapMeasures, ACausalHeadIsComparedWithTheKeysItSees) {
  const Matrix even = matrix(3, 3, {1, 0, 0, .5F, .5F, 0, 1 / 3.0F, 1 / 3.0F, 1 / 3.0F});
  const MapMeasures measures = measures_of(even, true);
  EXPECT_NEAR(measures.most_entropy, (std::log(2.0) + std::log(3.0)) / 3, 1e-6);
  EXPECT_NEAR(measures.entropy, measures.most_entropy, 1e-6);
  EXPECT_TRUE(near_uniform(measures));
  EXPECT_FALSE(near_uniform(measures_of(even, false)));
  EXPECT_FALSE(near_uniform(measures_of(matrix(1, 1, {1}), true)));  // one key: no choice
}

TEST(Received, IsTheMeanOverTheQueriesThatSeeTheKey) {
  const Matrix map = matrix(2, 2, {1, 0, .5F, .5F});
  EXPECT_THAT(received(map, false), ElementsAre(.75F, .25F));
  EXPECT_THAT(received(map, true), ElementsAre(.75F, .5F));
  EXPECT_TRUE(received({}, true).empty());
}

TEST(Words, AreNotJoinedAcrossSignsOfOtherBlocks) {
  EXPECT_EQ(texts(words_of(tokens({"▁hey", "⏎", "You", "’", "re", "▁19", "84", "»"}))),
            (std::vector<std::string>{"hey", "⏎", "You", "’", "re", "1984", "»"}));
}

TEST(Words, ArePutTogetherFromTheirPieces) {
  EXPECT_EQ(texts(words_of(tokens({"▁The", "▁ani", "mal", "▁didn", "'", "t", ".", "</s>"}))),
            (std::vector<std::string>{"The", "animal", "didn", "'", "t", ".", "</s>"}));
  EXPECT_EQ(texts(words_of(tokens({"▁qu", "'", "el", "le", "▁", "é", "tait"}))),
            (std::vector<std::string>{"qu", "'", "elle", "était"}));
  EXPECT_TRUE(words_of({}).empty());
}

TEST(Words, BetweenSpacesKeepTheirApostrophesAndNotTheirPunctuation) {
  EXPECT_EQ(texts(spaced_words_of(tokens({"▁did", "n", "'", "t", "▁qu", "’", "el", "le", "▁tired", ".", "</s>"}))),
            (std::vector<std::string>{"didn't", "qu’elle", "tired", ".", "</s>"}));
  EXPECT_EQ(texts(spaced_words_of(tokens({"▁d", "'", "a", "-", "t", "'", "▁b", "▁'", "c", "'"}))),
            (std::vector<std::string>{"d'a-t", "'", "b", "'", "c", "'"}));
  const auto words = spaced_words_of(tokens({"<s>", "▁did", "n", "'", "t"}));
  EXPECT_EQ(words.back().begin, 1);
  EXPECT_EQ(words.back().end, 5);
  EXPECT_TRUE(spaced_words_of({}).empty());
}

TEST(Words, TheStrongestIsJudgedByTheSumOfItsPieces) {
  const auto words = words_of(tokens({"▁a", "▁ani", "mal"}));
  EXPECT_EQ(strongest_word(matrix(1, 3, {.4F, .3F, .3F}), 0, words), 1);
  EXPECT_EQ(strongest_word(matrix(1, 3, {.7F, .1F, .2F}), 0, words), 0);
}

// "The cat saw it." → "Il" with one head a map; each view's row points where the test says.
Snapshot shown_sentence(int encoder_key, int writing_key, int reading_key) {
  Snapshot snapshot;
  snapshot.source = tokens({"▁The", "▁cat", "▁saw", "▁it", "</s>"});
  snapshot.target_in = tokens({"<s>", "▁Il", "▁va"});
  snapshot.target_out = tokens({"▁Il", "▁va", "</s>"});
  Matrix encoder(5, 5), cross(3, 5);
  encoder.at(3, encoder_key) = 1;
  cross.at(0, writing_key) = 1;
  cross.at(1, reading_key) = 1;
  snapshot.encoder = {{encoder}};
  snapshot.cross = {{cross}};
  return snapshot;
}

TEST(Antecedent, IsLookedForFromItAndFromThePronoun) {
  const auto found = [](const std::vector<HeadFinding>& findings) {
    std::vector<bool> list;
    for (const HeadFinding& finding : findings) list.push_back(finding.found);
    return list;
  };
  EXPECT_EQ(found(find_antecedent(shown_sentence(1, 3, 3), "cat")), (std::vector{true, false, false}));
  EXPECT_EQ(found(find_antecedent(shown_sentence(3, 1, 3), "cat")), (std::vector{false, true, false}));
  EXPECT_EQ(found(find_antecedent(shown_sentence(3, 3, 1), "Cat")), (std::vector{false, false, true}));
  EXPECT_TRUE(find_antecedent(shown_sentence(1, 1, 1), "dog").empty());
  Snapshot silent = shown_sentence(1, 1, 1);
  silent.source[3].text = "▁me";
  EXPECT_TRUE(find_antecedent(silent, "cat").empty());
}

// "She ran as the cat saw it, and he sat" → "Elle va il il": the second of three is the one for "it".
TEST(Antecedent, IsLookedForFromThePronounThatStandsForIt) {
  Snapshot snapshot;
  snapshot.source = tokens({"▁She", "▁as", "▁cat", "▁saw", "▁it", ",", "▁he", "▁sat", "</s>"});
  snapshot.target_in = tokens({"<s>", "▁Elle", "▁va", "▁il", "▁il"});
  snapshot.target_out = tokens({"▁Elle", "▁va", "▁il", "▁il", "</s>"});
  Matrix cross(5, 9);
  cross.at(2, 2) = cross.at(3, 2) = 1;
  snapshot.cross = {{cross}};
  EXPECT_THAT(find_antecedent(snapshot, "cat"), testing::Each(testing::Field(&HeadFinding::found, true)));
  EXPECT_THAT(find_antecedent(snapshot, "cat"), testing::SizeIs(2));
  snapshot.target_out = tokens({"▁Elle", "▁va", "</s>"});
  EXPECT_THAT(find_antecedent(snapshot, "cat"), testing::IsEmpty()) << "nothing was written for it";
}

// ---- BLEU

using Texts = std::vector<std::string>;

const Texts hypotheses = {"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."};
const std::vector<Texts> references = {
    {"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
    {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};

TEST(Bleu, AgreesWithSacrebleu) {
  EXPECT_NEAR(bleu(hypotheses, references), 48.530827, 5e-7);
}

TEST(Bleu, ScoresStatisticsAsSacrebleuDoes) {
  EXPECT_NEAR(bleu({{9, 7, 5, 3}, {10, 8, 6, 4}, 11, 11}), 83.75922397, 5e-9);
}

TEST(Bleu, IdenticalIsAHundredAndAnyOtherIsLess) {
  EXPECT_DOUBLE_EQ(bleu(hypotheses, std::vector<Texts>{hypotheses}), 100);
  EXPECT_LT(bleu(Texts{"the dog bit the man."}, std::vector<Texts>{{"The dog bit the man."}}), 100);  // case counts
}

TEST(Bleu, ShortHypothesesPayTheBrevityPenalty) {
  const double score = bleu(Texts{"one two three four"}, std::vector<Texts>{{"one two three four five six"}});
  EXPECT_NEAR(score, 100 * std::exp(1 - 6.0 / 4), 1e-9);
}

TEST(Bleu, ZeroPrecisionsAreSmoothedExponentially) {
  // 1-grams 4/5, 2-grams 2/4, 3-grams 0/3 → 1/2·3, 4-grams 0/2 → 1/4·2
  const Texts hypothesis = {"a b x c d"};
  const std::vector<Texts> reference = {{"a b y c d"}};
  EXPECT_EQ(bleu_statistics(hypothesis, reference), (BleuStatistics{{4, 2, 0, 0}, {5, 4, 3, 2}, 5, 5}));
  EXPECT_NEAR(bleu(hypothesis, reference), 100 * std::pow(4.0 / 5 * 2 / 4 * 1 / 6 * 1 / 8, 0.25), 1e-9);
}

TEST(Bleu, NothingInCommonOrNothingSaidIsZero) {
  EXPECT_EQ(bleu(Texts{"a b c d"}, std::vector<Texts>{{"e f g h"}}), 0);
  EXPECT_EQ(bleu(Texts{""}, std::vector<Texts>{{"e f g h"}}), 0);
  EXPECT_EQ(bleu(Texts{"a b"}, std::vector<Texts>{{"a b"}}), 0);  // no n-grams of 3 and 4 words, as sacrebleu
  EXPECT_EQ(bleu(Texts{}, std::vector<Texts>{{}}), 0);
}

TEST(Bleu, CountsAreClippedAndTheClosestReferenceCounts) {
  const Texts hypothesis = {"the the the the"};
  EXPECT_EQ(bleu_statistics(hypothesis, std::vector<Texts>{{"the cat the"}, {"the cat is on it"}}),
            (BleuStatistics{{2, 0, 0, 0}, {4, 3, 2, 1}, 4, 3}));  // 3 and 5 words are as close: the shorter
}

TEST(Bleu, RefusesStreamsOfAnotherLength) {
  EXPECT_THROW(bleu(hypotheses, std::vector<Texts>{{"one"}}), std::invalid_argument);
  EXPECT_THROW(bleu(hypotheses, std::vector<Texts>{}), std::invalid_argument);
}

TEST(Bleu, TokenizesAs13a) {
  EXPECT_THAT(tokenize_13a("L'animal, \"fatigué\" (3.5 kg)."),
              ElementsAre("L'animal", ",", "\"", "fatigué", "\"", "(", "3.5", "kg", ")", "."));
  EXPECT_THAT(tokenize_13a("1,000.5 a,b 2-3 a-b 5. ..."),
              ElementsAre("1,000.5", "a", ",", "b", "2", "-", "3", "a-b", "5", ".", ".", ".", "."));
  EXPECT_THAT(tokenize_13a("a &amp;lt; b &quot;c&quot;"), ElementsAre("a", "<", "b", "\"", "c", "\""));
  EXPECT_THAT(tokenize_13a("a &gt; b"), ElementsAre("a", ">", "b"));
  EXPECT_THAT(tokenize_13a("<skipped>hyphen-\nated line\nbreak-\n"), ElementsAre("hyphenated", "line", "break-"));
  EXPECT_THAT(tokenize_13a("a\u00a0b\u202fc\u3000d\u2009e\u2028f\u0085g\u1680h\u205fi\u200bj"),
              ElementsAre("a", "b", "c", "d", "e", "f", "g", "h", "i\u200bj"));  // U+200B is no white space
  EXPECT_THAT(tokenize_13a(" \t\u00a0"), IsEmpty());
}

TEST(Bleu, TokenizesPunctuationByWhatStandsBesideIt) {
  EXPECT_THAT(tokenize_13a(".5 5. 1.a a.1 U.S."),
              ElementsAre(".", "5", "5", ".", "1", ".", "a", "a", ".", "1", "U", ".", "S", "."));
  EXPECT_THAT(tokenize_13a("-3 x-3 3-x 1,2,3 1,,2"),
              ElementsAre("-3", "x-3", "3", "-", "x", "1,2,3", "1", ",", ",", "2"));
  EXPECT_THAT(tokenize_13a("$5 50% a/b a_b don't «été.» é,è"),
              ElementsAre("$", "5", "50", "%", "a", "/", "b", "a", "_", "b", "don't", "«été", ".", "»", "é", ",", "è"));
  EXPECT_THAT(tokenize_13a("&amp;quot; &apos;"),
              ElementsAre("&", "quot", ";", "&", "apos", ";"));  // once, and in order
}

}  // namespace
}  // namespace attnscope
