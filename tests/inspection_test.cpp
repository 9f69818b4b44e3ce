// Recorded activations agree with the forward pass, and interventions change what they should.
#include "model/inspection.h"

#include <gmock/gmock.h>

#include "analysis/head_stages.h"
#include "inspect/probe/tensors.h"
#include "model_fixture.h"

namespace attnscope {
namespace {

class InspectionTest : public testing::TestWithParam<const char*> {
 protected:
  torch::NoGradGuard no_grad;
  Model model = make();
  torch::Tensor source = random_ids(1, 6);
  torch::Tensor target = random_ids(1, 5);
  Interventions interventions;

  static Model make() {
    ModelConfig config = small_config();
    config.positions = GetParam();
    const Model made = seeded_model(config);
    stir(*made);
    made->freeze();
    return made;
  }

  torch::Tensor logits(Inspection& inspection) {
    return model->logits(model->decode(target, model->encode(source, {}, &inspection), nullptr, &inspection));
  }

  torch::Tensor changed_logits() {
    Inspection inspection;
    inspection.interventions = &interventions;
    return logits(inspection);
  }

  torch::Tensor plain_logits() {
    Inspection inspection;
    return logits(inspection);
  }

  HeadInside inside(const HeadTensors& tensors, const HeadPlace& place) const { return to_head_inside(tensors, place); }
};

TEST_P(InspectionTest, LookingChangesNothing) {
  Inspection inspection;
  inspection.sublayers_wanted = inspection.hidden_wanted = true;
  inspection.head_wanted = HeadPlace{AttentionPart::cross, 1, 2};
  EXPECT_EQ(difference(logits(inspection), model->logits(model->decode(target, model->encode(source, {})))), 0);
}

TEST_P(InspectionTest, AHeadThatIsOffIsOneWhoseRowsOfTheOutputMatrixAreZero) {
  struct Case {
    HeadPlace place;
    const char* name;
  };
  for (const auto& [place, name] :
       {Case{{AttentionPart::encoder, 1, 2}, "encoder.layers.1.self_attn.out_proj.weight"},
        Case{{AttentionPart::decoder, 0, 1}, "decoder.layers.0.self_attn.out_proj.weight"},
        Case{{AttentionPart::cross, 1, 3}, "decoder.layers.1.multihead_attn.out_proj.weight"}}) {
    interventions = {};
    interventions.heads_off = {place};
    const torch::Tensor off = changed_logits();
    torch::Tensor weight = model->named_parameters()[name];
    const torch::Tensor before = weight.clone();
    weight.slice(1, place.head * 8, place.head * 8 + 8).zero_();  // out_proj.weight is W_Oᵀ: its columns
    EXPECT_LE(difference(off, plain_logits()), rounding) << name;
    weight.copy_(before);
    EXPECT_GT(difference(off, plain_logits()), 1e-3) << name;
  }
}

TEST_P(InspectionTest, ForcedAttentionIsAllOnOneKey) {
  interventions.forced = {{{AttentionPart::encoder, 0, 1}, 2, 4}};
  Inspection inspection;
  inspection.interventions = &interventions;
  const torch::Tensor forced = logits(inspection);
  const torch::Tensor row = inspection.encoder[0][0][1][2];
  EXPECT_EQ(row[4].item<float>(), 1);
  EXPECT_EQ(row.sum().item<float>(), 1);
  EXPECT_GT(difference(forced, plain_logits()), 1e-4);
}

TEST_P(InspectionTest, KeysThatAreHiddenLeaveTheSoftmaxOfTheOthers) {
  const HeadPlace place{AttentionPart::encoder, 0, 1};
  Inspection plain;
  logits(plain);
  const torch::Tensor before = plain.encoder[0][0][1].clone();  // Q×K
  interventions.hidden = {{place, {{2, 0}, {2, 4}}}};
  for (int key = 0; key < 6; ++key) interventions.hidden[0].cells.push_back({3, key});
  Inspection inspection;
  inspection.interventions = &interventions;
  const torch::Tensor hidden = logits(inspection);
  const torch::Tensor after = inspection.encoder[0][0][1];
  torch::Tensor row = before[2].clone();
  row[0] = row[4] = 0;
  EXPECT_LE(difference(after[2], row / row.sum()), 1e-6);
  EXPECT_EQ(after[3].abs().sum().item<float>(), 0) << "hidden whole";
  EXPECT_LE(difference(after[1], before[1]), 1e-6);
  EXPECT_GT(difference(hidden, plain_logits()), 1e-4);
}

TEST_P(InspectionTest, TheOtherScaleIsThatOfAModelWithoutTheDivision) {
  interventions.other_scale = true;
  ModelConfig config = model->config();
  config.scaled_attention = false;
  Model undivided = seeded_model(config);
  undivided->freeze();
  const auto of_undivided = undivided->named_parameters();
  for (const auto& parameter : model->named_parameters()) of_undivided[parameter.key()].copy_(parameter.value());
  const torch::Tensor changed = changed_logits(), plain = plain_logits();
  const torch::Tensor expected = undivided->logits(undivided->decode(target, undivided->encode(source, {})));
  EXPECT_LE(difference(changed, expected), rounding);
  EXPECT_GT(difference(changed, plain), 1e-3);
  std::swap(undivided, model);
  EXPECT_LE(difference(changed_logits(), plain), rounding) << "and the other way round";
}

TEST_P(InspectionTest, AReplacedPieceIsThatPieceTyped) {
  interventions.replaced = {{false, 3, 17}, {true, 1, 21}};
  const torch::Tensor replaced = changed_logits();
  source[0][3] = 17;
  target[0][1] = 21;
  EXPECT_EQ(difference(replaced, plain_logits()), 0);
}

TEST_P(InspectionTest, ALayerThatIsOffPassesItsInputOn) {
  interventions.layers_off = {{false, 0}, {false, 1}, {true, 0}, {true, 1}};
  Inspection inspection;
  inspection.interventions = &interventions;
  inspection.hidden_wanted = true;
  logits(inspection);
  EXPECT_EQ(difference(inspection.hidden[0], inspection.hidden[1]), 0);
  ASSERT_EQ(inspection.decoder.size(), 2U);
  EXPECT_EQ(inspection.decoder[1].sizes(), (torch::IntArrayRef{1, 4, 5, 5}));
  EXPECT_EQ(inspection.cross[1].sizes(), (torch::IntArrayRef{1, 4, 5, 6}));
}

TEST_P(InspectionTest, ChangesHoldForATokenAtATimeToo) {
  interventions.heads_off = {{AttentionPart::cross, 0, 0}};
  interventions.forced = {{{AttentionPart::decoder, 1, 2}, 3, 1}};
  interventions.hidden = {{{AttentionPart::decoder, 0, 1}, {{2, 0}, {4, 3}}}, {{AttentionPart::cross, 1, 1}, {{3, 2}}}};
  interventions.replaced = {{true, 2, 30}};
  interventions.layers_off = {{false, 1}};
  Inspection inspection;
  inspection.interventions = &interventions;
  const Memory memory = model->encode(source, {}, &inspection);
  DecoderCache cache;
  std::vector<torch::Tensor> steps;
  for (std::int64_t t = 0; t < target.size(1); ++t) {
    steps.push_back(model->decode(target.slice(1, t, t + 1), memory, &cache, &inspection));
  }
  EXPECT_LE(difference(model->logits(torch::cat(steps, 1)), changed_logits()), rounding);
}

TEST_P(InspectionTest, AHeadsStagesAreTheModelsOwn) {
  for (const HeadPlace& place : {HeadPlace{AttentionPart::encoder, 0, 1}, HeadPlace{AttentionPart::decoder, 1, 3},
                                 HeadPlace{AttentionPart::cross, 1, 0}}) {
    Inspection inspection;
    inspection.head_wanted = place;
    logits(inspection);
    ASSERT_TRUE(inspection.head);
    const HeadInside head = inside(*inspection.head, place);
    const HeadStages stages = head_stages(head, true, model_mask(head));
    const auto& maps = place.part == AttentionPart::encoder   ? inspection.encoder
                       : place.part == AttentionPart::decoder ? inspection.decoder
                                                              : inspection.cross;
    EXPECT_LE(difference(stages.weights, to_matrix(maps[place.layer][0][place.head])), rounding);
    EXPECT_LE(difference(projected(head, stages.output), head.output), rounding);
  }
}

TEST_P(InspectionTest, TheLastLayerThroughTheLensIsWhatTheModelSays) {
  Inspection inspection;
  inspection.hidden_wanted = true;
  const torch::Tensor said = logits(inspection);
  ASSERT_EQ(inspection.hidden.size(), 2U);
  EXPECT_EQ(difference(model->logits(model->finished(inspection.hidden[1])), said), 0);
  EXPECT_GT(difference(model->logits(model->finished(inspection.hidden[0])), said), 1e-3);
}

TEST_P(InspectionTest, FlowGoesFromSublayerToSublayer) {
  Inspection inspection;
  inspection.sublayers_wanted = true;
  logits(inspection);
  ASSERT_EQ(inspection.sublayers.size(), 2U * 2 + 2 * 3);
  for (std::size_t i = 1; i < inspection.sublayers.size(); ++i) {
    if (inspection.sublayers[i].decoder != inspection.sublayers[i - 1].decoder) continue;
    EXPECT_EQ(difference(inspection.sublayers[i].norm_in, inspection.sublayers[i - 1].norm_out), 0) << i;
  }
  const SublayerTensors& last = inspection.sublayers.back();
  EXPECT_EQ(last.sublayer, Sublayer::feed_forward);
  EXPECT_EQ(last.active.sizes(), (torch::IntArrayRef{1, 5, 64}));
  EXPECT_GE(last.active.min().item<float>(), 0) << "after ReLU";
}

INSTANTIATE_TEST_SUITE_P(Positions, InspectionTest, testing::Values("sinusoidal", "shaw", "t5", "rope"));

}  // namespace
}  // namespace attnscope
