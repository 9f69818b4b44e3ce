#include "model/kernels/processor.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace attnscope {

namespace baseline {
extern const Loops loops;
}
#ifdef __x86_64__
namespace avx2 {
extern const Loops loops;
}
namespace avx512 {
extern const Loops loops;
}
#endif

namespace kernels {
namespace {

const Loops& loops_of([[maybe_unused]] Level level) {
#ifdef __x86_64__
  if (level == Level::avx512) return avx512::loops;
  if (level == Level::avx2) return avx2::loops;
#endif
  return baseline::loops;
}

struct LevelNames {
  std::string_view name, text;
};

LevelNames names_of(Level level) {
  switch (level) {
    case Level::baseline:
      return {"baseline", "baseline"};
    case Level::avx2:
      return {"avx2", "AVX2"};
    case Level::avx512:
      return {"avx512", "AVX-512"};
  }
  return {};
}

Level first_level() {
  const char* wanted = std::getenv("ATTNSCOPE_LEVEL");
  if (!wanted || *wanted == '\0') return levels().back();
  for (const Level level : levels()) {
    if (level_name(level) == wanted) return level;
  }
  throw std::runtime_error(
      fmt::format("ATTNSCOPE_LEVEL is \"{}\": use baseline, avx2 or avx512, if the processor supports it", wanted));
}

std::atomic<Level>& level_in_use() {
  static std::atomic<Level> level = first_level();
  return level;
}

}  // namespace

std::vector<Level> levels() {
  std::vector<Level> levels = {Level::baseline};
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v3")) levels.push_back(Level::avx2);
  if (__builtin_cpu_supports("x86-64-v4")) levels.push_back(Level::avx512);
#endif
  return levels;
}

Level level() {
  return level_in_use().load(std::memory_order_relaxed);
}

void hold_to(Level level) {
  level_in_use().store(level, std::memory_order_relaxed);
}

std::string_view level_name(Level level) {
  return names_of(level).name;
}

std::string_view level_text(Level level) {
  return names_of(level).text;
}

const Loops& loops() {
  return loops_of(level());
}

}  // namespace kernels
}  // namespace attnscope
