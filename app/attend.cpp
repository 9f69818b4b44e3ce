#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "attention_json.h"
#include "commands.h"
#include "probe/probe.h"
#include "session/torch_engine.h"

namespace attnscope {

int attend(const AttendOptions& options) {
  TorchEngine engine;
  engine.open_run(options.run, {});
  Snapshot snapshot;
  look_inside(engine.model(), engine.tokenizer(),
              {.text = options.source,
               .reference = options.target.value_or(""),
               .follow_reference = options.target.has_value()},
              [&](Snapshot latest) { snapshot = std::move(latest); }, {});
  if (snapshot.truncated)
    fmt::print(stderr, "the sentence is cut at the model's {} pieces\n", engine.config().model.max_length);
  const nlohmann::json json = {{"step", engine.steps_done()},
                               {"source", tokens_json(snapshot.source)},
                               {"target_in", tokens_json(snapshot.target_in)},
                               {"target_out", tokens_json(snapshot.target_out)},
                               {"output", snapshot.output_text},
                               {"encoder", maps_json(snapshot.encoder)},
                               {"decoder", maps_json(snapshot.decoder)},
                               {"cross", maps_json(snapshot.cross)}};
  fmt::print("{}\n", json_line(json));
  return 0;
}

}  // namespace attnscope
