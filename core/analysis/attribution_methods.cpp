#include "analysis/attribution_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/rank_correlation.h"
#include "common/mark.h"
#include "messages/snapshot.h"

namespace attnscope {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::vector<double> sizes_of(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

}  // namespace

double parts_sum(const AttributionResult& inspection) {
  double sum = 0;
  for (const LogitPart& part : inspection.parts) sum += part.logit;
  return sum;
}

double completeness_error(const AttributionResult& inspection) {
  constexpr double least = 1e-3;  // nats
  const double change = inspection.log_prob - inspection.baseline_log_prob;
  return std::abs(sum_of(inspection.integrated) - change) / std::max(std::abs(change), least);
}

double integration_error(const AttributionResult& inspection) {
  if (inspection.integrated_errors.empty()) return 0;
  const double largest = std::ranges::max(sizes_of(inspection.integrated));
  return largest > 0 ? std::ranges::max(inspection.integrated_errors) / largest : 0;
}

std::size_t strongest_head(const AttributionResult& inspection) {
  std::size_t strongest = 0;
  double most = 0;
  for (const LogitPart& part : inspection.parts) {
    const auto head = std::ranges::find(inspection.heads, part.place, &ReadingHead::place);
    if (part.kind != LogitPartKind::head || head == inspection.heads.end() || std::abs(part.logit) <= most) continue;
    most = std::abs(part.logit);
    strongest = static_cast<std::size_t>(head - inspection.heads.begin());
  }
  return strongest;
}

std::vector<TokenMethod> token_methods(const AttributionResult& inspection, std::size_t head) {
  std::vector<TokenMethod> methods = {{mark("leave-one-out"), inspection.deletion},
                                      {mark("integrated gradients"), inspection.integrated},
                                      {mark("gradient \u00D7 input"), inspection.gradient_input}};
  if (head < inspection.heads.size()) {
    methods.push_back({mark("weights"), inspection.heads[head].weights});
    methods.push_back({mark("\u2016weight \u00B7 v W_O\u2016"), inspection.heads[head].norms});
  }
  methods.push_back({mark("rollout"), inspection.rollout});
  std::erase_if(methods, [](const TokenMethod& method) { return method.values.empty(); });
  return methods;
}

Matrix method_agreement(const std::vector<TokenMethod>& methods) {
  const int count = static_cast<int>(methods.size());
  Matrix agreement(count, count);
  for (int row = 0; row < count; ++row)
    for (int col = 0; col < count; ++col)
      agreement.at(row, col) =
          static_cast<float>(rank_correlation(sizes_of(methods[static_cast<std::size_t>(row)].values),
                                              sizes_of(methods[static_cast<std::size_t>(col)].values)));
  return agreement;
}

std::string attribution_sentence(const AttributionResult& inspection, std::size_t head) {
  const std::vector<TokenMethod> methods = token_methods(inspection, head);
  if (inspection.tokens.size() < 3) return mark("Ranks cannot be compared with fewer than three input tokens.");
  const std::vector<double> sizes = sizes_of(inspection.deletion);
  const auto most = static_cast<std::size_t>(std::ranges::max_element(sizes) - sizes.begin());
  const Matrix agreement = method_agreement(methods);
  std::vector<std::size_t> order(methods.size() - 1);
  std::iota(order.begin(), order.end(), 1U);
  const auto with_deletion = [&](std::size_t i) { return agreement.at(0, static_cast<int>(i)); };
  std::ranges::stable_sort(order, std::ranges::greater(), with_deletion);
  std::string ranked;
  for (const std::size_t i : order)
    ranked += fmt::format("{}{} {:.2f}", ranked.empty() ? "" : ", ", methods[i].name, with_deletion(i));
  return fmt::format(
      mark("Leaving out \u201C{}\u201D changes log p({}) most, by {:+.3f}. Rank correlation of the other methods with "
           "leaving a token out: {}."),
      without_mark(inspection.tokens[most]),
      without_mark(inspection.written[static_cast<std::size_t>(inspection.output)]), -inspection.deletion[most],
      ranked);
}

}  // namespace attnscope
