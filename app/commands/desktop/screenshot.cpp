// The screenshot command: the real session opens the run and inspects the sentence, and the real window is drawn
// offscreen.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "commands/commands.h"
#include "commands/desktop/machine.h"
#include "commands/desktop/translations.h"
#include "commands/paths.h"
#include "files/storage/comparison_folder.h"
#include "files/storage/file.h"
#include "files/storage/run_folder.h"
#include "files/storage/run_list.h"
#include "session/session.h"
#include "shell/app_state.h"
#include "shell/comparing.h"
#include "shell/lessons/lessons.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "window/offscreen.h"

namespace attnscope {
namespace {

// Well above the time to open a run of the largest corpus and decode 128 tokens on a slow machine.
constexpr std::chrono::minutes patience{5};
constexpr std::chrono::milliseconds poll_interval{5};

// True if the compared run has been inspected, too.
bool inspected_next_to(const AppState& scope) {
  const Snapshot* seen = (scope.asked.step ? scope.b->inspection : scope.b->complete).snapshot.get();
  return seen && seen->request == scope.asked.request &&
         (!scope.asked.decoding || seen->decodings || seen->model.is_masked_lm());
}

bool inspected_sentence(const AppState& scope) {
  const Shown& seen = scope.asked.step ? scope.a.inspection : scope.a.complete;
  const bool waits = scope.lessons.run_wanted != 0 && scope.a.run.run == scope.lessons.run_wanted;  // for another run
  if (scope.a.run.run == 0 || scope.a.run.corpus_follows || !seen.snapshot || scope.study || waits) return false;
  const Snapshot& snapshot = *seen.snapshot;
  if (scope.b && !inspected_next_to(scope)) return false;
  if (snapshot.captured) return snapshot.source_text == scope.asked.text;
  return snapshot.request == scope.asked.request &&
         (!scope.asked.decoding || snapshot.decodings || snapshot.model.is_masked_lm());
}

// Processes events until the request has been answered.
void hear(AppState& scope, Session& session, const std::string& run) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!inspected_sentence(scope)) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error(fmt::format("{}: no forward pass finished within {} minutes", run, patience.count()));
    }
    std::this_thread::sleep_for(poll_interval);
    Session::News news = session.poll();
    throw_errors(news.events);
    receive(scope, std::move(news.events), std::move(news.snapshot_a), std::move(news.snapshot_b));
    post_commands(scope, session);
  }
  scope.toasts.clear();  // "Opened …" does not belong in a picture
  scope.progress.reset();
}

// Shows the frame recorded nearest to that step.
void show_step(AppState& scope, std::int64_t step) {
  const PinnedSentence* sentence = recorded_sentence(scope);
  if (!sentence) throw std::runtime_error("this sentence was not recorded: pin it with train --pin");
  show_frame(scope, nearest_frame(sentence->frames, static_cast<double>(step)));
}

// A recurrent model has only one attention map, so there are no views to select. Throws std::runtime_error.
void check_view(const Workspace* of_view, const std::string& view, const ModelConfig& model) {
  if (!model.is_recurrent() || of_view != find_workspace("attention") || view == "head") return;
  throw std::runtime_error(
      fmt::format("--view {}: a recurrent model has no layers of heads, only one attention map (--view head)", view));
}

// Draws the window after the inspection, until it makes no more requests.
void draw_until_settled(AppState& scope, Session& session, const ScreenshotOptions& options, const std::string& run) {
  std::uint64_t request = 0;
  do {
    request = scope.asked.request;
    draw_offscreen(scope, options.width, options.height, static_cast<float>(options.scale));
    post_commands(scope, session);
    hear(scope, session, run);
  } while (request != scope.asked.request);
}

// If a run is missing, the same error appears as in the window's comparison dialog.
void show_both(AppState& scope, Session& session, const ScreenshotOptions& options, const std::string& run) {
  const ComparedRuns runs = load_comparison({run});
  for (const std::filesystem::path& each : {runs.a, runs.b}) check_is_run(each);
  while (!scope.b) {
    Session::News news = session.poll();
    throw_errors(news.events);
    receive(scope, std::move(news.events), std::move(news.snapshot_a), std::move(news.snapshot_b));
    std::this_thread::sleep_for(poll_interval);
  }
  const auto side = std::ranges::find(side_names, options.side);
  show_side(scope, static_cast<DisplayedSide>(side - side_names.begin()));
  post_commands(scope, session);
  hear(scope, session, run);
}

