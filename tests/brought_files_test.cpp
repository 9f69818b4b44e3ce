// Files and texts that people bring: each is read, or refused by a sentence that names what it is and what helps.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "checkpoint_copy.h"
#include "commands/commands.h"
#include "common/error.h"
#include "files/storage/safetensors.h"
#include "random_checkpoints.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace fs = std::filesystem;

class BroughtFiles : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-brought-" + std::to_string(::getpid()));

  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }

  // A saved run, after `change` of its weights.
  std::string run(const Config& config, const std::function<void(SequenceModel&)>& change = {}) const {
    TorchEngine engine;
    engine.reset(config, {});
    if (change) change(engine.model());
    engine.save_run((folder / "run").string());
    return (folder / "run").string();
  }
};

TEST_F(BroughtFiles, ActivationsThatOverflowAreNamedByEveryCommand) {
  const std::string path = run(tiny_config(), [](SequenceModel& model) {
    const torch::NoGradGuard no_grad;
    for (const auto& item : model.named_parameters())
      if (item.key().find("encoder.layers.0.linear") == 0) item.value().mul_(1e25);
  });
  const auto with = [&](auto options) {
    if constexpr (requires { options.run; }) options.run = path;
    return options;
  };
  const std::map<std::string, std::function<void()>> commands = {
      {"heads", [&] { heads(with(HeadsOptions())); }},
      {"translate", [&] { translate(with(TranslateOptions())); }},
      {"evaluate", [&] { evaluate(with(EvaluateOptions())); }},
      {"attend", [&] { attend(with(AttendOptions())); }},
      {"explain", [&] { explain(with(ExplainOptions())); }},
      {"length", [&] { length(with(LengthOptions())); }},
      {"embeddings", [&] { embeddings(with(EmbeddingsOptions())); }},
      {"neurons", [&] { neurons(with(NeuronsOptions())); }},
      {"tensors", [&] { tensors(with(TensorsOptions())); }},
  };
  TorchEngine window;
  EXPECT_THAT(window.open_model(path).warnings,
              testing::Contains(HasSubstr("feed-forward, added” is NaN or infinite")));
  testing::internal::CaptureStdout();
  for (const auto& [name, command] : commands)
    EXPECT_THAT(command, ThrowsMessage<std::runtime_error>(
                             AllOf(HasSubstr("the activation “encoder layer 1 feed-forward, added”"),
                                   HasSubstr("at step 0"))))
        << name;
  TrainOptions training;
  training.out = path;
  training.steps = 2;
  training.resume = true;
  EXPECT_THAT([&] { train(training); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("training stopped at step 1"),
                                                      HasSubstr("encoder layer 1 feed-forward, added"),
                                                      HasSubstr("still has step 0"))));
  testing::internal::GetCapturedStdout();
}

TEST_F(BroughtFiles, ACheckpointIsStudiedOnACorpusThatIsNamed) {
  const CheckpointCopy checkpoint("gpt2");
  NeuronsOptions asked{.run = checkpoint.folder.string(), .json = true};
  EXPECT_THAT([&] { neurons(asked); }, ThrowsMessage<CorpusError>(HasSubstr("pass one with --corpus")));
  const CheckpointCopy encoder("bert");
  EXPECT_THAT([&] { heads({.run = encoder.folder.string()}); },
              ThrowsMessage<CorpusError>(HasSubstr("pass one with --corpus")));
  std::string text;
  for (int line = 0; line < 400; ++line) text += "the cat sat on mat number " + std::to_string(line * line) + "\n";
  asked.corpus = file("cats.txt", text);
  testing::internal::CaptureStdout();
  neurons(asked);
  HeadsOptions importance{.run = asked.run, .corpus = asked.corpus, .json = true};
  heads(importance);
  std::stringstream out(testing::internal::GetCapturedStdout());
  std::string line;
  std::getline(out, line);
  EXPECT_GT(nlohmann::json::parse(line).at("tokens"), 0);
  std::getline(out, line);
  EXPECT_FALSE(nlohmann::json::parse(line).at("pruning").empty()) << "the loss needs texts";
  importance.corpus = (folder / "missing.txt").string();
  EXPECT_THROW(heads(importance), CorpusError);
}

