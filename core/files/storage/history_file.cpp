#include "files/storage/history_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/json_text.h"
#include "files/storage/file.h"
#include "files/storage/safetensors.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

constexpr int history_version = 1;
constexpr const char* history_key = "history";                    // key in the metadata
constexpr std::uint64_t max_history_bytes = std::uint64_t{1} << 30;  // four times the default budget
constexpr std::size_t max_json_bytes = std::size_t{64} << 20;     // for texts and tokens
constexpr std::size_t most_frames = 10'000;  // of all sentences, in files of earlier versions; a History retains fewer

std::string frame_name(std::size_t sentence, std::int64_t step) {
  return fmt::format("{}/{}", sentence, step);
}

// ---- writing

// The distinct tokens of all frames.
class TokenList {
 public:
  std::int32_t index(const Token& token) {
    const auto [place, added] = indices_.try_emplace({token.id, token.text}, static_cast<std::int32_t>(list_.size()));
    if (added) list_.push_back({token.id, token.text});
    return place->second;
  }
  const Json& list() const { return list_; }

 private:
  std::map<std::pair<int, std::string>, std::int32_t> indices_;
  Json list_ = Json::array();
};

template <typename Number>
TensorBytes tensor_of(std::string name, Dtype dtype, std::vector<std::int64_t> shape,
                      const std::vector<Number>& values) {
  return {std::move(name), dtype, std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number))};
}

// Splits the frame `name` into tensors.
class FrameWriter {
 public:
  FrameWriter(Safetensors& file, TokenList& tokens, std::string name)
      : file_(file), tokens_(tokens), name_(std::move(name)) {}

  void write(const Snapshot& frame) {
    put("source", frame.source);
    put("target_in", frame.target_in);
    put("target_out", frame.target_out);
    put("encoder", frame.encoder);
    put("decoder", frame.decoder);
    put("cross", frame.cross);
    put(frame.decoding);
  }

 private:
  void put(const char* what, const std::vector<Token>& tokens) {
    std::vector<std::int32_t> indices;
    for (const Token& token : tokens) indices.push_back(tokens_.index(token));
    put(what, indices);
  }

  void put(const char* what, const AttentionMaps& maps) {
    if (maps.empty()) return;
    const Matrix& first = maps.front().front();
    const auto extent = [](auto n) { return static_cast<std::int64_t>(n); };
    std::vector<float> values;
    for (const std::vector<Matrix>& layer : maps) {
      for (const Matrix& map : layer) values.insert(values.end(), map.values.begin(), map.values.end());
    }
    file_.tensors.push_back(tensor_of(full_name(what), Dtype::F32,
                                      {extent(maps.size()), extent(maps.front().size()), first.rows, first.cols},
                                      values));
  }

  void put(const std::vector<DecodingStep>& decoding) {
    std::vector<std::int32_t> counts, chosen, candidates;
    std::vector<float> entropies, logits, probabilities;
    for (const DecodingStep& step : decoding) {
      counts.push_back(static_cast<std::int32_t>(step.candidates.size()));
      chosen.push_back(step.chosen);
      entropies.push_back(step.entropy);
      for (const Candidate& candidate : step.candidates) {
        candidates.push_back(tokens_.index(candidate.token));
        logits.push_back(candidate.logit);
        probabilities.push_back(candidate.probability);
      }
    }
    put("candidate_counts", counts);
    put("chosen", chosen);
    put("entropies", entropies);
    put("candidates", candidates);
    put("logits", logits);
    put("probabilities", probabilities);
  }

  void put(const char* what, const std::vector<std::int32_t>& values) {
    file_.tensors.push_back(tensor_of(full_name(what), Dtype::I32, {static_cast<std::int64_t>(values.size())}, values));
  }
  void put(const char* what, const std::vector<float>& values) {
    file_.tensors.push_back(tensor_of(full_name(what), Dtype::F32, {static_cast<std::int64_t>(values.size())}, values));
  }

  std::string full_name(const char* what) const { return name_ + '/' + what; }

  Safetensors& file_;
  TokenList& tokens_;
  std::string name_;
};

Json frame_json(const Snapshot& frame) {
  return {{"step", frame.step},
          {"output", frame.output_text},
          {"forced", frame.forced},
          {"truncated", frame.truncated},
          {"stopped_at_limit", frame.stopped_at_limit}};
}

// ---- reading

class HistoryReader {
 public:
  HistoryReader(const Safetensors& file, const ModelConfig& model, std::uint64_t run) : model_(model), run_(run) {
    for (const TensorBytes& tensor : file.tensors) tensors_.emplace(tensor.name, &tensor);
  }

