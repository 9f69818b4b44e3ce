#include "compute/opening.h"

#include <utility>

#include "commands/say.h"

namespace attnscope {
namespace {

RunOpened warned(RunOpened opened) {
  for (const std::string& warning : opened.warnings) say("{}", warning);
  return opened;
}

}  // namespace

RunOpened open_model(Engine& engine, const std::string& path, std::optional<std::int64_t> step) {
  RunOpened opened = engine.open_model(path);
  if (step) engine.use_step(opened, *step);
  return warned(std::move(opened));
}

RunOpened open_run(Engine& engine, const std::string& path, ProgressLine& line, std::optional<std::int64_t> step) {
  RunOpened opened = engine.open_run(path, [&](const Progress& news) { line.show(news.what, news.fraction); });
  if (step) engine.use_step(opened, *step);
  line.clear();
  return warned(std::move(opened));
}

}  // namespace attnscope
