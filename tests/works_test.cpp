// The worker's works in progress, walked through every sequence that its table allows; and the commands that wait.
#include "session/works.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <vector>

#include "session/waiting_commands.h"

namespace attnscope {
namespace {

std::vector<Work> all_works() {
  std::vector<Work> all;
  for (int i = 0; i < work_count; ++i) all.push_back(static_cast<Work>(i));
  return all;
}

// Calls `visit` with every stack of works that can be reached, the outermost work first.
void walk(RunningWorks& works, std::vector<Work>& stack, const std::function<void(const std::vector<Work>&)>& visit) {
  visit(stack);
  for (const Work work : all_works()) {
    if (!works.may_begin(work)) {
      EXPECT_THROW((void)works.begin(work), std::logic_error);
      continue;
    }
    const RunningWorks::Scope scope = works.begin(work);
    stack.push_back(work);
    walk(works, stack, visit);
    stack.pop_back();
  }
}

std::set<std::vector<Work>> reachable_stacks() {
  RunningWorks works;
  std::vector<Work> stack;
  std::set<std::vector<Work>> reached;
  walk(works, stack, [&](const std::vector<Work>& now) {
    EXPECT_TRUE(reached.insert(now).second);
    for (const Work work : all_works()) EXPECT_EQ(works.is_running(work), std::ranges::count(now, work) == 1);
  });
  return reached;
}

bool contains(const std::vector<Work>& stack, Work work) {
  return std::ranges::find(stack, work) != stack.end();
}

TEST(Works, EndAtTheLastWorkAndNeverRepeat) {
  for (const std::vector<Work>& stack : reachable_stacks()) {
    EXPECT_EQ(std::set<Work>(stack.begin(), stack.end()).size(), stack.size());
    EXPECT_LE(stack.size(), 4U) << "a study, a forward pass in it, a step in that, and its recording";
  }
  EXPECT_TRUE(reachable_stacks().contains({Work::study, Work::inspection, Work::step, Work::recording}));
}

TEST(Works, NothingChangesTheWeightsThatAnotherUses) {
  for (const std::vector<Work>& stack : reachable_stacks()) {
    const auto step = std::ranges::find(stack, Work::step);
    for (auto outer = stack.begin(); outer != stack.end() && outer < step; ++outer)
      EXPECT_TRUE(*outer == Work::study || *outer == Work::inspection || step == stack.end());
  }
}

TEST(Works, RunsAreReplacedAndStudiedOnlyWhenNothingRuns) {
  for (const std::vector<Work>& stack : reachable_stacks())
    for (const Work alone : {Work::preparation, Work::study})
      if (contains(stack, alone)) {
        EXPECT_EQ(stack.front(), alone);
      }
}

TEST(Works, SentencesAreAnsweredDuringEverythingElse) {
  for (const std::vector<Work>& stack : reachable_stacks()) {
    if (contains(stack, Work::inspection)) continue;
    std::vector<Work> answering = stack;
    answering.push_back(Work::inspection);
    EXPECT_TRUE(reachable_stacks().contains(answering));
  }
}

TEST(Works, ACancellationEndsWithItsWork) {
  RunningWorks works;
  works.cancel(Work::study);
  {
    const RunningWorks::Scope study = works.begin(Work::study);
    EXPECT_FALSE(works.is_cancelled(Work::study)) << "cancelled before it began";
    const RunningWorks::Scope inspection = works.begin(Work::inspection);
    works.cancel(Work::study);
    EXPECT_TRUE(works.is_cancelled(Work::study));
    EXPECT_FALSE(works.is_cancelled(Work::inspection));
  }
  const RunningWorks::Scope study = works.begin(Work::study);
  EXPECT_FALSE(works.is_cancelled(Work::study));
}

TEST(WaitingCommands, KeepTheirOrderAndTheNewestAdjust) {
  WaitingCommands waiting;
  Config first, second;
  first.training.batch_size = 1;
  second.training.batch_size = 2;
  waiting.add(Adjust{first});
  waiting.add(Adjust{second});
  waiting.add(Pin{"a"});
  waiting.add(Adjust{first});
  EXPECT_EQ(std::get<Adjust>(waiting.take_next()).config.training.batch_size, 2);
  EXPECT_EQ(std::get<Pin>(waiting.take_next()).text, "a");
  EXPECT_EQ(std::get<Adjust>(waiting.take_next()).config.training.batch_size, 1);
  EXPECT_TRUE(waiting.empty());
}

TEST(WaitingCommands, DropWhatIsCancelled) {
  WaitingCommands waiting;
  EXPECT_FALSE(waiting.drop_replacements());
  for (const Command& command : std::vector<Command>{Train{}, GoToBest{}, Step{}, OpenRun{"x"}, Unpin{"a"}})
    waiting.add(command);
  EXPECT_TRUE(waiting.replace_a_run());
  EXPECT_TRUE(waiting.drop_replacements());
  EXPECT_FALSE(waiting.replace_a_run());
  waiting.drop_training();
  EXPECT_TRUE(is_one_of<Unpin>(waiting.take_next()));
  EXPECT_TRUE(waiting.empty());
}

}  // namespace
}  // namespace attnscope
