// Messages of every command that opens a run: what is missing, and where it is.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>

#include "commands/commands.h"
#include "files/storage/run_folder.h"
#include "messages/engine.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A run whose pinned sentences cannot be read and whose corpus is gone.
class Opening : public testing::Test {
 protected:
  static fs::path folder() { return fs::temp_directory_path() / ("attnscope-opening-" + std::to_string(::getpid())); }
  static std::string run() { return (folder() / "run").string(); }
  static std::string gone() { return (folder() / "letters.tsv").string(); }

  static void SetUpTestSuite() {
    fs::create_directories(folder());
    fs::copy_file(letters_file(), gone());
    TorchEngine engine;
    engine.reset(tiny_config(gone()), {});
    engine.save_run(run());
    fs::remove(gone());
    std::ofstream(RunFolder{run()}.history()) << "no such file was ever written";
  }
  static void TearDownTestSuite() { fs::remove_all(folder()); }

  static std::string logged_by(const std::function<int()>& command) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_NO_THROW(EXPECT_EQ(command(), 0));
    testing::internal::GetCapturedStdout();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Opening, OfAModelSaysWhatOfTheRunCannotBeRead) {
  AttendOptions inspecting;
  inspecting.run = run();
  inspecting.source = "a b c";
  EXPECT_THAT(logged_by([&] { return attend(inspecting); }), HasSubstr("history.safetensors"));
  std::istringstream lines("a b c\n");
  std::streambuf* const terminal = std::cin.rdbuf(lines.rdbuf());
  TranslateOptions translating;
  translating.run = run();
  EXPECT_THAT(logged_by([&] { return translate(translating); }), HasSubstr("history.safetensors"));
  std::cin.rdbuf(terminal);
  ExportOptions exporting;
  exporting.run = run();
  exporting.format = "onnx";
  exporting.folder = (folder() / "onnx").string();
  EXPECT_THAT(logged_by([&] { return export_run(exporting); }), HasSubstr("history.safetensors"));
}

TEST_F(Opening, OfARunSaysThatItsCorpusIsGone) {
  const auto embedded = [] { return embeddings({.run = run()}); };
  const auto tensors_of = [] { return tensors({.run = run(), .text = "a b"}); };
  const auto explained = [] { return explain({.run = run(), .clean = "a b c", .corrupted = "a d c"}); };
  const auto attributed = [] { return explain({.run = run(), .clean = "a b c", .attribution = true}); };
  for (const std::function<int()>& command : {std::function<int()>(embedded), std::function<int()>(tensors_of),
                                              std::function<int()>(explained), std::function<int()>(attributed)})
    EXPECT_THAT(logged_by(command), testing::AllOf(HasSubstr("history.safetensors"), HasSubstr(gone())));
}

}  // namespace
}  // namespace attnscope