TEST_F(BroughtFiles, DamagedMetricsAreSetAsideAndNamedAndTheWeightsOpen) {
  const std::string path = run(tiny_config());
  const std::string metrics = "{\"step\": 0}\n{\"step\": 0, \"loss\": NaN}\n";
  std::ofstream(fs::path(path) / "metrics.jsonl") << metrics;
  TorchEngine engine;
  const RunOpened opened = engine.go_on_with(path, {});
  EXPECT_THAT(opened.warnings,
              testing::Contains(AllOf(HasSubstr("2 lines of metrics"), HasSubstr("line 1: \"step\""))));
  engine.save_run(path);
  std::stringstream aside;
  aside << std::ifstream(fs::path(path) / "metrics.jsonl.broken").rdbuf();
  EXPECT_EQ(aside.str(), metrics);
}

TEST_F(BroughtFiles, FoldersOfOtherProgramsAreNamedWithWhatHelps) {
  const auto complaint = [&](const std::string& name, const std::map<std::string, std::string>& files) {
    const fs::path made = folder / name;
    fs::create_directories(made);
    for (const auto& [file_name, bytes] : files) std::ofstream(made / file_name) << bytes;
    return opening_complaint(made);
  };
  EXPECT_THAT(complaint("lora", {{"adapter_config.json", R"({"base_model_name_or_path":"gpt2"})"},
                                 {"adapter_model.safetensors", ""}}),
              AllOf(HasSubstr("LoRA adapter"), HasSubstr("gpt2"), HasSubstr("merge_and_unload")));
  EXPECT_THAT(complaint("gguf", {{"model-q4.gguf", "GGUF"}}),
              AllOf(HasSubstr("model-q4.gguf"), HasSubstr("safetensors")));
  EXPECT_THAT(complaint("pickle", {{"config.json", R"({"model_type":"gpt2"})"}, {"pytorch_model.bin", "PK\x03\x04"}}),
              AllOf(HasSubstr("pytorch_model.bin"), HasSubstr("python3 -c"), HasSubstr("save_file")));
  EXPECT_THAT(
      complaint("pickles", {{"config.json", R"({"model_type":"gpt2"})"}, {"pytorch_model.bin.index.json", "{}"}}),
      AllOf(HasSubstr("pytorch_model-*.bin is a pickle"), HasSubstr("python3 -c"), HasSubstr("glob.glob")));
  EXPECT_THAT(opening_complaint(folder / "gguf" / "model-q4.gguf"), HasSubstr("GGUF"));
  const std::string unfinished = complaint("unfinished", {{"config.json", R"({"version":3})"}, {"corpus.json", "{}"}});
  EXPECT_THAT(unfinished, HasSubstr("incomplete run"));
  EXPECT_THAT(unfinished, testing::Not(HasSubstr("remove")));
}

TEST_F(BroughtFiles, LfsPointersAreNamed) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n";
  for (const char* name : {"model.safetensors", "vocab.json"}) {
    CheckpointCopy copy("gpt2");
    std::ofstream(copy.folder / name) << pointer;
    EXPECT_THAT(opening_complaint(copy.folder), AllOf(HasSubstr(name), HasSubstr("is a Git LFS pointer")));
  }
}

TEST_F(BroughtFiles, AMessageNamesTheFolderOnceAndNoCodesOfALibrary) {
  const CheckpointCopy copy("gpt2");
  fs::remove(copy.folder / "model.safetensors");
  const std::string missing = opening_complaint(copy.folder);
  EXPECT_THAT(missing, HasSubstr("the weights are missing"));
  EXPECT_EQ(missing.rfind(copy.folder.string()), missing.find(copy.folder.string())) << missing;
  std::ofstream(copy.folder / "config.json") << "{\"model_type\": gpt2}";
  EXPECT_THAT(opening_complaint(copy.folder), AllOf(HasSubstr("config.json"), HasSubstr("parse error at line 1"),
                                                    testing::Not(HasSubstr("json.exception"))));
}

