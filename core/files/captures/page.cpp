#include "files/captures/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/curves.h"
#include "common/base64.h"
#include "common/color_map.h"
#include "common/mark.h"
#include "files/storage/file.h"
#include "files/storage/safetensors.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

constexpr int curve_columns = 300;
constexpr std::uint64_t most_file_bytes = std::uint64_t{256} << 20;
constexpr std::string_view facts_place = "{{facts}}", capture_place = "{{capture}}";
constexpr std::string_view capture_begin = "id=\"capture\">";

// What page.js shows, for the catalog.
constexpr std::array page_words = {
    mark("Encoder"), mark("Decoder"), mark("Cross"), mark("self-attention"), mark("masked self-attention"),
    mark("decoder to source"), mark("captured values"), mark("Sentence"), mark("Step"), mark("Film"), mark("Stop"),
    mark("step {}"), mark("loss {}"), mark("Model"), mark("Head"), mark("Matrix"), mark("Lines"), mark("Both"),
    mark("{}, layer {}, head {}"), mark("query"), mark("key"), mark("{} attends to"),
    mark("{} is attended to by"), mark("Point at a token to see what it attends to. Click to pin it."),
    mark("Pinned: click again or press Escape to unpin."), mark("The {} strongest of {} lines are drawn."),
    mark("Candidates"), mark("most probable next tokens"), mark("Circuit"), mark("Attention"), mark("Heads"),
    mark("Attends to"), mark("Effect"), mark("Flips"), mark("{} of {}"), mark("the step"), mark("earlier"),
    mark("swaps the weights of {}"), mark("log p({}) − log p({}) = {} nats"), mark("About this page"),
    mark("Save the capture"), mark("To open this page in attnscope: {}"), mark("This page cannot be shown: {}"),
};

std::string hex_colors(ColorMap map) {
  std::string text;
  for (const Color32 color : color_table(map))
    text += fmt::format("{:02x}{:02x}{:02x}", color & 0xFFU, color >> 8 & 0xFFU, color >> 16 & 0xFFU);
  return text;
}

std::string facts_json(const PageLanguage& language) {
  Json json = {{"language", language.code}, {"words", Json::object()}};
  for (const char* word : page_words)
    if (std::string translated = language.translated(word); translated != word)
      json["words"][word] = std::move(translated);
  json["colors"] = {{"weights", hex_colors(ColorMap::viridis)},
                    {"dark", hex_colors(ColorMap::blue_orange)},
                    {"light", hex_colors(ColorMap::blue_red)}};
  std::string text;
  // Inside an element, "<" could end it.
  for (const char letter : json.dump(-1, ' ', false, Json::error_handler_t::replace))
    if (letter == '<')
      text += "\\u003c";
    else
      text += letter;
  return text;
}

std::size_t map_bytes(const Snapshot& frame) {
  std::size_t bytes = 0;
  for (const AttentionPart part : attention_parts)
    for (const std::vector<Matrix>& layer : maps_of(frame, part))
      for (const Matrix& map : layer) bytes += map.values.size() * sizeof(float);
  return bytes;
}

std::size_t map_bytes(std::span<const PinnedSentence> sentences) {
  std::size_t bytes = 0;
  for (const PinnedSentence& sentence : sentences)
    for (const Frame& frame : sentence.frames) bytes += map_bytes(*frame);
  return bytes;
}

std::string layers_text(const ModelConfig& model) {
  if (model.is_language_model()) return fmt::format("{} layers", model.num_decoder_layers);
  if (model.is_classifier()) return fmt::format("{} layers", model.num_encoder_layers);
  return fmt::format("{} + {} layers", model.num_encoder_layers, model.num_decoder_layers);
}

// Leaves out every second frame, never the last. Returns how many.
std::size_t halve(std::vector<Frame>& frames) {
  const std::size_t before = frames.size();
  std::vector<Frame> rest;
  for (std::size_t i = 0; i < before; ++i)
    if ((before - 1 - i) % 2 == 0) rest.push_back(std::move(frames[i]));
  frames = std::move(rest);
  return before - frames.size();
}

Json names_json(const std::vector<std::string>& slots, const std::vector<int>& indices) {
  Json names = Json::array();
  for (const int slot : indices) names.push_back(slots.at(static_cast<std::size_t>(slot)));
  return names;
}

