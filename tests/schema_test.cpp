// The --json output of the commands, against the schema that documents it: assets/schemas/output.schema.json.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands/commands.h"
#include "commands/paths.h"
#include "engine/torch_engine.h"
#include "files/captures/capture.h"
#include "files/storage/file.h"
#include "files/storage/safetensors.h"
#include "messages/engine.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// ---- as much of JSON Schema as that file uses

class Schema {
 public:
  explicit Schema(Json schema) : definitions_(std::move(schema.at("$defs"))) {}

  // Names the position and reason of a mismatch between the value and the definition; empty: none.
  std::string misfit(const Json& value, const std::string& name) const {
    return misfit(value, definitions_.at(name), name);
  }
  const Json& definitions() const { return definitions_; }

 private:
  static bool is(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    throw std::runtime_error("no such type: " + type);
  }

  std::string misfit(const Json& value, const Json& schema, const std::string& where) const {
    check_keywords(schema);
    if (schema.contains("$ref")) {
      const std::string name = schema.at("$ref").get<std::string>().substr(std::string("#/$defs/").size());
      return misfit(value, definitions_.at(name), where);
    }
    if (schema.contains("anyOf")) {
      std::string all;
      for (const Json& one : schema.at("anyOf")) {
        const std::string why = misfit(value, one, where);
        if (why.empty()) return "";
        all += "\n  " + why;
      }
      return where + " fits none:" + all;
    }
    if (schema.contains("type")) {
      const Json& type = schema.at("type");
      const bool fits = type.is_array() ? std::ranges::any_of(type, [&](const Json& one) { return is(value, one); })
                                        : is(value, type);
      if (!fits) return where + " is " + value.dump().substr(0, 60) + ", not " + type.dump();
    }
    if (schema.contains("enum") && std::ranges::find(schema.at("enum"), value) == schema.at("enum").end())
      return where + " is " + value.dump() + ", not one of " + schema.at("enum").dump();
    if (value.is_object()) return members_misfit(value, schema, where);
    if (!value.is_array() || !schema.contains("items")) return "";
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string why = misfit(value[i], schema.at("items"), where + "[" + std::to_string(i) + "]");
      if (!why.empty()) return why;
    }
    return "";
  }

  std::string members_misfit(const Json& value, const Json& schema, const std::string& where) const {
    for (const Json& key : schema.value("required", Json::array()))
      if (!value.contains(key.get<std::string>())) return where + " has no " + key.dump();
    const Json properties = schema.value("properties", Json::object());
    const Json others = schema.value("additionalProperties", Json(true));
    for (const auto& [key, member] : value.items()) {
      const std::string there = where + "." + key;
      std::string why;
      if (properties.contains(key)) {
        why = misfit(member, properties.at(key), there);
      } else if (others.is_object()) {
        why = misfit(member, others, there);
      } else if (others == false) {
        why = there + " is not described";
      }
      if (!why.empty()) return why;
    }
    return "";
  }

  // A keyword that is not understood would be one that holds nothing.
  static void check_keywords(const Json& schema) {
    for (const auto& [key, unused] : schema.items()) {
      constexpr std::array known = {
          "$ref", "anyOf", "type", "enum", "required", "properties", "additionalProperties", "items", "description"};
      if (std::ranges::find(known, key) == known.end()) throw std::runtime_error("unknown keyword " + key);
    }
  }

  Json definitions_;
};

Json schema_file() {
  std::ifstream file(fs::path(ATTNSCOPE_TEST_DATA) / "../../assets/schemas/output.schema.json");
  return Json::parse(file);
}

class OutputSchema : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-schema-" + std::to_string(::getpid()));
  std::string run = (folder / "run").string();
  Schema schema{schema_file()};

  void SetUp() override {
    fs::create_directories(folder);
    make(tiny_config(), run);
  }
  void TearDown() override { fs::remove_all(folder); }

  static void make(Config config, const std::string& path) {
    config.training.kept_checkpoints = 2;
    config.training.checkpoint_interval = 2;
    TorchEngine engine;
    engine.reset(config, {});
    engine.save_run(path);
    for (int i = 0; i < 5; ++i) {
      engine.train_step({});
      engine.checkpoint_if_due();
    }
    engine.save_run(path);
  }

  // Every line that the command prints is as the definition says.
  template <typename Options>
  void holds(const char* definition, int (*command)(const Options&), const Options& options) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = command(options);
    const std::string said = testing::internal::GetCapturedStderr();
    std::istringstream lines(testing::internal::GetCapturedStdout());
    EXPECT_EQ(status, 0) << said;
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
      EXPECT_EQ(schema.misfit(Json::parse(line), definition), "") << line.substr(0, 200);
    EXPECT_GT(count, 0);
  }
};

TEST_F(OutputSchema, OfTheLists) {
  const NamesOptions names{.json = true};
  holds("fields", fields, names);
  holds("presets", presets, names);
  holds("corpora", corpora, names);
}

