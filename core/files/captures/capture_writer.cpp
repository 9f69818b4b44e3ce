#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "files/captures/capture.h"
#include "files/captures/page.h"
#include "files/storage/safetensors.h"
#include "messages/snapshot.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

TensorBytes tensor_of(std::string name, const AttentionMaps& maps) {
  const Matrix& first = maps.front().front();
  TensorBytes tensor{.name = std::move(name),
                     .shape = {std::ssize(maps), std::ssize(maps.front()), first.rows, first.cols},
                     .bytes = {}};
  tensor.bytes.reserve(maps.size() * maps.front().size() * first.values.size() * sizeof(float));
  for (const std::vector<Matrix>& layer : maps)
    for (const Matrix& map : layer)
      tensor.bytes.append(reinterpret_cast<const char*>(map.values.data()), map.values.size() * sizeof(float));
  return tensor;
}

// The double that prints as the fewest digits of the float.
double shortest(float value) {
  return std::stod(fmt::format("{}", value));
}

Json predictions_json(const std::vector<DecodingStep>& decoding) {
  Json list = Json::array();
  for (const DecodingStep& step : decoding) {
    Json candidates = Json::array();
    for (const Candidate& candidate : step.candidates)
      candidates.push_back({candidate.token.text, shortest(candidate.probability)});
    list.push_back({{"entropy", shortest(step.entropy)}, {"candidates", std::move(candidates)}});
  }
  return list;
}

Json texts_json(const Snapshot& frame) {
  Json json = {{"output_text", frame.output_text}};
  if (frame.forced > frame.prefix) json["forced"] = frame.forced - frame.prefix;
  if (!frame.source.empty()) json["source"] = texts_of(frame.source);
  if (!frame.target_in.empty()) json["target"] = texts_of(frame.target_in);
  if (!frame.target_out.empty()) json["output"] = texts_of(frame.target_out);
  if (frame.is_whole() && !frame.decoding.empty()) json["predictions"] = predictions_json(frame.decoding);
  return json;
}

// The texts of the last step are those of the sentence; other steps may have others.
Json sentence_json(const PinnedSentence& sentence, const std::vector<Label>& labels) {
  const Snapshot& last = *sentence.frames.back();
  const Json texts = texts_json(last);
  Json json = texts;
  json["text"] = sentence.text;
  for (const Label& label : labels) json["labels"][label.name] = label.value;
  for (const Frame& frame : sentence.frames)
    if (Json own = texts_json(*frame); own != texts) json["steps"][std::to_string(frame->step)] = std::move(own);
  if (!last.captured) return json;
  if (last.captured->second >= 0) json["sentence_b"] = last.captured->second;
  if (last.captured->grid_rows > 0) json["grid"] = {last.captured->grid_rows, last.captured->grid_cols};
  for (const auto& [name, value] : last.captured->labels) json["labels"][name] = value;
  return json;
}

Json losses_json(const Series& losses) {
  Json json = Json::object();
  for (std::size_t i = 0; i < losses.x.size(); ++i)
    if (std::isfinite(losses.y[i]))
      json[fmt::format("{:.0f}", losses.x[i])] = shortest(static_cast<float>(losses.y[i]));
  return json;
}

}  // namespace

bool is_capture_name(std::string_view path) {
  return path.ends_with(capture_extension) || path.ends_with(page_extension);
}

std::string capture_bytes(std::span<const PinnedSentence> sentences, const CaptureFacts& facts) {
  Safetensors contents;
  Json list = Json::array();
  bool is_signed = false;
  for (const PinnedSentence& sentence : sentences) {
    for (const Frame& frame : sentence.frames) {
      is_signed = is_signed || (frame->model.captured && frame->model.captured->is_signed);
      for (const AttentionPart part : attention_parts) {
        const AttentionMaps& maps = maps_of(*frame, part);
        if (maps.empty()) continue;
        contents.tensors.push_back(
            tensor_of(std::to_string(list.size()) + '/' + std::to_string(frame->step) + '/' + part_name(part), maps));
      }
    }
    list.push_back(sentence_json(sentence, facts.labels));
  }
  contents.metadata = {{"format", "attnscope-capture"},
                       {"version", "1"},
                       {"signed", is_signed ? "true" : "false"},
                       // Typed text may be any bytes; U+FFFD replaces invalid UTF-8.
                       {"sentences", list.dump(-1, ' ', false, Json::error_handler_t::replace)}};
  if (!facts.losses.x.empty()) contents.metadata["loss"] = losses_json(facts.losses).dump();
  if (!facts.circuit.empty()) contents.metadata["circuit"] = facts.circuit;
  return serialize(contents);
}

}  // namespace attnscope
