// Every box of the data flow shows the model's own numbers: parameters, recorded activations, and matrices computed
// from those before them in the picture.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "analysis/matrix_algebra.h"
#include "config/architecture.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"
#include "model_fixture.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

struct Kind {
  const char* name;
  void (*set)(ModelConfig&);
};

constexpr Kind kinds[] = {
    {"paper", [](ModelConfig&) {}},
    {"pre_gelu_learned",
     [](ModelConfig& c) { c.norm = "pre", c.activation = "gelu", c.positions = "learned", c.tied_embeddings = false; }},
    {"language_model", [](ModelConfig& c) { c.architecture = "decoder-only", c.norm = "pre"; }},
    {"language_model_untied", [](ModelConfig& c) { c.architecture = "decoder-only", c.tied_embeddings = false; }},
    {"shaw", [](ModelConfig& c) { c.positions = "shaw", c.max_distance = 3; }},
    {"shaw_grouped",
     [](ModelConfig& c) { c.positions = "shaw", c.max_distance = 2, c.num_kv_heads = 2, c.scaled_attention = false; }},
    {"t5", [](ModelConfig& c) { c.positions = "t5"; }},
    {"rope", [](ModelConfig& c) { c.positions = "rope", c.norm = "pre"; }},
    {"alibi_unscaled", [](ModelConfig& c) { c.positions = "alibi", c.scaled_attention = false; }},
    {"modern",
     [](ModelConfig& c) {
       c.architecture = "decoder-only", c.norm = "pre", c.norm_kind = "rms", c.activation = "swiglu", c.biases = false;
       c.positions = "rope", c.num_kv_heads = 2, c.d_head = 6, c.scaled_embeddings = false;
     }},
    {"marian",
     [](ModelConfig& c) {
       c.positions = "sinusoidal-halves", c.activation = "swish", c.final_norm = false, c.output_bias = true;
     }},
    {"t5_untied",
     [](ModelConfig& c) {
       c.norm = "pre", c.norm_kind = "rms", c.activation = "geglu", c.biases = false, c.positions = "t5";
       c.tied_embeddings = false, c.tied_inputs = true, c.scaled_embeddings = false;
     }},
    {"t5_tied", [](ModelConfig& c) { c.positions = "t5", c.scaled_output = true, c.activation = "gelu-tanh"; }},
    {"gemma3",
     [](ModelConfig& c) {
       c.architecture = "decoder-only", c.norm = "pre", c.norm_kind = "rms", c.activation = "geglu", c.biases = false;
       c.output_norms = c.query_key_norm = true, c.positions = "rope", c.local_rope_theta = 100;
       c.window = 2, c.window_layers = "lg", c.score_width = 5, c.score_cap = 3, c.logit_cap = 4;
     }},
    {"gpt_neox",
     [](ModelConfig& c) {
       c.architecture = "decoder-only", c.norm = "pre", c.parallel_sublayers = true, c.positions = "rope";
       c.rotary_width = 2;
     }},
    {"bart",
     [](ModelConfig& c) {
       c.embedding_norm = true, c.positions = "learned", c.num_decoder_heads = 2, c.decoder_d_ff = 20;
     }},
    {"m2m_100", [](ModelConfig& c) { c.positions = "sinusoidal-fairseq", c.norm = "pre"; }},
    {"no_positions", [](ModelConfig& c) { c.positions = "none"; }},
    {"lstm_bahdanau", [](ModelConfig& c) { c.architecture = "recurrent", c.bidirectional = true; }},
    {"gru_luong_general",
     [](ModelConfig& c) { c.architecture = "recurrent", c.cell = "gru", c.attention = "luong-general"; }},
    {"rnn_luong_dot", [](ModelConfig& c) { c.architecture = "recurrent", c.cell = "rnn", c.attention = "luong-dot"; }},
    {"lstm_luong_concat", [](ModelConfig& c) { c.architecture = "recurrent", c.attention = "luong-concat"; }},
    {"gru_without_attention",
     [](ModelConfig& c) {
       c.architecture = "recurrent", c.cell = "gru", c.attention = "none", c.tied_embeddings = false;
     }},
};

