#include "inspect/probe/written_step.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>

#include "inspect/probe/inspect_model.h"

namespace attnscope {

namespace {

bool is_glyph(const std::string& token) {
  return std::ranges::all_of(without_mark(token),
                             [](char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; });
}

// The end token is the most certain and least informative one: it is selected only if there is nothing else.
int last_word(const std::vector<std::string>& written, bool ended) {
  int at = static_cast<int>(written.size()) - (ended && written.size() > 1 ? 2 : 1);
  const int before_end = at;
  while (at >= 0 && is_glyph(written[static_cast<std::size_t>(at)])) --at;
  return at < 0 ? before_end : at;
}

WrittenStep filled_step(const Snapshot& whole, int output) {
  WrittenStep step;
  step.source = whole.source;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < whole.target_out.size(); ++i)
    if (whole.source[i].id == whole.model.mask_id) positions.push_back(i);
  for (std::size_t i = 0; positions.empty() && i < whole.target_out.size(); ++i) positions.push_back(i);
  for (const std::size_t position : positions) step.written.push_back(whole.target_out[position].text);
  if (step.written.empty()) return step;
  const int last = static_cast<int>(step.written.size()) - 1;
  step.output = output < 0 ? last_word(step.written, false) : std::min(output, last);
  step.position = static_cast<std::int64_t>(positions[static_cast<std::size_t>(step.output)]);
  step.token = whole.target_out[static_cast<std::size_t>(step.position)].id;
  return step;
}

}  // namespace

WrittenStep written_step(SequenceModel& model, const Tokenizer& tokenizer, const std::string& text, int output,
                         const YieldCallback& yield) {
  Snapshot whole;
  inspect_model(
      model, tokenizer, {.text = text}, [&](Snapshot latest) { whole = std::move(latest); }, yield);
  const auto first = static_cast<std::size_t>(whole.first_output());
  WrittenStep step;
  if (whole.model.is_masked_lm()) return filled_step(whole, output);
  step.written = texts_of(std::span(whole.target_out).subspan(first));
  if (step.written.empty()) return step;
  const int last = static_cast<int>(step.written.size()) - 1;
  const bool ended = whole.target_out.back().id == Tokenizer::eos_id;
  step.output = output < 0 ? last_word(step.written, ended) : std::min(output, last);
  const std::size_t at = first + static_cast<std::size_t>(step.output);
  step.token = whole.target_out[at].id;
  step.source = whole.source;
  step.read.assign(whole.target_in.begin(), whole.target_in.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  return step;
}

}  // namespace attnscope
