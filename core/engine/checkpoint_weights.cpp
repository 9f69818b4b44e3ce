#include "engine/checkpoint_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <stdexcept>
#include <utility>

#include "engine/checkpoint.h"

namespace attnscope {
namespace {

// The destination of a tensor: a range of the parameter's rows.
class Destination {
 public:
  Destination(torch::Tensor parameter, std::int64_t head_width)
      : parameter_(std::move(parameter)), head_width_(head_width) {}

  void take(const TensorView& stored, const TensorPart& part) {
    const std::int64_t rows = part.rows > 0 ? part.rows : parameter_.size(0);
    const torch::Tensor place = parameter_.slice(0, filled_, filled_ + rows);
    filled_ += rows;
    std::vector<std::int64_t> wanted = place.sizes().vec();
    if (part.change == TensorChange::transposed && wanted.size() == 2) std::swap(wanted[0], wanted[1]);
    std::vector<std::int64_t> shape = stored.shape;
    if (shape.size() == wanted.size() + 1 && shape.front() == 1) shape.erase(shape.begin());  // [1, V]
    wanted.front() += part.skipped;
    if (shape != wanted) {
      throw CheckpointError(fmt::format("tensor {} has shape [{}], the configuration asks for [{}]", stored.name,
                                        fmt::join(stored.shape, ", "), fmt::join(wanted, ", ")));
    }
    // from_blob has no const form; the data is only read.
    void* data = const_cast<char*>(stored.bytes.data());
    const torch::Tensor values = torch::from_blob(data, shape, stored_type(stored)).slice(0, part.skipped);
    place.copy_(changed(values, part.change));
    if (!is_finite(place))
      throw CheckpointError(fmt::format("tensor {} contains a value that is not finite", stored.name));
  }

 private:
  static torch::ScalarType stored_type(const TensorView& stored) {
    if (const auto type = floating_type(stored.dtype)) return *type;
    throw CheckpointError(fmt::format("tensor {} contains {}, not floating-point numbers of a supported type",
                                      stored.name, name_of(stored.dtype)));
  }

  torch::Tensor changed(const torch::Tensor& tensor, TensorChange change) const {
    switch (change) {
      case TensorChange::none:
      case TensorChange::flattened:
        return tensor;
      case TensorChange::transposed:
        return tensor.t();
      case TensorChange::interleaved: {
        const std::vector<std::int64_t> sizes = tensor.sizes().vec();
        return tensor.unflatten(0, {-1, 2, head_width_ / 2}).transpose(1, 2).reshape(sizes);
      }
    }
    return tensor;
  }

  torch::Tensor parameter_;
  std::int64_t head_width_;
  std::int64_t filled_ = 0;
};

const TensorView* first_stored(const CheckpointTensors& stored, const TensorPart& part) {
  for (const std::string& name : part.names)
    if (const TensorView* found = stored.find(name)) return found;
  return nullptr;
}

}  // namespace

void load_checkpoint(const CheckpointTensors& stored, std::span<const TensorRow> rows, SequenceModel& model) {
  torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> places;
  for (const auto& item : model.named_parameters()) places.emplace(item.key(), item.value());
  const std::size_t parameters = places.size();
  std::size_t planned = 0;
  for (const TensorRow& row : rows) planned += places.contains(row.parameter) ? 1 : 0;
  if (planned != parameters) throw std::logic_error("the checkpoint plan leaves out parameters");
  for (const auto& item : model.named_buffers()) places.emplace(item.key(), item.value());
  for (const TensorRow& row : rows) {
    const auto place = places.find(row.parameter);
    if (place == places.end()) throw std::logic_error("there is no parameter named " + row.parameter);
    Destination destination(place->second.detach(), model.config().head_width());
    for (const TensorPart& part : row.parts) {
      const TensorView* const found = first_stored(stored, part);
      if (found) {
        destination.take(*found, part);
        CheckpointTensors::release(*found);
      } else if (row.optional) {
        // Parameters are uninitialized here; buffers keep what the model computed.
        if (row.parameter.ends_with("bias")) place->second.detach().zero_();
      } else {
        throw CheckpointError(fmt::format("tensor {} is missing", fmt::join(part.names, " or ")));
      }
    }
  }
}

namespace {

// A part of `parameter`, in the stored layout.
torch::Tensor unchanged(const torch::Tensor& part, TensorChange change, std::int64_t head_width) {
  switch (change) {
    case TensorChange::none:
      return part;
    case TensorChange::transposed:
      return part.t();
    case TensorChange::flattened:
      return part.unsqueeze(0);
    case TensorChange::interleaved:
      return part.unflatten(0, {-1, head_width / 2, 2}).transpose(1, 2).reshape(part.sizes());
  }
  return part;
}

}  // namespace

Safetensors checkpoint_tensors(std::span<const TensorRow> rows, const SequenceModel& model) {
  const auto parameters = model.named_parameters();
  Safetensors file{{{"format", "pt"}}, {}};
  for (const TensorRow& row : rows) {
    const torch::Tensor* const parameter = parameters.find(row.parameter);
    if (!parameter && row.optional) continue;
    if (!parameter) throw std::logic_error("there is no parameter named " + row.parameter);
    std::int64_t begin = 0;
    for (const TensorPart& part : row.parts) {
      const std::int64_t end = begin + (part.rows > 0 ? part.rows : parameter->size(0));
      const torch::Tensor stored = unchanged(parameter->detach().to(torch::kCPU, torch::kFloat32).slice(0, begin, end),
                                             part.change, model.config().head_width())
                                       .contiguous();
      file.tensors.push_back(
          {part.names.front(),
           Dtype::F32,
           stored.sizes().vec(),
           {static_cast<const char*>(stored.data_ptr()), static_cast<std::size_t>(stored.nbytes())}});
      begin = end;
    }
  }
  return file;
}

}  // namespace attnscope