class DataFlowOf : public testing::TestWithParam<Kind> {
 protected:
  DataFlowOf() {
    ModelConfig config = small_config();
    GetParam().set(config);
    torch::manual_seed(5);
    model = make_model(config, tokenizer().vocab_size());
    stir(*model);
    model->freeze();
    plan = architecture_of(config);
  }

  Snapshot inspect(const Probe& probe) {
    Snapshot last;
    inspect_model(*model, tokenizer(), probe, [&](Snapshot snapshot) { last = std::move(snapshot); }, {});
    return last;
  }
  Snapshot inspect(const FlowWanted& wanted, const char* text = "the cat sat") {
    return inspect(Probe{.text = text, .data_flow = wanted});
  }

  std::vector<FlowBox> boxes() const {
    std::vector<FlowBox> all;
    for (const bool decoder : {false, true}) {
      for (const ArchitectureBox& box : plan.column(decoder).boxes) all.push_back(box.box);
    }
    return all;
  }

  Model model{nullptr};
  Architecture plan;
};

const FlowMatrix* find_matrix(const DataFlow& flow, const std::string& name) {
  const auto found = std::ranges::find(flow.matrices, name, &FlowMatrix::name);
  return found == flow.matrices.end() ? nullptr : &*found;
}

// ---- an operation by its definition, number by number

// clip(distance, −k, k) + k, of 2k + 1 (1803.02155 §3.2).
int clipped_distance(int distance, int count) {
  const int k = (count - 1) / 2;
  return std::max(-k, std::min(distance, k)) + k;
}

