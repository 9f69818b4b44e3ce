// Another program's folder: config.json, then, after a NUL each, generation_config.json and the index of its shards.
#include "files/checkpoints/checkpoint.h"

#include "files/storage/file.h"
#include "fuzz.h"

namespace {

std::string_view next_part(std::string_view& bytes) {
  const std::size_t end = bytes.find('\0');
  const std::string_view part = bytes.substr(0, end);
  bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  std::string_view bytes = fuzz::view(data, size);
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors.index.json"})
    fuzz::file(name, next_part(bytes));
  is_checkpoint(fuzz::folder());
  fuzz::reading<CheckpointError, FileError>([&] {
    const CheckpointPlan plan = plan_checkpoint(fuzz::folder());
    check(plan.config);
    fuzz::require(!plan.tensors.empty());
  });
  fuzz::reading<CheckpointError, FileError, SafetensorsError>([&] { CheckpointTensors tensors(fuzz::folder()); });
  return 0;
}
