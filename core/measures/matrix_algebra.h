// What matrices are made of one another with.
#pragma once

#include "plain/matrix.h"

namespace attnscope {

Matrix transposed(const Matrix& matrix);
Matrix product(const Matrix& a, const Matrix& b);             // a · b
Matrix product_transposed(const Matrix& a, const Matrix& b);  // a · bᵀ: the dot product of every row with every row

}  // namespace attnscope
