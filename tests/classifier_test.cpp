// Many to one: poolings against known sums, training against a loop written by hand, labels that nobody has seen.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "data/corpus/corpus.h"
#include "data/tokenizer/families.h"
#include "engine/torch_engine.h"
#include "inspect/evaluation/evaluation.h"
#include "inspect/probe/gradients.h"
#include "inspect/probe/inspect_model.h"
#include "messages/classes.h"
#include "messages/metrics.h"
#include "model/pooling.h"
#include "model_fixture.h"
#include "training/trainer.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t num_classes = 3;

ModelConfig classifier(const std::string& reader, const std::string& pooling) {
  ModelConfig config = small_config();
  config.architecture = "classifier";
  config.reader = reader;
  config.pooling = pooling;
  config.num_classes = num_classes;
  config.num_encoder_layers = 2;
  config.d_model = 16;
  config.dropout = 0;
  return config;
}

std::vector<ModelConfig> all_kinds() {
  std::vector<ModelConfig> kinds;
  for (const char* reader : {"transformer", "recurrent"})
    for (const char* pooling : {"attention", "mean", "first", "last"}) kinds.push_back(classifier(reader, pooling));
  kinds.push_back(classifier("recurrent", "last"));
  kinds.back().cell = "gru";
  kinds.back().bidirectional = true;
  return kinds;
}

std::string name_of(const ModelConfig& config) {
  return config.reader + ", " + config.pooling + (config.bidirectional ? ", bidirectional" : "");
}

torch::Tensor started(std::int64_t rows) {
  return torch::full({rows, 1}, 1, torch::kInt64);
}

// ---- the model

TEST(Pooling, IsTheSumThatItsKindSays) {
  const torch::NoGradGuard no_grad;
  Memory memory;
  memory.states =
      torch::tensor({{{1.0F, 2.0F}, {3.0F, 4.0F}, {5.0F, 9.0F}}, {{1.0F, 0.0F}, {2.0F, 6.0F}, {7.0F, 7.0F}}});
  memory.padding = torch::tensor({{false, false, false}, {false, false, true}});
  const auto pooled = [&](const char* kind) { return Pooling(kind, 2)(memory, 1, nullptr).squeeze(1); };
  EXPECT_EQ(difference(pooled("mean"), torch::tensor({{3.0F, 5.0F}, {1.5F, 3.0F}})), 0);
  EXPECT_EQ(difference(pooled("first"), torch::tensor({{1.0F, 2.0F}, {1.0F, 0.0F}})), 0);
  EXPECT_EQ(difference(pooled("last"), torch::tensor({{5.0F, 9.0F}, {2.0F, 6.0F}})), 0);
}

TEST(Pooling, AttentionIsTheSoftmaxOfItsScores) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(2);
  Pooling pooling("attention", 4);
  Memory memory;
  memory.states = torch::randn({1, 3, 4});
  const auto of = pooling->named_parameters();
  std::vector<double> scores;
  for (std::int64_t i = 0; i < 3; ++i) {
    const torch::Tensor u = torch::tanh(torch::mv(of["W.weight"], memory.states[0][i]) + of["W.bias"]);
    scores.push_back(torch::dot(of["v.weight"][0], u).item<double>());
  }
  const double sum = std::exp(scores[0]) + std::exp(scores[1]) + std::exp(scores[2]);
  torch::Tensor expected = torch::zeros({4});
  for (std::int64_t i = 0; i < 3; ++i)
    expected += memory.states[0][i] * (std::exp(scores[static_cast<std::size_t>(i)]) / sum);
  Inspection inspection;
  EXPECT_LE(difference(pooling(memory, 1, &inspection)[0][0], expected), rounding);
  EXPECT_NEAR(inspection.cross.at(0)[0][0][0][1].item<double>(), std::exp(scores[1]) / sum, rounding);
}

