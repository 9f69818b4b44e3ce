// The recurrent cells against torch::nn's carrying the same weights, attention against loops over its formulas, and
// what every architecture promises about padding, the future and the cache.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>

#include "model/cells.h"
#include "model/model.h"
#include "model/recurrent_attention.h"

namespace attnscope {
namespace {

constexpr double tolerance = 1e-5;
constexpr std::int64_t vocab_size = 50;

double difference(const torch::Tensor& a, const torch::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return a.sizes() == b.sizes() ? (a - b).abs().max().item<double>() : 1e30;
}

// B×L ids from 4 up, so that none is a special piece.
torch::Tensor random_ids(std::int64_t rows, std::int64_t length) {
  return torch::randint(4, vocab_size, {rows, length}, torch::kInt64);
}

// True from each row's length on.
torch::Tensor padding_after(const std::vector<std::int64_t>& lengths, std::int64_t length) {
  return torch::arange(length).unsqueeze(0).ge(torch::tensor(lengths).unsqueeze(1));
}

// ---- torch::nn's recurrent modules behind one face

struct PeerOutput {
  torch::Tensor outputs;              // L×B×D
  std::vector<torch::Tensor> states;  // h and, in an LSTM, c: (layers · directions)×B×H
};

class Peer {
 public:
  virtual ~Peer() = default;
  virtual torch::nn::Module& module() = 0;
  // states: as PeerOutput::states, or empty for zeros.
  virtual PeerOutput forward(const torch::Tensor& x, const std::vector<torch::Tensor>& states) = 0;
  virtual PeerOutput forward_packed(const torch::Tensor& x, const std::vector<std::int64_t>& lengths) = 0;
};

torch::nn::utils::rnn::PackedSequence packed(const torch::Tensor& x, const std::vector<std::int64_t>& lengths) {
  return torch::nn::utils::rnn::pack_padded_sequence(x, torch::tensor(lengths), false, false);
}

torch::Tensor unpacked(const torch::nn::utils::rnn::PackedSequence& sequence) {
  return std::get<0>(torch::nn::utils::rnn::pad_packed_sequence(sequence));
}

// RNN and GRU
template <typename Module>
class PlainPeer final : public Peer {
 public:
  explicit PlainPeer(Module made) : module_(std::move(made)) {}
  torch::nn::Module& module() override { return *module_; }
  PeerOutput forward(const torch::Tensor& x, const std::vector<torch::Tensor>& states) override {
    const auto [outputs, h] = states.empty() ? module_->forward(x) : module_->forward(x, states[0]);
    return {outputs, {h}};
  }
  PeerOutput forward_packed(const torch::Tensor& x, const std::vector<std::int64_t>& lengths) override {
    const auto [outputs, h] = module_->forward_with_packed_input(packed(x, lengths));
    return {unpacked(outputs), {h}};
  }

 private:
  Module module_;
};

class LstmPeer final : public Peer {
 public:
  explicit LstmPeer(torch::nn::LSTM made) : module_(std::move(made)) {}
  torch::nn::Module& module() override { return *module_; }
  PeerOutput forward(const torch::Tensor& x, const std::vector<torch::Tensor>& states) override {
    const auto [outputs, last] =
        states.empty() ? module_->forward(x) : module_->forward(x, std::make_tuple(states[0], states[1]));
    return {outputs, {std::get<0>(last), std::get<1>(last)}};
  }
  PeerOutput forward_packed(const torch::Tensor& x, const std::vector<std::int64_t>& lengths) override {
    const auto [outputs, last] = module_->forward_with_packed_input(packed(x, lengths));
    return {unpacked(outputs), {std::get<0>(last), std::get<1>(last)}};
  }

