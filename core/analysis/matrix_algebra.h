// What matrices are made of one another with, and how large their numbers are.
#pragma once

#include <span>

#include "plain/matrix.h"

namespace attnscope {

Matrix transposed(const Matrix& matrix);
Matrix product(const Matrix& a, const Matrix& b);             // a · b
Matrix product_transposed(const Matrix& a, const Matrix& b);  // a · bᵀ: the dot product of every row with every row

// The largest without its sign, of the finite ones; 0 where there is none.
float largest_size(std::span<const float> values);
// The same, or 1 where all are 0: what a colour map goes up to.
float color_range(std::span<const float> values);

}  // namespace attnscope
