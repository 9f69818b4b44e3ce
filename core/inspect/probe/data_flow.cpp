#include "inspect/probe/data_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "common/clamped.h"
#include "common/mark.h"
#include "config/position_schemes.h"
#include "inspect/probe/data_flow_builder.h"
#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

constexpr std::int64_t shown_tokens = 24;  // of the vocabulary: columns of the logits

}  // namespace

DataFlow DataFlowBuilder::build() {
  settle();
  if (flow_.problem.empty()) fill();
  return std::move(flow_);
}

// Limits the request to what exists.
void DataFlowBuilder::settle() {
  FlowWanted& asked = flow_.asked;
  const ArchitectureColumn& column = plan_.column(asked.box.decoder);
  if (!find_box(plan_, asked.box)) {
    flow_.problem = mark("This architecture has no such component: choose a box in its diagram.");
    return;
  }
  asked.layer = clamped(asked.layer, 0, static_cast<int>(column.layers) - 1);
  asked.head = clamped(asked.head, 0, static_cast<int>(config_.of_layer(decoder(), 0).num_heads) - 1);
  asked.token = clamped(asked.token, 0, std::max(0, static_cast<int>(tokens(decoder()).size()) - 1));
}

void DataFlowBuilder::fill() {
  switch (flow_.asked.box.part) {
    case FlowPart::embedding:
      add_embedding(decoder());
      return;
    case FlowPart::positions:
      return add_positions();
    case FlowPart::self_norm:
    case FlowPart::cross_norm:
    case FlowPart::feed_forward_norm:
      return add_sublayer_norm();
    case FlowPart::self_attention:
    case FlowPart::cross_attention:
      return add_attention();
    case FlowPart::feed_forward:
      return add_feed_forward();
    case FlowPart::last_norm:
      return add_last_norm();
    case FlowPart::cell:
      return add_cell();
    case FlowPart::attention:
      return config_.is_classifier() ? add_pooling() : add_attention_of_states();
    case FlowPart::readout:
      return add_readout();
    case FlowPart::logits:
    case FlowPart::probabilities:
      if (pass_.features.defined()) return add_logits(flow_.asked.box.part == FlowPart::probabilities);
      flow_.problem = mark("This model has no head that predicts tokens.");
      return;
  }
}

int DataFlowBuilder::add(FlowMatrix matrix, const torch::Tensor& values) {
  tensors_.push_back(values);
  matrix.values = to_matrix(values);
  matrix.section = std::exchange(section_, {});
  flow_.matrices.push_back(std::move(matrix));
  return static_cast<int>(flow_.matrices.size()) - 1;
}

int DataFlowBuilder::add_learned(const std::string& name, const std::string& help, const std::string& letters,
                                 const torch::Tensor& values) {
  return add({.name = name, .help = help, .letters = letters, .op = FlowOp::learned}, values);
}

int DataFlowBuilder::add_linear(int x, const std::string& result, const std::string& weight, const std::string& bias,
                                const torch::Tensor& w, const torch::Tensor& b, const std::string& letters) {
  const auto split = letters.find("×");
  const std::string width = letters.substr(split + std::string("×").size());
  const int matrix = add_learned(
      weight, fmt::format(mark("Learned weights, applied as {}·W; PyTorch stores the transpose."), at(x).name), letters,
      w.t());
  FlowMatrix made{.name = result,
                  .help = fmt::format(mark("{}·{}{}{}: this linear map, applied to every token."), at(x).name, weight,
                                      b.defined() ? " + " : "", b.defined() ? bias : ""),
                  .letters = at(x).letters.substr(0, at(x).letters.find("×")) + "×" + width,
                  .op = FlowOp::product,
                  .operands = {x, matrix},
                  .row_labels = at(x).row_labels};
  if (b.defined())
    made.operands.push_back(
        add_learned(bias, mark("Learned bias, the same for every token."), "1×" + width, b.unsqueeze(0)));
  return add(std::move(made), torch::linear(of(x), w, b));
}

// ---- from ids to embeddings

double DataFlowBuilder::embedding_factor() const {
  return config_.scaled_embeddings ? std::sqrt(static_cast<double>(config_.d_model)) : 1;
}

torch::Tensor DataFlowBuilder::embedded(bool decoder) const {
  const bool shared = config_.has_one_embedding();
  const torch::Tensor table = parameter(shared    ? "embedding.weight"
                                        : decoder ? "target_embedding.weight"
                                                  : "source_embedding.weight");
  const torch::Tensor ids =
      replaced_ids(&pass_.record, ids_tensor(ids_of(tokens(decoder)), model_.device()), decoder, 0);
  return table.index_select(0, ids[0]) * embedding_factor();
}