TEST_F(BroughtFiles, AFolderOfTheCacheAndWrappedNamesOpen) {
  const fs::path snapshot = folder / "models--x--gpt2" / "snapshots" / "0123";
  fs::create_directories(snapshot);
  write_random_checkpoint("gpt2", snapshot);
  Safetensors weights = read_safetensors(snapshot / "model.safetensors");
  for (TensorBytes& tensor : weights.tensors) tensor.name = "module._orig_mod." + tensor.name;
  write_safetensors(snapshot / "model.safetensors", weights);
  EXPECT_EQ(opening_complaint(folder / "models--x--gpt2"), "");
  fs::create_directories(folder / "models--x--gpt2" / "snapshots" / "4567");
  EXPECT_THAT(opening_complaint(folder / "models--x--gpt2"), HasSubstr("2 snapshots"));
  fs::create_directories(folder / "models--x--gpt2" / "refs");
  std::ofstream(folder / "models--x--gpt2" / "refs" / "main") << "0123";
  EXPECT_EQ(opening_complaint(folder / "models--x--gpt2"), "");
}

TEST_F(BroughtFiles, ModelsSavedWithoutTheirHeadHaveNamesWithoutTheFirstPart) {
  const std::string body = "model.";
  for (const char* family : {"llama", "qwen3", "gemma2", "bart"}) {
    const CheckpointCopy copy(family);
    Safetensors weights = copy.tensors();
    int renamed = 0;
    for (TensorBytes& tensor : weights.tensors)
      if (tensor.name.starts_with(body)) tensor.name.erase(0, body.size()), ++renamed;
    EXPECT_GT(renamed, 0) << family;
    copy.put(weights);
    EXPECT_EQ(opening_complaint(copy.folder), "") << family;
  }
}

TEST_F(BroughtFiles, PathsNeedNotBeUtf8) {
  folder /= "\xE9t\xE9";
  fs::create_directories(folder);
  const std::string path = run(tiny_config(file("\xE9.tsv", "a b\tb a\nb c\tc b\nc a\ta c\nd a\ta d\n")));
  EXPECT_EQ(opening_complaint(path), "");
  EvaluateOptions evaluation;
  evaluation.run = path;
  evaluation.corpus = (folder / "\xE9.tsv").string();
  evaluation.json = true;
  RunsOptions listing;
  listing.folder = folder.parent_path().string();
  listing.json = true;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(evaluate(evaluation), 0);
  EXPECT_EQ(runs(listing), 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("\xE9.tsv"));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("\uFFFDt\uFFFD/run"));
  EXPECT_THAT([&] { load_corpus({.source = (folder / "\xE9").string()}); },
              ThrowsMessage<CorpusError>(HasSubstr("\xE9: no such file")));
  folder = folder.parent_path();
}

TEST_F(BroughtFiles, TinyCorporaPretendNoTest) {
  EvaluateOptions options;
  options.run = run(tiny_config(file("two.tsv", "a b\tb a\nb c\tc b\n")));
  EXPECT_THAT([&] { evaluate(options); },
              ThrowsMessage<CorpusError>(AllOf(HasSubstr("two.tsv"), HasSubstr("too small to hold out a test part"))));
}

// ---- lines of text

class BroughtLines : public BroughtFiles {
 protected:
  // The output of translate for these lines, and its messages on stderr.
  std::pair<std::string, std::string> translated(const std::string& path, const std::string& lines, bool json) const {
    TranslateOptions options;
    options.run = path;
    options.json = json;
    std::istringstream in(lines);
    std::streambuf* const before = std::cin.rdbuf(in.rdbuf());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    translate(options);
    std::cin.rdbuf(before);
    std::cin.clear();
    std::string said = testing::internal::GetCapturedStderr();
    return {testing::internal::GetCapturedStdout(), std::move(said)};
  }
};

TEST_F(BroughtLines, LineEndsOfOtherSystemsAreNoText) {
  const std::string path = run(tiny_config());
  const auto plain = translated(path, "a b c\nd e\nf", true);
  EXPECT_EQ(plain, translated(path, "\xEF\xBB\xBF" "a b c\r\nd e\r\nf\r", true));
}

