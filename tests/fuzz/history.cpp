// history.safetensors of a run: of one small model, as the file's own numbers must agree with its model's.
#include "files/storage/history_file.h"

#include "files/storage/file.h"
#include "files/storage/safetensors.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  ModelConfig model;
  model.num_encoder_layers = 1;
  model.num_decoder_layers = 1;
  model.num_heads = 2;
  model.d_model = 8;
  const auto path = fuzz::file("history.safetensors", fuzz::view(data, size));
  fuzz::reading<SafetensorsError, FileError>([&] {
    const History history = load_history(path, model, 1);
    save_history(fuzz::folder() / "again.safetensors", history);
    load_history(fuzz::folder() / "again.safetensors", model, 1);
  });
  return 0;
}