Json edge_json(const Circuit& circuit, const CircuitEdge& edge) {
  const std::vector<std::string> steps = {"the step", "earlier"};
  const auto& slots = edge.part == circuit.reader ? circuit.slots : steps;
  Json heads = Json::array();
  for (const HeadRow& member : edge.members)
    heads.push_back({{"head", member.head}, {"at", slots.at(static_cast<std::size_t>(member.slot))}});
  return {{"part", part_name(edge.part)},
          {"layer", edge.layer},
          {"heads", std::move(heads)},
          {"swap", edge.kind == ChangeKind::exchange},
          {"read", names_json(circuit.slots, edge.read)},
          {"share", edge.together.share()},
          {"flips", edge.together.turned()},
          {"of", 2 * edge.together.cases}};
}

}  // namespace

std::vector<Label> page_labels(const std::string& name, const ModelConfig& model, std::int64_t parameters,
                               const std::string& made_by) {
  return {{"run", name},
          {"model", fmt::format("{}, {}, {} heads, d_model {}, {} parameters", model.architecture, layers_text(model),
                                model.num_heads, model.d_model, parameters)},
          {"made by", made_by}};
}

std::vector<PinnedSentence> thinned_for_page(std::vector<PinnedSentence> sentences, std::size_t& left_out) {
  std::erase_if(sentences, [](const PinnedSentence& sentence) { return sentence.frames.empty(); });
  left_out = 0;
  while (map_bytes(sentences) > most_page_bytes) {
    std::size_t fewer = 0;
    for (PinnedSentence& sentence : sentences) fewer += halve(sentence.frames);
    if (fewer == 0)
      throw Error(
          fmt::format(mark("the attention takes {} MiB, and a page holds at most {} MiB: choose fewer or shorter "
                           "sentences"),
                      map_bytes(sentences) >> 20, most_page_bytes >> 20));
    left_out += fewer;
  }
  return sentences;
}

Series losses_for_page(const Series& losses, std::span<const PinnedSentence> sentences) {
  if (losses.x.empty()) return {};
  const Series drawn = thinned(losses, losses.x.front(), losses.x.back(), curve_columns);
  std::set<double> steps(drawn.x.begin(), drawn.x.end());
  for (const PinnedSentence& sentence : sentences)
    for (const Frame& frame : sentence.frames) steps.insert(static_cast<double>(frame->step));
  Series chosen;
  for (std::size_t i = 0; i < losses.x.size(); ++i) {
    if (!steps.contains(losses.x[i])) continue;
    chosen.x.push_back(losses.x[i]);
    chosen.y.push_back(losses.y[i]);
  }
  return chosen;
}

std::string page_circuit(const ContrastFacts& facts, const Circuit& circuit) {
  if (circuit.edges.empty()) return {};
  Json json = {{"a", facts.a.text}, {"b", facts.b.text}, {"pairs", circuit.pairs}, {"edges", Json::array()}};
  for (const ContrastRun* run : {&facts.clean, &facts.corrupted})
    json["sentences"].push_back({{"text", run->text}, {"output", run->output}, {"margin", run->margin}});
  for (const CircuitEdge& edge : circuit.edges) json["edges"].push_back(edge_json(circuit, edge));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string page_html(std::string_view page, std::string_view capture, const PageLanguage& language) {
  const std::size_t facts = page.find(facts_place), data = page.find(capture_place);
  if (facts == std::string_view::npos || data == std::string_view::npos || facts > data)
    throw Error(mark("the program's file page.html is missing or damaged: install attnscope again"));
  std::string html(page.substr(0, facts));
  html += facts_json(language);
  html += page.substr(facts + facts_place.size(), data - facts - facts_place.size());
  html += to_base64(capture);
  html += page.substr(data + capture_place.size());
  return html;
}

std::string capture_in_page(const std::filesystem::path& file) {
  const std::string html = read_file(file, most_file_bytes);
  const std::size_t begin = html.find(capture_begin);
  const std::size_t end = begin == std::string::npos ? begin : html.find('<', begin);
  const auto bytes = end == std::string::npos
                         ? std::nullopt
                         : from_base64(std::string_view(html).substr(begin + capture_begin.size(),
                                                                     end - begin - capture_begin.size()));
  if (!bytes)
    throw SafetensorsError(fmt::format("{}: is not an interactive page of attnscope: it contains no capture",
                                       file.string()));
  return *bytes;
}

}  // namespace attnscope
