// Neurons of a feed-forward sublayer whose weights are set by hand, and a dictionary of its output.
#include <gmock/gmock.h>

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <numeric>
#include <set>

#include "engine/torch_engine.h"
#include "files/storage/file.h"
#include "files/storage/run_folder.h"
#include "inspect/evaluation/nearest.h"
#include "inspect/evaluation/neurons.h"
#include "inspect/probe/readout.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

// A decoder-only layer without attention over one-hot tokens. Neuron 3 fires by 2 on `trigger` and promotes `answer`;
// neuron 5 does the same; the others are dead.
struct Planted {
  static constexpr int trigger = 7, answer = 11;
  Tokenizer tokenizer = [] {
    std::vector<std::string> sentences;
    for (int word = 0; word < 20; ++word) sentences.push_back("w" + std::to_string(word));
    TokenizerConfig config;
    config.type = "word";
    return Tokenizer(Tokenizer::train(sentences, config));
  }();
  std::int64_t v = tokenizer.vocab_size();
  Model model;
  std::vector<Batch> batches;

  Planted() {
    ModelConfig config;
    config.architecture = "decoder-only";
    config.d_model = v;
    config.num_heads = 1;
    config.num_decoder_layers = 1;
    config.d_ff = 8;
    config.norm_kind = "none";
    config.positions = "none";
    config.scaled_embeddings = config.tied_embeddings = false;
    config.max_length = 12;
    model = make_model(config, v);
    const torch::NoGradGuard no_grad;
    for (torch::Tensor& parameter : model->parameters()) parameter.zero_();
    at("embedding.weight").copy_(torch::eye(v));
    at("output_weight").copy_(torch::eye(v));
    at("decoder.layers.0.linear1.bias").fill_(-1);
    for (const int neuron : {3, 5}) {
      at("decoder.layers.0.linear1.weight")[neuron][trigger] = 3;
      at("decoder.layers.0.linear2.weight").select(1, neuron)[answer] = 1;
    }
    model->freeze();
    torch::manual_seed(1);
    for (int i = 0; i < 3; ++i) {
      Batch batch;
      batch.target_in = torch::randint(4, v, {5, 12}, torch::kInt64);
      batch.target_in.index_put_({batch.target_in == trigger}, 8);
      for (int row = 0; row < 5; ++row) batch.target_in[row][2 * row + i] = trigger;
      batch.target_out = torch::where(batch.target_in == trigger, torch::full_like(batch.target_in, answer), 12);
      batch.targets = 60;
      batches.push_back(batch);
    }
  }

  torch::Tensor at(const std::string& name) { return model->named_parameters()[name]; }
  NeuronSample sample(std::shared_ptr<const SparseDictionary> dictionary = nullptr) {
    return NeuronSample(*model, batches, {true, 0}, std::move(dictionary), {});
  }

  // Pearson's r of the trigger's presence with the position, over every token.
  double trigger_position_r() const {
    std::vector<torch::Tensor> present, positions;
    for (const Batch& batch : batches) {
      present.push_back(batch.target_in.eq(trigger).to(torch::kFloat64).flatten());
      positions.push_back(torch::arange(12).expand({5, 12}).to(torch::kFloat64).flatten());
    }
    torch::Tensor x = torch::cat(present), y = torch::cat(positions);
    x = x - x.mean();
    y = y - y.mean();
    return (x.dot(y) / (x.norm() * y.norm())).item<double>();
  }
};

