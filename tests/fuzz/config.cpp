// config.json of a run.
#include "files/storage/file.h"
#include "files/storage/run_folder.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  const auto path = fuzz::file("config.json", fuzz::view(data, size));
  fuzz::reading<ConfigError, FileError, RunError>([&] {
    const Config config = load_config(path);
    const auto again = fuzz::folder() / "again.json";
    save_config(again, config);
    fuzz::require(load_config(again) == config);
  });
  return 0;
}
