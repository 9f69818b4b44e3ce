// Other programs' checkpoints against the expected.json of an independent implementation: small random ones of every
// family, and those of a folder that ATTNSCOPE_CHECKPOINTS names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoint_copy.h"
#include "engine/torch_engine.h"
#include "files/checkpoints/checkpoint.h"
#include "files/storage/event_file.h"
#include "files/storage/file.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"
#include "messages/metrics.h"
#include "random_checkpoints.h"
#include "training/decoding/search.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json read_json(const fs::path& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

double tolerance_of(const Json& expected, const char* what, double otherwise) {
  return expected.contains("tolerance") ? expected.at("tolerance").value(what, otherwise) : otherwise;
}

// One folder, held against its expected.json.
class Checked {
 public:
  explicit Checked(const fs::path& folder) : expected_(read_json(folder / "expected.json")) {
    engine_.open_run(folder.string(), {});
    at::set_num_threads(1);
  }

  void check_tokenizer() {
    for (const Json& entry : expected_.value("tokenizer_only", Json::array()))
      EXPECT_EQ(read(text_of(entry)), entry.at("ids").get<std::vector<int>>()) << entry.at("text");
  }

  void check_inputs() {
    for (const Json& entry : expected_.at("inputs")) {
      SCOPED_TRACE(entry.at("name").get<std::string>());
      if (model().config().is_masked_lm()) {
        check_encoder(entry);
        continue;
      }
      check_tokens(entry);
      check_logits(entry);
      check_greedy(entry);
      check_attention(entry);
    }
  }

 private:
  bool language_model() { return engine_.config().model.is_language_model(); }
  const Tokenizer& tokenizer() { return engine_.tokenizer(); }
  SequenceModel& model() { return engine_.model(); }
  torch::Tensor tensor(const std::vector<int>& ids) { return ids_tensor(ids, torch::kCPU); }

  std::vector<Token> tokens(const std::string& text) {
    std::vector<Token> read = tokenizer().encode(text);
    if (const int opening = tokenizer().opening(); opening >= 0)
      read.insert(read.begin(), Token{opening, tokenizer().token(opening)});
    if (!language_model()) read.push_back({tokenizer().source_end(), tokenizer().token(tokenizer().source_end())});
    return read;
  }
  // A pair is one text.
  std::string text_of(const Json& entry) {
    return entry.contains("text_b") ? tokenizer().pair(entry.at("text"), entry.at("text_b"))
                                    : entry.at("text").get<std::string>();
  }
  std::vector<int> read(const std::string& text) { return ids_of(tokens(text)); }

