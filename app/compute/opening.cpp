#include "compute/opening.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "commands/say.h"
#include "files/captures/capture.h"
#include "files/storage/safetensors.h"
#include "model/activations.h"

namespace attnscope {
namespace {

RunOpened checked(TorchEngine& engine, const std::string& path, RunOpened opened) {
  check_finite(engine, path);
  for (const std::string& warning : opened.warnings) say("{}", warning);
  return opened;
}

void refuse_capture(const std::string& path) {
  std::error_code ignored;
  if (!is_capture_name(path) || !std::filesystem::is_regular_file(path, ignored)) return;
  if (path.ends_with(capture_extension) && !read_metadata(path).contains("sentences")) return;
  throw std::runtime_error(
      fmt::format("{} is a capture, which has no model. Use --capture {} instead of --run: attnscope attend, heads and "
                  "page read captures",
                  path, path));
}

}  // namespace

void check_finite(TorchEngine& engine, const std::string& path) {
  const std::string found = overflowing(engine.model());
  if (found.empty()) return;
  throw std::runtime_error(
      fmt::format("{}: {} is NaN or infinite at step {}, so nothing can be computed. Continue from an older run with a "
                  "lower learning rate. attnscope tensors --run {} shows every tensor",
                  path, found, engine.steps_done(), path));
}

std::shared_ptr<const Snapshot> forward_pass(TorchEngine& engine, const std::string& text,
                                             std::optional<std::int64_t> step) {
  std::shared_ptr<const Snapshot> newest;
  engine.probe({.text = text, .step = step},
               [&](std::shared_ptr<const Snapshot> latest) { newest = std::move(latest); }, {});
  return newest;
}

RunOpened open_model(TorchEngine& engine, const std::string& path, std::optional<std::int64_t> step) {
  refuse_capture(path);
  RunOpened opened = engine.open_model(path);
  if (step) engine.use_step(opened, *step);
  return checked(engine, path, std::move(opened));
}

RunOpened open_run(TorchEngine& engine, const std::string& path, ProgressLine& line, std::optional<std::int64_t> step) {
  refuse_capture(path);
  RunOpened opened = engine.open_run(path, [&](const Progress& news) { line.show(news.what, news.fraction); });
  if (step) engine.use_step(opened, *step);
  line.clear();
  return checked(engine, path, std::move(opened));
}

RunOpened open_run(TorchEngine& engine, const std::string& path, const std::string& corpus, const std::string& target,
                   ProgressLine& line, std::optional<std::int64_t> step) {
  if (corpus.empty()) return open_run(engine, path, line, step);
  RunOpened opened = open_model(engine, path, step);
  engine.use_corpus(corpus, target, [&](const Progress& news) { line.show(news.what, news.fraction); });
  line.clear();
  return opened;
}

void require_corpus(TorchEngine& engine) {
  const std::string& own = engine.config().corpus.source;
  if (engine.corpus()) return;
  throw CorpusError(own.empty() ? "this model came without a corpus: pass one with --corpus"
                                : fmt::format("the run's corpus, {}, could not be read: pass one with --corpus", own));
}

}  // namespace attnscope