 private:
  torch::nn::LSTM module_;
};

struct Shape {
  std::string cell = "lstm";
  std::int64_t input_width = 6, width = 8, num_layers = 2;
  bool bidirectional = false;
};

std::unique_ptr<Peer> make_peer(const Shape& shape) {
  const std::int64_t hidden = shape.bidirectional ? shape.width / 2 : shape.width;
  const auto with = [&](auto options) {
    return options.num_layers(shape.num_layers).bidirectional(shape.bidirectional);
  };
  if (shape.cell == "rnn") {
    return std::make_unique<PlainPeer<torch::nn::RNN>>(
        torch::nn::RNN(with(torch::nn::RNNOptions(shape.input_width, hidden))));
  }
  if (shape.cell == "gru") {
    return std::make_unique<PlainPeer<torch::nn::GRU>>(
        torch::nn::GRU(with(torch::nn::GRUOptions(shape.input_width, hidden))));
  }
  return std::make_unique<LstmPeer>(torch::nn::LSTM(with(torch::nn::LSTMOptions(shape.input_width, hidden))));
}

// Every parameter of the peer takes the value of ours with that name; ours must have no others below the prefix.
void copy_weights(torch::nn::Module& from, torch::nn::Module& to, const std::string& prefix = "") {
  torch::NoGradGuard no_grad;
  const auto source = from.named_parameters();
  std::size_t expected = 0;
  for (const auto& item : source) expected += item.key().starts_with(prefix) ? 1 : 0;
  ASSERT_EQ(expected, to.named_parameters().size());
  for (auto& item : to.named_parameters()) {
    ASSERT_TRUE(source.contains(prefix + item.key())) << prefix + item.key();
    ASSERT_EQ(source[prefix + item.key()].sizes(), item.value().sizes()) << item.key();
    item.value().copy_(source[prefix + item.key()]);
  }
}

// One tensor (layers · directions)×B×H as torch::nn has it, from ours of each layer, directions side by side.
torch::Tensor stacked(const std::vector<torch::Tensor>& layers, std::int64_t num_directions) {
  std::vector<torch::Tensor> parts;
  for (const torch::Tensor& layer : layers) {
    for (const torch::Tensor& part : layer.chunk(num_directions, 1)) parts.push_back(part);
  }
  return torch::stack(parts);
}

std::vector<torch::Tensor> peer_states(const std::vector<CellState>& states, std::int64_t num_directions) {
  std::vector<torch::Tensor> h, c;
  for (const CellState& state : states) {
    h.push_back(state.h);
    if (state.c.defined()) c.push_back(state.c);
  }
  if (c.empty()) return {stacked(h, num_directions)};
  return {stacked(h, num_directions), stacked(c, num_directions)};
}

// ---- cells

class Cells : public testing::TestWithParam<std::tuple<const char*, int, bool>> {
 protected:
  void SetUp() override {
    torch::manual_seed(3);
    shape.cell = std::get<0>(GetParam());
    shape.num_layers = std::get<1>(GetParam());
    shape.bidirectional = std::get<2>(GetParam());
    num_directions = shape.bidirectional ? 2 : 1;
    ours = RecurrentStack(cell_kind(shape.cell), shape.input_width, shape.width, shape.num_layers, shape.bidirectional);
    peer = make_peer(shape);
    copy_weights(*ours, peer->module());
  }

  std::vector<CellState> random_states(std::int64_t rows) {
    std::vector<CellState> states = ours->initial_states(rows);
    for (CellState& state : states) {
      state.h = torch::randn_like(state.h).requires_grad_();
      if (state.c.defined()) state.c = torch::randn_like(state.c).requires_grad_();
    }
    return states;
  }