  void check_tokens(const Json& entry) {
    const std::vector<Token> got = tokens(entry.at("text"));
    ASSERT_EQ(ids_of(got), entry.at("ids").get<std::vector<int>>());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i].unknown) continue;  // the text it stands for
      EXPECT_EQ(got[i].raw.empty() ? got[i].text : got[i].raw, entry.at("pieces")[i].get<std::string>());
    }
    if (!language_model()) return;
    EXPECT_EQ(prompt_ids(tokenizer(), entry.at("text").get<std::string>()),
              entry.at("run_ids").get<std::vector<int>>());
  }

  // An encoder: states, attention, and what its head says.
  void check_encoder(const Json& entry) {
    const std::vector<int> ids = entry.at("ids");
    ASSERT_EQ(read(text_of(entry)), ids);
    Inspection record;
    const Memory memory = model().encode(tensor(ids), {}, &record);
    const torch::Tensor states = memory.states[0].to(torch::kFloat64);
    const double tolerance = tolerance_of(expected_, "states", 1e-4), sums = tolerance_of(expected_, "sums", 2e-3);
    const Json& hidden = entry.at("last_hidden");
    for (const auto& [name, row] : {std::pair("first", 0), std::pair("last", -1)})
      for (std::size_t i = 0; i < hidden.at(name).size(); ++i)
        near(states[row][static_cast<std::int64_t>(i)].item<double>(), hidden.at(name)[i], tolerance, name);
    near(states.sum().item<double>(), hidden.at("sum"), sums, "sum of the states");
    check_weights(entry, record);
    if (entry.contains("replaced_logits")) {
      const std::vector<float> replaced = entry.at("replaced_logits");
      EXPECT_LT((model().replaced(memory)[0] - torch::tensor(replaced)).abs().max().item<double>(), 1e-4);
    }
    if (!entry.contains("logits")) return;
    const torch::Tensor all = model().logits(model().decode({}, memory)[0]).to(torch::kFloat64);
    near(all.sum().item<double>(), entry.at("logits").at("sum"), sums, "sum");
    near(all.square().sum().item<double>(), entry.at("logits").at("sum_of_squares"), sums, "sum of squares");
    const torch::Tensor places = ((torch::arange(all.size(0)).remainder(7) - 3).to(torch::kFloat64) / 3).unsqueeze(1);
    near((all * places).sum().item<double>(), entry.at("logits").at("places"), sums, "places");
    for (std::size_t i = 0; i < entry.at("mask_positions").size(); ++i)
      compare(all[entry.at("mask_positions")[i].get<int>()], entry.at("mask_logits")[i]);
  }

  void near(double got, double want, double tolerance, const char* what) {
    EXPECT_NEAR(got, want, tolerance * std::max(1.0, std::abs(want))) << what;
  }

  void compare(const torch::Tensor& logits, const Json& want) {
    const double tolerance = tolerance_of(expected_, "logits", 2e-4);
    const torch::Tensor row = logits.to(torch::kFloat64);
    for (const Json& best : want.at("top")) near(row[best[0].get<int>()].item<double>(), best[2], tolerance, "top");
    ASSERT_EQ(row.size(0), want.at("count").get<std::int64_t>());
    const torch::Tensor ramp = (torch::arange(row.size(0)).remainder(101) - 50).to(torch::kFloat64) / 50;
    const double sums = tolerance * std::sqrt(static_cast<double>(row.size(0)));
    near(row.sum().item<double>(), want.at("sum"), sums, "sum");
    near(row.square().sum().item<double>(), want.at("sum_of_squares"), sums, "sum of squares");
    near((row * ramp).sum().item<double>(), want.at("ramp"), sums, "ramp");
    const std::int64_t stride = std::max<std::int64_t>(1, row.size(0) / 64);
    for (std::size_t i = 0; i < want.at("every").size(); ++i)
      near(row[static_cast<std::int64_t>(i) * stride].item<double>(), want.at("every")[i], tolerance, "every");
  }

  torch::Tensor logits(const std::vector<int>& inputs, const Memory& memory) {
    return model().logits(model().decode(tensor(inputs), memory)[0]);
  }

  void check_logits(const Json& entry) {
    const std::vector<int> source = entry.at("ids");
    const std::vector<int> inputs = entry.at(language_model() ? "run_ids" : "decoder_ids");
    const Memory memory = language_model() ? Memory() : model().encode(tensor(source), {});
    const torch::Tensor whole = logits(inputs, memory);
    compare(whole[-1], entry.at("last_logits"));
    if (entry.contains("first_logits")) compare(whole[0], entry.at("first_logits"));

    DecoderCache cache;
    torch::Tensor stepwise;
    for (const int id : inputs) stepwise = model().logits(model().decode(tensor({id}), memory, &cache)[0]);
    // With dynamic scaling, cached keys keep the angles of a shorter text.
    if (!model().config().rope_scaling.starts_with("dynamic")) {
      EXPECT_LT((stepwise[-1] - whole[-1]).abs().max().item<double>(), 2e-4) << "with a cache";
    }

    if (language_model()) return;
    std::vector<int> longer = source;
    longer.insert(longer.end(), 3, tokenizer().special().padding);
    const torch::Tensor mask = torch::arange(static_cast<std::int64_t>(longer.size()))
                                   .ge(static_cast<std::int64_t>(source.size()))
                                   .unsqueeze(0);
    const torch::Tensor padded = logits(inputs, model().encode(tensor(longer), mask));
    EXPECT_LT((padded - whole).abs().max().item<double>(), 2e-4) << "padded";
  }

  void check_greedy(const Json& entry) {
    const std::vector<int> source = entry.at(language_model() ? "run_ids" : "ids");
    const SearchOptions options{.beam = 1, .limit = expected_.at("max_new_tokens")};
    Hypothesis found = beam_search(model(), tensor(source), {}, options).front().front();
    const std::string text =
        language_model() ? continued_text(tokenizer(), source, found.ids) : tokenizer().decode(found.ids);
    EXPECT_EQ(text, entry.at("greedy_text").get<std::string>());
    if (found.finished) found.ids.push_back(tokenizer().special().end);
    EXPECT_EQ(found.ids, entry.at("greedy").at("ids").get<std::vector<int>>());
    EXPECT_EQ(found.finished, entry.at("greedy").at("ended").get<bool>());
  }

  // Compared with recorded attention weights.
  void check_attention(const Json& entry) {
    const std::vector<int> inputs = entry.at(language_model() ? "run_ids" : "decoder_ids");
    Inspection record;
    const std::vector<int> source = entry.at("ids");
    const Memory memory = language_model() ? Memory() : model().encode(tensor(source), {}, &record);
    model().decode(tensor(inputs), memory, nullptr, &record);
    check_weights(entry, record);
  }

  static void check_weights(const Json& entry, const Inspection& record) {
    for (const Json& want : entry.at("attention")) {
      const std::string kind = want.at("kind");
      const AttentionWeights& part = kind == "encoder" ? record.encoder
                                     : kind == "cross" ? record.cross
                                                       : record.decoder;
      const torch::Tensor weights = part.at(want.at("layer"))[0][want.at("head").get<int>()];
      const std::vector<int> queries = want.at("queries");
      for (std::size_t i = 0; i < queries.size(); ++i) {
        const std::vector<float> row = want.at("weights")[i];
        EXPECT_LT((weights[queries[i]] - torch::tensor(row)).abs().max().item<double>(), 2e-5)
            << kind << " query " << queries[i];
      }
    }
  }

  Json expected_;
  TorchEngine engine_;
};

