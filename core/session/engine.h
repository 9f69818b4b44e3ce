// What the session needs of the machinery behind it. Called by the worker thread alone. The real one (torch_engine.h)
// holds corpus, tokenizer, model and trainer; tests drive the session with a slow fake one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "plain/callbacks.h"
#include "plain/messages.h"
#include "plain/snapshot.h"

namespace attnscope {

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
