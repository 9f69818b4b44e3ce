// What the session needs of the machinery behind it. Called by the worker thread alone. The real one (torch_engine.h)
// holds corpus, tokenizer, model and trainer; tests drive the session with a slow fake one.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "plain/messages.h"
#include "plain/snapshot.h"

namespace attnscope {

// Thrown out of long work by a callback when the user gave it up.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
};

// The training loss or its gradient is no longer a finite number; the weights are those before the update.
class NotFinite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using ProgressCallback = std::function<void(const Progress&)>;                         // may throw Cancelled
using Breath = std::function<void()>;                                                  // may probe; may throw Cancelled
using SnapshotCallback = std::function<void(std::shared_ptr<const Snapshot>)>;

class Engine {
 public:
  virtual ~Engine() = default;

  // A saved run, or one built anew from its configuration. On any exception the present run stays as it was.
  virtual RunOpened open_run(const std::string& path, const ProgressCallback& progress) = 0;
  virtual RunOpened reset(const Config& config, const ProgressCallback& progress) = 0;

  virtual void save_run(const std::string& path) = 0;
  virtual void adjust(const Config& config) = 0;  // live fields only

  virtual Status status() const = 0;  // step and device; the activity is the session's
  virtual std::int64_t steps_wanted() const = 0;

  // One optimizer update, with a validation when it is due. Calls `breathe` between its phases (batch, forward,
  // backward, optimizer, each batch of a validation), so that a keystroke need not wait for the whole of it.
  virtual MetricPoint train_step(const Breath& breathe) = 0;

  // Looks at `text` through the present weights, dropout off. Publishes what is there early (pieces and encoder), then
  // the whole. `breathe` is called at every decoded token.
  virtual void probe(const Probe& probe, const SnapshotCallback& publish, const Breath& breathe) = 0;
};

}  // namespace attnscope
