// Looks at a model's embeddings: the map, neighbours, analogies, recorded steps, senses, t-SNE, and the command.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "analysis/matrix_algebra.h"
#include "commands/commands.h"
#include "engine/recorded_parameters.h"
#include "engine/torch_engine.h"
#include "inspect/probe/embeddings.h"
#include "inspect/probe/principal_axes.h"
#include "inspect/probe/tensors.h"
#include "messages/senses.h"
#include "model_fixture.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// ---- the map

TEST(PrincipalAxes, AreThoseOfTheSingularValueDecomposition) {
  torch::manual_seed(3);
  const torch::Tensor rows = torch::randn({60, 12}).mm(torch::randn({12, 12})) + 5;
  const PrincipalAxes axes = principal_axes(rows, 3);
  const torch::Tensor centred = rows - rows.mean(0);
  const auto [u, s, vt] = torch::linalg_svd(centred, false, torch::nullopt);
  const torch::Tensor expected = u.slice(1, 0, 3) * s.slice(0, 0, 3);
  for (int axis = 0; axis < 3; ++axis) {
    const torch::Tensor here = torch::tensor(transposed(axes.points).values).view({3, 60})[axis];
    const torch::Tensor there = expected.select(1, axis);
    const double same = std::min(difference(here, there), difference(here, -there));
    EXPECT_LT(same / there.abs().max().item<double>(), 1e-4) << axis;
  }
  const torch::Tensor shares = s.pow(2) / s.pow(2).sum();
  ASSERT_EQ(axes.shares.size(), 12U);
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(axes.shares[static_cast<std::size_t>(i)], shares[i].item<double>(), 1e-5);
}

// Rows that are only projected change neither the axes nor the shares.
TEST(PrincipalAxes, OfSomeRowsProjectAll) {
  torch::manual_seed(5);
  const torch::Tensor rows = torch::randn({30, 6});
  torch::Tensor more = torch::cat({rows, 100 * torch::randn({4, 6})});
  const PrincipalAxes alone = principal_axes(rows, 2), among = principal_axes(more, 2, torch::arange(30));
  EXPECT_EQ(alone.shares, among.shares);
  ASSERT_EQ(among.points.rows, 34);
  for (int row = 0; row < 30; ++row)
    for (int col = 0; col < 2; ++col) EXPECT_NEAR(among.points.at(row, col), alone.points.at(row, col), 1e-4);
}

TEST(PrincipalAxes, OfLittleAreZero) {
  EXPECT_EQ(principal_axes(torch::ones({5, 4}), 2).points, Matrix(5, 2));
  EXPECT_EQ(principal_axes(torch::ones({5, 1}), 2).points.cols, 2);
  EXPECT_EQ(principal_axes(torch::empty({0, 4}), 2).points.rows, 0);
}

// A mean of equal rows is rounded, and what is left then is no variance.
TEST(PrincipalAxes, OfRowsThatAreTheSameAreNone) {
  torch::manual_seed(4);
  const torch::Tensor row = torch::randn({1, 16}) + 3;
  for (const torch::Tensor& rows : {row.repeat({37, 1}), row * (1 + 1e-7 * torch::randn({37, 1}))}) {
    const PrincipalAxes axes = principal_axes(rows, 2);
    EXPECT_EQ(axes.points, Matrix(37, 2));
    EXPECT_EQ(axes.shares, std::vector<float>(16));
  }
  EXPECT_NEAR(principal_axes(row * (1 + 1e-4 * torch::randn({37, 1})), 2).shares[0], 1, 1e-3);
}

// ---- an engine's looks

class Embeddings : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Config config = tiny_config();
    config.model.tied_embeddings = false;
    config.training.history_interval = 2;
    config.training.kept_checkpoints = 4;
    config.training.checkpoint_interval = 2;
    engine = new TorchEngine;
    engine->reset(config, {});
    engine->save_run(run().string());
    for (int i = 0; i < 6; ++i) {
      engine->train_step({});
      engine->checkpoint_if_due();
    }
    engine->save_run(run().string());
  }
  static void TearDownTestSuite() {
    delete engine;
    fs::remove_all(run());
  }

  static fs::path run() { return fs::temp_directory_path() / ("attnscope-embeddings-" + std::to_string(::getpid())); }

  static std::shared_ptr<const EmbeddingResult> inspect(const EmbeddingsWanted& wanted) {
    return engine->embeddings(wanted);
  }

  static TorchEngine* engine;
};
TorchEngine* Embeddings::engine = nullptr;

