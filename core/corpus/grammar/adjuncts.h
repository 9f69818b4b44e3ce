// When it happens: expressions that end a sentence.
#pragma once

#include <span>
#include <vector>

#include "corpus/grammar/lexicon.h"
#include "corpus/grammar/pronoun_frames.h"

namespace attnscope {

inline std::vector<Phrase> times(Tense tense) {
  std::vector<Phrase> all = {{"", ""},
                             {" today", " aujourd'hui"},
                             {" this morning", " ce matin"},
                             {" on Monday", " lundi"},
                             {" on Tuesday", " mardi"},
                             {" on Friday", " vendredi"},
                             {" on Sunday", " dimanche"}};
  if (tense == Tense::past) {
    all.insert(all.end(), {{" yesterday", " hier"}, {" last week", " la semaine dernière"}});
  } else {
    all.insert(all.end(), {{" every day", " tous les jours"}, {" now", " maintenant"}});
  }
  return all;
}

}  // namespace attnscope
