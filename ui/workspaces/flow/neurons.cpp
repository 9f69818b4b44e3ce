#include "workspaces/flow/neurons.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/input.h"
#include "common/clamped.h"
#include "messages/overrides.h"
#include "widgets/number_field.h"
#include "widgets/painter.h"
#include "widgets/token_strip.h"
#include "workspaces/attention/row.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

// ---- numbers

// The activations of the layer in the sentence, tokens × neurons; null while they are not computed.
const Matrix* live_activations(const NeuronsView& view, const Snapshot& snapshot) {
  const LayerPlace& place = view.study.question.place;
  if (view.study.question.dictionary) {
    const std::optional<SentenceFeatures>& features = snapshot.features;
    return features && features->of == shown_dictionary(view) && !features->values.empty() ? &features->values
                                                                                           : nullptr;
  }
  for (const SublayerEffect& effect : snapshot.sublayers)
    if (effect.sublayer == Sublayer::feed_forward && effect.decoder == place.decoder && effect.layer == place.layer)
      return effect.active.empty() ? nullptr : &effect.active;
  return nullptr;
}

const std::vector<Token>& tokens_here(const NeuronsView& view, const Snapshot& snapshot) {
  return view.study.question.place.decoder ? snapshot.target_in : snapshot.source;
}

int token_here(const NeuronsView& view, const Snapshot& snapshot) {
  const std::vector<Token>& tokens = tokens_here(view, snapshot);
  const int last = static_cast<int>(tokens.size()) - 1, telling = telling_row(tokens);
  return view.token >= 0 ? std::min(view.token, last) : telling >= 0 ? telling : last;
}

float activation_at(const Matrix* live, int row, int neuron) {
  return live && neuron < live->cols && row >= 0 && row < live->rows ? live->at(row, neuron) : 0;
}

std::vector<int> ordered(const NeuronsView& view, const Snapshot& snapshot) {
  const std::vector<NeuronFacts>& facts = view.study.result->neurons;
  std::vector<int> order(facts.size());
  std::iota(order.begin(), order.end(), 0);
  const Matrix* live = live_activations(view, snapshot);
  const int row = token_here(view, snapshot);
  const auto of = [&](int neuron) -> const NeuronFacts& { return facts[static_cast<std::size_t>(neuron)]; };
  const auto before = [&](int a, int b) {
    switch (view.sorted_by) {
      case NeuronColumn::number:
        return a < b;
      case NeuronColumn::here:
        return activation_at(live, row, a) < activation_at(live, row, b);
      case NeuronColumn::largest:
        return of(a).largest < of(b).largest;
      case NeuronColumn::active:
        return of(a).active < of(b).active;
      case NeuronColumn::token:
        return of(a).token_r < of(b).token_r;
      case NeuronColumn::position:
        return std::abs(of(a).position_r) < std::abs(of(b).position_r);
      case NeuronColumn::sense:
        return of(a).sense_r < of(b).sense_r;
      case NeuronColumn::promotes:
        return of(a).promoted < of(b).promoted;
    }
    return false;
  };
  std::ranges::stable_sort(order, [&](int a, int b) { return view.descending ? before(b, a) : before(a, b); });
  return order;
}

// The order of the list, sorted again only if what it depends on changed.
const std::vector<int>& order_of(NeuronsView& view, const Snapshot& snapshot, std::uint64_t version) {
  NeuronOrder wanted{view.sorted_by, view.descending, token_here(view, snapshot), version};
  const NeuronOrder& made = view.order;
  if (made.neurons.empty() || made.sorted_by != wanted.sorted_by || made.descending != wanted.descending ||
      (wanted.sorted_by == NeuronColumn::here && (made.token != wanted.token || made.version != wanted.version))) {
    wanted.neurons = ordered(view, snapshot);
    view.order = std::move(wanted);
  }
  return view.order.neurons;
}

// ---- the list

