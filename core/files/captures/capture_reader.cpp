#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/hidden_states.h"
#include "common/json_text.h"
#include "files/captures/capture.h"
#include "files/captures/page.h"
#include "files/storage/mapped_file.h"
#include "files/storage/run_folder.h"
#include "files/storage/safetensors.h"
#include "messages/metrics.h"
#include "messages/snapshot.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

constexpr std::string_view format_name = "attnscope-capture";
constexpr std::size_t max_json_bytes = std::size_t{64} << 20;    // of the sentences
constexpr std::uint64_t max_map_bytes = std::uint64_t{2} << 30;  // of all maps in memory, as float32
constexpr float sum_tolerance = 0.02F;                           // bfloat16 has three digits
constexpr std::array<std::string_view, 5> tensor_kinds = {"encoder", "decoder", "cross", "hidden", "logits"};

// ---- numbers

float from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16, rest = (half & 0x7FFFU) << 13;
  if ((half & 0x7C00U) == 0x7C00U) return std::bit_cast<float>(sign | rest | 0x7F800000U);
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) * 0x1p112F));
}

float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// `values` gets the elements from `first` on.
void convert(const TensorView& tensor, std::size_t first, std::span<float> values) {
  const char* const from = tensor.bytes.data() + first * size_of(tensor.dtype);
  if (tensor.dtype == Dtype::F32) {
    std::memcpy(values.data(), from, values.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from + i * sizeof(bits), sizeof(bits));
    values[i] = tensor.dtype == Dtype::F16 ? from_half(bits) : from_bfloat(bits);
  }
}

std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool plain = !text.empty() && (text == "0" || (text.front() >= '1' && text.front() <= '9'));
  if (error != std::errc() || end != text.data() + text.size() || !plain || number > most) return std::nullopt;
  return number;
}

// ---- texts

// The text that the tokens stand for: words begin with "▁" or "Ġ", or continue with "##"; else each token is a word.
std::string joined(const std::vector<Token>& tokens) {
  constexpr std::array<std::string_view, 2> marks = {"\u2581", "\u0120"};
  const auto mark_of = [&](std::string_view token) {
    const auto found = std::ranges::find_if(marks, [&](std::string_view mark) { return token.starts_with(mark); });
    return found == marks.end() ? std::string_view() : *found;
  };
  const bool marked = std::ranges::any_of(tokens, [&](const Token& token) { return !mark_of(token.text).empty(); });
  std::string text;
  for (const Token& token : tokens) {
    std::string_view rest = token.text;
    const std::string_view mark = mark_of(rest);
    rest.remove_prefix(mark.size());
    const bool continues = marked ? mark.empty() : rest.starts_with("##") && rest.size() > 2;
    if (!marked && continues) rest.remove_prefix(2);
    if (!text.empty() && !continues) text += ' ';
    text += rest;
  }
  return text;
}

std::string quoted(const std::string& text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return fmt::format("\"{}\"", text);
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return fmt::format("\"{}…\"", text.substr(0, end));
}

// ---- the sentences

// The tokens that the metadata gives for a sentence, or for one of its steps.
struct Texts {
  std::vector<Token> source, target, output;
  std::vector<DecodingStep> predictions;
  std::string output_text;
  std::optional<std::size_t> forced;
};

class CaptureReader {
 public:
  CaptureReader(const std::map<std::string, std::string>& metadata, const std::vector<TensorView>& tensors,
                std::uint64_t run, bool mapped)
      : metadata_(metadata), run_(run), mapped_(mapped) {
    check_format();
    const auto is_signed = metadata_.find("signed");
    signed_ = is_signed != metadata_.end() && is_signed->second == "true";
    if (is_signed != metadata_.end() && !signed_ && is_signed->second != "false")
      throw SafetensorsError(fmt::format("\"signed\" is \"{}\", allowed: true, false", is_signed->second));
    sentences_ = list("sentences");
    if (!sentences_.is_array() || sentences_.empty())
      throw SafetensorsError("\"sentences\" is not a list with at least one sentence");
    by_sentence_.resize(sentences_.size());
    std::uint64_t bytes = 0;
    for (const TensorView& tensor : tensors) {
      sort_in(tensor);
      bytes += tensor.bytes.size() / size_of(tensor.dtype) * sizeof(float);
    }
    if (bytes > max_map_bytes)
      throw SafetensorsError(fmt::format("its tensors take {} MiB in memory, at most {} are allowed: write fewer "
                                         "sentences or steps to one file",
                                         bytes >> 20, max_map_bytes >> 20));
  }

