// Promises about the shipped run, measured on every held-out pronoun pair of its corpus.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "commands/paths.h"
#include "engine/torch_engine.h"
#include "inspect/attribution/attribution.h"
#include "inspect/circuit/contrast_runs.h"
#include "inspect/circuit/search.h"
#include "inspect/evaluation/evaluation.h"
#include "messages/metrics.h"
#include "messages/senses.h"

namespace attnscope {
namespace {

// Other tests run at the same time: threads that spin for a core would make this many times slower.
RunOpened open_with_one_thread(TorchEngine& engine) {
  RunOpened opened = engine.open_run(shipped_run().string(), {});
  at::set_num_threads(1);
  return opened;
}

class ShippedRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    engine = std::make_unique<TorchEngine>();
    opened = open_with_one_thread(*engine);
    for (const Pair& pair : engine->corpus()->test) {
      if (!pair.pronoun.empty()) pronoun_pairs.push_back(pair);
    }
  }
  static void TearDownTestSuite() { engine.reset(); }

  static inline std::unique_ptr<TorchEngine> engine;
  static inline RunOpened opened;
  static inline std::vector<Pair> pronoun_pairs;
};

TEST_F(ShippedRun, IsSmallWholeAndOfTheCorpusAsItIsNow) {
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(shipped_run()))
    if (file.is_regular_file()) bytes += file.file_size();
  EXPECT_LE(bytes, 36U << 20U);
  EXPECT_THAT(opened.warnings, testing::IsEmpty());
  EXPECT_GT(opened.metrics.size(), 1000U) << "the curves of its training come with it";
  EXPECT_GT(pronoun_pairs.size(), 1000U);
}

// A pair is right only if all its pronouns are.
TEST_F(ShippedRun, PronounsAreJudgedTogether) {
  const std::string source = "The animal didn't cross the street because it was too wide, and she was tired.";
  const auto written = [&] {
    const Evaluation found = evaluate_pairs(engine->model(), engine->tokenizer(),
                                            std::vector<Pair>{{source, "elle elle", "", "", "elle"}}, 1, {});
    return found.pronoun_right;
  };
  ASSERT_EQ(written(), 1) << "the run translates both";
  for (const char* target : {"il elle", "elle il", "elle", "elle elle il"}) {
    const Evaluation found = evaluate_pairs(engine->model(), engine->tokenizer(),
                                            std::vector<Pair>{{source, target, "", "", "elle"}}, 1, {});
    EXPECT_EQ(found.pronoun_pairs, 1);
    EXPECT_EQ(found.pronoun_right, 0) << target;
  }
}

// The corpus has one sense of most words more often: a separation over unequal groups would be that of the larger one.
TEST_F(ShippedRun, SensesAreOfEqualNumber) {
  for (const char* word : {"it", "bank", "light", "spring"}) {
    const auto seen = engine->senses(word, {});
    ASSERT_EQ(seen->problem, "") << word;
    std::vector<int> counts(seen->groups.size());
    for (const Occurrence& occurrence : seen->occurrences) ++counts.at(static_cast<std::size_t>(occurrence.group));
    EXPECT_GT(counts.front(), 10) << word;
    EXPECT_THAT(counts, testing::Each(counts.front())) << word;
  }
}

TEST_F(ShippedRun, TranslatesTheSentencesItIsKnownFor) {
  const std::vector<Pair> famous = {
      {"The animal didn't cross the street because it was too tired.",
       "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.", "", "", "il"},
      {"The animal didn't cross the street because it was too wide.",
       "L'animal n'a pas traversé la rue parce qu'elle était trop large.", "", "", "elle"}};
  EXPECT_EQ(evaluate_pairs(engine->model(), engine->tokenizer(), famous, 1, {}).exact, 2);
}

// Not the words of a sentence tell what is said of "it", but the one that is.
TEST_F(ShippedRun, IsNotMisledByWhatIsSaidOfTheOtherThing) {
  const std::vector<Pair> misleading = {
      {"The tired animal didn't cross the street because it was too wide.",
       "L'animal fatigué n'a pas traversé la rue parce qu'elle était trop large.", "", "", "elle"},
      {"The animal didn't cross the wide street because it was too tired.",
       "L'animal n'a pas traversé la rue large parce qu'il était trop fatigué.", "", "", "il"}};
  EXPECT_EQ(evaluate_pairs(engine->model(), engine->tokenizer(), misleading, 1, {}).exact, 2);
}

TEST_F(ShippedRun, AnswersForItsLastWordUnlessAskedForAnother) {
  const std::string sentence = "The animal didn't cross the street because it was too tired.";
  const auto asked_of = [&](int output) {
    const AttributionResult inspection =
        inspect_attribution(engine->model(), engine->tokenizer(), {sentence, output}, [](double) {});
    return std::string(without_mark(inspection.written.at(static_cast<std::size_t>(inspection.output))));
  };
  EXPECT_EQ(asked_of(-1), "fatigué") << "neither the full stop nor the end";
  EXPECT_EQ(asked_of(1), "'");
}

