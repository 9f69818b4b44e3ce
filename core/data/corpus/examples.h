// Example sentences of a corpus for the window.
#pragma once

#include <vector>

#include "data/corpus/corpus.h"
#include "messages/messages.h"

namespace attnscope {

// Returns some held-out pairs of every category, or prompts from the held-out text: the starts of lines spread over it.
std::vector<Example> examples_of(const Corpus& corpus);

}  // namespace attnscope