struct Column {
  const char* title;
  const char* help;
  const char* widest = nullptr;  // text that must fit; null: it shares the rest of the width
};
constexpr std::array columns = {
    Column{mark("#"),
           mark("The neuron's number in its layer. † is dead: it was never active in the sample; = "
                "correlates by at least 0.99 with an earlier neuron."),
           "0000 ="},
    Column{mark("here"), mark("Activation on the token of the sentence that is selected on the right."), "00.00"},
    Column{mark("max"), mark("Largest activation in the sample."), "00.00"},
    Column{mark("active"), mark("Share of the sample's tokens with an activation above 0."), "00.0 %"},
    Column{mark("token (r)"), mark("The token with whose presence the activation correlates most, and Pearson's r.")},
    Column{mark("pos."), mark("Correlation of the activation with the position in the sentence."), "-0.00"},
    Column{mark("sense (r)"), mark("The sense with whose presence the activation correlates most, among the "
                                   "occurrences of a word with several senses, and Pearson's r.")},
    Column{mark("promotes"), mark("The token whose logit this neuron's output weights raise most, directly through the "
                                  "output matrix (2012.14913).")},
};

// Marks of the list: see columns[0].
std::string number_text(int neuron, const NeuronFacts& facts) {
  return fmt::format("{}{}", neuron, facts.is_dead() ? " †" : facts.duplicate >= 0 ? " =" : "");
}

void draw_cells(const NeuronFacts& facts, float here) {
  const auto cell = [](const std::string& text) {
    ImGui::TableNextColumn();
    plain_text(text);
  };
  cell(here == 0 ? "" : fmt::format("{:.2f}", here));
  cell(fmt::format("{:.2f}", facts.largest));
  cell(fmt::format("{:.1f} %", 100 * facts.active));
  cell(facts.token.empty() ? "" : fmt::format("{} {:.2f}", facts.token, facts.token_r));
  cell(fmt::format("{:.2f}", facts.position_r));
  cell(facts.sense.empty() ? "" : fmt::format("{} {:.2f}", facts.sense, facts.sense_r));
  cell(facts.promoted);
}

constexpr float wide_list = 340;  // has room for all columns

bool has_text(const NeuronsView& view, const std::string NeuronFacts::*text) {
  return std::ranges::any_of(view.study.result->neurons, [&](const NeuronFacts& of) { return !(of.*text).empty(); });
}

// Whether the column has anything to show, and room.
bool is_shown(NeuronColumn column, const NeuronsView& view, float width, const Skin& skin) {
  const auto has = [&](const std::string NeuronFacts::*text) { return has_text(view, text); };
  if (column == NeuronColumn::sense) return has(&NeuronFacts::sense);
  if (column == NeuronColumn::promotes) return has(&NeuronFacts::promoted);  // where an output matrix reads the stack
  const bool wide = width >= skin.px(wide_list);
  if (column == NeuronColumn::active) return wide || !has(&NeuronFacts::sense);
  return column != NeuronColumn::position || wide;
}

void draw_headings(NeuronsView& view, float list_width, const Skin& skin) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto column = static_cast<NeuronColumn>(i);
    ImGuiTableColumnFlags flags = ImGuiTableColumnFlags_PreferSortDescending;
    if (column == NeuronColumn::largest) flags |= ImGuiTableColumnFlags_DefaultSort;
    if (!is_shown(column, view, list_width, skin)) flags |= ImGuiTableColumnFlags_Disabled;
    const char* title = tr(columns[i].title);
    const float sort_arrow = 0.65F * font_size(skin.fonts.mono_small) + ImGui::GetStyle().FramePadding.x;
    const auto width = [&](const char* text) { return text_size(skin.fonts.mono_small, text).x; };
    if (columns[i].widest)
      ImGui::TableSetupColumn(title, flags | ImGuiTableColumnFlags_WidthFixed,
                              std::max(width(title) + sort_arrow, width(columns[i].widest)));
    else
      ImGui::TableSetupColumn(title, flags | ImGuiTableColumnFlags_WidthStretch);
  }
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    ImGui::TableHeader(tr(columns[i].title));
    const WithFont usual(skin.fonts.ui);
    help_tooltip(tr(columns[i].help), skin);
  }
  if (view.shows_sorting) {
    ImGui::TableSetColumnSortDirection(static_cast<int>(view.sorted_by),
                                       view.descending ? ImGuiSortDirection_Descending : ImGuiSortDirection_Ascending,
                                       false);
    view.shows_sorting = false;
  }
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (!specs || !specs->SpecsDirty || specs->SpecsCount == 0) return;
  view.sorted_by = static_cast<NeuronColumn>(specs->Specs[0].ColumnIndex);
  view.descending = specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  specs->SpecsDirty = false;
}

