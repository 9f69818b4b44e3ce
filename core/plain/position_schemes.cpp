#include "plain/position_schemes.h"

#include <fmt/format.h>

#include <algorithm>

#include "plain/config.h"

namespace attnscope {
namespace {

constexpr std::array schemes = {
    PositionScheme{
        .name = "none",
        .form = PositionForm::none,
        .tells = "nothing",
        .caption = "This model is told nothing of the order. To its attention the words are a set: every order of the "
                   "source gives the same. Only the decoder's look-ahead mask still says what came before what.",
    },
    PositionScheme{
        .name = "sinusoidal",
        .form = PositionForm::added,
        .tells = "sinusoids added to the embeddings (paper §3.5)",
        .heading = "Positional encoding",
        .caption = "PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same; added to the embeddings "
                   "(§3.5), since attention knows no order.",
        .curves_heading = "Waves",
        .curves = "Sine and cosine in turn: fast on the left, slow on the right.",
        .alike = "Dot products depend on the distance alone: near positions are alike, wherever they stand.",
        .formulas = {"sin({0} / 10000^({1}/{2}))", "cos({0} / 10000^({1}/{2}))"},
    },
    PositionScheme{
        .name = "sinusoidal-halves",
        .form = PositionForm::added,
        .tells = "the same sinusoids, all sines before all cosines, as Marian has them",
        .heading = "Positional encoding, by halves",
        .caption = "PE(pos, i) = sin(pos / 10000^(2i/d)), PE(pos, d/2 + i) = cos of the same; added to the embeddings. "
                   "The numbers of §3.5 in another order, as in Marian and tensor2tensor.",
        .curves_heading = "Waves",
        .curves = "Sines on the left, cosines on the right, each from fast to slow.",
        .alike = "Dot products depend on the distance alone: near positions are alike, wherever they stand.",
    },
    PositionScheme{
        .name = "learned",
        .form = PositionForm::added,
        .tells = "trained vectors added to the embeddings (paper §3.5)",
        .heading = "Learned positions",
        .caption = "One trained vector a position, added to the embeddings. They begin as noise; the paper found them "
                   "as good as sinusoids (§3.5, table 3 E).",
        .curves = "Some dimensions, over the position.",
        .alike = "Nothing but training makes near positions alike.",
    },
    PositionScheme{
        .name = "shaw",
        .form = PositionForm::vectors,
        .tells = "Shaw's relative vectors (1803.02155)",
        .heading = "Relative vectors (Shaw)",
        .caption = "a^K, added to the keys by their distance from the query, farther ones as the farthest; shared by a "
                   "layer's heads (1803.02155 §3.2).",
        .curves = "Some dimensions, over the distance key − query.",
        .alike = "Dot products: distances that a layer tells apart are unlike.",
        .label = "Shaw",
        .term = "q · a^K of distance {}",
    },
    PositionScheme{
        .name = "t5",
        .form = PositionForm::bias,
        .tells = "T5's learned biases (1910.10683 §2.1)",
        .heading = "Learned biases (T5)",
        .caption = "Each head adds a trained number to its scores, one for every bucket of distances, shared by all "
                   "layers (1910.10683 §2.1). Zero before training.",
        .curves = "What a head adds to a score, over the distance key − query: near distances have a bucket of their "
                  "own, far ones share.",
        .label = "T5",
        .term = "learned for the bucket of distance {}",
    },
    PositionScheme{
        .name = "rope",
        .form = PositionForm::rotation,
        .tells = "RoPE's rotations (2104.09864)",
        .heading = "Rotations (RoPE)",
        .caption = "cos, sin of position · base^(−2i/d_k): the angles by which a head's queries and keys are rotated, "
                   "pair by pair of dimensions (2104.09864 §3.4.2). The base is 10000 in the paper; model.rope_theta.",
        .curves_heading = "Waves",
        .curves = "Cosine and sine in turn: fast on the left, slow on the right.",
        .alike = "Two rotated vectors that were alike: what is left of their dot product depends on the distance "
                 "alone.",
        .formulas = {"cos({0} · {3:g}^(−{1}/{2}))", "sin({0} · {3:g}^(−{1}/{2}))"},
        .label = "RoPE",
    },
    PositionScheme{
        .name = "alibi",
        .form = PositionForm::bias,
        .tells = "ALiBi's slopes (2108.12409)",
        .heading = "Linear biases (ALiBi)",
        .caption = "Each head subtracts its slope times the distance from its scores: nothing is trained "
                   "(2108.12409 §3).",
        .curves = "What a head adds to a score, over the distance key − query: steep heads see only what is near.",
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
  return form == PositionForm::vectors || form == PositionForm::bias ? "distance" : "position";
}

}  // namespace attnscope
