// The folders of unsaved runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "files/storage/autosaves.h"
#include "files/storage/file.h"
#include "files/storage/safetensors.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class AutosavesTest : public testing::Test {
 protected:
  ~AutosavesTest() override { fs::remove_all(folder.parent_path()); }

  // Makes a run of it, as far as anybody looks at one.
  static void fill(const LockedRun& held, std::int64_t step) {
    save_config(held.folder().config(), Config{});
    write_safetensors(held.folder().model(), {{{"step", std::to_string(step)}}, {}});
  }

  // Left by a process that is no more.
  fs::path leave(const std::string& name, std::int64_t step, int seconds_ago = 0) const {
    const LockedRun held = autosaves.make(name);
    fill(held, step);
    fs::last_write_time(held.folder().model(), fs::file_time_type::clock::now() - std::chrono::seconds(seconds_ago));
    return held.folder().path;
  }

  const fs::path folder = fs::path(testing::TempDir()) / ("attnscope_autosaves_" + std::to_string(::getpid())) / "runs";
  const Autosaves autosaves{folder};
};

TEST_F(AutosavesTest, WhereThereIsNoneNoneIsFoundAndNothingMade) {
  EXPECT_TRUE(autosaves.left().empty());
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(AutosavesTest, WhatIsHeldIsNobodyElses) {
  std::optional<LockedRun> held = autosaves.make("english-french");
  fill(*held, 3120);
  EXPECT_TRUE(autosaves.contains(held->folder().path));
  EXPECT_TRUE(autosaves.left().empty());
  const LockedRun other = autosaves.make("english-french");
  EXPECT_NE(other.folder().path, held->folder().path);
  held.reset();
  const std::vector<Autosave> left = autosaves.left();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].name, "english-french");
  EXPECT_EQ(left[0].step, 3120);
  EXPECT_GT(left[0].saved_at, 1'700'000'000);
}

TEST_F(AutosavesTest, NamesOfAnySortBecomeFolders) {
  for (const char* name : {"", ".", "../up", "/etc", "nach Tübingen.txt", "-20240101-000000", "a-2"}) {
    const fs::path path = leave(name, 1);
    EXPECT_EQ(path.parent_path(), folder) << name;
    EXPECT_FALSE(Autosaves::run_name(path).empty()) << name;
  }
  EXPECT_EQ(Autosaves::run_name(leave("my run", 1)), "my-run");
  EXPECT_FALSE(autosaves.contains(folder));
  EXPECT_FALSE(autosaves.contains("/somewhere/else"));
}

TEST_F(AutosavesTest, TheNewestComesFirstAndOnlySoManyAreLeft) {
  for (int i = 0; i < 25; ++i) leave("run", 100 + i, 1000 - i);
  const std::vector<Autosave> left = autosaves.left();
  EXPECT_LE(left.size(), Autosaves::max_runs);
  EXPECT_GE(left.size(), Autosaves::max_runs - 1);
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i].step, 124 - static_cast<std::int64_t>(i));
}

TEST_F(AutosavesTest, WhatWasNeverWrittenWholeIsNotFoundAndGoes) {
  const fs::path torn = autosaves.make("torn").folder().path;
  EXPECT_TRUE(autosaves.left().empty());
  leave("whole", 5);
  EXPECT_FALSE(fs::exists(torn));
}

TEST_F(AutosavesTest, WhatIsNoRunAtAllHurtsNobody) {
  fs::create_directories(folder);
  write_file(folder / "note.txt", "mine");
  fs::create_directory_symlink("/etc", folder / "link");
  leave("run", 5);
  EXPECT_EQ(autosaves.left().size(), 1U);
  EXPECT_TRUE(fs::exists(folder / "note.txt"));
  EXPECT_TRUE(fs::exists("/etc/passwd"));
}

TEST_F(AutosavesTest, AFolderThatCannotBeMadeIsSaid) {
  EXPECT_THAT([] { Autosaves("/proc/nowhere").make("run"); },
              testing::ThrowsMessage<FileError>(testing::HasSubstr("/proc/nowhere")));
  EXPECT_TRUE(Autosaves("/proc/nowhere").left().empty());
}

}  // namespace
}  // namespace attnscope
