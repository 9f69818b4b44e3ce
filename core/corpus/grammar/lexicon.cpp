#include "corpus/grammar/lexicon.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace attnscope {
namespace {

constexpr Noun noun_table[] = {
    // animals
    {"animal", "animal", 'm'},
    {"dog", "chien", 'm'},
    {"cat", "chat", 'm'},
    {"horse", "cheval", 'm'},
    {"rabbit", "lapin", 'm'},
    {"bear", "ours", 'm'},
    {"donkey", "âne", 'm'},
    {"camel", "chameau", 'm'},
    {"wolf", "loup", 'm', "wolves"},
    {"lion", "lion", 'm'},
    {"fox", "renard", 'm'},
    {"bird", "oiseau", 'm'},
    {"lamb", "agneau", 'm'},
    {"rat", "rat", 'm'},
    {"cow", "vache", 'f'},
    {"goat", "chèvre", 'f'},
    {"tortoise", "tortue", 'f'},
    {"goose", "oie", 'f', "geese"},
    {"mouse", "souris", 'f', "mice"},
    {"hen", "poule", 'f'},
    {"frog", "grenouille", 'f'},
    {"mule", "mule", 'f'},
    {"mare", "jument", 'f'},
    {"panther", "panthère", 'f'},
    {"owl", "chouette", 'f'},
    {"spider", "araignée", 'f'},
    {"viper", "vipère", 'f'},
    // ways, waters, heights
    {"bridge", "pont", 'm'},
    {"canal", "canal", 'm'},
    {"boulevard", "boulevard", 'm'},
    {"path", "sentier", 'm'},
    {"field", "champ", 'm'},
    {"park", "parc", 'm'},
    {"tunnel", "tunnel", 'm'},
    {"lake", "lac", 'm'},
    {"ocean", "océan", 'm'},
    {"volcano", "volcan", 'm', "volcanoes"},
    {"glacier", "glacier", 'm'},
    {"garden", "jardin", 'm'},
    {"street", "rue", 'f'},
    {"river", "rivière", 'f'},
    {"avenue", "avenue", 'f'},
    {"road", "route", 'f'},
    {"square", "place", 'f'},
    {"beach", "plage", 'f'},
    {"alley", "ruelle", 'f'},
    {"sea", "mer", 'f'},
    {"bay", "baie", 'f'},
    {"hill", "colline", 'f'},
    {"mountain", "montagne", 'f'},
    {"slope", "pente", 'f'},
    {"forest", "forêt", 'f'},
    {"valley", "vallée", 'f'},
    // vehicles
    {"bus", "bus", 'm'},
    {"truck", "camion", 'm'},
    {"tractor", "tracteur", 'm'},
    {"taxi", "taxi", 'm'},
    {"scooter", "scooter", 'm'},
    {"boat", "bateau", 'm'},
    {"ferry", "ferry", 'm', "", "ferries"},
    {"car", "voiture", 'f'},
    {"van", "camionnette", 'f'},
    {"ambulance", "ambulance", 'f'},
    {"motorcycle", "moto", 'f'},
    {"limousine", "limousine", 'f'},
    {"barge", "barge", 'f'},
    {"gondola", "gondole", 'f'},
    // buildings and their parts
    {"garage", "garage", 'm'},
    {"shed", "hangar", 'm', "", "", true},
    {"attic", "grenier", 'm'},
    {"castle", "château", 'm'},
    {"hotel", "hôtel", 'm'},
    {"museum", "musée", 'm'},
    {"hospital", "hôpital", 'm'},
    {"theatre", "théâtre", 'm'},
    {"wall", "mur", 'm'},
    {"roof", "toit", 'm'},
    {"gate", "portail", 'm', "", "portails"},
    {"post", "poteau", 'm'},
    {"courtyard", "cour", 'f'},
    {"barn", "grange", 'f'},
    {"cave", "grotte", 'f'},
    {"stable", "écurie", 'f'},
    {"house", "maison", 'f'},
    {"school", "école", 'f'},
    {"church", "église", 'f'},
    {"library", "bibliothèque", 'f'},
    {"tower", "tour", 'f'},
    {"fence", "barrière", 'f'},
    {"hut", "cabane", 'f'},
    {"tent", "tente", 'f'},
    {"hedge", "haie", 'f', "", "", true},
    {"door", "porte", 'f'},
    {"window", "fenêtre", 'f'},
    // things
    {"book", "livre", 'm'},
    {"phone", "téléphone", 'm'},
    {"vase", "vase", 'm'},
    {"gift", "cadeau", 'm'},
    {"pillow", "oreiller", 'm'},
    {"toy", "jouet", 'm'},
    {"lamp", "lampe", 'f'},
    {"statue", "statue", 'f'},
    {"bottle", "bouteille", 'f'},
    {"clock", "horloge", 'f'},
    {"doll", "poupée", 'f'},
    {"radio", "radio", 'f'},
    {"bag", "sac", 'm'},
    {"drawer", "tiroir", 'm'},
    {"basket", "panier", 'm'},
    {"cupboard", "placard", 'm'},
    {"safe", "coffre", 'm'},
    {"barrel", "tonneau", 'm'},
    {"box", "boîte", 'f'},
    {"suitcase", "valise", 'f'},
    {"crate", "caisse", 'f'},
    {"wardrobe", "armoire", 'f'},
    {"trunk", "malle", 'f'},
    {"bench", "banc", 'm'},
    {"desk", "bureau", 'm'},
    {"bed", "lit", 'm'},
    {"stool", "tabouret", 'm'},
    {"table", "table", 'f'},
    {"chair", "chaise", 'f'},
    {"shelf", "étagère", 'f', "shelves"},
    {"dresser", "commode", 'f'},
    {"bowl", "bol", 'm'},
    {"jug", "pichet", 'm'},
    {"pot", "pot", 'm'},
    {"mirror", "miroir", 'm'},
    {"aquarium", "aquarium", 'm'},
    {"cup", "tasse", 'f'},
    {"plate", "assiette", 'f'},
    {"teapot", "théière", 'f'},
    {"piano", "piano", 'm'},
    {"violin", "violon", 'm'},
    {"drum", "tambour", 'm'},
    {"guitar", "guitare", 'f'},
    {"flute", "flûte", 'f'},
    {"trumpet", "trompette", 'f'},
    {"robot", "robot", 'm'},
    {"machine", "machine", 'f'},
    {"crane", "grue", 'f'},
    {"oven", "four", 'm'},
    {"stove", "fourneau", 'm'},
    {"pan", "poêle", 'f'},
    {"saucepan", "casserole", 'f'},
    {"key", "clé", 'f'},
    {"card", "carte", 'f'},
    {"hook", "crochet", 'm'},
    {"wire", "fil", 'm'},
    {"computer", "ordinateur", 'm'},
    {"camera", "caméra", 'f'},
    // food
    {"cheese", "fromage", 'm'},
    {"bread", "pain", 'm'},
    {"cake", "gâteau", 'm'},
    {"fish", "poisson", 'm', "fish"},
    {"melon", "melon", 'm'},
    {"chicken", "poulet", 'm'},
    {"soup", "soupe", 'f'},
    {"meat", "viande", 'f'},
    {"salad", "salade", 'f'},
    {"carrot", "carotte", 'f'},
    {"pear", "poire", 'f'},
    {"pizza", "pizza", 'f'},
    // tools and what they work on
    {"knife", "couteau", 'm', "knives"},
    {"razor", "rasoir", 'm'},
    {"saw", "scie", 'f'},
    {"axe", "hache", 'f', "", "", true},
    {"sword", "épée", 'f'},
    {"sabre", "sabre", 'm'},
    {"leather", "cuir", 'm'},
    {"ribbon", "ruban", 'm'},
    {"cardboard", "carton", 'm'},
    {"fabric", "tissu", 'm'},
    {"rope", "corde", 'f'},
    {"branch", "branche", 'f'},
    {"plank", "planche", 'f'},
    {"string", "ficelle", 'f'},
    {"ball", "ballon", 'm'},
    {"hammer", "marteau", 'm'},
    {"stick", "bâton", 'm'},
    {"rock", "rocher", 'm'},
    {"stone", "pierre", 'f'},
    {"arrow", "flèche", 'f'},
    {"brick", "brique", 'f'},
    {"bullet", "balle", 'f'},
    // weather and plants
    {"wind", "vent", 'm'},
    {"hurricane", "ouragan", 'm'},
    {"fire", "incendie", 'm'},
    {"storm", "tempête", 'f'},
    {"wave", "vague", 'f'},
    {"avalanche", "avalanche", 'f'},
    {"tree", "arbre", 'm'},
    {"bush", "buisson", 'm'},
    {"cactus", "cactus", 'm'},
    {"oak", "chêne", 'm'},
    {"rose", "rose", 'f'},
    {"flower", "fleur", 'f'},
    {"tulip", "tulipe", 'f'},
    {"plant", "plante", 'f'},
    // clothes
    {"coat", "manteau", 'm'},
    {"hat", "chapeau", 'm'},
    {"sweater", "pull", 'm'},
    {"dress", "robe", 'f'},
    {"shirt", "chemise", 'f'},
    {"jacket", "veste", 'f'},
    {"crown", "couronne", 'f'},
    {"letter", "lettre", 'f'},
    // people
    {"king", "roi", 'm'},
    {"queen", "reine", 'f'},
    {"prince", "prince", 'm'},
    {"princess", "princesse", 'f'},
    {"duke", "duc", 'm'},
    {"duchess", "duchesse", 'f'},
    {"man", "homme", 'm', "men"},
    {"woman", "femme", 'f', "women"},
    {"boy", "garçon", 'm'},
    {"girl", "fille", 'f'},
    {"actor", "acteur", 'm'},
    {"actress", "actrice", 'f'},
    {"waiter", "serveur", 'm'},
    {"waitress", "serveuse", 'f'},
    {"father", "père", 'm'},
    {"mother", "mère", 'f'},
    {"brother", "frère", 'm'},
    {"sister", "sœur", 'f'},
    {"uncle", "oncle", 'm'},
    {"aunt", "tante", 'f'},
};

constexpr Adjective adjective_table[] = {
    {"tired", "fatigué", "fatiguée"},
    {"lazy", "paresseux", "paresseuse"},
    {"weak", "faible", "faible"},
    {"sick", "malade", "malade"},
    {"young", "jeune", "jeune", Order::before},
    {"clumsy", "maladroit", "maladroite"},
    {"excited", "excité", "excitée"},
    {"brave", "courageux", "courageuse"},
    {"patient", "patient", "patiente"},
    {"clever", "rusé", "rusée"},
    {"angry", "furieux", "furieuse", Order::after, State::fixed},
    {"aggressive", "agressif", "agressive"},
    {"happy", "heureux", "heureuse"},
    {"sad", "triste", "triste"},
    {"kind", "gentil", "gentille"},
    {"rich", "riche", "riche"},
    {"famous", "célèbre", "célèbre"},
    {"jealous", "jaloux", "jalouse"},
    {"afraid", "peur", "peur", Order::after, State::avoir},
    {"hungry", "faim", "faim", Order::after, State::avoir},
    {"thirsty", "soif", "soif", Order::after, State::avoir},
    {"sleepy", "sommeil", "sommeil", Order::after, State::avoir},
    {"wide", "large", "large"},
    {"narrow", "étroit", "étroite"},
    {"long", "long", "longue"},
    {"short", "court", "courte"},
    {"big", "grand", "grande", Order::before},
    {"small", "petit", "petite", Order::before},
    {"tall", "haut", "haute"},
    {"low", "bas", "basse"},
    {"thick", "épais", "épaisse"},
    {"thin", "fin", "fine"},
    {"heavy", "lourd", "lourde"},
    {"light", "léger", "légère"},
    {"steep", "raide", "raide"},
    {"deep", "profond", "profonde"},
    {"fast", "rapide", "rapide"},
    {"slow", "lent", "lente"},
    {"strong", "fort", "forte"},
    {"powerful", "puissant", "puissante"},
    {"violent", "violent", "violente"},
    {"dangerous", "dangereux", "dangereuse"},
    {"slippery", "glissant", "glissante"},
    {"muddy", "boueux", "boueuse"},
    {"noisy", "bruyant", "bruyante"},
    {"dark", "sombre", "sombre"},
    {"damp", "humide", "humide"},
    {"dry", "sec", "sèche"},
    {"cold", "froid", "froide"},
    {"quiet", "calme", "calme"},
    {"rough", "agité", "agitée"},
    {"comfortable", "confortable", "confortable"},
    {"hard", "dur", "dure"},
    {"soft", "mou", "molle"},
    {"fragile", "fragile", "fragile"},
    {"solid", "solide", "solide"},
    {"sharp", "tranchant", "tranchante"},
    {"blunt", "émoussé", "émoussée"},
    {"unstable", "instable", "instable"},
    {"crooked", "penché", "penchée"},
    {"round", "rond", "ronde"},
    {"salty", "salé", "salée"},
    {"bitter", "amer", "amère"},
    {"spicy", "épicé", "épicée"},
    {"fresh", "frais", "fraîche"},
    {"delicious", "délicieux", "délicieuse", Order::after, State::fixed},
    {"precious", "précieux", "précieuse"},
    {"modern", "moderne", "moderne"},
    {"old", "vieux", "vieille", Order::before, State::quality, "vieil"},
    {"new", "nouveau", "nouvelle", Order::before, State::quality, "nouvel"},
    {"beautiful", "beau", "belle", Order::before, State::quality, "bel"},
    {"ugly", "laid", "laide"},
    {"clean", "propre", "propre"},
    {"dirty", "sale", "sale"},
    {"expensive", "cher", "chère"},
    {"full", "plein", "pleine", Order::after, State::fixed},
    {"empty", "vide", "vide", Order::after, State::fixed},
    {"closed", "fermé", "fermée", Order::after, State::fixed},
    {"locked", "verrouillé", "verrouillée", Order::after, State::fixed},
    {"blocked", "bloqué", "bloquée", Order::after, State::fixed},
    {"flooded", "inondé", "inondée", Order::after, State::fixed},
    {"broken", "cassé", "cassée", Order::after, State::fixed},
    {"lost", "perdu", "perdue", Order::after, State::fixed},
    {"sold", "vendu", "vendue", Order::after, State::fixed},
    {"bent", "tordu", "tordue", Order::after, State::fixed},
    {"frozen", "gelé", "gelée", Order::after, State::fixed},
    {"wounded", "blessé", "blessée", Order::after, State::fixed},
    {"rotten", "pourri", "pourrie", Order::after, State::fixed},
    {"loaded", "chargé", "chargée", Order::after, State::fixed},
    {"damaged", "endommagé", "endommagée", Order::after, State::fixed},
    {"badly placed", "mal placé", "mal placée", Order::after, State::fixed},
    {"red", "rouge", "rouge", Order::after, State::fixed},
    {"white", "blanc", "blanche", Order::after, State::fixed},
    {"black", "noir", "noire", Order::after, State::fixed},
    {"green", "vert", "verte", Order::after, State::fixed},
    {"blue", "bleu", "bleue", Order::after, State::fixed},
    {"yellow", "jaune", "jaune", Order::after, State::fixed},
    {"grey", "gris", "grise", Order::after, State::fixed},
};

struct NounClass {
  std::string_view name;
  std::vector<std::string_view> masculine;
  std::vector<std::string_view> feminine;  // as many
};

std::vector<NounClass> class_table() {
  return {
      {"animal",
       {"animal", "dog", "cat", "horse", "rabbit", "bear", "donkey"},
       {"cow", "goat", "tortoise", "goose", "mouse", "hen", "frog"}},
      {"large animal", {"horse", "donkey", "dog", "lion"}, {"cow", "mare", "goat", "mule"}},
      {"carrier", {"donkey", "horse", "camel", "robot"}, {"mule", "mare", "cow", "machine"}},
      {"predator", {"cat", "wolf", "lion", "fox"}, {"panther", "owl", "spider", "viper"}},
      {"prey", {"rabbit", "bird", "lamb", "rat"}, {"mouse", "hen", "frog", "goat"}},
      {"place",
       {"bridge", "canal", "boulevard", "path", "field", "park"},
       {"street", "river", "avenue", "road", "square", "beach"}},
      {"way", {"tunnel", "path", "boulevard", "bridge"}, {"street", "road", "avenue", "alley"}},
      {"passage", {"tunnel", "garage", "shed", "park"}, {"alley", "courtyard", "barn", "cave"}},
      {"height", {"volcano", "glacier", "path"}, {"hill", "mountain", "slope"}},
      {"water", {"lake", "canal", "ocean"}, {"river", "sea", "bay"}},
      {"vessel", {"boat", "ferry"}, {"barge", "gondola"}},
      {"vehicle",
       {"bus", "truck", "tractor", "taxi", "scooter"},
       {"car", "van", "ambulance", "motorcycle", "limousine"}},
      {"portable",
       {"book", "phone", "vase", "gift", "pillow", "toy"},
       {"lamp", "statue", "bottle", "clock", "doll", "radio"}},
      {"container", {"bag", "drawer", "basket", "cupboard", "safe"}, {"box", "suitcase", "crate", "wardrobe", "trunk"}},
      {"load", {"piano", "barrel", "safe", "rock"}, {"statue", "crate", "suitcase", "stone"}},
      {"furniture", {"bench", "desk", "bed", "stool"}, {"table", "chair", "shelf", "dresser"}},
      {"tableware", {"vase", "bowl", "jug", "pot"}, {"cup", "plate", "bottle", "teapot"}},
      {"fragile", {"mirror", "vase", "aquarium", "bowl"}, {"window", "plate", "bottle", "lamp"}},
      {"projectile", {"ball", "hammer", "stick", "rock"}, {"stone", "arrow", "brick", "bullet"}},
      {"obstacle", {"wall", "post", "bench", "gate"}, {"fence", "statue", "hut", "door"}},
      {"hurdle", {"wall", "bench", "gate"}, {"fence", "hedge", "crate"}},
      {"structure", {"wall", "bridge", "roof", "shed"}, {"fence", "hut", "tower", "barn"}},
      {"screen", {"wall", "tree", "oak"}, {"tower", "hill", "statue"}},
      {"building",
       {"castle", "hotel", "museum", "hospital", "theatre"},
       {"house", "school", "church", "library", "tower"}},
      {"shelter", {"attic", "garage", "shed", "tunnel"}, {"barn", "cave", "stable", "hut"}},
      {"force", {"wind", "hurricane", "fire"}, {"storm", "wave", "avalanche"}},
      {"plant", {"tree", "bush", "cactus", "oak"}, {"rose", "flower", "tulip", "plant"}},
      {"soil", {"garden", "field", "park"}, {"valley", "forest", "courtyard"}},
      {"food", {"cheese", "bread", "cake", "fish", "melon"}, {"soup", "meat", "salad", "carrot", "pear"}},
      {"raw food", {"chicken", "fish", "bread"}, {"pizza", "meat", "carrot"}},
      {"cooker", {"oven", "stove"}, {"pan", "saucepan"}},
      {"tool", {"knife", "razor", "sabre"}, {"saw", "axe", "sword"}},
      {"material", {"leather", "ribbon", "cardboard", "fabric"}, {"rope", "branch", "plank", "string"}},
      {"opener", {"hook", "wire"}, {"key", "card"}},
      {"locked thing", {"safe", "drawer", "cupboard", "gate"}, {"door", "box", "suitcase", "window"}},
      {"clothing", {"coat", "hat", "sweater"}, {"dress", "shirt", "jacket"}},
      {"instrument", {"piano", "violin", "drum"}, {"guitar", "flute", "trumpet"}},
      {"device", {"computer", "phone", "robot", "oven"}, {"radio", "machine", "camera", "lamp"}},
      {"lifter", {"robot", "tractor", "hook"}, {"crane", "machine", "rope"}},
  };
}

template <typename Table>
const auto& find(const Table& table, std::string_view english, std::string_view kind) {
  for (const auto& word : table) {
    if (word.en == english) return word;
  }
  throw std::logic_error(fmt::format("the lexicon has no {} \"{}\"", kind, english));
}

bool ends_in(std::string_view word, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return word.ends_with(ending); });
}

}  // namespace

