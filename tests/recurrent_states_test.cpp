// A recurrent network from the inside: gates and states against torch::nn's cells, energies against loops, gradients
// through time against autograd over a chain built by hand.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "inspect/probe/gradients.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"
#include "messages/recurrent_states.h"
#include "model_fixture.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

ModelConfig recurrent(const std::string& cell, const std::string& attention) {
  ModelConfig config = small_config();
  config.architecture = "recurrent";
  config.cell = cell;
  config.attention = attention;
  config.d_model = 16;
  config.num_encoder_layers = config.num_decoder_layers = 2;
  return config;
}

Model still(const ModelConfig& config) {
  torch::manual_seed(3);
  Model model = make_model(config, tokenizer().vocab_size());
  model->freeze();
  return model;
}

Snapshot inspect(SequenceModel& model, const RecurrentWanted& wanted) {
  Snapshot latest;
  inspect_model(model, tokenizer(), {.text = "the cat", .recurrent = wanted},
                [&](Snapshot snapshot) { latest = std::move(snapshot); }, {});
  return latest;
}

// H
torch::Tensor row_of(const Matrix& matrix, int row) {
  return torch::tensor(std::vector<float>(matrix.values.begin() + static_cast<std::ptrdiff_t>(row) * matrix.cols,
                                          matrix.values.begin() + static_cast<std::ptrdiff_t>(row + 1) * matrix.cols));
}

torch::Tensor parameter(SequenceModel& model, const std::string& name) {
  return model.named_parameters()[name];
}

// Gives one of torch::nn's cells the weights of a layer.
template <typename CellModule>
void lend(CellModule& cell, SequenceModel& model, const std::string& stack, const std::string& suffix) {
  torch::NoGradGuard no_grad;
  for (auto& own : cell->named_parameters()) own.value().copy_(parameter(model, stack + "." + own.key() + suffix));
}

TEST(RecurrentStates, LstmStatesAreTorchsAndComeOutOfTheGates) {
  for (const bool decoder : {false, true}) {
    const Model model = still(recurrent("lstm", "luong-dot"));
    const Snapshot snapshot = inspect(*model, {.decoder = decoder, .layer = 1});
    ASSERT_TRUE(snapshot.recurrent);
    const RecurrentStates& inspection = *snapshot.recurrent;
    const Snapshot below = inspect(*model, {.decoder = decoder, .layer = 0});
    torch::nn::LSTMCell cell(16, 16);
    lend(cell, *model, decoder ? "decoder" : "encoder", "_l1");
    ASSERT_EQ(inspection.gates.size(), 4U);
    for (int t = 0; t < inspection.h.rows; ++t) {
      const torch::Tensor h = t == 0 ? row_of(inspection.first_h, 0) : row_of(inspection.h, t - 1);
      const torch::Tensor c = t == 0 ? row_of(inspection.first_c, 0) : row_of(inspection.c, t - 1);
      const auto [next_h, next_c] =
          cell->forward(row_of(below.recurrent->h, t).unsqueeze(0), std::make_tuple(h.unsqueeze(0), c.unsqueeze(0)));
      EXPECT_LT(difference(next_h[0], row_of(inspection.h, t)), rounding);
      EXPECT_LT(difference(next_c[0], row_of(inspection.c, t)), rounding);
      const auto gate = [&](std::size_t i) { return row_of(inspection.gates[i].values, t); };
      EXPECT_LT(difference(gate(1) * c + gate(0) * gate(2), row_of(inspection.c, t)), rounding);
      EXPECT_LT(difference(gate(3) * torch::tanh(row_of(inspection.c, t)), row_of(inspection.h, t)), rounding);
      const torch::Tensor sum = row_of(inspection.gates[1].from_input, t) + row_of(inspection.gates[1].from_state, t);
      EXPECT_LT(difference(torch::sigmoid(sum), gate(1)), rounding);
      EXPECT_FLOAT_EQ(inspection.c_before(t, 3), c[3].item<float>());
    }
  }
}

