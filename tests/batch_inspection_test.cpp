// The batch that is shown is the one that the trainer takes next, with the zeros that its dropout draws.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "inspect/probe/tensors.h"
#include "model/dropout_places.h"
#include "model/inspection.h"
#include "model/kernels/dropout.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

std::vector<std::int64_t> ids_of(const torch::Tensor& ids) {
  return {ids.data_ptr<std::int64_t>(), ids.data_ptr<std::int64_t>() + ids.numel()};
}

void expect_same(const BatchSide& side, const torch::Tensor& ids, const Tokenizer& tokenizer) {
  ASSERT_EQ(side.rows, ids.size(0));
  ASSERT_EQ(side.cols, ids.size(1));
  EXPECT_EQ(std::vector<std::int64_t>(side.ids.begin(), side.ids.end()), ids_of(ids.contiguous()));
  for (std::size_t i = 0; i < side.ids.size(); ++i) {
    if (side.ids[i] != Tokenizer::pad_id) {
      EXPECT_EQ(side.tokens[i], tokenizer.token(side.ids[i]));
    }
  }
}

std::shared_ptr<const BatchInspection> result(TorchEngine& engine, int part = 0) {
  std::shared_ptr<const Snapshot> last;
  engine.probe({.request = 1, .text = "a b c", .batch = BatchWanted{part}}, [&](auto taken) { last = taken; }, {});
  return last->batch;
}

TEST(BatchInspection, IsTheBatchOfTheComingUpdate) {
  TorchEngine engine;
  const Config config = tiny_config();
  engine.reset(config, {});
  const auto dataset = engine.dataset();
  BatchSequence sequence(dataset->train, {config.training.batch_size, config.training.batch_tokens},
                         config.training.seed);
  for (std::int64_t step = 0; step < 3; ++step) {
    const auto shown = result(engine);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->problem, "");
    EXPECT_EQ(shown->step, step + 1);
    const Batch taken = make_batch(dataset->train, sequence.at(step), torch::kCPU);
    if (shown->parts == 1) {
      expect_same(shown->source, taken.source, engine.tokenizer());
      expect_same(shown->target_in, taken.target_in, engine.tokenizer());
      expect_same(shown->target_out, taken.target_out, engine.tokenizer());
    }
    engine.train_step({});
  }
}

TEST(BatchInspection, PartsAreTheTrainersTogetherTheWholeBatch) {
  const Config config = tiny_config();
  TorchEngine engine;
  engine.reset(config, {});
  const auto dataset = engine.dataset();
  BatchInspector inspector(config, dataset);
  const auto indices = BatchSequence(dataset->train, {config.training.batch_size}, config.training.seed).at(4);
  const auto parts = balanced_shards(dataset->train, indices, 3);
  int rows = 0;
  for (int i = 0; i < 3; ++i) {
    const BatchInspection shown = inspector.inspect({i}, config, engine.tokenizer(), 4, 3);
    EXPECT_EQ(shown.parts, 3);
    expect_same(shown.source, make_batch(dataset->train, parts[static_cast<std::size_t>(i)], torch::kCPU).source,
                engine.tokenizer());
    rows += shown.source.rows;
  }
  EXPECT_EQ(rows, config.training.batch_size);
  EXPECT_EQ(inspector.inspect({99}, config, engine.tokenizer(), 4, 3).asked.part, 2);
}

TEST(BatchInspection, ALanguageModelHasWindowsWithoutSourceOrPadding) {
  Config config = tiny_config();
  config.model.architecture = "decoder-only";
  TorchEngine engine;
  engine.reset(config, {});
  const auto shown = result(engine);
  EXPECT_EQ(shown->source.rows, 0);
  EXPECT_EQ(shown->target_in.rows, config.training.batch_size);
  EXPECT_EQ(shown->padding_made, 0);
  EXPECT_EQ(std::ranges::count(shown->target_in.ids, Tokenizer::pad_id), 0);
  for (int col = 1; col < shown->target_in.cols; ++col)
    EXPECT_EQ(shown->target_in.id(0, col), shown->target_out.id(0, col - 1));
}

