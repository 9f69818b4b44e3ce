#include "model/kernels/bfloat16_product.h"

#include <oneapi/dnnl/dnnl.hpp>

#include "model/kernels/processor.h"

namespace attnscope::kernels {
namespace {

using Kind = dnnl::memory::data_type;

// Storage of a matrix: its rows, or those of its transpose.
struct Stored {
  std::int64_t rows, columns;

  Stored(std::int64_t rows_of_it, std::int64_t columns_of_it, bool transposed)
      : rows(transposed ? columns_of_it : rows_of_it), columns(transposed ? rows_of_it : columns_of_it) {}
  std::size_t size() const { return static_cast<std::size_t>(rows * columns); }
};

dnnl::memory::desc packed(std::int64_t rows, std::int64_t columns, bool transposed, Kind kind) {
  using Sizes = dnnl::memory::dims;
  return {Sizes{rows, columns}, kind, transposed ? Sizes{1, rows} : Sizes{columns, 1}};
}

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

// oneDNN caches what it creates for a shape, so repeated calls are cheap.
dnnl::matmul matmul_of(const dnnl::memory::desc& a, const dnnl::memory::desc& b, const dnnl::memory::desc& c,
                       bool add) {
  dnnl::primitive_attr attributes;
  dnnl::post_ops after;
  if (add) after.append_sum(1.0F);
  attributes.set_post_ops(after);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul(dnnl::matmul::primitive_desc(engine(), a, b, c, attributes));
#else
  return dnnl::matmul(dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), attributes, engine()));
#endif
}

void multiply_natively(const ProductShape& shape, MatrixView a, MatrixView b, float* c) {
  const Stored in_a(shape.rows, shape.depth, a.transposed), in_b(shape.depth, shape.columns, b.transposed);
  thread_local std::vector<std::uint16_t> packed_a, packed_b;
  packed_a.resize(in_a.size());
  packed_b.resize(in_b.size());
  loops().pack_bfloat16(in_a.rows, in_a.columns, a.stride, a.values, packed_a.data());
  loops().pack_bfloat16(in_b.rows, in_b.columns, b.stride, b.values, packed_b.data());
  const dnnl::memory::desc left = packed(shape.rows, shape.depth, a.transposed, Kind::bf16);
  const dnnl::memory::desc right = packed(shape.depth, shape.columns, b.transposed, Kind::bf16);
  const dnnl::memory::desc out = packed(shape.rows, shape.columns, false, Kind::f32);
  dnnl::stream stream(engine());
  matmul_of(left, right, out, shape.add)
      .execute(stream, {{DNNL_ARG_SRC, dnnl::memory(left, engine(), packed_a.data())},
                        {DNNL_ARG_WEIGHTS, dnnl::memory(right, engine(), packed_b.data())},
                        {DNNL_ARG_DST, dnnl::memory(out, engine(), c)}});
  stream.wait();
}

void multiply_rounded(const ProductShape& shape, MatrixView a, MatrixView b, float* c) {
  const Stored in_a(shape.rows, shape.depth, a.transposed), in_b(shape.depth, shape.columns, b.transposed);
  thread_local std::vector<float> rounded_a, rounded_b;
  rounded_a.resize(in_a.size());
  rounded_b.resize(in_b.size());
  loops().round_to_bfloat16(in_a.rows, in_a.columns, a.stride, a.values, rounded_a.data());
  loops().round_to_bfloat16(in_b.rows, in_b.columns, b.stride, b.values, rounded_b.data());
  multiply_floats(shape, {rounded_a.data(), in_a.columns, a.transposed}, {rounded_b.data(), in_b.columns, b.transposed},
                  c);
}

}  // namespace

bool multiplies_bfloat16() {
#ifdef __x86_64__
  return level() == Level::avx512 && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

void multiply_bfloat16(const ProductShape& shape, MatrixView a, MatrixView b, float* c) {
  if (multiplies_bfloat16()) return multiply_natively(shape, a, b, c);
  multiply_rounded(shape, a, b, c);
}

}  // namespace attnscope::kernels
