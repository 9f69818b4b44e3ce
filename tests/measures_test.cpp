#include <gmock/gmock.h>

#include <cmath>

#include "metrics/attention_measures.h"

namespace attnscope {
namespace {

std::vector<Token> tokens(std::initializer_list<const char*> pieces) {
  std::vector<Token> list;
  for (const char* piece : pieces) list.push_back({static_cast<int>(list.size()), piece});
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

TEST(Words, ArePutTogetherFromTheirPieces) {
  EXPECT_EQ(texts(words_of(tokens({"▁The", "▁ani", "mal", "▁didn", "'", "t", ".", "</s>"}))),
            (std::vector<std::string>{"The", "animal", "didn", "'", "t", ".", "</s>"}));
  EXPECT_EQ(texts(words_of(tokens({"▁qu", "'", "el", "le", "▁", "é", "tait"}))),
            (std::vector<std::string>{"qu", "'", "elle", "était"}));
  EXPECT_TRUE(words_of({}).empty());
}

TEST(Words, TheStrongestIsJudgedByTheSumOfItsPieces) {
  const auto words = words_of(tokens({"▁a", "▁ani", "mal"}));
  EXPECT_EQ(strongest_word(matrix(1, 3, {.4F, .3F, .3F}), 0, words), 1);
  EXPECT_EQ(strongest_word(matrix(1, 3, {.7F, .1F, .2F}), 0, words), 0);
}

// "The cat saw it." → "Il" with one head a map; each view's row points where the test says.
Snapshot looking_at(int encoder_key, int writing_key, int reading_key) {
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
  EXPECT_EQ(found(find_antecedent(looking_at(1, 3, 3), "cat")), (std::vector{true, false, false}));
  EXPECT_EQ(found(find_antecedent(looking_at(3, 1, 3), "cat")), (std::vector{false, true, false}));
  EXPECT_EQ(found(find_antecedent(looking_at(3, 3, 1), "Cat")), (std::vector{false, false, true}));
  EXPECT_TRUE(find_antecedent(looking_at(1, 1, 1), "dog").empty());
  Snapshot silent = looking_at(1, 1, 1);
  silent.source[3].piece = "▁me";
  EXPECT_TRUE(find_antecedent(silent, "cat").empty());
}

}  // namespace
}  // namespace attnscope