TEST_F(Embeddings, EveryMatrixIsTheModelsOwn) {
  const auto parameters = engine->model().named_parameters();
  for (const auto& [matrix, name] : {std::pair{EmbeddingMatrix::source, "source_embedding.weight"},
                                     std::pair{EmbeddingMatrix::target, "target_embedding.weight"},
                                     std::pair{EmbeddingMatrix::output, "output_weight"}}) {
    const auto seen = inspect({.matrix = matrix});
    ASSERT_TRUE(seen->map) << seen->problem;
    EXPECT_EQ(seen->matrix, matrix);
    std::vector<std::int64_t> used;
    for (std::size_t id = 0; id < seen->vocabulary->facts.size(); ++id)
      if (seen->vocabulary->facts[id].count > 0) used.push_back(static_cast<std::int64_t>(id));
    EXPECT_EQ(seen->map->used, std::ssize(used));
    EXPECT_LT(difference(seen->map->points, principal_axes(parameters[name], 2, torch::tensor(used)).points), 1e-6)
        << name;
    EXPECT_EQ(seen->map->points.rows, static_cast<int>(seen->vocabulary->tokens.size()));
  }
}

TEST_F(Embeddings, NeighboursAreByCosineOfTheRows) {
  const auto seen = inspect({.chosen = "a"});
  ASSERT_GE(seen->chosen, 0);
  const torch::Tensor rows = engine->model().embedding_rows(EmbeddingMatrix::source);
  for (const auto& [id, cosine] : seen->neighbours.nearest) {
    EXPECT_NE(id, seen->chosen);
    const double expected = torch::cosine_similarity(rows[id], rows[seen->chosen], 0).item<double>();
    EXPECT_NEAR(cosine, expected, 1e-5);
  }
  EXPECT_EQ(seen->neighbours.nearest.size(), static_cast<std::size_t>(most_neighbours));
  EXPECT_EQ(inspect({.chosen = "a"}), seen) << "the same question has the same answer";
}

TEST_F(Embeddings, AWordThatIsNoPieceIsSaid) {
  EXPECT_THAT(inspect({.chosen = "qwerty"})->chosen_problem, HasSubstr("qwerty"));
  EXPECT_THAT(inspect({.analogy = {"a", "b", "qwerty"}})->analogy_problem, HasSubstr("qwerty"));
  EXPECT_THAT(inspect({.analogy = {"a", "b", ""}})->answers, IsEmpty());
  EXPECT_EQ(inspect({.analogy = {"a", "b", "c"}})->answers.size(), static_cast<std::size_t>(most_neighbours));
}

TEST_F(Embeddings, AreRecordedWhileTraining) {
  const auto seen = inspect({.chosen = "a"});
  EXPECT_THAT(seen->recorded_steps, ElementsAre(0, 2, 4));
  EXPECT_EQ(seen->earlier.step, 0);
  EXPECT_EQ(seen->earlier.nearest.size(), static_cast<std::size_t>(most_neighbours));
  const auto past = inspect({.step = 3, .chosen = "a"});
  EXPECT_TRUE(past->recorded);
  EXPECT_EQ(past->step, 2);
  EXPECT_NE(past->map->points, seen->map->points);
  EXPECT_FALSE(inspect({.step = 1000})->recorded) << "the present is nearer";
}

TEST_F(Embeddings, OlderWeightsInTheFolderAreRecordedSteps) {
  TorchEngine opened;
  opened.open_run(run().string(), {});
  const auto seen = opened.embeddings({.step = 4, .chosen = "a"});
  EXPECT_THAT(seen->recorded_steps, ElementsAre(2, 4, 5)) << "and the best weights";
  EXPECT_TRUE(seen->recorded);
  EXPECT_EQ(seen->step, 4);
  EXPECT_LT(difference(seen->map->points, inspect({.step = 4})->map->points), 5e-3) << "float16 in memory";
}

