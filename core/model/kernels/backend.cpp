#include "model/kernels/backend.h"

namespace attnscope::kernels {
namespace {

thread_local int composed_scopes = 0;

}  // namespace

Composed::Composed() {
  ++composed_scopes;
}

Composed::~Composed() {
  --composed_scopes;
}

bool composes() {
  return composed_scopes > 0;
}

bool is_fused(const torch::Tensor& x) {
  return !composes() && x.device().is_cpu() && x.scalar_type() == torch::kFloat32;
}

}  // namespace attnscope::kernels
