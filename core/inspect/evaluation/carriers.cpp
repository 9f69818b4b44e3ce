#include "inspect/evaluation/carriers.h"

#include <algorithm>

#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

// A pair, and the position of the word's last token.
struct WordCase {
  const ContrastRuns* runs = nullptr;
  std::int64_t position = 0;
};

std::vector<WordCase> cases_with(const std::vector<ContrastCase>& cases, const std::string& word) {
  std::vector<WordCase> found;
  for (const ContrastCase& it : cases) {
    const auto slot = std::ranges::find(it.slots, word, &Slot::name);
    if (slot != it.slots.end()) found.push_back({it.runs.get(), slot->positions.back()});
  }
  return found;
}

// The word's vectors after the layer in all clean sentences, then in all corrupted ones: 2×N×D.
torch::Tensor vectors_of(const std::vector<WordCase>& cases, const LayerPlace& place) {
  const ValueSite site{ValueKind::state, place.decoder ? AttentionPart::decoder : AttentionPart::encoder,
                       place.layer + 1};
  std::vector<torch::Tensor> rows;
  for (const ContrastSide side : {ContrastSide::clean, ContrastSide::corrupted})
    for (const WordCase& it : cases) rows.push_back(it.runs->value(side, site)[it.position]);
  return torch::stack(rows).unflatten(0, {2, -1});
}

// The answers that flip when the word's vectors, 2×D in each case, are replaced by change(vectors).
int flipped(const std::vector<WordCase>& cases, const LayerPlace& place,
            const std::function<torch::Tensor(const torch::Tensor&)>& change) {
  int count = 0;
  for (const WordCase& it : cases) {
    const std::vector<Odds> odds =
        it.runs->read({place, [&](const torch::Tensor& x) {
                         torch::Tensor changed = x.clone();
                         changed.select(1, it.position).copy_(change(x.select(1, it.position)));
                         return changed;
                       }});
    count += ContrastRuns::turned(ContrastSide::clean, odds[0].margin);
    count += ContrastRuns::turned(ContrastSide::corrupted, odds[1].margin);
  }
  return count;
}

}  // namespace

Carriers find_carriers(const std::vector<ContrastCase>& all, const std::string& word, const LayerPlace& place,
                       const SparseDictionary& dictionary) {
  const torch::NoGradGuard no_gradients;
  const std::vector<WordCase> cases = cases_with(all, word);
  Carriers made;
  made.answers = static_cast<int>(2 * cases.size());
  if (cases.empty()) return made;
  const torch::Tensor vectors = vectors_of(cases, place);
  const torch::Tensor means = dictionary.encode(vectors).mean(1), others = means.flip(0);  // 2×M
  const torch::Tensor difference = (means[0] - means[1]).abs();
  const torch::Tensor order = difference.argsort(0, true);
  const std::int64_t differing = difference.gt(0).sum().item<std::int64_t>();
  for (std::int64_t i = 0; i < differing; ++i) {
    const auto feature = order[i].item<std::int64_t>();
    made.features.push_back(
        {static_cast<int>(feature), means[0][feature].item<double>(), means[1][feature].item<double>()});
  }
  const auto set = [&](std::int64_t features, const torch::Tensor& values) {  // 2×M
    const torch::Tensor chosen = order.slice(0, 0, features);
    return flipped(cases, place, [&](const torch::Tensor& x) {
      const torch::Tensor moved = (values - dictionary.encode(x)).index_select(1, chosen);
      return x + moved.matmul(dictionary.w_dec.index_select(0, chosen));
    });
  };
  for (std::int64_t features = 1; features < 2 * differing; features *= 2) {
    const std::int64_t count = std::min(features, differing);
    made.ablated.push_back({static_cast<int>(count), set(count, torch::zeros_like(means)), set(count, others)});
  }
  const torch::Tensor exchanged = vectors.mean(1).flip(0);
  made.exact = flipped(cases, place, [&](const torch::Tensor&) { return exchanged; });
  return made;
}

}  // namespace attnscope
