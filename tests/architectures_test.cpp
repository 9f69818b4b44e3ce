// Masks, padding, batches and caches, for every architecture and variant.
#include <cmath>

#include "model_fixture.h"

namespace attnscope {
namespace {

struct Variant {
  std::string name;
  ModelConfig config;
};

void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.name;
}

constexpr std::int64_t rows = 3, source_length = 8, target_length = 10;

class Architecture : public testing::TestWithParam<Variant> {
 protected:
  torch::NoGradGuard no_grad;
  Model model;
  torch::Tensor source, padding, target;

  void SetUp() override {
    model = seeded_model(GetParam().config);
    stir(*model);
    model->eval();
    source = random_ids(rows, source_length);
    padding = growing_padding(rows, source_length);
    target = random_ids(rows, target_length);
  }

  // of: rows of source ids
  Memory memory(const torch::Tensor& of, Inspection* inspection = nullptr) {
    if (model->config().is_language_model()) return {};
    return model->encode(source.index_select(0, of), padding.index_select(0, of), inspection);
  }
  Memory memory(Inspection* inspection = nullptr) { return memory(torch::arange(rows), inspection); }

  // In pieces of this many tokens.
  torch::Tensor decode_in_chunks(std::int64_t size, const Memory& of) {
    DecoderCache cache;
    std::vector<torch::Tensor> features;
    for (const torch::Tensor& chunk : target.split(size, 1)) features.push_back(model->decode(chunk, of, &cache));
    EXPECT_EQ(cache.length, target_length);
    return torch::cat(features, 1);
  }
};

TEST_P(Architecture, LaterTokensChangeNothingBefore) {
  const Memory of = memory();
  const torch::Tensor features = model->decode(target, of);
  for (std::int64_t t = 0; t < target_length; ++t) {
    torch::Tensor changed = target.clone();
    changed.slice(1, t) = (changed.slice(1, t) - 3).remainder(small_vocab_size - 4) + 4;  // the next id
    const torch::Tensor others = model->decode(changed, of);
    ASSERT_TRUE(features.slice(1, 0, t).equal(others.slice(1, 0, t))) << "token " << t;
    EXPECT_GT(difference(features.select(1, t), others.select(1, t)), 1e-3) << "token " << t;
  }
}

TEST_P(Architecture, ARowOfABatchIsThatRowAlone) {
  const torch::Tensor all = model->decode(target, memory());
  for (std::int64_t row = 0; row < rows; ++row) {
    const torch::Tensor alone = model->decode(target.slice(0, row, row + 1), memory(torch::tensor({row})));
    EXPECT_LE(difference(all.slice(0, row, row + 1), alone), rounding) << row;
  }
}

TEST_P(Architecture, DecodingWithACacheIsDecodingAtOnce) {
  const Memory of = memory();
  const torch::Tensor whole = model->decode(target, of);
  EXPECT_LE(difference(decode_in_chunks(1, of), whole), rounding);
  EXPECT_LE(difference(decode_in_chunks(3, of), whole), rounding);
  EXPECT_LE(difference(decode_in_chunks(target_length, of), whole), rounding);
}

TEST_P(Architecture, ACacheGoesOnWithChosenRows) {
  DecoderCache cache;
  const torch::Tensor beginning = target.slice(1, 0, 4);
  model->decode(beginning, memory(), &cache);
  const torch::Tensor chosen = torch::tensor({2, 0, 0, 1});
  cache.select(chosen);
  const torch::Tensor ending = random_ids(4, 5);
  const Memory of = memory(chosen);
  const torch::Tensor features =
      torch::cat({model->decode(ending.slice(1, 0, 1), of, &cache), model->decode(ending.slice(1, 1), of, &cache)}, 1);
  const torch::Tensor whole = model->decode(torch::cat({beginning.index_select(0, chosen), ending}, 1), of);
  EXPECT_LE(difference(features, whole.slice(1, 4)), rounding);
}

TEST_P(Architecture, OneSourceServesManyDecoders) {
  if (model->config().is_language_model()) return;
  const Memory repeated = memory(torch::tensor({1})).repeated(rows);
  const torch::Tensor features = model->decode(target, memory(torch::tensor({1, 1, 1})));
  EXPECT_LE(difference(model->decode(target, repeated), features), rounding);
  EXPECT_LE(difference(decode_in_chunks(3, repeated), features), rounding);
}

// Layers of B×H×Q×K whose rows sum to one.
void expect_weights(const AttentionWeights& layers, std::int64_t num_layers, std::int64_t num_queries,
                    std::int64_t num_keys) {
  ASSERT_EQ(static_cast<std::int64_t>(layers.size()), num_layers);
  for (const torch::Tensor& weights : layers) {
    ASSERT_EQ(weights.dim(), 4);
    EXPECT_EQ(weights.size(2), num_queries);
    EXPECT_EQ(weights.size(3), num_keys);
    EXPECT_GE(weights.min().item<double>(), 0);
    EXPECT_LE((weights.sum(-1) - 1).abs().max().item<double>(), rounding);
  }
}

TEST_P(Architecture, RecordedWeightsSumToOneAndMaskedKeysGetNone) {
  const ModelConfig& config = model->config();
  Inspection inspection;
  model->decode(target, memory(&inspection), nullptr, &inspection);
  const bool has_encoder = !config.is_language_model();
  const bool recurrent = config.is_recurrent();
  const std::int64_t cross_layers = recurrent ? (config.attention == "none" ? 0 : 1) : config.num_decoder_layers;
  expect_weights(inspection.encoder, has_encoder && !recurrent ? config.num_encoder_layers : 0, source_length,
                 source_length);
  expect_weights(inspection.decoder, recurrent ? 0 : config.num_decoder_layers, target_length, target_length);
  expect_weights(inspection.cross, has_encoder ? cross_layers : 0, target_length, source_length);
  const torch::Tensor masked_keys = padding.unsqueeze(1).unsqueeze(2);  // B×1×1×S
  for (const torch::Tensor& weights : inspection.encoder) EXPECT_EQ((weights * masked_keys).max().item<double>(), 0);
  for (const torch::Tensor& weights : inspection.cross) EXPECT_EQ((weights * masked_keys).max().item<double>(), 0);
  for (const torch::Tensor& weights : inspection.decoder) EXPECT_EQ(weights.triu(1).max().item<double>(), 0);
}

TEST_P(Architecture, WeightsRecordedWithACacheAreRowsOfTheWhole) {
  const Memory of = memory();
  Inspection whole;
  model->decode(target, of, nullptr, &whole);
  DecoderCache cache;
  for (std::int64_t t = 0; t < target_length; ++t) {
    Inspection step;
    model->decode(target.slice(1, t, t + 1), of, &cache, &step);
    ASSERT_EQ(step.decoder.size(), whole.decoder.size());
    ASSERT_EQ(step.cross.size(), whole.cross.size());
    for (std::size_t i = 0; i < whole.decoder.size(); ++i) {
      const torch::Tensor expected = whole.decoder[i].slice(2, t, t + 1).slice(3, 0, t + 1);
      EXPECT_LE(difference(step.decoder[i], expected), rounding);
    }
    for (std::size_t i = 0; i < whole.cross.size(); ++i) {
      EXPECT_LE(difference(step.cross[i], whole.cross[i].slice(2, t, t + 1)), rounding);
    }
  }
}

TEST_P(Architecture, EveryParameterGetsAFiniteGradient) {
  const torch::AutoGradMode with_gradients(true);
  model->train();
  const torch::Tensor log_probs = torch::log_softmax(model->logits(model->decode(target, memory())), -1);
  (-log_probs.gather(2, target.unsqueeze(2)).mean()).backward();
  for (const auto& item : model->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
    EXPECT_GT(item.value().grad().abs().max().item<double>(), 0) << item.key();
  }
}

class SourceReader : public Architecture {
 protected:
  torch::Tensor read(const torch::Tensor& ids, const torch::Tensor& mask) {
    return model->decode(target, model->encode(ids, mask));
  }
};

TEST_P(SourceReader, ChangedPaddingChangesNothing) {
  const torch::Tensor changed = torch::where(padding, torch::full_like(source, 5), source);
  ASSERT_FALSE(changed.equal(source));
  EXPECT_EQ(difference(read(source, padding), read(changed, padding)), 0);
  EXPECT_GT(difference(read(source, {}), read(changed, {})), 1e-4) << "without the mask it must matter";
}

TEST_P(SourceReader, PaddingIsAsIfAbsent) {
  const torch::Tensor padded = read(source, padding);
  for (std::int64_t row = 0; row < rows; ++row) {
    const Memory alone = model->encode(source.slice(0, row, row + 1).slice(1, 0, source_length - row), {});
    const torch::Tensor features = model->decode(target.slice(0, row, row + 1), alone);
    EXPECT_LE(difference(padded.slice(0, row, row + 1), features), rounding) << row;
  }
}

// ---- the variants

ModelConfig tiny(const std::string& architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.d_model = 16;
  config.num_heads = 2;
  config.num_decoder_layers = 2;
  config.d_ff = 32;
  config.max_length = 16;
  config.max_distance = 3;
  return config;
}

Variant transformer(const std::string& architecture, const std::string& positions, const std::string& norm,
                    const std::string& activation, bool tied) {
  ModelConfig config = tiny(architecture);
  config.positions = positions;
  config.norm = norm;
  config.activation = activation;
  config.tied_embeddings = tied;
  const std::string name = architecture == "decoder-only" ? "language_model" : "encoder_decoder";
  return {name + "_" + positions + "_" + norm + "_" + activation + (tied ? "_tied" : "_separate"), config};
}

std::vector<Variant> transformers(const std::string& architecture) {
  std::vector<Variant> all;
  for (const char* positions : {"none", "sinusoidal", "learned", "shaw", "t5", "rope", "alibi"}) {
    all.push_back(transformer(architecture, positions, "post", "relu", true));
    all.push_back(transformer(architecture, positions, "pre", "gelu", false));
  }
  all.push_back(transformer(architecture, "sinusoidal", "post", "gelu", false));
  all.push_back(transformer(architecture, "sinusoidal", "pre", "relu", true));
  all.push_back(transformer(architecture, "sinusoidal", "post", "relu", true));
  all.back().name += "_unscaled";
  all.back().config.scaled_attention = false;
  all.push_back(transformer(architecture, "rope", "pre", "swiglu", true));
  all.back().name += "_grouped";
  all.back().config.num_kv_heads = 1;
  all.back().config.norm_kind = "rms";
  all.back().config.biases = false;
  all.push_back(transformer(architecture, "shaw", "pre", "swiglu", false));
  all.back().name += "_grouped";
  all.back().config.num_kv_heads = 1;
  all.push_back(transformer(architecture, "t5", "pre", "geglu", false));
  all.back().config.d_head = 6;
  all.back().config.tied_inputs = architecture != "decoder-only";
  all.back().config.scaled_output = true;
  all.push_back(transformer(architecture, "sinusoidal-halves", "post", "swish", true));
  std::ranges::replace(all.back().name, '-', '_');
  all.back().config.final_norm = false;
  all.back().config.output_bias = true;
  all.push_back(transformer(architecture, "learned", "pre", "gelu-tanh", true));
  std::ranges::replace(all.back().name, '-', '_');
  all.back().config.scaled_embeddings = false;
  all.push_back(transformer(architecture, "rope", "pre", "geglu", true));
  all.back().name += "_output_norms_windows_caps";
  all.back().config.norm_kind = "rms";
  all.back().config.output_norms = all.back().config.query_key_norm = true;
  all.back().config.window = 2;
  all.back().config.window_layers = "lg";
  all.back().config.local_rope_theta = 100;
  all.back().config.score_width = 5;
  all.back().config.score_cap = 3;
  all.back().config.logit_cap = 4;
  all.push_back(transformer(architecture, "rope", "pre", "gelu", false));
  all.back().name += "_parallel_partly_rotated";
  all.back().config.parallel_sublayers = true;
  all.back().config.rotary_width = 2;
  all.push_back(transformer(architecture, "learned", "post", "gelu", true));
  all.back().name += "_uneven";
  all.back().config.embedding_norm = true;
  all.back().config.num_decoder_heads = architecture == "decoder-only" ? 0 : 4;
  all.back().config.decoder_d_ff = architecture == "decoder-only" ? 0 : 24;
  all.push_back(transformer(architecture, "learned", "pre", "relu", false));
  all.back().name += "_attention_only";
  all.back().config.d_ff = 0;
  all.push_back(transformer(architecture, "rope", "post", "gelu", true));
  all.back().name += "_without_norms";
  all.back().config.norm_kind = "none";
  return all;
}

std::vector<Variant> recurrent_models() {
  std::vector<Variant> all;
  for (const char* cell : {"rnn", "lstm", "gru"}) {
    for (const char* attention : {"none", "bahdanau", "luong_dot", "luong_general", "luong_concat"}) {
      for (const bool bidirectional : {false, true}) {
        ModelConfig config = tiny("recurrent");
        config.cell = cell;
        config.attention = attention;
        std::replace(config.attention.begin(), config.attention.end(), '_', '-');
        config.bidirectional = bidirectional;
        config.tied_embeddings = bidirectional;
        all.push_back({std::string(cell) + "_" + attention + (bidirectional ? "_both_ways" : ""), config});
      }
    }
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Variant>& variant) {
  return variant.param.name;
}

INSTANTIATE_TEST_SUITE_P(Transformer, Architecture, testing::ValuesIn(transformers("encoder-decoder")), name_of);
INSTANTIATE_TEST_SUITE_P(Transformer, SourceReader, testing::ValuesIn(transformers("encoder-decoder")), name_of);
INSTANTIATE_TEST_SUITE_P(LanguageModel, Architecture, testing::ValuesIn(transformers("decoder-only")), name_of);
INSTANTIATE_TEST_SUITE_P(Recurrent, Architecture, testing::ValuesIn(recurrent_models()), name_of);
INSTANTIATE_TEST_SUITE_P(Recurrent, SourceReader, testing::ValuesIn(recurrent_models()), name_of);

}  // namespace
}  // namespace attnscope
