// Exports: Hugging Face folders, TorchScript modules and ONNX models, each read back.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <torch/script.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "checkpoint_copy.h"
#include "common/split.h"
#include "engine/export/export.h"
#include "engine/export/onnx.h"
#include "engine/export/torchscript.h"
#include "files/checkpoints/checkpoint.h"
#include "files/storage/file.h"
#include "inspect/probe/tensors.h"
#include "onnx_interpreter.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class GivenAway : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-given-" + std::to_string(::getpid()));
  fs::path out = folder / "out";

  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  // A small run of "key=value …", all its weights off what they begin as.
  static Config shaped(std::string_view fields) {
    Config config = tiny_config();
    for (const std::string_view field : split(fields, " ")) {
      const auto [key, value] = halves(field, "=");
      set_field(config, key, value);
    }
    return config;
  }
  static void make(TorchEngine& engine, const Config& config) {
    engine.reset(config, {});
    torch::NoGradGuard no_grad;
    torch::manual_seed(3);
    for (torch::Tensor& parameter : engine.model().parameters()) parameter.add_(torch::randn_like(parameter) * 0.2);
  }

  static torch::Tensor ids(const std::vector<int>& of) { return ids_tensor(of, torch::kCPU); }
  static torch::Tensor logits(SequenceModel& model, const torch::Tensor& source, const torch::Tensor& target) {
    const Memory memory = model.config().is_language_model() ? Memory() : model.encode(source, {});
    return model.logits(model.decode(target, memory));
  }
  static double apart(const torch::Tensor& a, const torch::Tensor& b) { return (a - b).abs().max().item<double>(); }
  static double apart(TorchEngine& a, TorchEngine& b) {
    const torch::Tensor source = ids({7, 4, 9, 6, 8}), target = ids({5, 6, 4, 7});
    return apart(logits(a.model(), source, target), logits(b.model(), source, target));
  }

  static Exported given(TorchEngine& engine) { return {engine.config(), engine.model(), engine.tokenizer()}; }
  std::string refusal(const Config& config) {
    TorchEngine engine;
    engine.reset(config, {});
    try {
      export_checkpoint(given(engine), out);
    } catch (const std::runtime_error& error) {
      EXPECT_FALSE(fs::exists(out)) << "nothing is left behind";
      return error.what();
    }
    return "";
  }
};

// ---- folders

TEST_F(GivenAway, EveryFamilyOpensAgainAndSaysTheSame) {
  for (const char* family : {"marian", "t5", "t5-v1_1", "gpt2", "llama", "smollm"}) {
    SCOPED_TRACE(family);
    TorchEngine engine, again;
    engine.open_run(random_checkpoint(family).string(), {});
    export_checkpoint(given(engine), out);
    again.open_run(out.string(), {});
    EXPECT_LT(apart(engine, again), 1e-5);
    for (const char* text : {"The street was too wide.", "½ 🙂 12", ""})
      EXPECT_EQ(ids_of(engine.tokenizer().encode(text)), ids_of(again.tokenizer().encode(text))) << text;
    Config a = engine.config(), b = again.config();
    a.tokenizer.path = b.tokenizer.path = a.model.from = b.model.from = "";
    EXPECT_EQ(to_json(a).dump(), to_json(b).dump());
    fs::remove_all(out);
  }
}

TEST_F(GivenAway, RunsOfOnesOwnThatAFamilyFitsToo) {
  const std::map<std::string, const char*> shapes = {
      {"marian", "model.final_norm=false model.positions=sinusoidal-halves model.activation=swish"},
      {"marian ", "model.final_norm=false model.positions=sinusoidal-halves model.output_bias=true"},
      {"t5",
       "model.norm=pre model.norm_kind=rms model.biases=false model.positions=t5 model.scaled_attention=false "
       "model.scaled_embeddings=false model.scaled_output=true"},
      {"t5 ",
       "model.norm=pre model.norm_kind=rms model.biases=false model.positions=t5 model.scaled_attention=false "
       "model.scaled_embeddings=false model.tied_embeddings=false model.tied_inputs=true model.activation=geglu "
       "model.d_head=6"},
      {"llama",
       "model.architecture=decoder-only model.norm=pre model.norm_kind=rms model.activation=swiglu "
       "model.positions=rope model.num_heads=4 model.num_kv_heads=2 model.biases=false model.scaled_embeddings=false"}};
  for (const auto& [family, fields] : shapes) {
    SCOPED_TRACE(family);
    TorchEngine engine, again;
    make(engine, shaped(fields));
    export_checkpoint(given(engine), out);
    EXPECT_EQ(nlohmann::json::parse(read_file(out / "config.json", 1U << 20U)).at("model_type"),
              family.substr(0, family.find(' ')));
    again.open_run(out.string(), {});
    EXPECT_LT(apart(engine, again), 1e-5);
    for (const char* text : {"a b c", "k z d"})
      EXPECT_EQ(ids_of(engine.tokenizer().encode(text)), ids_of(again.tokenizer().encode(text))) << text;
    EXPECT_EQ(engine.tokenizer().decode(std::vector<int>{8, 5, 9}),
              again.tokenizer().decode(std::vector<int>{8, 5, 9}));
    fs::remove_all(out);
  }
}

