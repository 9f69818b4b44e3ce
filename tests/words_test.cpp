// The built-in corpus's knowledge of its words.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "data/corpus/words.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WordProperties, AreThoseOfTheGrammar) {
  const WordProperties queen{WordKind::noun, WordGender::feminine, WordNumber::singular};
  EXPECT_EQ(properties_of("queen"), queen);
  EXPECT_EQ(properties_of("reine"), queen);
  const WordProperties kings{WordKind::noun, WordGender::masculine, WordNumber::plural};
  EXPECT_EQ(properties_of("kings"), kings);
  EXPECT_EQ(properties_of("rois"), kings);
  EXPECT_EQ(properties_of("tired").kind, WordKind::adjective);
  EXPECT_EQ(properties_of("fatiguée").gender, WordGender::feminine);
  EXPECT_EQ(properties_of("large").gender, WordGender::unknown) << "one form for both";
  EXPECT_EQ(properties_of("regarde").kind, WordKind::verb);
  EXPECT_EQ(properties_of("qwerty"), WordProperties());
}

TEST(GenderPairs, HaveTheGendersTheySay) {
  for (const auto& [man, woman] : gender_pairs()) {
    EXPECT_EQ(properties_of(man).gender, WordGender::masculine) << man;
    EXPECT_EQ(properties_of(woman).gender, WordGender::feminine) << woman;
  }
  EXPECT_GE(gender_pairs().size() * (gender_pairs().size() - 1), 20U);
}

TEST(Senses, AreToldByTheTranslation) {
  EXPECT_THAT(senses_of("bank"), ElementsAre("banque", "rive"));
  EXPECT_EQ(sense_in("bank", {"I see the bank.", "Je vois la banque."}), 0);
  EXPECT_EQ(sense_in("bank", {"I see the bank.", "Je vois les rives du lac."}), 1);
  EXPECT_EQ(sense_in("bank", {"I see the bank.", "La rive et la banque."}), -1);
  EXPECT_EQ(sense_in("light", {"", "Un sac léger."}), 1);
  EXPECT_EQ(sense_in("match", {"", "Une allumette."}), 0);
  EXPECT_EQ(sense_in("apple", {"", "L'ordinateur Apple."}), 1);
  EXPECT_EQ(sense_in("it", {.source = "", .target = "Il est là.", .pronoun = "elle"}), 1);
  EXPECT_THAT(senses_of("table"), IsEmpty());
  EXPECT_EQ(sense_in("table", {"The table.", "La table."}), -1);
}

TEST(Senses, AllStandInTheCorpus) {
  const Corpus corpus = load_corpus({});
  std::map<std::string_view, std::map<int, int>> counts;
  for (const Pair& pair : corpus.train) {
    for (const std::string_view word : ambiguous_words()) {
      std::string source = " " + pair.source;
      std::ranges::transform(source, source.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (source.find(" " + std::string(word)) != std::string::npos || word == "it")
        ++counts[word][sense_in(word, pair)];
    }
  }
  for (const std::string_view word : ambiguous_words())
    for (std::size_t sense = 0; sense < senses_of(word).size(); ++sense)
      EXPECT_GE(counts[word][static_cast<int>(sense)], 5) << word << ": " << senses_of(word)[sense];
}

}  // namespace
}  // namespace attnscope
