#include "commands/desktop/machine.h"

#include <sys/resource.h>

#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "commands/desktop/experiment_files.h"
#include "commands/desktop/lesson_files.h"
#include "commands/desktop/manual_files.h"
#include "commands/engine_module.h"
#include "commands/paths.h"
#include "data/corpus/corpus.h"
#include "window/system_theme.h"

namespace attnscope {
namespace {

constexpr int worker_niceness = 10;

}  // namespace

std::unique_ptr<Engine> make_window_engine(const std::filesystem::path& kept) {
  // Linux: affects the calling thread and its children. If it fails, drawing is only less smooth.
  setpriority(PRIO_PROCESS, 0, worker_niceness);
  return engine_module().make_engine(kept);
}

Facts machine_facts() {
  Facts facts;
  facts.version = ATTNSCOPE_VERSION;
  for (const BuiltIn& corpus : built_in_corpora()) {
    facts.corpora.push_back({std::string(corpus.name), std::string(corpus.description)});
  }
  LessonFiles files = find_lessons();
  facts.lessons = std::move(files.lessons);
  facts.complaints = std::move(files.complaints);
  ExperimentFiles found = find_experiments();
  facts.experiments = std::move(found.experiments);
  facts.complaints.insert(facts.complaints.end(), found.complaints.begin(), found.complaints.end());
  facts.manual = read_manual();
  facts.page = page_template();
  facts.theme = system_theme().value_or(ThemeName::dark);
  std::error_code error;
  if (std::filesystem::is_directory(shipped_run(), error)) facts.shipped_run = shipped_run().string();
  return facts;
}

void add_processor_facts(Facts& facts) {
  const ProcessorFacts processor = engine_module().processor_facts();
  facts.cuda_available = processor.cuda_available;
  facts.processor = processor.processor;
}

void post_commands(AppState& scope, Conversation& session) {
  for (Command& command : scope.commands) session.post(std::move(command));
  scope.commands.clear();
}

void throw_errors(const std::vector<Event>& events) {
  for (const Event& event : events) {
    const auto* message = std::get_if<Message>(&event);
    if (message && message->severity == Severity::error) throw std::runtime_error(message->text);
  }
}

}  // namespace attnscope
