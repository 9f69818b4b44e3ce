// The measures for the chapters in Origins, and for a recurrent network.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/attention_measures.h"
#include "lessons/answers.h"
#include "workspaces/origins/view.h"

namespace attnscope {
namespace {

Answer scores_d(const LessonSight& sight, Arguments) {
  return number(sight.views.of<OriginsView>().scaling.d);
}

// For the panel's random queries and keys, at that d.
std::optional<SoftmaxSpread> spread(const LessonSight& sight, const std::string& which, const std::string& d) {
  const ScalingView& view = sight.views.of<OriginsView>().scaling;
  const auto index = index_from(d, ScoreSample::most_dimensions);
  if (!index || !view.sample || (which != "plain" && which != "divided")) return {};
  const ScaledScores scores = view.sample->scores(static_cast<int>(*index) + 1);
  return which == "plain" ? scores.of_plain : scores.of_divided;
}

Answer score_weight(const LessonSight& sight, Arguments arguments) {
  const auto found = spread(sight, arguments[0], arguments[1]);
  return found ? number(found->largest) : Answer();
}

Answer score_entropy(const LessonSight& sight, Arguments arguments) {
  const auto found = spread(sight, arguments[0], arguments[1]);
  return found ? number(found->entropy) : Answer();
}

Answer kernel_width(const LessonSight& sight, Arguments) {
  return number(sight.views.of<OriginsView>().kernels.width);
}

// For the panel's points, with its kernel.
Answer kernel_error(const LessonSight& sight, Arguments arguments) {
  const OriginsView& view = sight.views.of<OriginsView>();
  const auto width = number_from(arguments[0]);
  if (!width || !(*width >= least_width && *width <= most_width)) return {};
  return number(
      fit_error(kernel_fit(view.points.known, regression_queries(), view.kernels.kernel, *width, view.points.noise))
          .clean);
}

Answer warmup(const LessonSight& sight, Arguments) {
  return number(sight.views.of<OriginsView>().schedule.warmup);
}

// The highest learning rate, with the panel's settings.
Answer peak_rate(const LessonSight& sight, Arguments) {
  const ScheduleView& view = sight.views.of<OriginsView>().schedule;
  return number(rate_at(view, view.warmup));
}

// The backward pass shown in Through time, for the present sentence.
const PassGradients* pass_of(const LessonSight& sight, const std::string& which) {
  const auto& inspection = sight.views.of<OriginsView>().gradients.inspection;
  if (!inspection || !inspection->problem.empty() || !sight.inspection ||
      inspection->question.text != sight.inspection->source_text)
    return nullptr;
  if (which == "plain") return &inspection->plain;
  return which == "bare" && !inspection->bare.empty() ? &inspection->bare.front() : nullptr;
}

Answer gradient(const LessonSight& sight, Arguments arguments) {
  const PassGradients* pass = pass_of(sight, arguments[0]);
  const auto layer = number_from(arguments[2]);
  if (!pass || !layer) return {};
  const StackGradients& stack = arguments[1] == "decoder" ? pass->decoder : pass->encoder;
  return *layer >= 0 && *layer < stack.norms.rows ? number(stack.of_layer(static_cast<int>(*layer))) : Answer();
}

Answer gradient_loss(const LessonSight& sight, Arguments arguments) {
  const PassGradients* pass = pass_of(sight, arguments[0]);
  return pass ? number(pass->loss) : Answer();
}

std::optional<CostLayer> cost_layer_from(const std::string& name) {
  const auto found = std::ranges::find(cost_layers, name, [](CostLayer each) { return complexity(each).name; });
  return found == cost_layers.end() ? std::nullopt : std::optional(*found);
}

// The ratio of the costs of 2n and n tokens: counted multiplications, with the width of the present model.
Answer work_doubled(const LessonSight& sight, Arguments arguments) {
  const auto layer = cost_layer_from(arguments[0]);
  const auto n = number_from(arguments[1]);
  if (!layer || !n || !(*n >= 1 && *n <= longest_cost) || !sight.inspection) return {};
  const auto work = [&](double length) {
    return multiplications(*layer, static_cast<std::int64_t>(length), sight.inspection->model.d_model,
                           sight.inspection->model.cell);
  };
  return number(work(2 * *n) / work(*n));
}

// The same ratio for the memory measured in Cost.
Answer memory_doubled(const LessonSight& sight, Arguments arguments) {
  const auto& inspection = sight.views.of<OriginsView>().cost.inspection;
  const auto layer = cost_layer_from(arguments[0]);
  const auto n = number_from(arguments[1]);
  if (!inspection || !layer || !n) return {};
  const auto curve = std::ranges::find(inspection->curves, *layer, &CostCurve::layer);
  if (curve == inspection->curves.end()) return {};
  const auto held = [&](double length) {
    const auto point = std::ranges::find(curve->points, length,
                                         [](const CostPoint& each) { return static_cast<double>(each.length); });
    return point == curve->points.end() ? 0 : point->megabytes;
  };
  return held(*n) > 0 && held(2 * *n) > 0 ? number(held(2 * *n) / held(*n)) : Answer();
}

// ‖∂L/∂x‖ at the word, for its embedding.
Answer gradient_at(const LessonSight& sight, Arguments arguments) {
  const PassGradients* pass = pass_of(sight, "plain");
  if (!pass) return {};
  const StackGradients& stack = arguments[0] == "decoder" ? pass->decoder : pass->encoder;
  const int at = position_of(stack.tokens, arguments[1]);
  return at < 0 || stack.norms.rows == 0 || at >= stack.norms.cols ? Answer() : number(stack.norms.at(0, at));
}

// ---- by length

// The results for the present weights.
const LengthResult* lengths_of(const LessonSight& sight) {
  const LengthsView& view = sight.views.of<OriginsView>().lengths;
  const bool of_now = sight.inspection && view.run == sight.inspection->run && view.step == sight.inspection->step;
  if (!of_now || view.inspections.empty()) return nullptr;
  const LengthResult& result = view.inspections.back();
  return result.points.empty() || result.points.front().pairs > 0 ? &result : nullptr;  // running text has no outputs
}

Answer exact(const LessonSight& sight, Arguments arguments) {
  const LengthResult* inspection = lengths_of(sight);
  const auto length = number_from(arguments[0]);
  if (!inspection || !length) return {};
  const auto point = std::ranges::find(inspection->points, *length,
                                       [](const LengthPoint& each) { return static_cast<double>(each.length); });
  return point == inspection->points.end() ? Answer() : number(point->exact_share());
}

// The largest length up to which at least that share of outputs is correct at every length; 0: none.
Answer exact_up_to(const LessonSight& sight, Arguments arguments) {
  const LengthResult* inspection = lengths_of(sight);
  const auto share = number_from(arguments[0]);
  if (!inspection || !share) return {};
  std::int64_t longest = 0;
  for (const LengthPoint& point : inspection->points) {
    if (point.exact_share() < *share) break;
    longest = point.length;
  }
  return number(static_cast<double>(longest));
}

// ---- a recurrent network

// The gate that retains memory (an LSTM's f, a GRU's z), of the layer shown in Origins in the forward direction. Null:
// none.
const CellGate* keeping_gate(const LessonSight& sight) {
  const RecurrentStates* inspection = sight.inspection ? sight.inspection->recurrent.get() : nullptr;
  if (!inspection || inspection->asked.reverse) return nullptr;
  const auto gate = std::ranges::find_if(
      inspection->gates, [](const CellGate& each) { return each.name == "forget gate" || each.name == "update gate"; });
  return gate == inspection->gates.end() ? nullptr : &*gate;
}

double mean_of_row(const Matrix& matrix, int row) {
  double sum = 0;
  for (int col = 0; col < matrix.cols; ++col) sum += static_cast<double>(matrix.at(row, col));
  return sum / matrix.cols;
}

Answer kept_at(const LessonSight& sight, Arguments arguments) {
  const CellGate* gate = keeping_gate(sight);
  const int at = gate ? position_of(sight.inspection->recurrent->tokens, arguments[0]) : -1;
  return at < 0 ? Answer() : number(mean_of_row(gate->values, at));
}

// The word at which the gate retains least; excludes the first, which has no past to forget.
Answer forgets_most(const LessonSight& sight, Arguments) {
  const CellGate* gate = keeping_gate(sight);
  if (!gate) return {};
  const WordSpan* least = nullptr;
  const std::vector<WordSpan> words = words_of(tokens_of(sight.inspection->recurrent->tokens));
  for (const WordSpan& word : words) {
    const bool is_glyph = word.text.starts_with('<') || word.text == "," || word.text == ".";
    if (word.begin == 0 || word.begin >= gate->values.rows || is_glyph) continue;
    if (!least || mean_of_row(gate->values, word.begin) < mean_of_row(gate->values, least->begin)) least = &word;
  }
  return least ? Answer(least->text) : std::nullopt;
}

// The fraction of the memory after the word that remains at the end: Π of the gate over later steps, averaged over the
// units.
Answer left_of(const LessonSight& sight, Arguments arguments) {
  const CellGate* gate = keeping_gate(sight);
  const int from = gate ? position_of(sight.inspection->recurrent->tokens, arguments[0]) : -1;
  if (from < 0) return {};
  double sum = 0;
  for (int unit = 0; unit < gate->values.cols; ++unit) {
    double kept = 1;
    for (int at = from + 1; at < gate->values.rows; ++at) kept *= static_cast<double>(gate->values.at(at, unit));
    sum += kept;
  }
  return number(sum / gate->values.cols);
}

// The output decoded from the state after the word, or the label predicted from it.
Answer output_after(const LessonSight& sight, Arguments arguments) {
  const RecurrentStates* inspection = sight.inspection ? sight.inspection->recurrent.get() : nullptr;
  const int at = inspection ? position_of(inspection->source, arguments[0]) : -1;
  return at < 0 || std::cmp_greater_equal(at, inspection->read_out.size())
             ? Answer()
             : inspection->read_out[static_cast<std::size_t>(at)];
}

constexpr std::array origins_table = {
    Measure{"scores-d", "", "the value of d in Origins, √d_k", scores_d},
    Measure{"score-weight", "plain|divided D", "mean of the largest weight of softmax(q·k), or of softmax(q·k/√D)",
            score_weight},
    Measure{"score-entropy", "plain|divided D", "mean entropy of these weights, in nats", score_entropy},
    Measure{"kernel-width", "", "the kernel width in Origins", kernel_width},
    Measure{"kernel-error", "WIDTH", "mean squared error of the kernel regression with that width", kernel_error},
    Measure{"warmup", "", "number of warm-up steps in Origins", warmup},
    Measure{"peak-rate", "", "peak learning rate with that warm-up", peak_rate},
    Measure{"gradient", "plain|bare encoder|decoder LAYER",
            "norm of the gradient after that layer (0: embedding), in Backpropagation through time; bare: without "
            "residual connections",
            gradient},
    Measure{"gradient-loss", "plain|bare", "the loss of that gradient, in nats", gradient_loss},
    Measure{"gradient-at", "encoder|decoder WORD", "norm of the gradient at the embedding of a word", gradient_at},
    Measure{"exact", "LENGTH",
            "share of exact outputs for held-out sources of that length, in Length; of a drawn corpus, share of the "
            "tokens at that position that are predicted",
            exact},
    Measure{"exact-up-to", "SHARE", "the longest length up to which at least that share of outputs is exact",
            exact_up_to},
    Measure{"kept-at", "WORD",
            "mean of the forget gate (GRU: the update gate) at the word, in the layer shown in Recurrent cell",
            kept_at},
    Measure{"forgets-most", "", "the word, after the first, at which that gate is lowest", forgets_most},
    Measure{"left-of", "WORD", "mean share of the cell state after the word that is left at the end", left_of},
    Measure{"said-after", "WORD", "the output decoded from the state after the word, or the label predicted from it",
            output_after},
    Measure{"work-doubled", "self-attention|recurrent|convolution N",
            "factor by which the number of multiplications grows from N to 2N tokens, at the model's width",
            work_doubled},
    Measure{"memory-doubled", "self-attention|recurrent|convolution N",
            "the same factor for the memory measured in Cost", memory_doubled},
};

}  // namespace

std::span<const Measure> origins_measures() {
  return origins_table;
}

}  // namespace attnscope
