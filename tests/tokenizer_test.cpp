#include "data/tokenizer/tokenizer.h"

// LibTorch is here for one reason: its protobuf must not meet SentencePiece's (tokenizer.cpp).
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <random>
#include <thread>

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> corpus = {
    "The animal didn't cross the street because it was too tired.",
    "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.",
    "Where is the station?",
    "Où est la gare\u202f?",
    "She bought 12 apples… for 3 euros!",
    "Elle a acheté 12 pommes… pour 3 euros\u00a0!",
};

std::vector<int> ids(const std::vector<Token>& tokens) {
  std::vector<int> result;
  for (const Token& token : tokens) result.push_back(token.id);
  return result;
}

TokenizerConfig config(const std::string& type, std::int64_t vocab_size) {
  return {.type = type, .vocab_size = vocab_size, .path = {}};
}

class EachType : public testing::TestWithParam<const char*> {
 protected:
  std::string train(const std::vector<std::string>& sentences, std::int64_t vocab_size = 2000) const {
    return Tokenizer::train(sentences, config(GetParam(), vocab_size));
  }
};
INSTANTIATE_TEST_SUITE_P(Tokenizer, EachType, testing::Values("bpe", "unigram"));

// Spaces in a row and at the ends, unknown characters and words, and the mark of a word's start in the text itself.
TEST(TextEncoder, GivesTheIdsOfWholeTexts) {
  std::mt19937 random(1);
  const std::vector<std::string> parts = {"The", "animal", " ", " ", "  ", "☃☃", "☃", "12", "\u2581x", "xyz", ".", "é"};
  for (const char* type : {"bpe", "word", "unigram", "char"}) {
    const Tokenizer tokenizer(Tokenizer::train(corpus, config(type, 200)));
    EXPECT_EQ(tokenizer.separates_words(Side::source), std::string_view(type) == "bpe") << type;
    TextEncoder encoder(tokenizer);
    std::vector<std::string> texts = corpus;
    for (int i = 0; i < 400; ++i) {
      std::string text;
      for (auto n = random() % 12; n > 0; --n) text += parts[random() % parts.size()];
      texts.push_back(text);
    }
    for (const std::string& text : texts) {
      std::vector<int> encoded = {7};
      encoder.append(text, Side::source, encoded);
      EXPECT_EQ(encoded.front(), 7);
      encoded.erase(encoded.begin());
      EXPECT_EQ(encoded, ids(tokenizer.encode(text))) << type << ": " << text;
    }
  }
}

// Counted words give the pieces that the sentences would, with which a tab among them is trained.
TEST(Tokenizer, IsTrainedOnCountedWordsAsOnSentences) {
  const auto pieces = [](const Tokenizer& tokenizer) {
    std::vector<std::string> all;
    for (int id = 0; id < tokenizer.vocab_size(); ++id) all.push_back(tokenizer.token(id));
    return all;
  };
  std::vector<std::string> sentences = corpus;
  for (int i = 0; i < 3; ++i) sentences.insert(sentences.end(), corpus.begin(), corpus.begin() + 3);
  std::vector<std::string> with_tab = sentences;
  with_tab.push_back("\t");
  for (const char* type : {"bpe", "word"})
    EXPECT_EQ(pieces(Tokenizer(Tokenizer::train(sentences, config(type, 120)))),
              pieces(Tokenizer(Tokenizer::train(with_tab, config(type, 120)))))
        << type;
}

TEST_P(EachType, GivesCorpusTextBackUnchanged) {
  const Tokenizer tokenizer(train(corpus));
  for (const std::string& sentence : corpus) {
    const std::vector<Token> tokens = tokenizer.encode(sentence);
    EXPECT_EQ(tokenizer.decode(ids(tokens)), sentence);
    for (const Token& token : tokens) {
      EXPECT_EQ(token.text, tokenizer.token(token.id));
      EXPECT_NE(token.id, Tokenizer::unk_id) << token.text << " in " << sentence;
    }
  }
}

TEST_P(EachType, TrainsTheSameModelFromTheSameSentences) {
  const std::string model = train(corpus);
  const std::string padding(12345, 'x');  // so that the heap is not laid out the same
  EXPECT_EQ(train(corpus), model);
}

TEST_P(EachType, KeepsToTheVocabularyAskedFor) {
  const Tokenizer tokenizer(train(corpus, 60));
  EXPECT_LE(tokenizer.vocab_size(), 60);
  EXPECT_GT(tokenizer.vocab_size(), 40);
}

