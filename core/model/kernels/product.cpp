#include "model/kernels/product.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include "model/kernels/bfloat16_product.h"
#include "model/kernels/libtorch.h"
#include "model/kernels/precision.h"
#include "model/kernels/processor.h"
#include "model/kernels/yielding.h"

namespace attnscope::kernels {
namespace {

// On a processor newer than itself, OpenBLAS falls back to Pentium 4 code (Prescott). Debian 12's OpenBLAS on a Xeon of
// 2023 reaches a fifth of its AVX-512 speed, and less than half of its AVX2 speed.
bool blas_knows_processor() {
  using CoreName = const char* (*)();
  static const auto core = reinterpret_cast<CoreName>(::dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  return !core || std::string_view(core()) != "Prescott";  // another BLAS does not report its core
}

// Measured on our shapes: with AVX-512 oneDNN is almost twice as fast as OpenBLAS. With AVX2 it is slightly faster, but
// slower if the first matrix is transposed. Otherwise, and on other processors, it has no optimized code.
bool uses_onednn(bool transposed) {
  return level() == Level::avx512 || (level() == Level::avx2 && !(transposed && blas_knows_processor()));
}

std::atomic<NotedProducts*> notes = nullptr;
std::mutex notes_mutex;

torch::Tensor as_tensor(MatrixView view, std::int64_t rows, std::int64_t columns) {
  auto* values = const_cast<float*>(view.values);  // from_blob needs it; the product only reads
  if (view.transposed) return torch::from_blob(values, {rows, columns}, {1, view.stride});
  return torch::from_blob(values, {rows, columns}, {view.stride, 1});
}

}  // namespace

void multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth, MatrixView a, MatrixView b, float* c,
              bool add) {
  yield_if_requested();
  const ProductShape shape{rows, columns, depth, a.transposed, b.transposed, add};
  if (NotedProducts* noted = notes.load(std::memory_order_acquire)) noted->note(shape);
  if (precision() == Precision::bfloat16) return multiply_bfloat16(shape, a, b, c);
  multiply_floats(shape, a, b, c);
}

void multiply_floats(const ProductShape& shape, MatrixView a, MatrixView b, float* c) {
  const auto& [rows, columns, depth, a_transposed, b_transposed, add] = shape;
  if (uses_onednn(a_transposed)) {
    const dnnl_status_t status =
        dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', rows, columns, depth, 1.0F, a.values, a.stride,
                   b.values, b.stride, add ? 1.0F : 0.0F, c, columns);
    if (status != dnnl_success) throw std::runtime_error("oneDNN refused a matrix product");
    return;
  }
  torch::NoGradGuard no_grad;
  torch::Tensor out = torch::from_blob(c, {rows, columns});
  at::addmm_out(out, out, as_tensor(a, rows, depth), as_tensor(b, depth, columns), add ? 1 : 0, 1);
}

std::string product_library() {
  return uses_onednn(true) ? "oneDNN" : uses_onednn(false) ? "oneDNN and BLAS" : "BLAS";
}

NotedProducts::NotedProducts() {
  notes.store(this, std::memory_order_release);
}

NotedProducts::~NotedProducts() {
  notes.store(nullptr, std::memory_order_release);
}

void NotedProducts::note(const ProductShape& shape) {
  const std::lock_guard lock(notes_mutex);
  shapes_.push_back(shape);
}

}  // namespace attnscope::kernels
