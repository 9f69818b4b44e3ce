// Words that training has not seen, and what they may have been meant to be.
#include "inspect/evaluation/seen_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "analysis/attention_measures.h"
#include "common/edit_distance.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Cut at every character, as a vocabulary of few pieces does.
std::vector<Token> tokens_of_text(std::string_view text) {
  std::vector<Token> tokens;
  bool begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t size = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    if (text[at] == ' ') {
      begins = true;
    } else {
      tokens.push_back({0, (begins ? "▁" : "") + std::string(text.substr(at, size)), false});
      begins = false;
    }
    at += size;
  }
  tokens.push_back({1, "</s>", false});
  return tokens;
}

Corpus corpus_of(std::initializer_list<const char*> sources) {
  Corpus corpus;
  for (const char* source : sources) corpus.train.push_back({source, "word"});
  return corpus;
}

const Corpus animals = corpus_of({"The animal didn't cross the street.", "The street is wide, the animal is tired.",
                                  "a week-end at the strait", "l’été où"});

std::vector<std::string> texts(const std::vector<UnseenWord>& words) {
  std::vector<std::string> found;
  for (const UnseenWord& word : words) found.push_back(word.text);
  return found;
}

TEST(SeenWords, AreThoseOfTheTrainingPart) {
  Corpus corpus = animals;
  corpus.test.push_back({"elephant", "word"});
  const SeenWords seen(corpus, {});
  EXPECT_THAT(seen.unseen_in(tokens_of_text("The animal didn't cross the street, \"tired\": the week-end.")),
              IsEmpty());
  const auto unseen = seen.unseen_in(tokens_of_text("The elephant is tired."));
  ASSERT_EQ(texts(unseen), std::vector<std::string>{"elephant"});
  EXPECT_EQ(unseen[0].begin, 3) << "▁T h e";
  EXPECT_EQ(unseen[0].end, 11);
  EXPECT_THAT(unseen[0].nearest, UnorderedElementsAre("animal", "street")) << "The … is";
  EXPECT_EQ(seen.size(), 15);
  EXPECT_THAT(texts(seen.unseen_in(tokens_of_text("the"))), IsEmpty());
  EXPECT_THAT(texts(seen.unseen_in(tokens_of_text("Street word"))), ElementsAre("Street", "word"))
      << "the target side is another language's";
}

TEST(SeenWords, TheNearestComesFirstAndTheMoreFrequentOfTwo) {
  const SeenWords seen(animals, {});
  EXPECT_THAT(seen.unseen_in(tokens_of_text("the streat"))[0].nearest, ElementsAre("street", "strait"));
  EXPECT_THAT(seen.unseen_in(tokens_of_text("Animal"))[0].nearest, ElementsAre("animal"));
  EXPECT_THAT(seen.unseen_in(tokens_of_text("the Animal"))[0].nearest, ElementsAre("animal"));
  EXPECT_THAT(seen.unseen_in(tokens_of_text("is tierd"))[0].nearest, ElementsAre("tired"));
  EXPECT_THAT(seen.unseen_in(tokens_of_text("x"))[0].nearest, IsEmpty()) << "anything is one letter from it";
}

TEST(SeenWords, WhatOnlyBeginsSentencesIsOfferedThereAlone) {
  const SeenWords seen(corpus_of({"Did the dog run?", "the dog ran"}), {});
  EXPECT_THAT(seen.unseen_in(tokens_of_text("did the dog"))[0].nearest, ElementsAre("Did"));
  EXPECT_THAT(seen.unseen_in(tokens_of_text("the dog did"))[0].nearest, UnorderedElementsAre("ran", "run"));
  const SeenWords cities(corpus_of({"Paris is far", "they saw Paris"}), {});
  EXPECT_THAT(cities.unseen_in(tokens_of_text("they saw paris"))[0].nearest, ElementsAre("Paris"));
}