  Shape shape;
  std::int64_t num_directions = 1;
  RecurrentStack ours{nullptr};
  std::unique_ptr<Peer> peer;
};

INSTANTIATE_TEST_SUITE_P(All, Cells,
                         testing::Combine(testing::Values("rnn", "lstm", "gru"), testing::Values(1, 2),
                                          testing::Bool()));

TEST_P(Cells, EqualTorchInValuesAndEveryGradient) {
  const torch::Tensor x = torch::randn({5, 3, shape.input_width}).requires_grad_();
  const std::vector<CellState> first = random_states(3);
  std::vector<CellState> states = first;
  const torch::Tensor outputs = ours->forward(x, {}, states, 0);
  const std::vector<torch::Tensor> last = peer_states(states, num_directions);
  const PeerOutput theirs = peer->forward(x, peer_states(first, num_directions));
  EXPECT_LT(difference(outputs, theirs.outputs), tolerance);
  const torch::Tensor weights = torch::randn_like(outputs);
  torch::Tensor our_loss = (outputs * weights).sum();
  torch::Tensor their_loss = (theirs.outputs * weights).sum();
  for (std::size_t i = 0; i < last.size(); ++i) {
    EXPECT_LT(difference(last[i], theirs.states[i]), tolerance);
    const torch::Tensor state_weights = torch::randn_like(last[i]);
    our_loss = our_loss + (last[i] * state_weights).sum();
    their_loss = their_loss + (theirs.states[i] * state_weights).sum();
  }

  std::vector<torch::Tensor> our_inputs = tensors_of(first), their_inputs = our_inputs;
  our_inputs.push_back(x);
  their_inputs.push_back(x);
  std::vector<std::string> names(our_inputs.size(), "input or state");
  auto their_parameters = peer->module().named_parameters();
  for (const auto& item : ours->named_parameters()) {
    names.push_back(item.key());
    our_inputs.push_back(item.value());
    their_inputs.push_back(their_parameters[item.key()]);
  }
  const auto our_gradients = torch::autograd::grad({our_loss}, our_inputs);
  const auto their_gradients = torch::autograd::grad({their_loss}, their_inputs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_GT(our_gradients[i].abs().max().item<double>(), 0) << names[i];
    EXPECT_LT(difference(our_gradients[i], their_gradients[i]), tolerance) << names[i];
  }
}

TEST_P(Cells, ReadPaddedRowsAsTorchReadsPackedOnes) {
  const std::vector<std::int64_t> lengths{2, 5, 1, 4};
  const torch::Tensor padding = padding_after(lengths, 5).t();  // L×B
  const torch::Tensor x = torch::randn({5, 4, shape.input_width});
  std::vector<CellState> states = ours->initial_states(4);
  const torch::Tensor outputs = ours->forward(x, padding, states, 0);
  const PeerOutput theirs = peer->forward_packed(x, lengths);
  EXPECT_LT(difference(outputs.masked_fill(padding.unsqueeze(2), 0), theirs.outputs), tolerance);
  const std::vector<torch::Tensor> last = peer_states(states, num_directions);
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_LT(difference(last[i], theirs.states[i]), tolerance);
}

TEST_P(Cells, BeginWithinOneByTheRootOfTheWidth) {
  const std::int64_t hidden = shape.width / num_directions;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  for (const auto& item : ours->named_parameters()) {
    const double largest = item.value().abs().max().item<double>();
    EXPECT_LE(largest, bound) << item.key();
    EXPECT_GT(largest, bound / 2) << item.key();
  }
}

TEST_P(Cells, DropBetweenLayersOnlyAndOnlyWhileTraining) {
  const torch::Tensor x = torch::randn({5, 3, shape.input_width});
  const auto outputs = [&](double dropout) {
    std::vector<CellState> states = ours->initial_states(3);
    return ours->forward(x, {}, states, dropout);
  };
  ours->eval();
  const torch::Tensor whole = outputs(0.5);
  EXPECT_EQ(difference(whole, outputs(0)), 0);
  ours->train();
  EXPECT_EQ(difference(whole, outputs(0)), 0);
  if (shape.num_layers == 1) {
    EXPECT_EQ(difference(whole, outputs(0.5)), 0);
  } else {
    EXPECT_GT(difference(whole, outputs(0.5)), 1e-3);
  }
}

TEST(CellStates, AreTensorsInARowAndBack) {
  const torch::Tensor a = torch::rand({1}), b = torch::rand({1}), c = torch::rand({1}), d = torch::rand({1});
  EXPECT_THAT(tensors_of({{a, b}, {c, d}}), testing::SizeIs(4));
  const std::vector<CellState> lstm = states_of(CellKind::lstm, {a, b, c, d});
  ASSERT_THAT(lstm, testing::SizeIs(2));
  EXPECT_TRUE(lstm[1].h.is_same(c));
  EXPECT_TRUE(lstm[1].c.is_same(d));
  const std::vector<CellState> gru = states_of(CellKind::gru, {a, b});
  ASSERT_THAT(gru, testing::SizeIs(2));
  EXPECT_TRUE(gru[1].h.is_same(b));
  EXPECT_FALSE(gru[1].c.defined());
}

// ---- attention

// The papers' formulas for one state s and one source position h, D each.
double score_by_hand(const std::string& score, torch::nn::Module& attention, const torch::Tensor& s,
                     const torch::Tensor& h) {
  const auto parameters = attention.named_parameters();
  if (score == "luong-dot") return s.dot(h).item<double>();
  const torch::Tensor W = parameters["W.weight"];
  if (score == "luong-general") return s.dot(torch::mv(W, h)).item<double>();
  const torch::Tensor U = parameters["U.weight"], v = parameters["v.weight"].squeeze(0);
  if (score == "bahdanau") return v.dot(torch::tanh(torch::mv(W, s) + torch::mv(U, h))).item<double>();
  return v.dot(torch::tanh(torch::mv(torch::cat({W, U}, 1), torch::cat({s, h})))).item<double>();
}

// Weights T×S of one row, by a softmax over the keys that are not padding.
torch::Tensor weights_by_hand(const std::string& score, torch::nn::Module& attention, const torch::Tensor& states,
                              const torch::Tensor& source, const torch::Tensor& padding) {
  torch::Tensor weights = torch::zeros({states.size(0), source.size(0)});
  for (std::int64_t t = 0; t < states.size(0); ++t) {
    double sum = 0;
    for (const bool divide : {false, true}) {
      for (std::int64_t j = 0; j < source.size(0); ++j) {
        if (padding[j].item<bool>()) continue;
        const double power = std::exp(score_by_hand(score, attention, states[t], source[j]));
        if (divide) weights[t][j] = power / sum;
        if (!divide) sum += power;
      }
    }
  }
  return weights;
}

class Attention : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, Attention, testing::Values("bahdanau", "luong-dot", "luong-general", "luong-concat"));

TEST_P(Attention, EqualsItsFormulaInLoops) {
  torch::manual_seed(5);
  torch::NoGradGuard no_grad;
  RecurrentAttention attention(GetParam(), 8);
  Memory memory;
  memory.states = torch::randn({2, 5, 8});
  memory.padding = padding_after({5, 3}, 5);
  const torch::Tensor states = torch::randn({2, 4, 8});
  const Seen seen = attention->attend(states, attention->keys(memory), memory);
  const torch::Tensor readout = attention->readout(seen.contexts, states);
  const torch::Tensor W_c = attention->named_parameters()["W_c.weight"];
  for (std::int64_t b = 0; b < 2; ++b) {
    const torch::Tensor weights =
        weights_by_hand(GetParam(), *attention, states[b], memory.states[b], memory.padding[b]);
    EXPECT_LT(difference(seen.weights[b], weights), tolerance);
    for (std::int64_t t = 0; t < 4; ++t) {
      torch::Tensor context = torch::zeros({8});
      for (std::int64_t j = 0; j < 5; ++j) context += weights[t][j] * memory.states[b][j];
      EXPECT_LT(difference(seen.contexts[b][t], context), tolerance);
      EXPECT_LT(difference(readout[b][t], torch::tanh(torch::mv(W_c, torch::cat({context, states[b][t]})))), tolerance);
    }
  }
}

// ---- the whole

ModelConfig recurrent_config(const std::string& cell, const std::string& attention, bool bidirectional = false) {
  ModelConfig config;
  config.architecture = "recurrent";
  config.cell = cell;
  config.attention = attention;
  config.bidirectional = bidirectional;
  config.num_decoder_layers = 2;  // as many as in the encoder: one of PyTorch's networks has the sizes of both
  config.d_model = 16;
  config.max_length = 40;
  return config;
}

// With scores far enough apart for attention to be of consequence.
Model seeded_model(const ModelConfig& config) {
  torch::manual_seed(7);
  Model model = make_model(config, vocab_size);
  torch::NoGradGuard no_grad;
  for (auto& item : model->named_parameters()) item.value().mul_(3);
  model->eval();
  return model;
}

class Whole : public testing::TestWithParam<std::tuple<const char*, const char*, bool>> {
 protected:
  ModelConfig config = recurrent_config(std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam()));
  Model model = seeded_model(config);
  torch::Tensor source = random_ids(3, 6);
  torch::Tensor target = random_ids(3, 5);
  torch::Tensor padding = padding_after({6, 3, 5}, 6);
  torch::NoGradGuard no_grad;
};

