#include "data/tokenizer/model_trial.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "common/module_folder.h"
#include "common/programs.h"
#include "data/tokenizer/sentence_piece.h"
#include "data/tokenizer/tokenizer.h"

namespace attnscope {
namespace {

// Models that have passed the trial; one hash and length each.
class Tried {
 public:
  bool contains(std::string_view model) {
    const std::scoped_lock lock(mutex_);
    return models_.contains(key(model));
  }
  void add(std::string_view model) {
    const std::scoped_lock lock(mutex_);
    models_.insert(key(model));
  }

 private:
  using Key = std::pair<std::size_t, std::size_t>;
  static Key key(std::string_view model) { return {std::hash<std::string_view>()(model), model.size()}; }

  std::mutex mutex_;
  std::set<Key> models_;
};

// The status returned by waitpid.
int status_of_trial(std::string_view model) {
  try {
    const NamelessFile input(model);
    return status_at_end(start_program({module_folder() / ATTNSCOPE_SENTENCEPIECE_TRIAL}, input));
  } catch (const std::system_error& error) {
    throw TokenizerError(fmt::format("cannot test the SentencePiece model: {}", error.what()));
  }
}

}  // namespace

void try_apart(std::string_view model) {
  static Tried tried;
  if (tried.contains(model)) return;
  const int status = status_of_trial(model);
  if (WIFSIGNALED(status))
    throw TokenizerError(fmt::format("this SentencePiece model is damaged: SentencePiece itself crashed on it ({})",
                                     ::strsignal(WTERMSIG(status))));
  if (WEXITSTATUS(status) != 0)
    throw TokenizerError(
        fmt::format("this SentencePiece model is damaged, or {} belongs to another version of attnscope",
                    ATTNSCOPE_SENTENCEPIECE_TRIAL));
  tried.add(model);
}

}  // namespace attnscope
