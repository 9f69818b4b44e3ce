// Reduces a list of events to a short one that still fails.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

namespace attnscope {

// The list with parts left out for as long as what is left still fails: first its half, at last every single event
// (Zeller's delta debugging, complements only). `fails` is asked at most `most_tries` times.
template <typename Event>
std::vector<Event> shortened(std::vector<Event> events, const std::function<bool(const std::vector<Event>&)>& fails,
                             int most_tries) {
  for (std::size_t part = (events.size() + 1) / 2; part > 0;) {
    bool shorter = false;
    for (std::size_t begin = 0; begin < events.size() && most_tries > 0;) {
      std::vector<Event> without = events;
      const auto first = without.begin() + static_cast<std::ptrdiff_t>(begin);
      without.erase(first, first + static_cast<std::ptrdiff_t>(std::min(part, events.size() - begin)));
      --most_tries;
      if (fails(without)) {
        events = std::move(without);
        shorter = true;
      } else {
        begin += part;
      }
    }
    if (most_tries <= 0) break;
    if (part > 1)
      part = (part + 1) / 2;
    else if (!shorter)
      break;
  }
  return events;
}

}  // namespace attnscope
