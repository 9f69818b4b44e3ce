#include "probe/data_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/attention.h"
#include "model/cells.h"
#include "plain/architecture.h"
#include "plain/position_schemes.h"
#include "probe/choices.h"
#include "probe/tensors.h"

namespace attnscope {
namespace {

using Labels = std::vector<std::string>;

constexpr std::int64_t shown_pieces = 24;  // of the vocabulary: columns of logits
constexpr std::int64_t shown_pads = 8;     // behind the sentence, as in a batch with a longer one

bool is_cross(FlowPart part) {
  return part == FlowPart::cross_attention || part == FlowPart::cross_norm;
}

Sublayer sublayer_of(FlowPart part) {
  if (part == FlowPart::self_attention || part == FlowPart::self_norm) return Sublayer::self_attention;
  return is_cross(part) ? Sublayer::cross_attention : Sublayer::feed_forward;
}

const FlowTensors* find_flow(const Inspection& record, bool decoder, int layer, Sublayer sublayer) {
  const auto found = std::ranges::find_if(record.flow, [&](const FlowTensors& flow) {
    return flow.decoder == decoder && flow.layer == layer && flow.sublayer == sublayer;
  });
  return found == record.flow.end() ? nullptr : &*found;
}

// μ and √(σ² + ε) of every row, N×2, as LayerNorm computes them.
torch::Tensor moments_of(const torch::Tensor& x, double epsilon) {
  const torch::Tensor wide = x.to(torch::kFloat64);
  return torch::stack({wide.mean(1), (wide.var(1, false) + epsilon).sqrt()}, 1);
}

class Builder {
 public:
  Builder(SequenceModel& model, const Tokenizer& tokenizer, const FlowWanted& wanted, const FlowPass& pass)
      : model_(model),
        config_(model.config()),
        tokenizer_(tokenizer),
        pass_(pass),
        plan_(architecture_of(config_)),
        parameters_(model.named_parameters()) {
    flow_.asked = wanted;
    flow_.vocab_size = model.vocab_size();
    for (const auto& parameter : parameters_) flow_.parameters.push_back({parameter.key(), parameter->sizes().vec()});
  }

  DataFlow build();

 private:
  bool decoder() const { return flow_.asked.box.decoder; }
  const std::vector<Token>& tokens(bool decoder) const { return decoder ? pass_.whole.target_in : pass_.whole.source; }
  std::string length() const { return decoder() ? "T" : "S"; }
  Labels pieces() const { return pieces_of(tokens(decoder())); }
  std::string stack() const { return decoder() ? "decoder" : "encoder"; }
  std::string layer_name() const { return fmt::format("{}.layers.{}.", stack(), flow_.asked.layer); }
  torch::Tensor parameter(const std::string& name) const { return parameters_[name].detach(); }

  // The next matrix; its index.
  int add(FlowMatrix matrix, const torch::Tensor& values);
  int add_learned(const std::string& name, const std::string& help, const std::string& letters,
                  const torch::Tensor& values);
  // x·W + b, for a parameter as PyTorch has it (O×I), whose bias may be undefined: the last of the matrices added.
  int add_linear(int x, const std::string& result, const std::string& weight, const std::string& bias,
                 const torch::Tensor& w, const torch::Tensor& b, const std::string& letters);
  torch::Tensor of(int index) const { return tensors_[static_cast<std::size_t>(index)]; }
  FlowMatrix& at(int index) { return flow_.matrices[static_cast<std::size_t>(index)]; }
  void begin_section(const std::string& heading) { section_ = heading; }

  void settle();
  void fill();
  int add_embedding(bool decoder);
  void add_positions();
  const FlowTensors* sublayer();
  void add_attention();
  void add_feed_forward();
  void add_norm(int x, const torch::nn::LayerNorm& norm);
  void add_sublayer_norm();
  void add_last_norm();
  void add_batch_spread(int x, const torch::Tensor& padded);
  FlowTensors padded_flow(Sublayer sublayer);
  void add_logits(bool shares);

  // ---- recurrent networks
  struct Read {
    torch::Tensor x, from_input, h, c;  // L×…; of one direction
  };
  Cell cell(bool decoder, int layer, bool reverse) const;
  Read read(const Cell& cell, const torch::Tensor& x, CellState state, bool reverse) const;
  CellState first_state(bool decoder, int layer, int direction) const;
  int directions(bool decoder) const { return config_.bidirectional && !decoder ? 2 : 1; }
  torch::Tensor input_of(bool decoder, int layer) const;
  torch::Tensor states_of(bool decoder, int layer) const;
  torch::Tensor embedded(bool decoder) const;
  torch::Tensor contexts() const;
  void add_cell();
  void add_attention_of_states();
  void add_readout();

