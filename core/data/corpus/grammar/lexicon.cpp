#include "data/corpus/grammar/lexicon.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "common/split.h"

namespace attnscope {
namespace {

// Each "english = french", with irregular plurals after a slash; * marks h aspiré, as in dictionaries.
struct NounRow {
  char gender;
  std::string_view nouns;
};

constexpr NounRow noun_rows[] = {
    // animals
    {'m',
     "animal = animal, dog = chien, cat = chat, horse = cheval, rabbit = lapin, bear = ours, donkey = âne, "
     "camel = chameau, wolf/wolves = loup, lion = lion, fox = renard, bird = oiseau, lamb = agneau, rat = rat"},
    {'f',
     "cow = vache, goat = chèvre, tortoise = tortue, goose/geese = oie, mouse/mice = souris, hen = poule, "
     "frog = grenouille, mule = mule, mare = jument, panther = panthère, owl = chouette, spider = araignée, "
     "viper = vipère"},
    // ways, waters, heights
    {'m',
     "bridge = pont, canal = canal, boulevard = boulevard, path = sentier, field = champ, park = parc, "
     "tunnel = tunnel, lake = lac, ocean = océan, volcano/volcanoes = volcan, glacier = glacier, garden = jardin"},
    {'f',
     "street = rue, river = rivière, avenue = avenue, road = route, square = place, beach = plage, "
     "alley = ruelle, sea = mer, bay = baie, hill = colline, mountain = montagne, slope = pente, "
     "forest = forêt, valley = vallée"},
    // vehicles
    {'m',
     "bus = bus, truck = camion, tractor = tracteur, taxi = taxi, scooter = scooter, boat = bateau, "
     "ferry = ferry/ferries"},
    {'f',
     "car = voiture, van = camionnette, ambulance = ambulance, motorcycle = moto, limousine = limousine, "
     "barge = barge, gondola = gondole"},
    // buildings and their parts
    {'m',
     "garage = garage, shed = *hangar, attic = grenier, castle = château, hotel = hôtel, museum = musée, "
     "hospital = hôpital, theatre = théâtre, wall = mur, roof = toit, gate = portail/portails, post = poteau"},
    {'f',
     "courtyard = cour, barn = grange, cave = grotte, stable = écurie, house = maison, school = école, "
     "church = église, library = bibliothèque, tower = tour, fence = barrière, hut = cabane, tent = tente, "
     "hedge = *haie, door = porte, window = fenêtre"},
    // things
    {'m',
     "book = livre, phone = téléphone, vase = vase, gift = cadeau, pillow = oreiller, toy = jouet, bag = sac, "
     "drawer = tiroir, basket = panier, cupboard = placard, safe = coffre, barrel = tonneau, bench = banc, "
     "desk = bureau, bed = lit, stool = tabouret, bowl = bol, jug = pichet, pot = pot, mirror = miroir, "
     "aquarium = aquarium, piano = piano, violin = violon, drum = tambour, robot = robot, oven = four, "
     "stove = fourneau, hook = crochet, wire = fil, computer = ordinateur"},
    {'f',
     "lamp = lampe, statue = statue, bottle = bouteille, clock = horloge, doll = poupée, radio = radio, "
     "box = boîte, suitcase = valise, crate = caisse, wardrobe = armoire, trunk = malle, table = table, "
     "chair = chaise, shelf/shelves = étagère, dresser = commode, cup = tasse, plate = assiette, "
     "teapot = théière, guitar = guitare, flute = flûte, trumpet = trompette, machine = machine, crane = grue, "
     "pan = poêle, saucepan = casserole, key = clé, card = carte, camera = caméra"},
    // food
    {'m', "cheese = fromage, bread = pain, cake = gâteau, fish/fish = poisson, melon = melon, chicken = poulet"},
    {'f', "soup = soupe, meat = viande, salad = salade, carrot = carotte, pear = poire, pizza = pizza"},
    // tools and what they work on
    {'m',
     "knife/knives = couteau, razor = rasoir, sabre = sabre, leather = cuir, ribbon = ruban, "
     "cardboard = carton, fabric = tissu, ball = ballon, hammer = marteau, stick = bâton, rock = rocher"},
    {'f',
     "saw = scie, axe = *hache, sword = épée, rope = corde, branch = branche, plank = planche, "
     "string = ficelle, stone = pierre, arrow = flèche, brick = brique, bullet = balle"},
    // weather and plants
    {'m',
     "wind = vent, hurricane = ouragan, fire = incendie, tree = arbre, bush = buisson, cactus = cactus, "
     "oak = chêne"},
    {'f',
     "storm = tempête, wave = vague, avalanche = avalanche, rose = rose, flower = fleur, tulip = tulipe, "
     "plant = plante"},
    // clothes
    {'m', "coat = manteau, hat = chapeau, sweater = pull"},
    {'f', "dress = robe, shirt = chemise, jacket = veste, crown = couronne, letter = lettre"},
    // possessions
    {'m',
     "palace = palais, power = pouvoir, wedding = mariage, love = amour, duty = devoir, dream = rêve, world = monde, "
     "art = art, job = métier, home = foyer"},
    {'f',
     "authority = autorité, family = famille, guard = garde, tradition = tradition, voice = voix, life/lives = vie"},
    // people
    {'m',
     "king = roi, prince = prince, duke = duc, man/men = homme, boy = garçon, actor = acteur, waiter = serveur, "
     "father = père, brother = frère, uncle = oncle"},
    {'f',
     "queen = reine, princess = princesse, duchess = duchesse, woman/women = femme, girl = fille, "
     "actress = actrice, waitress = serveuse, mother = mère, sister = sœur, aunt = tante"},
};

// Each "english = masculine/feminine/masculine before a vowel", without forms equal to the masculine.
struct AdjectiveRow {
  Order order;
  State state;
  std::string_view adjectives;
};

constexpr AdjectiveRow adjective_rows[] = {
    {Order::after, State::quality,
     "tired = fatigué/fatiguée, lazy = paresseux/paresseuse, weak = faible, sick = malade, "
     "clumsy = maladroit/maladroite, excited = excité/excitée, brave = courageux/courageuse, "
     "patient = patient/patiente, clever = rusé/rusée, aggressive = agressif/agressive, happy = heureux/heureuse, "
     "sad = triste, kind = gentil/gentille, rich = riche, famous = célèbre, jealous = jaloux/jalouse, wide = large, "
     "narrow = étroit/étroite, long = long/longue, short = court/courte, tall = haut/haute, low = bas/basse, "
     "thick = épais/épaisse, thin = fin/fine, heavy = lourd/lourde, light = léger/légère, steep = raide, "
     "deep = profond/profonde, fast = rapide, slow = lent/lente, strong = fort/forte, powerful = puissant/puissante, "
     "violent = violent/violente, dangerous = dangereux/dangereuse, slippery = glissant/glissante, "
     "muddy = boueux/boueuse, noisy = bruyant/bruyante, dark = sombre, damp = humide, dry = sec/sèche, "
     "cold = froid/froide, quiet = calme, rough = agité/agitée, comfortable = confortable, hard = dur/dure, "
     "soft = mou/molle, fragile = fragile, solid = solide, sharp = tranchant/tranchante, blunt = émoussé/émoussée, "
     "unstable = instable, crooked = penché/penchée, round = rond/ronde, salty = salé/salée, bitter = amer/amère, "
     "spicy = épicé/épicée, fresh = frais/fraîche, precious = précieux/précieuse, modern = moderne, "
     "ugly = laid/laide, clean = propre, dirty = sale, expensive = cher/chère"},
    {Order::before, State::quality,
     "young = jeune, big = grand/grande, small = petit/petite, old = vieux/vieille/vieil, "
     "new = nouveau/nouvelle/nouvel, beautiful = beau/belle/bel"},
    {Order::after, State::fixed,
     "angry = furieux/furieuse, delicious = délicieux/délicieuse, full = plein/pleine, empty = vide, "
     "closed = fermé/fermée, locked = verrouillé/verrouillée, blocked = bloqué/bloquée, flooded = inondé/inondée, "
     "broken = cassé/cassée, lost = perdu/perdue, sold = vendu/vendue, bent = tordu/tordue, frozen = gelé/gelée, "
     "wounded = blessé/blessée, rotten = pourri/pourrie, loaded = chargé/chargée, damaged = endommagé/endommagée, "
     "badly placed = mal placé/mal placée, red = rouge, white = blanc/blanche, black = noir/noire, "
     "green = vert/verte, blue = bleu/bleue, yellow = jaune, grey = gris/grise"},
    {Order::after, State::avoir, "afraid = peur, hungry = faim, thirsty = soif, sleepy = sommeil"},
};

// Words separated by spaces, equally many of each gender.
struct NounClass {
  std::string_view name, masculine, feminine;
};

constexpr NounClass class_table[] = {
    {"animal", "animal dog cat horse rabbit bear donkey", "cow goat tortoise goose mouse hen frog"},
    {"large animal", "horse donkey dog lion", "cow mare goat mule"},
    {"carrier", "donkey horse camel robot", "mule mare cow machine"},
    {"predator", "cat wolf lion fox", "panther owl spider viper"},
    {"prey", "rabbit bird lamb rat", "mouse hen frog goat"},
    {"place", "bridge canal boulevard path field park", "street river avenue road square beach"},
    {"way", "tunnel path boulevard bridge", "street road avenue alley"},
    {"passage", "tunnel garage shed park", "alley courtyard barn cave"},
    {"height", "volcano glacier path", "hill mountain slope"},
    {"water", "lake canal ocean", "river sea bay"},
    {"vessel", "boat ferry", "barge gondola"},
    {"vehicle", "bus truck tractor taxi scooter", "car van ambulance motorcycle limousine"},
    {"portable", "book phone vase gift pillow toy", "lamp statue bottle clock doll radio"},
    {"container", "bag drawer basket cupboard safe", "box suitcase crate wardrobe trunk"},
    {"load", "piano barrel safe rock", "statue crate suitcase stone"},
    {"furniture", "bench desk bed stool", "table chair shelf dresser"},
    {"tableware", "vase bowl jug pot", "cup plate bottle teapot"},
    {"fragile", "mirror vase aquarium bowl", "window plate bottle lamp"},
    {"projectile", "ball hammer stick rock", "stone arrow brick bullet"},
    {"obstacle", "wall post bench gate", "fence statue hut door"},
    {"hurdle", "wall bench gate", "fence hedge crate"},
    {"structure", "wall bridge roof shed", "fence hut tower barn"},
    {"screen", "wall tree oak", "tower hill statue"},
    {"building", "castle hotel museum hospital theatre", "house school church library tower"},
    {"shelter", "attic garage shed tunnel", "barn cave stable hut"},
    {"force", "wind hurricane fire", "storm wave avalanche"},
    {"plant", "tree bush cactus oak", "rose flower tulip plant"},
    {"soil", "garden field park", "valley forest courtyard"},
    {"food", "cheese bread cake fish melon", "soup meat salad carrot pear"},
    {"raw food", "chicken fish bread", "pizza meat carrot"},
    {"cooker", "oven stove", "pan saucepan"},
    {"tool", "knife razor sabre", "saw axe sword"},
    {"material", "leather ribbon cardboard fabric", "rope branch plank string"},
    {"opener", "hook wire", "key card"},
    {"locked thing", "safe drawer cupboard gate", "door box suitcase window"},
    {"clothing", "coat hat sweater", "dress shirt jacket"},
    {"instrument", "piano violin drum", "guitar flute trumpet"},
    {"device", "computer phone robot oven", "radio machine camera lamp"},
    {"lifter", "robot tractor hook", "crane machine rope"},
};

Noun noun_of(std::string_view entry, char gender) {
  const auto [english, french] = halves(entry, " = ");
  const bool aspirated = french.starts_with('*');
  const auto [en, en_plural] = halves(english, "/");
  const auto [fr, fr_plural] = halves(french.substr(aspirated ? 1 : 0), "/");
  return {en, fr, gender, en_plural, fr_plural, aspirated};
}

Adjective adjective_of(std::string_view entry, const AdjectiveRow& row) {
  const auto [en, forms] = halves(entry, " = ");
  const auto [m, others] = halves(forms, "/");
  const auto [f, before_vowel] = halves(others, "/");
  return {en, m, f.empty() ? m : f, row.order, row.state, before_vowel};
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

const std::vector<Noun>& nouns() {
  static const std::vector<Noun> all = [] {
    std::vector<Noun> read;
    for (const NounRow& row : noun_rows)
      for (const std::string_view entry : split(row.nouns, ", ")) read.push_back(noun_of(entry, row.gender));
    return read;
  }();
  return all;
}

const std::vector<Adjective>& adjectives() {
  static const std::vector<Adjective> all = [] {
    std::vector<Adjective> read;
    for (const AdjectiveRow& row : adjective_rows)
      for (const std::string_view entry : split(row.adjectives, ", ")) read.push_back(adjective_of(entry, row));
    return read;
  }();
  return all;
}

const Noun& noun(std::string_view english) {
  return find(nouns(), english, "noun");
}

const Adjective& adjective(std::string_view english) {
  return find(adjectives(), english, "adjective");
}

const Phrase& degree(std::string_view english) {
  return find(degrees, english, "degree");
}

std::string with_degree(std::string_view degree, std::string_view quality) {
  return degree.empty() ? std::string(quality) : fmt::format("{} {}", degree, quality);
}

std::vector<const Noun*> noun_class(std::string_view name) {
  for (const NounClass& row : class_table) {
    if (row.name != name) continue;
    std::vector<const Noun*> members;
    for (const std::string_view words : {row.masculine, row.feminine})
      for (const std::string_view word : split(words, " ")) members.push_back(&noun(word));
    return members;
  }
  throw std::logic_error(fmt::format("the lexicon has no class \"{}\"", name));
}

std::vector<std::string_view> noun_class_names() {
  std::vector<std::string_view> names;
  for (const NounClass& row : class_table) names.push_back(row.name);
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
