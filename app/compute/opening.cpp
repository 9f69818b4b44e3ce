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

RunOpened open_model(Engine& engine, const std::string& path) {
  return warned(engine.open_model(path));
}

RunOpened open_run(Engine& engine, const std::string& path, ProgressLine& line) {
  RunOpened opened = engine.open_run(path, [&](const Progress& news) { line.show(news.what, news.fraction); });
  line.clear();
  return warned(std::move(opened));
}

}  // namespace attnscope