  SequenceModel& model_;
  const ModelConfig& config_;
  const Tokenizer& tokenizer_;
  const FlowPass& pass_;
  Architecture plan_;
  torch::OrderedDict<std::string, torch::Tensor> parameters_;
  std::vector<torch::Tensor> tensors_;
  std::string section_;
  DataFlow flow_;
};

DataFlow Builder::build() {
  settle();
  if (flow_.problem.empty()) fill();
  return std::move(flow_);
}

// To what there is.
void Builder::settle() {
  FlowWanted& asked = flow_.asked;
  const ArchitectureColumn& column = plan_.column(asked.box.decoder);
  if (!find_box(plan_, asked.box)) {
    flow_.problem = "This architecture has no such part: choose a box of its picture.";
    return;
  }
  asked.layer = std::clamp(asked.layer, 0, static_cast<int>(column.layers) - 1);
  asked.head = std::clamp(asked.head, 0, static_cast<int>(config_.num_heads) - 1);
  asked.token = std::clamp(asked.token, 0, std::max(0, static_cast<int>(tokens(decoder()).size()) - 1));
}

void Builder::fill() {
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
      return add_attention_of_states();
    case FlowPart::readout:
      return add_readout();
    case FlowPart::logits:
      return add_logits(false);
    case FlowPart::probabilities:
      return add_logits(true);
  }
}

int Builder::add(FlowMatrix matrix, const torch::Tensor& values) {
  tensors_.push_back(values);
  matrix.values = to_matrix(values);
  matrix.section = std::exchange(section_, {});
  flow_.matrices.push_back(std::move(matrix));
  return static_cast<int>(flow_.matrices.size()) - 1;
}

int Builder::add_learned(const std::string& name, const std::string& help, const std::string& letters,
                         const torch::Tensor& values) {
  return add({.name = name, .help = help, .letters = letters, .op = FlowOp::learned}, values);
}

int Builder::add_linear(int x, const std::string& result, const std::string& weight, const std::string& bias,
                        const torch::Tensor& w, const torch::Tensor& b, const std::string& letters) {
  const auto split = letters.find("×");
  const std::string width = letters.substr(split + std::string("×").size());
  const int matrix = add_learned(
      weight, fmt::format("Learned. {} stands before it: PyTorch keeps its transpose.", at(x).name), letters, w.t());
  FlowMatrix made{.name = result,
                  .help = fmt::format("{}·{}{}{}: what this map makes of every piece.", at(x).name, weight,
                                      b.defined() ? " + " : "", b.defined() ? bias : ""),
                  .letters = at(x).letters.substr(0, at(x).letters.find("×")) + "×" + width,
                  .op = FlowOp::product,
                  .operands = {x, matrix},
                  .row_labels = at(x).row_labels};
  if (b.defined())
    made.operands.push_back(add_learned(bias, "Learned, the same for every piece.", "1×" + width, b.unsqueeze(0)));
  return add(std::move(made), torch::linear(of(x), w, b));
}

// ---- from ids to x

torch::Tensor Builder::embedded(bool decoder) const {
  const bool shared = config_.tied_embeddings || config_.is_language_model();
  const torch::Tensor table = parameter(shared    ? "embedding.weight"
                                        : decoder ? "target_embedding.weight"
                                                  : "source_embedding.weight");
  const torch::Tensor ids =
      replaced_ids(&pass_.record, ids_tensor(ids_of(tokens(decoder)), model_.device()), decoder, 0);
  return table.index_select(0, ids[0]) * std::sqrt(static_cast<double>(config_.d_model));
}

int Builder::add_embedding(bool decoder) {
  const Labels labels = pieces();
  const torch::Tensor given = ids_tensor(ids_of(tokens(decoder)), model_.device());
  const torch::Tensor ids = replaced_ids(&pass_.record, given, decoder, 0)[0];
  const double root = std::sqrt(static_cast<double>(config_.d_model));
  const int id = add({.name = "ids",
                      .help = "The numbers of the pieces: all that the model is given of the text.",
                      .letters = length() + "×1",
                      .row_labels = labels,
                      .col_labels = {"id"}},
                     ids.unsqueeze(1));
  const int rows = add({.name = "E[ids]",
                        .help = "The pieces' rows of the embedding matrix E, V×D: one learned vector a piece.",
                        .letters = length() + "×D",
                        .op = FlowOp::picked,
                        .operands = {id},
                        .row_labels = labels},
                       embedded(decoder) / root);
  const int scaled = add({.name = "E[ids]·√D",
                          .help = "Times √D, which brings the vectors to the size of the positions (paper §3.4).",
                          .letters = length() + "×D",
                          .op = FlowOp::scaled,
                          .operands = {rows},
                          .factor = static_cast<float>(root),
                          .row_labels = labels},
                         embedded(decoder));
  for (const PositionTensor& table : model_.positions()) {
    const bool added = position_scheme(config_.positions).form == PositionForm::added;
    if (!added || (!table.name.empty() && table.name != (decoder ? "target" : "source"))) continue;
    const int positions =
        add({.name = "positions",
             .help = fmt::format("One vector a position: {}.", position_scheme(config_.positions).tells),
             .letters = length() + "×D",
             .op = config_.positions == "learned" ? FlowOp::learned : FlowOp::given,
             .row_labels = labels},
            table.values.slice(0, 0, static_cast<std::int64_t>(labels.size())).detach());
    return add({.name = "x",
                .help = "What the first layer is given: what the piece is, and where it stands.",
                .letters = length() + "×D",
                .op = FlowOp::sum,
                .operands = {scaled, positions},
                .row_labels = labels},
               of(scaled) + of(positions));
  }
  return scaled;
}

void Builder::add_positions() {
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
    if (by_position) matrix.row_labels = pieces();
    for (std::int64_t row = 0; !by_position && row < table.values.size(0); ++row)
      matrix.row_labels.push_back(fmt::format("{:+}", table.first + row));
    add(std::move(matrix), (by_position ? table.values.slice(0, 0, rows) : table.values).detach());
  }
}

