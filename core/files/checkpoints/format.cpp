// Exports a model as a transformers folder. The written config.json is read back like any other checkpoint's, and the
// resulting configuration must equal the model's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "files/checkpoints/checkpoint.h"
#include "files/checkpoints/families.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

struct Writer {
  std::string_view family;
  std::string_view architecture;
  Json (*fields)(const ModelConfig& model);
  CheckpointPlan (*plan)(const CheckpointFields& fields);
};

constexpr std::array writers = {Writer{"marian", "encoder-decoder", marian_fields, marian_plan},
                                Writer{"t5", "encoder-decoder", t5_fields, t5_plan},
                                Writer{"gpt2", "decoder-only", gpt2_fields, gpt2_plan},
                                Writer{"llama", "decoder-only", llama_fields, llama_plan}};

Json decoding_of(const ModelConfig& model) {
  Json json = {{"bos_token_id", model.start_id}, {"eos_token_id", model.end_id}};
  if (model.padding_id >= 0) json["pad_token_id"] = model.padding_id;
  if (model.has_encoder()) json["decoder_start_token_id"] = model.start_id;
  if (model.banned_id >= 0) json["bad_words_ids"] = Json::array({Json::array({model.banned_id})});
  return json;
}

// Normalizes a configuration: fields that do not affect the model get their default or usual value.
Config placed_alike(Config config) {
  ModelConfig& model = config.model;
  model.num_kv_heads = model.key_heads();
  model.d_head = model.head_width();
  if (model.num_decoder_heads == model.num_heads) model.num_decoder_heads = 0;
  if (model.decoder_d_ff == model.d_ff) model.decoder_d_ff = 0;
  const ModelConfig defaults;
  model.from = defaults.from;
  model.unknown_id = defaults.unknown_id;  // known only to the tokenizer
  model.ends_text = defaults.ends_text;    // affects the meaning of an end token, not the computation
  if (model.positions == "t5") model.max_length = defaults.max_length;  // relative positions have no limit
  // Two names of one function at the scale at which positions are added.
  if (model.positions != "learned") model.initialization = defaults.initialization;
  return config;
}

// "model.norm is "pre", not "post"": the first field that makes the two models compute something different; empty:
// none.
std::string misfit(const Config& wanted, const Config& read) {
  const Config a = placed_alike(wanted), b = placed_alike(read);
  for (const ConfigField& field : config_fields()) {
    if (!field.key.starts_with("model.") || !is_used(a, field) || field.key == "model.dropout") continue;
    if (field.key == "model.output_bias" && !a.model.output_bias) continue;  // a bias of zero
    const std::string have = field_text(a, field), need = field_text(b, field);
    if (have != need) return fmt::format("{} is \"{}\", not \"{}\"", field.key, have, need);
  }
  return "";
}

}  // namespace

std::string other_name(std::span<const OtherName> names, std::string_view own) {
  const auto found = std::ranges::find(names, own, &OtherName::own);
  return std::string((found == names.end() ? names.begin() : found)->theirs);
}

CheckpointFormat checkpoint_format(const Config& config, std::int64_t vocab_size) {
  const ModelConfig& model = config.model;
  if (!model.has_feed_forward())
    throw CheckpointError("model.d_ff is 0: every checkpoint family has feed-forward sublayers");
  std::vector<std::string> misfits;
  for (const Writer& writer : writers) {
    if (writer.architecture != model.architecture) continue;
    Json fields = writer.fields(model);
    const Json decoding = decoding_of(model);
    fields.update(decoding);
    fields["vocab_size"] = vocab_size;
    fields.emplace("tie_word_embeddings", model.tied_embeddings);
    fields["torch_dtype"] = "float32";
    try {
      CheckpointPlan plan = writer.plan(CheckpointFields(Json::parse(fields.dump()), Json::parse(decoding.dump())));
      const std::string why = misfit(config, plan.config);
      if (why.empty())
        return {std::string(writer.family), fields.dump(2) + '\n', decoding.dump(2) + '\n', std::move(plan.tensors)};
      misfits.push_back(fmt::format("{}: {}", writer.family, why));
    } catch (const std::runtime_error& error) {  // the closest match is invalid in the family, too
      misfits.push_back(fmt::format("{}: {}", writer.family, error.what()));
    }
  }
  if (misfits.empty()) {
    throw CheckpointError(
        fmt::format("model.architecture is \"{}\": checkpoint folders support only encoder-decoder and decoder-only",
                    model.architecture));
  }
  throw CheckpointError(fmt::format("no checkpoint family can represent this model. {}", fmt::join(misfits, "; ")));
}

}  // namespace attnscope