INSTANTIATE_TEST_SUITE_P(All, Whole,
                         testing::Combine(testing::Values("rnn", "lstm", "gru"),
                                          testing::Values("none", "bahdanau", "luong-dot", "luong-general",
                                                          "luong-concat"),
                                          testing::Bool()));

// Encoder and decoder are torch::nn's, fed token by token; attention is the loops above.
TEST_P(Whole, EqualsTorchWithAttentionInLoops) {
  const std::string score = std::get<1>(GetParam());
  Shape shape{config.cell, config.d_model, config.d_model, config.num_encoder_layers, config.bidirectional};
  const std::unique_ptr<Peer> encoder = make_peer(shape);
  copy_weights(*model, encoder->module(), "encoder.");
  shape.bidirectional = false;
  if (score == "bahdanau") shape.input_width *= 2;
  const std::unique_ptr<Peer> decoder = make_peer(shape);
  copy_weights(*model, decoder->module(), "decoder.");
  const auto parameters = model->named_parameters();
  const torch::Tensor E = parameters["embedding.weight"] * std::sqrt(static_cast<double>(model->config().d_model));
  const auto attention = score == "none" ? nullptr : model->named_children()["attention"];

  const std::int64_t row = 1;  // its source has three pieces
  const PeerOutput read = encoder->forward(torch::embedding(E, source[row].slice(0, 0, 3).unsqueeze(1)), {});
  const torch::Tensor memory = read.outputs.squeeze(1);
  std::vector<torch::Tensor> states;  // both directions of a layer side by side
  for (const torch::Tensor& state : read.states) {
    states.push_back(state.view({config.num_encoder_layers, -1, 1, state.size(2)}).transpose(1, 2).flatten(2));
  }
  const auto context_of = [&](const torch::Tensor& s) {
    return torch::mv(memory.t(),
                     weights_by_hand(score, *attention, s.unsqueeze(0), memory, torch::zeros({3}, torch::kBool))[0]);
  };
  const torch::Tensor features = model->decode(target, model->encode(source, padding));
  for (std::int64_t t = 0; t < target.size(1); ++t) {
    torch::Tensor x = E[target[row][t].item<std::int64_t>()];
    torch::Tensor context;
    if (score == "bahdanau") {
      context = context_of(states[0][-1][0]);
      x = torch::cat({x, context});
    }
    const PeerOutput stepped = decoder->forward(x.view({1, 1, -1}), states);
    states = stepped.states;
    torch::Tensor feature = stepped.outputs.flatten();
    if (attention) {
      if (!context.defined()) context = context_of(feature);
      feature = torch::tanh(torch::mv(parameters["attention.W_c.weight"], torch::cat({context, feature})));
    }
    EXPECT_LT(difference(features[row][t], feature), tolerance) << t;
  }
}

