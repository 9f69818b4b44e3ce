#include "workspaces/attention/text.h"

#include <fmt/format.h>

#include <array>

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

}  // namespace

const PartText& text_of(AttentionPart part, const ModelConfig& model) {
  if (model.is_language_model()) return text_of_language_model;
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