TEST(SeenWords, ASuggestionFitsThePlace) {
  const SeenWords seen(corpus_of({"the hen sleeps", "Then the dog sleeps", "Now the dog sleeps", "Now the hen ran"}),
                       {});
  EXPECT_THAT(seen.unseen_in(tokens_of_text("When the dog sleeps"))[0].nearest, ElementsAre("Then"))
      << "not hen, which begins no sentence";
  EXPECT_THAT(seen.unseen_in(tokens_of_text("Yesterday the dog sleeps"))[0].nearest, ElementsAre("Now", "Then"))
      << "no spelling is similar: the most frequent that fit";
  EXPECT_THAT(seen.unseen_in(tokens_of_text("Now the qwertyu"))[0].nearest, IsEmpty()) << "nothing ends so";
}

TEST(SeenWords, OfAShortWordOnlyItsOwnLettersAreMeant) {
  const SeenWords seen(corpus_of({"the dog hid a pot"}), {});
  EXPECT_THAT(seen.unseen_in(tokens_of_text("teh"))[0].nearest, ElementsAre("the"));
  EXPECT_THAT(seen.unseen_in(tokens_of_text("the Dog"))[0].nearest, ElementsAre("dog"));
  EXPECT_THAT(seen.unseen_in(tokens_of_text("the dog did"))[0].nearest, IsEmpty());
}

TEST(SeenWords, OfRunningText) {
  Corpus corpus;
  corpus.text.train = "To be,\nor not to\n";
  corpus.text.test = "question\n";
  EXPECT_THAT(texts(SeenWords(corpus, {}).unseen_in(tokens_of_text("not to question"))), ElementsAre("question"));
}

TEST(SeenWords, NothingIsClaimedOfWhatIsNotKnown) {
  const SeenWords seen(animals, {});
  EXPECT_THAT(seen.unseen_in(tokens_of_text("東京 ภาษา .,!? — 😀")), IsEmpty());
  EXPECT_THAT(texts(seen.unseen_in(tokens_of_text("улица việt"))), ElementsAre("улица", "việt"));
  Corpus large;
  large.text.train.assign(40U << 20, 'a');
  EXPECT_THAT(SeenWords(large, {}).unseen_in(tokens_of_text("street")), IsEmpty());
  EXPECT_THAT(SeenWords(Corpus(), {}).unseen_in(tokens_of_text("street")), IsEmpty());
}

TEST(SeenWords, GivesUpWhenToldTo) {
  Corpus corpus;
  for (int i = 0; i < 10'000; ++i) corpus.text.train += "a line of words\n";
  EXPECT_THROW(SeenWords(corpus, [] { throw std::runtime_error("enough"); }), std::runtime_error);
}

// ---- what it stands on

TEST(SpacedWords, AreTheSameInATextAndInItsPieces) {
  constexpr std::array parts = {"a", "é", "don", "'", "’", "-", " ", ".", ",", "«", "ß9", "…", "\"", "東", "  "};
  std::mt19937 dice(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (int part = 0; part < 8; ++part) text += parts[dice() % parts.size()];
    std::vector<std::string> in_tokens;
    for (const WordSpan& span : spaced_words_of(tokens_of_text(text)))
      if (spaced_words_in(span.text).size() == 1 && span.text != "</s>") in_tokens.push_back(span.text);
    std::vector<std::string> in_text;
    for (const std::string_view word : spaced_words_in(text)) in_text.emplace_back(word);
    ASSERT_EQ(in_tokens, in_text) << text;
  }
}

TEST(SpacedWords, AreReplacedWhole) {
  EXPECT_EQ(with_word_replaced("wide, widely, \"wide\" a-wide", "wide", "tired"), "tired, widely, \"tired\" a-wide");
  EXPECT_EQ(with_word_replaced("été", "été", "x"), "x");
  EXPECT_EQ(with_word_replaced("", "a", "b"), "");
}

TEST(EditDistance, KnownAnswers) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ca", "ac"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U) << "no place is changed twice";
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
}

}  // namespace
}  // namespace attnscope