TEST_F(ShippedRun, FindsTheGenderOfItInHeldOutPairs) {
  const Evaluation result = evaluate_pairs(engine->model(), engine->tokenizer(), pronoun_pairs, 1, {});
  ASSERT_EQ(result.pronoun_pairs, static_cast<std::int64_t>(pronoun_pairs.size()));
  const auto pairs = static_cast<double>(result.pronoun_pairs);

  EXPECT_GE(static_cast<double>(result.pronoun_right) / pairs, 0.97);
  EXPECT_GE(static_cast<double>(result.pronoun_exact) / pairs, 0.90);
}

TEST_F(ShippedRun, SomeHeadLooksFromThePronounAtItsAntecedent) {
  const auto scores = score_antecedents(engine->model(), engine->tokenizer(), pronoun_pairs, {});
  ASSERT_FALSE(scores.empty());
  EXPECT_GE(static_cast<double>(scores.front().pairs), 0.99 * static_cast<double>(pronoun_pairs.size()));
  EXPECT_GE(scores.front().share(), 0.80)
      << describe(scores.front().view) << ", layer " << scores.front().layer + 1 << " head " << scores.front().head + 1;
}

// The curve of its training stays on the screen when training goes on from it.
TEST_F(ShippedRun, RemembersHowItCameToLookWhereItDoes) {
  ASSERT_THAT(opened.pinned, testing::SizeIs(2));
  EXPECT_EQ(opened.pinned[0].text, "The animal didn't cross the street because it was too tired.");
  EXPECT_EQ(opened.pinned[1].text, "The animal didn't cross the street because it was too wide.");
  // From "it" in layer 2.
  const auto weight_on = [&](const char* key, std::size_t sentence, std::int64_t step, std::size_t head) {
    const auto& frames = opened.pinned[sentence].frames;
    const auto frame = std::ranges::find(frames, step, [](const Frame& each) { return each->step; });
    if (frame == frames.end()) throw std::out_of_range("nothing was recorded at that step");
    const auto position = [&](const char* token) {
      return static_cast<int>(std::ranges::find((*frame)->source, token, &Token::text) - (*frame)->source.begin());
    };
    return (*frame)->encoder.at(1).at(head).at(position("▁it"), position(key));
  };
  EXPECT_GT(weight_on("▁animal", 0, 1600, 1), 0.9);
  EXPECT_GT(weight_on("▁animal", 1, 1600, 1), 0.6) << "whatever the last word is";
  EXPECT_GT(weight_on("▁animal", 1, 1600, 1), 5 * weight_on("▁street", 1, 1600, 1));
  EXPECT_LT(weight_on("▁animal", 0, 1600, 0), 0.5) << "the second reader comes later";
  for (const std::size_t head : {0U, 1U}) {
    EXPECT_LT(weight_on("▁animal", 0, 800, head), 0.3) << "here and there";
    EXPECT_GT(weight_on("▁animal", 0, 2800, head), 0.9);
    EXPECT_GT(weight_on("▁animal", 0, 7600, head), 0.95);
    EXPECT_GT(weight_on("▁street", 1, 6800, head), 5 * weight_on("▁animal", 1, 6800, head)) << "the last word decides";
    EXPECT_GT(weight_on("▁street", 1, 7600, head), 0.8);
    EXPECT_GT(weight_on("▁street", 1, 7600, head), 10 * weight_on("▁animal", 1, 7600, head));
  }
}

// One vector carries the referent of "it", and the saved checkpoints show when this formed.
TEST_F(ShippedRun, ItsCircuitHasOnePlaceAndFormedWhileItWasTrained) {
  const ContrastQuestion question{"The animal didn't cross the street because it was too tired.",
                                  "The animal didn't cross the street because it was too wide."};
  const auto runs = std::make_shared<const ContrastRuns>(engine->model(), engine->tokenizer(), question);
  const Circuit circuit = find_circuit({case_of(runs)});
  ASSERT_EQ(circuit.problem, "");
  const Place& last = circuit.places.back();
  ASSERT_THAT(last.slots, testing::SizeIs(1));
  EXPECT_EQ(circuit.slots[static_cast<std::size_t>(last.slots[0])], "it");
  EXPECT_GE(last.together.share(), 0.95);
  EXPECT_LE(std::abs(last.rest.share()), 0.05);

  const Formation formation = engine->formation({question, runs->facts(), circuit}, [](double) {});
  ASSERT_THAT(formation.points, testing::SizeIs(testing::Ge(5U)));
  EXPECT_LT(std::abs(formation.points.front().difference), 1);
  EXPECT_GT(formation.points.back().difference, 5);
  EXPECT_NEAR(formation.points.back().moved.front(), formation.points.back().difference, 0.5);
}

TEST_F(ShippedRun, KnowsWhatIsToAWomanAsAKingIsToAMan) {
  EmbeddingsWanted wanted;
  wanted.analogy = {"man", "king", "woman"};
  const auto inspection = engine->embeddings(wanted);
  ASSERT_EQ(inspection->analogy_problem, "");
  ASSERT_FALSE(inspection->answers.empty());
  EXPECT_EQ(inspection->vocabulary->tokens[static_cast<std::size_t>(inspection->answers.front().id)], "▁queen");
}

TEST_F(ShippedRun, CanBeTrainedFurther) {
  TorchEngine further;
  open_with_one_thread(further);
  const MetricPoint point = further.train_step({});
  EXPECT_EQ(point.step, opened.step + 1);
  EXPECT_LT(point[metric("loss")].value(), 2);
}

}  // namespace
}  // namespace attnscope