TEST(RecurrentStates, GruAndRnnStatesComeOutOfTheirGatesAlsoFromTheEnd) {
  for (const bool reverse : {false, true}) {
    ModelConfig config = recurrent("gru", "bahdanau");
    config.bidirectional = true;
    const Model model = still(config);
    const Snapshot snapshot = inspect(*model, {.layer = 0, .reverse = reverse});
    const RecurrentStates& inspection = *snapshot.recurrent;
    EXPECT_EQ(inspection.asked.reverse, reverse);
    EXPECT_EQ(inspection.h.cols, 8);
    for (int t = 0; t < inspection.h.rows; ++t)
      for (int unit = 0; unit < inspection.h.cols; ++unit) {
        const float z = inspection.gates[1].values.at(t, unit), n = inspection.gates[2].values.at(t, unit);
        EXPECT_NEAR(inspection.h.at(t, unit), (1 - z) * n + z * inspection.h_before(t, unit), 1e-5);
      }
  }
  const Model model = still(recurrent("rnn", "none"));
  const Snapshot snapshot = inspect(*model, {.decoder = true, .layer = 7});
  EXPECT_EQ(snapshot.recurrent->asked.layer, 1) << "the nearest there is";
  EXPECT_LT(difference(snapshot.recurrent->gates[0].values, snapshot.recurrent->h), rounding);
}

TEST(RecurrentStates, EnergiesAreTheFormulasAndTheirSoftmaxTheWeights) {
  for (const std::string attention : {"bahdanau", "luong-dot", "luong-general", "luong-concat"}) {
    const Model model = still(recurrent("gru", attention));
    const Snapshot snapshot = inspect(*model, {});
    ASSERT_EQ(snapshot.recurrent->attention.size(), 1U);
    const StateAttention& inspection = snapshot.recurrent->attention.front();
    ASSERT_EQ(inspection.energies.rows, static_cast<int>(snapshot.target_out.size()));
    for (int t = 0; t < inspection.energies.rows; ++t) {
      const torch::Tensor s = row_of(inspection.states, t);
      for (int j = 0; j < inspection.energies.cols; ++j) {
        const torch::Tensor h = row_of(inspection.memory, j);
        const auto w = [&](const char* name) {
          return parameter(*model, std::string("attention.") + name + ".weight");
        };
        const torch::Tensor energy = attention == "luong-dot" ? s.dot(h)
                                     : attention == "luong-general"
                                         ? s.dot(torch::mv(w("W"), h))
                                         : w("v")[0].dot(torch::tanh(torch::mv(w("W"), s) + torch::mv(w("U"), h)));
        EXPECT_NEAR(energy.item<float>(), inspection.energies.at(t, j), 1e-4) << attention;
      }
      EXPECT_LT(difference(torch::softmax(row_of(inspection.energies, t), 0), row_of(inspection.weights, t)), 1e-4)
          << attention;
    }
  }
}

TEST(RecurrentStates, WithoutAttentionEveryBeginningOfTheSourceIsDecoded) {
  const Model model = still(recurrent("lstm", "none"));
  const Snapshot snapshot = inspect(*model, {});
  const RecurrentStates& inspection = *snapshot.recurrent;
  EXPECT_TRUE(inspection.attention.empty());
  EXPECT_EQ(inspection.handed.rows, 4);
  EXPECT_EQ(inspection.handed_names,
            (std::vector<std::string>{"layer 1, h", "layer 1, c", "layer 2, h", "layer 2, c"}));
  ASSERT_EQ(inspection.read_out.size(), snapshot.source.size());
  EXPECT_EQ(inspection.read_out.back(), snapshot.output_text) << "of the whole source";
}

TEST(RecurrentStates, ATransformerHasNone) {
  const Model model = still(small_config());
  EXPECT_FALSE(inspect(*model, {}).recurrent);
}

// ---- gradients