TEST_F(GivenAway, WhatFitsNoFamilyIsRefusedWithTheField) {
  EXPECT_THAT(refusal(tiny_config()), testing::AllOf(HasSubstr("marian: model.final_norm is \"true\", not \"false\""),
                                                     HasSubstr("t5: model.norm is \"post\", not \"pre\"")));
  EXPECT_THAT(refusal(shaped("model.final_norm=false")),
              HasSubstr("marian: model.positions is \"shaw\", not \"sinusoidal-halves\""));
  EXPECT_THAT(refusal(shaped("model.architecture=recurrent")), HasSubstr("model.architecture is \"recurrent\""));
  EXPECT_THAT(refusal(shaped("model.architecture=decoder-only model.positions=shaw")), HasSubstr("gpt2: model."));
  EXPECT_THAT(refusal(shaped("model.architecture=decoder-only model.d_ff=0")), HasSubstr("model.d_ff is 0"));
  EXPECT_THAT(refusal(shaped("model.architecture=decoder-only model.norm_kind=none model.activation=gelu-tanh "
                             "model.positions=learned model.scaled_embeddings=false")),
              HasSubstr("gpt2: model.norm_kind is \"none\", not \"layer\""));
  // GPT-2 in everything but its pieces.
  EXPECT_THAT(refusal(shaped("model.architecture=decoder-only model.norm=pre model.activation=gelu-tanh "
                             "model.positions=learned model.scaled_embeddings=false")),
              HasSubstr("tokenizer.family is \"sentencepiece\": a checkpoint of gpt2 cannot contain such a tokenizer"));
}

TEST_F(GivenAway, NobodysFileIsReplaced) {
  fs::create_directories(out);
  std::ofstream(out / "mine.txt") << "mine";
  TorchEngine engine;
  engine.open_run(random_checkpoint("marian").string(), {});
  EXPECT_THROW(export_checkpoint(given(engine), out), FileError);
  EXPECT_THROW(export_torchscript(given(engine), out), FileError);
  EXPECT_THROW(export_onnx(given(engine), out), FileError);
  EXPECT_EQ(std::distance(fs::directory_iterator(out), fs::directory_iterator()), 1);
}

// ---- programs

// Shapes that between them have every kind of layer, order and size.
const std::vector<std::string>& program_shapes() {
  static const std::vector<std::string> shapes = {
      "corpus.seed=1",
      "model.positions=learned model.initialization=unit model.tied_embeddings=false",
      "model.positions=shaw model.max_distance=2 model.activation=gelu model.num_kv_heads=1",
      "model.positions=alibi model.norm=pre model.scaled_attention=false",
      "model.positions=t5 model.norm_kind=rms model.output_bias=true model.scaled_output=true",
      "model.positions=rope model.num_heads=4 model.num_kv_heads=2 model.biases=false model.activation=swiglu",
      "model.positions=none model.final_norm=false model.activation=swish model.d_head=6",
      "model.architecture=decoder-only model.positions=learned model.norm=pre model.activation=gelu-tanh",
      "model.architecture=decoder-only model.positions=rope model.activation=geglu model.num_kv_heads=1",
      "model.architecture=decoder-only model.positions=rope model.activation=geglu-erf model.d_head=6",
      "model.architecture=decoder-only model.positions=learned model.norm=pre model.d_ff=0",
      "model.positions=sinusoidal model.norm_kind=none model.d_ff=0"};
  return shapes;
}