TEST(BatchInspection, BatchesOfLikeLengthHaveLessPadding) {
  // Four pairs, two lengths: alike beside alike there is none.
  const std::vector<EncodedPair> pairs = {{{4, 2}, {}}, {{4, 4, 4, 2}, {4, 4}}, {{5, 2}, {}}, {{5, 5, 5, 2}, {5, 5}}};
  EXPECT_DOUBLE_EQ(padding_share(pairs, {{0, 2}, {1, 3}}), 0);
  // Longest 4 and 3: 2 rows × 7 places, of which 2 + 1 and 4 + 3 are pieces.
  EXPECT_DOUBLE_EQ(padding_share(pairs, {{0, 1}, {2, 3}}), 1 - 20.0 / 28.0);
  EXPECT_EQ(padding_share(pairs, {}), 0);

  TorchEngine engine;
  engine.reset(tiny_config(), {});
  const auto shown = result(engine);
  EXPECT_LT(shown->padding_sorted, shown->padding_made);
  EXPECT_GT(shown->padding_made, 0.1);
}

class DropoutOf : public testing::TestWithParam<const char*> {};

// The model trained on that part zeroes what the page shows.
TEST_P(DropoutOf, TheEmbeddingIsTheModelsOwn) {
  Config config = tiny_config();
  config.model.architecture = GetParam();
  config.model.dropout = 0.3;
  TorchEngine engine;
  engine.reset(config, {});
  const auto shown = result(engine);
  const auto dataset = engine.dataset();
  const Batch part = BatchSource(config, dataset).parts(0, shown->parts, torch::kCPU).front();

  SequenceModel& model = engine.model();
  const torch::NoGradGuard no_grad;
  const auto embedded = [&](bool trained) {
    model.train(trained);
    const kernels::DropoutScope scope(config.training.seed, 0, 0);
    Inspection record{.sublayers_wanted = true};
    if (part.source.defined()) {
      model.encode(part.source, part.source_padding, &record);
    } else {
      model.decode(part.target_in, {}, nullptr, &record);
    }
    return record.sublayers.front().x[0].slice(0, 0, shown->kept.rows);
  };
  const torch::Tensor dropped = embedded(true), whole = embedded(false);
  const torch::Tensor kept = torch::tensor(shown->kept.values).view({shown->kept.rows, shown->kept.cols});
  EXPECT_LE((dropped - whole * kept).abs().max().item<double>(), 1e-5);
  const double zeros = kept.eq(0).to(torch::kFloat64).mean().item<double>();
  EXPECT_NEAR(zeros, 0.3, 0.1);
  EXPECT_EQ(shown->dropout, 0.3);
}

INSTANTIATE_TEST_SUITE_P(Architectures, DropoutOf, testing::Values("encoder-decoder", "decoder-only"));

// ---- dropout's places

Config dropping(const std::string& architecture) {
  Config config = tiny_config();
  config.model.architecture = architecture;
  config.model.dropout = 0.3;
  return config;
}

DroppedPass pass_of(const Batch& part) {
  return {part.target_in.size(0), part.source.defined() ? part.source.size(1) : 0, part.target_in.size(1)};
}

Batch first_part(TorchEngine& engine, const Config& config, int parts) {
  return BatchSource(config, engine.dataset()).parts(0, parts, torch::kCPU).front();
}

// How many dropouts a pass over that part draws.
std::int64_t drawn_by(SequenceModel& model, const Batch& part, double p) {
  const torch::NoGradGuard no_grad;
  model.train(true);
  const kernels::DropoutScope scope(1, 0, 0);
  const Memory memory = part.source.defined() ? model.encode(part.source, part.source_padding) : Memory();
  model.decode(part.target_in, memory);
  return kernels::next_dropout(p).key.words[3];
}

