#include "compute/bench_peer.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <torch/cuda.h>
#include <torch/torch.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>

#include "compute/bench_workloads.h"
#include "compute/bench.h"
#include "common/programs.h"
#include "engine/device.h"
#include "model/kernels/thread_pool.h"
#include "model/positions.h"
#include "training/batches.h"

namespace attnscope {
namespace {

// The same step as a user of torch::nn would write it: nn::Transformer, optim::Adam, cross_entropy.
class Peer : public torch::nn::Module {
 public:
  Peer(const ModelConfig& config, std::int64_t vocab_size)
      : d_model_(static_cast<double>(config.d_model)),
        source_embedding_(register_module("source_embedding", torch::nn::Embedding(vocab_size, config.d_model))),
        target_embedding_(register_module("target_embedding", torch::nn::Embedding(vocab_size, config.d_model))),
        transformer_(register_module(
            "transformer", torch::nn::Transformer(torch::nn::TransformerOptions(config.d_model, config.num_heads)
                                                      .num_encoder_layers(config.num_encoder_layers)
                                                      .num_decoder_layers(config.num_decoder_layers)
                                                      .dim_feedforward(config.d_ff)
                                                      .dropout(config.dropout)))),
        output_(register_module("output", torch::nn::Linear(config.d_model, vocab_size))),
        positions_(register_buffer("positions", sinusoidal_positions(config.max_length, config.d_model).unsqueeze(1))),
        optimizer_(parameters(), torch::optim::AdamOptions(1e-4)) {}

  void step(const Batch& batch) {
    const auto embed = [&](torch::nn::Embedding& embedding, const torch::Tensor& ids) {
      return embedding(ids.transpose(0, 1)) * std::sqrt(d_model_) + positions_.slice(0, 0, ids.size(1));  // L×B×D
    };
    const std::int64_t length = batch.target_in.size(1);
    const torch::Tensor causal = torch::full({length, length}, -INFINITY, positions_.options()).triu(1);
    const torch::Tensor source_padding = batch.source.eq(Tokenizer::pad_id);
    const torch::Tensor target_padding = batch.target_in.eq(Tokenizer::pad_id);
    const torch::Tensor decoded =
        transformer_->forward(embed(source_embedding_, batch.source), embed(target_embedding_, batch.target_in), {},
                              causal, {}, source_padding, target_padding, source_padding);
    const torch::Tensor loss = torch::nn::functional::cross_entropy(
        output_(decoded).flatten(0, 1), batch.target_out.transpose(0, 1).flatten(),
        torch::nn::functional::CrossEntropyFuncOptions().ignore_index(Tokenizer::pad_id).label_smoothing(0.1));
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
  }

 private:
  double d_model_;
  torch::nn::Embedding source_embedding_, target_embedding_;
  torch::nn::Transformer transformer_;
  torch::nn::Linear output_;
  torch::Tensor positions_;
  torch::optim::Adam optimizer_;
};

// The whole batches in rotation, for the baseline.
class PeerBatches {
 public:
  PeerBatches(const Workload& workload, torch::Device device)
      : dataset_(workload.dataset),
        device_(device),
        sequence_(dataset_->train, batch_rule(workload.config.training), workload.config.training.seed) {}

  Batch next() { return make_batch(dataset_->train, sequence_.at(number_++), device_); }

 private:
  std::shared_ptr<const Dataset> dataset_;
  torch::Device device_;
  BatchSequence sequence_;
  std::int64_t number_ = 0;
};

}  // namespace

PeerProcess::PeerProcess(std::size_t workload, std::int64_t threads) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::runtime_error(fmt::format("cannot start the process to compare with: {}", std::strerror(errno)));
  }
  talk_ = Descriptor(ends[0]);
  const Descriptor other(ends[1]);
  process_ = start_own_program(
      {"attnscope", "bench", "--peer", fmt::to_string(workload), "--threads", fmt::to_string(threads)},
      environment_with({}), nullptr, other.get());
}

PeerProcess::~PeerProcess() {
  talk_.close();  // the process ends when its input is closed
  status_at_end(process_);
}

double PeerProcess::update_milliseconds(int updates) {
  const auto failed = [] { return std::runtime_error("the process that trains torch::nn has ended"); };
  const std::string wanted = fmt::format("{}\n", updates);
  if (::send(talk_.get(), wanted.data(), wanted.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(wanted.size()))
    throw failed();
  std::string line;
  for (char c = 0; c != '\n'; line += c) {
    ssize_t count = 0;
    do {
      count = ::recv(talk_.get(), &c, 1, 0);
    } while (count < 0 && errno == EINTR);
    if (count != 1) throw failed();
  }
  return std::strtod(line.c_str(), nullptr) / updates;
}

int run_peer(const std::string& run, std::size_t number, std::int64_t threads) {
  const Workload workload = training_workloads(run).at(number);
  set_threads({.threads = threads});
  at::set_num_threads(kernels::pool()->size());
  kernels::set_pool_size(1);
  torch::manual_seed(1);
  Peer peer(workload.config.model, workload.vocab_size);
  const torch::Device device = resolve_device(workload.config.training.device);
  peer.to(device);
  peer.train();
  PeerBatches batches(workload, device);
  for (std::string line; std::getline(std::cin, line);) {
    const int updates = std::atoi(line.c_str());
    fmt::print("{}\n", milliseconds([&] {
                 for (int update = 0; update < updates; ++update) peer.step(batches.next());
                 if (device.is_cuda()) torch::cuda::synchronize();
               }));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace attnscope
