// The attend and heads commands on a capture (core/files/captures/capture.h), which needs no model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "analysis/head_scores.h"
#include "commands/attention_json.h"
#include "commands/commands.h"
#include "common/matrix_text.h"
#include "files/captures/capture.h"
#include "messages/messages.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

Json captured_maps_json(const Snapshot& frame, AttentionPart part, const AttendOptions& options) {
  Json heads = Json::array();
  for (const auto& head : wanted_maps_json(frame, part, options)) {
    if (frame.model.has_weights())
      heads.push_back(Json(head));
    else
      heads.push_back({{"layer", head["layer"]}, {"head", head["head"]}, {"values", head["weights"]}});
  }
  return heads;
}

Json predictions_json(const std::vector<DecodingStep>& decoding) {
  Json list = Json::array();
  for (const DecodingStep& step : decoding) {
    Json candidates = Json::array();
    for (const Candidate& of : step.candidates)
      candidates.push_back({{"token", of.token.text}, {"logit", of.logit}, {"probability", of.probability}});
    list.push_back({{"entropy", step.entropy}, {"candidates", std::move(candidates)}});
  }
  return list;
}

Json frame_json(const std::string& text, const Snapshot& frame, const AttendOptions& options) {
  Json json = {{"text", text}, {"step", frame.step}};
  for (const Label& label : frame.captured->labels) json["labels"][label.name] = label.value;
  json["source"] = texts_of(frame.source);
  json["target"] = texts_of(frame.target_in);
  json["output"] = texts_of(frame.target_out);
  for (const AttentionPart part : attention_parts) json[part_name(part)] = captured_maps_json(frame, part, options);
  if (!frame.decoding.empty()) json["predictions"] = predictions_json(frame.decoding);
  return json;
}

// One line per value of every map.
void print_csv(const std::string& text, const Snapshot& frame, std::size_t sentence, const AttendOptions& options) {
  for (const AttentionPart part : attention_parts) {
    if (!is_wanted(options, part)) continue;
    const std::vector<Token>& queries = row_tokens(frame, part);
    const std::vector<Token>& keys = col_tokens(frame, part);
    const AttentionMaps& maps = maps_of(frame, part);
    for (std::size_t layer = 0; layer < maps.size(); ++layer)
      for (std::size_t head = 0; head < maps[layer].size(); ++head) {
        const Matrix& map = maps[layer][head];
        if (!is_wanted(options, static_cast<int>(layer) + 1, static_cast<int>(head) + 1)) continue;
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

// Only the frames of that step, if it is given.
CaptureContents captured_at(const std::string& file, std::optional<std::int64_t> step) {
  CaptureContents capture = load_capture(file, 1);
  if (!step) return capture;
  std::set<std::int64_t> steps;
  for (PinnedSentence& sentence : capture.sentences) {
    for (const Frame& frame : sentence.frames) steps.insert(frame->step);
    std::erase_if(sentence.frames, [&](const Frame& frame) { return frame->step != *step; });
  }
  if (!steps.contains(*step))
    throw std::runtime_error(fmt::format("{}: no sentence has step {}; recorded: {}", file,
                                         *step == best_weights ? "best" : std::to_string(*step),
                                         fmt::join(steps, ", ")));
  return capture;
}

// Refuses a head that no sentence has.
void check_head(const AttendOptions& options, const CaptureContents& capture) {
  if (!options.part && !options.layer && !options.head) return;
  for (const PinnedSentence& sentence : capture.sentences)
    for (const Frame& frame : sentence.frames)
      for (const AttentionPart part : attention_parts) {
        const auto [layers, heads] = part_size(frame->model, part);
        if (is_wanted(options, part) && options.layer.value_or(1) <= layers && options.head.value_or(1) <= heads)
          return;
      }
  throw std::runtime_error(fmt::format("{}: no sentence has layer {}, head {} in {}", options.capture,
                                       options.layer.value_or(1), options.head.value_or(1),
                                       options.part.value_or("any part")));
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
  const CaptureContents capture = captured_at(options.capture, options.step);
  check_head(options, capture);
  const bool csv = options.format == "csv";
  if (csv) fmt::print("sentence,text,step,part,layer,head,query,query_token,key,key_token,value\n");
  Json list = Json::array();
  for (std::size_t i = 0; i < capture.sentences.size(); ++i)
    for (const Frame& frame : capture.sentences[i].frames) {
      if (csv) {
        print_csv(capture.sentences[i].text, *frame, i, options);
      } else {
        list.push_back(frame_json(capture.sentences[i].text, *frame, options));
        if (const auto states = capture.hidden[i].find(frame->step); states != capture.hidden[i].end())
          for (const Matrix& state : states->second) list.back()["hidden"].push_back(Json(matrix_json(state)));
      }
    }
  if (!csv)
    fmt::print("{}\n", Json{{"signed", capture.model.is_signed()}, {"sentences", std::move(list)}}.dump(
                           -1, ' ', false, Json::error_handler_t::replace));
  return 0;
}

int heads_capture(const HeadsOptions& options) {
  const CaptureContents capture = captured_at(options.capture, options.step);
  std::vector<const Snapshot*> sentences;
  for (const PinnedSentence& sentence : capture.sentences) {
    if (sentence.frames.empty()) continue;
    sentences.push_back(sentence.frames.back().get());
    if (!sentences.back()->model.has_weights())
      throw std::runtime_error(
          fmt::format("{}: the rows of \"{}\" do not sum to 1, so entropies and shares of attention are not defined",
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