TEST_P(Whole, SeesNothingOfTheFuture) {
  const Memory memory = model->encode(source, padding);
  const torch::Tensor before = model->decode(target, memory);
  torch::Tensor changed = target.clone();
  changed.slice(1, 3) = random_ids(3, 2);
  const torch::Tensor after = model->decode(changed, memory);
  EXPECT_EQ(difference(before.slice(1, 0, 3), after.slice(1, 0, 3)), 0);
  EXPECT_GT(difference(before.slice(1, 3), after.slice(1, 3)), 1e-3);
}

TEST_P(Whole, ChangesNothingForPadding) {
  const torch::Tensor features = model->decode(target, model->encode(source, padding));
  const torch::Tensor longer = torch::cat({source.masked_fill(padding, 9), random_ids(3, 4)}, 1);
  const torch::Tensor more = torch::cat({padding, torch::ones({3, 4}, torch::kBool)}, 1);
  EXPECT_LT(difference(features, model->decode(target, model->encode(longer, more))), tolerance);
}

TEST_P(Whole, TreatsARowInABatchAsAlone) {
  const std::vector<std::int64_t> lengths{6, 3, 5};
  const torch::Tensor features = model->decode(target, model->encode(source, padding));
  for (std::int64_t b = 0; b < 3; ++b) {
    const torch::Tensor own = source.slice(0, b, b + 1).slice(1, 0, lengths[b]);
    const torch::Tensor alone = model->decode(target.slice(0, b, b + 1), model->encode(own, {}));
    EXPECT_LT(difference(features.slice(0, b, b + 1), alone), tolerance) << b;
  }
}