TEST_F(BroughtLines, APromptMayBeginAtALineEnd) {
  Config config = tiny_config();
  config.model.architecture = "decoder-only";
  config.model.num_decoder_layers = 2;
  std::istringstream printed(translated(run(config), "\u23CE\n\n", true).first);
  std::string written, empty;
  std::getline(printed, written);
  std::getline(printed, empty);
  const nlohmann::json line_end = nlohmann::json::parse(written), nothing = nlohmann::json::parse(empty);
  EXPECT_EQ(line_end["unknown_tokens"], 0);
  EXPECT_EQ(line_end["hypotheses"], nothing["hypotheses"]) << "an empty prompt begins there too";
}

TEST_F(BroughtLines, TheSamePartOfALongTextIsUsedEverywhereAndSaid) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::string(i == 0 ? "" : " ") + static_cast<char>('a' + i * 7 % 13);
  for (const char* architecture : {"encoder-decoder", "decoder-only"}) {
    Config config = tiny_config();
    config.model.architecture = architecture;
    config.model.num_decoder_layers = 2;
    config.model.max_length = 16;
    const std::string path = run(config);
    const auto [printed, said] = translated(path, "a b\n" + text + "\n", true);
    const bool prompt = std::string_view(architecture) == "decoder-only";
    EXPECT_THAT(said,
                HasSubstr(prompt ? "line 2: longer than the model's context of 16 tokens: only its last 8 tokens"
                                 : "line 2: longer than the model's context of 16 tokens: only its first 15 tokens"));
    std::istringstream lines(printed);
    std::string first, second;
    std::getline(lines, first);
    std::getline(lines, second);
    EXPECT_FALSE(nlohmann::json::parse(first)["truncated"]);
    const nlohmann::json translation = nlohmann::json::parse(second);
    EXPECT_TRUE(translation["truncated"]);
    AttendOptions options;
    options.run = path;
    options.source = text;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    attend(options);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr(prompt ? "its last 8 tokens" : "its first 15 tokens"));
    const nlohmann::json attended = nlohmann::json::parse(testing::internal::GetCapturedStdout());
    EXPECT_TRUE(attended["truncated"]);
    if (prompt) continue;
    EXPECT_EQ(attended["output"], translation["hypotheses"][0]["text"]) << "the same part";
  }
}

TEST_F(BroughtLines, FillAndAttendNameTheSameLimit) {
  Config config = tiny_config();
  config.model.architecture = "masked-lm";
  config.model.max_length = 16;
  FillOptions options;
  AttendOptions attending;
  options.run = attending.run = run(config);
  attending.source = "a b c d e f g h a b c d e f g h a b c d e f g h";
  std::istringstream in(attending.source + "\n");
  std::streambuf* const before = std::cin.rdbuf(in.rdbuf());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  fill(options);
  const std::string filling = testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  attend(attending);
  std::cin.rdbuf(before);
  std::cin.clear();
  testing::internal::GetCapturedStdout();
  for (const std::string& said : {filling, testing::internal::GetCapturedStderr()})
    EXPECT_THAT(said, HasSubstr("context of 16 tokens: only its first 15 tokens")) << said;
}

TEST_F(BroughtLines, UnknownTokensAreCountedAndAnotherUnicodeFormIsHintedAt) {
  Config config = tiny_config(file("accents.tsv", "caf\xC3\xA9 a\tx\nb caf\xC3\xA9\ty\nc a\tx\n"));
  config.tokenizer.type = "char";
  config.corpus.normalize = false;
  const std::string decomposed = "cafe\xCC\x81 a\nz\n";
  const auto [raw, said] = translated(run(config), decomposed, true);
  EXPECT_THAT(said, AllOf(HasSubstr("unknown tokens: 2, in 2 of 2 texts; the first, in text 1"),
                          HasSubstr("corpus.normalize")));
  EXPECT_EQ(nlohmann::json::parse(raw.substr(0, raw.find('\n')))["unknown_tokens"], 1);
  fs::remove_all(folder / "run");
  config.corpus.normalize = true;
  EXPECT_THAT(translated(run(config), decomposed, true).second, HasSubstr("unknown tokens: 1, in 1 of 2 texts"));
}

}  // namespace
}  // namespace attnscope
