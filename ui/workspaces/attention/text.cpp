#include "workspaces/attention/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/translation.h"

namespace attnscope {
namespace {

constexpr std::array<PartText, 3> texts = {{
    {mark("Encoder"), mark("self-attention"), mark("Every source token attends to all source tokens (paper §3.2.3)."),
     mark("Each row is a token of the sentence; bright cells are the tokens it attends to."),
     mark("query: source token"), mark("key: source token")},
    {mark("Decoder"), mark("masked self-attention"),
     mark("Every decoder input attends to itself and to earlier ones; the look-ahead mask hides the rest (paper "
          "§3.2.3)."),
     mark("Each row is a token generated so far; bright cells are the earlier tokens it attends to."),
     mark("query: decoder input"), mark("key: decoder input")},
    {mark("Cross"), mark("decoder to source"),
     mark("Every output token attends to the source: queries come from the decoder, keys and values from the encoder's "
          "output (paper §3.2.3)."),
     mark("Each row is an output token; bright cells are the source tokens it attends to."),
     mark("query: output token"), mark("key: source token")},
}};

constexpr PartText text_of_language_model = {
    mark("Decoder"),
    mark("masked self-attention"),
    mark("Every token attends to itself and to earlier ones; the look-ahead mask hides the rest (paper §3.2.3)."),
    mark("Each row is a token of the text; bright cells are the tokens it attends to."),
    mark("query: token of the text"),
    mark("key: token of the text")};

constexpr PartText text_of_bahdanau = {mark("Cross"),
                                       mark("decoder to source"),
                                       mark("Before each output token, the decoder's previous state is compared with "
                                            "every encoder state (Bahdanau et al., arXiv 1409.0473 A.1.2)."),
                                       texts[2].reads,
                                       texts[2].row_axis,
                                       texts[2].col_axis};

constexpr PartText text_of_luong = {mark("Cross"),
                                    mark("decoder to source"),
                                    mark("For each output token, the decoder's current state is compared with every "
                                         "encoder state (Luong et al., arXiv 1508.04025 §3.1)."),
                                    texts[2].reads,
                                    texts[2].row_axis,
                                    texts[2].col_axis};

// For a capture of values that are not weights, such as scores, gradients or relevance.
constexpr const char* help_of_values =
    mark("The captured values of every query and key. They may have either sign and are not attention weights.");
constexpr const char* values_read = mark("Each row is a query, each column a key; the color shows sign and size.");
constexpr std::array<PartText, 3> texts_of_values = {{
    {texts[0].name, mark("captured values"), help_of_values, values_read, texts[0].row_axis, texts[0].col_axis},
    {texts[1].name, mark("captured values"), help_of_values, values_read, texts[1].row_axis, texts[1].col_axis},
    {texts[2].name, mark("captured values"), help_of_values, values_read, texts[2].row_axis, texts[2].col_axis},
}};

// A decoder's attention without look-ahead mask, in a capture.
constexpr PartText text_without_mask = {
    texts[1].name,  mark("self-attention"), mark("Every target token attends to all target tokens."),
    texts[0].reads, texts[1].row_axis,      texts[1].col_axis};

struct Rewording {
  std::string_view of_weights;
  const char* of_values;
};

constexpr std::array rewordings = {
    Rewording{
        "One row per query, one column per key; each cell is a weight. Scroll to zoom at the cursor, drag to pan, "
        "double-click to show everything again.",
        mark("One row per query, one column per key; each cell is a captured value. Scroll to zoom at the cursor, "
             "drag to pan, double-click to show everything again.")},
    Rewording{
        "Queries on the left, keys on the right. Each line is a weight: the larger it is, the thicker and more "
        "opaque the line. Point at a token to show only its lines; click to pin them.",
        mark("Queries on the left, keys on the right. Each line is a captured value: the larger its magnitude, "
             "the thicker and more opaque the line. Point at a token to show only its lines; click to pin them.")},
    Rewording{"The weights of the selected head (paper §3.2.1).", mark("The captured values of the selected head.")},
    Rewording{"The largest weight of any head of this layer in each cell. Rows need not sum to 1.",
              mark("The largest value of any head of this layer in each cell.")},
    Rewording{
        "The largest weight of any head of any layer of this attention type in each cell. Rows need not sum to 1.",
        mark("The largest value of any head of any layer of this attention type in each cell.")},
    Rewording{"Merges the tokens of a word: weights are summed over the tokens of the attended word and averaged over "
              "those of the attending word. Rows still sum to 1 (Clark et al. 2019, arXiv 1906.04341 §4.1).",
              mark("Merges the tokens of a word: values are summed over the tokens of the key's word and averaged over "
                   "those of the query's word.")},
};

// A capture with nothing but a decoder: a language model's.
bool is_text_only(const ModelConfig& model) {
  return part_size(model, AttentionPart::encoder).layers == 0 && part_size(model, AttentionPart::cross).layers == 0;
}

}  // namespace

const char* in_values(const char* help, const ModelConfig& model) {
  if (!model.is_signed()) return help;
  const auto found = std::ranges::find(rewordings, std::string_view(help), &Rewording::of_weights);
  return found == rewordings.end() ? help : found->of_values;
}

const PartText& text_of(AttentionPart part, const ModelConfig& model) {
  if (model.is_signed()) return texts_of_values[static_cast<std::size_t>(part)];
  if (part == AttentionPart::decoder && !is_causal(model, part)) return text_without_mask;
  if (model.is_language_model() || (model.is_capture() && is_text_only(model))) return text_of_language_model;
  if (model.is_recurrent()) return model.attention == "bahdanau" ? text_of_bahdanau : text_of_luong;
  return texts[static_cast<std::size_t>(part)];
}

std::string title_of(const HeadPlace& place, const ModelConfig& model) {
  if (model.is_recurrent()) return trf("Cross · {}", model.attention);
  return trf("{}, layer {}, head {}", tr(text_of(place.part, model).name), place.layer + 1, place.head + 1);
}

std::string no_attention_text(const ModelConfig& model) {
  if (model.is_classifier())
    return trf(
        "This model has no attention: it reads the whole text through its last state, {} numbers, however long the "
        "text is. To compare, choose another pooling in the setup.",
        model.d_model);
  return trf(
      "This model has no attention: the whole sentence passes through the encoder's last state, {} numbers, however "
      "long it is (arXiv 1409.3215). To compare, choose an attention in the setup.",
      model.d_model);
}

}  // namespace attnscope
