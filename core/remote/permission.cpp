#include "remote/permission.h"

#include <variant>

#include "plain/utf8.h"

namespace attnscope {
namespace {

constexpr double longest_cost_seconds = 120;  // of training's time
constexpr double most_cost_megabytes = 1024;

template <typename... Kinds>
bool is_any_of(const Command& command) {
  return (std::holds_alternative<Kinds>(command) || ...);
}

bool is_bounded(const StudyQuestion& question) {
  const auto* cost = std::get_if<CostQuestion>(&question);
  return cost == nullptr ||
         (cost->longest >= shortest_cost && cost->longest <= longest_cost && cost->seconds > 0 &&
          cost->seconds <= longest_cost_seconds && cost->megabytes > 0 && cost->megabytes <= most_cost_megabytes);
}

}  // namespace

std::string refusal(const Command& command, bool control) {
  if (const auto* study = std::get_if<StartStudy>(&command))
    return is_bounded(study->question) ? "" : "So much is not measured for who watches from elsewhere";
  if (is_any_of<Probe, CancelStudy>(command)) return "";
  if (!is_any_of<Train, Pause, Step, Adjust, Pin, Unpin>(command))
    return "Runs are opened, begun anew, compared and saved only where they train";
  if (!control) return "This window only watches: what it would change belongs to who trains";
  if (const auto* pin = std::get_if<Pin>(&command); pin && utf8_fault(pin->text)) return "What is pinned is UTF-8";
  return "";
}

}  // namespace attnscope
