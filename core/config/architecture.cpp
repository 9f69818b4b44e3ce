#include "config/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "common/split.h"
#include "config/position_schemes.h"

namespace attnscope {
namespace {

// ---- parts of both architectures

std::string length_of(bool decoder) {
  return decoder ? "T" : "S";
}

std::string vectors(bool decoder) {
  return "B×" + length_of(decoder) + "×D";
}

ArchitectureBox embedding_box(const ModelConfig& model, bool decoder) {
  ArchitectureBox box{.box = {FlowPart::embedding, decoder},
                      .title = decoder && !model.is_language_model() ? "Output embedding" : "Input embedding",
                      .help = model.scaled_embeddings ? "One learned vector per token, multiplied by √D (paper §3.4)."
                                                      : "One learned vector per token.",
                      .out = vectors(decoder)};
  const bool first = !decoder || model.is_language_model();
  if (!model.has_one_embedding()) {
    box.parameters = {decoder ? "target_embedding.weight" : "source_embedding.weight"};
  } else {
    (first ? box.parameters : box.shared) = {"embedding.weight"};
  }
  if (model.embedding_norm) {
    box.help =
        "One learned vector per token. After position and token type are added, the sum is normalized (1810.04805).";
    for (const char* parameter : {"token_types", first ? "embedding_norm." : "target_embedding_norm.", "widening."})
      box.parameters.emplace_back(parameter);
  }
  return box;
}

void add_logits(const ModelConfig& model, ArchitectureColumn& column) {
  ArchitectureBox logits{
      .box = {FlowPart::logits, true},
      .title = "Linear",
      .help =
          model.is_classifier()
              ? "One logit per label: the dot product of the pooled vector with the label's row of the output matrix."
              : "One logit per token of the vocabulary: the dot product with the token's row of the output matrix "
                "(paper §3.4).",
      .out = "B×T×V"};
  if (model.has_tied_output()) {
    logits.help += " The output matrix is the transposed embedding matrix (tied weights).";
    logits.shared = {"embedding.weight"};
  } else {
    logits.parameters = {"output_weight"};
  }
  if (model.output_bias) logits.parameters.push_back("output_bias");
  column.boxes.push_back(logits);
  column.boxes.push_back({.box = {FlowPart::probabilities, true},
                          .title = "Softmax",
                          .help = "Turns logits into probabilities, which are positive and sum to 1.",
                          .out = "B×T×V"});
}

// ---- the Transformer

struct SublayerText {
  FlowPart norm;
  FlowPart part;
  const char* title;
  const char* help;
  const char* parameters;  // prefixes of the names in a layer
};

constexpr std::array sublayers = {
    SublayerText{FlowPart::self_norm, FlowPart::self_attention, "Self-attention",
                 "Every token attends to every token of its own sequence, in all heads (paper §3.2).",
                 "self_attn.in_proj_ self_attn.out_proj. self_attn.q_norm. self_attn.k_norm. self_attn_output_norm."},
    SublayerText{FlowPart::cross_norm, FlowPart::cross_attention, "Cross-attention",
                 "Every decoder position attends to the source: queries come from the decoder, keys and values from "
                 "the encoder (paper §3.2.3).",
                 "multihead_attn.in_proj_ multihead_attn.out_proj. multihead_attn.q_norm. multihead_attn.k_norm. "
                 "multihead_attn_output_norm."},
    SublayerText{FlowPart::feed_forward_norm, FlowPart::feed_forward, "Feed-forward",
                 "Two linear maps with an activation between them, applied to every position separately (paper §3.3).",
                 "linear feed_forward_output_norm."},
};

std::string norm_name(const ModelConfig& model) {
  return model.norm_kind == "rms" ? "RMSNorm" : "LayerNorm";
}

ArchitectureBox norm_box(const ModelConfig& model, const SublayerText& text, int number, bool decoder) {
  const bool pre = model.norm == "pre";
  const std::string stack = decoder ? "decoder" : "encoder";
  return {.box = {text.norm, decoder},
          .title = pre ? norm_name(model) : "Add & norm",
          .help = pre ? "Pre-norm: the sublayer's input is normalized, and its output is added to the residual stream "
                        "(1910.10683; 2002.04745)."
                      : "Post-norm: the sublayer's output is added to its input, and the sum is normalized at each "
                        "position (paper §3.1).",
          .parameters = {fmt::format("{}.layers.{{}}.norm{}.", stack, number)},
          .out = vectors(decoder),
          .repeated = true};
}

ArchitectureBox sublayer_box(const SublayerText& text, bool decoder) {
  const std::string stack = decoder ? "decoder" : "encoder";
  const bool masked = decoder && text.part == FlowPart::self_attention;
  std::vector<std::string> parameters;
  for (const std::string_view beginning : split(text.parameters, " "))
    parameters.push_back(fmt::format("{}.layers.{{}}.{}", stack, beginning));
  return {.box = {text.part, decoder},
          .title = masked ? "Masked attention" : text.title,
          .help = masked ? "Every token attends to itself and to the tokens before it, in all heads (paper §3.2.3)."
                         : text.help,
          .parameters = std::move(parameters),
          .out = vectors(decoder),
          .repeated = true,
          .residual = true,
          .from_source = text.part == FlowPart::cross_attention};
}

std::string shape_of(PositionForm form, const std::string& length) {
  if (form == PositionForm::added) return length + "×D";
  if (form == PositionForm::bias) return "H×" + length + "×" + length;
  return form == PositionForm::vectors ? "R×d" : length + "×d";
}

// The box of the positional encoding: next to the main path, added to the embeddings or feeding every self-attention.
ArchitectureBox positions_box(const ModelConfig& model, bool decoder) {
  const PositionScheme& scheme = position_scheme(model.positions);
  const bool added = scheme.form == PositionForm::added;
  const bool scores = scheme.form == PositionForm::bias;
  ArchitectureBox box{.box = {FlowPart::positions, decoder},
                      .title = added ? (model.positions == "learned" ? "Learned positions" : "Positional encoding")
                                     : std::string(scheme.label),
                      .help = fmt::format("Token positions are encoded by {}.", scheme.tells),
                      .out = shape_of(scheme.form, length_of(decoder)),
                      .repeated = !added,
                      .beside = true};
  const std::string stack = decoder ? "decoder" : "encoder";
  if (added) box.parameters = {decoder ? "target_positions" : "source_positions"};
  if (scores) box.parameters = {stack + ".position_scheme."};
  if (scheme.form == PositionForm::vectors) box.parameters = {stack + ".layers.{}.self_attn.relative_"};
  return box;
}

ArchitectureColumn transformer_column(const ModelConfig& model, bool decoder) {
  ArchitectureColumn column{.input = "B×" + length_of(decoder),
                            .boxes = {embedding_box(model, decoder)},
                            .layers = decoder ? model.num_decoder_layers : model.num_encoder_layers};
  const PositionForm form = position_scheme(model.positions).form;
  if (form == PositionForm::added) column.boxes.push_back(positions_box(model, decoder));
  int number = 1;
  for (const SublayerText& text : sublayers) {
    const bool cross = text.part == FlowPart::cross_attention;
    if (cross && (!decoder || model.is_language_model())) continue;
    if (text.part == FlowPart::feed_forward && !model.has_feed_forward()) continue;
    const ArchitectureBox norm = norm_box(model, text, number++, decoder);
    const bool tells = text.part == FlowPart::self_attention && form != PositionForm::none;
    if (model.has_norms() && model.norm == "pre") column.boxes.push_back(norm);
    if (tells && form != PositionForm::added) column.boxes.push_back(positions_box(model, decoder));
    column.boxes.push_back(sublayer_box(text, decoder));
    if (model.has_norms() && model.norm != "pre") column.boxes.push_back(norm);
  }
  if (model.has_norms() && model.final_norm) {
    column.boxes.push_back({.box = {FlowPart::last_norm, decoder},
                            .title = norm_name(model),
                            .help = "One more norm after the last layer, as in torch.nn.Transformer.",
                            .parameters = {decoder ? "decoder.norm." : "encoder.norm."},
                            .out = vectors(decoder)});
  }
  if (decoder) add_logits(model, column);
  return column;
}

// ---- masked language models

ArchitectureColumn prediction_column(const ModelConfig& model) {
  ArchitectureColumn column{.input = "", .boxes = {}, .layers = 1};
  if (!model.fills_masks()) return column;
  add_logits(model, column);
  ArchitectureBox& logits = column.boxes.front();
  logits.help =
      "One logit per token of the vocabulary, at every position of the source: a linear map, an activation and a norm, "
      "then the dot product with the token's row of the output matrix (1810.04805 §3.1).";
  logits.parameters.push_back("head.");
  logits.from_source = true;
  return column;
}

// ---- classifiers

ArchitectureColumn label_column(const ModelConfig& model) {
  ArchitectureColumn column{.input = "", .boxes = {}, .layers = 1};
  if (model.pools_by_weights()) {
    column.boxes.push_back(
        {.box = {FlowPart::attention, true},
         .title = "Pooling, " + model.pooling,
         .help =
             "Pools the encoder states of all tokens into one vector, a sum with learned weights (Yang et al. 2016).",
         .parameters = {"pooling."},
         .out = "B×1×D",
         .from_source = true});
  }
  add_logits(model, column);
  column.boxes[column.boxes.size() - 2].from_source = !model.pools_by_weights();
  return column;
}

// ---- recurrent networks

std::string cell_title(const ModelConfig& model, bool decoder) {
  std::string name = model.cell;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return model.bidirectional && !decoder ? name + ", bidirectional" : name;
}

ArchitectureBox cell_box(const ModelConfig& model, bool decoder) {
  const std::string stack = decoder ? "decoder" : "encoder";
  ArchitectureBox box{
      .box = {FlowPart::cell, decoder},
      .title = cell_title(model, decoder),
      .help = "Reads one token after another: each state is computed from the token and the previous state.",
      .out = vectors(decoder),
      .repeated = true,
      .from_source = decoder && model.attention == "none"};
  for (const char* parameter : {"weight_ih_l", "weight_hh_l", "bias_ih_l", "bias_hh_l"})
    box.parameters.push_back(fmt::format("{}.{}{{}}", stack, parameter));
  return box;
}

ArchitectureColumn recurrent_encoder(const ModelConfig& model) {
  return {.input = "B×S",
          .boxes = {embedding_box(model, false), cell_box(model, false)},
          .layers = model.num_encoder_layers};
}

ArchitectureColumn recurrent_decoder(const ModelConfig& model) {
  ArchitectureColumn column{.input = "B×T", .boxes = {embedding_box(model, true)}, .layers = model.num_decoder_layers};
  const ArchitectureBox attention{
      .box = {FlowPart::attention, true},
      .title = "Attention, " + model.attention,
      .help = model.attention == "bahdanau"
                  ? "The decoder's previous state is compared with every encoder state; their weighted sum is fed to "
                    "the cell together with the token (1409.0473)."
                  : "The decoder's current state is compared with every encoder state; their weighted sum is fed to "
                    "the attentional output layer (1508.04025).",
      .parameters = {"attention.W.", "attention.U.", "attention.v."},
      .out = "B×T×2D",
      .from_source = true};
  if (model.attention == "bahdanau") column.boxes.push_back(attention);
  column.boxes.push_back(cell_box(model, true));
  if (model.attention != "none") {
    if (model.attention != "bahdanau") column.boxes.push_back(attention);
    column.boxes.push_back({.box = {FlowPart::readout, true},
                            .title = "Attentional output",
                            .help = "tanh(W_c [context; state]) (1508.04025 eq. 5).",
                            .parameters = {"attention.W_c."},
                            .out = "B×T×D"});
  }
  add_logits(model, column);
  return column;
}

// ---- shapes

std::int64_t size_of(std::string_view letter, const ModelConfig& model, const FlowSizes& sizes) {
  if (letter == "B") return 1;
  if (letter == "S") return sizes.source;
  if (letter == "T") return sizes.target;
  if (letter == "V") return sizes.vocab;
  if (letter == "D") return model.d_model;
  if (letter == "2D") return 2 * model.d_model;
  if (letter == "F") return model.d_ff;
  if (letter == "H") return model.num_heads;
  if (letter == "d") return model.head_width();
  if (letter == "R") return 2 * model.max_distance + 1;
  return 0;
}

bool is_of(const std::string& name, const std::string& format, int layer) {
  const std::string beginning = fmt::format(fmt::runtime(format), layer);
  if (!name.starts_with(beginning)) return false;
  // "weight_ih_l1" must not match "weight_ih_l10".
  return !format.ends_with("{}") || name.size() == beginning.size() || !std::isdigit(name[beginning.size()]);
}

std::int64_t counted(const std::vector<std::string>& formats, int layer, std::span<const FlowParameter> parameters) {
  std::int64_t count = 0;
  for (const FlowParameter& parameter : parameters) {
    const auto fits = [&](const std::string& format) { return is_of(parameter.name, format, layer); };
    if (std::ranges::any_of(formats, fits)) count += parameter.count();
  }
  return count;
}

}  // namespace

std::int64_t FlowParameter::count() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

Architecture architecture_of(const ModelConfig& model) {
  Architecture plan;
  if (model.is_classifier()) {
    plan.encoder = model.is_recurrent() ? recurrent_encoder(model) : transformer_column(model, false);
    plan.decoder = label_column(model);
    plan.memory = model.pools_by_weights() ? "B×S×D" : "B×D";
    return plan;
  }
  if (model.is_masked_lm()) {
    plan.encoder = transformer_column(model, false);
    plan.decoder = prediction_column(model);
    plan.memory = "B×S×D";
    return plan;
  }
  if (model.is_recurrent()) {
    plan.encoder = recurrent_encoder(model);
    plan.decoder = recurrent_decoder(model);
    plan.memory = model.attention == "none" ? "B×D" : "B×S×D";
    return plan;
  }
  if (!model.is_language_model()) {
    plan.encoder = transformer_column(model, false);
    plan.memory = "B×S×D";
  }
  plan.decoder = transformer_column(model, true);
  return plan;
}

const ArchitectureBox* find_box(const Architecture& architecture, const FlowBox& box) {
  const auto& boxes = architecture.column(box.decoder).boxes;
  const auto found = std::ranges::find(boxes, box, &ArchitectureBox::box);
  return found == boxes.end() ? nullptr : &*found;
}

std::int64_t parameters_of(const ArchitectureBox& box, int layer, std::span<const FlowParameter> parameters) {
  return counted(box.parameters, layer, parameters);
}

std::int64_t shared_parameters_of(const ArchitectureBox& box, std::span<const FlowParameter> parameters) {
  return counted(box.shared, 0, parameters);
}

std::string sizes_text(const std::string& letters, const ModelConfig& model, const FlowSizes& sizes) {
  constexpr std::string_view times = "×";
  std::string text;
  std::string_view rest = letters;
  while (!rest.empty()) {
    const std::size_t end = rest.find(times);
    text += (text.empty() ? "" : std::string(times)) + std::to_string(size_of(rest.substr(0, end), model, sizes));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + times.size());
  }
  return text;
}

std::string short_name(const ModelConfig& config) {
  const std::string reader = !config.is_recurrent()  ? "Transformer"
                             : config.cell == "lstm" ? "LSTM"
                             : config.cell == "gru"  ? "GRU"
                                                     : "RNN";
  if (config.is_classifier()) return reader + ", " + config.pooling + " pooling";
  if (!config.is_recurrent()) return reader + ", " + config.positions;
  return reader + ", " + (config.attention == "none" ? "no attention" : config.attention);
}

}  // namespace attnscope