int DataFlowBuilder::add_embedding(bool decoder) {
  const std::vector<std::string> labels = tokens();
  const torch::Tensor given = ids_tensor(ids_of(tokens(decoder)), model_.device());
  const torch::Tensor ids = replaced_ids(&pass_.record, given, decoder, 0)[0];
  const double root = embedding_factor();
  const int id = add({.name = "ids",
                      .help = mark("Token ids: all that the model receives of the text."),
                      .letters = length() + "×1",
                      .row_labels = labels,
                      .col_labels = {"id"}},
                     ids.unsqueeze(1));
  const int rows = add({.name = "E[ids]",
                        .help = mark("Rows of the embedding matrix E, V×D: one learned vector per token."),
                        .letters = length() + "×D",
                        .op = FlowOp::picked,
                        .operands = {id},
                        .row_labels = labels},
                       embedded(decoder) / root);
  const auto times_root = [&] {
    return add(
        {.name = "E[ids]·√D",
         .help = mark(
             "Multiplied by √D (paper §3.4), which scales the embeddings to the size of the positional encodings."),
         .letters = length() + "×D",
         .op = FlowOp::scaled,
         .operands = {rows},
         .factor = static_cast<float>(root),
         .row_labels = labels},
        embedded(decoder));
  };
  const int scaled = config_.scaled_embeddings ? times_root() : rows;
  for (const PositionTensor& table : model_.positions()) {
    const bool added = position_scheme(config_.positions).form == PositionForm::added;
    if (!added || (!table.name.empty() && table.name != (decoder ? "target" : "source"))) continue;
    const int positions =
        add({.name = "positions",
             .help = fmt::format(mark("One vector per position: {}."), position_scheme(config_.positions).tells),
             .letters = length() + "×D",
             .op = config_.positions == "learned" ? FlowOp::learned : FlowOp::given,
             .row_labels = labels},
            table.values.slice(0, 0, static_cast<std::int64_t>(labels.size())).detach());
    const int sum = add({.name = "x",
                         .help = mark("Input of the first layer: token embedding plus positional encoding."),
                         .letters = length() + "×D",
                         .op = FlowOp::sum,
                         .operands = {scaled, positions},
                         .row_labels = labels},
                        of(scaled) + of(positions));
    return config_.embedding_norm ? add_embedding_norm(sum, decoder) : sum;
  }
  return config_.embedding_norm ? add_embedding_norm(scaled, decoder) : scaled;
}

// An encoder such as BERT adds token types to the sum, and normalizes and perhaps widens it.
int DataFlowBuilder::add_embedding_norm(int sum, bool decoder) {
  if (const torch::Tensor table = parameter_if_any("token_types"); table.defined()) {
    const torch::Tensor ends =
        ids_tensor(ids_of(tokens(false)), model_.device())[0].eq(config_.end_id).to(torch::kInt64);
    const torch::Tensor types = table.index_select(0, (ends.cumsum(0) - ends).clamp_max(table.size(0) - 1));
    const int rows = add({.name = "types",
                          .help = mark("One learned vector for each sentence of a pair."),
                          .letters = "S×D",
                          .op = FlowOp::learned,
                          .row_labels = at(sum).row_labels},
                         types);
    sum = add({.name = "x + types",
               .help = mark("Token, position and token type added (1810.04805 §3)."),
               .letters = "S×D",
               .op = FlowOp::sum,
               .operands = {sum, rows},
               .row_labels = at(sum).row_labels},
              of(sum) + types);
  }
  begin_section(mark("Each token normalized separately"));
  const int normalized =
      add_norm(sum, decoder && config_.has_encoder() ? "target_embedding_norm." : "embedding_norm.");
  const torch::Tensor widening = parameter_if_any("widening.weight");
  if (!widening.defined()) return normalized;
  return add_linear(normalized, "x", "W", "b", widening, parameter("widening.bias"), "E×D");
}

void DataFlowBuilder::add_positions() {
  const PositionScheme& scheme = position_scheme(config_.positions);
  if (scheme.form == PositionForm::added) {
    add_embedding(decoder());
    return;
  }
  const auto rows = static_cast<std::int64_t>(tokens(decoder()).size());
  const std::string layer = fmt::format("{}, layer {}", stack(), flow_.asked.layer + 1);
  for (const PositionTensor& table : model_.positions()) {
    if (!table.name.empty() && table.name != stack() && table.name != layer) continue;
    const bool by_position = scheme.form == PositionForm::rotation;
    FlowMatrix matrix{.name = std::string(scheme.label),
                      .help = scheme.caption,
                      .letters = by_position                            ? length() + "×d"
                                 : scheme.form == PositionForm::vectors ? "R×d"
                                                                        : "R×H"};
    matrix.row_labels = by_position ? tokens() : distance_labels(table.first, table.values.size(0));
    add(std::move(matrix), (by_position ? table.values.slice(0, 0, rows) : table.values).detach());
  }
}

