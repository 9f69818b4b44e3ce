#include "probe/hypothesis.h"

#include <algorithm>

#include "probe/look_inside.h"
#include "probe/tensors.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {
namespace {

std::vector<int> ids_of(const torch::Tensor& row) {
  const torch::Tensor host = row.cpu().contiguous();
  const auto* id = host.data_ptr<std::int64_t>();
  return {id, id + host.numel()};
}

}  // namespace

HypothesisAttention attention_of(SequenceModel& model, const torch::Tensor& source, const Hypothesis& hypothesis,
                                 const Interventions* changes) {
  const bool language_model = model.config().is_language_model();
  std::vector<int> inputs = language_model ? ids_of(source) : std::vector<int>{Tokenizer::bos_id};
  inputs.insert(inputs.end(), hypothesis.ids.begin(), hypothesis.ids.end());
  if (!hypothesis.finished && !hypothesis.ids.empty()) inputs.pop_back();  // nothing was written after it
  const auto most = static_cast<std::size_t>(model.config().max_length);
  if (inputs.size() > most) inputs.erase(inputs.begin(), inputs.end() - static_cast<std::ptrdiff_t>(most));

  Inspection record{.changes = changes};
  const Memory memory = language_model ? Memory() : model.encode(source, {}, &record);
  model.decode(ids_tensor(inputs, model.device()), memory, nullptr, &record);
  return {inputs, language_model ? inputs : ids_of(source), to_maps(language_model ? record.decoder : record.cross)};
}

}  // namespace attnscope