// ---- sublayers

const FlowTensors* Builder::sublayer() {
  const FlowTensors* flow = find_flow(pass_.record, decoder(), flow_.asked.layer, sublayer_of(flow_.asked.box.part));
  if (!flow) flow_.problem = "This layer is switched off and passes its input on: switch it on to see its numbers.";
  return flow;
}

// Of one head: from what its sublayer is given to what it gives.
void Builder::add_attention() {
  const FlowTensors* flow = sublayer();
  if (!flow || !pass_.whole.inside) return;
  const HeadInside& head = *pass_.whole.inside;
  const bool cross = head.place.part == AttentionPart::cross;
  const std::int64_t width = head.q.cols;
  const Labels queries = pieces();
  const Labels keys = cross ? pieces_of(pass_.whole.source) : queries;
  const std::string module = layer_name() + (cross ? "multihead_attn." : "self_attn.");
  const torch::Tensor w = parameter(module + "in_proj_weight");
  const torch::Tensor b = parameter(module + "in_proj_bias");
  const std::string key_letters = cross ? "S" : length();
  const PositionScheme& scheme = position_scheme(config_.positions);
  const bool rotates = !cross && scheme.form == PositionForm::rotation;
  torch::Tensor rotations;
  if (rotates) rotations = model_.positions().front().values.slice(0, 0, head.k.rows);

  begin_section("1  Queries, keys, values: three maps of the same x");
  const int x = add({.name = "x",
                     .help = "What this attention is given, a row a piece.",
                     .letters = length() + "×D",
                     .row_labels = queries},
                    flow->input[0]);
  int memory = x;
  if (cross) {
    memory = add({.name = "memory",
                  .help = "What the encoder made of the source: keys and values come from it.",
                  .letters = "S×D",
                  .row_labels = keys},
                 pass_.memory.states[0].detach());
  }
  const int first = static_cast<int>(head.place.head * width);
  const auto projected = [&](int from, int third, const char* letter) {
    const std::int64_t begin = third * config_.d_model + first;
    const std::string name = fmt::format("W_{}", letter);
    std::string small(letter);
    small[0] = static_cast<char>(std::tolower(small[0]));
    const int made = add_linear(from, small, name, fmt::format("b_{}", letter), w.slice(0, begin, begin + width),
                                b.slice(0, begin, begin + width), "D×d");
    at(made - 2).help = fmt::format("Learned; columns {} to {} of the D×D matrix are head {}'s.", first,
                                    first + width - 1, head.place.head + 1);
    if (!rotates || third == 2) return made;
    at(made).name = small + ", not rotated";
    const int turns = add({.name = "rotations",
                           .help = "cos and sin of every position's angles, pair by pair (RoPE).",
                           .letters = key_letters + "×d",
                           .row_labels = keys},
                          rotations);
    return add({.name = small,
                .help = "Rotated pair by pair, by the angles of its position (2104.09864).",
                .letters = length() + "×d",
                .op = FlowOp::rotated,
                .operands = {made, turns},
                .row_labels = keys},
               kernels::rotate_heads(of(made).unsqueeze(0), 1, width, 1, rotations)[0]);
  };
  const int q = projected(x, 0, "Q");
  const int k = projected(memory, 1, "K");
  const int v = projected(memory, 2, "V");

  begin_section("2  Every query with every key: scores become weights");
  const double scale = head.scaled ? 1 / std::sqrt(static_cast<double>(width)) : 1;
  torch::Tensor scores = torch::mm(of(q), of(k).t()) * scale;
  FlowMatrix scored{.name = head.scaled ? "q·k ÷ √d" : "q·k",
                    .help = "How well each query and key go together (paper §3.2.1).",
                    .letters = length() + "×" + key_letters,
                    .op = FlowOp::scores,
                    .operands = {q, k},
                    .factor = static_cast<float>(scale),
                    .row_labels = queries,
                    .col_labels = keys};
  if (!head.bias.empty()) {
    const torch::Tensor bias =
        torch::tensor(head.bias.values).view({head.bias.rows, head.bias.cols}).to(scores.device());
    scored.operands.push_back(add({.name = std::string(scheme.label) + " bias",
                                   .help = "What tells this head the order of the pieces.",
                                   .letters = length() + "×" + key_letters,
                                   .row_labels = queries,
                                   .col_labels = keys},
                                  bias));
    scores = scores + bias;
  }
  const int score = add(std::move(scored), scores);
  const Matrix& weights = *map_at(pass_.whole, head.place);
  const int weight = add({.name = "weights",
                          .help = head.causal ? "softmax of every row; keys after the query are hidden (paper §3.2.3)."
                                              : "softmax of every row: positive, and 1 together.",
                          .letters = length() + "×" + key_letters,
                          .op = FlowOp::softmax,
                          .operands = {score},
                          .causal = head.causal,
                          .row_labels = queries,
                          .col_labels = keys},
                         torch::tensor(weights.values).view({weights.rows, weights.cols}));

  begin_section("3  The values, mixed by the weights; all heads together through W_O");
  const torch::Tensor joined =
      torch::tensor(head.heads_output.values).view({head.heads_output.rows, head.heads_output.cols});
  FlowMatrix mixed{.name = "head",
                   .help = "Of every query the values, mixed by its weights.",
                   .letters = length() + "×d",
                   .op = FlowOp::product,
                   .operands = {weight, v},
                   .row_labels = queries};
  if (!head.relative_v.empty()) {
    mixed.op = FlowOp::given;  // Shaw's a^V differs from pair to pair
    mixed.help += " Each value has Shaw's vector of its distance added.";
  }
  add(std::move(mixed), joined.slice(1, first, first + width));
  const int all = add({.name = "heads",
                       .help = "All heads side by side (paper §3.2.2).",
                       .letters = length() + "×D",
                       .row_labels = queries},
                      joined);
  const int out = add_linear(all, "Sublayer(x)", "W_O", "b_O", parameter(module + "out_proj.weight").cpu(),
                             parameter(module + "out_proj.bias").cpu(), "D×D");
  at(out).help = "What the attention gives: added to x next.";
}

