// The boundary of LibTorch: what loads it, what does not, and what is said when it cannot be loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "commands/engine_module.h"
#include "common/module_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EngineModuleTest : public testing::Test {
 protected:
  EngineModuleTest() {
    std::string name = (fs::temp_directory_path() / "attnscope-engine-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~EngineModuleTest() override { fs::remove_all(folder); }
  fs::path folder;
};

std::string refusal(const fs::path& file) {
  try {
    load_engine_module(file);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

void end(int) {}

// First: a module that is loaded again is not initialized again.
TEST_F(EngineModuleTest, LeavesSignalsToTheProgram) {
  const auto before = std::signal(SIGHUP, end);
  refusal(ATTNSCOPE_OTHER_ENGINE);
  EXPECT_EQ(std::signal(SIGHUP, before), &end);
}

TEST_F(EngineModuleTest, IsLoadedIfItHasTheProgramsVersion) {
  EXPECT_STREQ(engine_module().version, ATTNSCOPE_VERSION);
  EXPECT_THAT(engine_module().processor_facts().processor, HasSubstr("loops"));
  EXPECT_EQ(engine_module().make_engine({})->status().step, 0);
}

TEST_F(EngineModuleTest, OfAnotherVersionIsRefusedWithBothVersions) {
  EXPECT_THAT(refusal(ATTNSCOPE_OTHER_ENGINE),
              AllOf(HasSubstr("attnscope 9.9.9"), HasSubstr("attnscope " ATTNSCOPE_VERSION)));
}

TEST_F(EngineModuleTest, ThatIsMissingOrDamagedIsNamed) {
  const fs::path file = folder / "engine.so";
  EXPECT_THAT(refusal(file), AllOf(HasSubstr(file.string()), HasSubstr("attnscope attach")));
  std::ofstream(file) << "not a library";
  EXPECT_THAT(refusal(file), AllOf(HasSubstr(file.string()), HasSubstr("install attnscope again")));
}

// The program without its module: what computes nothing works, and what computes says what is missing.
TEST_F(EngineModuleTest, IsNotNeededByCommandsThatComputeNothing) {
  fs::create_directories(folder / "bin");
  fs::copy_file(ATTNSCOPE_PROGRAM, folder / "bin" / "attnscope");
  const auto output = [&](const std::string& arguments) {
    const fs::path said = folder / "said";
    const int status = std::system(
        fmt::format("{} {} >{} 2>&1", (folder / "bin/attnscope").string(), arguments, said.string()).c_str());
    std::ifstream in(said);
    return fmt::format("{} {}", status, std::string(std::istreambuf_iterator<char>(in), {}));
  };
  EXPECT_THAT(output("--version"), HasSubstr("0 attnscope " ATTNSCOPE_VERSION));
  for (const char* command : {"--help", "presets", "fields", "corpora", "completion bash"})
    EXPECT_THAT(output(command), testing::StartsWith("0 ")) << command;
  EXPECT_THAT(output("translate --run nowhere"),
              AllOf(Not(testing::StartsWith("0 ")), HasSubstr("attnscope_engine.so")));
}

TEST_F(EngineModuleTest, IsTheOnlyPartThatIsLinkedWithLibTorch) {
  std::ifstream in(ATTNSCOPE_PROGRAM, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(bytes.find("libtorch_cpu.so"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
