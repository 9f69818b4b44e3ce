// This program once more, as a process that is talked with.
#include "common/programs.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace attnscope {
namespace {

TEST(Programs, OneOfItsOwnIsTalkedWith) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t process = start_own_program({"itself", "--gtest_list_tests", "--gtest_filter=Programs.*"},
                                          environment_with({}), nullptr, ends[1]);
  ::close(ends[1]);
  std::string said;
  char part[256];
  for (ssize_t count = 0; (count = ::read(ends[0], part, sizeof part)) > 0;) said.append(part, count);
  ::close(ends[0]);
  const int status = status_at_end(process);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_THAT(said, testing::HasSubstr("OneOfItsOwnIsTalkedWith"));
}

}  // namespace
}  // namespace attnscope