TEST_P(Whole, UsesTheSource) {
  const torch::Tensor features = model->decode(target, model->encode(source, padding));
  torch::Tensor changed = source.clone();
  changed.select(1, 0) = (changed.select(1, 0) - 3) % (vocab_size - 4) + 4;
  EXPECT_GT(difference(features, model->decode(target, model->encode(changed, padding))), 1e-3);
}

TEST_P(Whole, GoesOnFromTheCacheAsAtOnce) {
  const Memory memory = model->encode(source, padding);
  Inspection whole;
  const torch::Tensor features = model->decode(target, memory, nullptr, &whole);
  DecoderCache cache;
  Inspection parts;
  std::vector<torch::Tensor> steps;
  for (const auto& [begin, end] : {std::pair(0, 1), std::pair(1, 2), std::pair(2, 5)}) {
    steps.push_back(model->decode(target.slice(1, begin, end), memory, &cache, &parts));
    EXPECT_EQ(cache.length, end);
  }
  EXPECT_LT(difference(features, torch::cat(steps, 1)), tolerance);
  if (config.attention == "none") return;
  ASSERT_THAT(parts.cross, testing::SizeIs(3));
  EXPECT_LT(difference(whole.cross[0], torch::cat(parts.cross, 2)), tolerance);
}

TEST_P(Whole, GoesOnWithSelectedRows) {
  const torch::Tensor one = source.slice(0, 0, 1);
  const Memory memory = model->encode(one, {}).repeated(3);
  DecoderCache cache;
  model->decode(target.slice(1, 0, 3), memory, &cache);
  const torch::Tensor rows = torch::tensor({2, 0, 2});
  cache.select(rows);
  const torch::Tensor next = random_ids(3, 1);
  const torch::Tensor stepped = model->decode(next, memory, &cache);
  const torch::Tensor prefixes = torch::cat({target.slice(1, 0, 3).index_select(0, rows), next}, 1);
  EXPECT_LT(difference(stepped, model->decode(prefixes, memory).slice(1, 3)), tolerance);
}

TEST_P(Whole, RecordsItsAttention) {
  Inspection record;
  const Memory memory = model->encode(source, padding, &record);
  EXPECT_THAT(memory.last, testing::SizeIs(config.cell == "lstm" ? 4 : 2));
  model->decode(target, memory, nullptr, &record);
  EXPECT_THAT(record.encoder, testing::IsEmpty());
  EXPECT_THAT(record.decoder, testing::IsEmpty());
  if (config.attention == "none") {
    EXPECT_THAT(record.cross, testing::IsEmpty());
    return;
  }
  ASSERT_THAT(record.cross, testing::SizeIs(1));
  ASSERT_EQ(record.cross[0].sizes(), torch::IntArrayRef({3, 1, 5, 6}));
  EXPECT_LT(difference(record.cross[0].sum(3), torch::ones({3, 1, 5})), tolerance);
  EXPECT_EQ(record.cross[0].masked_select(padding.view({3, 1, 1, 6})).abs().max().item<double>(), 0);
  EXPECT_GT(record.cross[0].std(2).max().item<double>(), 1e-3) << "every token looks at the same place";
}