Matrix made_of(const DataFlow& flow, const FlowMatrix& matrix) {
  const auto of = [&](std::size_t i) -> const Matrix& {
    return flow.matrices[static_cast<std::size_t>(matrix.operands.at(i))].values;
  };
  Matrix made = matrix.values;
  const auto each = [&](const auto& number) {
    for (int row = 0; row < made.rows; ++row) {
      for (int col = 0; col < made.cols; ++col) made.at(row, col) = static_cast<float>(number(row, col));
    }
  };
  const auto moment = [](const auto& at, int count, bool spread) {
    double mean = 0, square = 0;
    for (int i = 0; i < count; ++i) mean += static_cast<double>(at(i)) / count;
    for (int i = 0; i < count; ++i) square += std::pow(static_cast<double>(at(i)) - mean, 2) / count;
    return spread ? std::sqrt(square + 1e-5) : mean;
  };
  switch (matrix.op) {
    case FlowOp::scaled:
      each([&](int row, int col) { return of(0).at(row, col) * matrix.factor; });
      break;
    case FlowOp::sum:
      each([&](int row, int col) { return of(0).at(row, col) + of(1).at(row, col); });
      break;
    case FlowOp::product:
    case FlowOp::convolved:
      made = product(of(0), of(1));
      if (matrix.operands.size() > 2) each([&](int row, int col) { return made.at(row, col) + of(2).at(0, col); });
      break;
    case FlowOp::scores:
      if (matrix.operands.empty()) break;
      made = product_transposed(of(0), of(1));
      each([&](int row, int col) {
        return made.at(row, col) * matrix.factor + (matrix.operands.size() > 2 ? of(2).at(row, col) : 0);
      });
      break;
    case FlowOp::rotated:
      each([&](int row, int col) {
        const int even = col - col % 2;
        const float a = of(0).at(row, even), b = of(0).at(row, even + 1);
        const float cosine = of(1).at(row, even), sine = of(1).at(row, even + 1);
        return col == even ? a * cosine - b * sine : a * sine + b * cosine;
      });
      break;
    case FlowOp::softmax:
      each([&](int row, int col) {
        const int visible = matrix.causal ? row + 1 : made.cols;
        double sum = 0;
        for (int key = 0; key < visible; ++key) sum += std::exp(static_cast<double>(of(0).at(row, key)));
        return col < visible ? std::exp(static_cast<double>(of(0).at(row, col))) / sum : 0.0;
      });
      break;
    case FlowOp::relu:
      each([&](int row, int col) { return std::max(0.0F, of(0).at(row, col)); });
      break;
    case FlowOp::gelu:
      each([&](int row, int col) {
        const double x = of(0).at(row, col);
        return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
      });
      break;
    case FlowOp::gelu_by_tanh:
      each([&](int row, int col) {
        const double x = of(0).at(row, col);
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
      });
      break;
    case FlowOp::swish:
      each([&](int row, int col) {
        const double x = of(0).at(row, col);
        return x / (1 + std::exp(-x));
      });
      break;
    case FlowOp::times:
      each([&](int row, int col) { return of(0).at(row, col) * of(1).at(row, col); });
      break;
    case FlowOp::mean_square:
      each([&](int row, int) {
        double sum = 0;
        for (int i = 0; i < of(0).cols; ++i) sum += std::pow(static_cast<double>(of(0).at(row, i)), 2) / of(0).cols;
        return std::sqrt(sum + static_cast<double>(matrix.factor));
      });
      break;
    case FlowOp::rms_normalized:
      each([&](int row, int col) { return of(0).at(row, col) / of(1).at(row, 0) * of(2).at(0, col); });
      break;
    case FlowOp::tanh:
      each([&](int row, int col) { return std::tanh(of(0).at(row, col)); });
      break;
    case FlowOp::moments:
      each([&](int row, int col) { return moment([&](int i) { return of(0).at(row, i); }, of(0).cols, col == 1); });
      break;
    case FlowOp::spread:
      each([&](int row, int col) {
        const Matrix& x = of(row < 2 ? 0 : 1);
        return moment([&](int i) { return x.at(i, col); }, x.rows, row % 2 == 1);
      });
      break;
    case FlowOp::normalized:
      each([&](int row, int col) {
        return (static_cast<double>(of(0).at(row, col)) - of(1).at(row, 0)) / of(1).at(row, 1) * of(2).at(0, col) +
               of(2).at(1, col);
      });
      break;
    case FlowOp::beside:
      each([&](int row, int col) { return col < of(0).cols ? of(0).at(row, col) : of(1).at(row, col - of(0).cols); });
      break;
    case FlowOp::share:
      each([&](int row, int col) { return std::exp(of(0).at(row, col) - of(1).at(row, 0)); });
      break;
    case FlowOp::at_distance:
      each([&](int row, int col) { return of(0).at(row, clipped_distance(col - row, of(0).cols)); });
      break;
    case FlowOp::by_distance:
      std::ranges::fill(made.values, 0.0F);
      for (int row = 0; row < made.rows; ++row) {
        for (int col = 0; col < of(0).cols; ++col)
          made.at(row, clipped_distance(col - row, made.cols)) += of(0).at(row, col);
      }
      break;
    case FlowOp::given:
    case FlowOp::learned:
    case FlowOp::picked:
    case FlowOp::log_sum:
      break;  // of the model alone: below
  }
  return made;
}

const FlowMatrix* find_normed(const DataFlow& flow) {
  const FlowMatrix* found = find_matrix(flow, "LayerNorm(x)");
  return found ? found : find_matrix(flow, "RMSNorm(x)");
}

double closeness(FlowOp op) {
  return op == FlowOp::moments || op == FlowOp::spread ? 1e-6 : 2e-5;
}

// ---- the tests

TEST_P(DataFlowOf, EveryParameterBelongsToOneBoxAndTogetherTheyAreTheModels) {
  const DataFlow flow = *inspect(FlowWanted{.box = {FlowPart::logits, true}}).data_flow;
  std::int64_t total = 0;
  for (const torch::Tensor& parameter : model->parameters()) total += parameter.numel();
  std::int64_t counted = 0;
  for (const bool decoder : {false, true}) {
    const ArchitectureColumn& column = plan.column(decoder);
    for (const ArchitectureBox& box : column.boxes) {
      for (int layer = 0; layer < (box.repeated ? column.layers : 1); ++layer) {
        // All layers share T5's biases: they belong to one box and are drawn in each. Shaw's vectors are per layer.
        const bool once = box.box.part == FlowPart::positions && model->config().positions != "shaw";
        if (!once || layer == 0) counted += parameters_of(box, layer, flow.parameters);
      }
    }
  }
  EXPECT_EQ(counted, total);
  EXPECT_EQ(flow.parameters.size(), model->parameters().size());
}

