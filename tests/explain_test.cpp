// The figures of `explain`, held to an independent implementation's of a run whose circuit is known.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/paths.h"
#include "compute/circuit_json.h"
#include "engine/torch_engine.h"
#include "inspect/circuit/corpus_contrasts.h"
#include "inspect/circuit/search.h"
#include "inspect/evaluation/carriers.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The shipped run, and an independent implementation's figures of some pairs: a sentence, its corrupted sentence, and
// the margins under every change.
class KnownCircuit : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream(fs::path(ATTNSCOPE_TEST_DATA) / "explain" / "expected.json") >> expected;
    engine.open_run(shipped_run().string(), {});
    at::set_num_threads(1);
  }

  ContrastCase case_of_entry(const Json& entry) {
    const ContrastQuestion question{
        entry.at("sentence"), entry.at("corrupted"), {entry.at("answer"), entry.at("corrupted answer")}};
    return case_of(std::make_shared<const ContrastRuns>(engine.model(), engine.tokenizer(), question));
  }

  // The slot that begins where the entry says.
  static int slot_at(const ContrastCase& it, const Json& positions) {
    const int first = positions.front();
    const auto found =
        std::ranges::find_if(it.slots, [&](const Slot& slot) { return slot.positions.front() == first; });
    return static_cast<int>(found - it.slots.begin());
  }

  Json expected;
  TorchEngine engine;
};

// "it → antecedent" is "it → horse" of a sentence about a horse.
std::string own_name(std::string name, const ContrastCase& it, const std::vector<std::pair<std::string, int>>& words) {
  for (const auto& [role, slot] : words)
    if (const auto at = name.find(role); at != std::string::npos)
      name.replace(at, role.size(), it.slots[static_cast<std::size_t>(slot)].name);
  return name;
}

TEST_F(KnownCircuit, HasTheFiguresOfTheIndependentImplementation) {
  int figures = 0;
  double worst = 0;
  for (const Json& entry : expected.at("cases")) {
    const ContrastCase it = case_of_entry(entry);
    const Json& positions = entry.at("positions");
    const int one = slot_at(it, positions.at("antecedent")), other = slot_at(it, positions.at("other noun"));
    const std::vector<int> at = {slot_at(it, positions.at("it")), slot_at(it, positions.at("."))};
    const Json own = figures_json({it}, at, {std::min(one, other), std::max(one, other)}).at("clean");
    const auto check = [&](const std::string& what, double made, double wanted) {
      EXPECT_NEAR(made, wanted, 1e-3) << entry.at("sentence") << ": " << what;
      worst = std::max(worst, std::abs(made - wanted));
      ++figures;
    };
    check("margin", it.runs->facts().clean.margin, entry.at("margin"));
    check("corrupted margin", it.runs->facts().corrupted.margin, entry.at("corrupted margin"));
    for (const auto& [group, names] : entry.at("margin with these from the corrupted sentence").items())
      for (const auto& [name, value] : names.items()) check(group + ", " + name, own.at(group).at(name), value);
    std::string exchanged;
    for (const auto& [group, names] : own.items())
      if (group.starts_with("weights on") && group.ends_with("layer 2")) exchanged = group;
    for (const auto& [name, value] : entry.at("margin with the two nouns' weights exchanged in layer 2").items()) {
      const bool alone = name.starts_with("heads ") && name.find(' ', 6) > name.find(',');  // "heads 1, it"
      std::string ours = alone ? "head" + name.substr(5) : name;
      if (ours.starts_with("heads 1 2 3 4")) ours = "all heads" + ours.substr(13);
      check(exchanged + ", " + name, own.at(exchanged).at(ours), value);
    }
    const std::vector<std::pair<std::string, int>> words = {
        {"antecedent", one}, {"adjective", slot_at(it, positions.at("adjective"))}, {"other noun", other}};
    for (const auto& [name, value] : entry.at("weights").items())
      check(name, own.at("weights").at(own_name(name, it, words)), value);
  }
  EXPECT_GE(figures, static_cast<int>(expected.at("cases").size()) * 29);
  RecordProperty("worst", std::to_string(worst));
}

// Over the pairs of one direction the search finds what is known, and nothing more.
TEST_F(KnownCircuit, IsFoundByTheSearch) {
  std::vector<ContrastCase> cases;
  for (const Json& entry : expected.at("cases"))
    if (entry.at("answer") == expected.at("cases").front().at("answer")) cases.push_back(case_of_entry(entry));
  const Circuit found = find_circuit(cases);
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.pairs, static_cast<int>(cases.size()));
  const auto heads = [&](AttentionPart part, int layer) {
    return std::ranges::find_if(found.edges,
                                [&](const CircuitEdge& it) { return it.part == part && it.layer == layer; })
        ->heads();
  };
  ASSERT_THAT(found.edges, testing::SizeIs(3));
  EXPECT_EQ(heads(AttentionPart::encoder, 0), (std::vector<int>{0, 1}));
  EXPECT_EQ(heads(AttentionPart::encoder, 1), (std::vector<int>{0, 1}));
  EXPECT_EQ(heads(AttentionPart::cross, found.edges.back().layer), (std::vector<int>{0, 1}));
  std::vector<std::string> words;
  for (const int slot : found.places.back().slots) words.push_back(found.slots[static_cast<std::size_t>(slot)]);
  EXPECT_EQ(words, std::vector<std::string>{"it"});
  for (const CircuitEdge& edge : found.edges)
    EXPECT_EQ(edge.together.cases, found.pairs) << "every count is over all pairs";
}

// With x = relu(x) − relu(−x), the features are the whole vector, and all their means are its mean.
TEST_F(KnownCircuit, CarriersOfACompleteDictionaryAreTheWholeVector) {
  const ContrastQuestion question{"The animal didn't cross the street because it was too tired.",
                                  "The animal didn't cross the street because it was too wide."};
  const ContrastRuns runs(engine.model(), engine.tokenizer(), question);
  const auto pairs =
      cases_like(engine.model(), engine.tokenizer(), runs.facts(), contrasts_like(*engine.corpus(), question, 6));
  ASSERT_GE(pairs.cases.size(), 2U);
  const std::int64_t width = engine.config().model.d_model;
  const torch::Tensor both = torch::cat({torch::eye(width), -torch::eye(width)});
  const SparseDictionary dictionary{.b_dec = torch::zeros({width}),
                                    .w_enc = both.t().contiguous(),
                                    .b_enc = torch::zeros({2 * width}),
                                    .w_dec = both};
  const Carriers carriers = find_carriers(pairs.cases, "it", {false, 1}, dictionary);
  EXPECT_EQ(carriers.answers, static_cast<int>(2 * pairs.cases.size()));
  EXPECT_EQ(carriers.exact, carriers.answers) << "after the last layer the vector at \"it\" carries the answer";
  EXPECT_EQ(carriers.ablated.back().other, carriers.exact);
  EXPECT_EQ(carriers.ablated.back().features, std::ssize(carriers.features));
  EXPECT_EQ(carriers.ablated.front().features, 1);
  for (std::size_t i = 0; i + 1 < carriers.features.size(); ++i)
    EXPECT_GE(std::abs(carriers.features[i].clean - carriers.features[i].corrupted),
              std::abs(carriers.features[i + 1].clean - carriers.features[i + 1].corrupted) - 1e-6);
  EXPECT_EQ(find_carriers(pairs.cases, "zebra", {false, 1}, dictionary).answers, 0);
}

}  // namespace
}  // namespace attnscope
