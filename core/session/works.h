// What the worker thread is doing. Works nest, because each one yields: the table `may_contain` says which may begin
// inside which.
#pragma once

#include <vector>

namespace attnscope {

enum class Work { step, recording, inspection, reading_corpus, study, preparation };
inline constexpr int work_count = static_cast<int>(Work::preparation) + 1;

// True if `inner` may begin while `outer` is running, directly inside it or deeper.
bool may_contain(Work outer, Work inner);

class RunningWorks {
 public:
  // Ends the work when the scope exits, also by exception.
  class Scope {
   public:
    explicit Scope(RunningWorks& works) : works_(works) {}
    ~Scope() { works_.running_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    RunningWorks& works_;
  };

  // True if everything that is running lets it begin.
  bool may_begin(Work work) const;
  // Throws std::logic_error if it may not begin.
  [[nodiscard]] Scope begin(Work work);

  bool is_running(Work work) const;
  // Requests that the work end; no effect if it is not running.
  void cancel(Work work);
  bool is_cancelled(Work work) const;

 private:
  struct Running {
    Work work;
    bool cancelled = false;
  };
  const Running* find(Work work) const;

  std::vector<Running> running_;  // the outermost first
};

}  // namespace attnscope
