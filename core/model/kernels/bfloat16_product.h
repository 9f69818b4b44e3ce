// Matrix products of values rounded to bfloat16, summed in float32.
#pragma once

#include "model/kernels/product.h"

namespace attnscope::kernels {

// True if this processor multiplies bfloat16 natively (AVX-512 BF16, AMX). Otherwise such products use the rounded
// floats: equal except for the order of summation, and no faster.
bool multiplies_bfloat16();

// Replaces multiply() of product.h.
void multiply_bfloat16(const ProductShape& shape, MatrixView a, MatrixView b, float* c);

}  // namespace attnscope::kernels
