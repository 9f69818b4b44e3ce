#include "model/kernels/precision.h"

#include "model/kernels/autocast.h"
#include "model/kernels/backend.h"

namespace attnscope::kernels {
namespace {

thread_local Precision in_force = Precision::float32;

// Operators are composed on devices other than the CPU, and on threads that chose composed operators.
bool autocasts(torch::DeviceType device) {
  return device != torch::kCPU || composes();
}

void enter(Precision precision, torch::DeviceType device) {
  if (precision != in_force && autocasts(device)) autocast_to_bfloat16(device, precision == Precision::bfloat16);
  in_force = precision;
}

}  // namespace

Precision precision() {
  return in_force;
}

PrecisionScope::PrecisionScope(Precision precision, torch::Device device) : before_(in_force), device_(device.type()) {
  enter(precision, device_);
}

PrecisionScope::~PrecisionScope() {
  enter(before_, device_);
}

}  // namespace attnscope::kernels