void check_folder(const fs::path& folder) {
  SCOPED_TRACE(folder.filename().string());
  try {
    Checked checked(folder);
    checked.check_tokenizer();
    checked.check_inputs();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

class Pretrained : public testing::TestWithParam<const char*> {};

TEST_P(Pretrained, SaysWhatTheIndependentImplementationSays) {
  check_folder(random_checkpoint(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Families, Pretrained,
                         testing::Values("marian", "llama", "gpt2", "t5", "t5-v1_1", "smollm", "qwen2", "llama3",
                                         "bert", "roberta", "xlm-roberta", "distilbert", "albert", "electra",
                                         "gpt_neox", "gpt_neo", "phi", "opt", "bloom", "qwen3", "llama-dynamic",
                                         "mistral", "gemma2", "gemma3", "bart", "mbart", "m2m_100", "pegasus"));

// Those that somebody has, in addition: a folder with an expected.json each.
std::vector<std::string> named_folders() {
  std::vector<std::string> named;
  const char* const folders = std::getenv("ATTNSCOPE_CHECKPOINTS");
  if (!folders) return named;
  for (const auto& entry : fs::directory_iterator(folders))
    if (fs::exists(entry.path() / "expected.json") && read_json(entry.path() / "config.json").contains("model_type"))
      named.push_back(entry.path().string());
  return named;
}

class PretrainedFolders : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PretrainedFolders);

TEST_P(PretrainedFolders, SayWhatTheIndependentImplementationSays) {
  check_folder(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Named, PretrainedFolders, testing::ValuesIn(named_folders()));

// ---- what is wrong with a folder is said

class BrokenFolder : public testing::Test, public CheckpointCopy {
 protected:
  BrokenFolder() : CheckpointCopy("marian") {}

  // The replacement must have the same length, so that the header stays valid.
  void replace_in(const std::string& name, const std::string& old, const std::string& made) {
    std::string bytes = text(name);
    ASSERT_NE(bytes.find(old), std::string::npos);
    bytes.replace(bytes.find(old), old.size(), made);
    write(name, bytes);
  }

  std::string complaint() const { return opening_complaint(folder); }
};

using testing::AllOf;
using testing::HasSubstr;

TEST_F(BrokenFolder, IsRightBeforeItIsBroken) {
  EXPECT_EQ(complaint(), "");
}

TEST_F(BrokenFolder, NamesAnotherFamily) {
  set("model_type", "whisper");
  EXPECT_THAT(complaint(),
              AllOf(HasSubstr("model_type"), HasSubstr("whisper"), HasSubstr("marian"), HasSubstr("llama")));
  set("model_type", 3);
  EXPECT_THAT(complaint(), HasSubstr("\"model_type\" is 3, not a text"));
}

TEST_F(BrokenFolder, NamesTheField) {
  struct Case {
    const char* field;
    Json value;
    const char* says;
  };
  for (const Case& it : std::vector<Case>{
           {"d_model", "wide", "\"d_model\" is \"wide\", not a whole number"},
           {"d_model", -16, "\"d_model\" is -16"},
           {"d_model", 16.5, "\"d_model\" is 16.5"},
           {"d_model", 100000, "\"d_model\" is 100000"},
           {"d_model", nullptr, "there is no \"d_model\""},
           {"encoder_attention_heads", 0, "\"encoder_attention_heads\" is 0"},
           {"decoder_attention_heads", 3, "model.num_decoder_heads is 3, allowed: divisors of \"d_model\""},
           {"encoder_layers", 0, "\"encoder_layers\" is 0"},
           {"decoder_ffn_dim", 25, "has shape [24, 16], the configuration asks for [25, 16]"},
           {"activation_function", "mish", "\"activation_function\" is \"mish\", supported: gelu_new"},
           {"normalize_before", true, "\"normalize_before\" is true, supported: false"},
           {"add_final_layer_norm", true, "\"add_final_layer_norm\" is true"},
           {"normalize_embedding", "no", "\"normalize_embedding\" is \"no\", not true or false"},
           {"share_encoder_decoder_embeddings", false, "\"share_encoder_decoder_embeddings\" is false"},
           {"tie_word_embeddings", false, "\"tie_word_embeddings\" is false"},
           {"scale_embedding", 1, "\"scale_embedding\" is 1, not true or false"},
           {"vocab_size", 8, "\"vocab_size\" is 8"},
           {"vocab_size", 40, "token 75 lies outside the vocabulary of 40"},
           {"pad_token_id", 5000, "token 5000 lies outside the vocabulary"},
           {"decoder_start_token_id", "<pad>", "\"decoder_start_token_id\" is \"<pad>\""},
           {"eos_token_id", Json::array(), "\"eos_token_id\" is []"},
           {"eos_token_id", 1, "the tokenizer ends a text with token 0, the model with token 1"},
           {"bad_words_ids", Json::array({Json::array({1, 2})}), "\"bad_words_ids\" is [[1,2]]"},
           {"bad_words_ids", 3, "\"bad_words_ids\" is 3"},
           {"max_position_embeddings", 1000000, "\"max_position_embeddings\" is 1000000"},
           {"dropout", "some", "\"dropout\" is \"some\", not a number"}}) {
    copy("marian");
    set(it.field, it.value);
    EXPECT_THAT(complaint(), HasSubstr(it.says)) << it.field << " " << it.value;
    EXPECT_THAT(complaint(), HasSubstr(folder.string())) << it.field;
  }
}

// GELU exactly or by tanh, as the checkpoint says: transformers' "gelu" is x·Φ(x).
TEST(Checkpoints, AGatedGeluIsTheCheckpointsOwn) {
  struct Case {
    const char* theirs;
    const char* own;
  };
  for (const Case& it : {Case{"gelu", "geglu-erf"}, Case{"gelu_new", "geglu"}, Case{"gelu_pytorch_tanh", "geglu"}}) {
    CheckpointCopy copy("llama");
    copy.set("hidden_act", it.theirs);
    TorchEngine engine;
    EXPECT_EQ(engine.open_run(copy.folder.string(), {}).config.model.activation, it.own);
  }
}

TEST_F(BrokenFolder, NamesTheFieldOfALlama) {
  struct Case {
    const char* field;
    Json value;
    const char* says;
  };
  for (const Case& it : std::vector<Case>{
           {"rope_scaling", {{"rope_type", "llama3"}, {"factor", 8}}, "\"rope_scaling\" is"},
           {"rope_scaling", {{"type", "longrope"}, {"factor", 2}}, "default, linear, dynamic, llama3, yarn"},
           {"rope_parameters", {{"rope_type", "yarn"}}, "\"rope_parameters\" is"},
           {"rope_parameters", {{"rope_theta", "far"}}, "\"rope_parameters\" is"},
           {"num_key_value_heads", 3, "\"num_key_value_heads\" is 3, allowed: divisors of \"num_attention_heads\", 4"},
           {"hidden_act", "relu", "\"hidden_act\" is \"relu\""},
           {"head_dim", 7, "an even width"},
           {"attention_bias", true, "tensor model.layers.0.self_attn.q_proj.bias is missing"},
           {"hidden_size", 24, "shape"},
           {"intermediate_size", nullptr, "there is no \"intermediate_size\""},
           {"tie_word_embeddings", false, "tensor lm_head.weight is missing"},
           {"num_hidden_layers", 3, "tensor model.layers.2.self_attn.q_proj.weight is missing"}}) {
    copy("llama");
    set(it.field, it.value);
    EXPECT_THAT(complaint(), HasSubstr(it.says)) << it.field;
  }
}

TEST_F(BrokenFolder, NamesTheTensor) {
  replace_in("model.safetensors", "model.encoder.layers.1.fc1.weight", "model.encoder.layers.1.fc9.weight");
  EXPECT_THAT(complaint(),
              HasSubstr("tensor model.encoder.layers.1.fc1.weight or encoder.layers.1.fc1.weight is missing"));
  copy("marian");
  set("encoder_ffn_dim", 16);
  set("decoder_ffn_dim", 16);
  EXPECT_THAT(complaint(), HasSubstr("tensor model.encoder.layers.0.fc1.weight has shape [24, 16], the configuration "
                                     "asks for [16, 16]"));
  copy("marian");
  replace_in("model.safetensors", "\"dtype\":\"F16\"", "\"dtype\":\"I16\"");
  EXPECT_THAT(complaint(), HasSubstr("contains I16, not floating-point numbers"));
}

TEST_F(BrokenFolder, NamesTheFile) {
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "model.safetensors"}) {
    copy("marian");
    fs::remove(folder / name);
    EXPECT_THAT(complaint(), HasSubstr(name));
  }
  for (const char* name : {"source.spm", "vocab.json", "model.safetensors", "config.json"}) {
    copy("marian");
    fs::resize_file(folder / name, fs::file_size(folder / name) - 2);
    EXPECT_NE(complaint(), "") << name;
  }
  copy("marian");
  write("vocab.json", R"({"</s>": 0, "<unk>": 1, "<pad>": "last"})");
  EXPECT_THAT(complaint(), HasSubstr("vocab.json: \"<pad>\" has the id \"last\""));
  write("vocab.json", R"({"</s>": 0, "<unk>": 1})");
  EXPECT_THAT(complaint(), HasSubstr("vocab.json: there is no \"<pad>\""));
  write("vocab.json", "[]");
  EXPECT_THAT(complaint(), HasSubstr("vocab.json: not a JSON object"));
  copy("marian");
  write("tokenizer_config.json", R"({"separate_vocabs": true})");
  EXPECT_THAT(complaint(), HasSubstr("separate_vocabs"));
}

TEST_F(BrokenFolder, NamesTheShard) {
  copy("llama");
  fs::remove(folder / "model-00002-of-00002.safetensors");
  EXPECT_THAT(complaint(), HasSubstr("model-00002-of-00002.safetensors"));
  copy("llama");
  write("model.safetensors.index.json", R"({"weight_map": {"a": "../other.safetensors"}})");
  EXPECT_THAT(complaint(), HasSubstr("which is not a file of this folder"));
  write("model.safetensors.index.json", R"({"metadata": {}})");
  EXPECT_THAT(complaint(), HasSubstr("there is no \"weight_map\""));
}

TEST_F(BrokenFolder, IsNeverWrittenOver) {
  TorchEngine engine;
  engine.open_run(folder.string(), {});
  EXPECT_THROW(engine.save_run(folder.string()), FileError);
  EXPECT_THROW(engine.go_on_with(folder.string(), {}), FileError);
}

// ---- a training that another program did

class TrainingElsewhere : public testing::Test {
 protected:
  TrainingElsewhere() {
    for (const int step : {500, 1000, 1500}) {
      const fs::path place = folder / fmt::format("checkpoint-{}", step);
      fs::create_directories(place);
      fs::copy(random_checkpoint("gpt_neo"), place, fs::copy_options::recursive);
      Safetensors all = read_safetensors(place / "model.safetensors");
      for (TensorBytes& tensor : all.tensors) {
        auto* const values = reinterpret_cast<float*>(tensor.bytes.data());
        for (std::size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i)
          values[i] *= static_cast<float>(step) / 1500;
      }
      write_safetensors(place / "model.safetensors", all);
    }
    std::ofstream(folder / "checkpoint-1500" / "trainer_state.json")
        << R"({"global_step": 1500, "log_history": [{"loss": 5.5, "grad_norm": 2, "learning_rate": 0.001, "step": 500},
               {"eval_loss": 5.25, "eval_accuracy": 0.5, "step": 500}, {"loss": 4.5, "step": 1000}, {"step": "x"}, 7]})";
    std::ofstream(folder / "metrics.csv") << "epoch,step,val_loss\r\n0,750,4.75\r\n1,1250,\r\n";
    EventFile events(1);
    events.scalar("train/loss", 250, 6.5);
    events.scalar("other", 300, 1);
    fs::create_directories(folder / "runs" / "a");
    std::ofstream(folder / "runs" / "a" / "events.out.tfevents.1") << events.bytes() << "cut";
  }
  ~TrainingElsewhere() override { fs::remove_all(folder); }

  static std::string written(TorchEngine& engine, std::optional<std::int64_t> step) {
    std::shared_ptr<const Snapshot> last;
    engine.probe({.text = "The street", .step = step}, [&](auto snapshot) { last = std::move(snapshot); }, {});
    return last->output_text;
  }

  const fs::path folder = fs::temp_directory_path() / fmt::format("attnscope_training_{}", ::getpid());
};