TEST_P(EachType, NumbersTheSpecialPieces) {
  const Tokenizer tokenizer(train(corpus));
  EXPECT_EQ(tokenizer.token(Tokenizer::pad_id), "<pad>");
  EXPECT_EQ(tokenizer.token(Tokenizer::bos_id), "<s>");
  EXPECT_EQ(tokenizer.token(Tokenizer::eos_id), "</s>");
  EXPECT_EQ(tokenizer.token(Tokenizer::unk_id), "<unk>");
}

TEST_P(EachType, SurvivesItsOwnBytes) {
  const std::string model = train(corpus);
  const Tokenizer tokenizer(model);
  EXPECT_EQ(tokenizer.files().at("tokenizer.model"), model);
  EXPECT_EQ(Tokenizer(model).encode(corpus[0]), tokenizer.encode(corpus[0]));
}

// Merging nothing at all, or running out after exactly 100 merges, crashes SentencePiece 0.1.97 when it is not held
// back; so does a long word.
TEST_P(EachType, TrainsOnCorporaWithLittleToMerge) {
  EXPECT_EQ(Tokenizer(train({"123", "456", "789"})).encode("15").size(), 3u);
  EXPECT_GE(Tokenizer(train({"1"})).vocab_size(), 6);
  EXPECT_GE(Tokenizer(train({"a"})).vocab_size(), 6);
  EXPECT_GE(Tokenizer(train({"a b c", "hello world", "the cat sat"})).vocab_size(), 17);
  EXPECT_GE(Tokenizer(train({"one word", std::string(100'000, 'x'), std::string(29'999, 'y')})).vocab_size(), 5);
  for (const int words : {1, 2, 99, 100, 101}) {  // "▁一", "▁丁", …: one merge a word
    std::vector<std::string> sentences;
    for (int i = 0; i < words; ++i) {
      sentences.push_back({'\xe4', static_cast<char>(0xb8 + i / 64), static_cast<char>(0x80 + i % 64)});
    }
    const Tokenizer tokenizer(train(sentences));
    EXPECT_EQ(tokenizer.decode(ids(tokenizer.encode(sentences.back()))), sentences.back());
    if (GetParam() == std::string("bpe")) {
      EXPECT_EQ(tokenizer.vocab_size(), 4 + 1 + 2 * words);
    }
  }
}

TEST_P(EachType, TrainsOnRandomSmallCorpora) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> sentences(1 + random() % 20);
    const std::size_t letters = 1 + random() % 30;
    for (std::string& sentence : sentences) {
      sentence.assign(1, 'a');
      for (std::size_t i = random() % 40; i > 0; --i) {
        sentence += " abcdefghijklmnopqrstuvwxyz0123.,"[random() % letters];
      }
    }
    const auto vocab_size = static_cast<std::int64_t>(40 + random() % 300);
    const Tokenizer tokenizer(train(sentences, vocab_size));
    EXPECT_LE(tokenizer.vocab_size(), vocab_size);
  }
}

TEST_P(EachType, GivesEveryDigitItsPiece) {
  const Tokenizer tokenizer(train({"2024 2024 2024 2024", "2024 2024"}));
  EXPECT_EQ(tokenizer.encode("2024").size(), 5u);  // ▁ 2 0 2 4
}

TEST_P(EachType, SaysWhatAVocabularyTooSmallNeeds) {
  try {
    train({"abcdefghijklmnop"}, 16);
    FAIL() << "16 pieces cannot hold 17 characters";
  } catch (const TokenizerError& error) {
    EXPECT_THAT(error.what(), HasSubstr("vocab_size is 16"));
    EXPECT_THAT(error.what(), HasSubstr("at least 21"));
  }
  EXPECT_EQ(Tokenizer(train({"abcdefghijklmnop"}, 21)).vocab_size(), 21);
}

TEST_P(EachType, RefusesToTrainOnNothing) {
  EXPECT_THROW(train({}), TokenizerError);
  EXPECT_THROW(train({"", " ", "\n"}), TokenizerError);
}

TEST_P(EachType, TrainsOnHostileSentences) {
  using namespace std::string_literals;
  const Tokenizer tokenizer(
      train({"ab\0cd"s, "\xff\xfe\x80", "a\tb", "▁▁▅ x", "\ufeff", "ok then", "\U000F0000\U000F0001"}));
  EXPECT_EQ(tokenizer.decode(ids(tokenizer.encode("ok then"))), "ok then");
}