TEST_F(Embeddings, TheMemoryOfRecordedStepsIsBounded) {
  const auto a_step = static_cast<std::size_t>(engine->tokenizer().vocab_size()) * 3 * 16 * 2;  // bytes
  RecordedParameters recorded(5 * a_step);
  SequenceModel& model = engine->model();
  for (std::int64_t step = 0; step < 40; ++step) recorded.record(step, copied_embeddings(model));
  EXPECT_EQ(recorded.steps().size(), 5U);
  EXPECT_EQ(recorded.steps().front(), 0);
  EXPECT_EQ(recorded.steps().back(), 39);
}

TEST_F(Embeddings, AsManyStepsAreRecordedAsWereAllowed) {
  RecordedParameters recorded(std::size_t{128} << 20, 8);
  for (std::int64_t step = 0; step < 40; ++step) recorded.record(step, copied_embeddings(engine->model()));
  const std::vector<std::int64_t> steps = recorded.steps();
  ASSERT_EQ(steps.size(), 8U);
  EXPECT_EQ(steps.front(), 0);
  EXPECT_EQ(steps.back(), 39);
  for (std::size_t i = 1; i < steps.size(); ++i) EXPECT_LE(steps[i] - steps[i - 1], 9) << "over the whole training";
}

TEST_F(Embeddings, NumbersThatAreNotFiniteAreSaid) {
  ModelConfig config = small_config();
  const Model model = seeded_model(config);
  model->freeze();
  model->embedding_rows(EmbeddingMatrix::source)[7].fill_(std::numeric_limits<float>::quiet_NaN());
  auto vocabulary = std::make_shared<Vocabulary>();
  for (int id = 0; id < small_vocab_size; ++id) vocabulary->tokens.push_back("▁p" + std::to_string(id));
  EmbeddingAnalyzer embedding_analyzer(vocabulary);
  const auto seen = embedding_analyzer.inspect(*model, engine->tokenizer(), {.chosen = "p4"}, {.step = 9});
  EXPECT_FALSE(seen->map);
  EXPECT_THAT(seen->problem, HasSubstr("step 9"));
}

TEST_F(Embeddings, ComeWithTheSnapshotThatAskedForThem) {
  std::vector<std::shared_ptr<const Snapshot>> inspections;
  engine->probe({.text = "a b", .embeddings = EmbeddingsWanted{.chosen = "a"}, .senses = "a"},
                [&](std::shared_ptr<const Snapshot> snapshot) { inspections.push_back(std::move(snapshot)); }, {});
  EXPECT_FALSE(inspections.front()->embeddings) << "the sentence's pieces do not wait for them";
  ASSERT_TRUE(inspections.back()->embeddings);
  ASSERT_TRUE(inspections.back()->senses);
  EXPECT_EQ(inspections.back()->senses->step, engine->steps_done());
}

// ---- one word, many sentences

TEST_F(Embeddings, StatesAreTheEmbeddingAndEveryLayer) {
  ModelConfig config = small_config();
  config.dropout = 0;
  for (const char* architecture : {"encoder-decoder", "decoder-only", "recurrent"}) {
    config.architecture = architecture;
    const Model model = seeded_model(config);
    model->freeze();
    const torch::Tensor ids = random_ids(1, 6);
    Inspection record{.states_wanted = true};
    if (config.is_language_model()) {
      model->decode(ids, {}, nullptr, &record);
      ASSERT_EQ(record.states.size(), 3U);
    } else {
      const Memory memory = model->encode(ids, {}, &record);
      model->decode(ids, memory, nullptr, &record);
      ASSERT_EQ(record.states.size(), config.is_recurrent() ? 2U : 3U) << architecture;
      if (config.is_recurrent()) {
        EXPECT_LT(difference(record.states.back(), memory.states), 1e-6);
      }
    }
    const torch::Tensor rows = model->embedding_rows(EmbeddingMatrix::source).index_select(0, ids[0]);
    if (config.is_recurrent()) {
      EXPECT_LT(difference(record.states.front()[0], rows * std::sqrt(32.0)), 1e-5);
    }
    for (const torch::Tensor& state : record.states) EXPECT_THAT(state.sizes(), ElementsAre(1, 6, 32));
  }
}