TEST(Neurons, AreFoundByEveryList) {
  Planted planted;
  const NeuronSample sample = planted.sample();
  EXPECT_EQ(sample.tokens(), 180);
  EXPECT_EQ(sample.sentences(), 15);
  const std::vector<NeuronFacts> facts = sample.facts(*planted.model, planted.tokenizer, {}, {});
  ASSERT_EQ(facts.size(), 8U);
  for (int neuron = 0; neuron < 8; ++neuron) {
    const NeuronFacts& of = facts[static_cast<std::size_t>(neuron)];
    const bool planted_here = neuron == 3 || neuron == 5;
    EXPECT_EQ(of.is_dead(), !planted_here) << neuron;
    EXPECT_EQ(of.duplicate, neuron == 5 ? 3 : -1) << neuron;
    if (!planted_here) {
      EXPECT_EQ(of.token, "") << neuron;
      EXPECT_EQ(of.active, 0) << neuron;
      continue;
    }
    EXPECT_NEAR(of.largest, 2, 1e-5);
    EXPECT_NEAR(of.active, 15.0 / 180, 1e-6);
    EXPECT_NEAR(of.mean, 2 * 15.0 / 180, 1e-6);
    EXPECT_EQ(of.token, planted.tokenizer.token(Planted::trigger));
    EXPECT_NEAR(of.token_r, 1, 1e-4);
    EXPECT_NEAR(of.position_r, planted.trigger_position_r(), 1e-5);
    EXPECT_EQ(of.promoted, planted.tokenizer.token(Planted::answer));
  }
}

// One-hot embeddings of an encoder without attention, to which learned positions add a bit of their own. "it" is at
// position 0 where it means "il", and at position 1 where it means "elle"; neuron 2 fires at position 1.
TEST(Neurons, CorrelateWithTheSenseOfAWord) {
  const PairList pairs = {{.source = "it sleeps now", .target = "il dort", .pronoun = "il"},
                          {.source = "now it sleeps", .target = "elle dort", .pronoun = "elle"}};
  TokenizerConfig words;
  words.type = "word";
  const Tokenizer tokenizer(
      Tokenizer::train(std::vector<std::string>{"it sleeps now", "now it sleeps", "il dort", "elle dort"}, words));
  const std::int64_t v = tokenizer.vocab_size();
  ModelConfig config;
  config.d_model = v + 1;
  config.num_heads = config.num_encoder_layers = config.num_decoder_layers = 1;
  config.d_ff = 4;
  config.norm_kind = "none";
  config.positions = "learned";
  config.scaled_embeddings = config.tied_embeddings = false;
  config.max_length = 8;
  const Model model = make_model(config, v);
  {
    const torch::NoGradGuard no_grad;
    auto at = model->named_parameters();
    for (torch::Tensor& parameter : model->parameters()) parameter.zero_();
    at["source_embedding.weight"].slice(1, 0, v).copy_(torch::eye(v));
    for (auto& parameter : at)
      if (parameter.key().find("position") != std::string::npos) parameter.value()[1][v] = 1;
    at["encoder.layers.0.linear1.weight"][2][v] = 1;
  }
  model->freeze();
  std::vector<EncodedPair> encoded;
  for (std::size_t i = 0; i < 24; ++i) encoded.push_back(*encode_pair(tokenizer, pairs[i % 2], 8));
  std::vector<std::int64_t> rows(encoded.size());
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<Batch> batches = {make_batch(encoded, rows, torch::kCPU, config.special())};
  const NeuronSample sample(*model, batches, {false, 0}, nullptr, {});
  const std::vector<NeuronFacts> facts = sample.facts(*model, tokenizer, pairs, {});
  EXPECT_EQ(facts[2].sense, "it: elle");
  EXPECT_NEAR(facts[2].sense_r, 1, 1e-5);
  EXPECT_EQ(facts[1].sense, "") << "it never fires";
  EXPECT_EQ(sample.facts(*model, tokenizer, {}, {})[2].sense, "") << "of a corpus whose senses are unknown";
  const PairList undecided = {{.source = "it sleeps now", .target = "il dort"}};
  EXPECT_EQ(sample.facts(*model, tokenizer, undecided, {})[2].sense, "");

  const NearestResult nearest = nearest_contexts(*model, tokenizer, batches, pairs, {.text = "now it", .token = 1}, {});
  ASSERT_FALSE(nearest.contexts.empty());
  const NearestContext& first = nearest.contexts.front();
  EXPECT_EQ(first.sense, "it: elle");
  EXPECT_EQ(first.position, 1);
  EXPECT_EQ(first.output, tokenizer.token(tokenizer.encode("elle", Side::target).front().id))
      << "all weights are equal, so the first";
}

