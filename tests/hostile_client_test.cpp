// Requests of any client to an engine that trains: answered, or refused with an exception.
#include <gtest/gtest.h>

#include <exception>
#include <variant>

#include "engine/torch_engine.h"
#include "run_fixture.h"
#include "session/remote/permission.h"
#include "wire_fill.h"

namespace attnscope {
namespace {

// Sentences that the model knows, so that what is asked about them is looked at.
void set_sentences(ContrastQuestion& question) {
  question = {"a b c d", "a b e d", {}};
}
void set_sentences(StudyQuestion& asked) {
  std::visit(
      [](auto& question) {
        if constexpr (requires { question.question.clean; }) set_sentences(question.question);
        if constexpr (requires { question.contrasts; }) set_sentences(question.contrasts);
        if constexpr (requires { question.text; }) question.text = "a b c d";
      },
      asked);
}

class HostileClient : public testing::Test {
 protected:
  void SetUp() override {
    engine.reset(tiny_config(), [](const Progress&) {});
    for (int i = 0; i < 3; ++i) engine.train_step({});
    engine.record_weights();
    engine.train_step({});
  }

  template <typename Ask>
  bool is_answered(Ask ask) {
    try {
      ask();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  TorchEngine engine;
  Filler filler{3};
  int answered = 0;
};

TEST_F(HostileClient, AnyLookIsTakenOrRefused) {
  for (int i = 0; i < 400; ++i) {
    Probe probe = filler.made<Probe>();
    if (i % 8 != 0) {
      probe.text = "a b c d";
      probe.options.sampling = {};
    }
    if (!refusal(probe, false))
      answered += is_answered([&] { engine.probe(probe, [](const std::shared_ptr<const Snapshot>&) {}, {}); });
  }
  EXPECT_GT(answered, 50);
}

TEST_F(HostileClient, AnyStudyIsMadeOrRefused) {
  for (int i = 0; i < 150; ++i) {
    StartStudy asked = filler.made<StartStudy>();
    set_sentences(asked.question);
    if (std::holds_alternative<CostQuestion>(asked.question) || refusal(asked, false)) continue;
    answered += is_answered([&] { engine.study(asked, [](double) {}); });
  }
  EXPECT_GT(answered, 20);
}

}  // namespace
}  // namespace attnscope