TEST_P(Whole, ReadsReplacedPieces) {
  Interventions interventions;
  interventions.replaced = {{false, 1, 9}, {true, 2, 8}};
  Inspection inspection;
  inspection.interventions = &interventions;
  const Memory memory = model->encode(source, padding, &inspection);
  DecoderCache cache;
  model->decode(target.slice(1, 0, 2), memory, &cache, &inspection);
  const torch::Tensor features = model->decode(target.slice(1, 2), memory, &cache, &inspection);
  source.select(1, 1).fill_(9);
  target.select(1, 2).fill_(8);
  EXPECT_LT(difference(features, model->decode(target, model->encode(source, padding)).slice(1, 2)), tolerance);
}

TEST_P(Whole, ReachesEveryParameter) {
  torch::AutoGradMode gradients(true);
  for (const bool tied : {true, false}) {
    config.tied_embeddings = tied;
    model = seeded_model(config);
    model->logits(model->decode(target, model->encode(source, padding))).square().mean().backward();
    for (const auto& item : model->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      EXPECT_GT(item.value().grad().abs().max().item<double>(), 0) << item.key();
    }
    EXPECT_EQ(model->named_parameters().contains("embedding.weight"), tied);
    EXPECT_EQ(model->named_parameters().contains("output_weight"), !tied);
  }
}

TEST_P(Whole, DropsOnlyWhileTrainingAndAsMuchAsIsSet) {
  const auto features = [&] { return model->decode(target, model->encode(source, padding)); };
  model->set_dropout(0.5);
  const torch::Tensor whole = features();
  EXPECT_EQ(difference(whole, features()), 0);
  model->train();
  const torch::Tensor dropped = features();
  EXPECT_GT(difference(dropped, features()), 1e-3);
  EXPECT_NEAR(dropped.eq(0).to(torch::kFloat).mean().item<double>(), 0.5, 0.15);
  model->set_dropout(0);
  EXPECT_EQ(difference(whole, features()), 0);
}

TEST(Recurrent, StartsDecoderLayersFromTheEncodersTopDown) {
  ModelConfig config = recurrent_config("gru", "none");
  config.num_decoder_layers = 3;
  const Memory deeper = seeded_model(config)->encode(random_ids(2, 4), {});
  ASSERT_THAT(deeper.last, testing::SizeIs(3));
  EXPECT_EQ(difference(deeper.last[0], deeper.last[1]), 0);
  EXPECT_GT(difference(deeper.last[1], deeper.last[2]), 1e-3);
  EXPECT_EQ(difference(deeper.last[2], deeper.states.select(1, -1)), 0) << "the top layer's last output";
  config.num_encoder_layers = 4;
  config.num_decoder_layers = 1;
  const Memory shallower = seeded_model(config)->encode(random_ids(2, 4), {});
  ASSERT_THAT(shallower.last, testing::SizeIs(1));
  EXPECT_EQ(difference(shallower.last[0], shallower.states.select(1, -1)), 0) << "nothing of the encoder is unused";
}

// Adam on batches of four random pieces to be said again: the mean loss of the last ten updates.
double loss_after_copying(const ModelConfig& config, int updates) {
  torch::manual_seed(11);
  const Model model = make_model(config, vocab_size);
  torch::optim::Adam adam(model->parameters(), torch::optim::AdamOptions(0.01));
  double sum = 0;
  for (int i = 0; i < updates; ++i) {
    const torch::Tensor ids = torch::randint(4, 12, {32, 4}, torch::kInt64);
    const torch::Tensor target_in = torch::cat({torch::ones({32, 1}, torch::kInt64), ids.slice(1, 0, 3)}, 1);
    const torch::Tensor logits = model->logits(model->decode(target_in, model->encode(ids, {})));
    const torch::Tensor loss = torch::cross_entropy_loss(logits.flatten(0, 1), ids.flatten());
    adam.zero_grad();
    loss.backward();
    adam.step();
    if (i >= updates - 10) sum += loss.item<double>() / 10;
  }
  return sum;
}

TEST(Recurrent, LearnsToCopy) {
  const double guessing = std::log(8.0);
  for (const char* attention : {"bahdanau", "luong-general"}) {
    ModelConfig config = recurrent_config("lstm", attention, true);
    config.d_model = 32;
    config.dropout = 0;
    EXPECT_LT(loss_after_copying(config, 100), 0.75 * guessing) << attention;
  }
}

}  // namespace
}  // namespace attnscope
