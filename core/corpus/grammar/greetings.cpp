// Greetings and everyday phrases.
#include <fmt/format.h>

#include <string_view>

#include "corpus/grammar/grammar.h"
#include "corpus/grammar/template.h"

namespace attnscope {
namespace {

constexpr Phrase openings[] = {
    {"hello", "bonjour"},
    {"good morning", "bonjour"},
    {"good evening", "bonsoir"},
    {"hi", "salut"},
    {"good night", "bonne nuit"},
    {"goodbye", "au revoir"},
    {"welcome", "bienvenue"},
    {"thank you", "merci"},
    {"excuse me", "excusez-moi"},
    {"please", "s'il vous plaît"},
    {"yes", "oui"},
    {"no", "non"},
};

constexpr Phrase names[] = {
    {"Paul", "Paul"},
    {"Emma", "Emma"},
    {"Anna", "Anna"},
    {"Peter", "Peter"},
    {"Lucy", "Lucy"},
    {"Thomas", "Thomas"},
    {"Mr Martin", "monsieur Martin"},
    {"Mrs Martin", "madame Martin"},
    {"Mr Dubois", "monsieur Dubois"},
    {"Mrs Dubois", "madame Dubois"},
    {"Mr Smith", "monsieur Smith"},
    {"Mrs Smith", "madame Smith"},
    {"doctor", "docteur"},
    {"my friends", "mes amis"},
    {"everybody", "tout le monde"},
};

constexpr Phrase phrases[] = {
    {"how are you?", "comment allez-vous?"},
    {"what is your name?", "comment vous appelez-vous?"},
    {"where do you live?", "où habitez-vous?"},
    {"what time is it?", "quelle heure est-il?"},
    {"do you speak English?", "parlez-vous anglais?"},
    {"do you speak French?", "parlez-vous français?"},
    {"can you help me?", "pouvez-vous m'aider?"},
    {"where is the station?", "où est la gare?"},
    {"how much is this?", "combien ça coûte?"},
    {"are you tired?", "êtes-vous fatigué?"},
    {"do you understand?", "comprenez-vous?"},
    {"see you tomorrow.", "à demain."},
    {"see you soon.", "à bientôt."},
    {"I am very well.", "je vais très bien."},
    {"I am sorry.", "je suis désolé."},
    {"I don't understand.", "je ne comprends pas."},
    {"I don't know.", "je ne sais pas."},
    {"I am learning French.", "j'apprends le français."},
    {"I live in Paris.", "j'habite à Paris."},
    {"I am hungry.", "j'ai faim."},
    {"I am thirsty.", "j'ai soif."},
    {"I am cold.", "j'ai froid."},
    {"it is raining.", "il pleut."},
    {"it is cold today.", "il fait froid aujourd'hui."},
    {"it is late.", "il est tard."},
    {"have a nice day.", "bonne journée."},
    {"sit down, please.", "asseyez-vous, s'il vous plaît."},
    {"come in, please.", "entrez, s'il vous plaît."},
    {"speak slowly, please.", "parlez lentement, s'il vous plaît."},
    {"wait a moment.", "attendez un moment."},
    {"happy birthday!", "joyeux anniversaire!"},
    {"that is right.", "c'est juste."},
    {"we are ready.", "nous sommes prêts."},
    {"my name is Paul.", "je m'appelle Paul."},
    {"my name is Emma.", "je m'appelle Emma."},
};

void add(std::vector<Draft>& drafts, std::string source, std::string target) {
  std::string key = fmt::format("greeting|{}", source);
  drafts.push_back({.pair = {.source = std::move(source), .target = std::move(target), .category = "greeting"},
                    .key = std::move(key)});
}

std::string opened(std::string_view opening, std::string_view name) {
  return sentence(name.empty() ? std::string(opening) : fmt::format("{}, {}", opening, name));
}

}  // namespace

std::vector<Draft> greeting_drafts(std::size_t wanted, Random& random) {
  std::vector<Draft> drafts;
  for (const Phrase& phrase : phrases) add(drafts, sentence(std::string(phrase.en)), sentence(std::string(phrase.fr)));
  for (const Phrase& opening : openings) {
    std::vector<Phrase> called = {{"", ""}};
    called.insert(called.end(), std::begin(names), std::end(names));
    for (const Phrase& name : called) {
      const std::string en = opened(opening.en, name.en);
      const std::string fr = opened(opening.fr, name.fr);
      add(drafts, en, fr);
      for (const Phrase& phrase : phrases) {
        add(drafts, fmt::format("{} {}", en, sentence(std::string(phrase.en))),
            fmt::format("{} {}", fr, sentence(std::string(phrase.fr))));
      }
    }
  }
  return drawn(std::move(drafts), wanted, random);
}

}  // namespace attnscope
