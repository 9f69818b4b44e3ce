// A recap tells whoever comes late what those know who heard everything.
#include "session/recap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "messages/metrics.h"

namespace attnscope {
namespace {

// The state that a viewer reconstructs from events.
struct KnownRun {
  std::string name;
  std::vector<std::int64_t> steps;
  std::map<std::string, std::vector<std::int64_t>> frames;
  Activity activity = Activity::idle;
  std::string example;

  void hear(const RunOpened& opened) {
    name = opened.name;
    example = opened.examples.empty() ? "" : opened.examples[0].source;
    steps.clear();
    frames.clear();
    for (const MetricPoint& point : opened.metrics) steps.push_back(point.step);
    for (const PinnedSentence& sentence : opened.pinned) {
      frames[sentence.text];
      for (const Frame& frame : sentence.frames) frames[sentence.text].push_back(frame->step);
    }
  }
  void hear(const CorpusRead& read) { example = read.examples[0].source; }
  void hear(const MetricPoint& point) { steps.push_back(point.step); }
  void hear(const FrameRecorded& recorded) {
    if (const auto found = frames.find(recorded.frame->source_text); found != frames.end())
      found->second.push_back(recorded.frame->step);
  }
  void hear(const Status& status) { activity = status.activity; }
  bool operator==(const KnownRun&) const = default;
};

struct Listener {
  KnownRun run, other;
  bool comparing = false;

  void hear(const Event& event) {
    if (std::holds_alternative<RunOpened>(event)) comparing = false;
    if (const auto* pinned = std::get_if<SentencePinned>(&event)) {
      run.frames[pinned->text];
      other.frames[pinned->text];
    } else if (const auto* unpinned = std::get_if<SentenceUnpinned>(&event)) {
      run.frames.erase(unpinned->text);
      other.frames.erase(unpinned->text);
    } else if (const auto* of_b = std::get_if<OfRunB>(&event)) {
      comparing = true;
      std::visit([this](const auto& what) { other.hear(what); }, of_b->what);
    } else if (const auto* ended = std::get_if<ComparisonEnded>(&event)) {
      if (ended->stays == RunSide::b) run = other;
      comparing = false;
    } else {
      std::visit(
          [this](const auto& what) {
            if constexpr (requires { run.hear(what); }) run.hear(what);
          },
          event);
    }
  }

  bool knows_the_same(const Listener& late) const {
    return run == late.run && comparing == late.comparing && (!comparing || other == late.other);
  }
};

Status in(Activity activity) {
  Status status;
  status.activity = activity;
  return status;
}

RunOpened named(const std::string& name) {
  RunOpened opened;
  opened.name = name;
  return opened;
}

Event of_b(auto what) {
  OfRunB event;
  event.what = std::move(what);
  return event;
}

// A story that could be: runs open, learn, are pinned and compared.
class Story {
 public:
  explicit Story(unsigned seed) : random_(seed) {}

  Event next() {
    if (!opened_) return open();
    switch (random_() % 12) {
      case 0:
        return random_() % 4 == 0 ? open() : Event(status());
      case 1:
        return SentencePinned{sentence()};
      case 2:
        return SentenceUnpinned{sentence()};
      case 3:
        return FrameRecorded{frame()};
      case 4:
        if (!comparing_) return begin_comparison();
        return of_b(FrameRecorded{frame()});
      case 5:
        if (!comparing_) return begin_comparison();
        return of_b(status());
      case 6:
        if (!comparing_) return point();
        comparing_ = random_() % 3 != 0;
        return comparing_ ? of_b(point()) : Event(ComparisonEnded{random_() % 2 == 0 ? RunSide::a : RunSide::b});
      case 7:
        if (random_() % 2 == 0) return CorpusRead{.examples = {{"of " + std::to_string(++step_), ""}}, .warnings = {}};
        return Message{Severity::info, "of the moment"};
      default:
        return comparing_ && random_() % 2 == 0 ? of_b(point()) : Event(point());
    }
  }

 private:
  std::string sentence() { return std::string(1, static_cast<char>('a' + random_() % 4)); }
  MetricPoint point() {
    MetricPoint made;
    made.step = ++step_;
    made.set(metric("loss"), 1);
    return made;
  }
  Status status() { return in(random_() % 2 == 0 ? Activity::training : Activity::paused); }
  Frame frame() {
    const auto made = std::make_shared<Snapshot>();
    made->source_text = sentence();
    made->step = ++step_;
    return made;
  }
  RunOpened run() {
    RunOpened made = named("run " + std::to_string(++runs_));
    made.metrics = {point(), point()};
    made.pinned = {{sentence(), {}}};
    return made;
  }
  Event open() {
    opened_ = true;
    comparing_ = false;
    return run();
  }
  Event begin_comparison() {
    comparing_ = true;
    return of_b(run());
  }

  std::mt19937 random_;
  std::int64_t step_ = 0;
  int runs_ = 0;
  bool opened_ = false, comparing_ = false;
};

TEST(Recap, WhoHearsItKnowsWhatThoseKnowWhoHeardAll) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Story story(seed);
    Recap recap;
    Listener early;
    for (int told = 0; told < 200; ++told) {
      const Event event = story.next();
      recap.hear(event);
      early.hear(event);
      Listener late;
      for (const Event& again : recap.events()) late.hear(again);
      ASSERT_TRUE(early.knows_the_same(late)) << "seed " << seed << ", event " << told;
    }
  }
}

TEST(Recap, ThereIsNothingToTellBeforeTheFirstRun) {
  Recap recap;
  recap.hear(in(Activity::preparing));
  recap.hear(Progress{"Making the corpus", 0.5});
  EXPECT_TRUE(recap.events().empty());
  recap.hear(named("first"));
  ASSERT_EQ(recap.events().size(), 2U);
  EXPECT_EQ(std::get<Status>(recap.events()[1]).activity, Activity::preparing);
}

}  // namespace
}  // namespace attnscope