// ids → −log p of the last piece, of a one-layer RNN without attention, step by step; → norms of ∂L/∂x and ∂L/∂h.
TEST(Gradients, AreThoseOfAChainBuiltByHand) {
  ModelConfig config = recurrent("rnn", "none");
  config.num_encoder_layers = config.num_decoder_layers = 1;
  const Model model = still(config);
  const std::vector<int> source = {5, 6, 7, 8, 2}, target = {1, 9, 5};
  const PassGradients got = gradients_of(*model, source, target, 6, {});

  std::vector<torch::Tensor> x, h;
  const auto read = [&](const std::string& stack, const std::vector<int>& ids, torch::Tensor state) {
    const auto w = [&](const char* name) { return parameter(*model, stack + "." + name + "_l0"); };
    for (const int id : ids) {
      x.push_back((model->embedding_rows(EmbeddingMatrix::source)[id] * 4.0).detach().requires_grad_());  // × √16
      state = torch::tanh(torch::mv(w("weight_ih"), x.back()) + w("bias_ih") + torch::mv(w("weight_hh"), state) +
                          w("bias_hh"));
      state.retain_grad();
      h.push_back(state);
    }
    return state;
  };
  const torch::Tensor last = read("decoder", target, read("encoder", source, torch::zeros({16})));
  const torch::Tensor loss = -torch::log_softmax(model->logits(last.unsqueeze(0)), -1)[0][6];
  loss.backward();
  EXPECT_NEAR(got.loss, loss.item<double>(), 1e-5);
  for (std::size_t t = 0; t < x.size(); ++t) {
    const bool written = t >= source.size();
    const Matrix& norms = written ? got.decoder.norms : got.encoder.norms;
    const int col = static_cast<int>(written ? t - source.size() : t);
    EXPECT_NEAR(norms.at(0, col), x[t].grad().norm().item<float>(), 1e-5) << t;
    EXPECT_NEAR(norms.at(1, col), h[t].grad().norm().item<float>(), 1e-5) << t;
  }
  EXPECT_NEAR(got.decoder.of_layer(1),
              std::sqrt(std::pow(got.decoder.norms.at(1, 0), 2) + std::pow(got.decoder.norms.at(1, 1), 2) +
                        std::pow(got.decoder.norms.at(1, 2), 2)),
              1e-6);
}

TEST(Gradients, OfEveryArchitectureAreFiniteAndOfEveryLayer) {
  std::vector<ModelConfig> configs = {small_config(), recurrent("lstm", "bahdanau"), recurrent("gru", "luong-general")};
  configs.push_back(small_config());
  configs.back().architecture = "decoder-only";
  configs.push_back(recurrent("lstm", "luong-concat"));
  configs.back().bidirectional = true;
  for (const ModelConfig& config : configs) {
    const Model model = still(config);
    const GradientResult inspection = inspect_gradients(*model, tokenizer(), {"the cat", 2}, [](double) {});
    ASSERT_TRUE(inspection.problem.empty()) << inspection.problem;
    const bool has_source = !config.is_language_model();
    EXPECT_EQ(inspection.plain.encoder.norms.rows, has_source ? config.num_encoder_layers + 1 : 0);
    EXPECT_EQ(inspection.plain.decoder.norms.rows, config.num_decoder_layers + 1);
    EXPECT_EQ(inspection.plain.decoder.norms.cols, static_cast<int>(inspection.plain.decoder.tokens.size()));
    EXPECT_EQ(inspection.plain.encoder.norms.cols, static_cast<int>(inspection.plain.encoder.tokens.size()));
    EXPECT_GT(inspection.plain.decoder.of_layer(0), 0);
    EXPECT_EQ(inspection.plain.encoder.of_layer(0) > 0, has_source) << inspection.model;
    EXPECT_EQ(inspection.bare.size(), config.is_recurrent() ? 0U : 1U);
    for (const PassGradients& bare : inspection.bare) EXPECT_NE(bare.loss, inspection.plain.loss);
    model->check_standing_still();
  }
}

TEST(Gradients, WithoutResidualsASublayersOutputStandsAlone) {
  ModelConfig config = small_config();
  config.norm = "pre";
  config.num_encoder_layers = 1;
  const Model model = still(config);
  Interventions bare;
  bare.no_residuals = true;
  Inspection record{.interventions = &bare, .sublayers_wanted = true};
  model->encode(ids_tensor(std::vector{5, 6, 2}, torch::kCPU), {}, &record);
  ASSERT_EQ(record.sublayers.size(), 2U);
  for (const SublayerTensors& sublayer : record.sublayers)
    EXPECT_LT(difference(sublayer.out, sublayer.added), rounding);
}

}  // namespace
}  // namespace attnscope
