// The listing that the file browser shows.
#include "session/directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace attnscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class DirectoryTest : public testing::Test {
 protected:
  DirectoryTest() {
    std::string name = (std::filesystem::temp_directory_path() / "attnscope_XXXXXX").string();
    folder = ::mkdtemp(name.data());
    std::filesystem::create_directories(folder / "zebra");
    std::filesystem::create_directories(folder / "a run");
    for (const char* file : {"config.json", "model.safetensors"}) std::ofstream(folder / "a run" / file) << "{}";
    std::ofstream(folder / "b.tsv") << "12345";
    std::ofstream(folder / "Été.txt") << "";
    std::filesystem::create_symlink(folder / "nowhere", folder / "broken");
  }
  ~DirectoryTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
};

TEST_F(DirectoryTest, ListsDirectoriesFirstThenByName) {
  const DirectoryListed listed = list_directory((folder / "zebra" / ".." / "").string());
  EXPECT_EQ(listed.path, folder.string());
  EXPECT_EQ(listed.error, "");
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : listed.entries) names.push_back(entry.name);
  ASSERT_THAT(names, ElementsAre("a run", "zebra", "b.tsv", "broken", "Été.txt"));
  EXPECT_TRUE(listed.entries[0].is_directory);
  EXPECT_TRUE(listed.entries[0].is_run);
  EXPECT_FALSE(listed.entries[1].is_run);
  EXPECT_FALSE(listed.entries[2].is_directory);
  EXPECT_EQ(listed.entries[2].size, 5u);
  EXPECT_EQ(listed.entries[3].size, 0u);
}

TEST_F(DirectoryTest, SaysWhyAFolderCannotBeRead) {
  const DirectoryListed missing = list_directory((folder / "missing").string());
  EXPECT_THAT(missing.error, AllOf(HasSubstr("cannot read /"), HasSubstr("/missing: No such file or directory")));
  EXPECT_TRUE(missing.entries.empty());
}

TEST_F(DirectoryTest, OfAFileItsFolderIsListed) {
  const DirectoryListed listed = list_directory((folder / "b.tsv").string());
  EXPECT_EQ(listed.error, "");
  EXPECT_EQ(listed.path, folder.string());
  EXPECT_EQ(listed.entries.size(), 5U);
}

TEST_F(DirectoryTest, EmptyPathIsTheHomeDirectory) {
  const char* home = std::getenv("HOME");
  const std::string expected = home != nullptr && *home != '\0' ? home : "/";
  EXPECT_EQ(list_directory("").path, std::filesystem::path(expected).lexically_normal().string());
}

}  // namespace
}  // namespace attnscope