TEST_P(DataFlowOf, VectorsOfLaterKeysAreSaidToBeUnusedWhereNoneIsSeen) {
  for (const FlowBox& box : boxes()) {
    if (box.part != FlowPart::self_attention) continue;
    const Snapshot snapshot = inspect(FlowWanted{.box = box});
    for (const char* name : {"a^K", "a^V"}) {
      const FlowMatrix* vectors = find_matrix(*snapshot.data_flow, name);
      EXPECT_EQ(vectors != nullptr, model->config().positions == "shaw");
      if (vectors == nullptr) continue;
      EXPECT_EQ(vectors->help.find("never used") != std::string::npos, box.decoder);
    }
  }
}

TEST_P(DataFlowOf, EveryMatrixIsMadeOfThoseBeforeItAsItSays) {
  for (const FlowBox& box : boxes()) {
    for (const int layer : {0, 1}) {
      const Snapshot snapshot =
          inspect(FlowWanted{.box = box, .layer = layer, .head = 2, .token = 1, .convolution = layer == 1});
      ASSERT_TRUE(snapshot.data_flow);
      const DataFlow& flow = *snapshot.data_flow;
      EXPECT_EQ(flow.problem, "");
      EXPECT_FALSE(flow.matrices.empty()) << static_cast<int>(box.part);
      for (const FlowMatrix& matrix : flow.matrices) {
        SCOPED_TRACE(std::to_string(static_cast<int>(box.part)) + (box.decoder ? " decoder " : " encoder ") +
                     matrix.name);
        EXPECT_LE(difference(made_of(flow, matrix), matrix.values), closeness(matrix.op));
        EXPECT_TRUE(matrix.row_labels.empty() ||
                    matrix.row_labels.size() == static_cast<std::size_t>(matrix.values.rows));
        EXPECT_TRUE(matrix.col_labels.empty() ||
                    matrix.col_labels.size() == static_cast<std::size_t>(matrix.values.cols));
        EXPECT_NE(matrix.help, "");
      }
    }
  }
}

// The shapes on the arrows are those of the matrices that they carry.
TEST_P(DataFlowOf, TheShapesOnTheArrowsAreThoseOfTheLastMatrices) {
  for (const FlowBox& box : boxes()) {
    const Snapshot snapshot = inspect(FlowWanted{.box = box});
    const FlowPart part = box.part;
    if (part == FlowPart::positions || part == FlowPart::attention) continue;
    const FlowSizes sizes{static_cast<std::int64_t>(snapshot.source.size()),
                          static_cast<std::int64_t>(snapshot.target_in.size()), snapshot.data_flow->vocab_size};
    const std::string shape = sizes_text(find_box(plan, box)->out, model->config(), sizes);
    const auto& matrices = snapshot.data_flow->matrices;
    const bool norm =
        part == FlowPart::self_norm || part == FlowPart::cross_norm || part == FlowPart::feed_forward_norm;
    const Matrix& last =
        norm || part == FlowPart::last_norm ? find_normed(*snapshot.data_flow)->values : matrices.back().values;
    const bool vocabulary = part == FlowPart::logits || part == FlowPart::probabilities;  // some of whose columns
    const bool half = part == FlowPart::cell && !box.decoder && model->config().bidirectional;
    const auto cols = vocabulary ? snapshot.data_flow->vocab_size : half ? 2 * last.cols : last.cols;
    EXPECT_EQ(shape, "1×" + std::to_string(last.rows) + "×" + std::to_string(cols)) << find_box(plan, box)->title;
  }
}

