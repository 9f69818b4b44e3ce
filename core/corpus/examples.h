// Sentences of a corpus to be tried in the window.
#pragma once

#include <vector>

#include "corpus/corpus.h"
#include "plain/messages.h"

namespace attnscope {

// Some held-out pairs of every category, or prompts from the held-out text: beginnings of lines all over it.
std::vector<Example> examples_of(const Corpus& corpus);

}  // namespace attnscope
