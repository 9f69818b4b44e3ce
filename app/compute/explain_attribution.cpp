#include "compute/explain_attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "analysis/attribution_methods.h"
#include "compute/opening.h"
#include "commands/progress.h"
#include "config/config.h"
#include "engine/torch_engine.h"
#include "inspect/attribution/attribution.h"
#include "messages/snapshot.h"

namespace attnscope {
namespace {

constexpr std::size_t parts_printed = 12;  // the largest ones

std::string part_text(const LogitPart& part, const ModelConfig& model) {
  switch (part.kind) {
    case LogitPartKind::embedding:
      return "embedding";
    case LogitPartKind::head:
      return head_name(part.place, model);
    case LogitPartKind::feed_forward:
      return fmt::format("feed-forward L{}", part.place.layer + 1);
    case LogitPartKind::biases:
      return "biases";
  }
  return {};
}

nlohmann::ordered_json methods_json(const AttributionResult& inspection, std::size_t head) {
  const std::vector<TokenMethod> methods = token_methods(inspection, head);
  const Matrix agreement = method_agreement(methods);
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < methods.size(); ++i) json[methods[i].name] = agreement.at(0, static_cast<int>(i));
  return json;
}

// Layers and heads are counted from 1.
nlohmann::ordered_json head_json(const AttributionResult& inspection, std::size_t head) {
  const ReadingHead& reading = inspection.heads[head];
  nlohmann::ordered_json json = {
      {"layer", reading.place.layer + 1}, {"head", reading.place.head + 1}, {"weights", reading.weights}};
  if (!reading.norms.empty()) json["norms"] = reading.norms;
  json["rank_correlation_with_deletion"] = methods_json(inspection, head);
  return json;
}

nlohmann::ordered_json inspection_json(const AttributionResult& inspection, const ModelConfig& model) {
  nlohmann::ordered_json json = {
      {"text", inspection.question.text}, {"output_tokens", inspection.written}, {"token", inspection.output}};
  json["logit"] = inspection.logit;
  if (!inspection.parts_problem.empty()) json["parts_problem"] = inspection.parts_problem;
  for (const LogitPart& part : inspection.parts)
    json["parts"].push_back({{"part", part_text(part, model)}, {"logit", part.logit}});
  if (!inspection.parts.empty()) json["parts_sum"] = parts_sum(inspection);
  json["tokens"] = inspection.tokens;
  json["log_prob"] = inspection.log_prob;
  json["deletion"] = inspection.deletion;
  json["gradient_input"] = inspection.gradient_input;
  json["integrated_gradients"] = {{"values", inspection.integrated},
                                  {"baseline_log_prob", inspection.baseline_log_prob},
                                  {"points", inspection.integrated_at},
                                  {"completeness_error", completeness_error(inspection)},
                                  {"errors", inspection.integrated_errors}};
  if (!inspection.rollout.empty()) json["rollout"] = inspection.rollout;
  for (std::size_t head = 0; head < inspection.heads.size(); ++head)
    json["heads"].push_back(head_json(inspection, head));
  json["sentence"] = attribution_sentence(inspection, strongest_head(inspection));
  return json;
}

void print_parts(const AttributionResult& inspection, const ModelConfig& model) {
  if (!inspection.parts_problem.empty()) return fmt::print("{}\n", inspection.parts_problem);
  std::vector<LogitPart> parts = inspection.parts;
  std::ranges::sort(parts, std::ranges::greater(), [](const LogitPart& part) { return std::abs(part.logit); });
  fmt::print("logit {:.4f} = {:.4f}, the sum of {} components; the largest:\n", inspection.logit, parts_sum(inspection),
             parts.size());
  parts.resize(std::min(parts.size(), parts_printed));
  for (const LogitPart& part : parts) fmt::print("  {:16} {:+9.4f}\n", part_text(part, model), part.logit);
}

void print_tokens(const AttributionResult& inspection, const ModelConfig& model) {
  const std::size_t head = strongest_head(inspection);
  const std::vector<TokenMethod> methods = token_methods(inspection, head);
  fmt::print(
      "log p {:.4f}, with unknown tokens as input {:.4f}; integrated gradients sum to the difference with an error of "
      "{:.2f} %, each token's with one of at most {:.2f} % of the largest ({} points)\n",
      inspection.log_prob, inspection.baseline_log_prob, 100 * completeness_error(inspection),
      100 * integration_error(inspection), inspection.integrated_at);
  if (head < inspection.heads.size())
    fmt::print("attention weights and norms of {}\n", head_name(inspection.heads[head].place, model));
  for (std::size_t i = 0; i < methods.size(); ++i) fmt::print("  {}: {}\n", i + 1, methods[i].name);
  fmt::print("{:16}", "");
  for (std::size_t i = 0; i < methods.size(); ++i) fmt::print(" {:>8}", i + 1);
  for (std::size_t token = 0; token < inspection.tokens.size(); ++token) {
    fmt::print("\n{:16}", without_mark(inspection.tokens[token]));
    for (const TokenMethod& method : methods) fmt::print(" {:8.3f}", method.values[token]);
  }
  fmt::print("\n{}\n", attribution_sentence(inspection, head));
}

}  // namespace

void print_attribution(const ExplainOptions& options) {
  ProgressLine line;
  TorchEngine engine;
  open_run(engine, options.run, line);
  const AttributionResult inspection =
      inspect_attribution(engine.model(), engine.tokenizer(), {options.clean, options.token},
                          [&](double fraction) { line.show("Decomposing the output", fraction); });
  line.clear();
  if (!inspection.problem.empty()) throw std::runtime_error(inspection.problem);
  if (const int count = static_cast<int>(inspection.written.size()); options.token >= count) {
    throw ConfigError(fmt::format("--token: {} is not an index of the output, which has {} tokens; allowed: 0 to {}",
                                  options.token, count, count - 1));
  }
  const ModelConfig& model = engine.model().config();
  if (options.json)
    return fmt::print(
        "{}\n",
        inspection_json(inspection, model).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  std::string written;
  for (const std::string& token : inspection.written) written += fmt::format(" {}", without_mark(token));
  fmt::print("{}\n\u2192{}\n\u201C{}\u201D:\n", inspection.question.text, written,
             without_mark(inspection.written[static_cast<std::size_t>(inspection.output)]));
  print_parts(inspection, model);
  print_tokens(inspection, model);
}

}  // namespace attnscope
