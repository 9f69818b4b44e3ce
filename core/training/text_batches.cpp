#include "training/text_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "corpus/corpus.h"
#include "corpus/random.h"

namespace attnscope {
namespace {

constexpr std::int64_t lines_a_breath = 256;

std::int64_t characters_of(const std::vector<Token>& tokens) {
  std::int64_t characters = 0;
  for (const Token& token : tokens) characters += num_characters(token.piece);
  return characters;
}

// Adds a line to the stream. SentencePiece may put a space before every text it is given; of a line's passages, those
// behind the first word do begin with one.
void append_line(const Tokenizer& tokenizer, std::string_view line, std::int64_t added_spaces, EncodedText& text) {
  bool begun = false;
  for (const std::string_view passage : passages(line)) {
    const std::vector<Token> tokens = tokenizer.encode(passage);
    if (tokens.empty()) continue;
    for (const Token& token : tokens) text.stream.push_back(token.id);
    const bool own_space = begun && passage.starts_with(' ');
    text.characters += characters_of(tokens) - (own_space ? 0 : added_spaces);
    begun = true;
  }
}

}  // namespace

EncodedText encode_text(const Tokenizer& tokenizer, std::string_view text, const Breath& breathe) {
  const std::int64_t added_spaces = characters_of(tokenizer.encode("a")) - 1;
  EncodedText encoded;
  for (std::int64_t lines = 0; !text.empty(); ++lines) {
    const std::string_view line = text.substr(0, text.find('\n'));
    append_line(tokenizer, line, added_spaces, encoded);
    text.remove_prefix(line.size());
    if (!text.empty()) {
      encoded.stream.push_back(Tokenizer::eos_id);
      ++encoded.characters;
      text.remove_prefix(1);
    }
    if (breathe && lines % lines_a_breath == 0) breathe();
  }
  return encoded;
}

Batch make_batch(std::span<const int> stream, std::span<const std::int64_t> places, std::int64_t length,
                 torch::Device device) {
  const auto rows = static_cast<std::int64_t>(places.size());
  const torch::Tensor text = torch::full({rows, length + 1}, Tokenizer::pad_id, torch::kInt64);
  auto* row = text.data_ptr<std::int64_t>();
  Batch batch;
  for (const std::int64_t place : places) {
    const auto rest = stream.subspan(static_cast<std::size_t>(place));
    const std::int64_t read = std::min(length + 1, static_cast<std::int64_t>(rest.size()));
    std::copy_n(rest.begin(), read, row);
    batch.tokens += read - 1;
    row += length + 1;
  }
  batch.targets = batch.tokens;
  batch.target_in = text.narrow(1, 0, length).contiguous().to(device);
  batch.target_out = text.narrow(1, 1, length).contiguous().to(device);
  return batch;
}

Batch window_batch(std::span<const int> stream, std::int64_t batch_size, std::int64_t length, std::int64_t seed,
                   std::int64_t batch_number, torch::Device device) {
  const auto pieces = static_cast<std::int64_t>(stream.size());
  if (pieces < 2) {
    throw CorpusError(fmt::format("the text to train on has {} pieces, at least 2 are needed", pieces));
  }
  const std::int64_t window = std::min(length, pieces - 1);
  Random random(static_cast<std::int64_t>(lot(std::to_string(batch_number), seed)));
  std::vector<std::int64_t> places(static_cast<std::size_t>(batch_size));
  for (std::int64_t& place : places) {
    place = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(pieces - window)));
  }
  return make_batch(stream, places, window, device);
}

}  // namespace attnscope