// There is none at padding, where nothing is computed.
TEST(DropoutPlaces, AreShownForThePiecesOfTheFirstRow) {
  const Config config = dropping("encoder-decoder");
  TorchEngine engine;
  engine.reset(config, {});
  BatchInspector inspector(config, engine.dataset());
  const auto inspect = [&](std::int64_t step, int place) {
    return inspector.inspect({0, place}, config, engine.tokenizer(), step, 1);
  };
  std::int64_t step = 0;
  const auto is_padded = [](const BatchSide& side) { return side.length(0) < side.cols; };
  for (BatchInspection first = inspect(0, 0); !is_padded(first.source) || !is_padded(first.target_in);
       first = inspect(++step, 0))
    ASSERT_LT(step, 100) << "no batch begins with a short pair";
  const BatchInspection all = inspect(step, 0);
  for (std::size_t i = 0; i < all.dropout_places.size(); ++i) {
    const DropoutPlace& place = all.dropout_places[i];
    const BatchInspection shown = inspect(step, static_cast<int>(i));
    const int tokens = (place.of_target ? shown.target_in : shown.source).length(0);
    using Columns = DropoutPlace::Columns;
    const bool weights = place.columns == Columns::source || place.columns == Columns::target;
    const int keys = (place.columns == Columns::source ? shown.source : shown.target_in).length(0);
    const int width =
        static_cast<int>(place.columns == Columns::hidden_units ? config.model.d_ff : config.model.d_model);
    EXPECT_EQ(shown.kept.rows, weights ? config.model.num_heads * tokens : tokens) << place.name;
    EXPECT_EQ(shown.kept.cols, weights ? keys : width) << place.name;
  }
}

TEST(DropoutPlaces, ArePlaceForPlaceWhatAPassDraws) {
  std::vector<Config> ways;
  for (const char* architecture : {"encoder-decoder", "decoder-only"}) {
    ways.push_back(dropping(architecture));
    ways.push_back(dropping(architecture));
    ways.back().model.norm = "pre";
    ways.back().model.activation = "swiglu";
    ways.back().model.num_encoder_layers = ways.back().model.num_decoder_layers = 3;
  }
  for (const char* attention : {"none", "luong-general", "bahdanau"}) {
    ways.push_back(dropping("recurrent"));
    ways.back().model.attention = attention;
    ways.back().model.num_encoder_layers = 2;
    ways.back().model.num_decoder_layers = 3;
  }
  for (const Config& config : ways) {
    TorchEngine engine;
    engine.reset(config, {});
    const Batch part = first_part(engine, config, 1);
    const auto places = dropout_places(config.model, pass_of(part));
    EXPECT_EQ(places.back().drawn + 1, drawn_by(engine.model(), part, 0.3))
        << config.model.architecture << " " << config.model.attention;
    for (const PlacedDropout& dropout : places) {
      const torch::Tensor mask = dropout_of_row(dropout, config.model, pass_of(part), {});
      EXPECT_NEAR(mask.eq(0).to(torch::kFloat64).mean().item<double>(), 0.3, 0.25) << dropout.place.name;
    }
  }
}

// The decoder draws for every piece that it writes before it is given them.
TEST(DropoutPlaces, ComeAfterWhatFreeRunningDraws) {
  const Config config = dropping("encoder-decoder");
  DroppedPass told{2, 4, 5}, free{2, 4, 5, 4};
  const auto before = dropout_places(config.model, told), after = dropout_places(config.model, free);
  ASSERT_EQ(before.size(), after.size());
  const auto of_target = std::ranges::count(before, true, [](const PlacedDropout& d) { return d.place.of_target; });
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after[i].drawn - before[i].drawn, before[i].place.of_target ? 4 * of_target : 0) << before[i].place.name;
}

// A pass of one layer each by hand, each dropout a multiplication with the mask that the page shows.
class ByHand {
 public:
  ByHand(SequenceModel& model, const Config& config, const Batch& part) : config_(config.model) {
    for (const auto& parameter : model.named_parameters()) tensors_[parameter.key()] = parameter.value();
    const DroppedPass pass = pass_of(part);
    for (const PlacedDropout& dropout : dropout_places(config.model, pass))
      masks_.push_back(dropout_of_row(dropout, config.model, pass, {config.training.seed, 0, 0}));
  }

  // x: L×D, dropped as it comes. A statement a mask: they are drawn in this order.
  torch::Tensor layer(const std::string& name, torch::Tensor x, const torch::Tensor& memory, bool look_ahead) {
    torch::Tensor added = attend(name + "self_attn.", x, x, look_ahead);
    x = norm(name + "norm1", x + dropped(added));
    if (memory.defined()) {
      added = attend(name + "multihead_attn.", x, memory, false);
      x = norm(name + "norm2", x + dropped(added));
    }
    const torch::Tensor hidden = dropped(torch::relu(linear(name + "linear1", x)));
    added = linear(name + "linear2", hidden);
    return norm(name + (memory.defined() ? "norm3" : "norm2"), x + dropped(added));
  }