// Scrolls the table just far enough to show the row between the headings and the bottom.
void scroll_to_row(std::ptrdiff_t row, float height) {
  const float top = static_cast<float>(row) * height, room = ImGui::GetWindowHeight() - height;
  ImGui::SetScrollY(clamped(ImGui::GetScrollY(), std::max(0.0F, top + height - room), top));
}

void draw_list(NeuronsView& view, const Snapshot& snapshot, std::uint64_t version, ImVec2 size, const Skin& skin) {
  const NeuronsResult& result = *view.study.result;
  const WithFont small(skin.fonts.mono_small);
  constexpr ImGuiTableFlags flags =
      ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Sortable | ImGuiTableFlags_NoSavedSettings;
  const bool narrow = size.x < skin.px(wide_list);  // so that token and sense are legible
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {narrow ? skin.px(2) : ImGui::GetStyle().CellPadding.x,
                                                  ImGui::GetStyle().CellPadding.y});
  const bool drawn = ImGui::BeginTable("neurons", static_cast<int>(columns.size()), flags, size);
  ImGui::PopStyleVar();
  if (!drawn) return;
  draw_headings(view, size.x, skin);
  const std::vector<int>& order = order_of(view, snapshot, version);
  const Matrix* live = live_activations(view, snapshot);
  const int token = token_here(view, snapshot);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(order.size()));
  while (clipper.Step()) {
    for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) {
      const int neuron = order[static_cast<std::size_t>(row)];
      const NeuronFacts& facts = result.neurons[static_cast<std::size_t>(neuron)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(neuron);
      const bool chosen = neuron == view.study.question.neuron;
      if (selectable_text(number_text(neuron, facts), chosen, ImGuiSelectableFlags_SpanAllColumns))
        view.study.question.neuron = neuron;
      ImGui::PopID();
      draw_cells(facts, activation_at(live, token, neuron));
    }
  }
  if (view.scrolls)
    scroll_to_row(std::ranges::find(order, view.study.question.neuron) - order.begin(), clipper.ItemsHeight);
  view.scrolls = false;
  ImGui::EndTable();
}

// ---- the card

constexpr std::array context_choices = {
    ChoiceText{NeuronContexts::strongest, mark("Strongest"),
               mark("The tokens with the largest activations, one per sentence of the sample.")},
    ChoiceText{
        NeuronContexts::deciles, mark("By decile"),
        mark("One token for every tenth of the activations above 0, from the smallest to the largest: the maximum "
             "does not show what else a neuron responds to.")},
    ChoiceText{NeuronContexts::hurt, mark("Loss without it"),
               mark("The tokens whose next token loses most, in nats, with the activation set to 0 everywhere.")},
};

void draw_contexts(NeuronsView& view, const NeuronsResult& result, float largest, const Skin& skin) {
  for (const auto& choice : context_choices)
    if (draw_choice(tr_label(choice.title), view.contexts == choice.value, tr(choice.help), skin))
      view.contexts = choice.value;
  end_choices();
  const bool by_loss = view.contexts == NeuronContexts::hurt;
  const std::vector<NeuronContext>& contexts = by_loss                                    ? result.card.hurt
                                               : view.contexts == NeuronContexts::deciles ? result.card.deciles
                                                                                          : result.card.strongest;
  for (const NeuronContext& context : contexts)
    draw_context(context, largest,
                 by_loss ? fmt::format("{:+.2f}", context.value) : fmt::format("{:.2f}", context.value), skin);
  if (contexts.empty())
    small_text(skin.theme.text_dim,
               !by_loss                        ? tr("This neuron was not active in the sample.")
               : result.question.place.decoder ? tr("No token loses by it.")
                                               : tr("The encoder's tokens have no targets, and so no loss of their "
                                                    "own."),
               skin);
}

std::string effects_text(const std::vector<NeuronEffect>& effects) {
  std::string text;
  for (const NeuronEffect& effect : effects)
    text += fmt::format("{}{} {:+.2f}", text.empty() ? "" : "  ", effect.token, effect.value);
  return text;
}

