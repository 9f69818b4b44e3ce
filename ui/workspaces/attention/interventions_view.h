// What is remembered of intervening: what is being put together in the popup, and what the interventions did.
#pragma once

#include <memory>
#include <string>

#include "measures/look_difference.h"

namespace attnscope {

struct InterventionsView {
  int query = 0;  // to be forced
  int key = 0;
  bool target = false;  // the piece to be replaced is one of the decoder's input
  int position = 0;
  std::string text;                                  // instead of it
  std::shared_ptr<const Snapshot> compared;          // what `difference` is of
  std::shared_ptr<const LookDifference> difference;  // made once a look
};

}  // namespace attnscope
