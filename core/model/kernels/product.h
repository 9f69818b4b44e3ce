// Products of large matrices, by the faster library for this processor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope::kernels {

// A row-major matrix, or its transpose.
struct MatrixView {
  const float* values;
  std::int64_t stride;  // between stored rows
  bool transposed = false;
};

// C (rows×columns, contiguous) = A (rows×depth) · B (depth×columns), or C += A · B; in this thread's precision
// (model/kernels/precision.h).
void multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth, MatrixView a, MatrixView b, float* c,
              bool add);

// "oneDNN", "BLAS", or both
std::string product_library();

// The sizes of a product.
struct ProductShape {
  std::int64_t rows, columns, depth;
  bool a_transposed, b_transposed, add;
};

// Same as multiply(), always in float32.
void multiply_floats(const ProductShape& shape, MatrixView a, MatrixView b, float* c);

// While it lives, records the products of all threads; at most one instance at a time.
class NotedProducts {
 public:
  NotedProducts();
  ~NotedProducts();
  NotedProducts(const NotedProducts&) = delete;
  NotedProducts& operator=(const NotedProducts&) = delete;

  const std::vector<ProductShape>& shapes() const { return shapes_; }
  void note(const ProductShape& shape);

 private:
  std::vector<ProductShape> shapes_;
};

}  // namespace attnscope::kernels
