// How much of a text is looked at.
#include <gmock/gmock.h>

#include "config/heads.h"
#include "config/inspection_size.h"

namespace attnscope {
namespace {

// Bytes of all maps over so many pieces on both sides.
std::size_t maps_of(const ModelConfig& model, std::int64_t tokens) {
  std::size_t maps = 0;
  for (const AttentionPart part : {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross}) {
    const PartSize size = part_size(model, part);
    maps += static_cast<std::size_t>(size.layers) * static_cast<std::size_t>(size.heads);
  }
  return maps * static_cast<std::size_t>(tokens * tokens) * sizeof(float);
}

ModelConfig largest(const std::string& architecture) {
  ModelConfig model;
  model.architecture = architecture;
  model.num_encoder_layers = model.num_decoder_layers = 64;
  model.num_heads = model.d_model = 128;
  model.max_length = 4096;
  return model;
}

TEST(InspectionSize, TheLargestModelsMapsStayBelowIt) {
  for (const char* architecture : {"encoder-decoder", "decoder-only", "recurrent", "classifier"}) {
    const ModelConfig model = largest(architecture);
    const std::int64_t tokens = longest_inspection(model);
    EXPECT_LE(maps_of(model, tokens), largest_maps) << architecture;
    EXPECT_TRUE(tokens == model.max_length || maps_of(model, tokens + 1) > largest_maps) << architecture;
  }
}

TEST(InspectionSize, WhatFitsIsLookedAtWhole) {
  EXPECT_EQ(longest_inspection({}), ModelConfig().max_length);
  ModelConfig gpt2;
  gpt2.architecture = "decoder-only";
  gpt2.num_decoder_layers = gpt2.num_heads = 12;
  gpt2.max_length = 1024;
  EXPECT_EQ(longest_inspection(gpt2), 1024);
  gpt2.max_length = 1025;
  EXPECT_EQ(longest_inspection(gpt2), 1024);
}

}  // namespace
}  // namespace attnscope
