#include "commands/interventions_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "messages/overrides.h"

namespace attnscope {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view form) {
  throw ConfigError(fmt::format("'{}' does not have the form {}", text, form));
}

// Parses an integer of at least `least`.
int number_from(std::string_view text, int least, std::string_view all, std::string_view form) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least) refuse(all, form);
  return number;
}

// Removes and returns the text before the mark.
std::string_view taken(std::string_view& rest, std::string_view mark, std::string_view all, std::string_view form) {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) refuse(all, form);
  const std::string_view before = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return before;
}

constexpr std::string_view head_form = "PART.LAYER.HEAD, such as encoder.2.3";
constexpr std::string_view layer_form = "encoder.LAYER or decoder.LAYER, such as encoder.1";
constexpr std::string_view forced_form = "PART.LAYER.HEAD:QUERY->KEY, such as encoder.2.3:10->1";
constexpr std::string_view steered_form =
    "LAYER:FACTOR:TEXT, LAYER:FACTOR:TEXT:TEXT, or LAYER:FACTOR:neuron=N or feature=N[@head.N], such as 2:4:king:man";
constexpr std::string_view replaced_form = "source.POSITION=TEXT or target.POSITION=TEXT, such as source.4=wide";

HeadPlace head_from(std::string_view text, std::string_view all, std::string_view form, const ModelConfig& model) {
  HeadPlace place;
  place.part = part_from(taken(text, ".", all, form));
  place.layer = number_from(taken(text, ".", all, form), 1, all, form) - 1;
  place.head = number_from(text, 1, all, form) - 1;
  check_place(place, model);
  return place;
}

LayerPlace layer_from(std::string_view text, const ModelConfig& model) {
  std::string_view rest = text;
  const std::string_view stack = taken(rest, ".", text, layer_form);
  if (stack != "encoder" && stack != "decoder") refuse(text, layer_form);
  const LayerPlace place{stack == "decoder", number_from(rest, 1, text, layer_form) - 1};
  // A layer has the heads of its self-attention.
  check_place({place.decoder ? AttentionPart::decoder : AttentionPart::encoder, place.layer, 0}, model);
  return place;
}

ForcedAttention forced_from(std::string_view text, const ModelConfig& model) {
  std::string_view rest = text;
  const HeadPlace place = head_from(taken(rest, ":", text, forced_form), text, forced_form, model);
  const int query = number_from(taken(rest, "->", text, forced_form), 0, text, forced_form);
  return {place, query, number_from(rest, 0, text, forced_form)};
}

ReplacedToken replaced_from(std::string_view text) {
  std::string_view rest = text;
  const std::string_view side = taken(rest, ".", text, replaced_form);
  if (side != "source" && side != "target") refuse(text, replaced_form);
  const int position = number_from(taken(rest, "=", text, replaced_form), 0, text, replaced_form);
  if (rest.empty()) refuse(text, replaced_form);
  return {.target = side == "target", .position = position, .text = std::string(rest)};
}

Steering steering_from(std::string_view text, const ModelConfig& model) {
  std::string_view rest = text;
  const std::string_view layer = taken(rest, ":", text, steered_form);
  const bool decoder = model.is_language_model(), names_stack = layer.find('.') != std::string_view::npos;
  Steering steering{.place = {decoder, names_stack ? 0 : number_from(layer, 1, text, steered_form) - 1}};
  if (names_stack) steering.place = layer_from(layer, model);
  check_place({steering.place.decoder ? AttentionPart::decoder : AttentionPart::encoder, steering.place.layer, 0},
              model);
  const std::string_view factor = taken(rest, ":", text, steered_form);
  const auto [end, error] = std::from_chars(factor.data(), factor.data() + factor.size(), steering.factor);
  if (error != std::errc() || end != factor.data() + factor.size() || !std::isfinite(steering.factor))
    refuse(text, steered_form);
  if (std::abs(steering.factor) > largest_steering)
    throw ConfigError(fmt::format("'{}': the factor is {:g}; allowed: {:g} to {:g}", text, steering.factor,
                                  -largest_steering, largest_steering));
  for (const std::string_view unit : {"neuron", "feature"}) {
    if (!rest.starts_with(fmt::format("{}=", unit))) continue;
    std::string_view numbered = rest.substr(unit.size() + 1);
    const std::size_t at = unit == "feature" ? numbered.find('@') : std::string_view::npos;
    steering.plus = fmt::format("{} {}", unit, number_from(numbered.substr(0, at), 0, text, steered_form));
    if (at != std::string_view::npos) {
      site_from(numbered.substr(at + 1), steering.place, model);
      steering.plus += numbered.substr(at);
    }
    steering.is_given = true;
    return steering;
  }
  if (steering.place.decoder != decoder)
    throw ConfigError(fmt::format("'{}': a text's direction is added in the stack that reads the text", text));
  steering.plus = rest.substr(0, rest.find(':'));
  if (const std::size_t at = rest.find(':'); at != std::string_view::npos) steering.minus = rest.substr(at + 1);
  if (steering.plus.empty()) refuse(text, steered_form);
  return steering;
}