TEST_F(TrainingElsewhere, OpensAtItsLastStepAndVisitsTheOthers) {
  ASSERT_TRUE(is_checkpoint(folder));
  TorchEngine engine;
  const RunOpened opened = engine.open_run(folder.string(), {});
  EXPECT_EQ(opened.step, 1500);
  EXPECT_EQ(opened.name, folder.filename().string());
  EXPECT_THAT(opened.warnings, testing::IsEmpty());
  EXPECT_THAT(engine.status().recorded_weights, testing::ElementsAre(500, 1000));
  for (const int step : {500, 1000, 1500}) {
    TorchEngine alone;
    EXPECT_EQ(alone.open_run((folder / fmt::format("checkpoint-{}", step)).string(), {}).step, 0);
    EXPECT_EQ(written(engine, step), written(alone, {})) << step;
  }
  ASSERT_TRUE(engine.history().pin("The street"));
  record_pinned(engine, {}, {});
  std::vector<std::int64_t> frames;
  for (const Frame& frame : engine.history().sentences().front().frames) frames.push_back(frame->step);
  EXPECT_THAT(frames, testing::ElementsAre(500, 1000, 1500));
  RunOpened earlier = opened;
  engine.use_step(earlier, 500);
  EXPECT_EQ(engine.status().step, 500);
}