void draw_effects(const NeuronsResult& result, const Skin& skin) {
  const NeuronCard& card = result.card;
  draw_wrapped_label(skin.fonts.small, skin.theme.text,
                     trf("Loss {:.3f} nats/token. Change with the activation at 0: {:+.4f}; at its mean: {:+.4f}.",
                         card.nll, card.zero, card.mean),
                     skin);
  if (card.promoted.empty()) return;
  draw_wrapped_label(skin.fonts.small, skin.theme.text, trf("Promotes: {}", effects_text(card.promoted)), skin);
  draw_wrapped_label(skin.fonts.small, skin.theme.text, trf("Suppresses: {}", effects_text(card.suppressed)), skin);
}

void draw_live(NeuronsView& view, const Snapshot& snapshot, float largest, const Skin& skin) {
  const Matrix* live = live_activations(view, snapshot);
  const int neuron = view.study.question.neuron;
  const std::vector<Token>& tokens = tokens_here(view, snapshot);
  if (!live || neuron >= live->cols || std::cmp_not_equal(live->rows, tokens.size())) return;
  std::vector<float> shares;
  for (int row = 0; row < live->rows; ++row)
    shares.push_back(largest > 0 ? clamped(live->at(row, neuron) / largest, 0.0F, 1.0F) : 0);
  TokenStripOptions options;
  options.show_ids = false;
  options.selected = token_here(view, snapshot);
  options.weights = shares;
  options.weight_name = tr("activation ÷ largest");
  const TokenStripResult strip = draw_token_strip("live", tokens, options, skin);
  if (strip.clicked < 0) return;
  view.token = strip.clicked;
  view.sorted_by = NeuronColumn::here;
  view.descending = view.shows_sorting = true;
}

void draw_plots(NeuronsView& view, const Skin& skin) {
  ImVec2 room = ImGui::GetContentRegionAvail();
  room.y = std::min(room.y, skin.px(240));
  const bool over_steps = view.largest.x.size() > 1;
  const float gap = skin.px(10), width = over_steps ? std::floor((room.x - gap) / 2) : room.x;
  const PlotLine bars{
      .name = tr("tokens"), .series = &view.histogram, .color = skin.theme.series[2], .bar = view.bin * 0.92};
  view.values_plot.log = true;
  draw_plot("histogram", {&bars, 1}, {width, room.y}, view.values_axis, view.values_plot,
            {.title = tr("Activations"),
             .help = tr("The number of tokens of the sample in equal bins of the activation, on a logarithmic scale."),
             .x_label = tr("activation"),
             .legend = false},
            skin);
  if (!over_steps) return;
  ImGui::SameLine(0, gap);
  const std::vector<PlotLine> lines = {{.name = tr("largest"), .series = &view.largest, .color = skin.theme.series[0]},
                                       {.name = tr("mean"), .series = &view.mean, .color = skin.theme.series[1]}};
  draw_plot("over steps", lines, {width, room.y}, view.steps_axis, view.steps_plot,
            {.title = tr("Over training"),
             .help = tr("The largest and the mean activation over the same tokens, at every recorded step."),
             .x_label = tr("optimizer steps"),
             .whole_x = true},
            skin);
}

// The name that the command line uses, too: "neuron 3", "feature 3", "feature 3@head.1".
std::string unit_name(const NeuronsQuestion& question) {
  const bool of_layer = !question.dictionary || question.dictionary->of.kind == ActivationKind::stream;
  return fmt::format("{} {}{}", question.dictionary ? "feature" : "neuron", question.neuron,
                     of_layer ? "" : "@" + site_text(question.dictionary->of));
}

void draw_card(WorkspaceContext& context, NeuronsView& view, const NeuronsResult& result) {
  const Skin& skin = context.skin;
  const Snapshot& snapshot = *context.maps.complete.snapshot;

  const int neuron = view.study.question.neuron;
  const NeuronFacts& facts = result.neurons[static_cast<std::size_t>(neuron)];
  std::string about = facts.is_dead() ? tr("dead: never active in the sample")
                                      : trf("active on {:.1f} % of {} tokens", 100 * facts.active, result.tokens);
  if (facts.duplicate >= 0) about += trf(", same as {}", facts.duplicate);
  if (result.question.dictionary)
    draw_caption(trf("Feature {}", neuron).c_str(), about,
                 trf("Over {} sentences of the validation part. A feature is a direction of the activations: the "
                     "decoder row of the sparse autoencoder; its activation says how much of it a token contains. "
                     "Click a token of the sentence to list the features that respond to it.",
                     result.sentences),
                 skin);
  else
    draw_caption(trf("Neuron {}", neuron).c_str(), about,
                 trf("Over {} sentences of the validation part. A neuron is a hidden unit: its input weights are a "
                     "column of W₁, its output weights a row of W₂. Click a token of the sentence to list the neurons "
                     "that respond to it.",
                     result.sentences),
                 skin);
  draw_live(view, snapshot, facts.largest, skin);
  if (result.question.neuron != neuron)
    return draw_quiet_note(tr("Measuring\u2026"), ImGui::GetContentRegionAvail(), skin);
  draw_effects(result, skin);
  draw_steering(context.views.of<AttentionView>().interventions.steered, view.steering,
                {.place = result.question.place,
                 .plus = unit_name(result.question),
                 .direction = result.card.direction,
                 .is_given = true},
                tr("activation"),
                tr("Activation to add to every token; negative: to subtract. At first the largest in the sample."),
                skin);
  draw_contexts(view, result, facts.largest, skin);
  draw_plots(view, skin);
}