TEST(Classifier, PaddingIsAsIfAbsent) {
  const torch::NoGradGuard no_grad;
  for (const ModelConfig& config : all_kinds()) {
    const Model model = seeded_model(config);
    model->eval();
    const torch::Tensor source = random_ids(3, 8), padding = growing_padding(3, 8);
    const torch::Tensor padded = model->logits(model->decode(started(3), model->encode(source, padding)));
    for (std::int64_t row = 0; row < 3; ++row) {
      const Memory alone = model->encode(source.slice(0, row, row + 1).slice(1, 0, 8 - row), {});
      EXPECT_LE(difference(padded.slice(0, row, row + 1), model->logits(model->decode(started(1), alone))), 1e-4)
          << name_of(config) << ", row " << row;
    }
  }
}

TEST(Classifier, GivesProbabilityToLabelsAlone) {
  const torch::NoGradGuard no_grad;
  for (const ModelConfig& config : all_kinds()) {
    const Model model = seeded_model(config);
    model->eval();
    const torch::Tensor logits = model->logits(model->decode(started(2), model->encode(random_ids(2, 5), {})));
    ASSERT_THAT(logits.sizes(), ElementsAre(2, 1, small_vocab_size));
    const torch::Tensor p = torch::softmax(logits, -1);
    EXPECT_EQ(p.slice(2, 0, small_vocab_size - num_classes).max().item<double>(), 0) << name_of(config);
    EXPECT_GT(p.slice(2, small_vocab_size - num_classes).min().item<double>(), 0) << name_of(config);
  }
}

TEST(Classifier, SmoothsOverTheLabels) {
  const torch::NoGradGuard no_grad;
  const Model model = seeded_model(classifier("transformer", "mean"));
  model->eval();
  const torch::Tensor features = model->decode(started(4), model->encode(random_ids(4, 5), {}));
  const torch::Tensor labels = torch::tensor({0, 2, 1, 2});
  const torch::Tensor scores = torch::mm(features.squeeze(1), model->named_parameters()["output_weight"].t());
  const double expected = torch::nn::functional::cross_entropy(
                              scores, labels, torch::nn::functional::CrossEntropyFuncOptions().label_smoothing(0.1))
                              .item<double>();
  const torch::Tensor targets = labels.unsqueeze(1) + (small_vocab_size - num_classes);
  EXPECT_NEAR(model->loss(features, targets, 0.1).item<double>(), expected, 1e-5);
}

TEST(Classifier, SaysWhatItsLookHolds) {
  for (const ModelConfig& config : all_kinds()) {
    const PartSize cross = part_size(config, AttentionPart::cross);
    const PartSize encoder = part_size(config, AttentionPart::encoder);
    EXPECT_EQ(part_size(config, AttentionPart::decoder).layers, 0);
    const Model model = seeded_model(config);
    model->eval();
    const torch::NoGradGuard no_grad;
    Inspection inspection;
    model->decode(started(1), model->encode(random_ids(1, 5), {}, &inspection), nullptr, &inspection);
    EXPECT_EQ(inspection.cross.size(), cross.layers) << name_of(config);
    EXPECT_EQ(inspection.encoder.size(), encoder.layers) << name_of(config);
    EXPECT_TRUE(inspection.decoder.empty());
    if (cross.layers == 0) continue;
    EXPECT_THAT(inspection.cross[0].sizes(), ElementsAre(1, 1, 1, 5));
  }
}

TEST(Classifier, APieceThatIsHiddenFromThePoolingCountsNothing) {
  const torch::NoGradGuard no_grad;
  const Model model = seeded_model(classifier("recurrent", "mean"));
  model->eval();
  Interventions changes;
  changes.hidden = {{{AttentionPart::cross, 0, 0}, {{0, 2}}}};
  Inspection inspection{.interventions = &changes};
  const Memory memory = model->encode(random_ids(1, 3), {});
  const torch::Tensor features = model->decode(started(1), memory, nullptr, &inspection);
  EXPECT_LE(difference(features[0][0], memory.states[0].slice(0, 0, 2).mean(0)), rounding);
}

// ---- training, against a loop by hand

