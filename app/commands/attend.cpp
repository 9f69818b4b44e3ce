#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/attention_json.h"
#include "commands/commands.h"
#include "commands/interventions_text.h"
#include "commands/opening.h"
#include "commands/say.h"
#include "common/matrix_text.h"
#include "config/inspection_size.h"
#include "engine/torch_engine.h"
#include "inspect/probe/inspect_model.h"

namespace attnscope {
namespace {

// The output, and the probability of the reference, with and without interventions.
nlohmann::json outcome_json(const Snapshot& snapshot) {
  return {{"output", snapshot.output_text},
          {"target_out", tokens_json(snapshot.target_out)},
          {"gold", gold_json(snapshot.gold)}};
}

nlohmann::json attention_json(const Snapshot& snapshot, std::int64_t step) {
  nlohmann::json json = {{"step", step},
                         {"source", tokens_json(snapshot.source)},
                         {"target_in", tokens_json(snapshot.target_in)},
                         {"target_out", tokens_json(snapshot.target_out)},
                         {"output", snapshot.output_text},
                         {"encoder", maps_json(snapshot.encoder)},
                         {"decoder", maps_json(snapshot.decoder)},
                         {"cross", maps_json(snapshot.cross)}};
  if (!snapshot.gold.empty()) json["gold"] = gold_json(snapshot.gold);
  if (snapshot.untouched) json["untouched"] = outcome_json(*snapshot.untouched);
  return json;
}

std::string map_csv(const Snapshot& snapshot, const HeadPlace& place) {
  return matrix_csv(*map_at(snapshot, place), texts_of(row_tokens(snapshot, place.part)),
                    texts_of(col_tokens(snapshot, place.part)));
}

}  // namespace

int attend(const AttendOptions& options) {
  if (!options.capture.empty()) return attend_capture(options);
  TorchEngine engine;
  open_model(engine, options.run);
  const ModelConfig& model = engine.config().model;
  const HeadPlace place{part_from(options.part), options.layer - 1, options.head - 1};
  const bool csv = options.format == "csv";
  if (csv) check_place(place, model);
  const Interventions interventions = interventions_from(options.interventions, model);
  Snapshot snapshot;
  inspect_model(engine.model(), engine.tokenizer(),
                {.text = options.source,
                 .reference = options.target.value_or(""),
                 .follow_reference = options.target.has_value(),
                 .interventions = interventions},
                [&](Snapshot latest) { snapshot = std::move(latest); }, {});
  check_in_context(interventions, snapshot);
  if (snapshot.truncated)
    say("the sentence was truncated to the model's {} tokens", longest_inspection(engine.config().model));
  if (csv) {
    fmt::print("{}", map_csv(snapshot, place));
  } else {
    fmt::print("{}\n", json_line(attention_json(snapshot, engine.steps_done())));
  }
  return 0;
}

}  // namespace attnscope
