#include "analysis/model_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/attention_mix.h"
#include "common/mark.h"
#include "config/position_schemes.h"
#include "messages/embeddings.h"

namespace attnscope {
namespace {

// ---- attention

// The number of leading decoder inputs that are equal: the inputs of these rows are equal.
int shared_inputs(const Snapshot& a, const Snapshot& b) {
  return static_cast<int>(std::ranges::mismatch(a.target_in, b.target_in).in1 - a.target_in.begin());
}

Matrix corner(const Matrix& matrix, int rows, int cols) {
  Matrix cut(rows, cols);
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < cols; ++col) cut.at(row, col) = matrix.at(row, col);
  return cut;
}

std::vector<Token> first_of(const std::vector<Token>& tokens, int count) {
  return {tokens.begin(), tokens.begin() + std::min<std::ptrdiff_t>(count, std::ssize(tokens))};
}

std::string other_tokens(const Snapshot& a, const Snapshot& b) {
  if (std::ranges::equal(a.typed(), b.typed(), {}, &Token::text, &Token::text)) return {};
  return fmt::format(
      mark("The two tokenizers split the sentence differently, into {} and {} tokens: rows and columns do not match."),
      a.typed().size(), b.typed().size());
}

// ---- outputs

double log_probability(const Snapshot& snapshot) {
  double sum = 0;
  for (auto step = static_cast<std::size_t>(snapshot.first_output()); step < snapshot.decoding.size(); ++step) {
    const DecodingStep& decided = snapshot.decoding[step];
    sum += std::log(static_cast<double>(decided.candidates[static_cast<std::size_t>(decided.chosen)].probability));
  }
  return sum;
}

DivergingToken diverging_token(const DecodingStep& step, const DecodingStep& other) {
  const Candidate& chosen = step.candidates[static_cast<std::size_t>(step.chosen)];
  DivergingToken diverging{chosen.token, chosen.probability, {}};
  const auto found = std::ranges::find(other.candidates, chosen.token.text,
                                       [](const Candidate& candidate) { return candidate.token.text; });
  if (found != other.candidates.end()) diverging.in_other = found->probability;
  return diverging;
}

const Token& chosen_token(const DecodingStep& step) {
  return step.candidates[static_cast<std::size_t>(step.chosen)].token;
}

// ---- embeddings

const NeighbourList* neighbours_of(const Snapshot& snapshot) {
  const EmbeddingResult* inspection = snapshot.embeddings.get();
  return inspection && inspection->chosen >= 0 && inspection->chosen_problem.empty() ? &inspection->neighbours
                                                                                     : nullptr;
}

std::vector<ComparedNeighbour> named(const Snapshot& snapshot) {
  std::vector<ComparedNeighbour> list;
  for (const Neighbour& neighbour : neighbours_of(snapshot)->nearest)
    list.push_back({snapshot.embeddings->vocabulary->tokens[static_cast<std::size_t>(neighbour.id)], neighbour.cosine});
  return list;
}

void mark_shared(std::vector<ComparedNeighbour>& list, const std::vector<ComparedNeighbour>& other) {
  for (ComparedNeighbour& neighbour : list)
    neighbour.shared = std::ranges::find(other, neighbour.token, &ComparedNeighbour::token) != other.end();
}

}  // namespace

std::string why_no_map(const Snapshot& snapshot, std::string_view side, const HeadPlace& place) {
  if (map_at(snapshot, place)) return {};
  if (maps_of(snapshot, place.part).empty()) {
    const bool bare = snapshot.encoder.empty() && snapshot.decoder.empty() && snapshot.cross.empty();
    if (!bare) return fmt::format(mark("{} has no {} attention."), side, part_name(place.part));
    const ModelConfig& model = snapshot.model;
    const bool never = model.is_recurrent() && (model.attention == "none" || model.is_classifier());
    return never ? fmt::format(mark("{} has no attention."), side)
                 : fmt::format(mark("{} has not been evaluated yet."), side);
  }
  return fmt::format(mark("{} has no layer {}, head {} in this attention."), side, place.layer + 1, place.head + 1);
}

float total_variation(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    sum += std::abs(static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]));
  return a.rows == 0 ? 0 : static_cast<float>(sum / 2 / a.rows);
}

ComparedMaps compare_maps(const Snapshot& a, const Snapshot& b, const HeadPlace& place) {
  ComparedMaps maps;
  for (std::string why : {why_no_map(a, "A", place), why_no_map(b, "B", place), other_tokens(a, b)}) {
    if (maps.why_not.empty()) maps.why_not = std::move(why);
  }
  if (!maps.why_not.empty()) return maps;
  const Matrix& of_a = *map_at(a, place);
  const Matrix& of_b = *map_at(b, place);
  const bool encoder = place.part == AttentionPart::encoder;
  const int shared = encoder ? of_a.rows : shared_inputs(a, b);
  const int rows = std::min({shared, of_a.rows, of_b.rows});
  const int cols = place.part == AttentionPart::decoder ? std::min({rows, of_a.cols, of_b.cols}) : of_a.cols;
  maps.queries = first_of(row_tokens(a, place.part), rows);
  maps.keys = first_of(col_tokens(a, place.part), cols);
  maps.a = corner(of_a, rows, cols);
  maps.b = corner(of_b, rows, cols);
  maps.difference = difference(maps.a, maps.b);
  maps.apart = total_variation(maps.a, maps.b);
  maps.left_out = of_a.rows - rows;
  return maps;
}