std::shared_ptr<Dataset> random_texts(int count) {
  auto dataset = std::make_shared<Dataset>();
  torch::manual_seed(5);
  for (int i = 0; i < count; ++i) {
    EncodedPair pair;
    for (int j = 0; j < 3 + i % 5; ++j)
      pair.source.push_back(4 + static_cast<int>(torch::randint(40, {1}).item<std::int64_t>()));
    pair.target = {static_cast<int>(small_vocab_size - num_classes) + i % static_cast<int>(num_classes)};
    dataset->train.push_back(pair);
  }
  return dataset;
}

// torch's own embedding, LSTM, linear map, cross-entropy and Adam, on the same batches.
struct ByHand {
  torch::nn::Embedding embedding{nullptr};
  torch::nn::LSTM lstm{nullptr};
  torch::nn::Linear output{nullptr};

  explicit ByHand(SequenceModel& model) {
    const ModelConfig& config = model.config();
    embedding = torch::nn::Embedding(small_vocab_size, config.d_model);
    lstm = torch::nn::LSTM(torch::nn::LSTMOptions(config.d_model, config.d_model).num_layers(2).batch_first(true));
    output = torch::nn::Linear(torch::nn::LinearOptions(config.d_model, num_classes).bias(false));
    const torch::NoGradGuard no_grad;
    const auto of = model.named_parameters();
    embedding->weight.copy_(of["embedding.weight"]);
    for (auto& parameter : lstm->named_parameters()) parameter.value().copy_(of["encoder." + parameter.key()]);
    output->weight.copy_(of["output_weight"]);
  }

  std::vector<torch::Tensor> parameters() {
    std::vector<torch::Tensor> all = lstm->parameters();
    all.push_back(embedding->weight);
    all.push_back(output->weight);
    return all;
  }

  // One text at a time, so that nothing is padded.
  torch::Tensor loss(const Batch& batch, double scale) {
    torch::Tensor sum = torch::zeros({});
    for (std::int64_t row = 0; row < batch.source.size(0); ++row) {
      torch::Tensor ids = batch.source[row];
      if (batch.source_padding.defined()) ids = ids.masked_select(batch.source_padding[row].logical_not());
      const torch::Tensor states = std::get<0>(lstm(embedding(ids.unsqueeze(0)) * scale));
      const torch::Tensor scores = output(states[0][-1]);
      const auto label = batch.target_out[row][0].item<std::int64_t>() - (small_vocab_size - num_classes);
      sum = sum - torch::log_softmax(scores, 0)[label];
    }
    return sum / batch.source.size(0);
  }
};

TEST(Classifier, TrainsAsALoopWrittenByHand) {
  Config config;
  config.model = classifier("recurrent", "last");
  config.training.label_smoothing = 0;
  config.training.schedule = "constant";
  config.training.learning_rate = 0.01;
  config.training.warmup_steps = 1;
  config.training.clip_norm = 0;
  config.training.batch_size = 8;
  const auto dataset = random_texts(24);
  const Model model = seeded_model(config.model);
  ByHand by_hand(*model);
  Trainer trainer(model, config, dataset);
  torch::optim::Adam adam(by_hand.parameters(),
                          torch::optim::AdamOptions(0.01).betas({0.9, config.training.beta2}).eps(1e-9));
  BatchSource batches(config, dataset);
  const double scale = config.model.scaled_embeddings ? std::sqrt(static_cast<double>(config.model.d_model)) : 1;
  for (int step = 0; step < 12; ++step) {
    adam.zero_grad();
    const torch::Tensor loss = by_hand.loss(batches.parts(step, 1, torch::kCPU).at(0), scale);
    loss.backward();
    adam.step();
    EXPECT_NEAR(trainer.step({})[metric("loss")].value(), loss.item<double>(), 2e-3) << "update " << step;
  }
}