// The chain of the boxes: what one gives is what the next is given.
TEST_P(DataFlowOf, WhatOneBoxGivesTheNextIsGiven) {
  if (model->config().is_recurrent()) GTEST_SKIP() << "has no sublayers";
  for (const bool decoder : {false, true}) {
    if (plan.column(decoder).boxes.empty()) continue;
    const Snapshot embedding = inspect(FlowWanted{.box = {FlowPart::embedding, decoder}});
    const Snapshot norm = inspect(FlowWanted{.box = {FlowPart::self_norm, decoder}});
    const Matrix& x = find_matrix(*norm.data_flow, "x")->values;
    EXPECT_LE(difference(embedding.data_flow->matrices.back().values, x), 2e-5);

    const Snapshot attention = inspect(FlowWanted{.box = {FlowPart::self_attention, decoder}, .head = 1});
    const Matrix& given = find_matrix(*attention.data_flow, "x")->values;
    const bool pre = model->config().norm == "pre";
    EXPECT_LE(difference(pre ? find_normed(*norm.data_flow)->values : x, given), 2e-5);
    EXPECT_LE(
        difference(attention.data_flow->matrices.back().values, find_matrix(*norm.data_flow, "Sublayer(x)")->values),
        2e-5);
    ASSERT_TRUE(attention.inside);
    EXPECT_LE(difference(find_matrix(*attention.data_flow, "q")->values, attention.inside->q), 2e-5);
    EXPECT_LE(difference(find_matrix(*attention.data_flow, "k")->values, attention.inside->k), 2e-5);
    EXPECT_LE(difference(find_matrix(*attention.data_flow, "v")->values, attention.inside->v), 2e-5);
  }
}

// The end of the chain: the probabilities of the decoding.
TEST_P(DataFlowOf, ItEndsInTheProbabilitiesOfTheDecoding) {
  const Snapshot snapshot = inspect(FlowWanted{.box = {FlowPart::probabilities, true}, .token = 0});
  const Matrix& p = snapshot.data_flow->matrices.back().values;
  const DecodingStep& first = snapshot.decoding.front();
  EXPECT_NEAR(p.at(0, 0), first.candidates.front().probability, 1e-5);
  EXPECT_EQ(snapshot.data_flow->matrices.back().col_labels.front(), first.candidates.front().token.text);
  const Snapshot logits = inspect(FlowWanted{.box = {FlowPart::logits, true}, .token = 0});
  EXPECT_NEAR(logits.data_flow->matrices.back().values.at(0, 0), first.candidates.front().logit, 1e-4);
}

TEST_P(DataFlowOf, OnePieceIsEnough) {
  for (const FlowBox& box : boxes()) {
    const Snapshot snapshot = inspect(FlowWanted{.box = box}, "");
    ASSERT_TRUE(snapshot.data_flow);
    EXPECT_FALSE(snapshot.data_flow->matrices.empty());
  }
}

TEST_P(DataFlowOf, ABoxThatThereIsNotTellsSo) {
  const bool recurrent = model->config().is_recurrent();
  const FlowWanted wanted{.box = {recurrent ? FlowPart::feed_forward : FlowPart::cell, true}};
  EXPECT_NE(inspect(wanted).data_flow->problem, "");
}

// Wherever nothing is as large as asked for, the last is shown.
TEST_P(DataFlowOf, LayersHeadsAndPiecesThatThereAreNotBecomeTheLast) {
  for (const FlowBox& box : boxes()) {
    const Snapshot snapshot = inspect(FlowWanted{.box = box, .layer = 99, .head = 99, .token = 999});
    EXPECT_FALSE(snapshot.data_flow->matrices.empty());
    EXPECT_EQ(snapshot.data_flow->asked.layer, 1);
  }
}

TEST_P(DataFlowOf, ASwitchedOffLayerTellsSo) {
  if (model->config().is_recurrent()) GTEST_SKIP() << "has no layer to switch off";
  Probe probe{.text = "the cat", .data_flow = FlowWanted{.box = {FlowPart::feed_forward, true}, .layer = 1}};
  probe.interventions.layers_off = {{true, 1}};
  EXPECT_THAT(inspect(probe).data_flow->problem, testing::HasSubstr("switched off"));
  probe.data_flow->box = {FlowPart::self_norm, true};
  probe.data_flow->layer = 0;
  EXPECT_EQ(inspect(probe).data_flow->problem, "");
}