TEST_F(OutputSchema, OfTraining) {
  TrainOptions options;
  options.corpus = letters_file();
  options.out = (folder / "trained").string();
  options.json = true;
  options.steps = 3;
  options.threads = 1;
  options.set = {"training.validation_interval=2", "model.d_model=16", "model.d_ff=32", "tokenizer.vocab_size=64"};
  holds("train", train, options);
  options.out = (folder / "both").string();
  options.compare = {"model.norm=pre"};
  holds("train", train, options);
  holds("runs", runs, RunsOptions{.folder = folder.string(), .json = true});
}

TEST_F(OutputSchema, OfSweepsAndInductionHeads) {
  SweepOptions options;
  options.train.corpus = "repeats";
  options.train.out = (folder / "swept").string();
  options.train.threads = 1;
  options.train.set = {"training.steps=2",
                       "training.validation_interval=2",
                       "model.architecture=decoder-only",
                       "tokenizer.type=word",
                       "model.d_ff=0",
                       "model.max_length=16",
                       "model.d_model=8,16,24"};
  options.json = true;
  holds("runs", sweep, options);
  holds("runs", sweep, options);  // again, with nothing left to train
  const HeadsOptions heads_options{.run = (folder / "swept/model.d_model=8,training.seed=1").string(), .json = true};
  holds("heads", heads, heads_options);
  holds("length", length, LengthOptions{.run = heads_options.run, .json = true});
}

TEST_F(OutputSchema, OfComparisons) {
  CompareOptions options;
  options.a = run;
  options.b = (folder / "other").string();
  options.limit = 3;
  options.source = "a b c";
  options.json = true;
  Config config = tiny_config();
  config.model.norm = "pre";
  make(config, options.b);
  holds("compare", compare, options);
  config.model.architecture = "recurrent";
  options.b = (folder / "recurrent").string();
  make(config, options.b);
  holds("compare", compare, options);
}

TEST_F(OutputSchema, OfWhatIsWrittenAndHowItIsLookedAt) {
  std::istringstream lines("a b c\n\nk d\n");
  std::streambuf* const terminal = std::cin.rdbuf(lines.rdbuf());
  TranslateOptions translating;
  translating.run = run;
  translating.beam = 2;
  translating.json = translating.tree = translating.attention = true;
  holds("translate", translate, translating);
  std::cin.rdbuf(terminal);
  AttendOptions inspecting;
  inspecting.run = run;
  inspecting.source = "a b c";
  holds("attend", attend, inspecting);
  inspecting.target = "a b";
  inspecting.interventions.heads_off = {"encoder.1.1"};
  holds("attend", attend, inspecting);
}

TEST_F(OutputSchema, OfCaptures) {
  auto frame = std::make_shared<Snapshot>();
  frame->source_text = "a b";
  frame->source = {{-1, "a"}, {-1, "b"}};
  frame->encoder = {{Matrix(2, 2), Matrix(2, 2)}};
  for (Matrix& map : frame->encoder[0]) map.values = {1, 0, 0.5F, 0.5F};
  const std::string file = (folder / "weights.safetensors").string();
  const PinnedSentence sentence{frame->source_text, {frame}};
  write_file(file, capture_bytes({&sentence, 1}, {.labels = {{"model", "mine"}}}));
  AttendOptions attending;
  attending.capture = file;
  holds("captured_attention", attend, attending);
  HeadsOptions heads_options;
  heads_options.capture = file;
  heads_options.json = true;
  holds("captured_heads", heads, heads_options);
  Safetensors scores = read_safetensors(file);
  scores.metadata["signed"] = "true";
  write_safetensors(file, scores);
  holds("captured_attention", attend, attending);
}

TEST_F(OutputSchema, OfEvaluations) {
  EvaluateOptions options;
  options.run = run;
  options.limit = 4;
  options.json = true;
  holds("evaluate", evaluate, options);
  Config text = tiny_config();
  text.model.architecture = "decoder-only";
  options.run = (folder / "text").string();
  make(text, options.run);
  holds("evaluate", evaluate, options);
  Config labels = tiny_config("verdicts");
  labels.model.architecture = "classifier";
  labels.tokenizer.vocab_size = 300;
  options.run = (folder / "labels").string();
  make(labels, options.run);
  holds("evaluate", evaluate, options);
  EvaluateOptions shipped;
  shipped.run = shipped_run().string();
  shipped.limit = 4;
  shipped.json = true;
  holds("evaluate", evaluate, shipped);
}

TEST_F(OutputSchema, OfMaskedTokens) {
  Config masked = tiny_config();
  masked.model.architecture = "masked-lm";
  const std::string place = (folder / "masked").string();
  make(masked, place);
  std::istringstream lines("a [MASK] c\nk d\n");
  std::streambuf* const terminal = std::cin.rdbuf(lines.rdbuf());
  holds("fill", fill, FillOptions{.run = place, .json = true});
  std::cin.rdbuf(terminal);
  EvaluateOptions options;
  options.run = place;
  options.json = true;
  holds("evaluate", evaluate, options);
  AttendOptions inspecting;
  inspecting.run = place;
  inspecting.source = "a b c";
  inspecting.source_b = "k d";
  holds("attend", attend, inspecting);
}

