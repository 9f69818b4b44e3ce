#include "commands/explain_attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "attribution/attribution.h"
#include "commands/opening.h"
#include "commands/progress.h"
#include "engine/torch_engine.h"
#include "plain/snapshot.h"

namespace attnscope {
namespace {

constexpr std::size_t parts_printed = 12;  // the largest

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

nlohmann::ordered_json methods_json(const AttributionLook& look, std::size_t head) {
  const std::vector<PieceMethod> methods = piece_methods(look, head);
  const Matrix agreement = method_agreement(methods);
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < methods.size(); ++i) json[methods[i].name] = agreement.at(0, static_cast<int>(i));
  return json;
}

// Layers and heads are counted from 1.
nlohmann::ordered_json head_json(const AttributionLook& look, std::size_t head) {
  const ReadingHead& reading = look.heads[head];
  nlohmann::ordered_json json = {
      {"layer", reading.place.layer + 1}, {"head", reading.place.head + 1}, {"weights", reading.weights}};
  if (!reading.norms.empty()) json["norms"] = reading.norms;
  json["rank_correlation_with_deletion"] = methods_json(look, head);
  return json;
}

nlohmann::ordered_json look_json(const AttributionLook& look, const ModelConfig& model) {
  nlohmann::ordered_json json = {{"text", look.question.text}, {"written", look.written}, {"token", look.output}};
  json["logit"] = look.logit;
  if (!look.parts_problem.empty()) json["parts_problem"] = look.parts_problem;
  for (const LogitPart& part : look.parts)
    json["parts"].push_back({{"part", part_text(part, model)}, {"logit", part.logit}});
  if (!look.parts.empty()) json["parts_sum"] = parts_sum(look);
  json["pieces"] = look.pieces;
  json["log_prob"] = look.log_prob;
  json["deletion"] = look.deletion;
  json["gradient_input"] = look.gradient_input;
  json["integrated_gradients"] = {{"values", look.integrated},
                                  {"baseline_log_prob", look.baseline_log_prob},
                                  {"points", look.integrated_at},
                                  {"completeness_error", completeness_error(look)}};
  if (!look.rollout.empty()) json["rollout"] = look.rollout;
  for (std::size_t head = 0; head < look.heads.size(); ++head) json["heads"].push_back(head_json(look, head));
  json["sentence"] = attribution_sentence(look, strongest_head(look));
  return json;
}

void print_parts(const AttributionLook& look, const ModelConfig& model) {
  if (!look.parts_problem.empty()) return fmt::print("{}\n", look.parts_problem);
  std::vector<LogitPart> parts = look.parts;
  std::ranges::sort(parts, std::ranges::greater(), [](const LogitPart& part) { return std::abs(part.logit); });
  fmt::print("logit {:.4f} = {:.4f}, the sum of {} components; the largest:\n", look.logit, parts_sum(look),
             parts.size());
  parts.resize(std::min(parts.size(), parts_printed));
  for (const LogitPart& part : parts) fmt::print("  {:16} {:+9.4f}\n", part_text(part, model), part.logit);
}

void print_pieces(const AttributionLook& look, const ModelConfig& model) {
  const std::size_t head = strongest_head(look);
  const std::vector<PieceMethod> methods = piece_methods(look, head);
  fmt::print(
      "log p {:.4f}, with unknown tokens as input {:.4f}; integrated gradients sum to the difference with an error of "
      "{:.2f} %\n",
      look.log_prob, look.baseline_log_prob, 100 * completeness_error(look));
  if (head < look.heads.size())
    fmt::print("attention weights and norms of {}\n", head_name(look.heads[head].place, model));
  for (std::size_t i = 0; i < methods.size(); ++i) fmt::print("  {}: {}\n", i + 1, methods[i].name);
  fmt::print("{:16}", "");
  for (std::size_t i = 0; i < methods.size(); ++i) fmt::print(" {:>8}", i + 1);
  for (std::size_t piece = 0; piece < look.pieces.size(); ++piece) {
    fmt::print("\n{:16}", without_mark(look.pieces[piece]));
    for (const PieceMethod& method : methods) fmt::print(" {:8.3f}", method.values[piece]);
  }
  fmt::print("\n{}\n", attribution_sentence(look, head));
}

}  // namespace

void print_attribution(const ExplainOptions& options) {
  ProgressLine line;
  TorchEngine engine;
  open_run(engine, options.run, line);
  const AttributionLook look =
      look_at_attribution(engine.model(), engine.tokenizer(), {options.clean, options.token},
                          [&](double fraction) { line.show("Decomposing the output", fraction); });
  line.clear();
  if (!look.problem.empty()) throw std::runtime_error(look.problem);
  const ModelConfig& model = engine.model().config();
  if (options.json)
    return fmt::print("{}\n",
                      look_json(look, model).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  std::string written;
  for (const std::string& piece : look.written) written += fmt::format(" {}", without_mark(piece));
  fmt::print("{}\n\u2192{}\n\u201C{}\u201D:\n", look.question.text, written,
             without_mark(look.written[static_cast<std::size_t>(look.output)]));
  print_parts(look, model);
  print_pieces(look, model);
}

}  // namespace attnscope
