// Products of matrices rounded to bfloat16, summed in float32.
#pragma once

#include "kernels/product.h"

namespace attnscope::kernels {

// Whether this processor multiplies bfloat16 (AVX-512 BF16, AMX). Where it does not, such products are computed of the
// rounded floats: the same but for the order of the sums, and no faster.
bool multiplies_bfloat16();

// As multiply() in product.h, in place of it.
void multiply_bfloat16(const ProductShape& shape, MatrixView a, MatrixView b, float* c);

}  // namespace attnscope::kernels