TEST(Neurons, CardNamesContextsEffectsAndTheLossWithoutIt) {
  constexpr int opposed = 13;
  Planted planted;
  const torch::NoGradGuard no_grad;
  planted.at("decoder.layers.0.linear2.weight").select(1, 3)[opposed] = -2;
  const NeuronSample sample = planted.sample();
  const NeuronCard card = sample.card(*planted.model, planted.tokenizer, 3, {});
  ASSERT_FALSE(card.strongest.empty());
  for (const NeuronContext& context : card.strongest) {
    EXPECT_NEAR(context.value, 2, 1e-5);
    EXPECT_EQ(context.tokens[static_cast<std::size_t>(context.at)], planted.tokenizer.token(Planted::trigger));
    EXPECT_NEAR(context.activations[static_cast<std::size_t>(context.at)], 2, 1e-5);
  }
  ASSERT_EQ(card.deciles.size(), 10U);
  EXPECT_NEAR(card.deciles.front().value, 2, 1e-5) << "only of the tokens on which it is active";
  EXPECT_NEAR(card.deciles.back().value, 2, 1e-5);
  EXPECT_EQ(card.promoted.front().token, planted.tokenizer.token(Planted::answer));
  const double mean_logit = -1.0 / static_cast<double>(planted.v);
  EXPECT_NEAR(card.promoted.front().value, 1 - mean_logit, 1e-4);
  EXPECT_EQ(card.suppressed.front().token, planted.tokenizer.token(opposed));
  EXPECT_NEAR(card.suppressed.front().value, -2 - mean_logit, 1e-4);
  double counted = 0;
  for (const float count : card.histogram) counted += count;
  EXPECT_EQ(counted, 180);
  // The same as the loss of a model whose neuron adds nothing.
  planted.at("decoder.layers.0.linear2.weight").select(1, 3).zero_();
  const double without = planted.sample().card(*planted.model, planted.tokenizer, 3, {}).nll;
  EXPECT_NEAR(card.zero, without - card.nll, 1e-5);
  EXPECT_GT(card.zero, 0.05);
  ASSERT_FALSE(card.hurt.empty());
  const NeuronContext& hurt = card.hurt.front();
  EXPECT_EQ(hurt.tokens[static_cast<std::size_t>(hurt.at)], planted.tokenizer.token(Planted::trigger));
  EXPECT_NEAR(hurt.value * 15 / 180, card.zero, 1e-4) << "only these tokens lose";
}

TEST(Neurons, AtItsMeanANeuronThatNeverVariesLosesNothing) {
  Planted planted;
  const torch::NoGradGuard no_grad;
  planted.at("decoder.layers.0.linear1.bias")[0] = 1;  // on every token, by 1
  planted.at("decoder.layers.0.linear2.weight").select(1, 0)[Planted::answer] = 2;
  const NeuronCard card = planted.sample().card(*planted.model, planted.tokenizer, 0, {});
  EXPECT_NEAR(card.mean, 0, 1e-6);
  EXPECT_GT(std::abs(card.zero), 1e-3);
  EXPECT_TRUE(card.points.empty());
  EXPECT_EQ(card.histogram.size(), 1U) << "one value";
}

TEST(Neurons, AtItsMeanANeuronIsAConstant) {
  Planted planted;
  const NeuronCard card = planted.sample().card(*planted.model, planted.tokenizer, 3, {});
  const torch::NoGradGuard no_grad;
  planted.at("decoder.layers.0.linear1.weight")[3].zero_();
  planted.at("decoder.layers.0.linear1.bias")[3] = 2 * 15.0 / 180;
  const double constant = planted.sample().card(*planted.model, planted.tokenizer, 3, {}).nll;
  EXPECT_NEAR(card.mean, constant - card.nll, 1e-5);
  EXPECT_GT(std::abs(card.mean - card.zero), 1e-3);
}