// A training step takes time.
void wait_for_step(AppState& scope, Session& session, const ScreenshotOptions& options, const std::string& run,
                   std::size_t step) {
  constexpr std::chrono::seconds between_inspections{2};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const auto is_busy = [&] {
    return scope.a.status.activity == Activity::training || scope.a.status.activity == Activity::preparing;
  };
  do {
    std::this_thread::sleep_for(between_inspections);
    Session::News news = session.poll();
    throw_errors(news.events);
    receive(scope, std::move(news.events), std::move(news.snapshot_a), std::move(news.snapshot_b));
    draw_until_settled(scope, session, options, run);
  } while (next_step(scope) == step && is_busy() && std::chrono::steady_clock::now() < deadline);
}

bool is_handout(const ScreenshotOptions& options) {
  return options.out.ends_with(".html");
}

// Goes to the requested part of the lesson, for a handout to the check; performs the reader's earlier steps.
void take_lesson(AppState& scope, Session& session, const ScreenshotOptions& options, const std::string& run) {
  const auto lesson = std::ranges::find(scope.facts.lessons, options.lesson, &Lesson::name);
  if (lesson == scope.facts.lessons.end())
    throw std::runtime_error(fmt::format("there is no lesson \"{}\": attnscope lessons lists them", options.lesson));
  scope.facts.shipped_run = "";  // the lesson uses the requested run
  begin_lesson(scope, static_cast<std::size_t>(lesson - scope.facts.lessons.begin()));
  draw_until_settled(scope, session, options, run);
  const int part = is_handout(options) ? std::max(4, options.part) : options.part;
  show_part(scope, LessonPart::touch);
  for (std::size_t step = 0; part > 3 && step < lesson->steps.size(); ++step) {
    draw_until_settled(scope, session, options, run);
    if (next_step(scope) == step) do_step(scope, step);
    draw_until_settled(scope, session, options, run);
    draw_until_settled(scope, session, options, run);
    if (lesson->run) wait_for_step(scope, session, options, run, step);
  }
  show_part(scope, static_cast<LessonPart>(part - 1));
  draw_until_settled(scope, session, options, run);
}

}  // namespace

int screenshot(const ScreenshotOptions& options) {
  const bool lists = has_runs(options.run) && !is_run(options.run) && !is_comparison(options.run);
  const std::string run = options.run.empty() || lists ? shipped_run().string() : options.run;
  AppState scope;
  scope.facts = machine_facts();
  add_processor_facts(scope.facts);
  scope.translations = find_translations();
  if (!options.language.empty())
    scope.layout.language =
        static_cast<Language>(std::ranges::find(language_codes, options.language) - language_codes.begin());
  speak_language(scope);
  // Names were validated on entry; a view selects its workspace.
  const Workspace* of_view = show_view(scope.views, options.view);
  scope.layout.workspace = of_view ? of_view : find_workspace(options.workspace);
  scope.presentation = options.presentation;
  scope.layout.theme = theme_from(options.theme);
  const auto density = std::ranges::find(density_names(), options.density);
  set_density(scope.layout, static_cast<Density>(density - density_names().begin()));
  if (lists) receive(scope, {list_runs(options.run)}, nullptr);
  if (!options.source.empty()) scope.layout.sentence = options.source;
  scope.reference = options.reference;
  {
    std::uint64_t seen = 0, studies = 0;
    Session session([] { return make_window_engine(); });
    session.post(OpenRun{.path = run, .step = options.step});
    hear(scope, session, run);
    if (is_comparison(run)) show_both(scope, session, options, run);
    check_view(of_view, options.view, scope.a.run.config.model);
    if (options.pin_step) show_step(scope, *options.pin_step);
    // A frame selects what to show of the sentence, which may request another inspection, or a study followed by
    // another.
    do {
      draw_offscreen(scope, options.width, options.height, static_cast<float>(options.scale));
      studies = scope.studies - std::exchange(seen, scope.studies);
      post_commands(scope, session);
      hear(scope, session, run);
    } while (studies > 0);
    if (!options.lesson.empty()) take_lesson(scope, session, options, run);
  }
  const auto scale = static_cast<float>(options.scale);
  const bool handout = is_handout(options), vector = options.svg || options.out.ends_with(".svg");
  const PictureOrder order{.vector = true, .handout = handout, .whole_window = !handout};
  write_file(options.out, handout || vector ? draw_offscreen_as(scope, order, options.width, options.height, scale)
                                            : png_bytes(draw_offscreen(scope, options.width, options.height, scale)));
  return 0;
}

}  // namespace attnscope
