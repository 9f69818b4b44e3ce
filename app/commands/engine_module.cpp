#include "commands/engine_module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <stdexcept>
#include <string_view>

#include "commands/say.h"
#include "common/module_folder.h"
#include "common/signals.h"

namespace attnscope {
namespace {

std::atomic<const EngineModule*> loaded = nullptr;

std::string advice(const std::string& error) {
  return error.find("libtorch") != std::string::npos || error.find("libc10") != std::string::npos
             ? "install LibTorch: apt install libtorch-dev"
             : "install attnscope again";
}

}  // namespace

const EngineModule& load_engine_module(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    throw std::runtime_error(fmt::format(
        "this installation can only watch other trainings (attnscope attach): it has no {}", file.string()));
  }
  const KeptSignalHandlers kept;
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const std::string reason = ::dlerror();
    throw std::runtime_error(fmt::format("the computing module does not load: {}; {}", reason, advice(reason)));
  }
  const auto get = reinterpret_cast<GetEngineModule>(::dlsym(library, "attnscope_engine"));
  const EngineModule* const module = get ? get() : nullptr;
  const std::string_view version = module ? module->version : "unknown";
  if (version != ATTNSCOPE_VERSION) {
    throw std::runtime_error(
        fmt::format("{} belongs to attnscope {}, but this is attnscope {}: install one version again", file.string(),
                    version, ATTNSCOPE_VERSION));
  }
  return *module;
}

const EngineModule& engine_module() {
  static const EngineModule* const module = &load_engine_module(module_folder() / ATTNSCOPE_ENGINE_FILE);
  loaded = module;
  return *module;
}

int compute_with(const ComputeOptions& options) {
  return engine_module().run(options, quiet);
}

TrainingPause::TrainingPause() : module_(loaded) {
  if (module_) module_->pause_training(true);
}

TrainingPause::~TrainingPause() {
  if (module_) module_->pause_training(false);
}

}  // namespace attnscope