// ---- from features to probabilities

void DataFlowBuilder::add_logits(bool shares) {
  const torch::Tensor features = pass_.features[0].detach();  // T×D
  const torch::Tensor logits = model_.uncapped_logits(features);  // T×V
  const torch::Tensor capped = model_.capped(logits);
  // The tokens that can be predicted are the output matrix's rows; a classifier's labels are at the end of the
  // vocabulary.
  const std::int64_t first = config_.is_classifier() ? logits.size(1) - config_.num_classes : 0;
  const std::int64_t count = std::min(shown_tokens, logits.size(1) - first);
  const torch::Tensor best = std::get<1>(logits[flow_.asked.token].nan_to_num(-1e30).topk(count));
  std::vector<std::string> columns;
  for (std::int64_t i = 0; i < count; ++i) columns.push_back(token_of(best[i].item<int>(), tokenizer_, config_).text);
  const std::vector<std::string> rows = tokens();
  const std::string row = rows[static_cast<std::size_t>(flow_.asked.token)];
  int h = -1;
  int weights = -1;
  if (!shares) {
    h = add({.name = "h",
             .help = config_.is_masked_lm() ? mark("Output of the head's norm, one row per token.")
                                            : mark("Output of the last layer, one row per token."),
             .letters = "T×D",
             .row_labels = rows},
            features);
    if (config_.scaled_output) {
      const double factor = 1 / std::sqrt(static_cast<double>(config_.d_model));
      h = add({.name = "h ÷ √D",
               .help = mark(
                   "Divided by √D before the product with the embedding matrix, whose values are large (1910.10683)."),
               .letters = "T×D",
               .op = FlowOp::scaled,
               .operands = {h},
               .factor = static_cast<float>(factor),
               .row_labels = rows},
              features * factor);
    }
    const torch::Tensor table = parameter(config_.has_tied_output() ? "embedding.weight" : "output_weight");
    weights = add(
        {.name = config_.has_tied_output() ? "Eᵀ" : "W",
         .help = fmt::format(mark("One column per token of the vocabulary; these are the {} most probable after “{}”."),
                             count, row),
         .letters = fmt::format("D×{} of V", count),
         .op = FlowOp::learned,
         .col_labels = columns},
        table.index_select(0, best - first).t());
  }
  FlowMatrix logit{
      .name = "logits",
      .help =
          fmt::format(mark("One score per token of the vocabulary: the {} most probable of V after “{}”."), count, row),
      .letters = fmt::format("T×{} of V", count),
      .row_labels = rows,
      .col_labels = columns};
  if (!shares) logit.op = FlowOp::product, logit.operands = {h, weights};
  if (!shares && config_.output_bias) {
    logit.operands.push_back(add_learned("b", mark("Learned bias, one number per token of the vocabulary."),
                                         fmt::format("1×{} of V", count),
                                         parameter("output_bias").index_select(0, best - first).unsqueeze(0)));
  }
  int score = add(std::move(logit), logits.index_select(1, best));
  if (config_.logit_cap > 0)
    score = add({.name = "capped logits",
                 .help = fmt::format(mark("c · tanh(logit / c) with c = {:g}: no logit is larger."), config_.logit_cap),
                 .letters = at(score).letters,
                 .row_labels = rows,
                 .col_labels = columns},
                capped.index_select(1, best));
  if (!shares) return;
  const int sum = add(
      {.name = "ln Σ exp",
       .help = mark("Over all tokens of the vocabulary: the softmax normalizer, which is subtracted from every score."),
       .letters = "T×1",
       .op = FlowOp::log_sum,
       .row_labels = rows,
       .col_labels = {"ln Σ"}},
      capped.logsumexp(1, true));
  add({.name = "p",
       .help = mark("exp(logit − ln Σ exp): the probability of each token. Over the whole vocabulary they sum to 1."),
       .letters = at(score).letters,
       .op = FlowOp::share,
       .operands = {score, sum},
       .row_labels = rows,
       .col_labels = columns},
      (of(score) - of(sum)).exp());
}

DataFlow data_flow_of(SequenceModel& model, const Tokenizer& tokenizer, const FlowWanted& wanted,
                      const FlowPass& pass) {
  return DataFlowBuilder(model, tokenizer, wanted, pass).build();
}

}  // namespace attnscope
