// Interactive pages (core/files/captures/page.h) of captures, and writing them.
#include "files/captures/page.h"

#include <fmt/format.h>

#include <filesystem>

#include "analysis/curves.h"
#include "commands/commands.h"
#include "commands/paths.h"
#include "commands/say.h"
#include "files/storage/file.h"
#include "messages/messages.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

// A page that is given away does not say where its run was.
std::string file_name(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

}  // namespace

std::string made_by_command(const PageOptions& options) {
  std::string command = fmt::format("attnscope {}: attnscope page", ATTNSCOPE_VERSION);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) command += fmt::format(" {} {}", name, shell_quoted(value));
  };
  add("--run", file_name(options.run));
  add("--capture", file_name(options.capture));
  if (options.step) add("--step", *options.step == best_weights ? "best" : std::to_string(*options.step));
  for (const std::string& source : options.source) add("--source", source);
  add("--corrupted", options.corrupted);
  return command;
}

void write_page(const PageOptions& options, std::vector<PinnedSentence> sentences, CaptureFacts facts) {
  std::size_t left_out = 0;
  sentences = thinned_for_page(std::move(sentences), left_out);
  if (left_out > 0) say("{} recorded steps were left out, so that a browser can show the page", left_out);
  facts.losses = losses_for_page(facts.losses, sentences);
  write_file(options.out, page_html(page_template(), capture_bytes(sentences, facts), {}));
  tell("wrote {}: {} sentence{}; open it in a browser, or in attnscope", options.out, sentences.size(),
      sentences.size() == 1 ? "" : "s");
}

int page_capture(const PageOptions& options) {
  CaptureContents capture = load_capture(options.capture, 1);
  Curves curves;
  for (const MetricPoint& point : capture.losses) curves.append(point);
  write_page(options, std::move(capture.sentences),
             {.labels = {{"made by", made_by_command(options)}}, .losses = curves[metric("loss")].points()});
  return 0;
}

}  // namespace attnscope