void Builder::add_feed_forward() {
  const FlowTensors* flow = sublayer();
  if (!flow) return;
  const std::string module = layer_name();
  const int x = add({.name = "x",
                     .help = "What the feed-forward is given, a row a piece.",
                     .letters = length() + "×D",
                     .row_labels = pieces()},
                    flow->input[0]);
  const auto map = [&](int from, const char* result, int number, const char* letters) {
    const std::string name = fmt::format("{}linear{}.", module, number);
    const torch::Tensor w = parameter(name + "weight");
    const torch::Tensor b = parameter(name + "bias");
    const int made = add_linear(from, result, number == 1 ? "W₁" : "W₂", number == 1 ? "b₁" : "b₂", w, b, letters);
    if (!flow_.asked.convolution) return made;
    // N×I as 1×I×N: the pieces are the places a kernel of width 1 goes over.
    const torch::Tensor places = of(from).t().unsqueeze(0);
    const torch::Tensor convolved = torch::conv1d(places, w.unsqueeze(2), b)[0].t();
    at(made).op = FlowOp::convolved;
    at(made).help = fmt::format(
        "Conv1d over the pieces with {} kernels of width 1: each place sees itself alone, so it is {}·{} + {}. "
        "Largest difference from the product: {:.2g}.",
        w.size(0), at(from).name, number == 1 ? "W₁" : "W₂", number == 1 ? "b₁" : "b₂",
        (convolved - of(made)).abs().max().item<double>());
    at(made).values = to_matrix(convolved);
    tensors_[static_cast<std::size_t>(made)] = convolved;
    return made;
  };
  const int inner = map(x, "inner", 1, "D×F");
  const bool relu = config_.activation == "relu";
  const int hidden = add({.name = "hidden",
                          .help = relu ? "max(0, inner): the hidden units. A unit below 0 is silent (paper §3.3)."
                                       : "inner·Φ(inner): the hidden units (1606.08415).",
                          .letters = length() + "×F",
                          .op = relu ? FlowOp::relu : FlowOp::gelu,
                          .operands = {inner},
                          .row_labels = pieces()},
                         relu ? torch::relu(of(inner)) : torch::gelu(of(inner)));
  at(map(hidden, "Sublayer(x)", 2, "F×D")).help += " It is added to x next.";
}

