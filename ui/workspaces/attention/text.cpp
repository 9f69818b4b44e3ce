#include "workspaces/attention/text.h"

#include <fmt/format.h>

#include <array>

#include "base/translation.h"

namespace attnscope {
namespace {

constexpr std::array<PartText, 3> texts = {{
    {mark("Encoder"), mark("self-attention"), mark("Every source piece looks at every source piece (paper §3.2.3)."),
     mark("Each row is a piece of the sentence; bright cells are the pieces it looks at."), mark("query: source piece"),
     mark("key: source piece")},
    {mark("Decoder"), mark("masked self-attention"),
     mark("Every decoder input looks at itself and at what came before it; the look-ahead mask hides the rest (paper "
          "§3.2.3)."),
     mark("Each row is a word written so far; bright cells are the earlier words it looks at."),
     mark("query: decoder input"), mark("key: decoder input")},
    {mark("Cross"), mark("decoder over source"),
     mark("Every word being written looks at the source: queries from the decoder, keys and values from the encoder's "
          "output (paper §3.2.3)."),
     mark("Each row is a word being written; bright cells are the source pieces it looks at."),
     mark("query: the word being written"), mark("key: source piece")},
}};

constexpr PartText text_of_language_model = {
    mark("Decoder"),
    mark("masked self-attention"),
    mark("Every piece looks at itself and at what came before it; the look-ahead mask hides the rest (paper §3.2.3)."),
    mark("Each row is a piece of the text; bright cells are the pieces it looks at."),
    mark("query: piece of the text"),
    mark("key: piece of the text")};

constexpr PartText text_of_bahdanau = {mark("Cross"),
                                       mark("decoder over source"),
                                       mark("Before a word is written, the decoder's previous state is compared with "
                                            "every state of the encoder (Bahdanau et al., arXiv 1409.0473 A.1.2)."),
                                       texts[2].reads,
                                       texts[2].row_axis,
                                       texts[2].col_axis};

constexpr PartText text_of_luong = {mark("Cross"),
                                    mark("decoder over source"),
                                    mark("As a word is written, the decoder's present state is compared with every "
                                         "state of the encoder (Luong et al., arXiv 1508.04025 §3.1)."),
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
        "No attention: the whole text passes through the last state, {} numbers, however long it is. Choose another "
        "pooling in the setup to see what it adds.",
        model.d_model);
  return trf(
      "No attention: the whole sentence passes through the encoder's last state, {} numbers, however long it is (arXiv "
      "1409.3215). Choose an attention in the setup to see what it adds.",
      model.d_model);
}

}  // namespace attnscope
