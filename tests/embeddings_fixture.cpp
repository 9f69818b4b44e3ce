#include "embeddings_fixture.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

std::shared_ptr<EmbeddingResult> fixture_embeddings(int tokens, std::int64_t step) {
  auto inspection = std::make_shared<EmbeddingResult>();
  inspection->tied = true;
  inspection->width = 128;
  inspection->step = step;
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->tokens = {"▁king", "▁queen", "▁man", "▁woman"};
  for (int id = 4; id < tokens; ++id) vocabulary->tokens.push_back("▁word" + std::to_string(id));
  for (int id = 0; id < tokens; ++id) {
    const bool even = id % 2 == 0;
    vocabulary->facts.push_back(
        {tokens - id, even ? tokens - id : 0, {WordKind::noun, even ? WordGender::masculine : WordGender::feminine}});
  }
  vocabulary->knows_words = vocabulary->has_sides = true;
  inspection->vocabulary = vocabulary;
  auto map = std::make_shared<EmbeddingMap>();
  map->points = Matrix(tokens, 2);
  for (int id = 0; id < tokens; ++id) {
    const double radius = std::sqrt(static_cast<double>(id) / tokens), angle = 2.4 * id;
    map->points.at(id, 0) = static_cast<float>(radius * std::cos(angle));
    map->points.at(id, 1) = static_cast<float>(0.6 * radius * std::sin(angle));
  }
  map->shares = {0.3F, 0.11F, 0.05F};
  for (int i = 0; i < 200; ++i) map->distances.push_back(1.2F + 0.001F * static_cast<float>(i));
  inspection->map = map;
  inspection->chosen = 0;
  inspection->neighbours = {step, {{1, 0.875F}, {2, 0.5F}, {3, 0.25F}}};
  inspection->analogy = {2, 0, 3};
  inspection->answers = {{1, 0.75F}, {4, 0.5F}};
  inspection->apart_ids = {0, 1, 2, 3};
  inspection->apart = Matrix(4, 4);
  for (float& value : inspection->apart.values) value = 1.25F;
  return inspection;
}

std::shared_ptr<SenseResult> fixture_senses(const std::string& word) {
  auto inspection = std::make_shared<SenseResult>();
  inspection->word = word;
  inspection->token = "▁" + word;
  inspection->grouped_by = "sense, known from the translation";
  inspection->groups = {"banque", "rive"};
  inspection->suggestions = {"it", "bank", "bat"};
  constexpr int sentences = 40;
  for (int i = 0; i < sentences; ++i)
    inspection->occurrences.push_back(
        {"Sentence " + std::to_string(i) + ".", "Phrase " + std::to_string(i) + ".", i % 2});
  int layer = 0;
  for (const char* name : {"embedding + position", "layer 1", "layer 2"}) {
    SenseLayer& made = inspection->layers.emplace_back();
    made.name = name;
    made.points = Matrix(sentences, 2);
    for (int i = 0; i < sentences; ++i) {
      made.points.at(i, 0) = static_cast<float>(layer * (i % 2) + 0.4 * std::cos(i));
      made.points.at(i, 1) = static_cast<float>(0.4 * std::sin(i));
    }
    made.shares = {0.6F, 0.2F};
    made.separation = 0.375F * static_cast<float>(layer++);
  }
  return inspection;
}

}  // namespace attnscope
