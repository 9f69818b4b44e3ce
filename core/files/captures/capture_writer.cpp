#include <cstring>
#include <nlohmann/json.hpp>

#include "files/captures/capture.h"
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

Json texts_json(const Snapshot& frame) {
  Json json = {{"output_text", frame.output_text}};
  if (frame.forced > frame.prefix) json["forced"] = frame.forced - frame.prefix;
  if (!frame.source.empty()) json["source"] = texts_of(frame.source);
  if (!frame.target_in.empty()) json["target"] = texts_of(frame.target_in);
  if (!frame.target_out.empty()) json["output"] = texts_of(frame.target_out);
  return json;
}

// The tokens of the last step are those of the sentence; other steps may have others.
Json sentence_json(const PinnedSentence& sentence) {
  const Snapshot& last = *sentence.frames.back();
  Json json = texts_json(last);
  json["text"] = sentence.text;
  for (const Frame& frame : sentence.frames)
    if (Json own = texts_json(*frame); frame->source != last.source || frame->target_in != last.target_in ||
                                       frame->target_out != last.target_out || frame->output_text != last.output_text)
      json["steps"][std::to_string(frame->step)] = std::move(own);
  if (!last.captured) return json;
  if (last.captured->second >= 0) json["sentence_b"] = last.captured->second;
  if (last.captured->grid_rows > 0) json["grid"] = {last.captured->grid_rows, last.captured->grid_cols};
  for (const auto& [name, value] : last.captured->labels) json["labels"][name] = value;
  return json;
}

}  // namespace

std::string capture_bytes(std::span<const PinnedSentence> sentences) {
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
    list.push_back(sentence_json(sentence));
  }
  contents.metadata = {{"format", "attnscope-capture"},
                       {"version", "1"},
                       {"signed", is_signed ? "true" : "false"},
                       // Typed text may be any bytes; U+FFFD replaces invalid UTF-8.
                       {"sentences", list.dump(-1, ' ', false, Json::error_handler_t::replace)}};
  return serialize(contents);
}

}  // namespace attnscope