  History read(const std::string& text) {
    if (text.size() > max_json_bytes) {
      throw SafetensorsError(fmt::format("{} bytes of texts; at most {} are allowed", text.size(), max_json_bytes));
    }
    const Json json = parse_json<Json>(text);
    if (json.at("version") != history_version) {
      throw SafetensorsError(fmt::format("version is {}, allowed: {}", json.at("version").dump(), history_version));
    }
    for (const Json& token : json.at("tokens")) {
      const int id = token.at(0).get<int>();
      tokens_.push_back({id, token.at(1).get<std::string>(), id == model_.special().unknown});
    }
    check_count(json.at("sentences"));
    History history;
    for (std::size_t i = 0; i < json.at("sentences").size(); ++i) read_sentence(json.at("sentences")[i], i, history);
    return history;
  }

 private:
  static void check_count(const Json& sentences) {
    std::size_t frames = 0;
    for (const Json& sentence : sentences) frames += sentence.at("frames").size();
    if (sentences.size() > max_pinned || frames > most_frames) {
      throw SafetensorsError(fmt::format("{} frames of {} sentences; allowed: {} of {}", frames, sentences.size(),
                                         most_frames, max_pinned));
    }
  }

  void read_sentence(const Json& json, std::size_t index, History& history) {
    const auto text = json.at("text").get<std::string>();
    if (!history.pin(text)) throw SafetensorsError(fmt::format("the sentence \"{}\" appears twice", text));
    std::int64_t last = -1;
    for (const Json& frame : json.at("frames")) {
      const auto step = frame.at("step").get<std::int64_t>();
      if (step <= last) throw SafetensorsError(fmt::format("sentence {}: step {} after step {}", index, step, last));
      last = step;
      name_ = frame_name(index, step);
      history.add(read_frame(frame, text));
    }
  }

  Frame read_frame(const Json& json, const std::string& text) {
    Snapshot frame;
    frame.run = run_;
    frame.step = json.at("step").get<std::int64_t>();
    frame.model = model_;
    frame.source_text = text;
    frame.output_text = json.at("output").get<std::string>();
    frame.forced = json.at("forced").get<std::size_t>();
    frame.truncated = json.at("truncated").get<bool>();
    frame.stopped_at_limit = json.at("stopped_at_limit").get<bool>();
    frame.source = tokens("source");
    frame.target_in = tokens("target_in");
    frame.target_out = tokens("target_out");
    frame.decoding = decoding(frame.target_out.size());
    check_lengths(frame);
    const int s = static_cast<int>(frame.source.size());
    const int t = static_cast<int>(frame.target_in.size());
    frame.encoder = maps("encoder", AttentionPart::encoder, s, s);
    frame.decoder = maps("decoder", AttentionPart::decoder, t, t);
    frame.cross = maps("cross", AttentionPart::cross, t, s);
    return frame_of(frame);
  }

  void check_lengths(const Snapshot& frame) const {
    const std::size_t written = frame.target_out.size();
    if (written == 0 || frame.target_in.size() != written || frame.forced > written) {
      throw wrong(fmt::format("{} decoder inputs, {} outputs, {} of them forced", frame.target_in.size(), written,
                              frame.forced));
    }
    if (frame.source.empty() != model_.is_language_model()) {
      throw wrong(fmt::format("a source of {} tokens in a model that is {}", frame.source.size(), model_.architecture));
    }
  }

  std::vector<Token> tokens(const char* what) const {
    std::vector<Token> found;
    for (const std::int32_t index : numbers<std::int32_t>(what)) found.push_back(token(index));
    return found;
  }

  const Token& token(std::int32_t index) const {
    if (index < 0 || static_cast<std::size_t>(index) >= tokens_.size()) {
      throw wrong(fmt::format("token {}; there are {}", index, tokens_.size()));
    }
    return tokens_[index];
  }

  std::vector<DecodingStep> decoding(std::size_t steps) const {
    const auto counts = numbers<std::int32_t>("candidate_counts", steps);
    const auto chosen = numbers<std::int32_t>("chosen", steps);
    const auto entropies = numbers<float>("entropies", steps);
    const auto candidates = tokens("candidates");
    const auto logits = numbers<float>("logits", candidates.size());
    const auto probabilities = numbers<float>("probabilities", candidates.size());
    std::vector<DecodingStep> decoded;
    std::size_t next = 0;
    for (std::size_t i = 0; i < steps; ++i) {
      if (chosen[i] < 0 || chosen[i] >= counts[i] || static_cast<std::size_t>(counts[i]) > candidates.size() - next) {
        throw wrong(fmt::format("decoding step {} chooses candidate {} of {}", i, chosen[i], counts[i]));
      }
      DecodingStep& step = decoded.emplace_back(DecodingStep{{}, chosen[i], entropies[i], {}});
      for (const std::size_t end = next + counts[i]; next < end; ++next) {
        const float p = probabilities[next];  // computed without temperature and truncation
        step.candidates.push_back({candidates[next], logits[next], p, p, p});
      }
    }
    if (next != candidates.size())
      throw wrong(fmt::format("{} candidates belong to no step", candidates.size() - next));
    return decoded;
  }