// ---- layer norms

void Builder::add_norm(int x, const torch::nn::LayerNorm& norm) {
  const double epsilon = norm->options.eps();
  const int moments = add({.name = "μ, σ",
                           .help = "Of every piece's D numbers: their mean, and √(variance + 10⁻⁵). No other piece, "
                                   "and no other sentence, is asked.",
                           .letters = length() + "×2",
                           .op = FlowOp::moments,
                           .operands = {x},
                           .factor = static_cast<float>(epsilon),
                           .row_labels = at(x).row_labels,
                           .col_labels = {"μ", "σ"}},
                          moments_of(of(x), epsilon));
  const int learned = add({.name = "γ, β",
                           .help = "Learned: gain and bias of every dimension, the same for all pieces.",
                           .letters = "2×D",
                           .op = FlowOp::learned,
                           .row_labels = {"γ", "β"}},
                          torch::stack({norm->weight.detach(), norm->bias.detach()}));
  add({.name = "LayerNorm(x)",
       .help = "(x − μ) / σ · γ + β, with each piece's own μ and σ.",
       .letters = length() + "×D",
       .op = FlowOp::normalized,
       .operands = {x, moments, learned},
       .row_labels = at(x).row_labels},
      torch::layer_norm(of(x), {config_.d_model}, norm->weight.detach(), norm->bias.detach(), epsilon));
}

void Builder::add_sublayer_norm() {
  const FlowTensors* flow = sublayer();
  if (!flow) return;
  const FlowPart part = flow_.asked.box.part;
  const bool pre = config_.norm == "pre";
  const int number = part == FlowPart::self_norm ? 1 : is_cross(part) ? 2 : decoder() && plan_.memory.size() ? 3 : 2;
  torch::nn::LayerNorm norm(torch::nn::LayerNormOptions({config_.d_model}));
  norm->weight = parameter(fmt::format("{}norm{}.weight", layer_name(), number));
  norm->bias = parameter(fmt::format("{}norm{}.bias", layer_name(), number));
  const auto residual = [&] {
    begin_section(pre ? "What came in, added to what the sublayer gives" : "The residual connection");
    const int x =
        add({.name = "x", .help = "What came to the sublayer.", .letters = length() + "×D", .row_labels = pieces()},
            flow->x[0]);
    const int added = add(
        {.name = "Sublayer(x)", .help = "What the sublayer gives.", .letters = length() + "×D", .row_labels = pieces()},
        flow->added[0]);
    return add({.name = "x + Sublayer(x)",
                .help = "The residual connection: the sublayer need only say what changes (paper §3.1).",
                .letters = length() + "×D",
                .op = FlowOp::sum,
                .operands = {x, added},
                .row_labels = pieces()},
               flow->x[0] + flow->added[0]);
  };
  int x = 0;
  if (pre) {
    begin_section("Each piece normalised by itself");
    x = add({.name = "x", .help = "What comes to the layer norm.", .letters = length() + "×D", .row_labels = pieces()},
            flow->x[0]);
  } else {
    x = residual();
    begin_section("Each piece normalised by itself");
  }
  add_norm(x, norm);
  const FlowTensors padded = padded_flow(sublayer_of(part));
  add_batch_spread(x, (pre ? padded.x : padded.x + padded.added)[0]);
  if (pre) residual();
}

