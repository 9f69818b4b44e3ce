// A direction that is added to the residual stream.
#include <gmock/gmock.h>

#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"
#include "model/inspection.h"
#include "model_fixture.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

class SteeringTest : public testing::Test {
 protected:
  SteeringTest() {
    torch::manual_seed(5);
    model = make_model(small_config(), tokenizer().vocab_size());
    stir(*model);
    model->freeze();
  }

  Snapshot inspect(std::vector<Steering> steered) {
    Snapshot last;
    Probe probe{.text = "the cat sat"};
    probe.interventions.steered = std::move(steered);
    inspect_model(*model, tokenizer(), probe, [&](Snapshot snapshot) { last = std::move(snapshot); }, {});
    return last;
  }

  // Of the encoder's last layer, which reads the steered stream.
  static double largest_change(const Snapshot& a, const Snapshot& b) {
    double change = 0;
    for (std::size_t head = 0; head < a.encoder.back().size(); ++head)
      change = std::max(change, difference(a.encoder.back()[head], b.encoder.back()[head]));
    return change;
  }

  Model model{nullptr};
};

TEST_F(SteeringTest, ChangesWhatFollowsTheLayer) {
  const Snapshot plain = inspect({});
  const Snapshot steered = inspect({{.place = {false, 0}, .plus = "cat", .minus = "dog", .factor = 8}});
  EXPECT_GT(largest_change(plain, steered), 1e-3);
  EXPECT_LE(difference(plain.encoder.front()[0], steered.encoder.front()[0]), 1e-6) << "not what is before it";
  ASSERT_TRUE(steered.untouched);
  EXPECT_LE(largest_change(plain, *steered.untouched), 1e-6);
  EXPECT_EQ(std::ssize(steered.interventions.steered.front().direction), model->config().d_model);
}

TEST_F(SteeringTest, ByADirectionAndItsNegativeCancels) {
  const Snapshot plain = inspect({});
  const Steering there{.place = {false, 0}, .plus = "cat", .minus = "dog", .factor = 8};
  Steering back = there;
  back.factor = -8;
  EXPECT_LE(largest_change(plain, inspect({there, back})), 1e-4);
  Steering other{.place = {false, 0}, .plus = "dog", .minus = "cat", .factor = 8};
  EXPECT_LE(largest_change(plain, inspect({there, other})), 1e-4);
  Steering none = there;
  none.factor = 0;
  EXPECT_LE(largest_change(plain, inspect({none})), 1e-6);
}

TEST_F(SteeringTest, IgnoresPlacesThatTheModelDoesNotHave) {
  const Snapshot plain = inspect({});
  for (const LayerPlace& place : {LayerPlace{false, 99}, LayerPlace{false, -1}, LayerPlace{true, 0}}) {
    const Snapshot steered = inspect({{.place = place, .plus = "cat", .factor = 8}});
    EXPECT_TRUE(steered.interventions.steered.empty());
    EXPECT_LE(largest_change(plain, steered), 1e-6);
  }
}

// The direction is the difference of the texts' states, and the stream after the layer is moved by it.
TEST_F(SteeringTest, AddsTheDifferenceOfTheStates) {
  Inspection before{.states_wanted = true}, after{.states_wanted = true};
  Interventions interventions;
  interventions.steered = {{.place = {false, 0},
                            .factor = 2,
                            .direction = std::vector<float>(static_cast<std::size_t>(model->config().d_model), 0.5F)}};
  after.interventions = &interventions;
  const torch::Tensor ids = ids_tensor(std::vector<int>{5, 6, 7, 2}, torch::kCPU);
  model->encode(ids, {}, &before);
  model->encode(ids, {}, &after);
  EXPECT_LE((after.states[1] - before.states[1] - 1).abs().max().item<float>(), 1e-5F);
}

// A neuron's direction is added in any stack, as it is given.
TEST_F(SteeringTest, AddsADirectionThatIsGiven) {
  const auto width = static_cast<std::size_t>(model->config().d_model);
  const Snapshot plain = inspect({});
  Steering given{.place = {false, 0}, .plus = "neuron 3", .factor = 2, .direction = std::vector<float>(width, 0)};
  given.direction.front() = 40;
  given.is_given = true;
  const Snapshot steered = inspect({given});
  EXPECT_GT(largest_change(plain, steered), 1e-3);
  EXPECT_EQ(steered.interventions.steered, std::vector{given}) << "not computed from the name";
  Steering back = given;
  back.factor = -2;
  EXPECT_LE(largest_change(plain, inspect({given, back})), 1e-4);
  given.place.decoder = true;
  EXPECT_EQ(inspect({given}).interventions.steered.size(), 1U);
  given.direction.pop_back();
  EXPECT_TRUE(inspect({given}).interventions.steered.empty()) << "of another width";
}

}  // namespace
}  // namespace attnscope