std::vector<HeadApart> heads_apart(const Snapshot& a, const Snapshot& b) {
  std::vector<HeadApart> heads;
  for (const AttentionPart part : attention_parts) {
    const AttentionMaps& layers = maps_of(a, part);
    for (int layer = 0; layer < static_cast<int>(layers.size()); ++layer) {
      for (int head = 0; head < static_cast<int>(layers[static_cast<std::size_t>(layer)].size()); ++head) {
        const HeadPlace place{part, layer, head};
        if (!map_at(b, place)) continue;
        const ComparedMaps maps = compare_maps(a, b, place);
        heads.push_back({place, maps.why_not.empty() ? std::optional(maps.apart) : std::nullopt});
      }
    }
  }
  return heads;
}

bool ComparedOutputs::same() const {
  return why_not.empty() && !a && !b && std::ranges::none_of(words.before, &ComparedWord::differs) &&
         std::ranges::none_of(words.after, &ComparedWord::differs);
}

ComparedOutputs compare_outputs(const Snapshot& a, const Snapshot& b) {
  ComparedOutputs outputs;
  if (!a.is_whole() || !b.is_whole()) {
    outputs.why_not = mark("The two models have not both generated their output yet.");
    return outputs;
  }
  compare_words(a.output_text, b.output_text, outputs.words);
  outputs.log_prob_a = log_probability(a);
  outputs.log_prob_b = log_probability(b);
  const auto first_a = static_cast<std::size_t>(a.first_output()), first_b = static_cast<std::size_t>(b.first_output());
  const std::size_t longest = std::min(a.decoding.size() - first_a, b.decoding.size() - first_b);
  for (std::size_t i = 0; i < longest; ++i) {
    const DecodingStep& of_a = a.decoding[first_a + i];
    const DecodingStep& of_b = b.decoding[first_b + i];
    if (chosen_token(of_a).text == chosen_token(of_b).text) {
      ++outputs.shared;
      continue;
    }
    outputs.a = diverging_token(of_a, of_b);
    outputs.b = diverging_token(of_b, of_a);
    break;
  }
  return outputs;
}

std::vector<ComparedPositions> compare_positions(const Snapshot& a, const Snapshot& b) {
  const auto one_note = [](std::string why) {
    std::vector<ComparedPositions> notes(1);
    notes.front().why_not = std::move(why);
    return notes;
  };
  if (!a.positions || !b.positions) return one_note(mark("The two models have not both been evaluated yet."));
  if (a.model.is_recurrent() || b.model.is_recurrent())
    return one_note(mark("A recurrent network has no positional encoding: it reads one token after the other."));
  if (a.model.positions != b.model.positions) {
    return one_note(fmt::format(mark("The positional encoding of A is {}, that of B is {}: their numbers are not "
                                     "comparable. Choose A or B above."),
                                a.model.positions, b.model.positions));
  }
  if (a.positions->empty()) return one_note(mark("Neither model has a positional encoding."));
  std::vector<ComparedPositions> tables;
  for (std::size_t i = 0; i < std::min(a.positions->size(), b.positions->size()); ++i) {
    const PositionTable& of_a = (*a.positions)[i];
    const PositionTable& of_b = (*b.positions)[i];
    ComparedPositions table{{}, of_a.name, of_a.first, of_a.values, of_b.values, {}};
    if (of_a.values.rows != of_b.values.rows || of_a.values.cols != of_b.values.cols) {
      table.why_not = fmt::format(mark("{}: {} × {} numbers in A, {} × {} in B."), of_a.name, of_a.values.rows,
                                  of_a.values.cols, of_b.values.rows, of_b.values.cols);
    } else {
      table.difference = difference(of_a.values, of_b.values);
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

ComparedNeighbours compare_neighbours(const Snapshot& a, const Snapshot& b) {
  ComparedNeighbours compared;
  if (!a.embeddings || !b.embeddings) {
    compared.why_not = "…";
    return compared;
  }
  const bool in_a = neighbours_of(a) != nullptr, in_b = neighbours_of(b) != nullptr;
  if (!in_a || !in_b) {
    const bool neither = !in_a && !in_b;
    compared.why_not = neither && a.embeddings->chosen_problem.empty() ? mark("Choose a token in A or B first.")
                       : neither
                           ? mark("Neither vocabulary has this token.")
                           : fmt::format(mark("The vocabulary of {} does not have this token."), in_a ? "B" : "A");
    return compared;
  }
  compared.chosen = a.embeddings->vocabulary->tokens[static_cast<std::size_t>(a.embeddings->chosen)];
  compared.a = named(a);
  compared.b = named(b);
  mark_shared(compared.a, compared.b);
  mark_shared(compared.b, compared.a);
  compared.shared = static_cast<int>(std::ranges::count_if(compared.a, &ComparedNeighbour::shared));
  return compared;
}

}  // namespace attnscope
