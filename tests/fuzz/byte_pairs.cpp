// GPT-2's tokenizer: vocab.json, merges.txt and a text to cut, with a NUL between each and the next.
#include "data/tokenizer/families.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  const std::string_view bytes = fuzz::view(data, size);
  const std::size_t first = bytes.find('\0');
  const std::size_t second = first == std::string_view::npos ? first : bytes.find('\0', first + 1);
  if (second == std::string_view::npos) return 0;
  const TokenizerFiles files = {{"vocab.json", std::string(bytes.substr(0, first))},
                                {"merges.txt", std::string(bytes.substr(first + 1, second - first - 1))}};
  fuzz::reading<TokenizerError>([&] {
    const Tokenizer tokenizer = make_tokenizer("gpt2", files, SpecialTokens(), 512);
    std::vector<int> ids;
    for (const Token& token : tokenizer.encode(bytes.substr(second + 1))) {
      fuzz::require(token.id >= 0 && token.id < tokenizer.vocab_size());
      ids.push_back(token.id);
    }
    tokenizer.decode(ids);
  });
  return 0;
}
