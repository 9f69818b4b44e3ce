// Nearest contexts, against a comparison of every token in float64.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "engine/torch_engine.h"
#include "inspect/evaluation/nearest.h"
#include "inspect/probe/tensors.h"
#include "model_fixture.h"
#include "run_fixture.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

// A model of three layers whose key heads serve two heads each, and short sentences of random words.
struct Compared {
  Model model;
  std::vector<std::vector<int>> sentences;  // as the stack reads them
  std::vector<Batch> batches;

  explicit Compared(const std::string& architecture) {
    ModelConfig config = small_config();
    config.architecture = architecture;
    config.positions = "sinusoidal";
    config.num_encoder_layers = config.num_decoder_layers = 3;
    config.num_kv_heads = 2;
    torch::manual_seed(4);
    model = make_model(config, tokenizer().vocab_size());
    stir(*model);
    model->freeze();
    std::vector<EncodedPair> pairs;
    for (const std::int64_t length : {7, 5, 8, 4, 6, 8}) {
      const std::vector<int> ids = ints(torch::randint(4, tokenizer().vocab_size(), {length}, torch::kInt64));
      pairs.push_back({ids, ids});
      sentences.push_back(ids);
      if (config.is_language_model()) sentences.back().insert(sentences.back().begin(), config.special().start);
    }
    for (const std::vector<std::int64_t>& rows : {std::vector<std::int64_t>{0, 1, 2}, {3, 4, 5}}) {
      batches.push_back(make_batch(pairs, rows, torch::kCPU, config.special()));
      if (config.is_language_model()) batches.back().source = batches.back().source_padding = torch::Tensor();
    }
  }

  static std::vector<int> ints(const torch::Tensor& ids) {
    return {ids.data_ptr<std::int64_t>(), ids.data_ptr<std::int64_t>() + ids.numel()};
  }

  // Of a sentence the vectors, L×W, and the attention weights, L×L; from the states that enter the layer and its
  // weights.
  std::pair<torch::Tensor, torch::Tensor> vectors(const NearestQuestion& asked, const std::vector<int>& ids) const {
    const ModelConfig& config = model->config();
    const bool decoder = config.is_language_model();
    Inspection record{.states_wanted = true};
    if (decoder)
      model->decode(ids_tensor(ids, torch::kCPU), {}, nullptr, &record);
    else
      model->encode(ids_tensor(ids, torch::kCPU), {}, &record);
    const auto layer = static_cast<std::size_t>(asked.layer);
    const torch::Tensor weights = (decoder ? record.decoder : record.encoder).at(layer)[0];
    if (asked.kind == VectorKind::state) return {record.states.at(layer + 1)[0], weights.mean(0)};
    const auto projection = [&](const char* name) {
      return model->named_parameters()[fmt::format("{}.layers.{}.self_attn.in_proj_{}", decoder ? "decoder" : "encoder",
                                                   layer, name)];
    };
    const torch::Tensor projected = torch::linear(record.states.at(layer)[0], projection("weight"), projection("bias"))
                                        .unflatten(1, {-1, config.head_width()});
    const std::int64_t heads = config.num_heads, group = asked.head / 2;
    const torch::Tensor own = weights[asked.head];
    if (asked.kind == VectorKind::query) return {projected.select(1, asked.head), own};
    if (asked.kind == VectorKind::key) return {projected.select(1, heads + group), own};
    return {own.matmul(projected.select(1, heads + config.num_kv_heads + group)), own};
  }

  // The token predicted where cross-attention of the last layer to that position is largest; the pairs are copies.
  std::string output(const std::vector<int>& ids, int position) const {
    const ModelConfig& config = model->config();
    if (config.is_language_model()) return "";
    Inspection record;
    std::vector<int> target = ids;
    target.insert(target.begin(), config.special().start);
    target.pop_back();
    const Memory memory = model->encode(ids_tensor(ids, torch::kCPU), {}, nullptr);
    model->decode(ids_tensor(target, torch::kCPU), memory, nullptr, &record);
    const torch::Tensor weights = record.cross.at(2)[0].mean(0).select(1, position);
    return tokenizer().token(ids.at(static_cast<std::size_t>(weights.argmax().item<std::int64_t>())));
  }
};

