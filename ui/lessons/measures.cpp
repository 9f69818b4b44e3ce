#include "lessons/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "analysis/attention_measures.h"
#include "lessons/answers.h"
#include "messages/decodings.h"
#include "messages/metrics.h"
#include "workspaces/attention/view.h"
#include "workspaces/decoding/view.h"
#include "workspaces/embeddings/view.h"
#include "workspaces/mechanisms/view.h"
#include "workspaces/positions/view.h"

namespace attnscope {
namespace {

// ---- attention

const Matrix* map_of(const LessonSight& sight, Arguments head) {
  const auto place = head_from(head[0], head[1], head[2]);
  return place && sight.inspection ? map_at(*sight.inspection, *place) : nullptr;
}

AttentionPart part_of(Arguments head) {
  return head_from(head[0], head[1], head[2])->part;
}

Answer weight(const LessonSight& sight, Arguments arguments) {
  const Matrix* map = map_of(sight, arguments);
  if (!map) return {};
  const int query = position_of(row_tokens(*sight.inspection, part_of(arguments)), arguments[3]);
  const int key = position_of(col_tokens(*sight.inspection, part_of(arguments)), arguments[4]);
  return query < 0 || key < 0 || query >= map->rows || key >= map->cols ? Answer() : number(map->at(query, key));
}

Answer most(const LessonSight& sight, Arguments arguments) {
  const Matrix* map = map_of(sight, arguments);
  if (!map) return {};
  const int query = position_of(row_tokens(*sight.inspection, part_of(arguments)), arguments[3]);
  const std::vector<WordSpan> words = words_of(col_tokens(*sight.inspection, part_of(arguments)));
  if (query < 0 || query >= map->rows || words.empty()) return {};
  const int word = strongest_word(*map, query, words);
  return word < 0 ? Answer() : words[static_cast<std::size_t>(word)].text;
}

Answer entropy(const LessonSight& sight, Arguments arguments) {
  const Matrix* map = map_of(sight, arguments);
  return map ? number(mean_entropy(*map)) : Answer();
}

Answer distance(const LessonSight& sight, Arguments arguments) {
  const Matrix* map = map_of(sight, arguments);
  const bool causal = map && part_of(arguments) == AttentionPart::decoder;
  return map ? number(measures_of(*map, causal).distance) : Answer();
}

// The maximum weight that any query of the decoder gives to a later key.
Answer future(const LessonSight& sight, Arguments arguments) {
  const auto place = head_from("decoder", arguments[0], arguments[1]);
  const Matrix* map = place && sight.inspection ? map_at(*sight.inspection, *place) : nullptr;
  if (!map) return {};
  float largest = 0;
  for (int query = 0; query < map->rows; ++query)
    for (int key = query + 1; key < map->cols; ++key) largest = std::max(largest, map->at(query, key));
  return number(largest);
}

Answer is_off(const LessonSight& sight, Arguments arguments) {
  const auto place = head_from(arguments[0], arguments[1], arguments[2]);
  if (!place || !sight.inspection) return {};
  return std::ranges::count(sight.inspection->interventions.heads_off, *place) > 0 ? 1.0 : 0.0;
}

Answer heads_off(const LessonSight& sight, Arguments) {
  return sight.inspection ? number(static_cast<double>(sight.inspection->interventions.heads_off.size())) : Answer();
}

// The weight on later tokens under the mask in Inside one head, averaged over the queries of the decoder's head that
// have later tokens.
Answer share_after(const LessonSight& sight, Arguments arguments) {
  const HeadNumbers* numbers = sight.views.of<AttentionView>().inside.numbers.get();
  const auto place = head_from("decoder", arguments[0], arguments[1]);
  if (!numbers || !place || numbers->head().place != *place) return {};
  const Matrix& weights = numbers->of(Stage::weights);
  double sum = 0;
  for (int query = 0; query < weights.rows; ++query)
    for (int key = query + 1; key < weights.cols; ++key) sum += weights.at(query, key);
  return weights.rows < 2 ? Answer() : number(sum / (weights.rows - 1));
}

// ‖FFN(x)‖ of the word's first token (§3.3).
Answer feed_forward(const LessonSight& sight, Arguments arguments) {
  const bool decoder = arguments[0] == "decoder";
  const auto layer = number_from(arguments[1]);
  if (!sight.inspection || !layer) return {};
  const auto found = std::ranges::find_if(sight.inspection->sublayers, [&](const SublayerEffect& each) {
    return each.sublayer == Sublayer::feed_forward && each.decoder == decoder && each.layer + 1 == *layer;
  });
  const int at = position_of(decoder ? sight.inspection->target_in : sight.inspection->source, arguments[2]);
  if (found == sight.inspection->sublayers.end() || at < 0 || std::cmp_greater_equal(at, found->norm_added.size()))
    return {};
  return number(found->norm_added[static_cast<std::size_t>(at)]);
}

// ---- the text

Answer output(const LessonSight& sight, Arguments) {
  return sight.inspection ? Answer(sight.inspection->output_text) : std::nullopt;
}

Answer sentence(const LessonSight& sight, Arguments) {
  return sight.inspection ? Answer(sight.inspection->source_text) : std::nullopt;
}

const Reading* reading_of(const LessonSight& sight, const std::string& method) {
  if (!sight.inspection || !sight.inspection->decodings) return nullptr;
  const auto wanted = method == "greedy" ? Method::greedy : method == "beam" ? Method::beam : Method::sample;
  const auto& readings = sight.inspection->decodings->readings;
  const auto found = std::ranges::find(readings, wanted, &Reading::method);
  return found == readings.end() ? nullptr : &*found;
}

Answer reading(const LessonSight& sight, Arguments arguments) {
  const Reading* found = reading_of(sight, arguments[0]);
  return found ? Answer(found->text) : std::nullopt;
}

Answer log_prob(const LessonSight& sight, Arguments arguments) {
  const Reading* found = reading_of(sight, arguments[0]);
  return found ? number(found->log_prob) : Answer();
}

// The first output's token at the first divergence from the second output.
Answer parting(const LessonSight& sight, Arguments arguments) {
  const Reading* one = reading_of(sight, arguments[0]);
  const Reading* other = reading_of(sight, arguments[1]);
  if (!one || !other) return {};
  for (std::size_t i = 0; i < std::min(one->tokens.size(), other->tokens.size()); ++i)
    if (one->tokens[i].id != other->tokens[i].id) return std::string(without_mark(one->tokens[i].text));
  return {};
}

Answer parting_place(const LessonSight& sight, Arguments arguments) {
  const Reading* one = reading_of(sight, arguments[0]);
  const Reading* other = reading_of(sight, arguments[1]);
  if (!one || !other) return {};
  for (std::size_t i = 0; i < std::min(one->tokens.size(), other->tokens.size()); ++i)
    if (one->tokens[i].id != other->tokens[i].id) return static_cast<double>(i + 1);
  return {};
}

// ---- the window

Answer decoding_view(const LessonSight& sight, Arguments) {
  constexpr std::array names = {"steps", "tree", "readings", "forcing"};  // same order as DecodingMode
  return std::string(names[static_cast<std::size_t>(sight.views.of<DecodingView>().mode)]);
}

Answer open_workspace(const LessonSight& sight, Arguments) {
  return std::string(sight.open.name);
}

// ---- embeddings

const EmbeddingsView& embeddings_of(const LessonSight& sight) {
  return sight.views.of<EmbeddingsView>();
}

Answer chosen_word(const LessonSight& sight, Arguments) {
  const EmbeddingResult* inspection = embeddings_of(sight).inspection.get();
  if (!inspection || inspection->chosen < 0) return {};
  return token_name(inspection->vocabulary->tokens[static_cast<std::size_t>(inspection->chosen)]);
}

Answer neighbour(const LessonSight& sight, Arguments arguments) {
  const Answer chosen = chosen_word(sight, {});
  if (!chosen || std::get<std::string>(*chosen) != arguments[0]) return {};
  const EmbeddingResult& inspection = *embeddings_of(sight).inspection;
  const auto rank = index_from(arguments[1], inspection.neighbours.nearest.size());
  if (!rank) return {};
  return token_name(inspection.vocabulary->tokens[static_cast<std::size_t>(inspection.neighbours.nearest[*rank].id)]);
}

Answer analogy(const LessonSight& sight, Arguments arguments) {
  const EmbeddingResult* inspection = embeddings_of(sight).inspection.get();
  if (!inspection || inspection->answers.empty()) return {};
  const auto name = [&](int id) { return token_name(inspection->vocabulary->tokens[static_cast<std::size_t>(id)]); };
  for (std::size_t i = 0; i < inspection->analogy.size(); ++i)
    if (inspection->analogy[i] < 0 || name(inspection->analogy[i]) != arguments[i]) return {};
  return name(inspection->answers.front().id);
}

Answer separation(const LessonSight& sight, Arguments arguments) {
  const SenseResult* inspection = embeddings_of(sight).senses.inspection.get();
  if (!inspection || inspection->word != arguments[0]) return {};
  const auto layer = number_from(arguments[1]);
  if (!layer || !(*layer >= 0 && *layer < static_cast<double>(inspection->layers.size()))) return {};
  return number(inspection->layers[static_cast<std::size_t>(*layer)].separation);
}

// ---- the run

Answer updates(const LessonSight& sight, Arguments) {
  return sight.inspection ? number(static_cast<double>(sight.inspection->step)) : Answer();
}

Answer field(const LessonSight& sight, Arguments arguments) {
  try {
    const std::string text = field_text(sight.config, config_field(arguments[0]));
    const auto value = number_from(text);
    return value ? number(*value) : Answer(text);
  } catch (const ConfigError&) {
    return {};
  }
}

Answer last_metric(const LessonSight& sight, Arguments arguments) {
  const auto row = std::ranges::find(metric_rows, arguments[0], &MetricRow::key);
  if (row == metric_rows.end()) return {};
  const Series& points = sight.curves[static_cast<std::size_t>(row - metric_rows.begin())].points();
  return points.y.empty() ? Answer() : number(points.y.back());
}

Answer unseen_words(const LessonSight& sight, Arguments) {
  const bool known = sight.inspection && sight.inspection->known_words > 0;
  return known ? number(static_cast<double>(sight.inspection->unseen.size())) : Answer();
}

// The first step at which the metric was at least that value; 0: it was not yet.
double step_reaching(const LessonSight& sight, const std::string& key, double value) {
  const auto row = std::ranges::find(metric_rows, key, &MetricRow::key);
  if (row == metric_rows.end()) return 0;
  const Series& points = sight.curves[static_cast<std::size_t>(row - metric_rows.begin())].points();
  const auto reached = std::ranges::find_if(points.y, [&](double each) { return each >= value; });
  return reached == points.y.end() ? 0 : points.x[static_cast<std::size_t>(reached - points.y.begin())];
}

Answer reached(const LessonSight& sight, Arguments arguments) {
  const auto value = number_from(arguments[1]);
  return value ? number(step_reaching(sight, arguments[0], *value)) : Answer();
}

Answer delay(const LessonSight& sight, Arguments arguments) {
  const auto value = number_from(arguments[2]);
  if (!value) return {};
  const double other = step_reaching(sight, arguments[1], *value);
  return number(other > 0 ? step_reaching(sight, arguments[0], *value) / other : 0);
}

// ---- mechanisms

// The result of the study in Mechanisms, for the present weights.
template <typename Study>
auto result_of_now(const LessonSight& sight, const Study& study) {
  const bool of_now = sight.inspection && study.result && study.result->problem.empty() &&
                      study.run == sight.inspection->run && study.step == sight.inspection->step;
  return of_now ? &*study.result : nullptr;
}

Answer induction(const LessonSight& sight, Arguments arguments) {
  const InductionResult* result = result_of_now(sight, sight.views.of<MechanismsView>().induction.study);
  if (!result) return {};
  const InductionPoint& now = result->points.back();
  const auto highest = [&](double HeadInduction::*score) {
    return number(std::ranges::max(now.heads, {}, score).*score);
  };
  const auto accuracy = [&](const InductionTrial& trial) {
    return number(trial.heads_off.empty() ? now.accuracy : trial.accuracy);
  };
  if (arguments[0] == "score") return highest(&HeadInduction::induction);
  if (arguments[0] == "previous") return highest(&HeadInduction::previous);
  if (arguments[0] == "first") return highest(&HeadInduction::first);
  if (arguments[0] == "without") return accuracy(result->without_induction);
  if (arguments[0] == "without-others") return accuracy(result->without_others);
  return arguments[0] == "predicted" ? number(now.accuracy) : Answer();
}

Answer key_frequencies(const LessonSight& sight, Arguments) {
  const FourierResult* result = result_of_now(sight, sight.views.of<MechanismsView>().fourier.study);
  return result ? number(static_cast<double>(result->key.size())) : Answer();
}

// ---- positions

Answer turn_query(const LessonSight& sight, Arguments) {
  return number(sight.views.of<PositionsView>().turning.query);
}

Answer turn_key(const LessonSight& sight, Arguments) {
  return number(sight.views.of<PositionsView>().turning.key);
}

Answer turn_distance(const LessonSight& sight, Arguments) {
  const TurningView& view = sight.views.of<PositionsView>().turning;
  return number(view.query - view.key);
}

// Σ_i cos((m − n) θ_i) / (d/2): q·k of two vectors that are equal in every pair, relative to its maximum (2104.09864
// §3.4.3).
Answer turn_product(const LessonSight& sight, Arguments) {
  const TurningView& view = sight.views.of<PositionsView>().turning;
  double sum = 0;
  for (int pair = 0; pair < view.width / 2; ++pair)
    sum += std::cos((view.query - view.key) * rope_angle(pair, view.width));
  return number(sum / (view.width / 2));
}

constexpr std::array measure_table = {
    Measure{"weight", "PART LAYER HEAD QUERY KEY", "attention weight of the query on the key, 0 to 1", weight},
    Measure{"most", "PART LAYER HEAD QUERY", "the word that the query attends to most", most},
    Measure{"entropy", "PART LAYER HEAD", "mean entropy of the head's attention rows, in nats", entropy},
    Measure{"distance", "PART LAYER HEAD", "mean attention distance of the head, in tokens", distance},
    Measure{"future", "LAYER HEAD", "largest weight that the decoder's head gives to a later token", future},
    Measure{"share-after", "LAYER HEAD",
            "mean weight that the decoder's head gives to later tokens, under the mask set in Inside one head",
            share_after},
    Measure{"feed-forward", "encoder|decoder LAYER WORD", "norm of the feed-forward output at the word", feed_forward},
    Measure{"is-off", "PART LAYER HEAD", "1 if the head is switched off, else 0", is_off},
    Measure{"heads-off", "", "number of heads that are switched off", heads_off},
    Measure{"sentence", "", "the sentence in the sentence bar", sentence},
    Measure{"output", "", "the model's output", output},
    Measure{"reading", "greedy|beam|sample", "the output of that decoding method", reading},
    Measure{"log-prob", "greedy|beam|sample", "log-probability of that output, in nats", log_prob},
    Measure{"parting", "METHOD OTHER", "the first method's token at the first divergence of the two outputs", parting},
    Measure{"parting-place", "METHOD OTHER", "index of that output token, counted from 1", parting_place},
    Measure{"workspace", "", "name of the open workspace", open_workspace},
    Measure{"decoding-view", "", "the open view of Decoding: steps, tree, readings or forcing", decoding_view},
    Measure{"chosen-word", "", "the word selected in Embeddings", chosen_word},
    Measure{"neighbour", "WORD RANK", "nearest neighbor of the selected word with that rank (1: nearest)", neighbour},
    Measure{"analogy", "A B C", "the vector nearest to B − A + C, while Embeddings shows this analogy", analogy},
    Measure{"separation", "WORD LAYER",
            "how well the layer (0: embedding) separates the word's senses: silhouette score", separation},
    Measure{"updates", "", "number of training steps so far", updates},
    Measure{"field", "KEY", "a configuration field of the run, as listed by attnscope fields", field},
    Measure{"metric", "METRIC", "last value of a metric of the run, named as in metrics.jsonl", last_metric},
    Measure{"step-reaching", "METRIC VALUE", "first step at which the metric was at least VALUE; 0: not yet", reached},
    Measure{"delay", "METRIC OTHER VALUE",
            "steps until METRIC was at least VALUE, divided by those until OTHER was; 0: not yet", delay},
    Measure{"induction", "predicted|without|without-others|score|previous|first",
            "of the repeated tokens in Induction heads, the share predicted, without the induction heads, or without "
            "as many others; the highest score of a head",
            induction},
    Measure{"key-frequencies", "", "number of key frequencies in Grokking", key_frequencies},
    Measure{"unseen-words", "", "number of words of the sentence that do not occur in the training data", unseen_words},
    Measure{"turn-query", "", "the query's position in Rotary embeddings (RoPE)", turn_query},
    Measure{"turn-key", "", "the key's position there", turn_key},
    Measure{"turn-distance", "", "distance from the key to the query", turn_distance},
    Measure{"turn-product", "", "their dot product, relative to its maximum", turn_product},
};

std::string complaint_about_field(const std::string& key) {
  try {
    config_field(key);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::size_t word_count(std::string_view form) {
  return form.empty() ? 0 : static_cast<std::size_t>(std::ranges::count(form, ' ')) + 1;
}

}  // namespace

std::span<const Measure> lesson_measures() {
  static const std::vector<Measure> all = [] {
    std::vector<Measure> joined(measure_table.begin(), measure_table.end());
    joined.insert(joined.end(), origins_measures().begin(), origins_measures().end());
    return joined;
  }();
  return all;
}

const Measure* find_measure(std::string_view name) {
  const auto found = std::ranges::find(lesson_measures(), name, &Measure::name);
  return found == lesson_measures().end() ? nullptr : &*found;
}

std::string complaint_about(const Expression& expression) {
  const Measure* measure = find_measure(expression.measure);
  if (!measure) return fmt::format("there is no measure \"{}\"", expression.measure);
  if (word_count(measure->form) != expression.arguments.size())
    return fmt::format("{} takes {}", measure->name, measure->form.empty() ? "nothing" : measure->form);
  if (measure->form.starts_with("METRIC") &&
      std::ranges::find(metric_rows, expression.arguments[0], &MetricRow::key) == metric_rows.end())
    return fmt::format("there is no metric \"{}\"", expression.arguments[0]);
  if (measure->form == "KEY") return complaint_about_field(expression.arguments[0]);
  if (measure->form.starts_with("PART") &&
      !head_from(expression.arguments[0], expression.arguments[1], expression.arguments[2]))
    return fmt::format("{} takes {}: encoder, decoder or cross, layer and head, counted from 1", measure->name,
                       measure->form);
  return "";
}

std::optional<Value> measured(const Expression& expression, const LessonSight& sight) {
  const Measure* measure = find_measure(expression.measure);
  return measure ? measure->of(sight, expression.arguments) : std::nullopt;
}

std::optional<HeadPlace> head_from(std::string_view part, std::string_view layer, std::string_view head) {
  const auto found = std::ranges::find_if(attention_parts, [&](AttentionPart each) { return part_name(each) == part; });
  constexpr std::size_t most = 1000;
  const auto layer_index = index_from(std::string(layer), most), head_index = index_from(std::string(head), most);
  if (found == attention_parts.end() || !layer_index || !head_index) return {};
  return HeadPlace{*found, static_cast<int>(*layer_index), static_cast<int>(*head_index)};
}

int position_of(const std::vector<std::string>& tokens, std::string_view word) {
  return position_of(tokens_of(tokens), word);
}

std::vector<Token> tokens_of(const std::vector<std::string>& texts) {
  std::vector<Token> tokens;
  for (const std::string& text : texts) tokens.push_back({.text = text});
  return tokens;
}

int position_of(std::span<const Token> tokens, std::string_view word) {
  const std::vector<WordSpan> words = words_of({tokens.begin(), tokens.end()});
  const auto found = std::ranges::find(words.rbegin(), words.rend(), word, &WordSpan::text);
  return found == words.rend() ? -1 : found->begin;
}

std::optional<double> number_from(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::string value_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const double number = std::get<double>(value);
  if (number == std::round(number) && std::abs(number) < 1e9) return fmt::format("{:.0f}", number);
  return std::abs(number) < 0.01 ? fmt::format("{:.2g}", number) : fmt::format("{:.2f}", number);
}

std::string percent_text(const Value& share) {
  const auto* number = std::get_if<double>(&share);
  return number ? fmt::format("{:.0f}", *number * 100) : value_text(share);
}

}  // namespace attnscope