TEST(Neurons, FactsOfADictionaryAreThoseOfItsReconstruction) {
  Planted planted;
  const torch::Tensor one = torch::eye(planted.v);
  const auto exact = std::make_shared<SparseDictionary>(
      SparseDictionary{torch::zeros({planted.v}), torch::cat({one, -one}, 1), torch::zeros({2 * planted.v}),
                       torch::cat({one, -one}), planted.v});
  const NeuronSample neurons = planted.sample();
  const double nll = neurons.card(*planted.model, planted.tokenizer, 3, {}).nll;
  DictionaryFacts facts = planted.sample(exact).dictionary_facts(*planted.model, neurons, nll, {});
  std::set<std::int64_t> distinct{Planted::answer};  // which the feed-forward sublayer adds to the trigger
  for (const Batch& batch : planted.batches)
    for (std::int64_t i = 0; i < batch.target_in.numel(); ++i)
      distinct.insert(batch.target_in.flatten()[i].item<std::int64_t>());
  const auto live = static_cast<double>(distinct.size());
  EXPECT_EQ(facts.features, 2 * planted.v);
  EXPECT_EQ(facts.dead, 2 * planted.v - std::ssize(distinct));
  EXPECT_NEAR(facts.active, (180.0 + 15) / 180, 1e-6) << "the token, and the answer on the trigger";
  EXPECT_NEAR(facts.unexplained, 0, 1e-6);
  EXPECT_NEAR(facts.recovered, 1, 1e-5);
  EXPECT_NEAR(facts.sharper, (live - 1.5) / live, 0.51 / live) << "but for the trigger, on which a neuron is as sharp";

  // One that always gives the mean explains and recovers nothing.
  const auto empty = std::make_shared<SparseDictionary>(*exact);
  empty->b_dec = activation_sample(*planted.model, planted.batches, {true, 0}, {}, {}).values.mean(0);
  empty->w_enc = torch::zeros_like(exact->w_enc);
  facts = planted.sample(empty).dictionary_facts(*planted.model, neurons, nll, {});
  EXPECT_EQ(facts.dead, facts.features);
  EXPECT_EQ(facts.active, 0);
  EXPECT_NEAR(facts.unexplained, 1, 1e-5);
  EXPECT_NEAR(facts.recovered, 0, 1e-5);
  EXPECT_EQ(facts.sharper, 0);
}

std::shared_ptr<const SparseDictionary> identity_dictionary(std::int64_t width, const ActivationSite& of) {
  const torch::Tensor one = torch::eye(width), none = torch::zeros({width});
  return std::make_shared<const SparseDictionary>(SparseDictionary{none, one, none, one, width, of});
}

TEST(Neurons, AreTheFeaturesOfAnIdentityOfTheHiddenUnits) {
  Planted planted;
  const NeuronSample neurons = planted.sample(),
                     features = planted.sample(identity_dictionary(8, {.kind = ActivationKind::hidden}));
  const NeuronCard neuron = neurons.card(*planted.model, planted.tokenizer, 3, {});
  const NeuronCard feature = features.card(*planted.model, planted.tokenizer, 3, {});
  EXPECT_EQ(feature.direction, neuron.direction);
  EXPECT_NEAR(feature.zero, neuron.zero, 1e-6);
  EXPECT_NEAR(feature.mean, neuron.mean, 1e-6);
  EXPECT_EQ(feature.histogram, neuron.histogram);
  EXPECT_EQ(features.facts(*planted.model, planted.tokenizer, {}, {})[3].token,
            planted.tokenizer.token(Planted::trigger));
  const DictionaryFacts facts = features.dictionary_facts(*planted.model, neurons, neuron.nll, {});
  EXPECT_EQ(facts.dead, 6);
  EXPECT_NEAR(facts.unexplained, 0, 1e-6);
  EXPECT_NEAR(facts.recovered, 1, 1e-5);
}

