#include "shell/run_view.h"

#include <utility>

namespace attnscope {

void receive(RunView& view, std::shared_ptr<const Snapshot> snapshot, std::uint64_t& versions) {
  if (!snapshot || snapshot == view.newest.snapshot || snapshot == view.inspection.snapshot) return;
  const bool decoded = snapshot->is_whole();
  if (snapshot->recorded_weights) {
    if (decoded) view.inspection = {std::move(snapshot), ++versions};
    return;
  }
  view.newest = {std::move(snapshot), ++versions};
  if (decoded) view.complete = view.newest;
}

}  // namespace attnscope