const Noun& noun(std::string_view english) {
  return find(noun_table, english, "noun");
}

const Adjective& adjective(std::string_view english) {
  return find(adjective_table, english, "adjective");
}

std::vector<const Noun*> nouns(std::span<const std::string_view> english) {
  std::vector<const Noun*> found;
  for (const std::string_view word : english) found.push_back(&noun(word));
  return found;
}

std::vector<const Noun*> noun_class(std::string_view name) {
  for (const NounClass& row : class_table()) {
    if (row.name != name) continue;
    std::vector<const Noun*> members = nouns(row.masculine);
    for (const Noun* member : nouns(row.feminine)) members.push_back(member);
    return members;
  }
  throw std::logic_error(fmt::format("the lexicon has no class \"{}\"", name));
}

std::vector<std::string_view> noun_class_names() {
  std::vector<std::string_view> names;
  for (const NounClass& row : class_table()) names.push_back(row.name);
  return names;
}

std::string english_plural(const Noun& noun) {
  const std::string word(noun.en);
  if (!noun.en_plural.empty()) return std::string(noun.en_plural);
  if (ends_in(word, {"s", "x", "ch", "sh"})) return word + "es";
  if (word.ends_with('y') && !ends_in(word, {"ay", "ey", "oy", "uy"})) return word.substr(0, word.size() - 1) + "ies";
  return word + "s";
}

std::string french_plural(const Noun& noun) {
  const std::string word(noun.fr);
  if (!noun.fr_plural.empty()) return std::string(noun.fr_plural);
  if (ends_in(word, {"s", "x", "z"})) return word;
  if (ends_in(word, {"eau", "eu"})) return word + "x";
  if (word.ends_with("al")) return word.substr(0, word.size() - 2) + "aux";
  return word + "s";
}

}  // namespace attnscope
