#include "config/position_schemes.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/mark.h"
#include "config/config.h"

namespace attnscope {
namespace {

constexpr std::array schemes = {
    PositionScheme{
        .name = "none",
        .form = PositionForm::none,
        .tells = "nothing",
        .caption = "This model has no positional encoding: attention treats the words as a set, and every order of the "
                   "source gives the same result. Only the decoder's causal mask carries any order.",
    },
    PositionScheme{
        .name = "sinusoidal",
        .form = PositionForm::added,
        .tells = "sinusoids added to the embeddings (paper §3.5)",
        .heading = "Positional encoding",
        .caption = "PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same angle. Added to the "
                   "embeddings (§3.5), because attention does not depend on the order of its inputs.",
        .curves_heading = "Waves",
        .curves = "Sines and cosines alternate, from high frequency (left) to low (right).",
        .alike = "Dot products depend only on the distance: nearby positions are similar everywhere in the sequence.",
        .formulas = {"sin({0} / 10000^({1}/{2}))", "cos({0} / 10000^({1}/{2}))"},
    },
    PositionScheme{
        .name = "sinusoidal-halves",
        .form = PositionForm::added,
        .tells = "sinusoids with all sines before all cosines, added to the embeddings, as in Marian",
        .heading = "Positional encoding, in halves",
        .caption = "PE(pos, i) = sin(pos / 10000^(2i/d)), PE(pos, d/2 + i) = cos of the same angle. Added to the "
                   "embeddings. Same numbers as in §3.5 in another order, as in Marian and tensor2tensor.",
        .curves_heading = "Waves",
        .curves = "Sines on the left, cosines on the right, each from high to low frequency.",
        .alike = "Dot products depend only on the distance: nearby positions are similar everywhere in the sequence.",
    },
    PositionScheme{
        .name = "sinusoidal-fairseq",
        .form = PositionForm::added,
        .tells = "sinusoids in halves that begin at position 2, added to the embeddings, as in M2M-100",
        .heading = "Positional encoding, as in fairseq",
        .caption = "PE(pos, i) = sin((pos + 2) / 10000^(i/(d/2 − 1))), PE(pos, d/2 + i) = cos of the same angle. Added "
                   "to the embeddings. fairseq counts positions from 2, and its lowest frequency is exactly 1/10000.",
        .curves_heading = "Waves",
        .curves = "Sines on the left, cosines on the right, each from high to low frequency.",
        .alike = "Dot products depend only on the distance: nearby positions are similar everywhere in the sequence.",
    },
    PositionScheme{
        .name = "learned",
        .form = PositionForm::added,
        .tells = "learned vectors added to the embeddings (paper §3.5)",
        .heading = "Learned positions",
        .caption = "One learned vector per position, added to the embeddings. They start as noise; in the paper they "
                   "work as well as sinusoids (§3.5, table 3 E).",
        .curves = "Values of some dimensions at each position.",
        .alike = "Nearby positions become similar only through training.",
    },
    PositionScheme{
        .name = "shaw",
        .form = PositionForm::vectors,
        .tells = "Shaw's relative position vectors (1803.02155)",
        .heading = "Relative vectors (Shaw)",
        .caption = "a^K, added to each key according to its distance from the query and clipped at the maximum "
                   "distance; shared by the heads of a layer (1803.02155 §3.2).",
        .curves = "Values of some dimensions by distance key − query.",
        .alike =
            "Dot products of the relative vectors. A layer distinguishes two distances whose vectors are dissimilar.",
        .label = "Shaw",
        .term = "q · a^K of distance {}",
    },
    PositionScheme{
        .name = "t5",
        .form = PositionForm::bias,
        .tells = "T5's learned relative biases (1910.10683 §2.1)",
        .heading = "Learned biases (T5)",
        .caption = "Each head adds a learned bias to its scores, one per distance bucket, shared by all layers "
                   "(1910.10683 §2.1). Zero before training.",
        .curves = "Bias that a head adds to a score, by distance key − query. Short distances have their own bucket, "
                  "long ones share one.",
        .label = "T5",
        .term = "learned bias for the bucket of distance {}",
    },
    PositionScheme{
        .name = "rope",
        .form = PositionForm::rotation,
        .tells = "rotary embeddings, RoPE (2104.09864)",
        .heading = "Rotary embeddings (RoPE)",
        .caption =
            "cos and sin of position · base^(−2i/d_k), the angles by which queries and keys are rotated, one pair of "
            "dimensions at a time (2104.09864 §3.2.2). The base is model.rope_theta, 10000 in the paper.",
        .curves_heading = "Waves",
        .curves = "Cosines and sines alternate, from high frequency (left) to low (right).",
        .alike = "Dot products of one vector rotated to two positions, which depend only on the distance.",
        .formulas = {"cos({0} · {3:g}^(−{1}/{2}))", "sin({0} · {3:g}^(−{1}/{2}))"},
        .label = "RoPE",
    },
    PositionScheme{
        .name = "alibi",
        .form = PositionForm::bias,
        .tells = "ALiBi's linear biases (2108.12409)",
        .heading = "Linear biases (ALiBi)",
        .caption =
            "Each head subtracts its slope times the distance from its scores. Nothing is learned (2108.12409 §3).",
        .curves = "Bias that a head adds to a score, by distance key − query. Heads with a steep slope attend only to "
                  "nearby keys.",
        .label = "ALiBi",
        .term = "−slope · |key − query|, distance {}",
    },
};

}  // namespace

std::span<const PositionScheme> position_schemes() {
  return schemes;
}

const PositionScheme& position_scheme(std::string_view name) {
  const auto* const found = std::ranges::find(schemes, name, &PositionScheme::name);
  if (found == schemes.end()) throw ConfigError(fmt::format("there is no position scheme \"{}\"", name));
  return *found;
}

const char* row_word(PositionForm form) {
  return form == PositionForm::vectors || form == PositionForm::bias ? mark("distance") : mark("position");
}

}  // namespace attnscope
