// The heads command: what a run loses of its validation part without each head.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "commands/progress.h"
#include "engine/torch_engine.h"

namespace attnscope {
namespace {

nlohmann::ordered_json place_json(const HeadPlace& place) {
  return {{"part", part_name(place.part)}, {"layer", place.layer + 1}, {"head", place.head + 1}};
}

nlohmann::ordered_json to_json(const HeadsLook& look) {
  nlohmann::ordered_json json = {{"tokens", look.tokens}, {"nll", look.nll}, {"agreement", agreement(look)}};
  json["heads"] = json["pruning"] = nlohmann::ordered_json::array();
  for (const HeadImportance& head : look.heads) {
    nlohmann::ordered_json of = place_json(head.place);
    of["exact"] = head.exact;
    of["fast"] = head.fast;
    json["heads"].push_back(std::move(of));
  }
  for (std::size_t i = 0; i < look.pruning.size(); ++i) {
    nlohmann::ordered_json point = {{"heads_left", look.pruning[i].heads_left}, {"nll", look.pruning[i].nll}};
    if (i > 0) point["off"] = place_json(look.pruning[i].off);
    json["pruning"].push_back(std::move(point));
  }
  return json;
}

void print(const HeadsLook& look, const ModelConfig& model) {
  fmt::print("{} held-out pieces, {:.4f} nats each with all heads\n", look.tokens, look.nll);
  for (const HeadImportance& head : look.heads)
    fmt::print("  without {:<14} {:+.4f} nats/piece   E|∂L/∂ξ| {:.4f} nats/sentence\n", head_name(head.place, model),
               head.exact, head.fast);
  fmt::print("the two rank the heads alike to {:.2f} (Spearman)\nfrom the least important on:\n", agreement(look));
  for (std::size_t i = 0; i < look.pruning.size(); ++i)
    fmt::print("  {:3} heads left  {:.4f} nats/piece{}\n", look.pruning[i].heads_left, look.pruning[i].nll,
               i == 0 ? "" : ", without " + head_name(look.pruning[i].off, model));
}

}  // namespace

int heads(const HeadsOptions& options) {
  ProgressLine line;
  TorchEngine engine;
  engine.open_run(options.run, [&](const Progress& news) { line.show(news.what, news.fraction); });
  const HeadsLook look =
      engine.heads(engine.model(), [&](double fraction) { line.show("Switching heads off", fraction); });
  line.clear();
  if (!look.problem.empty()) throw std::runtime_error(look.problem);
  if (options.json) {
    fmt::print("{}\n", to_json(look).dump());
  } else {
    print(look, engine.config().model);
  }
  return 0;
}

}  // namespace attnscope