void Builder::add_last_norm() {
  const FlowTensors* flow =
      find_flow(pass_.record, decoder(), flow_.asked.layer = static_cast<int>(plan_.column(decoder()).layers) - 1,
                Sublayer::feed_forward);
  if (!flow) {
    flow_.problem = "The last layer is switched off and passes its input on: switch it on to see its numbers.";
    return;
  }
  torch::nn::LayerNorm norm(torch::nn::LayerNormOptions({config_.d_model}));
  norm->weight = parameter(stack() + ".norm.weight");
  norm->bias = parameter(stack() + ".norm.bias");
  const int x =
      add({.name = "x", .help = "What the last layer left.", .letters = length() + "×D", .row_labels = pieces()},
          flow->out[0]);
  add_norm(x, norm);
  add_batch_spread(x, padded_flow(Sublayer::feed_forward).out[0]);
}

// The same sublayer with padding behind the sentence, as in a batch with a longer one. The pieces' own rows are the
// same, for padding is masked.
FlowTensors Builder::padded_flow(Sublayer sublayer) {
  const auto room = config_.max_length - static_cast<std::int64_t>(tokens(decoder()).size());
  std::vector<int> ids = ids_of(tokens(decoder()));
  ids.resize(ids.size() + static_cast<std::size_t>(std::clamp<std::int64_t>(room, 0, shown_pads)), Tokenizer::pad_id);
  const torch::Tensor padded = ids_tensor(ids, model_.device());
  Inspection record{.interventions = pass_.record.interventions, .flow_wanted = true};
  if (decoder()) {
    model_.decode(padded, pass_.memory, nullptr, &record);
  } else {
    model_.encode(padded, padded.eq(Tokenizer::pad_id), &record);
  }
  return *find_flow(record, decoder(), flow_.asked.layer, sublayer);
}

void Builder::add_batch_spread(int x, const torch::Tensor& padded) {
  const std::int64_t pads = padded.size(0) - of(x).size(0);
  begin_section("What batch normalisation would use instead: one μ and σ a dimension, over all pieces of the batch");
  Labels labels = pieces();
  labels.resize(labels.size() + static_cast<std::size_t>(pads), "<pad>");
  const int with_padding = add({.name = "x, padded",
                                .help = fmt::format("The same sentence with {} pieces of padding behind it, as in a "
                                                    "batch with a longer one. Padding has vectors too.",
                                                    pads),
                                .letters = length() + "×D",
                                .row_labels = labels},
                               padded);
  const auto columns = [](const torch::Tensor& rows) { return moments_of(rows.t(), 1e-5).t(); };  // 2×D
  add({.name = "μ, σ of the batch",
       .help = "Over the pieces, of every dimension. With padding they are others: how the pieces are normalised would "
               "depend on how long the other sentences of the batch are. A layer norm never sees them.",
       .letters = "4×D",
       .op = FlowOp::spread,
       .operands = {x, with_padding},
       .factor = 1e-5F,
       .row_labels = {"μ", "σ", "μ, with padding", "σ, with padding"}},
      torch::cat({columns(of(x)), columns(padded)}));
}

// ---- from features to probabilities

void Builder::add_logits(bool shares) {
  const torch::Tensor features = pass_.features[0].detach();  // T×D
  const torch::Tensor logits = model_.logits(features);       // T×V
  const std::int64_t count = std::min(shown_pieces, logits.size(1));
  const torch::Tensor best = std::get<1>(logits[flow_.asked.token].nan_to_num(-1e30).topk(count));
  Labels columns;
  for (std::int64_t i = 0; i < count; ++i) columns.push_back(token_of(best[i].item<int>(), tokenizer_, config_).piece);
  const Labels rows = pieces();
  const std::string row = rows[static_cast<std::size_t>(flow_.asked.token)];
  int h = -1;
  int weights = -1;
  if (!shares) {
    h = add({.name = "h", .help = "What the last layer leaves of every piece.", .letters = "T×D", .row_labels = rows},
            features);
    const torch::Tensor table = parameter(config_.tied_embeddings ? "embedding.weight" : "output_weight");
    weights = add({.name = config_.tied_embeddings ? "Eᵀ" : "W",
                   .help = fmt::format("A column a piece of the vocabulary; these are the {} most probable after "
                                       "“{}”.",
                                       count, row),
                   .letters = fmt::format("D×{} of V", count),
                   .op = FlowOp::learned,
                   .col_labels = columns},
                  table.index_select(0, best).t());
  }
  FlowMatrix logit{.name = "logits",
                   .help = fmt::format("A score a piece: {} of V, the most probable after “{}”.", count, row),
                   .letters = fmt::format("T×{} of V", count),
                   .row_labels = rows,
                   .col_labels = columns};
  if (!shares) logit.op = FlowOp::product, logit.operands = {h, weights};
  const int score = add(std::move(logit), logits.index_select(1, best));
  if (!shares) return;
  const int sum = add({.name = "ln Σ exp",
                       .help = "Over all pieces of the vocabulary: what the scores are measured against.",
                       .letters = "T×1",
                       .op = FlowOp::log_sum,
                       .row_labels = rows,
                       .col_labels = {"ln Σ"}},
                      logits.logsumexp(1, true));
  add({.name = "p",
       .help = "exp(logit − ln Σ exp): the probability of each piece, which are 1 together over the vocabulary.",
       .letters = at(score).letters,
       .op = FlowOp::share,
       .operands = {score, sum},
       .row_labels = rows,
       .col_labels = columns},
      (of(score) - of(sum)).exp());
}

