// Hidden states layer by layer: a map of the tokens, and how similar the layers are.
#pragma once

#include <span>
#include <vector>

#include "messages/snapshot.h"

namespace attnscope {

// Projects each layer's vectors (tokens × d_model) onto their two principal axes, rotated so that tokens stay near
// their place in the layer before.
std::vector<HiddenLayer> hidden_layers(std::span<const Matrix> states);

// Layers × layers: the cosine of a token's vectors in two layers, averaged over the tokens. Zero vectors count as 0.
Matrix layer_similarity(std::span<const Matrix> states);

}  // namespace attnscope
