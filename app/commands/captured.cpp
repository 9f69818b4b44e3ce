// The attend and heads commands on a capture (core/files/captures/capture.h), which needs no model.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "analysis/head_scores.h"
#include "commands/attention_json.h"
#include "commands/commands.h"
#include "common/matrix_text.h"
#include "files/captures/capture.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

Json captured_maps_json(const Snapshot& frame, AttentionPart part) {
  if (frame.model.has_weights()) return maps_json(maps_of(frame, part));
  Json heads = Json::array();
  for (const auto& head : maps_json(maps_of(frame, part)))
    heads.push_back({{"layer", head["layer"]}, {"head", head["head"]}, {"values", head["weights"]}});
  return heads;
}

Json frame_json(const std::string& text, const Snapshot& frame) {
  Json json = {{"text", text}, {"step", frame.step}};
  for (const Label& label : frame.captured->labels) json["labels"][label.name] = label.value;
  json["source"] = texts_of(frame.source);
  json["target"] = texts_of(frame.target_in);
  json["output"] = texts_of(frame.target_out);
  for (const AttentionPart part : attention_parts) json[part_name(part)] = captured_maps_json(frame, part);
  return json;
}

// One line per value of every map.
void print_csv(const std::string& text, const Snapshot& frame, std::size_t sentence) {
  for (const AttentionPart part : attention_parts) {
    const std::vector<Token>& queries = row_tokens(frame, part);
    const std::vector<Token>& keys = col_tokens(frame, part);
    const AttentionMaps& maps = maps_of(frame, part);
    for (std::size_t layer = 0; layer < maps.size(); ++layer)
      for (std::size_t head = 0; head < maps[layer].size(); ++head) {
        const Matrix& map = maps[layer][head];
        for (int row = 0; row < map.rows; ++row)
          for (int col = 0; col < map.cols; ++col)
            fmt::print("{},{},{},{},{},{},{},{},{},{},{}\n", sentence, csv_field(text), frame.step, part_name(part),
                       layer + 1, head + 1, row, csv_field(queries[static_cast<std::size_t>(row)].text), col,
                       csv_field(keys[static_cast<std::size_t>(col)].text), map.at(row, col));
      }
  }
}

Json scores_json(const HeadScores& scores) {
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"part", part_name(scores.place.part)},
          {"layer", scores.place.layer + 1},
          {"head", scores.place.head + 1},
          {"sentences", scores.sentences},
          {"entropy", scores.entropy},
          {"distance", or_null(scores.distance)},
          {"first", scores.first},
          {"special", scores.special},
          {"previous", or_null(scores.previous)},
          {"induction", or_null(scores.induction)}};
}

void print_scores(const std::vector<HeadScores>& heads) {
  const auto text = [](const std::optional<double>& value) { return value ? fmt::format("{:.3f}", *value) : "–"; };
  fmt::print("{:<16} {:>9} {:>9} {:>7} {:>7} {:>9} {:>9}\n", "head", "entropy", "distance", "first", "special",
             "previous", "induction");
  for (const HeadScores& of : heads)
    fmt::print("{:<16} {:>9.3f} {:>9} {:>7.3f} {:>7.3f} {:>9} {:>9}\n",
               fmt::format("{} {}", part_name(of.place.part), layer_and_head(of.place.layer, of.place.head)),
               of.entropy, text(of.distance), of.first, of.special, text(of.previous), text(of.induction));
}

}  // namespace

int attend_capture(const AttendOptions& options) {
  const CaptureContents capture = load_capture(options.capture, 1);
  const bool csv = options.format == "csv";
  if (csv) fmt::print("sentence,text,step,part,layer,head,query,query_token,key,key_token,value\n");
  Json list = Json::array();
  for (std::size_t i = 0; i < capture.sentences.size(); ++i)
    for (const Frame& frame : capture.sentences[i].frames) {
      if (csv) {
        print_csv(capture.sentences[i].text, *frame, i);
      } else {
        list.push_back(frame_json(capture.sentences[i].text, *frame));
      }
    }
  if (!csv)
    fmt::print("{}\n", Json{{"signed", capture.model.is_signed()}, {"sentences", std::move(list)}}.dump(
                           -1, ' ', false, Json::error_handler_t::replace));
  return 0;
}

int heads_capture(const HeadsOptions& options) {
  const CaptureContents capture = load_capture(options.capture, 1);
  std::vector<const Snapshot*> sentences;
  for (const PinnedSentence& sentence : capture.sentences) {
    sentences.push_back(sentence.frames.back().get());
    if (!sentences.back()->model.has_weights())
      throw std::runtime_error(fmt::format(
          "{}: the rows of \"{}\" do not sum to 1, so entropies and shares of attention are not defined",
          options.capture, sentence.text));
  }
  const std::vector<HeadScores> heads = head_scores(sentences);
  if (!options.json) {
    print_scores(heads);
    return 0;
  }
  Json list = Json::array();
  for (const HeadScores& scores : heads) list.push_back(scores_json(scores));
  fmt::print("{}\n", Json{{"heads", std::move(list)}}.dump());
  return 0;
}

}  // namespace attnscope