TEST_P(EachType, EncodesHostileText) {
  using namespace std::string_literals;
  const Tokenizer tokenizer(train(corpus));
  EXPECT_TRUE(tokenizer.encode("").empty());
  EXPECT_TRUE(tokenizer.encode("   ").empty());
  for (const std::string& text : {"a\0b"s, "\xff\xc3"s, "\xed\xa0\x80"s, "▁"s, "漢字"s, "<s></s><pad><unk>"s,
                                  std::string(1'000'000, 'a'), std::string(100'000, '\x80')}) {
    for (const Token& token : tokenizer.encode(text)) {
      ASSERT_GE(token.id, Tokenizer::unk_id);  // nobody can type a control piece
      ASSERT_LT(token.id, tokenizer.vocab_size());
    }
  }
}

Tokenizer char_tokenizer(const std::vector<std::string>& sentences, std::int64_t vocab_size = 2000) {
  return Tokenizer(Tokenizer::train(sentences, config("char", vocab_size)));
}

TEST(CharTokenizer, GivesEveryCharacterItsPiece) {
  const Tokenizer tokenizer = char_tokenizer({"abba", "c é漢"});
  EXPECT_EQ(tokenizer.vocab_size(), 4 + 6);  // a b c é 漢 and the space
  const std::vector<Token> tokens = tokenizer.encode("é ab");
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0].text, "é");
  EXPECT_EQ(tokens[1].text, "▁");
  EXPECT_EQ(tokens[2].text, "a");
  EXPECT_EQ(tokens[3].text, "b");
}

TEST(CharTokenizer, KeepsEverySpaceAndTab) {
  const std::vector<std::string> lines = {
      "  two before",  "two after  ", "a   b",       "   ",
      "\ttab\t\t in ", " \t ",        "nbsp\u00a0 ", "É\u0301 e\u0301 ﬁ １ 🙂"};
  const Tokenizer tokenizer = char_tokenizer(lines);
  for (const std::string& line : lines) EXPECT_EQ(tokenizer.decode(ids(tokenizer.encode(line))), line);
  EXPECT_EQ(tokenizer.encode("   ").size(), 3u);
  EXPECT_EQ(tokenizer.encode(" a ").size(), 3u);
  EXPECT_TRUE(tokenizer.encode("").empty());
  EXPECT_EQ(tokenizer.decode(ids(tokenizer.encode(" "))), " ");
}

TEST(CharTokenizer, HasAPieceForTabsWhereThereAreAny) {
  const Tokenizer tokenizer = char_tokenizer({"a\tb"});
  EXPECT_EQ(tokenizer.vocab_size(), 4 + 3);
  EXPECT_EQ(tokenizer.encode("\t\t").size(), 2u);
}

TEST(CharTokenizer, IsNotHeldToAVocabularySize) {
  EXPECT_EQ(char_tokenizer({"abcdefghijklmnop"}, 16).vocab_size(), 20);
  EXPECT_EQ(char_tokenizer({"ab"}, 64000).vocab_size(), 6);
}

TEST(CharTokenizer, MakesUnknownCharactersUnk) {
  const Tokenizer tokenizer = char_tokenizer({"ab"});
  EXPECT_THAT(ids(tokenizer.encode("zaz")),
              ElementsAre(Tokenizer::unk_id, tokenizer.encode("a")[0].id, Tokenizer::unk_id));
}