// ---- recurrent networks

Cell Builder::cell(bool decoder, int layer, bool reverse) const {
  const std::string stack = decoder ? "decoder." : "encoder.";
  const auto named = [&](const char* name) {
    return parameter(fmt::format("{}{}_l{}{}", stack, name, layer, reverse ? "_reverse" : ""));
  };
  return {cell_kind(config_.cell), named("weight_ih"), named("weight_hh"), named("bias_ih"), named("bias_hh")};
}

CellState Builder::first_state(bool decoder, int layer, int direction) const {
  if (decoder) return attnscope::states_of(cell_kind(config_.cell), pass_.memory.last)[static_cast<std::size_t>(layer)];
  const Cell own = cell(false, layer, direction == 1);
  const torch::Tensor zeros = torch::zeros({1, own.weight_hh.size(1)}, own.weight_hh.options());
  return {zeros, own.kind == CellKind::lstm ? zeros : torch::Tensor()};
}

Builder::Read Builder::read(const Cell& cell, const torch::Tensor& x, CellState state, bool reverse) const {
  Read read{x, cell.from_input(x), {}, {}};
  const std::int64_t length = x.size(0);
  std::vector<torch::Tensor> h(static_cast<std::size_t>(length)), c = h;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t t = reverse ? length - 1 - i : i;
    state = cell.next(read.from_input.slice(0, t, t + 1), state);
    h[static_cast<std::size_t>(t)] = state.h;
    c[static_cast<std::size_t>(t)] = state.c;
  }
  read.h = torch::cat(h);
  if (cell.kind == CellKind::lstm) read.c = torch::cat(c);
  return read;
}

// T×D: of every step the mix of the encoder's states.
torch::Tensor Builder::contexts() const {
  return torch::mm(pass_.record.cross.front()[0][0], pass_.memory.states[0]).detach();
}

// L×I, what a layer reads.
torch::Tensor Builder::input_of(bool decoder, int layer) const {
  if (layer > 0) return states_of(decoder, layer - 1);
  const torch::Tensor x = embedded(decoder);
  return decoder && config_.attention == "bahdanau" ? torch::cat({x, contexts()}, 1) : x;
}

// L×D, what a layer hands on.
torch::Tensor Builder::states_of(bool decoder, int layer) const {
  std::vector<torch::Tensor> parts;
  for (int direction = 0; direction < directions(decoder); ++direction)
    parts.push_back(read(cell(decoder, layer, direction == 1), input_of(decoder, layer),
                         first_state(decoder, layer, direction), direction == 1)
                        .h);
  return torch::cat(parts, 1);
}

void Builder::add_cell() {
  const int layer = flow_.asked.layer;
  const Labels labels = pieces();
  const bool with_context = decoder() && config_.attention == "bahdanau" && layer == 0;
  const int x = add({.name = "x",
                     .help = with_context ? "The embedded piece, and beside it what attention brings of the source."
                                          : "What this layer reads, a row a piece.",
                     .letters = length() + (with_context ? "×2D" : "×D"),
                     .row_labels = labels},
                    input_of(decoder(), layer));
  for (int direction = 0; direction < directions(decoder()); ++direction) {
    const bool reverse = direction == 1;
    const Cell own = cell(decoder(), layer, reverse);
    const Read made = read(own, of(x), first_state(decoder(), layer, direction), reverse);
    const std::string width = directions(decoder()) == 2 ? "D/2" : "D";
    if (directions(decoder()) == 2) begin_section(reverse ? "From the end to the beginning" : "From the beginning on");
    const int from_input = add_linear(x, "x·W_ih", "W_ih", "b_ih", own.weight_ih, own.bias_ih,
                                      (with_context ? "2D×" : "D×") + std::string("G"));
    at(from_input).help = "What each piece says to the gates, whatever the state: the gates' parts side by side.";
    add_learned("W_hh", "Learned: what the state before says to the gates.", width + "×G", own.weight_hh.t());
    const std::string letters = length() + "×" + width;
    if (made.c.defined())
      add({.name = "c", .help = "The memory cell after every piece.", .letters = letters, .row_labels = labels},
          made.c);
    add({.name = "h",
         .help = "The state after every piece: what the layer hands on, and what the next piece meets.",
         .letters = letters,
         .row_labels = labels},
        made.h);
  }
}

