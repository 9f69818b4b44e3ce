#include "files/storage/comparison_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "files/storage/file.h"

namespace attnscope {
namespace {

class ComparisonFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder.path);
    std::filesystem::create_directories(folder.path);
  }
  void TearDown() override { std::filesystem::remove_all(folder.path); }
  void write(const std::string& text) const { std::ofstream(folder.file()) << text; }

  ComparisonFolder folder{testing::TempDir() + "comparison_folder"};
};

TEST_F(ComparisonFolderTest, WhatWasSavedIsRead) {
  EXPECT_FALSE(is_comparison(folder.path));
  save_comparison(folder);
  EXPECT_TRUE(is_comparison(folder.path));
  const ComparedRuns runs = load_comparison(folder);
  EXPECT_EQ(runs.a, folder.a());
  EXPECT_EQ(runs.b, folder.b());
}

TEST_F(ComparisonFolderTest, RunsMayLieElsewhere) {
  write(R"({"version":1,"a":"../one","b":"/two"})");
  const ComparedRuns runs = load_comparison(folder);
  EXPECT_EQ(runs.a, (folder.path / "../one").lexically_normal());
  EXPECT_EQ(runs.b, "/two");
}

TEST_F(ComparisonFolderTest, WhatIsWrongIsNamed) {
  const auto complaint = [&](const std::string& text) {
    write(text);
    try {
      load_comparison(folder);
    } catch (const RunError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint("{"), testing::HasSubstr("comparison.json"));
  EXPECT_THAT(complaint("[1]"), testing::HasSubstr("not a JSON object"));
  EXPECT_THAT(complaint(R"({"version":2,"a":"a","b":"b"})"), testing::HasSubstr("version"));
  EXPECT_THAT(complaint(R"({"version":1,"a":"a"})"), testing::HasSubstr("\"b\""));
  EXPECT_THAT(complaint(R"({"version":1,"a":3,"b":"b"})"), testing::HasSubstr("\"a\""));
}

TEST_F(ComparisonFolderTest, TakesNoFolderThatHoldsSomethingElse) {
  check_free_for_comparison(folder.path);
  check_free_for_comparison(folder.path / "new");
  std::ofstream(folder.path / "letter.txt") << "dear";
  EXPECT_THROW(check_free_for_comparison(folder.path), FileError);
  save_comparison(folder);
  check_free_for_comparison(folder.path);
}

TEST_F(ComparisonFolderTest, IsNoPlaceForARun) {
  save_comparison(folder);
  try {
    check_free_for_run(folder.path);
    FAIL() << "accepted";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("already contains a comparison"));
  }
}

}  // namespace
}  // namespace attnscope
