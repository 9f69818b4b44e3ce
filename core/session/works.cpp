#include "session/works.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

namespace attnscope {
namespace {

constexpr std::size_t index_of(Work work) {
  return static_cast<std::size_t>(work);
}

// One row per outer work. A preparation replaces the run and a study owns the model between its yields, so both begin
// only when nothing runs; a step must not change weights that a recording, a preparation or another step uses.
constexpr std::array<std::array<bool, work_count>, work_count> table = {{
    // step, recording, inspection, reading_corpus, study, preparation
    {false, true, true, false, false, false},   // step
    {false, false, true, false, false, false},  // recording
    {true, true, false, false, false, false},   // inspection
    {false, false, true, false, false, false},  // reading_corpus
    {true, true, true, true, false, false},     // study
    {false, false, true, false, false, false},  // preparation
}};

}  // namespace

bool may_contain(Work outer, Work inner) {
  return table[index_of(outer)][index_of(inner)];
}

bool RunningWorks::may_begin(Work work) const {
  return std::ranges::all_of(running_, [work](const Running& outer) { return may_contain(outer.work, work); });
}

RunningWorks::Scope RunningWorks::begin(Work work) {
  if (!may_begin(work)) throw std::logic_error("the worker began a work inside one that does not allow it");
  running_.push_back({work});
  return Scope(*this);
}

const RunningWorks::Running* RunningWorks::find(Work work) const {
  const auto found = std::ranges::find(running_, work, &Running::work);
  return found == running_.end() ? nullptr : &*found;
}

bool RunningWorks::is_running(Work work) const {
  return find(work) != nullptr;
}

void RunningWorks::cancel(Work work) {
  const auto found = std::ranges::find(running_, work, &Running::work);
  if (found != running_.end()) found->cancelled = true;
}

bool RunningWorks::is_cancelled(Work work) const {
  const Running* running = find(work);
  return running && running->cancelled;
}

}  // namespace attnscope