TEST(Classifier, LearnsEachKind) {
  for (const ModelConfig& kind : all_kinds()) {
    Config config;
    config.model = kind;
    config.training.label_smoothing = 0;
    config.training.schedule = "constant";
    config.training.learning_rate = 0.01;
    config.training.warmup_steps = 10;
    config.training.batch_size = 12;
    Trainer trainer(seeded_model(config.model), config, random_texts(12));
    double loss = 0;
    for (int i = 0; i < 150; ++i) loss = trainer.step({})[metric("loss")].value();
    EXPECT_LT(loss, 0.3) << name_of(kind) << ", where a guess costs ln 3";
  }
}

// ---- labels

Tokenizer labelled(const std::vector<std::string>& labels) {
  TokenizerConfig config;
  config.type = "char";
  const std::vector<std::string> lines = {"the cat sat", "a dog"};
  return {Tokenizer::train(lines, config), labels};
}

TEST(Labels, AreTheLastPiecesAndGoThereAndBack) {
  const Tokenizer tokenizer = labelled({"New York, NY", "a", "positive"});
  const int first = tokenizer.vocab_size() - 3;
  const std::vector<Token> tokens = tokenizer.encode("New York, NY", Side::target);
  ASSERT_EQ(tokens.size(), 1);
  EXPECT_EQ(tokens[0].id, first);
  EXPECT_FALSE(tokens[0].unknown);
  EXPECT_EQ(tokenizer.decode(std::vector{first + 1}), "a");
  EXPECT_LT(tokenizer.encode("a").back().id, first) << "a text is no label";
  EXPECT_TRUE(tokenizer.encode("negative", Side::target)[0].unknown);
  const Tokenizer again = make_tokenizer("sentencepiece", tokenizer.files(), {}, 0);
  EXPECT_EQ(again.labels(), tokenizer.labels());
  EXPECT_EQ(again.vocab_size(), tokenizer.vocab_size());
}

TEST(Labels, OfABrokenFileAreRefused) {
  TokenizerFiles files = labelled({"a", "b"}).files();
  for (const char* broken : {"a\n\nb\n", "a\na\n"}) {
    files[std::string(labels_file)] = broken;
    EXPECT_THROW(make_tokenizer("sentencepiece", files, {}, 0), TokenizerError) << broken;
  }
}

TEST(Labels, OfACorpusAreEachThereOnce) {
  Corpus corpus;
  for (const char* label : {"b", "a", "b"}) corpus.train.push_back({"text", label});
  EXPECT_THAT(labels_of(corpus), ElementsAre("a", "b"));
}

TEST(Labels, ThatAreTranslationsAreTooMany) {
  Corpus corpus;
  corpus.name = "pairs";
  for (int i = 0; i < 6000; ++i) corpus.train.push_back({"text", std::to_string(i)});
  try {
    labels_of(corpus);
    FAIL();
  } catch (const CorpusError& error) {
    EXPECT_THAT(error.what(), HasSubstr("6000 different targets"));
  }
}

