// Weights.
#include "files/storage/safetensors.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  const std::string_view bytes = fuzz::view(data, size);
  fuzz::reading<SafetensorsError>([&] {
    const Safetensors contents = parse_safetensors(bytes);
    fuzz::require(serialize(parse_safetensors(serialize(contents))) == serialize(contents));
    for (const TensorView& view : safetensors_views(bytes, "it"))
      fuzz::require(view.bytes.empty() || (view.bytes.data() >= bytes.data() &&
                                           view.bytes.data() + view.bytes.size() <= bytes.data() + bytes.size()));
  });
  return 0;
}