std::string site_title(const ActivationSite& site) {
  if (site.kind == ActivationKind::stream) return tr("layer output");
  if (site.kind == ActivationKind::hidden) return tr("hidden units");
  return site.cross ? trf("cross-attention head {}", site.head + 1) : trf("self-attention head {}", site.head + 1);
}

// The activations that the dictionary explains.
void draw_sites(NeuronsView& view, const ModelConfig& model, const Skin& skin) {
  ActivationSite& of = view.study.question.dictionary->of;
  const std::vector<ActivationSite> sites = activation_sites(model, view.study.question.place);
  if (std::ranges::count(sites, of) == 0) of = {};
  ImGui::SetNextItemWidth(skin.px(215));
  if (!begin_combo("##site", site_title(of)))
    return help_tooltip(tr("The activations that the features explain. A head's output is taken before W_O."), skin);
  for (const ActivationSite& site : sites) {
    if (!ImGui::Selectable(site_title(site).c_str(), site == of)) continue;
    of = site;
    view.study.question.neuron = strongest_neuron;
  }
  ImGui::EndCombo();
}

// The choice of what is listed: the layer's neurons, or the features of a dictionary of its activations.
void draw_basis(NeuronsView& view, const ModelConfig& model, const Skin& skin) {
  std::optional<DictionaryOptions>& dictionary = view.study.question.dictionary;
  const auto choose = [&](const char* title, bool features, const char* help) {
    if (!draw_choice(title, dictionary.has_value() == features, help, skin) || dictionary.has_value() == features)
      return;
    dictionary = features ? std::optional(DictionaryOptions()) : std::nullopt;
    view.study.question.neuron = strongest_neuron;
  };
  choose(tr_label("neurons"), false, tr("The hidden units of the feed-forward sublayer."));
  choose(
      tr_label("sparse features"), true,
      tr("Directions of a layer's activations, found by a sparse autoencoder that explains every token with at most 16 "
         "directions out of four times as many as there are activations (TopK, 2406.04093). It is trained when you "
         "choose it, in about a minute, and saved in the run's folder."));
  if (!dictionary) return;
  // As high as the small buttons in the same row.
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ImGui::GetStyle().FramePadding.x, 0});
  draw_sites(view, model, skin);
  ImGui::PopStyleVar();
  ImGui::SameLine();
}

void draw_dictionary(const DictionaryFacts& facts, const Skin& skin) {
  draw_wrapped_label(
      skin.fonts.small, skin.theme.text,
      trf("{} features, {} dead; {:.1f} active per token; {:.1f} % of the variance unexplained; {:.0f} % of the loss "
          "recovered; {:.0f} % of the features correlate more with their token than any neuron does.",
          facts.features, facts.dead, facts.active, 100 * facts.unexplained, 100 * facts.recovered,
          100 * facts.sharper),
      skin);
  help_tooltip(
      tr("Recovered: how much of the loss that is gained by the activations, compared with their mean, remains "
         "when the dictionary's sum replaces them."),
      skin);
}

