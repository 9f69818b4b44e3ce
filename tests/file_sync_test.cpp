// A crash loses nothing: a file's bytes are on the disk before it replaces the old file, and then the folder is synced.
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "files/storage/file.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

struct Synced {
  fs::path path;
  std::uintmax_t size = 0;  // bytes in it then
  std::string old;          // in the place where they shall be
};

// While it lives, every fsync of this program is noted, and answered as told.
class Syncs {
 public:
  explicit Syncs(fs::path place) : place_(std::move(place)) { present = this; }
  ~Syncs() { present = nullptr; }

  int answer(int fd) {
    const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(fd));
    synced.push_back({path, fs::is_regular_file(path) ? fs::file_size(path) : 0, read_file(place_, 100)});
    errno = error;
    return error == 0 ? 0 : -1;
  }

  std::vector<Synced> synced;
  int error = 0;
  static inline Syncs* present = nullptr;

 private:
  fs::path place_;
};

}  // namespace
}  // namespace attnscope

// In place of the C library's, for this program.
extern "C" int fsync(int fd) {
  using attnscope::Syncs;
  return Syncs::present ? Syncs::present->answer(fd) : static_cast<int>(syscall(SYS_fsync, fd));
}

namespace attnscope {
namespace {

class FileSync : public testing::Test {
 protected:
  FileSync() {
    fs::create_directories(folder);
    write_file(file, "old");
  }
  ~FileSync() override { fs::remove_all(folder); }

  const fs::path folder = fs::temp_directory_path() / ("attnscope-sync-" + std::to_string(::getpid()));
  const fs::path file = folder / "file";
};

TEST_F(FileSync, ComesBeforeTheRenameAndThenForTheFolder) {
  Syncs syncs(file);
  write_file(file, "longer than the old one");
  ASSERT_EQ(syncs.synced.size(), 2U);
  EXPECT_EQ(syncs.synced[0].path.parent_path(), folder);
  EXPECT_NE(syncs.synced[0].path, file);
  EXPECT_EQ(syncs.synced[0].size, std::strlen("longer than the old one"));
  EXPECT_EQ(syncs.synced[0].old, "old");
  EXPECT_EQ(syncs.synced[1].path, folder);
  EXPECT_EQ(syncs.synced[1].old, "longer than the old one");
}

TEST_F(FileSync, ThatFailsLeavesTheOldFile) {
  Syncs syncs(file);
  syncs.error = EIO;
  try {
    write_file(file, "new");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr(file.string()), testing::HasSubstr(std::strerror(EIO))));
  }
  EXPECT_EQ(read_file(file, 100), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

}  // namespace
}  // namespace attnscope