  AttentionMaps maps(const char* what, AttentionPart part, int rows, int cols) const {
    const auto [layers, heads] = part_size(model_, part);
    if (layers == 0) return {};
    const std::vector<float> values = shaped<float>(what, {layers, heads, rows, cols});
    AttentionMaps read(layers, std::vector<Matrix>(heads, Matrix(rows, cols)));
    auto from = values.begin();
    for (std::vector<Matrix>& layer : read) {
      for (Matrix& map : layer) {
        std::copy_n(from, map.values.size(), map.values.begin());
        from += static_cast<std::ptrdiff_t>(map.values.size());
      }
    }
    return read;
  }

  template <typename Number>
  std::vector<Number> numbers(const char* what, std::size_t count) const {
    return shaped<Number>(what, {static_cast<std::int64_t>(count)});
  }

  template <typename Number>
  std::vector<Number> shaped(const char* what, const std::vector<std::int64_t>& shape) const {
    const TensorBytes& tensor = find(what);
    if (tensor.shape != shape) {
      throw wrong(
          fmt::format("{} has the shape [{}], not [{}]", what, fmt::join(tensor.shape, ", "), fmt::join(shape, ", ")));
    }
    return numbers<Number>(what);
  }

  template <typename Number>
  std::vector<Number> numbers(const char* what) const {
    constexpr Dtype dtype = std::is_same_v<Number, float> ? Dtype::F32 : Dtype::I32;
    const TensorBytes& tensor = find(what);
    if (tensor.dtype != dtype)
      throw wrong(fmt::format("{} is {}, not {}", what, name_of(tensor.dtype), name_of(dtype)));
    std::vector<Number> values(tensor.bytes.size() / sizeof(Number));
    std::ranges::copy(tensor.bytes, reinterpret_cast<char*>(values.data()));
    if constexpr (std::is_same_v<Number, float>) {
      const auto finite = [](float value) { return std::isfinite(value); };
      if (!std::ranges::all_of(values, finite))
        throw wrong(fmt::format("{} contains a value that is not finite", what));
    }
    return values;
  }

  const TensorBytes& find(const char* what) const {
    const auto found = tensors_.find(name_ + '/' + what);
    if (found == tensors_.end()) throw wrong(fmt::format("there is no {}", what));
    return *found->second;
  }

  SafetensorsError wrong(const std::string& reason) const {
    return SafetensorsError(fmt::format("frame {}: {}", name_, reason));
  }

  const ModelConfig& model_;
  std::uint64_t run_;
  std::unordered_map<std::string, const TensorBytes*> tensors_;
  std::vector<Token> tokens_;
  std::string name_;  // of the frame being read
};

}  // namespace

void save_history(const std::filesystem::path& file, const History& history) {
  Safetensors contents;
  TokenList tokens;
  Json sentences = Json::array();
  for (const PinnedSentence& sentence : history.sentences()) {
    Json frames = Json::array();
    for (const Frame& frame : sentence.frames) {
      FrameWriter(contents, tokens, frame_name(sentences.size(), frame->step)).write(*frame);
      frames.push_back(frame_json(*frame));
    }
    sentences.push_back({{"text", sentence.text}, {"frames", std::move(frames)}});
  }
  const Json json = {{"version", history_version}, {"tokens", tokens.list()}, {"sentences", std::move(sentences)}};
  // Typed text may be any bytes; U+FFFD replaces invalid UTF-8, so that the run can be saved.
  contents.metadata[history_key] = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  write_safetensors(file, contents);
}

History load_history(const std::filesystem::path& file, const ModelConfig& model, std::uint64_t run) {
  const Safetensors contents = parse_safetensors(read_file(file, max_history_bytes), file.string());
  try {
    const auto text = contents.metadata.find(history_key);
    if (text == contents.metadata.end()) throw SafetensorsError(fmt::format("there is no \"{}\"", history_key));
    return HistoryReader(contents, model, run).read(text->second);
  } catch (const SafetensorsError& error) {
    throw SafetensorsError(fmt::format("{}: {}", file.string(), error.what()));
  } catch (const JsonTooDeep& error) {
    throw SafetensorsError(fmt::format("{}: {}", file.string(), error.what()));
  } catch (const nlohmann::json::exception& error) {
    throw SafetensorsError(fmt::format("{}: invalid JSON: {}", file.string(), message_of(error)));
  }
}

}  // namespace attnscope