// Two sentences, the second shorter.
const torch::Tensor& two_sources() {
  static const torch::Tensor ids = torch::tensor({{7, 4, 9, 6, 8}, {5, 6, 2, 0, 0}}, torch::kInt64);
  return ids;
}
const torch::Tensor& two_targets() {
  static const torch::Tensor ids = torch::tensor({{1, 6, 4}, {1, 8, 5}}, torch::kInt64);
  return ids;
}
torch::Tensor logits_of_two(SequenceModel& model) {
  const Memory memory = model.config().has_encoder() ? model.encode(two_sources(), two_sources().eq(0)) : Memory();
  return model.logits(model.decode(two_targets(), memory));
}

torch::Tensor computed(torch::jit::Module module, const torch::Tensor& source, const torch::Tensor& target) {
  std::vector<torch::jit::IValue> inputs = {target};
  if (source.defined()) inputs.insert(inputs.begin(), source);
  return module.forward(inputs).toTensor();
}
torch::Tensor computed(const OnnxModel& model, const torch::Tensor& source, const torch::Tensor& target) {
  std::map<std::string, torch::Tensor> inputs = {{"target", target}};
  if (source.defined()) inputs["source"] = source;
  return model.logits(inputs);
}

TEST_F(GivenAway, AProgramGivesTheSameLogits) {
  for (const std::string& shape : program_shapes()) {
    SCOPED_TRACE(shape);
    TorchEngine engine;
    make(engine, shaped(shape));
    const torch::Tensor want = logits_of_two(engine.model());
    const torch::Tensor source = engine.model().config().has_encoder() ? two_sources() : torch::Tensor();
    std::istringstream bytes(torchscript_bytes(engine.model()));
    EXPECT_LT(apart(computed(torch::jit::load(bytes), source, two_targets()), want), 1e-4);
    EXPECT_LT(apart(computed(OnnxModel(onnx_bytes(engine.model())), source, two_targets()), want), 1e-4);
  }
}

TEST_F(GivenAway, AProgramIsMadeOfCheckpointsToo) {
  for (const char* family : {"marian", "t5", "t5-v1_1", "gpt2", "llama", "smollm"}) {
    SCOPED_TRACE(family);
    TorchEngine engine;
    engine.open_run(random_checkpoint(family).string(), {});
    const torch::Tensor target = ids({5, 6, 4, 7});
    const torch::Tensor source = engine.config().model.has_encoder() ? ids({7, 4, 9, 6, 8}) : torch::Tensor();
    const torch::Tensor want = logits(engine.model(), source, target);
    const fs::path script = out / "script", onnx = out / "onnx";
    export_torchscript(given(engine), script);
    export_onnx(given(engine), onnx);
    EXPECT_LT(apart(computed(torch::jit::load((script / "model.pt").string()), source, target), want), 1e-4);
    EXPECT_LT(apart(computed(OnnxModel(read_file(onnx / "model.onnx", 1U << 26U)), source, target), want), 1e-4);
    for (const fs::path& each : {script, onnx})
      for (const auto& [name, bytes] : engine.tokenizer().files())
        EXPECT_EQ(read_file(each / name, 1U << 26U), bytes) << name;
    fs::remove_all(out);
  }
}

// The first field is the one that a shape is about.
const std::vector<std::string>& settings() {
  static const std::vector<std::string> shapes = {
      "model.num_heads=4",
      "model.num_kv_heads=1",
      "model.num_decoder_heads=1",
      "model.d_head=6",
      "model.num_encoder_layers=1",
      "model.num_decoder_layers=1",
      "model.d_model=32",
      "model.d_ff=16",
      "model.decoder_d_ff=16",
      "model.norm=pre",
      "model.norm_kind=rms",
      "model.norm_epsilon=0.1",
      "model.final_norm=false",
      "model.output_norms=true model.norm=pre",
      "model.parallel_sublayers=true model.norm=pre",
      "model.activation=gelu",
      "model.biases=false",
      "model.positions=alibi",
      "model.max_distance=3 model.positions=shaw",
      "model.rope_theta=50 model.positions=rope",
      "model.rope_scaling=linear:3 model.positions=rope",
      "model.rope_scaling=dynamic:2,8 model.positions=rope",
      "model.rope_scaling=llama3:8,1,4,64 model.positions=rope",
      "model.rope_scaling=yarn:4,1,8,64,1.5 model.positions=rope",
      "model.rotary_width=2 model.positions=rope",
      "model.window=2",
      "model.window_layers=g model.window=2",
      "model.local_rope_theta=50 model.positions=rope model.window=2",
      "model.query_key_norm=true",
      "model.scaled_attention=false",
      "model.score_width=3",
      "model.score_cap=0.2",
      "model.logit_cap=0.2",
      "model.tied_embeddings=false",
      "model.tied_inputs=true model.tied_embeddings=false",
      "model.scaled_embeddings=false",
      "model.embedding_norm=true",
      "model.scaled_output=true",
      "model.output_bias=true"};
  return shapes;
}