// Every token attends only to itself and to its own copies; the head copies the trigger into the answer.
TEST(Neurons, AFeatureOfAHeadIsAblatedInItsOutput) {
  Planted planted;
  const torch::NoGradGuard no_grad;
  const std::int64_t v = planted.v;
  const torch::Tensor in = planted.at("decoder.layers.0.self_attn.in_proj_weight");
  in.slice(0, 0, 2 * v).copy_(40 * torch::eye(v).repeat({2, 1}));
  in.slice(0, 2 * v).copy_(torch::eye(v));
  planted.at("decoder.layers.0.self_attn.out_proj.weight")[Planted::answer][Planted::trigger] = 2;
  const ActivationSite head{ActivationKind::head};
  const NeuronSample features = planted.sample(identity_dictionary(v, head));
  const NeuronCard card = features.card(*planted.model, planted.tokenizer, Planted::trigger, {});
  EXPECT_EQ(card.promoted.front().token, planted.tokenizer.token(Planted::answer));
  EXPECT_EQ(card.direction[Planted::answer], 2);
  EXPECT_NEAR(features.facts(*planted.model, planted.tokenizer, {}, {})[Planted::trigger].token_r, 1, 1e-4);
  const DictionaryFacts facts = features.dictionary_facts(*planted.model, planted.sample(), card.nll, {});
  EXPECT_NEAR(facts.unexplained, 0, 1e-6);
  EXPECT_NEAR(facts.recovered, 1, 1e-5);
  Snapshot snapshot;
  for (const int id : {5, Planted::trigger}) snapshot.target_in.push_back({id, "w"});
  const Matrix live = sentence_features(*planted.model, snapshot, {true, 0}, *identity_dictionary(v, head));
  EXPECT_NEAR(live.at(1, Planted::trigger), 1, 1e-4);
  EXPECT_NEAR(live.at(1, 5), 0, 1e-4);
  planted.at("decoder.layers.0.self_attn.out_proj.weight").zero_();
  EXPECT_NEAR(card.zero, planted.sample(identity_dictionary(v, head))
                                 .card(*planted.model, planted.tokenizer, Planted::trigger, {})
                                 .nll - card.nll, 1e-4)
      << "the same as a model whose head adds nothing for it";
  EXPECT_GT(card.zero, 0.01);
}

// Six tokens have a direction of their own in the head's output, or in the hidden units; the others have none.
TEST(Neurons, PlantedDirectionsAreFoundInEveryPlace) {
  for (const ActivationKind kind : {ActivationKind::stream, ActivationKind::hidden, ActivationKind::head}) {
    Planted planted;
    const torch::NoGradGuard no_grad;
    const std::int64_t v = planted.v, width = kind == ActivationKind::hidden ? 8 : v;
    torch::manual_seed(2);
    torch::Tensor directions = torch::randn({6, width});
    if (kind == ActivationKind::hidden)  // none may be negative
      directions = torch::eye(6, width) + torch::eye(6, width).roll(1, 1);
    directions = 3 * directions / directions.norm(2, 1, true);
    planted.at("decoder.layers.0.linear1.weight").zero_();
    for (int i = 0; i < 6; ++i) {
      const torch::Tensor& direction = directions[i];
      if (kind == ActivationKind::hidden) {
        planted.at("decoder.layers.0.linear1.bias").zero_();
        planted.at("decoder.layers.0.linear1.weight").select(1, 12 + i).copy_(direction);
      } else if (kind == ActivationKind::head) {
        const torch::Tensor in = planted.at("decoder.layers.0.self_attn.in_proj_weight");
        in.slice(0, 0, 2 * v).copy_(40 * torch::eye(v).repeat({2, 1}));
        in.slice(0, 2 * v).select(1, 12 + i).copy_(direction);
      } else {
        planted.at("embedding.weight")[12 + i].copy_(direction);
      }
    }
    if (kind == ActivationKind::stream) planted.at("embedding.weight").slice(0, 0, 12).zero_();
    if (kind == ActivationKind::stream) planted.at("embedding.weight").slice(0, 18).zero_();
    const TokenSample sample = activation_sample(*planted.model, planted.batches, {true, 0}, {kind}, {});
    EXPECT_EQ(sample.values.size(1), width);
    const SparseDictionary made =
        train_dictionary(sample.values, {.width = 4, .active = 1, .steps = 1500, .of = {kind}}, {});
    EXPECT_EQ(made.of.kind, kind);
    const torch::Tensor cosine = (directions / 3).matmul(made.w_dec.t());
    EXPECT_GE(std::get<0>(cosine.max(1)).min().item<double>(), 0.9) << static_cast<int>(kind);
  }
}

