#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "commands/attention_json.h"
#include "commands/commands.h"
#include "commands/interventions_text.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "common/matrix_text.h"
#include "common/split.h"
#include "compute/opening.h"
#include "compute/unknown_tokens.h"
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

nlohmann::json attention_json(const Snapshot& snapshot, const AttendOptions& options, std::int64_t step,
                              std::int64_t unknown) {
  nlohmann::json json = {{"step", step},
                         {"source", tokens_json(snapshot.source)},
                         {"target_in", tokens_json(snapshot.target_in)},
                         {"target_out", tokens_json(snapshot.target_out)},
                         {"output", snapshot.output_text},
                         {"truncated", snapshot.truncated},
                         {"unknown_tokens", unknown}};
  for (const AttentionPart part : attention_parts)
    json[std::string(part_name(part))] = wanted_maps_json(snapshot, part, options);
  if (const int second = second_sentence(snapshot); second >= 0) json["sentence_b"] = second;
  if (!snapshot.replaced.empty()) json["replaced_logits"] = snapshot.replaced;
  if (!snapshot.gold.empty()) json["gold"] = gold_json(snapshot.gold);
  if (snapshot.untouched) json["untouched"] = outcome_json(*snapshot.untouched);
  return json;
}

std::string map_csv(const Snapshot& snapshot, const HeadPlace& place) {
  return matrix_csv(*map_at(snapshot, place), texts_of(row_tokens(snapshot, place.part)),
                    texts_of(col_tokens(snapshot, place.part)));
}

// Cross attention where the model has it. JSON without --part has all parts: any with that layer and head will do.
AttentionPart part_of(const AttendOptions& options, const ModelConfig& model) {
  if (options.part) return part_from(*options.part);
  constexpr std::array by_use = {AttentionPart::cross, AttentionPart::encoder, AttentionPart::decoder};
  const bool json = options.format == "json";
  const auto with = [&](int layer, int head) {
    return std::ranges::find_if(by_use, [&](AttentionPart part) {
      const auto [layers, heads] = part_size(model, part);
      return layers >= layer && heads >= head;
    });
  };
  const auto* const found = with(json ? options.layer.value_or(1) : 1, json ? options.head.value_or(1) : 1);
  const auto* const any_attention = found == by_use.end() ? with(1, 1) : found;
  return any_attention == by_use.end() ? AttentionPart::cross : *any_attention;
}

// Looks up the directions of neurons, and of the features of a dictionary with the default options.
void add_directions(TorchEngine& engine, Interventions& interventions) {
  ProgressLine line;
  for (Steering& steering : interventions.steered) {
    if (!steering.is_given) continue;
    const auto [unit, number] = halves(steering.plus, " ");
    NeuronsQuestion question{.place = steering.place, .neuron = std::stoi(std::string(number))};
    if (unit == "feature") {
      question.dictionary.emplace();
      if (const std::size_t at = number.find('@'); at != std::string_view::npos)
        question.dictionary->of = site_from(number.substr(at + 1), steering.place, engine.config().model);
      engine.read_corpus([&](const Progress& news) { line.show(news.what, news.fraction); });
    }
    steering.direction = engine.direction(question, [&](double done) { line.show("Training the dictionary", done); });
  }
  line.clear();
}

}  // namespace

int attend(const AttendOptions& options) {
  if (!options.capture.empty()) return attend_capture(options);
  TorchEngine engine;
  open_model(engine, options.run, options.step);
  const ModelConfig& model = engine.config().model;
  const HeadPlace place{part_of(options, model), options.layer.value_or(1) - 1, options.head.value_or(1) - 1};
  const bool csv = options.format == "csv";
  if (csv || options.part || options.layer || options.head) check_place(place, model);
  Interventions interventions = interventions_from(options.interventions, model);
  add_directions(engine, interventions);
  std::string source = options.source;
  if (!options.source_b.empty()) {
    if (!model.is_masked_lm())
      throw std::runtime_error("--source-b is for sentence pairs: the model must be an encoder such as BERT");
    source = engine.tokenizer().pair(options.source, options.source_b);
  }
  Snapshot snapshot;
  inspect_model(engine.model(), engine.tokenizer(),
                {.text = source,
                 .reference = options.target.value_or(""),
                 .follow_reference = options.target.has_value(),
                 .interventions = interventions},
                [&](Snapshot latest) { snapshot = std::move(latest); }, {});
  check_in_context(interventions, snapshot, engine.tokenizer());
  std::vector<Token> read = snapshot.source;  // without its end token
  if (model.is_language_model())
    read.assign(snapshot.target_in.begin(), snapshot.target_in.begin() + snapshot.first_output() + 1);
  else
    read.pop_back();
  if (snapshot.truncated)
    say("longer than the model's context of {} tokens: only its {} {} tokens are used", longest_inspection(model),
        model.is_language_model() ? "last" : "first", read.size());
  UnknownTokens unknown(engine.tokenizer());
  unknown.add(source, read);
  const std::int64_t in_source = unknown.count();
  for (const Steering& steering : interventions.steered)
    for (const std::string& text : {steering.is_given ? "" : steering.plus, steering.minus})
      unknown.add(text, engine.tokenizer().encode(text));
  unknown.warn();
  if (csv) {
    fmt::print("{}", map_csv(snapshot, place));
  } else {
    fmt::print("{}\n", json_line(attention_json(snapshot, options, engine.steps_done(), in_source)));
  }
  return 0;
}

}  // namespace attnscope