// ---- layer norms

TEST(DataFlowNorm, NumbersAreTorchsTo1e6AndPaddingMovesTheBatchsAlone) {
  const Model model = [] {
    torch::manual_seed(5);
    Model made = make_model(small_config(), tokenizer().vocab_size());
    stir(*made);
    made->freeze();
    return made;
  }();
  Snapshot last;
  const Probe probe{.text = "the cat sat", .data_flow = FlowWanted{.box = {FlowPart::self_norm, false}}};
  inspect_model(*model, tokenizer(), probe, [&](Snapshot snapshot) { last = std::move(snapshot); }, {});
  const DataFlow& flow = *last.data_flow;
  const Matrix& sum = find_matrix(flow, "x + Sublayer(x)")->values;
  const torch::Tensor x = torch::tensor(sum.values).view({sum.rows, sum.cols}).to(torch::kFloat64);
  const Matrix& moments = find_matrix(flow, "μ, σ")->values;
  for (int row = 0; row < sum.rows; ++row) {
    EXPECT_NEAR(moments.at(row, 0), x[row].mean().item<double>(), 1e-6);
    EXPECT_NEAR(moments.at(row, 1), std::sqrt(x[row].var(false).item<double>() + 1e-5), 1e-6);
  }
  const auto parameters = model->named_parameters();
  const torch::Tensor gain = parameters["encoder.layers.0.norm1.weight"],
                      bias = parameters["encoder.layers.0.norm1.bias"];
  const torch::Tensor normed =
      torch::layer_norm(x, {sum.cols}, gain.to(torch::kFloat64), bias.to(torch::kFloat64), 1e-5);
  EXPECT_LE(difference(find_matrix(flow, "LayerNorm(x)")->values, to_matrix(normed)), 2e-6);
  EXPECT_LE(difference(find_matrix(flow, "γ, β")->values, to_matrix(torch::stack({gain, bias}))), 0);

  // The pieces' own rows do not change with the padding, the batch's mean does.
  const Matrix& padded = find_matrix(flow, "x, padded")->values;
  ASSERT_EQ(padded.rows, sum.rows + 8);
  const auto own = static_cast<std::ptrdiff_t>(sum.values.size());
  EXPECT_LE(difference(Matrix{sum},
                       [&] {
                         Matrix first = sum;
                         std::copy_n(padded.values.begin(), own, first.values.begin());
                         return first;
                       }()),
            2e-5);
  const Matrix& batch = find_matrix(flow, "μ, σ of the batch")->values;
  double moved = 0;
  for (int col = 0; col < batch.cols; ++col) moved += std::abs(batch.at(0, col) - batch.at(2, col));
  EXPECT_GT(moved / batch.cols, 0.01);
}

// ---- the feed-forward as two convolutions

TEST(DataFlowConvolution, ShowsTheSameNumbers) {
  torch::manual_seed(5);
  const Model model = make_model(small_config(), tokenizer().vocab_size());
  model->freeze();
  const auto inspect = [&](bool convolution) {
    Snapshot last;
    const Probe probe{.text = "the cat sat",
                      .data_flow = FlowWanted{.box = {FlowPart::feed_forward, true}, .convolution = convolution}};
    inspect_model(*model, tokenizer(), probe, [&](Snapshot snapshot) { last = std::move(snapshot); }, {});
    return *last.data_flow;
  };
  const DataFlow product = inspect(false), convolved = inspect(true);
  ASSERT_EQ(product.matrices.size(), convolved.matrices.size());
  int convolutions = 0;
  for (std::size_t i = 0; i < product.matrices.size(); ++i) {
    EXPECT_LE(difference(product.matrices[i].values, convolved.matrices[i].values), 1e-5);
    convolutions += convolved.matrices[i].op == FlowOp::convolved ? 1 : 0;
  }
  EXPECT_EQ(convolutions, 2);
}

std::string name_of_kind(const testing::TestParamInfo<Kind>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, DataFlowOf, testing::ValuesIn(kinds), name_of_kind);

}  // namespace
}  // namespace attnscope