TEST(Neurons, ADictionaryOfActivationsThatTheLayerLacksIsRefused) {
  const ModelConfig config = tiny_config().model;
  const auto problem = [&](bool decoder, const ActivationSite& of) {
    return neurons_problem(config, {.place = {decoder, 0}, .dictionary = DictionaryOptions{.of = of}});
  };
  EXPECT_EQ(problem(true, {ActivationKind::head, true, 1}), "");
  EXPECT_EQ(problem(false, {ActivationKind::head, false, 1}), "");
  EXPECT_THAT(problem(false, {ActivationKind::head, true, 1}), HasSubstr("no activations cross.2"));
  EXPECT_THAT(problem(false, {ActivationKind::head, false, 2}), HasSubstr("no activations head.3"));
  EXPECT_THAT(problem(false, {ActivationKind::head, false, -1}), HasSubstr("no activations head.0"));
}

// Feature 0 reads the answer's direction, feature 1 the trigger's.
TEST(Neurons, FeaturesInTheSentenceAreThoseOfTheSteeredStream) {
  Planted planted;
  SparseDictionary dictionary{.b_dec = torch::zeros({planted.v}),
                              .w_enc = torch::zeros({planted.v, 2}),
                              .b_enc = torch::zeros({2}),
                              .w_dec = torch::zeros({2, planted.v})};
  dictionary.w_enc[Planted::answer][0] = dictionary.w_enc[Planted::trigger][1] = 1;
  Snapshot snapshot;
  for (const int id : {5, Planted::trigger, 5}) snapshot.target_in.push_back({id, "w"});
  Matrix features = sentence_features(*planted.model, snapshot, {true, 0}, dictionary);
  EXPECT_THAT(features.values, testing::ElementsAre(0, 0, 4, 1, 0, 0)) << "two neurons fire by 2 each";
  Steering given{.place = {true, 0}, .factor = 2, .direction = std::vector<float>(static_cast<std::size_t>(planted.v))};
  given.direction[Planted::trigger] = 3;
  snapshot.interventions.steered = {given};
  features = sentence_features(*planted.model, snapshot, {true, 0}, dictionary);
  EXPECT_THAT(features.values, testing::ElementsAre(0, 6, 4, 7, 0, 6));
  snapshot.interventions.layers_off = {{true, 0}};
  EXPECT_TRUE(sentence_features(*planted.model, snapshot, {true, 0}, dictionary).empty());
}

class SavedDictionary : public testing::Test {
 protected:
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("attnscope-dictionary-" + std::to_string(::getpid()));
  const std::filesystem::path file = RunFolder{folder}.dictionary(false, 0);
  NeuronsQuestion question{.dictionary = DictionaryOptions{.width = 2, .active = 4, .steps = 20}};