// Those of other architectures, of training, of decoding and of the ids of tokens.
constexpr std::array not_computed = {
    "architecture",  "reader",       "pooling",        "num_classes", "cell",        "attention",
    "bidirectional", "layer_groups", "initialization", "dropout",     "d_embedding", "token_types",
    "head",          "head_epsilon", "max_length",     "padding_id",  "start_id",    "end_id",
    "unknown_id",    "first_id",     "banned_id",      "mask_id",     "ends_text",   "from"};

TEST_F(GivenAway, EverySettingIsExportedOrRefusedByItsName) {
  std::set<std::string> tried;
  for (const char* name : not_computed) tried.insert(std::string("model.") + name);
  for (const std::string& shape : settings()) tried.insert(shape.substr(0, shape.find('=')));
  for (const ConfigField& field : config_fields()) {
    if (!field.key.starts_with("model.")) continue;
    EXPECT_TRUE(tried.contains(std::string(field.key))) << field.key;
  }
  int exported = 0, refused = 0;
  for (const char* architecture : {"model.architecture=encoder-decoder", "model.architecture=decoder-only"}) {
    for (const std::string& shape : settings()) {
      SCOPED_TRACE(fmt::format("{} {}", architecture, shape));
      const bool of_encoder = shape.starts_with("model.num_encoder") || shape.starts_with("model.num_decoder_heads") ||
                              shape.starts_with("model.decoder_d_ff") || shape.starts_with("model.tied_inputs");
      if (of_encoder && std::string_view(architecture).ends_with("only")) continue;
      TorchEngine engine;
      make(engine, shaped(fmt::format("{} {}", shape, architecture)));
      const torch::Tensor want = logits_of_two(engine.model());
      const torch::Tensor source = engine.model().config().has_encoder() ? two_sources() : torch::Tensor();
      const auto expect = [&](auto compute) {
        try {
          EXPECT_LT(apart(compute(), want), 1e-4);
          ++exported;
        } catch (const CheckpointError& error) {
          EXPECT_THAT(error.what(), HasSubstr(shape.find("window") < shape.npos ? "model.window"
                                                                                : shape.substr(0, shape.find('='))));
          ++refused;
        }
      };
      expect([&] {
        std::istringstream bytes(torchscript_bytes(engine.model()));
        return computed(torch::jit::load(bytes), source, two_targets());
      });
      expect([&] { return computed(OnnxModel(onnx_bytes(engine.model())), source, two_targets()); });
    }
  }
  EXPECT_GT(exported, 60);
  EXPECT_GT(refused, 20);
}

TEST_F(GivenAway, AnOnnxModelHasTheParametersByTheirNames) {
  TorchEngine engine;
  make(engine, shaped("model.positions=t5"));
  const OnnxModel model(onnx_bytes(engine.model()));
  EXPECT_THAT(model.inputs(), testing::ElementsAre("source", "target"));
  for (const auto& item : engine.model().named_parameters()) {
    ASSERT_TRUE(model.initializers().contains(item.key())) << item.key();
    EXPECT_TRUE(model.initializers().at(item.key()).equal(item.value())) << item.key();
  }
  // Three norms of two decoder layers, two of two encoder layers, and one after each stack.
  const std::vector<std::string> operators = model.operators();
  const ModelConfig& config = engine.config().model;
  EXPECT_EQ(std::ranges::count(operators, "LayerNormalization"),
            3 * config.num_decoder_layers + 2 * config.num_encoder_layers + 2);
}

TEST_F(GivenAway, OnlyTransformersThatWriteAreMadeProgramsOf) {
  for (const char* architecture : {"recurrent", "classifier"}) {
    Config config = tiny_config();
    config.model.architecture = architecture;
    config.model.num_classes = config.model.is_classifier() ? 2 : 0;
    const Model model = make_model(config.model, 20);
    for (const auto& bytes : {torchscript_bytes, onnx_bytes}) {
      try {
        bytes(*model);
        FAIL() << "is refused";
      } catch (const CheckpointError& error) {
        EXPECT_THAT(error.what(), HasSubstr(fmt::format("model.architecture is \"{}\"", architecture)));
      }
    }
  }
}

}  // namespace
}  // namespace attnscope