TEST(Confusion, CountsByClass) {
  const Confusion confusion{{"a", "b", "none"}, {8, 2, 0, 1, 1, 0, 0, 0, 0}};
  EXPECT_EQ(confusion.texts(), 12);
  EXPECT_DOUBLE_EQ(confusion.accuracy(), 9.0 / 12);
  EXPECT_DOUBLE_EQ(confusion.recall(0), 0.8);
  EXPECT_DOUBLE_EQ(confusion.precision(1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(confusion.balanced_accuracy(), (0.8 + 0.5) / 2) << "a class without texts has no recall";
  EXPECT_DOUBLE_EQ(confusion.largest_share(), 10.0 / 12);
  EXPECT_DOUBLE_EQ(Confusion().accuracy(), 0);
}

// ---- the built-in corpus

TEST(Verdicts, DoNotHangOnTheWordsAlone) {
  const Corpus corpus = load_corpus({.source = "verdicts"});
  std::map<std::multiset<std::string>, std::set<std::string>> labels;  // of the same words
  std::map<std::string, int> counts;
  for (const auto* part : {&corpus.train, &corpus.validation, &corpus.test})
    for (const Pair& pair : *part) {
      std::multiset<std::string> words;
      for (std::size_t begin = 0; begin < pair.source.size();) {
        const std::size_t end = std::min(pair.source.find(' ', begin), pair.source.size());
        words.insert(pair.source.substr(begin, end - begin));
        begin = end + 1;
      }
      labels[words].insert(pair.target);
      ++counts[pair.target];
    }
  EXPECT_EQ(counts.size(), 3);
  for (const auto& [label, count] : counts) EXPECT_GT(count, 2000) << label;
  const auto torn = std::ranges::count_if(labels, [](const auto& of) { return of.second.size() > 1; });
  EXPECT_GT(torn, 500);
}

// A text whose words stood in another order among those that were trained on would be half known.
TEST(Verdicts, OfTheSameWordsStandInOnePart) {
  const Corpus corpus = load_corpus({.source = "verdicts"});
  const auto words_of = [](const Pair& pair) {
    std::istringstream text(pair.source);
    std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
    std::ranges::sort(words);
    return words;
  };
  std::set<std::vector<std::string>> trained;
  for (const Pair& pair : corpus.train) trained.insert(words_of(pair));
  for (const Pair& pair : corpus.test) EXPECT_FALSE(trained.contains(words_of(pair))) << pair.source;
}

TEST(Verdicts, SayWhatTheWordsSay) {
  std::map<std::string, std::string> labels;
  const Corpus corpus = load_corpus({.source = "verdicts"});
  for (const Pair& pair : corpus.train) labels[pair.source] = pair.target;
  int checked = 0;
  for (const auto& [text, label] : labels)
    for (const auto& [beginning, expected] :
         std::map<std::string, std::string>{{"the soup was not good but ", "complaint"},
                                            {"it is not true that the soup was not dreary", "complaint"},
                                            {"we thought the soup would be bad , but it was ", "praise"},
                                            {"the soup was lovely , but the bread was", "mixed"}}) {
      if (!text.starts_with(beginning)) continue;
      EXPECT_EQ(label, expected) << text;
      ++checked;
    }
  EXPECT_GE(checked, 4);
}

// ---- a whole run

class ClassifierRun : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-classes-" + std::to_string(::getpid()));
  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  Config config(const std::string& reader, const std::vector<std::string>& lines) const {
    std::ofstream(folder / "texts.tsv") << [&] {
      std::string text;
      for (const std::string& line : lines) text += line + "\n";
      return text;
    }();
    Config made;
    made.corpus.source = (folder / "texts.tsv").string();
    made.tokenizer.type = "char";
    made.model = classifier(reader, "attention");
    made.model.num_classes = 0;  // the corpus says
    made.training.threads = 1;
    made.training.device = "cpu";
    return made;
  }

  static std::vector<std::string> lines() {
    std::vector<std::string> made;
    for (char a = 'a'; a <= 'j'; ++a)
      for (char b = 'a'; b <= 'j'; ++b)
        made.push_back(std::string{a, ' ', b} + (a < 'e' ? "\tlow" : b < 'e' ? "\tmiddle" : "\thigh"));
    return made;
  }
};

Snapshot inspect(TorchEngine& engine, const std::string& text) {
  Snapshot latest;
  inspect_model(engine.model(), engine.tokenizer(), {.text = text}, [&](Snapshot seen) { latest = std::move(seen); },
                {});
  return latest;
}

TEST_F(ClassifierRun, IsTheSameFromItsFolder) {
  for (const char* reader : {"transformer", "recurrent"}) {
    TorchEngine engine;
    const RunOpened opened = engine.reset(config(reader, lines()), {});
    EXPECT_EQ(opened.config.model.num_classes, 3);
    for (int i = 0; i < 3; ++i) engine.train_step({});
    const Snapshot seen = inspect(engine, "a c");
    ASSERT_EQ(seen.target_out.size(), 1);
    EXPECT_FALSE(seen.stopped_at_limit);
    EXPECT_THAT((std::vector<std::string>{"low", "middle", "high"}), testing::Contains(seen.output_text));
    engine.save_run((folder / reader).string());
    TorchEngine again;
    again.open_run((folder / reader).string(), {});
    EXPECT_EQ(inspect(again, "a c").decoding, seen.decoding);
  }
}

TEST_F(ClassifierRun, GoesOnAsIfNeverInterrupted) {
  TorchEngine whole;
  whole.reset(config("transformer", lines()), {});
  double last = 0;
  for (int i = 0; i < 6; ++i) last = whole.train_step({})[metric("loss")].value();
  TorchEngine first;
  first.reset(config("transformer", lines()), {});
  for (int i = 0; i < 3; ++i) first.train_step({});
  first.save_run((folder / "run").string());
  TorchEngine second;
  second.open_run((folder / "run").string(), {});
  double resumed = 0;
  for (int i = 0; i < 3; ++i) resumed = second.train_step({})[metric("loss")].value();
  EXPECT_EQ(resumed, last);
}

TEST_F(ClassifierRun, LeavesOutLabelsThatTrainingHasNot) {
  TorchEngine engine;
  engine.reset(config("transformer", lines()), {});
  const std::vector<Pair> pairs = {{"a b", "low"}, {"b c", "never"}, {"j j", "high"}};
  const Evaluation scores = evaluate_pairs(engine.model(), engine.tokenizer(), pairs, 1, {});
  EXPECT_EQ(scores.pairs, 2);
  EXPECT_EQ(scores.unknown_label, 1);
  EXPECT_EQ(scores.too_long, 0);
  EXPECT_EQ(scores.confusion.texts(), 2);
  EXPECT_EQ(scores.nll.tokens, 2);
  EXPECT_TRUE(std::isfinite(scores.nll.nats));
}

TEST_F(ClassifierRun, OfOneClassIsSureOfIt) {
  TorchEngine engine;
  engine.reset(config("recurrent", {"a b\tonly", "c d\tonly", "e f\tonly", "g h\tonly"}), {});
  EXPECT_NEAR(engine.train_step({})[metric("loss")].value(), 0, 1e-6);
  EXPECT_EQ(inspect(engine, "a").output_text, "only");
}

TEST_F(ClassifierRun, TakesAThousandClasses) {
  std::vector<std::string> many;
  for (int i = 0; i < 1000; ++i)
    for (const char* text : {"a ", "b ", "c "})
      many.push_back(text + std::to_string(i) + "\tclass " + std::to_string(i));
  TorchEngine engine;
  const RunOpened opened = engine.reset(config("transformer", many), {});
  EXPECT_GE(opened.config.model.num_classes, 900);
  engine.train_step({});
  EXPECT_THAT(inspect(engine, "a 7").output_text, testing::StartsWith("class "));
}

TEST_F(ClassifierRun, WithAnotherNumberOfLabelsIsRefused) {
  TorchEngine engine;
  engine.reset(config("transformer", lines()), {});
  engine.save_run((folder / "run").string());
  std::ofstream(folder / "run" / "labels.txt") << "low\nhigh\n";
  TorchEngine again;
  EXPECT_THROW(again.open_run((folder / "run").string(), {}), std::exception);
}

TEST_F(ClassifierRun, ItsLossReachesEveryPiece) {
  for (const char* reader : {"transformer", "recurrent"}) {
    TorchEngine engine;
    engine.reset(config(reader, lines()), {});
    const GradientResult result = inspect_gradients(engine.model(), engine.tokenizer(), {.text = "a c"}, [](double) {});
    EXPECT_EQ(result.problem, "");
    ASSERT_EQ(result.plain.encoder.norms.cols, static_cast<int>(result.plain.encoder.tokens.size()));
    EXPECT_TRUE(result.plain.decoder.tokens.empty());
    for (int col = 0; col < result.plain.encoder.norms.cols; ++col) EXPECT_GT(result.plain.encoder.norms.at(0, col), 0);
  }
}

}  // namespace
}  // namespace attnscope