// One choice per feed-forward sublayer.
void draw_layers(NeuronsView& view, const ModelConfig& model, const Skin& skin) {
  LayerPlace& place = view.study.question.place;
  const auto choices = [&](bool decoder, std::int64_t layers, const char* stack) {
    for (int layer = 0; layer < layers; ++layer) {
      const bool chosen = place == LayerPlace{decoder, layer};
      if (!draw_choice(fmt::format("{} {}##{}", stack, layer + 1, decoder).c_str(), chosen,
                       tr("The hidden units of this layer's feed-forward sublayer."), skin) ||
          chosen)
        continue;
      place = {decoder, layer};
      view.study.question.neuron = strongest_neuron;
    }
  };
  if (!model.is_language_model()) choices(false, model.num_encoder_layers, tr("encoder"));
  if (model.has_decoder()) choices(true, model.num_decoder_layers, tr("decoder"));
}

const char* working_note(const NeuronsView& view) {
  return view.study.question.dictionary ? tr("Training the sparse autoencoder\u2026")
                                        : tr("Measuring the neurons on the validation part\u2026");
}

void settle(NeuronsView& view, const ModelConfig& model) {
  LayerPlace& place = view.study.question.place;
  if (model.is_language_model()) place.decoder = true;
  if (!model.has_decoder()) place.decoder = false;
  place.layer = clamped(place.layer, 0,
                        static_cast<int>(place.decoder ? model.num_decoder_layers : model.num_encoder_layers) - 1);
}

// Whether a result is of the layer and the units that are chosen now, whichever of them it has in detail.
bool answers(const NeuronsQuestion& question, const NeuronsView& view) {
  return question.place == view.study.question.place && question.dictionary == view.study.question.dictionary;
}

}  // namespace

std::optional<DictionaryKey> shown_dictionary(const NeuronsView& view) {
  const auto& result = view.study.result;
  if (!result || !result->question.dictionary || !answers(result->question, view)) return std::nullopt;
  return DictionaryKey{view.study.step, result->question.place, *result->question.dictionary};
}

void draw_context(const NeuronContext& context, float largest, const std::string& number, const Skin& skin) {
  ImFont* font = skin.fonts.mono_small;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = font_size(font), room = std::max(1.0F, ImGui::GetContentRegionAvail().x);
  ImGui::Dummy({room, line + skin.px(3)});
  Painter paint(skin);
  const float column = text_size(font, "-00.00 ").x;
  paint.text(font, at, skin.theme.text_dim, number);
  std::vector<float> ends{0};
  for (const std::string& token : context.tokens)
    ends.push_back(ends.back() + text_size(font, one_line(token)).x + skin.px(2));
  const auto marked = static_cast<std::size_t>(context.at);
  const float left = at.x + column, width = room - column;
  const float shift = clamped(ends[marked] - width * 0.6F, 0.0F, std::max(0.0F, ends.back() - width));
  for (std::size_t i = 0; i < context.tokens.size(); ++i) {
    const ImVec2 low{left + ends[i] - shift, at.y}, high{left + ends[i + 1] - shift - skin.px(1), at.y + line};
    if (low.x < left || high.x > left + width) continue;
    const float share = largest > 0 ? clamped(context.activations[i] / largest, 0.0F, 1.0F) : 0;
    if (share > 0) paint.filled_rect(low, high, faded(skin.theme.accent, 0.65F * share), skin.px(2));
    if (i == marked) paint.filled_rect({low.x, high.y}, {high.x, high.y + skin.px(2)}, skin.theme.accent);
    paint.text(font, low, skin.theme.text, one_line(context.tokens[i]));
  }
}

void draw_steering(std::vector<Steering>& steered, float& factor, Steering made, const char* label, const char* help,
                   const Skin& skin) {
  ImGui::AlignTextToFramePadding();
  dim_text(label, skin);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(skin.px(70));
  real_input("##factor", factor, -largest_steering, largest_steering, skin);
  help_tooltip(help, skin);
  ImGui::SameLine();
  const bool wants = ImGui::Button(tr_label("Steer"));
  help_tooltip(tr("Adds that multiple of this direction to every token's vector after the layer (2308.10248). It is "
                  "listed with the active interventions, which you can remove."),
               skin);
  if (!wants || !std::isfinite(factor)) return;
  made.factor = factor;
  std::erase_if(steered, [&](const Steering& it) { return it.place == made.place && it.plus == made.plus; });
  steered.push_back(std::move(made));
}