// More than the other types read: a sample would miss the rare character.
TEST(CharTokenizer, FindsARareCharacterInALargeText) {
  std::vector<std::string> lines(450'000, "a");
  lines[123'456] = "ß";
  EXPECT_EQ(char_tokenizer(lines).vocab_size(), 6);
}

TEST(WordTokenizer, GivesEveryWordOneTokenWhateverItsSize) {
  const std::string text = "12 + 7 = 19 , animal";
  const Tokenizer tokenizer(Tokenizer::train(std::vector{text, std::string("12 bc")}, config("word", 16)));
  EXPECT_EQ(tokenizer.vocab_size(), 4 + 8) << "the special tokens and every word, whatever the size asked for";
  EXPECT_EQ(tokenizer.encode(text).size(), 7U);
  std::vector<int> ids;
  for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
  EXPECT_EQ(tokenizer.decode(ids), text);
  EXPECT_EQ(tokenizer.encode("13").front().id, Tokenizer::unk_id) << "no other word";
}

TEST(Passages, AreTheTextInOrder) {
  EXPECT_THAT(passages(""), ElementsAre(""));
  EXPECT_THAT(passages("a b"), ElementsAre("a b"));
  const std::string limit(30'000, 'x');
  EXPECT_THAT(passages(limit), ElementsAre(limit));
  EXPECT_THAT(passages(limit + " y"), ElementsAre(limit, " y"));
  EXPECT_THAT(passages("word " + limit), ElementsAre("word", " " + limit.substr(1), "x"));
  EXPECT_THAT(passages(" " + limit), ElementsAre(" " + limit.substr(1), "x"));
}

TEST(Passages, AreCutBetweenCharacters) {
  for (const std::string shift : {"", "x", "xx", "xxx"}) {
    std::string text = shift;
    while (text.size() < 100'000) text += "🙂";
    std::string joined;
    for (const std::string_view passage : passages(text)) {
      EXPECT_LE(passage.size(), 30'000u);
      EXPECT_EQ((passage.size() - (joined.empty() ? shift.size() : 0)) % 4, 0u);
      joined += passage;
    }
    EXPECT_EQ(joined, text);
  }
}

TEST_P(EachType, CutsPassagesWhereThePiecesStayTheSame) {
  const Tokenizer tokenizer(train(corpus));
  std::string text;
  while (text.size() < 70'000) text += corpus[text.size() % corpus.size()] + " ";
  std::vector<int> joined;
  for (const std::string_view passage : passages(text)) {
    for (const int id : ids(tokenizer.encode(passage))) joined.push_back(id);
  }
  EXPECT_GT(passages(text).size(), 2u);
  EXPECT_EQ(joined, ids(tokenizer.encode(text)));
}

TEST_P(EachType, TrainsOnOneLongLine) {
  std::string text;
  while (text.size() < 100'000) text += corpus[text.size() % corpus.size()] + " ";
  const Tokenizer tokenizer(train({text}));
  EXPECT_EQ(tokenizer.decode(ids(tokenizer.encode(corpus[0]))), corpus[0]);
}

TEST(Tokenizer, ShowsTheTextAnUnkStandsFor) {
  const Tokenizer tokenizer(Tokenizer::train(corpus, config("bpe", 2000)));
  const std::vector<Token> tokens = tokenizer.encode("漢字");
  EXPECT_THAT(tokens.back(), (Token{Tokenizer::unk_id, "漢字", true}));
}

TEST(Tokenizer, SkipsSpecialPiecesWhenDecoding) {
  const Tokenizer tokenizer(Tokenizer::train(corpus, config("bpe", 2000)));
  std::vector<int> sequence = ids(tokenizer.encode(corpus[2]));
  sequence.insert(sequence.begin(), Tokenizer::bos_id);
  sequence.insert(sequence.end(), {Tokenizer::eos_id, Tokenizer::pad_id, Tokenizer::pad_id});
  EXPECT_EQ(tokenizer.decode(sequence), corpus[2]);
  EXPECT_EQ(tokenizer.decode(std::vector<int>{}), "");
}

TEST(Tokenizer, RefusesIdsOutsideTheVocabulary) {
  const Tokenizer tokenizer(Tokenizer::train(corpus, config("bpe", 2000)));
  EXPECT_THROW(tokenizer.decode(std::vector{-1}), TokenizerError);
  EXPECT_THROW(tokenizer.decode(std::vector{tokenizer.vocab_size()}), TokenizerError);
  EXPECT_THROW(tokenizer.token(-1), TokenizerError);
  EXPECT_THROW(tokenizer.token(tokenizer.vocab_size()), TokenizerError);
}

TEST(Tokenizer, RefusesWhatIsNoModel) {
  EXPECT_THROW(Tokenizer(""), TokenizerError);
  EXPECT_THROW(Tokenizer("garbage"), TokenizerError);
  EXPECT_THROW(Tokenizer(std::string(100'000, '\xff')), TokenizerError);
}

// A model cut short or damaged is refused, or is a model.
TEST(Tokenizer, SurvivesDamagedModels) {
  const std::string model = Tokenizer::train(corpus, config("unigram", 100));
  std::mt19937 random(3);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = model;
    if (round % 3 == 0) damaged.resize(random() % model.size());
    for (auto i = random() % 4; i > 0 && !damaged.empty(); --i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    try {
      const Tokenizer tokenizer(damaged);
      ++accepted;
      for (const Token& token : tokenizer.encode("The animal, 12 pommes")) {
        ASSERT_LT(token.id, tokenizer.vocab_size());
      }
    } catch (const TokenizerError&) {
    }
  }
  EXPECT_GT(accepted, 0);  // otherwise the damage never got past the door
}

TEST(Tokenizer, ServesSeveralThreads) {
  const Tokenizer tokenizer(Tokenizer::train(corpus, config("bpe", 2000)));
  const std::vector<Token> expected = tokenizer.encode(corpus[0]);
  std::vector<std::jthread> threads;
  std::vector<int> wrong(4);
  for (int& count : wrong) {
    threads.emplace_back([&tokenizer, &expected, &count] {
      for (int i = 0; i < 500; ++i) count += tokenizer.encode(corpus[0]) != expected;
    });
  }
  threads.clear();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

std::vector<std::string> texts(const std::vector<TextPart>& parts) {
  std::vector<std::string> found;
  for (const TextPart& part : parts) found.push_back((part.special ? "!" : "") + part.text);
  return found;
}

TEST(SplitAtSpecials, TakesTheEarliestAndOfThoseTheLongest) {
  const std::vector<std::string> specials = {"<a>", "<a>b", "<c>"};
  EXPECT_THAT(texts(split_at_specials("x <a> y<c>", specials, false)), ElementsAre("x ", "!<a>", " y", "!<c>"));
  EXPECT_THAT(texts(split_at_specials("x <a> y<c>", specials, true)), ElementsAre("x", "!<a>", "y", "!<c>"));
  EXPECT_THAT(texts(split_at_specials("<a>b<a>", specials, false)), ElementsAre("!<a>b", "!<a>"));
  EXPECT_THAT(texts(split_at_specials("<a>  <a>", specials, true)), ElementsAre("!<a>", "!<a>"));
  EXPECT_THAT(texts(split_at_specials(" plain ", specials, true)), ElementsAre(" plain "));
  EXPECT_TRUE(split_at_specials("", specials, true).empty());
}

TEST(Tokenizer, LivesBesideLibTorch) {
  const torch::Tensor product = torch::matmul(torch::ones({3, 4}), torch::ones({4, 2}));
  const Tokenizer tokenizer(Tokenizer::train(corpus, config("unigram", 2000)));
  EXPECT_EQ(tokenizer.decode(ids(tokenizer.encode(corpus[1]))), corpus[1]);
  EXPECT_EQ(product.sum().item<float>(), 24.0f);
  EXPECT_EQ(torch::matmul(product, product.t()).sum().item<float>(), 288.0f);
}

// ---- models that are not what they say

// A field of a protobuf message that holds bytes.
std::string field(int number, const std::string& bytes) {
  std::string result(1, static_cast<char>(number << 3 | 2));
  for (std::size_t size = bytes.size();; size >>= 7) {
    result += static_cast<char>((size & 0x7F) | (size > 0x7F ? 0x80 : 0));
    if (size <= 0x7F) break;
  }
  return result + bytes;
}

// The model with a table of how characters are rewritten that is nothing but noise: SentencePiece follows its links
// without looking where they lead. (A message's field that comes once more is added to what there was of it.)
std::string with_hostile_table(const std::string& model, unsigned seed) {
  std::mt19937 dice(seed);
  constexpr std::uint32_t size = 4096;
  std::string table{reinterpret_cast<const char*>(&size), sizeof size};
  while (table.size() < sizeof size + size) table += static_cast<char>(dice());
  return model + field(3, field(2, table + "rewritten"));
}

TEST(HostileModel, IsRefusedBeforeSentencePieceEndsOverIt) {
  const std::string whole = Tokenizer::train(corpus, config("unigram", 2000));
  int refused = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    try {
      const Tokenizer hostile(with_hostile_table(whole, seed));
      hostile.encode("The animal didn’t cross ﬁve streets: été ½ 東京 ㎏.");
    } catch (const TokenizerError& error) {
      ++refused;
      EXPECT_THAT(error.what(), HasSubstr("this SentencePiece model is damaged"));
    }
  }
  RecordProperty("refused", refused);
  EXPECT_GT(refused, 10);
}

TEST(DamagedModel, IsRefusedOrRead) {
  const std::string whole = Tokenizer::train(corpus, config("bpe", 2000));
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 dice(seed);
    std::string bytes = whole;
    for (unsigned i = 0; i <= dice() % 20; ++i) bytes[dice() % bytes.size()] = static_cast<char>(dice());
    if (seed % 3 == 0) bytes.resize(dice() % bytes.size());
    try {
      const Tokenizer model(bytes);
      EXPECT_NO_THROW(model.decode(ids(model.encode(corpus.front()))));
    } catch (const TokenizerError& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
}

}  // namespace
}  // namespace attnscope