// `what` names a query, a key or a token; there are `count` of them.
void check_index(std::string_view where, std::string_view what, int index, std::size_t count) {
  if (static_cast<std::size_t>(index) < count) return;
  const std::string allowed = count == 0 ? "none" : fmt::format("0 to {}", count - 1);
  throw ConfigError(fmt::format("{} has no {} {}; allowed: {}", where, what, index, allowed));
}

void check_in_context(const ForcedAttention& forced, const Snapshot& inspection) {
  const AttentionPart part = forced.place.part;
  check_index(part_name(part), "query", forced.query, row_tokens(inspection, part).size());
  check_index(part_name(part), "key", forced.key, col_tokens(inspection, part).size());
  if (part != AttentionPart::decoder || forced.key <= forced.query) return;
  throw ConfigError(fmt::format("decoder query {0} cannot attend to key {1}, which is masked; allowed: 0 to {0}",
                                forced.query, forced.key));
}

void check_in_context(const ReplacedToken& replaced, const Snapshot& inspection, const Tokenizer& tokenizer) {
  const std::string_view side = replaced.target ? "target" : "source";
  check_index(side, "token", replaced.position,
              replaced.target ? inspection.target_in.size() : inspection.source.size());
  const std::vector<std::string> tokens =
      texts_of(tokenizer.encode(replaced.text, replaced.target ? Side::target : Side::source));
  if (tokens.empty())
    throw ConfigError(
        fmt::format("{}.{}: '{}' gives no token to replace it with", side, replaced.position, replaced.text));
  if (tokens.size() > 1)
    throw ConfigError(
        fmt::format("{}.{}: '{}' is {} tokens of the vocabulary, {}; allowed: one token, because the "
                    "number of positions stays the same",
                    side, replaced.position, replaced.text, tokens.size(), fmt::join(tokens, " ")));
}

}  // namespace

ActivationSite site_from(std::string_view text, const LayerPlace& place, const ModelConfig& model) {
  const std::vector<ActivationSite> sites = activation_sites(model, place);
  const auto found = std::ranges::find(sites, text, site_text);
  if (found != sites.end()) return *found;
  std::vector<std::string> allowed;
  for (const ActivationSite& site : sites) allowed.push_back(site_text(site));
  throw ConfigError(fmt::format("the layer has no activations '{}'; allowed: {}", text, fmt::join(allowed, ", ")));
}

AttentionPart part_from(std::string_view name) {
  for (const AttentionPart part : attention_parts)
    if (part_name(part) == name) return part;
  throw ConfigError(fmt::format("'{}' is not a part of the model: encoder, decoder or cross", name));
}

void check_place(const HeadPlace& place, const ModelConfig& model) {
  const std::string_view part = part_name(place.part);
  const auto [layers, heads] = part_size(model, place.part);
  if (layers == 0) throw ConfigError(fmt::format("this model has no {} attention", part));
  if (place.layer < 0 || place.layer >= layers) {
    throw ConfigError(fmt::format("{} has no layer {}; allowed: 1 to {}", part, place.layer + 1, layers));
  }
  if (place.head < 0 || place.head >= heads) {
    throw ConfigError(fmt::format("{} has no head {}; allowed: 1 to {}", part, place.head + 1, heads));
  }
}

Interventions interventions_from(const InterventionsText& text, const ModelConfig& model) {
  Interventions interventions;
  const bool of_transformers = !text.heads_off.empty() || !text.layers_off.empty() || !text.forced.empty() ||
                               !text.hidden.empty() || !text.steered.empty() || text.divided;
  if (model.is_recurrent() && of_transformers) {
    throw ConfigError(
        "a recurrent model has no heads or layers to switch off or force, and no \u221Ad_k: only --replace changes it");
  }
  for (const std::string& head : text.heads_off)
    interventions.heads_off.push_back(head_from(head, head, head_form, model));
  for (const std::string& layer : text.layers_off) interventions.layers_off.push_back(layer_from(layer, model));
  for (const std::string& forced : text.forced) interventions.forced.push_back(forced_from(forced, model));
  for (const std::string& hidden : text.hidden) hide(interventions, forced_from(hidden, model));
  interventions.other_scale = text.divided && *text.divided != model.scaled_attention;
  for (const std::string& steered : text.steered) interventions.steered.push_back(steering_from(steered, model));
  for (const std::string& replaced : text.replaced) interventions.replaced.push_back(replaced_from(replaced));
  return interventions;
}

void check_in_context(const Interventions& asked, const Snapshot& inspection, const Tokenizer& tokenizer) {
  for (const ForcedAttention& forced : asked.forced) check_in_context(forced, inspection);
  for (const HiddenKeys& hidden : asked.hidden)
    for (const auto& [query, key] : hidden.cells)
      check_in_context(ForcedAttention{hidden.place, query, key}, inspection);
  for (const ReplacedToken& replaced : asked.replaced) check_in_context(replaced, inspection, tokenizer);
}

}  // namespace attnscope
