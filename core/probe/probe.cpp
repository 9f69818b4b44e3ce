#include "probe/probe.h"

#include <algorithm>

#include "decoding/search.h"

namespace attnscope {
namespace {

constexpr std::int64_t num_candidates = 10;
constexpr std::size_t most_bytes_a_piece = 64;  // SentencePiece's pieces have at most 16 characters

// One 1×H×Q×K tensor a layer → [layer][head] matrices.
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

std::shared_ptr<const Matrix> to_matrix(const torch::Tensor& positions) {
  const torch::Tensor host = positions.cpu().contiguous();
  auto matrix = std::make_shared<Matrix>(static_cast<int>(host.size(0)), static_cast<int>(host.size(1)));
  std::copy_n(host.data_ptr<float>(), matrix->values.size(), matrix->values.begin());
  return matrix;
}

torch::Tensor ids_tensor(const std::vector<Token>& tokens, torch::Device device) {
  torch::Tensor ids = torch::empty({1, static_cast<std::int64_t>(tokens.size())}, torch::kInt64);
  auto* out = ids.data_ptr<std::int64_t>();
  for (const Token& token : tokens) *out++ = token.id;
  return ids.to(device);
}

// The best candidates of one step, and `forced` among them even if it is not one of the best.
DecodingStep decoding_step(const torch::Tensor& logits, const Tokenizer& tokenizer, std::optional<int> forced) {
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
    step.candidates.push_back({{id, tokenizer.piece(id)}, logit[id], std::exp(log_probability[id])});
  }
  if (forced) step.chosen = static_cast<int>(std::find(ids.begin(), ids.end(), *forced) - ids.begin());
  step.entropy = -(log_p.exp() * log_p).nan_to_num(0).sum().item<float>();
  return step;
}

// At most max_length pieces with </s>; `truncated` is set when some are cut off.
std::vector<Token> bounded_tokens(const Tokenizer& tokenizer, std::string_view text, std::int64_t max_length,
                                  bool& truncated) {
  // What cannot fit is not even cut into pieces: SentencePiece takes quadratic time over unknown characters.
  const auto room = static_cast<std::size_t>(max_length - 1);
  if (text.size() > room * most_bytes_a_piece) {
    std::size_t end = room * most_bytes_a_piece;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
    text = text.substr(0, end);
    truncated = true;
  }
  std::vector<Token> tokens = tokenizer.encode(text);
  truncated |= tokens.size() > room;
  if (tokens.size() > room) tokens.resize(room);
  tokens.push_back({Tokenizer::eos_id, tokenizer.piece(Tokenizer::eos_id)});
  return tokens;
}

}  // namespace

void look_inside(SequenceModel& model, const Tokenizer& tokenizer, const std::string& text,
                 const std::optional<std::string>& target, const std::function<void(Snapshot)>& publish,
                 const Breath& breathe) {
  const torch::NoGradGuard no_grad;
  const torch::Device device = model.device();
  const std::int64_t max_length = model.config().max_length;
  model.eval();

  Snapshot snapshot;
  snapshot.source_text = text;
  snapshot.source = bounded_tokens(tokenizer, text, max_length, snapshot.truncated);
  if (model.positions().defined()) snapshot.positions = to_matrix(model.positions());
  AttentionRecord record;
  const Memory memory = model.encode(ids_tensor(snapshot.source, device), {}, &record);
  snapshot.encoder = to_maps(record.encoder);
  publish(snapshot);

  std::vector<Token> forced;
  if (target) forced = bounded_tokens(tokenizer, *target, max_length, snapshot.truncated);
  const std::int64_t limit = target ? static_cast<std::int64_t>(forced.size())
                                    : output_limit(model.config(), static_cast<std::int64_t>(snapshot.source.size()));
  Token input{Tokenizer::bos_id, tokenizer.piece(Tokenizer::bos_id)};
  for (std::int64_t length = 0; length < limit && input.id != Tokenizer::eos_id; ++length) {
    if (breathe) breathe();
    model.eval();  // breathing may have trained
    snapshot.target_in.push_back(input);
    record = {};
    const torch::Tensor decoded = model.decode(ids_tensor(snapshot.target_in, device), memory, nullptr, &record);
    const auto next = target ? std::optional(forced[length].id) : std::nullopt;
    snapshot.decoding.push_back(decoding_step(model.logits(decoded.select(1, -1)).squeeze(0), tokenizer, next));
    const DecodingStep& step = snapshot.decoding.back();
    input = step.candidates[step.chosen].token;
    snapshot.target_out.push_back(input);
  }
  snapshot.stopped_at_limit = input.id != Tokenizer::eos_id;
  // The decoder is causal: the last pass over the whole output holds every earlier step's rows.
  snapshot.decoder = to_maps(record.decoder);
  snapshot.cross = to_maps(record.cross);
  std::vector<int> ids;
  for (const Token& token : snapshot.target_out) ids.push_back(token.id);
  snapshot.output_text = tokenizer.decode(ids);
  publish(std::move(snapshot));
}

}  // namespace attnscope