TEST_F(TrainingElsewhere, ReadsItsCurves) {
  TorchEngine engine;
  std::map<std::int64_t, MetricPoint> points;
  for (const MetricPoint& point : engine.open_run(folder.string(), {}).metrics) points[point.step] = point;
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[250][metric("loss")], 6.5);
  EXPECT_EQ(points[500][metric("loss")], 5.5);
  EXPECT_EQ(points[500][metric("gradient_norm")], 2);
  EXPECT_EQ(points[500][metric("validation_nll")], 5.25);
  EXPECT_EQ(points[500][metric("validation_accuracy")], 0.5);
  EXPECT_EQ(points[750][metric("validation_nll")], 4.75);
  EXPECT_EQ(points[1000][metric("loss")], 4.5);
}

TEST_F(TrainingElsewhere, ACheckpointWithoutWeightsIsLeftOutAndNamed) {
  fs::remove(folder / "checkpoint-1500" / "model.safetensors");
  TorchEngine engine;
  const RunOpened opened = engine.open_run(folder.string(), {});
  EXPECT_EQ(opened.step, 1000);
  EXPECT_THAT(opened.warnings, testing::ElementsAre(AllOf(HasSubstr("checkpoint-1500"), HasSubstr("no weights"))));
  EXPECT_THAT(engine.status().recorded_weights, testing::ElementsAre(500));
  for (const char* name : {"checkpoint-500", "checkpoint-1000"}) fs::remove(folder / name / "model.safetensors");
  TorchEngine none;
  EXPECT_THAT([&] { none.open_run(folder.string(), {}); },
              testing::ThrowsMessage<CheckpointError>(HasSubstr("checkpoint-1500: the weights are missing")));
}

