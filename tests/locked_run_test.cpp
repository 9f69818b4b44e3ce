// A run's folder holds one whole generation of its files, whenever the process that replaces them ends and whatever
// call of it fails.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "files/storage/file.h"
#include "files/storage/locked_run.h"

namespace attnscope {
namespace {

// Makes calls that change the disk fail; none fails until it is armed.
struct Fault {
  enum class Kind { none, kill_before, kill_after, fail_once, fail_from_there_on };
  Kind kind = Kind::none;
  int countdown = 0;  // calls until it strikes: 1, the next
  int error = EIO;
};
Fault fault;

// Decides whether the present call fails. If the process is to end, it ends before the call, or after it, when the
// guard's scope ends.
class Call {
 public:
  Call() {
    if (fault.kind == Fault::Kind::none) return;
    --fault.countdown;
    strikes_ = fault.kind == Fault::Kind::fail_from_there_on ? fault.countdown <= 0 : fault.countdown == 0;
    if (strikes_ && fault.kind == Fault::Kind::kill_before) ::kill(::getpid(), SIGKILL);
  }
  ~Call() {
    if (strikes_ && fault.kind == Fault::Kind::kill_after) ::kill(::getpid(), SIGKILL);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  template <typename... Arguments>
  long make(long number, Arguments... arguments) const {
    if (strikes_ && fault.kind >= Fault::Kind::fail_once) {
      errno = fault.error;
      return -1;
    }
    return ::syscall(number, arguments...);
  }

 private:
  bool strikes_ = false;
};

}  // namespace
}  // namespace attnscope

// In place of the C library's, for this program and, because they are exported, for the libraries that it loads.
#pragma GCC visibility push(default)
extern "C" {
int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  if (!(flags & O_CREAT)) return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  return static_cast<int>(attnscope::Call().make(SYS_openat, AT_FDCWD, path, flags, mode));
}
ssize_t write(int fd, const void* bytes, size_t count) {
  // Only half of it at first, as the kernel may.
  return attnscope::Call().make(SYS_write, fd, bytes, count > 1 ? count / 2 : count);
}
int fsync(int) {
  return static_cast<int>(attnscope::Call().make(SYS_getpid) < 0 ? -1 : 0);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return static_cast<int>(attnscope::Call().make(SYS_mkdir, path, mode));
}
int rename(const char* from, const char* to) noexcept {
  return static_cast<int>(attnscope::Call().make(SYS_rename, from, to));
}
int unlink(const char* path) noexcept {
  return static_cast<int>(attnscope::Call().make(SYS_unlink, path));
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  return static_cast<int>(attnscope::Call().make(SYS_unlinkat, folder, path, flags));
}
int remove(const char* path) noexcept {
  const attnscope::Call call;
  const long removed = call.make(SYS_unlink, path);
  return static_cast<int>(removed < 0 && errno == EISDIR ? call.make(SYS_rmdir, path) : removed);
}
}
#pragma GCC visibility pop

namespace attnscope {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;

namespace fs = std::filesystem;

using Contents = std::map<std::string, std::string>;  // of a folder, by relative path

Contents contents_of(const fs::path& folder) {
  Contents contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) contents[entry.path().lexically_relative(folder)] = read_file(entry.path(), 1 << 20);
  }
  return contents;
}