void take_neurons(NeuronsView& view, NeuronsResult result, std::uint64_t run, std::int64_t step) {
  view.histogram = view.largest = view.mean = {};
  const NeuronCard& card = result.card;
  if (result.problem.empty() && !result.neurons.empty()) {
    const double high = result.neurons[static_cast<std::size_t>(result.question.neuron)].largest;
    view.bin =
        std::max(1e-12, (high - card.least) / static_cast<double>(std::max<std::size_t>(1, card.histogram.size())));
    view.steering = high > 0 ? std::min(static_cast<float>(high), largest_steering) : 1;
    for (std::size_t i = 0; i < card.histogram.size(); ++i) {
      view.histogram.x.push_back(card.least + (static_cast<double>(i) + 0.5) * view.bin);
      view.histogram.y.push_back(card.histogram[i]);
    }
  }
  for (const NeuronPoint& point : card.points) {
    for (Series* series : {&view.largest, &view.mean}) series->x.push_back(static_cast<double>(point.step));
    view.largest.y.push_back(point.largest);
    view.mean.y.push_back(point.mean);
  }
  // The one that was chosen for the view, which need not be asked for again.
  if (view.study.question.neuron == strongest_neuron && view.study.asked && answers(result.question, view)) {
    view.study.question.neuron = result.question.neuron;
    view.study.asked->second.neuron = result.question.neuron;
  }
  view.study.run = run;
  view.study.step = step;
  view.study.result = std::move(result);
  view.order = {};
}

void move_in_neurons(NeuronsView& view, int by) {
  const std::vector<int>& order = view.order.neurons;
  if (order.empty()) return;
  const auto at = std::ranges::find(order, view.study.question.neuron) - order.begin();
  view.study.question.neuron =
      order[static_cast<std::size_t>(clamped<std::ptrdiff_t>(at + by, 0, std::ssize(order) - 1))];
  view.scrolls = true;
}

void draw_neurons(WorkspaceContext& context, NeuronsView& view) {
  const Skin& skin = context.skin;
  const Snapshot& snapshot = *context.maps.complete.snapshot;
  settle(view, context.config.model);
  draw_layers(view, context.config.model, skin);
  draw_basis(view, context.config.model, skin);
  bool& over_training = view.study.question.over_training;
  if (draw_choice(tr_label("over training"), over_training,
                  tr("Also measures the chosen neuron at every recorded step, which takes as long for each."), skin))
    over_training = !over_training;
  // A new dictionary would have other features.
  const NeuronsResult* result = asked_result(context, view.study, working_note(view),
                                             {.follows_training = !view.study.question.dictionary});
  if (!result || result->neurons.empty()) return;
  if (!answers(result->question, view))
    return draw_quiet_note(working_note(view), ImGui::GetContentRegionAvail(), skin);
  if (view.study.question.neuron == strongest_neuron) view.study.question.neuron = result->question.neuron;
  view.study.question.neuron = clamped(view.study.question.neuron, 0, static_cast<int>(result->neurons.size()) - 1);
  if (result->question.dictionary) draw_dictionary(result->dictionary, skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float half = std::floor(room.x * 0.5F), widest = skin.px(has_text(view, &NeuronFacts::sense) ? 480 : 400),
              width = std::min(clamped(half, skin.px(360), widest), half);
  draw_list(view, snapshot, context.maps.complete.version, {width, room.y}, skin);
  ImGui::SameLine(0, skin.px(12));
  ImGui::BeginChild("neuron", {0, 0}, false, view_flags());
  draw_card(context, view, *result);
  ImGui::EndChild();
}

std::optional<WorkspaceNumbers> neuron_numbers(const NeuronsView& view) {
  if (!view.study.result || view.study.result->neurons.empty()) return std::nullopt;
  const std::vector<NeuronFacts>& facts = view.study.result->neurons;
  WorkspaceNumbers numbers{
      Matrix(static_cast<int>(facts.size()), 5), {}, {"largest", "mean", "active", "token r", "position r"}, "neurons"};
  for (int row = 0; row < numbers.matrix.rows; ++row) {
    const NeuronFacts& of = facts[static_cast<std::size_t>(row)];
    numbers.rows.push_back(of.token.empty() ? std::to_string(row) : fmt::format("{} {}", row, of.token));
    const std::array values = {of.largest, of.mean, of.active, of.token_r, of.position_r};
    for (int col = 0; col < numbers.matrix.cols; ++col)
      numbers.matrix.at(row, col) = values[static_cast<std::size_t>(col)];
  }
  return numbers;
}

}  // namespace attnscope