TEST_F(OutputSchema, OfMeasurements) {
  holds("heads", heads, HeadsOptions{.run = run, .json = true});
  holds("heads", heads, HeadsOptions{.run = run, .recorded = true, .json = true});
  holds("tensors", tensors, TensorsOptions{.run = run, .text = "a b", .json = true});
  holds("neurons", neurons, NeuronsOptions{.run = run, .over_training = true, .json = true});
  holds("neurons", neurons,
        NeuronsOptions{.run = run, .encoder = true, .json = true, .dictionary = true, .dictionary_steps = 5});
  holds("neurons", neurons,
        NeuronsOptions{.run = run, .json = true, .dictionary = true, .dictionary_steps = 5, .of = "cross.1"});
  EXPECT_THROW(neurons(NeuronsOptions{.run = run, .dictionary = true, .of = "head.9"}), ConfigError);
  fs::copy(shipped_run(), folder / "shipped", fs::copy_options::recursive);
  holds("probes", neurons,
        NeuronsOptions{.run = (folder / "shipped").string(),
                       .encoder = true,
                       .over_training = true,
                       .json = true,
                       .probe = "sense"});
  holds("carriers", neurons,
        NeuronsOptions{.run = (folder / "shipped").string(),
                       .encoder = true,
                       .layer = 2,
                       .json = true,
                       .dictionary = true,
                       .dictionary_steps = 5,
                       .carriers = true});
  holds("length", length, LengthOptions{.run = run, .pairs = 1, .json = true});
  holds("cost", cost, CostOptions{.set = {"model.d_model=8"}, .longest = 32, .seconds = 1, .json = true});
  holds("bench", bench, BenchOptions{.json = true, .run = run});
}

TEST_F(OutputSchema, OfEmbeddings) {
  EmbeddingsOptions options;
  options.run = shipped_run().string();
  options.json = true;
  holds("embeddings", embeddings, options);
  options.analogy = "king - man + woman";
  options.neighbours = "king";
  options.senses = "it";
  holds("embeddings", embeddings, options);
}

TEST_F(OutputSchema, OfExplanations) {
  ExplainOptions options;
  options.run = shipped_run().string();
  options.json = true;
  options.score = "it,animal,street";
  options.formation = true;
  holds("explain", explain, options);
  options = {.run = shipped_run().string(), .corpus = true, .json = true};
  holds("explain", explain, options);
  options = {.run = shipped_run().string(), .attribution = true, .json = true};
  holds("explain", explain, options);
}

TEST_F(OutputSchema, DescribesExplanationsToTheirEnds) {
  const auto misfit = [&](const char* key, const char* value) {
    Json json =
        Json::parse(R"({"between": [], "clean": {"text": "", "tokens": [], "output": "", "margin": 0}, "step": 1,
                               "circuit": {"pairs": 1, "edges": [], "places": []}})");
    json["corrupted"] = json["clean"];
    json[key] = Json::parse(value);
    return schema.misfit(json, "explained");
  };
  EXPECT_EQ(misfit("figures", R"({"encoder output": {}})"), "");
  EXPECT_EQ(misfit("figures", R"({"clean": {"weights": {"layer 1": 0.5}}, "corrupted": {}})"), "");
  EXPECT_THAT(misfit("figures", R"({"clean": {"weights": {"layer 1": "much"}}, "corrupted": {}})"),
              testing::HasSubstr("fits none"));
  EXPECT_THAT(misfit("swap", R"({"words": [], "denoising": {}})"), testing::HasSubstr("has no \"noising\""));
  EXPECT_THAT(misfit("paths", R"([{"to": {"part": "nowhere"}}])"), testing::HasSubstr("paths[0] has no"));
  EXPECT_THAT(misfit("more", "1"), testing::HasSubstr("more is not described"));
}

TEST_F(OutputSchema, HoldsSomething) {
  EXPECT_THAT(schema.misfit(Json::parse(R"([{"name": "x"}])"), "presets"),
              testing::HasSubstr("has no \"description\""));
  EXPECT_THAT(schema.misfit(Json::parse(R"([{"name": 1, "description": "", "fields": ""}])"), "presets"),
              testing::HasSubstr("presets[0].name is 1, not \"string\""));
  EXPECT_THAT(schema.misfit(Json::parse(R"([{"name": "", "description": "", "fields": "", "more": 1}])"), "presets"),
              testing::HasSubstr("presets[0].more is not described"));
  EXPECT_THAT(schema.misfit(Json::parse(R"({"pairs": 1})"), "evaluate"), testing::HasSubstr("fits none"));
}

}  // namespace
}  // namespace attnscope