  torch::Tensor dropped(const torch::Tensor& x) { return x * masks_.at(next_++).view(x.sizes()); }
  torch::Tensor finished(const std::string& name, const torch::Tensor& x) {
    return config_.final_norm ? norm(name, x) : x;
  }

 private:
  torch::Tensor linear(const std::string& name, const torch::Tensor& x) {
    return torch::linear(x, tensors_.at(name + ".weight"), tensors_.at(name + ".bias"));
  }
  torch::Tensor norm(const std::string& name, const torch::Tensor& x) {
    return torch::layer_norm(x, {x.size(1)}, tensors_.at(name + ".weight"), tensors_.at(name + ".bias"), 1e-5);
  }
  torch::Tensor attend(const std::string& name, const torch::Tensor& x, const torch::Tensor& memory, bool look_ahead) {
    const auto w = tensors_.at(name + "in_proj_weight").chunk(3), b = tensors_.at(name + "in_proj_bias").chunk(3);
    const auto heads = [&](const torch::Tensor& of, int i) {
      return torch::linear(of, w[i], b[i]).view({of.size(0), config_.num_heads, -1}).transpose(0, 1);
    };
    const torch::Tensor q = heads(x, 0), k = heads(memory, 1), v = heads(memory, 2);
    torch::Tensor scores = q.matmul(k.transpose(1, 2)) / std::sqrt(static_cast<double>(q.size(2)));
    if (look_ahead) scores = scores + torch::full({x.size(0), x.size(0)}, -1e9).triu(1);
    const torch::Tensor weights = torch::softmax(scores, -1);
    const torch::Tensor mixed = dropped(weights).matmul(v);
    return linear(name + "out_proj", mixed.transpose(0, 1).flatten(1));
  }

  const ModelConfig& config_;
  std::map<std::string, torch::Tensor> tensors_;
  std::vector<torch::Tensor> masks_;
  std::size_t next_ = 0;
};

TEST(DropoutPlaces, AreMultipliedWithInThePass) {
  Config config = dropping("encoder-decoder");
  config.model.num_encoder_layers = config.model.num_decoder_layers = 1;
  config.model.positions = "sinusoidal";  // told before the first layer: by hand nothing is turned
  TorchEngine engine;
  engine.reset(config, {});
  SequenceModel& model = engine.model();
  Batch part = first_part(engine, config, 1);
  part.source_padding = torch::Tensor();  // by hand nothing is masked but what comes later

  const torch::NoGradGuard no_grad;
  model.train(false);
  Inspection bare{.sublayers_wanted = true};
  const Memory plain = model.encode(part.source, {}, &bare);
  model.decode(part.target_in, plain, nullptr, &bare);
  ASSERT_EQ(bare.sublayers.size(), 2U + 3U);
  const torch::Tensor source = bare.sublayers[0].x[0], target = bare.sublayers[2].x[0];
  ByHand hand(model, config, part);
  const torch::Tensor memory =
      hand.finished("encoder.norm", hand.layer("encoder.layers.0.", hand.dropped(source), {}, false));
  const torch::Tensor expected =
      hand.finished("decoder.norm", hand.layer("decoder.layers.0.", hand.dropped(target), memory, true));

  model.train(true);
  const kernels::DropoutScope scope(config.training.seed, 0, 0);
  const Memory encoded = model.encode(part.source, {});
  EXPECT_LE((encoded.states[0] - memory).abs().max().item<double>(), 1e-5);
  EXPECT_LE((model.decode(part.target_in, encoded)[0] - expected).abs().max().item<double>(), 1e-5);
}

TEST(BatchInspection, IsMadeOnlyWhenItIsAskedFor) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  std::shared_ptr<const Snapshot> last;
  engine.probe({.request = 1, .text = "a b"}, [&](auto taken) { last = taken; }, {});
  EXPECT_FALSE(last->batch);
}

}  // namespace
}  // namespace attnscope
