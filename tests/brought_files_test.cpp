// Files and texts that people bring: each is read, or refused by a sentence that names what it is and what helps.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "common/error.h"
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
      {"tensors", [&] { tensors(with(TensorsOptions())); }},
  };
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

}  // namespace
}  // namespace attnscope