  CaptureContents read() {
    CaptureContents capture;
    hidden_.resize(sentences_.size());
    for (index_ = 0; index_ < sentences_.size(); ++index_) capture.sentences.push_back(read_sentence());
    capture.model = capture.sentences.front().frames.back()->model;
    capture.losses = read_losses();
    capture.hidden = std::move(hidden_);
    return capture;
  }

 private:
  using Tensors = std::map<std::string_view, const TensorView*>;

  // ---- the metadata

  const std::string& entry(const char* key) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) throw SafetensorsError(fmt::format("the metadata has no \"{}\"", key));
    return found->second;
  }

  void check_format() const {
    const auto format = metadata_.find("format");
    if (format == metadata_.end() || format->second != format_name)
      throw SafetensorsError(fmt::format("is not a capture: its metadata lacks format = {}. To open a model, open the "
                                         "folder of its run or checkpoint",
                                         format_name));
    if (entry("version") != "1")
      throw SafetensorsError(fmt::format("version is \"{}\", allowed: 1", entry("version")));
  }

  Json list(const char* key) const {
    const std::string& text = entry(key);
    if (text.size() > max_json_bytes)
      throw SafetensorsError(
          fmt::format("\"{}\" has {} bytes; at most {} are allowed", key, text.size(), max_json_bytes));
    try {
      return parse_json<Json>(text);
    } catch (const Json::exception& error) {
      throw SafetensorsError(fmt::format("\"{}\" is not JSON: {}", key, message_of(error)));
    }
  }

  std::vector<MetricPoint> read_losses() const {
    std::vector<MetricPoint> points;
    if (!metadata_.contains("loss")) return points;
    const Json losses = list("loss");
    if (!losses.is_object()) throw SafetensorsError("\"loss\" is not an object of steps and numbers");
    for (const auto& [step, loss] : losses.items()) {
      const auto at = whole_number(step, largest_step);
      if (!at || !loss.is_number())
        throw SafetensorsError(fmt::format("\"loss\": {} at step \"{}\" is not a number at a step", loss.dump(), step));
      MetricPoint& point = points.emplace_back();
      point.step = *at;
      point.set(metric("loss"), loss.get<float>());
    }
    std::ranges::sort(points, {}, &MetricPoint::step);
    return points;
  }

  // ---- the tensors' names

  void sort_in(const TensorView& tensor) {
    const std::string_view name = tensor.name;
    const std::size_t first = name.find('/'), last = name.rfind('/');
    const auto sentence = whole_number(name.substr(0, first), std::numeric_limits<std::int32_t>::max());
    const auto step =
        first < last ? whole_number(name.substr(first + 1, last - first - 1), largest_step) : std::nullopt;
    const std::string_view kind = name.substr(std::min(last + 1, name.size()));
    if (!sentence || !step || std::ranges::find(tensor_kinds, kind) == tensor_kinds.end())
      throw SafetensorsError(fmt::format("tensor \"{}\": the name is not SENTENCE/STEP/WHAT with WHAT one of {}", name,
                                         fmt::join(tensor_kinds, ", ")));
    if (static_cast<std::size_t>(*sentence) >= by_sentence_.size())
      throw SafetensorsError(fmt::format("tensor \"{}\": there is no sentence {}, the file has {} (from 0)", name,
                                         *sentence, by_sentence_.size()));
    if (tensor.dtype != Dtype::F32 && tensor.dtype != Dtype::F16 && tensor.dtype != Dtype::BF16)
      throw SafetensorsError(
          fmt::format("tensor \"{}\" is {}, allowed: F32, F16, BF16", name, name_of(tensor.dtype)));
    by_sentence_[static_cast<std::size_t>(*sentence)][*step].emplace(kind, &tensor);
  }

  // ---- one sentence

  SafetensorsError wrong(const std::string& reason) const {
    return SafetensorsError(fmt::format("sentence {} ({}): {}", index_, quoted(text_), reason));
  }
  SafetensorsError wrong(const TensorView& tensor, const std::string& reason) const {
    return wrong(fmt::format("tensor \"{}\": {}", tensor.name, reason));
  }

  PinnedSentence read_sentence() {
    const Json& json = sentences_[index_];
    text_.clear();
    if (!json.is_object()) throw wrong("it is not an object");
    if (json.contains("text")) text_ = string(json, "text");
    Texts texts;
    read_texts(json, texts);
    if (texts.source.empty() && texts.target.empty()) throw wrong("it has neither source nor target tokens");
    if (text_.empty()) text_ = joined(texts.source.empty() ? texts.target : texts.source);
    if (text_.find_first_not_of(" \t") == std::string::npos) text_ = fmt::format("sentence {}", index_);
    const CapturedSentence facts = read_facts(json, texts);
    PinnedSentence sentence{unique_name(facts), {}};
    for (const auto& [step, tensors] : by_sentence_[index_])
      sentence.frames.push_back(read_frame(step, tensors, of_step(json, step, texts), facts, sentence.text));
    if (sentence.frames.empty()) throw wrong("no tensor belongs to it");
    check_steps(json);
    return sentence;
  }

  std::string string(const Json& json, const char* key) const {
    const Json& value = json.at(key);
    if (!value.is_string()) throw wrong(fmt::format("\"{}\" is {}, not a string", key, value.type_name()));
    return value.get<std::string>();
  }

  std::vector<Token> tokens(const Json& value, const char* key) const {
    if (!value.is_array()) throw wrong(fmt::format("\"{}\" is {}, not a list of tokens", key, value.type_name()));
    std::vector<Token> tokens;
    for (const Json& token : value) {
      if (!token.is_string())
        throw wrong(fmt::format("token {} of \"{}\" is {}, not a string", tokens.size(), key, token.type_name()));
      tokens.push_back({-1, token.get<std::string>()});
    }
    return tokens;
  }

  void read_texts(const Json& json, Texts& texts) const {
    if (json.contains("source")) texts.source = tokens(json["source"], "source");
    if (json.contains("target")) texts.output = texts.target = tokens(json["target"], "target");
    if (json.contains("output")) texts.output = tokens(json["output"], "output");
    if (texts.output.size() != texts.target.size())
      throw wrong(fmt::format("{} output tokens, but {} target tokens", texts.output.size(), texts.target.size()));
    if (json.contains("forced")) texts.forced = whole(json["forced"], "forced", texts.target.size());
    if (json.contains("predictions")) texts.predictions = predictions(json["predictions"], texts.target.size());
    if (json.contains("output_text")) {
      texts.output_text = string(json, "output_text");
    } else if (json.contains("target") || json.contains("output")) {
      texts.output_text = joined(texts.output);
    }
  }

  std::vector<DecodingStep> predictions(const Json& list, std::size_t outputs) const {
    if (!list.is_array() || list.size() != outputs)
      throw wrong(fmt::format("\"predictions\" is not a list of {} objects, one for each target token", outputs));
    std::vector<DecodingStep> steps;
    for (const Json& json : list) {
      DecodingStep& step = steps.emplace_back();
      step.entropy = json.at("entropy").get<float>();
      for (const Json& candidate : json.at("candidates")) {
        const float p = candidate.at(1).get<float>();
        if (!(p >= 0 && p <= 1) || !(step.entropy >= 0))
          throw wrong(fmt::format("\"predictions\", output {}: {} is not a probability", steps.size() - 1, p));
        step.candidates.push_back({{-1, candidate.at(0).get<std::string>()}, std::log(p), p, p, p});
      }
    }
    return steps;
  }

  Texts of_step(const Json& json, std::int64_t step, Texts texts) const {
    if (!json.contains("steps")) return texts;
    const auto own = json["steps"].find(std::to_string(step));
    if (own != json["steps"].end()) read_texts(*own, texts);
    return texts;
  }

  void check_steps(const Json& json) const {
    if (!json.contains("steps")) return;
    for (const auto& [step, texts] : json["steps"].items()) {
      const auto at = whole_number(step, largest_step);
      if (!at || !by_sentence_[index_].contains(*at))
        throw wrong(fmt::format("\"steps\" names step \"{}\", but no tensor belongs to it", step));
    }
  }

  int whole(const Json& value, const char* key, std::size_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
      throw wrong(fmt::format("\"{}\" is {}, not a whole number up to {}", key, value.dump(), most));
    return value.get<int>();
  }

  CapturedSentence read_facts(const Json& json, const Texts& texts) const {
    CapturedSentence facts;
    if (json.contains("steps") && !json["steps"].is_object())
      throw wrong(fmt::format("\"steps\" is {}, not an object", json["steps"].type_name()));
    if (json.contains("sentence_b"))
      facts.second = whole(json["sentence_b"], "sentence_b", std::max(texts.source.size(), texts.target.size()) - 1);
    if (json.contains("labels")) {
      if (!json["labels"].is_object()) throw wrong("\"labels\" is not an object of names and texts");
      for (const auto& [name, value] : json["labels"].items())
        facts.labels.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
    }
    if (json.contains("grid")) {
      const Json& grid = json["grid"];
      if (!grid.is_array() || grid.size() != 2) throw wrong("\"grid\" is not a list of two numbers: rows, columns");
      facts.grid_rows = whole(grid[0], "grid", texts.source.size());
      facts.grid_cols = whole(grid[1], "grid", texts.source.size());
      const auto patches = static_cast<std::size_t>(facts.grid_rows) * static_cast<std::size_t>(facts.grid_cols);
      if (patches == 0 || patches > texts.source.size())
        throw wrong(fmt::format("\"grid\" of {} × {} has {} patches, but there are {} source tokens", facts.grid_rows,
                                facts.grid_cols, patches, texts.source.size()));
    }
    return facts;
  }

  std::string unique_name(const CapturedSentence& facts) {
    std::vector<std::string> labels;
    for (const auto& [name, value] : facts.labels) labels.push_back(value);
    std::string name = text_;
    if (names_.contains(name) && !labels.empty()) name += fmt::format(" ({})", fmt::join(labels, ", "));
    const std::string base = name;
    for (int count = 2; !names_.insert(name).second; ++count) name = fmt::format("{} ({})", base, count);
    return name;
  }

  // ---- one step

  Frame read_frame(std::int64_t step, const Tensors& tensors, Texts texts, const CapturedSentence& facts,
                   const std::string& name) {
    static const auto no_positions = std::make_shared<const std::vector<PositionTable>>();
    auto frame = std::make_shared<Snapshot>();
    frame->run = run_;
    frame->step = step;
    frame->source_text = name;
    frame->output_text = std::move(texts.output_text);
    frame->source = std::move(texts.source);
    frame->target_in = std::move(texts.target);
    frame->target_out = std::move(texts.output);
    frame->decoding = std::move(texts.predictions);
    frame->positions = no_positions;
    frame->forced = texts.forced.value_or(frame->source.empty() ? frame->target_in.size() - 1 : 0);
    CapturedAttention& attention = frame->model.captured.emplace();
    attention.is_signed = signed_;
    attention.sums_to_one = !signed_;
    attention.causal = true;
    const int source = static_cast<int>(frame->source.size()), target = static_cast<int>(frame->target_in.size());
    frame->encoder = maps(tensors, AttentionPart::encoder, {source, "source"}, {source, "source"}, attention);
    frame->decoder = maps(tensors, AttentionPart::decoder, {target, "target"}, {target, "target"}, attention);
    frame->cross = maps(tensors, AttentionPart::cross, {target, "target"}, {source, "source"}, attention);
    if (frame->encoder.empty() && frame->decoder.empty() && frame->cross.empty())
      throw wrong(fmt::format("step {} has no attention: encoder, decoder or cross", step));
    auto captured = std::make_shared<CapturedSentence>(facts);
    if (tensors.contains("hidden")) read_hidden(*tensors.at("hidden"), *frame, *captured);
    if (tensors.contains("logits")) {
      frame->decoding = read_logits(*tensors.at("logits"), target);
      if (frame->target_out == frame->target_in) set_predicted(*frame);
    }
    frame->captured = std::move(captured);
    return frame;
  }

  struct Side {
    int count;
    const char* kind;
  };

  void check_side(const TensorView& tensor, std::int64_t found, const char* what, const Side& side) const {
    if (side.count == 0) throw wrong(tensor, fmt::format("the sentence has no {} tokens", side.kind));
    if (found != side.count)
      throw wrong(tensor, fmt::format("{} {}, but {} {} token{}", found, what, side.count, side.kind,
                                      side.count == 1 ? "" : "s"));
  }

  AttentionMaps maps(const Tensors& tensors, AttentionPart part, const Side& rows, const Side& cols,
                     CapturedAttention& attention) const {
    const auto found = tensors.find(part_name(part));
    if (found == tensors.end()) return {};
    const TensorView& tensor = *found->second;
    if (tensor.shape.size() != 4)
      throw wrong(tensor, fmt::format("the shape [{}] has {} dimensions, not 4: layers, heads, queries, keys",
                                      fmt::join(tensor.shape, ", "), tensor.shape.size()));
    check_side(tensor, tensor.shape[2], "queries", rows);
    check_side(tensor, tensor.shape[3], "keys", cols);
    if (tensor.shape[0] == 0 || tensor.shape[1] == 0)
      throw wrong(tensor, fmt::format("{} layers of {} heads", tensor.shape[0], tensor.shape[1]));
    const auto layers = static_cast<int>(tensor.shape[0]), heads = static_cast<int>(tensor.shape[1]);
    attention.parts[static_cast<std::size_t>(part)] = {layers, heads};
    AttentionMaps maps(static_cast<std::size_t>(layers));
    std::size_t first = 0;
    for (int layer = 0; layer < layers; ++layer)
      for (int head = 0; head < heads; ++head) {
        Matrix& map = maps[static_cast<std::size_t>(layer)].emplace_back(rows.count, cols.count);
        convert(tensor, first, map.values);
        check_values(tensor, {part, layer, head}, map, attention);
        const std::size_t size = size_of(tensor.dtype);
        if (mapped_) MappedFile::release(tensor.bytes.substr(first * size, map.values.size() * size));
        first += map.values.size();
      }
    return maps;
  }

  // Signed values may be −∞: a masked score.
  void check_values(const TensorView& tensor, const HeadPlace& place, const Matrix& map,
                    CapturedAttention& attention) const {
    for (int row = 0; row < map.rows; ++row) {
      float sum = 0;
      for (int col = 0; col < map.cols; ++col) {
        const float value = map.at(row, col);
        if (signed_ && value == -std::numeric_limits<float>::infinity()) continue;
        if (!std::isfinite(value) || (value < 0 && !signed_))
          throw wrong(tensor, fmt::format("layer {}, head {}, query {}, key {}: {} {}", place.layer, place.head, row,
                                          col, value,
                                          std::isfinite(value) ? "is negative; for values that are not weights, set "
                                                                 "signed = true in the metadata"
                                                               : "is not a finite number"));
        sum += value;
        if (place.part == AttentionPart::decoder && col > row && value != 0) attention.causal = false;
      }
      if (std::abs(sum - 1) > sum_tolerance) attention.sums_to_one = false;
    }
  }

  void read_hidden(const TensorView& tensor, const Snapshot& frame, CapturedSentence& captured) {
    const bool encoder = !frame.encoder.empty();
    const std::size_t layers = encoder ? frame.encoder.size() : std::max(frame.decoder.size(), frame.cross.size());
    if (tensor.shape.size() != 3)
      throw wrong(tensor, fmt::format("the shape [{}] has {} dimensions, not 3: layers + 1, tokens, d_model",
                                      fmt::join(tensor.shape, ", "), tensor.shape.size()));
    if (tensor.shape[0] != static_cast<std::int64_t>(layers) + 1)
      throw wrong(tensor, fmt::format("{} layers of hidden states, but {} layers of attention need {}", tensor.shape[0],
                                      layers, layers + 1));
    const std::vector<Token>& tokens = encoder ? frame.source : frame.target_in;
    check_side(tensor, tensor.shape[1], "tokens", {static_cast<int>(tokens.size()), encoder ? "source" : "target"});
    if (tensor.shape[2] == 0) throw wrong(tensor, "vectors without numbers");
    std::vector<Matrix> states;
    for (std::size_t layer = 0; layer <= layers; ++layer) {
      Matrix& state = states.emplace_back(static_cast<int>(tokens.size()), static_cast<int>(tensor.shape[2]));
      convert(tensor, layer * state.values.size(), state.values);
      if (!std::ranges::all_of(state.values, [](float value) { return std::isfinite(value); }))
        throw wrong(tensor, fmt::format("layer {} has a value that is not finite", layer));
    }
    captured.hidden = hidden_layers(states);
    captured.layer_similarity = layer_similarity(states);
    hidden_[index_].emplace(frame.step, std::move(states));
  }

  // Without outputs of their own, the rows predict what follows each target token; after the last, that is the most
  // probable candidate.
  static void set_predicted(Snapshot& frame) {
    if (frame.target_out.empty() || frame.decoding.back().candidates.empty()) return;
    std::ranges::rotate(frame.target_out, frame.target_out.begin() + 1);
    frame.target_out.back() = frame.decoding.back().candidates.front().token;
  }

  std::vector<DecodingStep> read_logits(const TensorView& tensor, int target) const {
    const Json& json = sentences_[index_];
    if (!json.contains("candidates"))
      throw wrong(tensor, "the sentence has no \"candidates\", the tokens of its columns");
    const std::vector<Token> candidates = tokens(json["candidates"], "candidates");
    if (tensor.shape.size() != 2)
      throw wrong(tensor, fmt::format("the shape [{}] has {} dimensions, not 2: target tokens, candidates",
                                      fmt::join(tensor.shape, ", "), tensor.shape.size()));
    check_side(tensor, tensor.shape[0], "rows", {target, "target"});
    check_side(tensor, tensor.shape[1], "columns", {static_cast<int>(candidates.size()), "candidate"});
    Matrix logits(target, static_cast<int>(candidates.size()));
    convert(tensor, 0, logits.values);
    std::vector<DecodingStep> steps;
    for (int row = 0; row < target; ++row) steps.push_back(read_row(tensor, logits, row, candidates));
    return steps;
  }

  DecodingStep read_row(const TensorView& tensor, const Matrix& logits, int row,
                        const std::vector<Token>& tokens) const {
    DecodingStep step;
    float most = -std::numeric_limits<float>::infinity();
    for (int col = 0; col < logits.cols; ++col) {
      if (!std::isfinite(logits.at(row, col)))
        throw wrong(tensor, fmt::format("row {}, candidate {}: not a finite number", row, col));
      most = std::max(most, logits.at(row, col));
      step.candidates.push_back({.token = tokens[static_cast<std::size_t>(col)], .logit = logits.at(row, col)});
    }
    float sum = 0;
    for (const Candidate& candidate : step.candidates) sum += std::exp(candidate.logit - most);
    for (Candidate& candidate : step.candidates) {
      const float p = candidate.probability = candidate.tempered = candidate.kept =
          std::exp(candidate.logit - most) / sum;
      if (p > 0) step.entropy -= p * std::log(p);
    }
    std::ranges::stable_sort(step.candidates, std::ranges::greater(), &Candidate::probability);
    return step;
  }

  const std::map<std::string, std::string>& metadata_;
  std::uint64_t run_;
  bool mapped_;
  bool signed_ = false;
  Json sentences_;
  std::vector<std::map<std::int64_t, Tensors>> by_sentence_;  // by step
  std::vector<std::map<std::int64_t, std::vector<Matrix>>> hidden_;  // likewise
  std::set<std::string> names_;
  std::size_t index_ = 0;  // of the sentence being read
  std::string text_;       // likewise
};

}  // namespace

CaptureContents load_capture(const std::filesystem::path& file, std::uint64_t run) {
  std::optional<MappedFile> mapped;
  std::string decoded;
  if (file.string().ends_with(page_extension))
    decoded = capture_in_page(file);
  else
    mapped.emplace(file);
  const std::string_view bytes = mapped ? mapped->bytes() : decoded;
  const auto metadata = metadata_in(bytes, file.string());
  const std::vector<TensorView> tensors = safetensors_views(bytes, file.string());
  try {
    return CaptureReader(metadata, tensors, run, mapped.has_value()).read();
  } catch (const Error& error) {
    throw SafetensorsError(fmt::format("{}: {}", file.string(), error.what()));
  } catch (const Json::exception& error) {
    throw SafetensorsError(fmt::format("{}: invalid JSON: {}", file.string(), message_of(error)));
  }
}

}  // namespace attnscope
