#include "probe/written_step.h"

#include <algorithm>
#include <span>
#include <utility>

#include "probe/look_inside.h"

namespace attnscope {

WrittenStep written_step(SequenceModel& model, const Tokenizer& tokenizer, const std::string& text, int output,
                         const Breath& breathe) {
  Snapshot whole;
  look_inside(
      model, tokenizer, {.text = text}, [&](Snapshot latest) { whole = std::move(latest); }, breathe);
  const auto first = static_cast<std::size_t>(whole.first_output());
  WrittenStep step;
  step.written = pieces_of(std::span(whole.target_out).subspan(first));
  if (step.written.empty()) return step;
  const int last = static_cast<int>(step.written.size()) - 1;
  const int before_end = whole.target_out.back().id == Tokenizer::eos_id ? std::max(0, last - 1) : last;
  step.output = output < 0 ? before_end : std::min(output, last);
  const std::size_t at = first + static_cast<std::size_t>(step.output);
  step.piece = whole.target_out[at].id;
  step.source = whole.source;
  step.read.assign(whole.target_in.begin(), whole.target_in.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  return step;
}

}  // namespace attnscope
