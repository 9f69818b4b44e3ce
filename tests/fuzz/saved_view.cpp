// A view that somebody saved: never an exception, and what is accepted is written and read again as it is.
#include "shell/saved_view.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  const SavedViewRead read = saved_view_from_json(fuzz::view(data, size));
  if (!read.complaint.empty()) return 0;
  const SavedViewRead again = saved_view_from_json(to_json(read.view));
  fuzz::require(again.complaint.empty() && again.view == read.view);
  return 0;
}
