// The metrics of every optimizer step, one row per metric. metrics.jsonl, the CSV, the output of `attnscope train` and
// the curves all follow from these rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "messages/metric_point.h"

namespace attnscope {

// Metrics with the same plot title share one plot.
struct MetricPlot {
  std::string_view title;      // with the unit
  std::string_view help = {};  // tooltip of the title
  float height = 1;            // relative to the lowest plots
  bool log = false;            // drawn on a log scale if the user enables it
};

struct MetricLine {
  std::string_view name = "value";  // series name in the plot
  bool noisy = false;             // drawn faintly, behind its moving average
};

struct MetricRow {
  const char* key;     // in metrics.jsonl and in `attnscope train --json`
  const char* column;  // in the CSV
  MetricPlot plot;
  MetricLine line = {};
  std::string_view text = {};  // how `attnscope train` prints it, as a format string of the number; empty: not printed
};

inline constexpr MetricPlot loss_plot{
    "Loss, nats/token",
    "How surprised the model is by the next token (cross-entropy). Training: with label smoothing and dropout, so it "
    "stays well above 0 even after everything is learned (paper §5.4). Validation: the negative log-likelihood of "
    "pairs not seen in training, without smoothing and dropout. Train, plain: the same on pairs of the training part. "
    "If it falls while validation rises, the model overfits.",
    2.2F, true};

inline constexpr MetricPlot accuracy_plot{
    "Accuracy",
    "Share of targets that are the model's most likely token: labels of a classifier, masked tokens, or tokens that "
    "follow from the context in a corpus that is drawn during training (repeats). Validation: on examples not seen in "
    "training.",
    1.6F};

// In the order of metrics.jsonl, whose lines contain the metrics measured at their step.
inline constexpr std::array metric_rows = {
    MetricRow{"loss", "train_loss", loss_plot, {"train", true}, "loss {:.4f}"},
    MetricRow{"learning_rate", "learning_rate", {"Learning rate"}},
    MetricRow{"gradient_norm", "gradient_norm", {"Gradient norm"}, {.noisy = true}},  // before clipping
    // Source and target tokens without padding.
    MetricRow{"tokens_per_second", "tokens_per_second", {"Tokens/s"}, {.noisy = true}, "{:.0f} tok/s"},
    // Only at steps with validation.
    MetricRow{"validation_nll", "validation_loss", loss_plot, {"validation"}, "validation {:.4f} nats/token"},
    // Like validation, on as much of the training part; only if the training loss has smoothing or dropout.
    MetricRow{"train_nll", "plain_train_loss", loss_plot, {"train, plain"}},
    MetricRow{"accuracy", "train_accuracy", accuracy_plot, {"train"}, "train accuracy {:.3f}"},
    MetricRow{"validation_accuracy", "validation_accuracy", accuracy_plot, {"validation"}, "accuracy {:.3f}"},
};
static_assert(metric_rows.size() <= MetricPoint::capacity);

// Returns the index of a metric in the table: an index of a MetricPoint and of Curves. An unknown key does not compile.
consteval std::size_t metric(std::string_view key) {
  for (std::size_t i = 0; i < metric_rows.size(); ++i) {
    if (key == metric_rows[i].key) return i;
  }
  throw std::invalid_argument("unknown metric");
}

// The metrics of each plot. Plots and metrics are in table order, which is the order of drawing, copying and printing.
inline std::vector<std::vector<std::size_t>> metrics_by_plot() {
  std::vector<std::vector<std::size_t>> plots;
  for (std::size_t i = 0; i < metric_rows.size(); ++i) {
    const auto shared = std::ranges::find_if(plots, [i](const std::vector<std::size_t>& plot) {
      return metric_rows[plot.front()].plot.title == metric_rows[i].plot.title;
    });
    if (shared == plots.end()) {
      plots.push_back({i});
    } else {
      shared->push_back(i);
    }
  }
  return plots;
}

}  // namespace attnscope
