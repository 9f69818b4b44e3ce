// A look's own numbers of one head, through the stages that the window shows, are the model's.
#include <gmock/gmock.h>

#include "analysis/head_stages.h"
#include "inspect/probe/inspect_model.h"
#include "model_fixture.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

class InsideProbe : public testing::TestWithParam<const char*> {
 protected:
  InsideProbe() {
    ModelConfig config = small_config();
    config.positions = GetParam();
    torch::manual_seed(5);
    model = make_model(config, tokenizer().vocab_size());
    stir(*model);
    model->freeze();
  }

  Snapshot inspect(const HeadPlace& place, const Interventions& interventions = {}) {
    Snapshot last;
    const Probe probe{.text = "the cat sat", .interventions = interventions, .inside = place};
    inspect_model(*model, tokenizer(), probe, [&](Snapshot snapshot) { last = std::move(snapshot); }, {});
    return last;
  }

  // Weights and output of the stages against the look's maps and the sublayer's own output.
  void expect_agreement(const Snapshot& snapshot, const HeadPlace& place) {
    ASSERT_TRUE(snapshot.inside);
    const HeadInside& head = *snapshot.inside;
    const HeadStages stages = head_stages(head, head.scaled, model_mask(head), snapshot.interventions);
    const Matrix& map =
        maps_of(snapshot, place.part)[static_cast<std::size_t>(place.layer)][static_cast<std::size_t>(place.head)];
    EXPECT_LE(difference(stages.weights, map), rounding);
    EXPECT_LE(difference(side_by_side(head, stages.output), head.heads_output), rounding);
    EXPECT_LE(difference(projected(head, stages.output), head.output), rounding);
  }

  Model model{nullptr};
};

constexpr std::array places = {HeadPlace{AttentionPart::encoder, 0, 1}, HeadPlace{AttentionPart::decoder, 1, 3},
                               HeadPlace{AttentionPart::cross, 1, 0}};

TEST_P(InsideProbe, TheStagesAreTheModelsOwn) {
  for (const HeadPlace& place : places) expect_agreement(inspect(place), place);
}

TEST_P(InsideProbe, TheyAreWithChangesToo) {
  for (const HeadPlace& place : places) {
    Interventions interventions;
    interventions.forced = {{place, 2, 1}};
    expect_agreement(inspect(place, interventions), place);
    interventions.heads_off = {place};
    expect_agreement(inspect(place, interventions), place);
    interventions.other_scale = true;
    const Snapshot undivided = inspect(place, interventions);
    expect_agreement(undivided, place);
    EXPECT_FALSE(undivided.inside->scaled);
  }
}

INSTANTIATE_TEST_SUITE_P(Positions, InsideProbe,
                         testing::Values("sinusoidal", "learned", "rope", "shaw", "t5", "alibi", "none"));

}  // namespace
}  // namespace attnscope
