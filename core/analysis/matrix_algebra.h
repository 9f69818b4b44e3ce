// Matrix products, and the magnitude of matrices.
#pragma once

#include <span>

#include "common/matrix.h"

namespace attnscope {

Matrix transposed(const Matrix& matrix);
Matrix product(const Matrix& a, const Matrix& b);             // a · b
Matrix product_transposed(const Matrix& a, const Matrix& b);  // a · bᵀ: the dot product of every row with every row

// The largest absolute value of the finite ones; 0 if there is none.
float largest_size(std::span<const float> values);
// The same, or 1 if all are 0: the upper end of a color map.
float color_range(std::span<const float> values);

}  // namespace attnscope
