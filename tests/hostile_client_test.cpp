// Requests of any client to an engine that trains: answered, or refused with an exception.
#include <gmock/gmock.h>

#include <exception>
#include <limits>
#include <variant>

#include "engine/torch_engine.h"
#include "messages/overrides.h"
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

std::string why_refused(const Command& command) {
  const std::optional<Message> message = refusal(command, false);
  return message ? message->text : "";
}

TEST(Permission, RefusesSteeringAndDictionariesBeyondTheirLimits) {
  const auto steered = [](float factor, std::size_t layers = 1) {
    Probe probe{.text = "a b"};
    probe.interventions.steered.assign(layers, Steering{{}, "a", "b", factor});
    return why_refused(probe);
  };
  EXPECT_EQ(steered(largest_steering), "");
  EXPECT_THAT(steered(2 * largest_steering), testing::HasSubstr("a steering factor of 2000; allowed: -1000 to 1000"));
  EXPECT_THAT(steered(std::numeric_limits<float>::quiet_NaN()), testing::HasSubstr("a steering factor of nan"));
  EXPECT_THAT(steered(1, 33), testing::HasSubstr("33 steered layers; allowed: up to 32"));
  Probe probe;
  probe.interventions.steered = {{.place = {}, .direction = {1, 2}, .is_given = true}};
  EXPECT_EQ(why_refused(probe), "");
  probe.interventions.steered.front().direction.back() = std::numeric_limits<float>::infinity();
  EXPECT_THAT(why_refused(probe), testing::HasSubstr("a direction of 2 numbers; allowed: up to 65536, all finite"));
  const auto dictionary = [](const DictionaryOptions& options) {
    return why_refused(StartStudy{.question = NeuronsQuestion{.dictionary = options}});
  };
  EXPECT_EQ(dictionary({}), "");
  EXPECT_THAT(dictionary({.l1 = -1}), testing::HasSubstr("an L1 coefficient of -1; allowed: 0 to"));
  EXPECT_THAT(dictionary({.width = 1 << 20}), testing::HasSubstr("a dictionary of 1048576 × d_model features"));
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
