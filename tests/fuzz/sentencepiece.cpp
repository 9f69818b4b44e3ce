// A SentencePiece model, tried out in another process first: what that lets pass must not end this one.
#include "data/tokenizer/tokenizer.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  fuzz::reading<TokenizerError>([&] {
    const Tokenizer tokenizer{std::string(fuzz::view(data, size))};
    std::vector<int> ids;
    for (const Token& token : tokenizer.encode("The animal didn’t cross 12 streets, été 東京 \xF0\x9F\x98\x80\xFF."))
      ids.push_back(token.id);
    tokenizer.decode(ids);
  });
  return 0;
}