void expect_complete_comparison(const Compared& compared, const NearestQuestion& asked) {
  const NearestResult result = nearest_contexts(*compared.model, tokenizer(), compared.batches, {}, asked, {});
  ASSERT_EQ(result.problem, "");
  ASSERT_EQ(result.contexts.size(), compared.sentences.size());
  std::vector<int> read = prompt_ids(tokenizer(), asked.text);
  if (!compared.model->config().is_language_model()) read = tokenizer().source_ids(read);
  const torch::Tensor chosen = compared.vectors(asked, read).first[asked.token];
  double before = 2;
  for (const std::vector<int>& ids : compared.sentences) {
    std::vector<std::string> tokens;
    for (const int id : ids) tokens.push_back(tokenizer().token(id));
    const auto found = std::ranges::find(result.contexts, tokens, [](const auto& it) { return it.context.tokens; });
    ASSERT_NE(found, result.contexts.end()) << testing::PrintToString(tokens);
    const auto [vectors, weights] = compared.vectors(asked, ids);
    const torch::Tensor cosines = torch::cosine_similarity(vectors.to(torch::kFloat64), chosen.unsqueeze(0), 1);
    EXPECT_NEAR(found->context.value, cosines.max().item<double>(), 1e-5);
    EXPECT_NEAR(cosines[found->context.at].item<double>(), cosines.max().item<double>(), 1e-5);
    const torch::Tensor attention = weights[found->context.at];
    EXPECT_LE(difference(torch::tensor(found->context.activations), attention), rounding);
    EXPECT_EQ(found->attended, tokens[static_cast<std::size_t>(attention.argmax().item<std::int64_t>())]);
    EXPECT_EQ(found->position, found->context.at) << "all the sentence is shown";
    EXPECT_EQ(found->output, compared.output(ids, found->position));
  }
  for (const NearestContext& found : result.contexts) {
    EXPECT_LE(found.context.value, before);
    before = found.context.value;
  }
}

TEST(NearestContexts, AreThoseOfACompleteComparison) {
  for (const char* architecture : {"encoder-decoder", "decoder-only"}) {
    const Compared compared(architecture);
    const ModelConfig& config = compared.model->config();
    for (const VectorKind kind : {VectorKind::state, VectorKind::query, VectorKind::key, VectorKind::head}) {
      for (int layer = 0; layer < 3; ++layer) {
        for (int head = 0; head < (kind == VectorKind::state ? 1 : config.num_heads); ++head) {
          SCOPED_TRACE(fmt::format("{} kind {} layer {} head {}", architecture, static_cast<int>(kind), layer, head));
          expect_complete_comparison(compared, {"the cat", 2, kind, layer, head});
        }
      }
    }
  }
}

// The state after layer 1, compared in float64 with every token of the same batches.
TEST(NearestContexts, EqualBruteForce) {
  TorchEngine engine;
  const std::vector<Example> examples = engine.reset(tiny_config(), {}).examples;
  for (int step = 0; step < 3; ++step) engine.train_step({});
  SequenceModel& model = engine.model();
  const Tokenizer& tokenizer = engine.tokenizer();
  std::vector<EncodedPair> pairs;
  for (const Example& example : examples)
    if (const auto pair = encode_pair(tokenizer, {.source = example.source, .target = example.target}, 64))
      pairs.push_back(*pair);
  ASSERT_GT(pairs.size(), 1U);
  std::vector<Batch> batches;
  std::vector<std::int64_t> all(pairs.size());
  std::iota(all.begin(), all.end(), 0);
  batches.push_back(make_batch(pairs, all, model.device(), model.config().special()));
  const NearestQuestion asked{.text = examples.front().source, .token = 1};
  const NearestResult result = nearest_contexts(model, tokenizer, batches, {}, asked, {});
  ASSERT_FALSE(result.contexts.empty());
  const auto state = [&](const std::vector<int>& ids) {
    Inspection inspection{.states_wanted = true};
    model.encode(ids_tensor(ids, model.device()), {}, &inspection);
    return inspection.states[1][0].to(torch::kFloat64);
  };
  const torch::Tensor chosen = state(pairs.front().source)[1];
  std::vector<double> best;
  for (const EncodedPair& pair : pairs)
    best.push_back(torch::cosine_similarity(state(pair.source), chosen.unsqueeze(0), 1).max().item<double>());
  std::ranges::sort(best, std::greater<>());
  ASSERT_EQ(result.contexts.size(), std::min<std::size_t>(best.size(), 20));
  for (std::size_t i = 0; i < result.contexts.size(); ++i)
    EXPECT_NEAR(result.contexts[i].context.value, best[i], 1e-4) << i;
  EXPECT_NEAR(result.contexts.front().context.value, 1, 1e-5) << "the sentence itself";
  EXPECT_FALSE(engine.nearest(asked, model, [](double) {}).contexts.empty());
}

TEST(NearestContexts, SayWhatTheModelLacks) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  EXPECT_THAT(engine.nearest({.text = "it", .layer = 9}, engine.model(), [](double) {}).problem,
              HasSubstr("no such layer"));
  Config config = tiny_config();
  config.model.architecture = "recurrent";
  engine.reset(config, {});
  EXPECT_THAT(engine.nearest({.text = "it"}, engine.model(), [](double) {}).problem, HasSubstr("Transformer"));
}

}  // namespace
}  // namespace attnscope
