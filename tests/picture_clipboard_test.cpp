// Pictures on their way into the clipboard: what its programs are given, and what is said where there are none.
#include "window/picture_clipboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "common/programs.h"
#include "files/storage/file.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t most = 1 << 20;  // bytes of any of these files

// A PATH with nothing in it but what a test puts there.
class PictureClipboard : public testing::Test {
 protected:
  PictureClipboard() {
    fs::create_directory(folder_);
    ::setenv("PATH", folder_.c_str(), 1);
    ::unsetenv("WAYLAND_DISPLAY");
  }
  ~PictureClipboard() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  // A program of that name that keeps its input and its arguments.
  void install(const std::string& name) const {
    const std::string script = "#!/bin/sh\n/bin/cat > " + taken().string() + ".part\necho \"$@\" > " +
                               words().string() + "\n/bin/mv " + taken().string() + ".part " + taken().string() + "\n";
    write_file(folder_ / name, script);
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }

  fs::path taken() const { return folder_ / "taken"; }
  fs::path words() const { return folder_ / "words"; }

  bool is_taken() const {
    for (int i = 0; i < 1000 && !fs::exists(taken()); ++i) std::this_thread::sleep_for(10ms);
    return fs::exists(taken());
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("attnscope-clipboard-" + std::to_string(::getpid()));
  std::string path_ = std::getenv("PATH");
};

// More than a pipe holds, and with bytes that are no text.
std::string picture() {
  std::string bytes = "\x89PNG\r\n";
  for (int i = 0; i < 300'000; ++i) bytes.push_back(static_cast<char>(i * 7));
  return bytes;
}

TEST_F(PictureClipboard, XclipIsGivenTheWholePicture) {
  install("xclip");
  copy_picture(picture());
  ASSERT_TRUE(is_taken());
  EXPECT_EQ(read_file(taken(), most), picture());
  EXPECT_EQ(read_file(words(), most), "-selection clipboard -target image/png\n");
}

TEST_F(PictureClipboard, OnWaylandItIsItsOwnProgram) {
  install("xclip");
  install("wl-copy");
  ::setenv("WAYLAND_DISPLAY", "wayland-0", 1);
  copy_picture(picture());
  ASSERT_TRUE(is_taken());
  EXPECT_EQ(read_file(taken(), most), picture());
  EXPECT_EQ(read_file(words(), most), "--type image/png\n");
}

TEST_F(PictureClipboard, WhatIsMissingIsNamed) {
  try {
    copy_picture(picture());
    FAIL() << "there is no program";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("xclip: No such file"), testing::HasSubstr("package xclip.")));
  }
  ::setenv("WAYLAND_DISPLAY", "wayland-0", 1);
  try {
    copy_picture(picture());
    FAIL() << "there is no program";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("package wl-clipboard"));
  }
}

// A process that runs on by itself leaves no zombie, and the end of another can still be awaited.
TEST_F(PictureClipboard, WhatRunsOnDoesNotKeepOthersFromBeingWaitedFor) {
  install("xclip");
  copy_picture(picture());
  const int status = status_at_end(start_program({"/bin/sh", "-c", "exit 3"}, NamelessFile("")));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_TRUE(is_taken());
}

}  // namespace
}  // namespace attnscope