  void SetUp() override {
    TorchEngine engine;
    engine.reset(tiny_config(), {});
    engine.save_run(folder.string());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  // Whether a dictionary was trained to answer; the answer must be `expected` if it is not negative.
  bool trains(TorchEngine& engine, double expected = -1) {
    bool trained = false;
    const NeuronsResult result =
        engine.neurons(question, *engine.watch(), [&](double done) { trained = trained || done > 0; });
    unexplained = result.dictionary.unexplained;
    EXPECT_GT(unexplained, 0);
    if (expected >= 0) {
      EXPECT_EQ(unexplained, expected);
    }
    return trained;
  }
  bool trains_again(double expected = -1) {
    TorchEngine engine;
    engine.open_run(folder.string(), {});
    return trains(engine, expected);
  }

  double unexplained = 0;
};

TEST_F(SavedDictionary, IsReadForTheSameQuestionAboutTheSameWeights) {
  EXPECT_TRUE(trains_again());
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_FALSE(trains_again(unexplained));
  question.dictionary->steps = 21;
  EXPECT_TRUE(trains_again());
  TorchEngine engine;
  engine.open_run(folder.string(), {});
  EXPECT_FALSE(trains(engine, unexplained));
  engine.train_step({});
  EXPECT_TRUE(trains(engine)) << "other weights";
}

TEST_F(SavedDictionary, IsSavedForEveryKindOfActivations) {
  const RunFolder run{folder};
  for (const ActivationSite& of : activation_sites(tiny_config().model, {})) {
    question.dictionary->of = of;
    const std::string name = of.kind == ActivationKind::stream ? "" : site_text(of);
    EXPECT_FALSE(std::filesystem::exists(run.dictionary(false, 0, name))) << name;
    EXPECT_TRUE(trains_again()) << name;
    EXPECT_TRUE(std::filesystem::exists(run.dictionary(false, 0, name))) << name;
    EXPECT_FALSE(trains_again(unexplained)) << name;
  }
}

TEST_F(SavedDictionary, IsTrainedAgainIfItsFileIsDamaged) {
  ASSERT_TRUE(trains_again());
  const double whole = unexplained;
  const std::string bytes = read_file(file, 1 << 24);
  std::string flipped = bytes;
  flipped[bytes.size() - 2] ^= 1;
  for (const std::string& damaged : {flipped, bytes.substr(0, bytes.size() / 2), std::string()}) {
    write_file(file, damaged);
    EXPECT_TRUE(trains_again(whole));
    EXPECT_EQ(read_file(file, 1 << 24), bytes);
  }
  write_file(file, "not a dictionary");
  std::filesystem::permissions(folder, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_TRUE(trains_again(whole)) << "a folder that cannot be written to";
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
}

TEST(Neurons, TheDirectionOfANeuronIsItsRowOfW2) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  const torch::Tensor w2 = parameter_named(engine.model(), "encoder.layers.0.linear2.weight");
  const NeuronsQuestion asked{.neuron = 2};
  const std::vector<float> direction = engine.direction(asked, {});
  EXPECT_TRUE(torch::equal(torch::tensor(direction), w2.select(1, 2)));
  EXPECT_EQ(engine.neurons(asked, *engine.watch(), [](double) {}).card.direction, direction);
  EXPECT_THROW(engine.direction({.neuron = 1 << 20}, {}), std::runtime_error);
  EXPECT_THROW(engine.direction({.place = {false, 7}}, {}), std::runtime_error);
}

TEST(Neurons, OfARunAreMeasuredInEveryStackAndOverTraining) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  engine.record_weights();
  for (int step = 0; step < 3; ++step) engine.train_step({});
  for (const bool decoder : {false, true}) {
    const NeuronsQuestion asked{.place = {decoder, 0}, .neuron = 2, .over_training = true};
    const NeuronsResult result = engine.neurons(asked, *engine.watch(), [](double) {});
    ASSERT_EQ(result.problem, "");
    EXPECT_EQ(result.neurons.size(), static_cast<std::size_t>(engine.config().model.d_ff));
    EXPECT_GT(result.tokens, 0);
    ASSERT_EQ(result.card.points.size(), 2U);
    EXPECT_EQ(result.card.points.back().step, 3);
    EXPECT_EQ(result.neurons[0].promoted.empty(), !decoder) << "no output matrix reads the encoder";
    EXPECT_EQ(result.card.hurt.empty(), !decoder);
  }
  EXPECT_THAT(engine.neurons({.place = {true, 9}}, *engine.watch(), [](double) {}).problem,
              HasSubstr("Layer 10 does not exist; layers of the decoder:"));
}

}  // namespace
}  // namespace attnscope
