#include "probe/probe.h"

#include <algorithm>
#include <span>
#include <utility>

#include "decoding/continuation.h"
#include "decoding/search.h"

namespace attnscope {
namespace {

constexpr std::int64_t num_candidates = 10;
constexpr std::size_t most_bytes_a_piece = 64;     // SentencePiece's pieces have at most 16 characters
constexpr std::int64_t longest_continuation = 48;  // pieces written after a prompt
constexpr const char* line_end = "\u23CE";         // how a language model's </s> is shown: ⏎

// Which part of a text that is too long is looked at.
enum class Keep { beginning, end };

std::shared_ptr<const std::vector<PositionTable>> position_tables(SequenceModel& model) {
  auto tables = std::make_shared<std::vector<PositionTable>>();
  for (const PositionTensor& tensor : model.positions()) {
    const torch::Tensor host = tensor.values.to(torch::kCPU, torch::kFloat32).contiguous();
    PositionTable& table = tables->emplace_back();
    table.name = tensor.name;
    table.first = static_cast<int>(tensor.first);
    table.values = Matrix(static_cast<int>(host.size(0)), static_cast<int>(host.size(1)));
    std::copy_n(host.data_ptr<float>(), table.values.values.size(), table.values.values.begin());
  }
  return tables;
}

torch::Tensor ids_tensor(const std::vector<Token>& tokens, torch::Device device) {
  torch::Tensor ids = torch::empty({1, static_cast<std::int64_t>(tokens.size())}, torch::kInt64);
  auto* out = ids.data_ptr<std::int64_t>();
  for (const Token& token : tokens) *out++ = token.id;
  return ids.to(device);
}

Token token_of(int id, const Tokenizer& tokenizer, const ModelConfig& model) {
  return {id, model.is_language_model() && id == Tokenizer::eos_id ? line_end : tokenizer.piece(id)};
}

// The best candidates of one step, and `forced` among them even if it is not one of the best.
DecodingStep decoding_step(const torch::Tensor& logits, const Tokenizer& tokenizer, const ModelConfig& model,
                           std::optional<int> forced) {
  const torch::Tensor host = logits.to(torch::kCPU, torch::kFloat32).contiguous();  // V
  const torch::Tensor log_p = torch::log_softmax(host, 0);
  const torch::Tensor best = std::get<1>(host.topk(std::min(num_candidates, host.size(0))));
  std::vector<int> ids;
  for (std::int64_t rank = 0; rank < best.size(0); ++rank)
    ids.push_back(static_cast<int>(best[rank].item<std::int64_t>()));
  if (forced && std::find(ids.begin(), ids.end(), *forced) == ids.end()) ids.push_back(*forced);

  DecodingStep step;
  const auto* logit = host.data_ptr<float>();
  const auto* log_probability = log_p.data_ptr<float>();
  for (const int id : ids) {
    step.candidates.push_back({token_of(id, tokenizer, model), logit[id], std::exp(log_probability[id])});
  }
  if (forced) step.chosen = static_cast<int>(std::find(ids.begin(), ids.end(), *forced) - ids.begin());
  step.entropy = -(log_p.exp() * log_p).nan_to_num(0).sum().item<float>();
  return step;
}

std::string_view bounded_text(std::string_view text, std::size_t room, Keep keep, bool& truncated) {
  // What cannot fit is not even cut into pieces: SentencePiece takes quadratic time over unknown characters.
  const std::size_t most = room * most_bytes_a_piece;
  if (text.size() <= most) return text;
  truncated = true;
  const auto inside_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
  std::size_t cut = keep == Keep::beginning ? most : text.size() - most;
  while (cut > 0 && inside_character(cut)) --cut;
  return keep == Keep::beginning ? text.substr(0, cut) : text.substr(cut);
}

// At most `room` pieces; `truncated` is set when some are cut off.
std::vector<Token> bounded_tokens(const Tokenizer& tokenizer, std::string_view text, std::int64_t room, Keep keep,
                                  bool& truncated) {
  const auto most = static_cast<std::size_t>(room);
  std::vector<Token> tokens = tokenizer.encode(bounded_text(text, most, keep, truncated));
  if (tokens.size() <= most) return tokens;
  truncated = true;
  const auto cut = static_cast<std::ptrdiff_t>(keep == Keep::beginning ? most : tokens.size() - most);
  if (keep == Keep::beginning) return {tokens.begin(), tokens.begin() + cut};
  return {tokens.begin() + cut, tokens.end()};
}

// What the decoder reads and writes, before any of it is known to the model.
struct Course {
  std::vector<Token> inputs;  // known from the start; at least one
  std::vector<Token> given;   // outputs to follow instead of the model's own; the inputs' successors and maybe more
  std::int64_t limit = 0;     // inputs at most
  bool ends = true;           // at </s>
};

Course translation(const SequenceModel& model, const Tokenizer& tokenizer, const std::optional<std::string>& target,
                   Snapshot& snapshot) {
  Course course;
  course.inputs = {{Tokenizer::bos_id, tokenizer.piece(Tokenizer::bos_id)}};
  course.limit = output_limit(model.config(), static_cast<std::int64_t>(snapshot.source.size()));
  if (!target) return course;
  const Token end{Tokenizer::eos_id, tokenizer.piece(Tokenizer::eos_id)};
  const std::int64_t room = model.config().max_length - 1;
  course.given = bounded_tokens(tokenizer, *target, room, Keep::beginning, snapshot.truncated);
  course.inputs.insert(course.inputs.end(), course.given.begin(), course.given.end());
  course.given.push_back(end);
  course.limit = static_cast<std::int64_t>(course.given.size());
  return course;
}

// The prompt's end matters most to what follows, so that is what is kept, with room for a continuation.
Course continuation(const SequenceModel& model, const Tokenizer& tokenizer, const std::optional<std::string>& target,
                    Snapshot& snapshot) {
  const std::int64_t context = model.config().max_length;
  const std::int64_t room_to_write = target ? 0 : std::min(longest_continuation, context / 2);
  Course course;
  course.ends = false;
  course.inputs = bounded_tokens(tokenizer, snapshot.source_text + target.value_or(""), context - room_to_write,
                                 Keep::end, snapshot.truncated);
  if (course.inputs.empty()) course.inputs.push_back(token_of(Tokenizer::eos_id, tokenizer, model.config()));
  course.given.assign(course.inputs.begin() + 1, course.inputs.end());
  course.limit = target ? static_cast<std::int64_t>(course.inputs.size())
                        : std::min(context, static_cast<std::int64_t>(course.given.size()) + longest_continuation);
  return course;
}

// Lets the decoder write: all known inputs in one pass, from then on one piece at a time.
void follow(const Course& course, SequenceModel& model, const Tokenizer& tokenizer, const Memory& memory,
            Snapshot& snapshot, const Breath& breathe) {
  DecoderCache cache;
  std::vector<Token> block = course.inputs;
  bool ended = false;
  while (!ended && static_cast<std::int64_t>(snapshot.decoding.size()) < course.limit) {
    if (breathe) breathe();
    model.eval();  // breathing may have trained
    model.eval();  // breathing may have trained
    const torch::Tensor features = model.decode(ids_tensor(block, model.device()), memory, &cache);  // 1×n×D
    const torch::Tensor logits = model.logits(features).squeeze(0);                                  // n×V
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
      const std::size_t step = snapshot.decoding.size();
      const auto next = step < course.given.size() ? std::optional(course.given[step].id) : std::nullopt;
      snapshot.decoding.push_back(decoding_step(logits[i], tokenizer, model.config(), next));
      const DecodingStep& decided = snapshot.decoding.back();
      snapshot.target_out.push_back(decided.candidates[decided.chosen].token);
    }
    ended = course.ends && snapshot.target_out.back().id == Tokenizer::eos_id;
    block = {snapshot.target_out.back()};
  }
  snapshot.target_in = course.inputs;
  snapshot.target_in.insert(snapshot.target_in.end(), snapshot.target_out.begin() + course.inputs.size() - 1,
                            snapshot.target_out.end() - 1);
  snapshot.stopped_at_limit = !ended;
}

std::vector<int> ids_of(std::span<const Token> tokens) {
  std::vector<int> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

// After a prompt, only what follows it.
std::string written_text(const Snapshot& snapshot, const Tokenizer& tokenizer) {
  if (!snapshot.model.is_language_model()) return tokenizer.decode(ids_of(snapshot.target_out));
  const std::vector<int> prompt = ids_of(snapshot.typed());
  std::vector<int> written = ids_of(std::span(snapshot.target_in).subspan(prompt.size()));
  written.push_back(snapshot.target_out.back().id);
  return continued_text(tokenizer, prompt, written);
}

}  // namespace

AttentionMaps to_maps(const AttentionWeights& weights) {
  AttentionMaps maps;
  for (const torch::Tensor& layer : weights) {
    const torch::Tensor heads = layer.squeeze(0).to(torch::kCPU, torch::kFloat32).contiguous();  // H×Q×K
    auto& row = maps.emplace_back();
    for (std::int64_t head = 0; head < heads.size(0); ++head) {
      Matrix& map = row.emplace_back(static_cast<int>(heads.size(1)), static_cast<int>(heads.size(2)));
      std::copy_n(heads[head].data_ptr<float>(), map.values.size(), map.values.begin());
    }
  }
  return maps;
}

void look_inside(SequenceModel& model, const Tokenizer& tokenizer, const std::string& text,
                 const std::optional<std::string>& target, const std::function<void(Snapshot)>& publish,
                 const Breath& breathe) {
  const torch::NoGradGuard no_grad;
  model.eval();

  Snapshot snapshot;
  snapshot.model = model.config();
  snapshot.source_text = text;
  snapshot.positions = position_tables(model);
  Inspection record;
  Memory memory;
  Course course;
  if (model.config().is_language_model()) {
    course = continuation(model, tokenizer, target, snapshot);
    snapshot.target_in = course.inputs;
  } else {
    snapshot.source =
        bounded_tokens(tokenizer, text, model.config().max_length - 1, Keep::beginning, snapshot.truncated);
    snapshot.source.push_back({Tokenizer::eos_id, tokenizer.piece(Tokenizer::eos_id)});
    course = translation(model, tokenizer, target, snapshot);
    memory = model.encode(ids_tensor(snapshot.source, model.device()), {}, &record);
    snapshot.encoder = to_maps(record.encoder);
  }
  snapshot.forced = course.given.size();
  publish(snapshot);

  follow(course, model, tokenizer, memory, snapshot, breathe);
  // The decoder is causal: one pass over the whole output holds every step's rows.
  model.decode(ids_tensor(snapshot.target_in, model.device()), memory, nullptr, &record);
  snapshot.decoder = to_maps(record.decoder);
  snapshot.cross = to_maps(record.cross);
  snapshot.output_text = written_text(snapshot, tokenizer);
  publish(std::move(snapshot));
}

}  // namespace attnscope