TEST_F(TrainingElsewhere, SaysWhatCannotBeRead) {
  std::ofstream(folder / "metrics.csv") << "epoch,loss\n1,2\n";
  std::ofstream(folder / "checkpoint-1500" / "trainer_state.json") << "{";
  fs::resize_file(folder / "checkpoint-500" / "model.safetensors", 100);
  TorchEngine engine;
  const std::vector<std::string> warnings = engine.open_run(folder.string(), {}).warnings;
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_THAT(warnings[0], AllOf(HasSubstr("metrics.csv"), HasSubstr("there is no column \"step\"")));
  EXPECT_THAT(warnings[1], HasSubstr("trainer_state.json"));
  EXPECT_THROW(written(engine, 500), std::runtime_error);
  EXPECT_NE(written(engine, 1000), "");
}

TEST(Checkpoints, AnOutputMatrixThatIsTiedAndDiffersIsReported) {
  CheckpointCopy copy("gpt_neo");
  Safetensors all = copy.tensors();
  TensorBytes output = *std::ranges::find(all.tensors, "transformer.wte.weight", &TensorBytes::name);
  output.name = "lm_head.weight";
  all.tensors.push_back(output);
  copy.put(all);
  TorchEngine engine;
  EXPECT_THAT(engine.open_run(copy.folder.string(), {}).warnings, testing::IsEmpty()) << "equal: ignored";
  all.tensors.back().bytes.front() ^= 1;
  copy.put(all);
  EXPECT_THAT(engine.open_run(copy.folder.string(), {}).warnings,
              testing::ElementsAre(HasSubstr("lm_head.weight differs from the embeddings")));
}

// A saved checkpoint opens as a run of attnscope and gives the same outputs.
TEST_F(BrokenFolder, IsSavedAsARun) {
  for (const char* family : {"marian", "llama"}) {
    copy(family);
    const fs::path saved = folder.string() + "_saved";
    fs::remove_all(saved);
    const Probe probe{.text = "The street was too wide."};
    const auto said = [&](TorchEngine& engine) {
      std::shared_ptr<const Snapshot> last;
      engine.probe(probe, [&](std::shared_ptr<const Snapshot> snapshot) { last = std::move(snapshot); }, {});
      return last->target_out;
    };
    TorchEngine engine;
    engine.open_run(folder.string(), {});
    engine.save_run(saved.string());
    TorchEngine again;
    const RunOpened opened = again.open_run(saved.string(), {});
    EXPECT_EQ(opened.config.tokenizer.family, family);
    EXPECT_EQ(opened.config.tokenizer.path, folder.string()) << "where it came from";
    EXPECT_EQ(said(again), said(engine));
    fs::remove_all(saved);
  }
}

}  // namespace
}  // namespace attnscope
