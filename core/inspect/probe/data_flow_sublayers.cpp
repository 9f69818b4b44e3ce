// A Transformer's layers: attention, feed-forward and the norms around them (§3.1–3.3).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "common/clamped.h"
#include "common/mark.h"
#include "config/position_schemes.h"
#include "config/rope_scaling.h"
#include "inspect/probe/data_flow_builder.h"
#include "inspect/probe/tensors.h"
#include "model/feed_forward.h"
#include "model/kernels/attention.h"
#include "model/positions.h"

namespace attnscope {
namespace {

using Labels = std::vector<std::string>;

constexpr std::int64_t shown_pads = 8;  // after the sentence, as in a batch with a longer one

bool is_cross(FlowPart part) {
  return part == FlowPart::cross_attention || part == FlowPart::cross_norm;
}

Sublayer sublayer_of(FlowPart part) {
  if (part == FlowPart::self_attention || part == FlowPart::self_norm) return Sublayer::self_attention;
  return is_cross(part) ? Sublayer::cross_attention : Sublayer::feed_forward;
}

// Of a layer of the model's last stack.
Sublayer last_sublayer(const ModelConfig& config) {
  if (config.has_feed_forward()) return Sublayer::feed_forward;
  return config.has_encoder() && config.has_decoder() ? Sublayer::cross_attention : Sublayer::self_attention;
}

const SublayerTensors* find_sublayer(const Inspection& record, bool decoder, int layer, Sublayer sublayer) {
  const auto found = std::ranges::find_if(record.sublayers, [&](const SublayerTensors& tensors) {
    return tensors.decoder == decoder && tensors.layer == layer && tensors.sublayer == sublayer;
  });
  return found == record.sublayers.end() ? nullptr : &*found;
}

// μ and √(σ² + ε) of every row, N×2, as in LayerNorm.
torch::Tensor moments_of(const torch::Tensor& x, double epsilon) {
  const torch::Tensor wide = x.to(torch::kFloat64);
  return torch::stack({wide.mean(1), (wide.var(1, false) + epsilon).sqrt()}, 1);
}

// √(mean of x² + ε) of every row, N×1, as in RMSNorm.
torch::Tensor root_mean_square(const torch::Tensor& x, double epsilon) {
  return (x.to(torch::kFloat64).square().mean(1, true) + epsilon).sqrt();
}

struct ActivationText {
  std::string_view name;
  FlowOp op;
  const char* help;
};

constexpr std::array activation_texts = {
    ActivationText{"relu", FlowOp::relu,
                   mark("max(0, inner): the hidden units. Below 0 a unit is inactive (paper §3.3).")},
    ActivationText{"gelu", FlowOp::gelu, mark("inner·Φ(inner): the hidden units (1606.08415).")},
    ActivationText{"gelu-tanh", FlowOp::gelu_by_tanh,
                   mark("inner·Φ(inner) with the tanh approximation of Φ: the hidden units (1606.08415 §2).")},
    ActivationText{"swish", FlowOp::swish, mark("inner·σ(inner): the hidden units (1710.05941).")},
    ActivationText{"swiglu", FlowOp::swish, mark("inner·σ(inner): the gate that scales the units (2002.05202).")},
    ActivationText{
        "geglu", FlowOp::gelu_by_tanh,
        mark("inner·Φ(inner) with the tanh approximation of Φ: the gate that scales the units (2002.05202).")},
    ActivationText{"geglu-erf", FlowOp::gelu, mark("inner·Φ(inner): the gate that scales the units (2002.05202).")},
};

const ActivationText& activation_text(std::string_view activation) {
  const auto* const found = std::ranges::find(activation_texts, activation, &ActivationText::name);
  if (found == activation_texts.end())
    throw ConfigError(fmt::format("the data flow cannot draw the activation \"{}\" yet", activation));
  return *found;
}

}  // namespace

const SublayerTensors* DataFlowBuilder::sublayer() {
  const SublayerTensors* flow =
      find_sublayer(pass_.record, decoder(), flow_.asked.layer, sublayer_of(flow_.asked.box.part));
  if (!flow)
    flow_.problem = mark("This layer is switched off: it passes its input through. Switch it on to see its numbers.");
  return flow;
}

// What the parts of one head's flow have in common.
struct DataFlowBuilder::HeadFlow {
  const HeadInside& head;
  bool cross;
  bool rotates, by_distance;  // the position scheme
  std::int64_t width;
  Labels queries, keys;
  std::string module, key_letters;
};

// One head, from its sublayer's input to its output.
void DataFlowBuilder::add_attention() {
  const SublayerTensors* flow = sublayer();
  if (!flow || !pass_.whole.inside) return;
  const HeadInside& head = *pass_.whole.inside;
  const bool cross = head.place.part == AttentionPart::cross;
  const PositionForm form = position_scheme(config_.positions).form;
  const Labels queries = tokens();
  const HeadFlow of_head{.head = head,
                         .cross = cross,
                         .rotates = !cross && form == PositionForm::rotation,
                         .by_distance = !cross && form == PositionForm::vectors,
                         .width = head.q.cols,
                         .queries = queries,
                         .keys = cross ? texts_of(pass_.whole.source) : queries,
                         .module = layer_name() + (cross ? "multihead_attn." : "self_attn."),
                         .key_letters = cross ? "S" : length()};
  const auto [q, k, v] = add_projections(of_head, flow->input[0]);
  add_head_output(of_head, add_weights(of_head, q, k), v);
}

// The head's queries, keys and values.
std::array<int, 3> DataFlowBuilder::add_projections(const HeadFlow& flow, const torch::Tensor& input) {
  const torch::Tensor w = parameter(flow.module + "in_proj_weight");
  const torch::Tensor b = parameter_if_any(flow.module + "in_proj_bias");
  begin_section(mark("1  Queries, keys and values: three linear maps"));
  const int x = add({.name = "x",
                     .help = mark("Input of this attention, one row per token."),
                     .letters = length() + "×D",
                     .row_labels = flow.queries},
                    input);
  int memory = x;
  if (flow.cross) {
    memory = add({.name = "memory",
                  .help = mark("Encoder output: keys and values are computed from it."),
                  .letters = "S×D",
                  .row_labels = flow.keys},
                 pass_.memory.states[0].detach());
  }
  // There may be fewer key-value heads than query heads; each serves several query heads.
  const int head = flow.head.place.head;
  const std::int64_t heads = config_.of_layer(decoder(), 0).num_heads;
  const std::int64_t key_heads = config_.num_kv_heads > 0 ? config_.num_kv_heads : heads;
  const int key_head = static_cast<int>(head * key_heads / heads);
  const auto projected = [&](int from, int third, const char* letter) {
    const std::int64_t of_keys = heads + (third - 1) * key_heads + key_head;
    const std::int64_t begin = (third == 0 ? head : of_keys) * flow.width;
    const std::int64_t first = (third == 0 ? head : key_head) * flow.width;
    std::string small(letter);
    small[0] = static_cast<char>(std::tolower(small[0]));
    int made = add_linear(from, small, fmt::format("W_{}", letter), fmt::format("b_{}", letter),
                          w.slice(0, begin, begin + flow.width),
                          b.defined() ? b.slice(0, begin, begin + flow.width) : b, "D×d");
    at(at(made).operands[1]).help = fmt::format(mark("Learned; columns {} to {} of the matrix belong to head {}."),
                                                first, first + flow.width - 1, head + 1);
    if (config_.query_key_norm && config_.has_norms() && third != 2) {
      at(made).name = small + ", before its norm";
      made = add_norm(made, flow.module + (third == 0 ? "q_norm." : "k_norm."), "d");
      at(made).name = small;
    }
    return flow.rotates && third != 2 ? add_rotation(flow, made, small) : made;
  };
  return {projected(x, 0, "Q"), projected(memory, 1, "K"), projected(memory, 2, "V")};
}

int DataFlowBuilder::add_rotation(const HeadFlow& flow, int rows, const std::string& name) {
  const std::int64_t rows_count = flow.head.k.rows;
  const ModelConfig own = config_.of_layer(decoder(), flow.head.place.layer);
  const torch::Tensor rotations =
      rope_rotations(rows_count, rotary_angles(own, rows_count)).to(of(rows).device());
  at(rows).name = name + ", before rotation";
  const int angles = add({.name = "rotations",
                          .help = mark("cos and sin of the rotation angles of every position, pair by pair (RoPE)."),
                          .letters = flow.key_letters + "×d",
                          .row_labels = flow.keys},
                         rotations);
  return add({.name = name,
              .help = mark("Rotated pair by pair, by the angles of its position (2104.09864)."),
              .letters = length() + "×d",
              .op = FlowOp::rotated,
              .operands = {rows, angles},
              .row_labels = flow.keys},
             kernels::rotate_heads(of(rows).unsqueeze(0), 1, flow.width, 1, rotations)[0]);
}

// The head's scores and their softmax; returns the weights.
int DataFlowBuilder::add_weights(const HeadFlow& flow, int q, int k) {
  const HeadInside& head = flow.head;
  const std::string letters = length() + "×" + flow.key_letters;
  begin_section(mark("2  Every query with every key: scores, then weights"));
  const double scale = head.scaled ? 1 / std::sqrt(static_cast<double>(head.scale_width())) : 1;
  torch::Tensor scores = torch::mm(of(q), of(k).t()) * scale;
  FlowMatrix scored{.name = !head.scaled          ? "q·k"
                            : head.score_width > 0 && head.score_width != static_cast<float>(flow.width)
                                ? fmt::format("q·k ÷ √{:g}", head.score_width)
                                : "q·k ÷ √d",
                    .help = mark("How well each query matches each key (paper §3.2.1)."),
                    .letters = letters,
                    .op = FlowOp::scores,
                    .operands = {q, k},
                    .factor = static_cast<float>(scale),
                    .row_labels = flow.queries,
                    .col_labels = flow.keys};
  if (!head.bias.empty()) {
    const torch::Tensor bias =
        torch::tensor(head.bias.values).view({head.bias.rows, head.bias.cols}).to(scores.device());
    FlowMatrix position_bias{.name = std::string(position_scheme(config_.positions).label) + " bias",
                             .help = mark("Added to this head's scores: depends on the positions of query and key."),
                             .letters = letters,
                             .row_labels = flow.queries,
                             .col_labels = flow.keys};
    if (flow.by_distance)
      position_bias.op = FlowOp::at_distance, position_bias.operands = {add_scores_by_distance(q, flow.module, scale)};
    scored.operands.push_back(add(std::move(position_bias), bias));
    scores = scores + bias;
  }
  int score = add(std::move(scored), scores);
  if (head.score_cap > 0)
    score = add({.name = "capped scores",
                 .help = fmt::format(mark("c · tanh(score / c) with c = {:g}: no score is larger."), head.score_cap),
                 .letters = letters,
                 .row_labels = flow.queries,
                 .col_labels = flow.keys},
                torch::tanh(scores / head.score_cap) * head.score_cap);
  const bool has_window = head.window > 0 && head.window < head.k.rows;
  const Matrix& weights = *map_at(pass_.whole, head.place);
  return add(
      {.name = "weights",
       .help = has_window    ? fmt::format(mark("softmax of every row; keys at a distance of {} tokens and more are "
                                                   "masked."),
                                           head.window)
               : head.causal ? mark("softmax of every row; keys after the query are masked (paper §3.2.3).")
                             : mark("softmax of every row: positive weights that sum to 1."),
       .letters = letters,
       .op = has_window ? FlowOp::given : FlowOp::softmax,
       .operands = has_window ? std::vector<int>{} : std::vector<int>{score},
       .causal = head.causal,
       .row_labels = flow.queries,
       .col_labels = flow.keys},
      torch::tensor(weights.values).view({weights.rows, weights.cols}));
}

void DataFlowBuilder::add_head_output(const HeadFlow& flow, int weight, int v) {
  const HeadInside& head = flow.head;
  begin_section(mark("3  Weighted sum of the values; all heads through W_O"));
  const torch::Tensor joined =
      torch::tensor(head.heads_output.values).view({head.heads_output.rows, head.heads_output.cols});
  const torch::Tensor own = joined.slice(1, head.place.head * flow.width, (head.place.head + 1) * flow.width);
  const int mixed = add({.name = flow.by_distance ? "weighted values" : "head",
                         .help = mark("For every query: the sum of the values, weighted by its attention."),
                         .letters = length() + "×d",
                         .op = FlowOp::product,
                         .operands = {weight, v},
                         .row_labels = flow.queries},
                        flow.by_distance ? torch::mm(of(weight), of(v).cpu()) : own);
  if (flow.by_distance) add_mixed_distances(mixed, weight, own, flow.module);
  const int all = add({.name = "heads",
                       .help = mark("All heads, concatenated (paper §3.2.2)."),
                       .letters = length() + "×D",
                       .row_labels = flow.queries},
                      joined);
  const torch::Tensor biases = parameter_if_any(flow.module + "out_proj.bias");
  const int out = add_linear(all, "Sublayer(x)", "W_O", "b_O", parameter(flow.module + "out_proj.weight").cpu(),
                             biases.defined() ? biases.cpu() : biases, "D×D");
  at(out).help = config_.output_norms ? mark("Output of the attention: normalized, then added to x.")
                                      : mark("Output of the attention: added to x next.");
  add_output_norm(out, flow.cross ? "multihead_attn" : "self_attn");
}

Labels DataFlowBuilder::distance_labels(std::int64_t first, std::int64_t count) {
  Labels labels;
  for (std::int64_t distance = first; distance < first + count; ++distance)
    labels.push_back(distance == 0 ? "0" : fmt::format("{:+}", distance));
  return labels;
}

// Shaw's vectors, 2k + 1 of them: the outer ones cover distances of k tokens and more (1803.02155 §3.2).
int DataFlowBuilder::add_distances(const std::string& name, const std::string& parameter_name) {
  const torch::Tensor vectors = parameter(parameter_name);
  const char* const unseen =
      decoder() ? mark("Distances to the right are never used: no query attends to a later key.") : "";
  const int added =
      add_learned(name,
                  fmt::format(mark("Learned, one row per distance to the left and right of the query; keys "
                                   "farther away share the last row. The same for all heads of the layer. {}"),
                              unseen),
                  "R×d", vectors);
  at(added).row_labels = distance_labels(-(vectors.size(0) / 2), vectors.size(0));
  return added;
}

// The score of every query with every distance: a key's score for its relative position (1803.02155 §3.3).
int DataFlowBuilder::add_scores_by_distance(int q, const std::string& module, double scale) {
  const int vectors = add_distances("a^K", module + "relative_k");
  return add({.name = scale == 1 ? "q·a^K" : "q·a^K ÷ √d",
              .help = mark("How well each query matches each distance."),
              .letters = length() + "×R",
              .op = FlowOp::scores,
              .operands = {q, vectors},
              .factor = static_cast<float>(scale),
              .row_labels = at(q).row_labels,
              .col_labels = at(vectors).row_labels},
             torch::mm(of(q), of(vectors).t()) * scale);
}

// Σ_j w_ij (v_j + a^V_ij), the head: adds the relative vectors to the values, one distance at a time (1803.02155,
// equation 3).
void DataFlowBuilder::add_mixed_distances(int values, int weights, const torch::Tensor& head,
                                          const std::string& module) {
  const Labels queries = at(weights).row_labels;
  const AttentionPart stack = decoder() ? AttentionPart::decoder : AttentionPart::encoder;
  const torch::Tensor distances = model_.relative_positions(stack, head.size(0)).distances.cpu();
  const int vectors = add_distances("a^V", module + "relative_v");
  const int sums = add({.name = "weights by distance",
                        .help = mark("Total attention weight of each query on the keys at each distance."),
                        .letters = length() + "×R",
                        .op = FlowOp::by_distance,
                        .operands = {weights},
                        .row_labels = queries,
                        .col_labels = at(vectors).row_labels},
                       torch::zeros({head.size(0), of(vectors).size(0)}).scatter_add(1, distances, of(weights)));
  const int mixed = add({.name = "weighted distances",
                         .help = mark("For every query: the sum of the distance vectors, weighted by its attention."),
                         .letters = length() + "×d",
                         .op = FlowOp::product,
                         .operands = {sums, vectors},
                         .row_labels = queries},
                        torch::mm(of(sums), of(vectors).cpu()));
  add({.name = "head",
       .help = mark("Sum of the weighted values and the weighted distance vectors."),
       .letters = length() + "×d",
       .op = FlowOp::sum,
       .operands = {values, mixed},
       .row_labels = queries},
      head);
}

void DataFlowBuilder::add_feed_forward() {
  const SublayerTensors* flow = sublayer();
  if (!flow) return;
  const std::string module = layer_name();
  const int x = add({.name = "x",
                     .help = mark("Input of the feed-forward network, one row per token."),
                     .letters = length() + "×D",
                     .row_labels = tokens()},
                    flow->input[0]);
  const auto map = [&](int from, const char* result, int number, const char* letters) {
    const std::string name = fmt::format("{}linear{}.", module, number);
    const torch::Tensor w = parameter(name + "weight");
    const torch::Tensor b = parameter_if_any(name + "bias");
    const int made = add_linear(from, result, number == 1 ? "W₁" : "W₂", number == 1 ? "b₁" : "b₂", w, b, letters);
    if (!flow_.asked.convolution) return made;
    // N×I as 1×I×N: a kernel of width 1 slides over the tokens.
    const torch::Tensor places = of(from).t().unsqueeze(0);
    const torch::Tensor convolved = torch::conv1d(places, w.unsqueeze(2), b)[0].t();
    at(made).op = FlowOp::convolved;
    at(made).help = fmt::format(mark("Conv1d over the tokens with {} kernels of width 1: each position sees only "
                                     "itself, so it equals {}·{} + {}. "
                                     "Largest difference from the matrix product: {:.2g}."),
                                w.size(0), at(from).name, number == 1 ? "W₁" : "W₂", number == 1 ? "b₁" : "b₂",
                                (convolved - of(made)).abs().max().item<double>());
    at(made).values = to_matrix(convolved);
    tensors_[static_cast<std::size_t>(made)] = convolved;
    return made;
  };
  const FeedForwardForm& form = feed_forward_form(config_.activation);
  const int inner = map(x, "inner", 1, "D×F");
  const ActivationText& text = activation_text(config_.activation);
  int hidden = add({.name = form.gated ? "gate" : "hidden",
                    .help = text.help,
                    .letters = length() + "×F",
                    .op = text.op,
                    .operands = {inner},
                    .row_labels = tokens()},
                   activate(form.function, of(inner)));
  if (form.gated) {
    const int value = add_linear(x, "xV", "V", "c", parameter(module + "linear_v.weight"),
                                 parameter_if_any(module + "linear_v.bias"), "D×F");
    hidden = add({.name = "hidden",
                  .help = mark("gate ⊙ xV: the gate sets how much of each unit's value passes (2002.05202)."),
                  .letters = length() + "×F",
                  .op = FlowOp::times,
                  .operands = {hidden, value},
                  .row_labels = tokens()},
                 of(hidden) * of(value));
  }
  const int out = map(hidden, "Sublayer(x)", 2, "F×D");
  at(out).help += std::string(" ") + (config_.output_norms ? mark("It is normalized, then added to x.")
                                                           : mark("It is added to x next."));
  add_output_norm(out, "feed_forward");
}

void DataFlowBuilder::add_output_norm(int x, const std::string& name) {
  if (!config_.output_norms || !config_.has_norms()) return;
  begin_section(mark("The output is normalized before it is added to x"));
  add_norm(x, fmt::format("{}{}_output_norm.", layer_name(), name));
}

// ---- layer norms

int DataFlowBuilder::add_norm(int x, const std::string& parameters, const std::string& letter) {
  const double epsilon = config_.norm_epsilon;
  const torch::Tensor gain = parameter(parameters + "weight");
  const torch::Tensor shift = parameter_if_any(parameters + "bias");
  const bool rms = !shift.defined();
  const torch::Tensor moments_values = rms ? root_mean_square(of(x), epsilon) : moments_of(of(x), epsilon);
  const int moments = add(
      {.name = rms ? "rms" : "μ, σ",
       .help = rms ? fmt::format(mark("Over the D numbers of every token: √(mean of their squares + {:.0e})."), epsilon)
                   : mark("Over the D numbers of every token: mean and √(variance + 10⁻⁵). Other tokens and other "
                          "sentences have no influence."),
       .letters = length() + (rms ? "×1" : "×2"),
       .op = rms ? FlowOp::mean_square : FlowOp::moments,
       .operands = {x},
       .factor = static_cast<float>(epsilon),
       .row_labels = at(x).row_labels,
       .col_labels = rms ? Labels{"rms"} : Labels{"μ", "σ"}},
      moments_values);
  const int learned = add({.name = rms ? "γ" : "γ, β",
                           .help = rms ? mark("Learned: gain of every dimension, the same for all tokens.")
                                       : mark("Learned: gain and bias of every dimension, the same for all tokens."),
                           .letters = (rms ? "1×" : "2×") + letter,
                           .op = FlowOp::learned,
                           .row_labels = rms ? Labels{"γ"} : Labels{"γ", "β"}},
                          rms ? gain.unsqueeze(0) : torch::stack({gain, shift}));
  return add(
      {.name = rms ? "RMSNorm(x)" : "LayerNorm(x)",
       .help = rms ? mark("x / rms · γ, with each token's own rms (1910.07467).")
                   : mark("(x − μ) / σ · γ + β, with each token's own μ and σ."),
       .letters = length() + "×" + letter,
       .op = rms ? FlowOp::rms_normalized : FlowOp::normalized,
       .operands = {x, moments, learned},
       .row_labels = at(x).row_labels},
      rms ? of(x) / moments_values * gain : torch::layer_norm(of(x), {gain.size(0)}, gain, shift, epsilon));
}

void DataFlowBuilder::add_sublayer_norm() {
  const SublayerTensors* flow = sublayer();
  if (!flow) return;
  const FlowPart part = flow_.asked.box.part;
  const bool pre = config_.norm == "pre";
  const int number = part == FlowPart::self_norm ? 1 : is_cross(part) ? 2 : decoder() && plan_.memory.size() ? 3 : 2;
  // Parallel sublayers have the same input.
  const Sublayer normed = config_.parallel_sublayers ? Sublayer::self_attention : sublayer_of(part);
  const auto before_norm = [&](const Inspection& record) {
    const SublayerTensors* const found = find_sublayer(record, decoder(), flow_.asked.layer, normed);
    return found ? found->x : flow->x;
  };
  const auto residual = [&] {
    begin_section(pre ? mark("Input plus output of the sublayer") : mark("The residual connection"));
    const int x =
        add({.name = "x", .help = mark("Input of the sublayer."), .letters = length() + "×D", .row_labels = tokens()},
            flow->x[0]);
    const int added = add({.name = "Sublayer(x)",
                           .help = mark("Output of the sublayer."),
                           .letters = length() + "×D",
                           .row_labels = tokens()},
                          flow->added[0]);
    return add({.name = "x + Sublayer(x)",
                .help = mark("The residual connection: the sublayer only has to compute the change (paper §3.1)."),
                .letters = length() + "×D",
                .op = FlowOp::sum,
                .operands = {x, added},
                .row_labels = tokens()},
               flow->x[0] + flow->added[0]);
  };
  int x = 0;
  if (pre) {
    begin_section(mark("Each token normalized separately"));
    x = add({.name = "x", .help = mark("Input of the layer norm."), .letters = length() + "×D", .row_labels = tokens()},
            before_norm(pass_.record)[0]);
  } else {
    x = residual();
    begin_section(mark("Each token normalized separately"));
  }
  add_norm(x, fmt::format("{}norm{}.", layer_name(), number));
  const SublayerTensors padded = padded_flow(normed);
  add_batch_spread(x, (pre ? padded.x : padded.x + padded.added)[0]);
  if (pre) residual();
}

void DataFlowBuilder::add_last_norm() {
  const SublayerTensors* flow =
      find_sublayer(pass_.record, decoder(), flow_.asked.layer = static_cast<int>(plan_.column(decoder()).layers) - 1,
                    last_sublayer(config_));
  if (!flow) {
    flow_.problem =
        mark("The last layer is switched off: it passes its input through. Switch it on to see its numbers.");
    return;
  }
  const int x =
      add({.name = "x", .help = mark("Output of the last layer."), .letters = length() + "×D", .row_labels = tokens()},
          flow->out[0]);
  add_norm(x, stack() + ".norm.");
  add_batch_spread(x, padded_flow(last_sublayer(config_)).out[0]);
}

// The same sublayer with padding after the sentence, as in a batch with a longer one. The rows of the real tokens are
// unchanged, because padding is masked.
SublayerTensors DataFlowBuilder::padded_flow(Sublayer sublayer) {
  const auto room = config_.max_length - static_cast<std::int64_t>(tokens(decoder()).size());
  std::vector<int> ids = ids_of(tokens(decoder()));
  const int pad = std::max(0, config_.special().padding);
  ids.resize(ids.size() + static_cast<std::size_t>(clamped<std::int64_t>(room, 0, shown_pads)), pad);
  const torch::Tensor padded = ids_tensor(ids, model_.device());
  Inspection record{.interventions = pass_.record.interventions, .sublayers_wanted = true};
  if (decoder()) {
    model_.decode(padded, pass_.memory, nullptr, &record);
  } else {
    model_.encode(padded, padded.eq(pad), &record);
  }
  return *find_sublayer(record, decoder(), flow_.asked.layer, sublayer);
}

void DataFlowBuilder::add_batch_spread(int x, const torch::Tensor& padded) {
  const std::int64_t pads = padded.size(0) - of(x).size(0);
  begin_section(mark("For comparison, batch normalization: one μ and σ per dimension, over all tokens of the batch"));
  Labels labels = tokens();
  labels.resize(labels.size() + static_cast<std::size_t>(pads), "<pad>");
  const int with_padding =
      add({.name = "x, padded",
           .help = fmt::format(mark("The same sentence followed by {} padding tokens, as in a batch "
                                    "with a longer one. Padding has vectors, too."),
                               pads),
           .letters = length() + "×D",
           .row_labels = labels},
          padded);
  const auto columns = [](const torch::Tensor& rows) { return moments_of(rows.t(), 1e-5).t(); };  // 2×D
  add({.name = "μ, σ of the batch",
       .help = mark(
           "Over the tokens, for every dimension. Padding changes them: normalization would depend on how long the "
           "other sentences of the batch are. A layer norm does not depend on them."),
       .letters = "4×D",
       .op = FlowOp::spread,
       .operands = {x, with_padding},
       .factor = 1e-5F,
       .row_labels = {"μ", "σ", "μ, with padding", "σ, with padding"}},
      torch::cat({columns(of(x)), columns(padded)}));
}

}  // namespace attnscope
