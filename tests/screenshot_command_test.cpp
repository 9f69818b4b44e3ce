// `attnscope screenshot` of the run that comes with the program: a view's name brings that view, wherever it is.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "commands/commands.h"
#include "files/storage/file.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

using testing::HasSubstr;
using testing::Not;

struct ViewWords {
  const char* view;
  const char* own;  // words no other view has
};

constexpr ViewWords views[] = {
    {"model", "by distance"}, {"head", "Margins"},     {"inside", "Compare √d_k"}, {"sublayers", "LayerNorm"},
    {"steps", "Rewind here"}, {"tree", "Show pruned"}, {"readings", "method"},     {"forcing", "free-running output"}};

class ScreenshotCommand : public testing::Test {
 protected:
  ScreenshotCommand() {
    options.source = "How are you?";
    options.reference = "Comment vas-tu ?";
    options.width = 1280;
    options.height = 720;
    options.out = file.string();
  }
  ~ScreenshotCommand() override { std::filesystem::remove(file); }

  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("attnscope-" + std::to_string(getpid()) + ".svg");
  ScreenshotOptions options;
};

TEST_F(ScreenshotCommand, ShowsTheViewThatIsNamed) {
  for (const ViewWords& shown : views) {
    options.view = shown.view;
    ASSERT_EQ(screenshot(options), 0);
    const std::string picture = read_file(file, 1 << 26);
    for (const ViewWords& view : views) {
      if (&view == &shown) {
        EXPECT_THAT(picture, HasSubstr(view.own)) << shown.view;
      } else {
        EXPECT_THAT(picture, Not(HasSubstr(view.own))) << shown.view;
      }
    }
  }
}

TEST_F(ScreenshotCommand, RefusesAViewThatSuchAModelHasNot) {
  const std::filesystem::path run = file.string() + ".run";
  {
    Config config = tiny_config();
    config.model.architecture = "recurrent";
    config.model.attention = "luong-dot";
    TorchEngine engine;
    engine.reset(config, {});
    engine.save_run(run.string());
  }
  options.run = run.string();
  options.view = "inside";
  try {
    screenshot(options);
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--view inside"));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  options.view = "head";
  EXPECT_EQ(screenshot(options), 0);
  std::filesystem::remove_all(run);
}

TEST_F(ScreenshotCommand, SaysThatNothingWasRecordedAndWritesNothing) {
  options.pin_step = 100;
  try {
    screenshot(options);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("this sentence was not recorded"));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace attnscope