class LockedRunTest : public testing::Test {
 protected:
  LockedRunTest() {
    std::string name = (fs::temp_directory_path() / "attnscope-held-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~LockedRunTest() override {
    fault = {};
    fs::remove_all(folder_);
  }

  // The generation `number`: all files, of which every second one has no history, with its weights kept and those of
  // the one before.
  static void save(const LockedRun& held, int number) {
    Checkpoint checkpoint(held);
    const RunFolder& files = checkpoint.files();
    const std::string mark = std::to_string(number);
    for (const fs::path& file : {files.config(), files.corpus(), files.tokenizer(), files.model(), files.optimizer()})
      write_file(file, mark);
    if (number % 2 == 0) {
      checkpoint.remove(files.history());
    } else {
      write_file(files.history(), mark);
    }
    checkpoint.prune_kept_weights(number - 1, 1);
    write_file(files.kept_weights(number), mark);
    checkpoint.commit();
  }
  void save(int number) const { save(LockedRun(run()), number); }

  static Contents generation(int number) {
    const std::string mark = std::to_string(number);
    Contents contents;
    for (const char* file :
         {"config.json", "corpus.json", "tokenizer.model", "model.safetensors", "optimizer.safetensors"})
      contents[file] = mark;
    if (number % 2 == 1) contents["history.safetensors"] = mark;
    if (number > 1)
      contents["checkpoints/0000000" + std::to_string(number - 1) + ".safetensors"] = std::to_string(number - 1);
    contents["checkpoints/0000000" + mark + ".safetensors"] = mark;
    return contents;
  }

  void begin_with_two_generations() const {
    const fs::path made = folder_ / "two";
    if (!fs::exists(made)) {
      const LockedRun held(made);
      save(held, 1);
      save(held, 2);
    }
    copy_folder(made, run());
  }

  // In a process of its own, in which the n-th call is harmed. False if it came to the end of it.
  static bool is_killed(Fault::Kind kind, int n, const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      fault = {kind, n};
      try {
        work();
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
  }

  void copy_run() const { copy_folder(run(), copy()); }
  static void copy_folder(const fs::path& from, const fs::path& to) {
    fs::remove_all(to);
    fs::copy(from, to, fs::copy_options::recursive);
  }

  fs::path run() const { return folder_ / "run"; }
  fs::path copy() const { return folder_ / "copy"; }
  fs::path outside() const { return folder_ / "outside"; }

 private:
  fs::path folder_;
};

template <typename Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

// ---- one unit

TEST_F(LockedRunTest, ACheckpointReplacesWhatItHasAndRemovesWhatItHasNot) {
  save(1);
  EXPECT_EQ(contents_of(run()), generation(1));
  append_file(RunFolder{run()}.metrics(), "a line");
  save(2);
  Contents expected = generation(2);
  expected["metrics.jsonl"] = "a line";
  EXPECT_EQ(contents_of(run()), expected);
}

TEST_F(LockedRunTest, ACheckpointThatIsNotCommittedNeverWas) {
  save(1);
  const LockedRun held(run());
  { write_file(Checkpoint(held).files().model(), "2"); }
  EXPECT_EQ(contents_of(run()), generation(1));
}

TEST_F(LockedRunTest, KilledAtAnyCallItLeavesTheOldOrTheNewGeneration) {
  for (const auto kind : {Fault::Kind::kill_before, Fault::Kind::kill_after}) {
    int old = 0;
    int n = 1;
    for (begin_with_two_generations(); is_killed(kind, n, [&] { save(3); }); ++n, begin_with_two_generations()) {
      SCOPED_TRACE("call " + std::to_string(n));
      finish_checkpoint(run());
      LockedRun{run()};  // throws away what was begun
      ASSERT_THAT(contents_of(run()), AnyOf(Eq(generation(2)), Eq(generation(3))));
      if (contents_of(run()) == generation(2)) ++old;
      save(3);
      save(4);
      ASSERT_EQ(contents_of(run()), generation(4));
    }
    RecordProperty(kind == Fault::Kind::kill_before ? "killed_before" : "killed_after", n - 1);
    EXPECT_GT(old, 20);
    EXPECT_GT(n - old, 15) << "moves and removals after the decision";
  }
}

TEST_F(LockedRunTest, KilledAgainWhileItIsFinishedItIsFinishedByTheNext) {
  int decided = 0;
  for (int n = 1;; ++n) {
    begin_with_two_generations();
    if (!is_killed(Fault::Kind::kill_before, n, [&] { save(3); })) break;
    if (!fs::exists(decided_checkpoint({run()}).path)) continue;
    ++decided;
    for (int m = 1;; ++m) {
      copy_run();
      const bool killed = is_killed(Fault::Kind::kill_after, m, [&] { LockedRun{copy()}; });
      LockedRun{copy()};
      ASSERT_EQ(contents_of(copy()), generation(3)) << "calls " << n << " and " << m;
      if (!killed) break;
    }
  }
  EXPECT_GT(decided, 10);
}

TEST_F(LockedRunTest, AFirstSaveThatIsKilledLeavesARunOrNothing) {
  for (int n = 1;; ++n) {
    fs::remove_all(run());
    if (!is_killed(Fault::Kind::kill_before, n, [&] { save(1); })) break;
    const bool there = is_run(run());
    LockedRun{run()};
    ASSERT_EQ(contents_of(run()), there ? generation(1) : Contents()) << "call " << n;
    EXPECT_EQ(message_of([&] { check_free_for_run(run()); }) == "", !there);
  }
}

TEST_F(LockedRunTest, WhateverFailsOneGenerationIsWholeAndTheNextSaveSucceeds) {
  for (const auto& [kind, error] : {std::pair{Fault::Kind::fail_once, EIO},
                                    {Fault::Kind::fail_once, EINTR},
                                    {Fault::Kind::fail_from_there_on, ENOSPC}}) {
    int failures = 0;
    for (int n = 1;; ++n) {
      SCOPED_TRACE("call " + std::to_string(n));
      begin_with_two_generations();
      const LockedRun held(run());
      fault = {kind, n, error};
      const std::string message = message_of([&] { save(held, 3); });
      const bool struck = fault.countdown <= 0;
      fault = {};
      if (!struck) break;
      if (message != "") {
        ++failures;
        EXPECT_THAT(message, AllOf(HasSubstr(run().string()), HasSubstr(std::strerror(error))));
      }
      // The run as it would be if the process ended now.
      copy_run();
      LockedRun{copy()};
      ASSERT_THAT(contents_of(copy()), AnyOf(Eq(generation(2)), Eq(generation(3))));
      save(held, 3);
      ASSERT_EQ(contents_of(run()), generation(3));
    }
    EXPECT_GT(failures, error == EINTR ? 0 : 30) << "a write that was only interrupted goes on";
  }
}

// ---- one process

TEST_F(LockedRunTest, IsRefusedToASecondOne) {
  {
    const LockedRun held(run());
    EXPECT_THAT(message_of([&] { LockedRun{run()}; }), AllOf(HasSubstr(run().string()), HasSubstr("in use")));
  }
  EXPECT_EQ(message_of([&] { LockedRun{run()}; }), "");
}

TEST_F(LockedRunTest, IsFreeWhenItsHolderIsKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const LockedRun held(run());
    (void)!::write(ready[1], "x", 1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THAT(message_of([&] { LockedRun{run()}; }), HasSubstr("in use"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(message_of([&] { LockedRun{run()}; }), "");
}

// ---- somebody else's folder

TEST_F(LockedRunTest, IsWrittenThroughNoLink) {
  save(1);
  fs::create_directories(outside());
  write_file(outside() / "config.json", "mine");
  const Contents theirs = {{"config.json", "mine"}};
  fs::create_directory_symlink(outside(), run() / "checkpoint.tmp");
  save(2);
  fs::create_directory_symlink(outside(), run() / "checkpoint.new");
  EXPECT_THAT(message_of([&] { save(3); }), HasSubstr("checkpoint.new"));
  fs::remove(run() / "checkpoint.new");
  fs::remove_all(run() / "checkpoints");
  fs::create_directory_symlink(outside(), run() / "checkpoints");
  EXPECT_THAT(message_of([&] { save(3); }), HasSubstr("checkpoints"));
  EXPECT_EQ(contents_of(outside()), theirs);
}

// The lock is on the folder, not on its name.
TEST_F(LockedRunTest, IsFollowedAfterARename) {
  save(1);
  LockedRun held{run()};
  EXPECT_EQ(held.place(), run());
  fs::rename(run(), outside());
  EXPECT_EQ(held.place(), outside());
  fs::create_directory(run());
  LockedRun other{run()};  // another run begins under the old name
  EXPECT_THAT(message_of([&] { Checkpoint(held).commit(); }), HasSubstr("was moved meanwhile"));
  EXPECT_TRUE(fs::is_empty(run()));
  EXPECT_THAT(message_of([&] { LockedRun{outside()}; }), HasSubstr("is in use"));
  held.follow(outside());
  Checkpoint checkpoint(held);
  write_file(checkpoint.files().model(), "new");
  checkpoint.commit();
  EXPECT_EQ(read_file(RunFolder{outside()}.model(), 100), "new");
  EXPECT_TRUE(fs::is_empty(run()));
  fs::remove_all(outside());
  EXPECT_EQ(held.place(), std::nullopt);
}

TEST_F(LockedRunTest, TakesNothingElseFromWhatWasDecided) {
  save(1);
  const fs::path decided = decided_checkpoint({run()}).path;
  fs::create_directories(decided / "gone");
  for (const char* name : {"notes.txt", "00000007.safetensors", "gone/notes.txt"}) write_file(decided / name, "new");
  write_file(run() / "notes.txt", "old");
  LockedRun{run()};
  Contents expected = generation(1);
  expected["notes.txt"] = "old";
  EXPECT_EQ(contents_of(run()), expected);
}

TEST_F(LockedRunTest, LosesWhatKilledSavesLeft) {
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  save(1);
  const std::string leftover = "." + std::to_string(dead) + ".tmp";
  const std::vector<std::string> lost = {"model.safetensors" + leftover, "checkpoints/00000001.safetensors" + leftover};
  const std::vector<std::string> others = {"notes.tmp", "x..tmp", "12.tmp", "y." + std::to_string(::getpid()) + ".tmp"};
  for (const auto& names : {lost, others}) {
    for (const std::string& name : names) std::ofstream(run() / name) << "x";
  }
  LockedRun{run()};
  Contents expected = generation(1);
  for (const std::string& name : others) expected[name] = "x";
  EXPECT_EQ(contents_of(run()), expected);
}

}  // namespace
}  // namespace attnscope