TEST_F(Embeddings, AWordIsGroupedByTheOutputThatLooksAtIt) {
  const auto seen = engine->senses("a", {});
  EXPECT_THAT(seen->problem, IsEmpty());
  EXPECT_EQ(seen->token, "▁a");
  EXPECT_THAT(seen->grouped_by, HasSubstr("attends to it most"));
  ASSERT_GE(seen->occurrences.size(), 10U);
  ASSERT_EQ(seen->layers.size(), 2U);
  EXPECT_EQ(seen->layers[0].name, "embedding") << "RoPE adds no position to it";
  for (const SenseLayer& layer : seen->layers) EXPECT_EQ(layer.points.rows, static_cast<int>(seen->occurrences.size()));
  for (const Occurrence& occurrence : seen->occurrences) {
    EXPECT_LT(occurrence.group, static_cast<int>(seen->groups.size()));
    EXPECT_THAT(" " + occurrence.sentence + " ", HasSubstr(" a "));
  }
  EXPECT_THAT(engine->senses("qwerty", {})->problem, HasSubstr("no sentence"));
}

TEST_F(Embeddings, TsneIsAStudyWithProgress) {
  double last = 0;
  const StudyResult result =
      engine->study({.question = TsneStudy{EmbeddingMatrix::target, 5}}, [&](double fraction) { last = fraction; });
  const auto& map = std::get<TsneMap>(result.answer);
  EXPECT_EQ(map.matrix, EmbeddingMatrix::target);
  EXPECT_EQ(map.points.rows, engine->tokenizer().vocab_size());
  EXPECT_LT(map.kl, map.first_kl);
  EXPECT_EQ(last, 1);
  EXPECT_THROW(engine->study({.question = TsneStudy{}}, [](double) { throw Cancelled(); }), Cancelled);
}

// ---- the command

class EmbeddingsCommand : public Embeddings {
 protected:
  static std::string printed(EmbeddingsOptions options) {
    options.run = run().string();
    testing::internal::CaptureStdout();
    EXPECT_EQ(embeddings(options), 0);
    return testing::internal::GetCapturedStdout();
  }
  static nlohmann::json json(EmbeddingsOptions options) {
    options.json = true;
    return nlohmann::json::parse(printed(options));
  }
  static std::string refusal(EmbeddingsOptions options) {
    options.run = run().string();
    try {
      testing::internal::CaptureStdout();
      embeddings(options);
    } catch (const ConfigError& error) {
      testing::internal::GetCapturedStdout();
      return error.what();
    }
    return testing::internal::GetCapturedStdout();
  }
};

TEST_F(EmbeddingsCommand, PrintsWhatWasAsked) {
  const auto neighbours = json({.table = "target", .neighbours = "a"});
  EXPECT_EQ(neighbours["table"], "target embedding");
  EXPECT_EQ(neighbours["neighbours"]["nearest"].size(), static_cast<std::size_t>(most_neighbours));
  EXPECT_EQ(neighbours["neighbours"]["earlier"]["step"], 2);
  EXPECT_EQ(json({.analogy = "a - b + c"})["analogy"]["answers"].size(), static_cast<std::size_t>(most_neighbours));
  EXPECT_EQ(json({.senses = "a"})["senses"]["layers"].size(), 2U);
  const auto overview = json({});
  EXPECT_EQ(overview["width"], 16);
  EXPECT_LT(overview["used_tokens"].get<int>(), overview["tokens"].get<int>()) << "special tokens are not in sentences";
  EXPECT_GT(overview["distances"]["pairs"].get<int>(), 1000);
  EXPECT_THAT(printed({}), HasSubstr("tokens that occur in a sample of the training part"));
  EXPECT_NEAR(overview["distances"]["one_hot"].get<double>(), std::sqrt(2.0), 1e-12);
  EXPECT_THAT(printed({.neighbours = "a"}), HasSubstr("at step 2:"));
  EXPECT_THAT(printed({.senses = "a"}), HasSubstr("separation"));
}

TEST_F(EmbeddingsCommand, RefusesWhatItCannotRead) {
  EXPECT_THAT(refusal({.analogy = "a b c"}), HasSubstr("does not have the form \"king - man + woman\""));
  EXPECT_THAT(refusal({.analogy = "a - b + c d"}), HasSubstr("does not have the form"));
  EXPECT_THAT(refusal({.analogy = "a - b + qwerty"}), HasSubstr("--analogy: \"qwerty\""));
  EXPECT_THAT(refusal({.neighbours = "qwerty"}), HasSubstr("--neighbours: \"qwerty\""));
  EXPECT_THAT(refusal({.senses = "qwerty"}), HasSubstr("--senses: The corpus has no sentence"));
}

}  // namespace
}  // namespace attnscope
