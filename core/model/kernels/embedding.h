#pragma once

#include "model/kernels/libtorch.h"

namespace attnscope::kernels {

// dropout(table[ids] · factor + positions): ids int64 B×L, table V×D, positions L×D or undefined → B×L×D. The row of
// padding_id gets no gradient. Throws IndexError (c10) for an id outside the table.
torch::Tensor embed(const torch::Tensor& ids, const torch::Tensor& table, double factor, const torch::Tensor& positions,
                    std::int64_t padding_id, double dropout);

}  // namespace attnscope::kernels