void Builder::add_attention_of_states() {
  const Labels queries = pieces();
  const Labels keys = pieces_of(pass_.whole.source);
  const int top = static_cast<int>(config_.num_decoder_layers) - 1;
  torch::Tensor states = states_of(true, top);
  const bool before = config_.attention == "bahdanau";
  if (before) states = torch::cat({first_state(true, top, 0).h, states.slice(0, 0, states.size(0) - 1)});
  const bool additive = parameters_.contains("attention.v.weight");
  const torch::Tensor memory = pass_.memory.states[0].detach();

  const int s =
      add({.name = "s",
           .help = before ? "The decoder's state before each piece." : "The decoder's state after each piece.",
           .letters = "T×D",
           .row_labels = queries},
          states);
  const int h = add({.name = "memory",
                     .help = "The encoder's states: keys and values at once.",
                     .letters = "S×D",
                     .row_labels = keys},
                    memory);
  FlowMatrix scored{.name = "scores",
                    .help = "s·k: how well each state goes with each source piece (1508.04025 §3.1).",
                    .letters = "T×S",
                    .op = FlowOp::scores,
                    .row_labels = queries,
                    .col_labels = keys};
  torch::Tensor scores;
  if (additive) {
    const torch::Tensor w = parameter("attention.W.weight"), u = parameter("attention.U.weight");
    const torch::Tensor v = parameter("attention.v.weight");
    const int ws = add_linear(s, "s·W", "W", "", w, {}, "D×D");
    const int uh = add_linear(h, "memory·U", "U", "", u, {}, "D×D");
    add_learned("v", "Learned: weighs the sum's numbers.", "1×D", v);
    scored.op = FlowOp::given;
    scored.help = "v·tanh(s·W + memory·U), of every pair (1409.0473 A.1.2).";
    scores = torch::matmul(torch::tanh(of(ws).unsqueeze(1) + of(uh).unsqueeze(0)), v[0]);
  } else {
    int k = h;
    if (parameters_.contains("attention.W.weight"))
      k = add_linear(h, "k", "W", "", parameter("attention.W.weight"), {}, "D×D");
    scored.operands = {s, k};
    scores = torch::mm(of(s), of(k).t());
  }
  const int score = add(std::move(scored), scores);
  const int weights = add({.name = "weights",
                           .help = "softmax of every row: positive, and 1 together.",
                           .letters = "T×S",
                           .op = FlowOp::softmax,
                           .operands = {score},
                           .row_labels = queries,
                           .col_labels = keys},
                          pass_.record.cross.front()[0][0]);
  add({.name = "context",
       .help = "The encoder's states, mixed by the weights.",
       .letters = "T×D",
       .op = FlowOp::product,
       .operands = {weights, h},
       .row_labels = queries},
      contexts());
}

void Builder::add_readout() {
  const Labels labels = pieces();
  const int context =
      add({.name = "context", .help = "What attention brings of the source.", .letters = "T×D", .row_labels = labels},
          contexts());
  const int state =
      add({.name = "h", .help = "The decoder's state after each piece.", .letters = "T×D", .row_labels = labels},
          states_of(true, static_cast<int>(config_.num_decoder_layers) - 1));
  const int both = add({.name = "[context; h]",
                        .help = "Side by side.",
                        .letters = "T×2D",
                        .op = FlowOp::beside,
                        .operands = {context, state},
                        .row_labels = labels},
                       torch::cat({of(context), of(state)}, 1));
  const int inner = add_linear(both, "inner", "W_c", "", parameter("attention.W_c.weight"), {}, "2D×D");
  add({.name = "h̃",
       .help = "tanh: what the logits are made of (1508.04025 eq. 5).",
       .letters = "T×D",
       .op = FlowOp::tanh,
       .operands = {inner},
       .row_labels = labels},
      torch::tanh(of(inner)));
}

}  // namespace

DataFlow data_flow_of(SequenceModel& model, const Tokenizer& tokenizer, const FlowWanted& wanted,
                      const FlowPass& pass) {
  return Builder(model, tokenizer, wanted, pass).build();
}

}  // namespace attnscope
