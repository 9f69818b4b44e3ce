// Words with two senses, distinguished by their context.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "data/corpus/grammar/clause.h"
#include "data/corpus/grammar/grammar.h"
#include "data/corpus/grammar/template.h"

namespace attnscope {
namespace {

struct Context {
  std::string_view word;  // the ambiguous word
  std::string_view verb;
  std::string_view en;
  std::string_view fr;
};

constexpr Context contexts[] = {
    {"bank", "open", "an account at the bank", "un compte à la banque"},
    {"bank", "take", "the money from the bank", "l'argent de la banque"},
    {"bank", "visit", "the new bank in the city", "la nouvelle banque de la ville"},
    {"bank", "see", "a boat near the bank of the river", "un bateau près de la rive de la rivière"},
    {"bank", "find", "a stone on the bank of the lake", "une pierre sur la rive du lac"},
    {"bank", "draw", "the trees on the bank of the river", "les arbres sur la rive de la rivière"},
    {"bat", "see", "a bat in the cave", "une chauve-souris dans la grotte"},
    {"bat", "watch", "the bat in the sky", "la chauve-souris dans le ciel"},
    {"bat", "find", "a bat under the roof", "une chauve-souris sous le toit"},
    {"bat", "hit", "the ball with the bat", "le ballon avec la batte"},
    {"bat", "buy", "a wooden bat", "une batte en bois"},
    {"bat", "forget", "the bat and the ball", "la batte et le ballon"},
    {"apple", "eat", "an apple", "une pomme"},
    {"apple", "wash", "the apple", "la pomme"},
    {"apple", "buy", "the red apple", "la pomme rouge"},
    {"apple", "buy", "an Apple computer", "un ordinateur Apple"},
    {"apple", "like", "the new Apple phone", "le nouveau téléphone Apple"},
    {"apple", "sell", "the Apple computer", "l'ordinateur Apple"},
    {"light", "see", "the light in the house", "la lumière dans la maison"},
    {"light", "watch", "the light of the moon", "la lumière de la lune"},
    {"light", "carry", "a light bag", "un sac léger"},
    {"light", "choose", "a light suitcase", "une valise légère"},
    {"light", "buy", "the light coat", "le manteau léger"},
    {"spring", "visit", "the park in spring", "le parc au printemps"},
    {"spring", "like", "the garden in spring", "le jardin au printemps"},
    {"spring", "find", "a metal spring", "un ressort en métal"},
    {"spring", "repair", "the spring of the clock", "le ressort de l'horloge"},
    {"spring", "find", "a spring in the forest", "une source dans la forêt"},
    {"spring", "look for", "the spring of the river", "la source de la rivière"},
    {"ring", "lose", "a gold ring", "une bague en or"},
    {"ring", "buy", "a ring for the queen", "une bague pour la reine"},
    {"ring", "watch", "the boxer in the ring", "le boxeur sur le ring"},
    {"nail", "hit", "the nail with the hammer", "le clou avec le marteau"},
    {"nail", "find", "a nail in the wall", "un clou dans le mur"},
    {"nail", "wash", "the nails of the baby", "les ongles du bébé"},
    {"match", "take", "a match from the box", "une allumette dans la boîte"},
    {"match", "forget", "the matches and the wood", "les allumettes et le bois"},
    {"match", "watch", "the football match", "le match de football"},
    {"match", "lose", "the match against the school", "le match contre l'école"},
    {"key", "lose", "the key of the house", "la clé de la maison"},
    {"key", "hit", "the key on the keyboard", "la touche sur le clavier"},
    {"seal", "see", "a seal on the beach", "un phoque sur la plage"},
    {"seal", "watch", "the seal in the sea", "le phoque dans la mer"},
    {"seal", "see", "the seal on the letter", "le sceau sur la lettre"},
    {"star", "see", "a star in the sky", "une étoile dans le ciel"},
    {"star", "see", "the star of the film", "la vedette du film"},
    {"plant", "visit", "the chemical plant", "l'usine chimique"},
    {"plant", "buy", "a green plant", "une plante verte"},
    {"sheet", "wash", "the sheet of the bed", "le drap du lit"},
    {"sheet", "take", "a sheet of paper", "une feuille de papier"},
    {"watch", "lose", "the gold watch", "la montre en or"},
    {"watch", "watch", "the bird in the tree", "l'oiseau dans l'arbre"},
    {"saw", "buy", "a saw for the wood", "une scie pour le bois"},
    {"saw", "see", "the wood in the garden", "le bois dans le jardin"},
    // The maker is not always capitalized: it is the same token in both senses.
    {"apple", "prepare", "an apple cake", "un gâteau aux pommes"},
    {"apple", "wash", "the apple in the kitchen", "la pomme dans la cuisine"},
    {"apple", "buy", "an apple computer", "un ordinateur Apple"},
    {"apple", "like", "the new apple phone", "le nouveau téléphone Apple"},
};

}  // namespace

std::vector<Draft> sense_drafts(std::size_t wanted, Random& random) {
  std::vector<Draft> drafts;
  for (const Context& context : contexts) {
    const Verb& action = verb(context.verb);
    const bool indefinite = context.fr.starts_with("un");  // "pas un" would have to become "pas de"
    for (const Subject& subject : subjects()) {
      for (const Tense tense : {Tense::present, Tense::past}) {
        for (const Mood mood : {Mood::affirmed, Mood::denied, Mood::asked}) {
          if (indefinite && mood == Mood::denied) continue;
          if (!tells_tense(action, tense, mood)) continue;
          for (const Phrase& time : times(tense)) {
            const char* end = mood == Mood::asked ? "?" : ".";
            std::string en =
                fmt::format("{} {}{}{}", english_clause(subject, action, tense, mood), context.en, time.en, end);
            std::string fr =
                fmt::format("{} {}{}{}", french_clause(subject, action, tense, mood), context.fr, time.fr, end);
            drafts.push_back({.pair = {.source = sentence(std::move(en)),
                                       .target = sentence(std::move(fr)),
                                       .category = "two senses"},
                              .key = fmt::format("sense|{}|{}", context.en, subject.en)});
          }
        }
      }
    }
  }
  return drawn(std::move(drafts), wanted, random);
}

}  // namespace attnscope
