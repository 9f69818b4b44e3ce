#include "workspaces/glance.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "analysis/attention_mix.h"
#include "base/numbers.h"
#include "base/pointed.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/token_strip.h"
#include "widgets/words.h"
#include "workspaces/attention/row.h"
#include "workspaces/attention/text.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

constexpr float least_drawn = 0.02F;  // smallest weight drawn

// ---- data

// One text that the model reads and continues, also in a capture.
bool is_continued(const Snapshot& snapshot) {
  return snapshot.model.is_language_model() || (snapshot.captured && snapshot.encoder.empty());
}

// The part of the selected head: the encoder, or the layers of a language model. Cross-attention is drawn between the
// two lines.
AttentionPart part_of(const Snapshot& snapshot) {
  return is_continued(snapshot) ? AttentionPart::decoder : AttentionPart::encoder;
}

const std::string& text_of_word(const std::vector<WordSpan>& words, int index) {
  return words[static_cast<std::size_t>(index)].text;
}

// True for tokens such as </s>, which are not part of the text.
bool is_mark(const WordSpan& word) {
  return word.text.starts_with('<');
}

bool has_letters(const WordSpan& word) {
  const auto first = static_cast<unsigned char>(word.text.empty() ? '\0' : word.text.front());
  return first >= 0x80 || std::isalnum(first) != 0;
}

// Skips punctuation, which heads often attend to.
int most_read(const Matrix& taken, int row, const std::vector<WordSpan>& words) {
  int most = -1;
  for (int col = 0; col < taken.cols; ++col) {
    if (!has_letters(words[static_cast<std::size_t>(col)])) continue;
    if (taken.at(row, col) > (most < 0 ? 0 : taken.at(row, most))) most = col;
  }
  return most;
}

SetText set_text(std::vector<WordSpan> words, const std::vector<Token>& tokens) {
  SetText text{std::move(words), {}, {}};
  // Tokens of a capture may be words without marks.
  const bool marked =
      std::ranges::any_of(tokens, [](const Token& token) { return token.text.find(word_mark) != std::string::npos; });
  for (WordSpan& word : text.words) {
    word.text = word.text.empty() ? std::string(word_mark) : one_line(word.text);  // before punctuation
    const std::string& token = tokens[static_cast<std::size_t>(word.begin)].text;
    text.apart.push_back(!marked || token.starts_with(word_mark) || is_mark(word));
    const auto parts = std::span(tokens).subspan(static_cast<std::size_t>(word.begin),
                                                 static_cast<std::size_t>(word.end - word.begin));
    text.unknown.push_back(std::ranges::any_of(parts, &Token::unknown));
  }
  return text;
}

// ---- selection

int chosen_word(const Glance& glance, const AttentionView& view, const Snapshot& snapshot) {
  const std::vector<Token>& tokens = row_tokens(snapshot, glance.place.part);
  int token = view.pinned_row.value_or(telling_row(tokens));
  if (token < 0 && is_continued(snapshot)) token = static_cast<int>(tokens.size()) - 1;  // the first attends to itself
  const auto found = std::ranges::find_if(glance.text.words, [&](const WordSpan& word) { return token < word.end; });
  if (glance.text.words.empty()) return -1;
  return found == glance.text.words.end() ? static_cast<int>(glance.text.words.size()) - 1
                                          : static_cast<int>(found - glance.text.words.begin());
}

template <int by>
void go_to_word(WorkspaceContext& context) {
  const Glance& glance = context.views.of<GlanceView>().made;
  AttentionView& view = context.views.of<AttentionView>();
  const Snapshot* snapshot = context.maps.newest.snapshot.get();
  if (!snapshot || glance.text.words.empty()) return;
  const int last = static_cast<int>(glance.text.words.size()) - 1;
  const int word = clamped(chosen_word(glance, view, *snapshot) + by, 0, last);
  view.pinned_row = glance.text.words[static_cast<std::size_t>(word)].begin;
}

template <int by>
void go_to_head(WorkspaceContext& context) {
  AttentionView& view = context.views.of<AttentionView>();
  const Snapshot* snapshot = context.maps.newest.snapshot.get();
  if (!snapshot || maps_of(*snapshot, view.part).empty()) return;
  const AttentionMaps& maps = maps_of(*snapshot, view.part);
  const int heads = heads_of(maps), count = heads * static_cast<int>(maps.size());
  const int to = (view.layer * heads + view.head + by + count) % count;
  select(view, {view.part, to / heads, to % heads});
}

constexpr const char* next_word = mark("previous word, next word");
constexpr const char* next_head = mark("previous head, next head");
constexpr std::array keys = {
    WorkspaceKey{{.key = Key::left, .repeats = true}, next_word, go_to_word<-1>},
    WorkspaceKey{{.key = Key::right, .repeats = true}, next_word, go_to_word<1>},
    WorkspaceKey{{.key = Key::up, .repeats = true}, next_head, go_to_head<-1>},
    WorkspaceKey{{.key = Key::down, .repeats = true}, next_head, go_to_head<1>},
};

// ---- the picture

struct Box {
  ImVec2 low, high;
  ImVec2 above() const { return {(low.x + high.x) / 2, low.y}; }
  ImVec2 below() const { return {(low.x + high.x) / 2, high.y}; }
};

// Words set as running text, in centered lines.
struct Setting {
  ImFont* font = nullptr;
  std::vector<Box> boxes;
  float height = 0;
};

Setting set_words(const SetText& text, ImFont* font, float width, const Skin& skin) {
  const std::vector<WordSpan>& words = text.words;
  Setting setting{font, {}, 0};
  const ImVec2 margin{skin.px(3), skin.px(3)};
  const float gap = text_size(font, " ").x - skin.px(1), line = font_size(font) + 2 * margin.y;
  std::size_t first = 0;
  float x = 0, y = 0;
  const auto center = [&] {
    const float shift = std::floor((width - x) / 2);
    for (; first < setting.boxes.size(); ++first) {
      setting.boxes[first].low.x += shift;
      setting.boxes[first].high.x += shift;
    }
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const float extent = std::min(text_size(font, words[i].text).x + 2 * margin.x, width);
    // The letters of one word touch, so the margins of its boxes overlap.
    const float before = x == 0 ? 0 : text.apart[i] ? gap : -2 * margin.x;
    // Text without a space stays in one line: "qu'il".
    float whole = extent;
    for (std::size_t next = i + 1; next < words.size() && !text.apart[next]; ++next)
      whole += text_size(font, words[next].text).x;
    if (text.apart[i] && x > 0 && x + before + whole > width) {
      center();
      x = 0;
      y += line + skin.px(26);
    } else {
      x += before;
    }
    setting.boxes.push_back({{x, y}, {x + extent, y + line}});
    x += extent;
  }
  center();
  setting.height = words.empty() ? 0 : y + line;
  return setting;
}

// Uses the large font unless a long text would not fit in a third of the room, or a word not in a line.
Setting fitted(const SetText& text, ImVec2 room, const Skin& skin) {
  Setting large = set_words(text, skin.fonts.large, room.x, skin);
  const float most = skin.presentation ? room.y / 4 : std::max(font_size(skin.fonts.large) * 4.2F, room.y / 3);
  const auto is_cut = [&](const Box& box) { return box.high.x - box.low.x >= room.x; };
  const bool fits = large.height <= most && std::ranges::none_of(large.boxes, is_cut);
  return fits ? large : set_words(text, skin.fonts.ui, room.x, skin);
}

// A cubic Bézier curve.
std::vector<ImVec2> curve(ImVec2 from, ImVec2 leaving, ImVec2 arriving, ImVec2 to) {
  constexpr int segments = 32;
  std::vector<ImVec2> points;
  for (int i = 0; i <= segments; ++i) {
    const float t = static_cast<float>(i) / segments, u = 1 - t;
    const float a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
    points.push_back({a * from.x + b * leaving.x + c * arriving.x + d * to.x,
                      a * from.y + b * leaving.y + c * arriving.y + d * to.y});
  }
  return points;
}

void move(Setting& setting, ImVec2 by) {
  for (Box& box : setting.boxes) box = {{box.low.x + by.x, box.low.y + by.y}, {box.high.x + by.x, box.high.y + by.y}};
}

std::string change_text(const Glance& glance, int word) {
  return trf("“{}” changes the encoder's state by {} (0: not at all, 1: reversed).",
             text_of_word(glance.text.words, word),
             number_text(static_cast<double>(glance.changes[static_cast<std::size_t>(word)]), 2));
}

class Picture {
 public:
  Picture(const Glance& glance, int chosen, ImVec2 low, ImVec2 size, const Skin& skin)
      : glance_(glance),
        chosen_(chosen),
        best_(chosen < 0 ? -1 : most_attended(glance, chosen)),
        skin_(skin),
        paint_(skin) {
    words_ = fitted(glance.text, size, skin);
    written_ = fitted(glance.written, size, skin);
    if (words_.font != written_.font) {  // both in the smaller one
      words_ = set_words(glance.text, skin.fonts.ui, size.x, skin);
      written_ = set_words(glance.written, skin.fonts.ui, size.x, skin);
    }
    const float lines = glance.written.words.empty() ? 0 : clamped(size.y * 0.2F, skin.px(40), skin.px(110));
    arcs_ = glance.inspections.empty()
                ? 0.0F
                : clamped(size.y - words_.height - lines - written_.height - skin.px(20), skin.px(40), skin.px(190));
    const float height = arcs_ + words_.height + lines + written_.height;
    const float top = low.y + std::max(0.0F, std::floor((size.y - height) / 2));
    bottom_ = std::max(low.y + size.y, top + height + skin.px(16));
    move(words_, {low.x, top + arcs_});
    move(written_, {low.x, top + arcs_ + words_.height + lines});
  }

  float bottom() const { return bottom_; }  // below the requested height if more room is needed

  // Returns the word under the mouse; a click selects it.
  std::optional<int> draw(AttentionView& view) {
    draw_arcs();
    draw_between();
    for (const Setting* setting : {&words_, &written_})  // lines that pass a word of another row go behind it
      for (const Box& box : setting->boxes) paint_.filled_rect(box.low, box.high, skin_.theme.panel);
    std::optional<int> pointed;
    for (int i = 0; i < static_cast<int>(glance_.text.words.size()); ++i) {
      const Box& box = words_.boxes[static_cast<std::size_t>(i)];
      draw_word(i, box);
      ImGui::SetCursorScreenPos(box.low);
      ImGui::PushID(i);
      if (ImGui::InvisibleButton("word", {box.high.x - box.low.x, box.high.y - box.low.y}))
        view.pinned_row = glance_.text.words[static_cast<std::size_t>(i)].begin;
      ImGui::PopID();
      if (!ImGui::IsItemHovered()) continue;
      pointed = i;
      tell(i);
    }
    for (int i = 0; i < static_cast<int>(glance_.written.words.size()); ++i) draw_written(i);
    return pointed;
  }

 private:
  bool is_recurrent() const { return !glance_.changes.empty(); }
  float weight(int word) const {
    if (is_recurrent()) return glance_.changes[static_cast<std::size_t>(word)];
    return chosen_ < 0 || glance_.inspections.empty() ? 0 : glance_.inspections.at(chosen_, word);
  }
  Color32 color() const { return skin_.theme.accent; }

  void draw_arcs() {
    if (chosen_ < 0 || glance_.inspections.empty()) return;
    const ImVec2 from = words_.boxes[static_cast<std::size_t>(chosen_)].above();
    for (int i = 0; i < glance_.inspections.cols; ++i) {
      const float share = clamped(weight(i), 0.0F, 1.0F);
      if (i == chosen_ || share < least_drawn) continue;
      const ImVec2 to = words_.boxes[static_cast<std::size_t>(i)].above();
      const float reach = std::abs(to.x - from.x) + std::abs(to.y - from.y);
      const float height = std::min(arcs_ * 1.25F, skin_.px(30) + reach * 0.5F);
      const std::vector<ImVec2> points = curve(from, {from.x, from.y - height}, {to.x, to.y - height}, to);
      paint_.polyline(points, faded(color(), 0.25F + 0.75F * share), skin_.px(1 + 6 * share));
    }
  }

  void draw_letters(const Setting& setting, int index, const SetText& text) {
    const auto& [low, high] = setting.boxes[static_cast<std::size_t>(index)];
    const WordSpan& word = text.words[static_cast<std::size_t>(index)];
    paint_.text(setting.font, {low.x + skin_.px(3), low.y + skin_.px(3)},
                is_mark(word) ? faded(skin_.theme.text_dim, 0.6F) : skin_.theme.text,
                shortened(setting.font, word.text, high.x - low.x - skin_.px(5)));
    const bool unknown = text.unknown[static_cast<std::size_t>(index)];
    if (!unknown && !(&text == &glance_.text && unseen_at(index))) return;
    paint_.line({low.x + skin_.px(3), high.y - skin_.px(2)}, {high.x - skin_.px(3), high.y - skin_.px(2)},
                unknown ? skin_.theme.error : skin_.theme.warning, skin_.px(2));
  }

  // Returns null if the source word at that index occurs in the training data.
  const UnseenWord* unseen_at(int index) const {
    const int begin = glance_.text.words[static_cast<std::size_t>(index)].begin;
    const auto found = std::ranges::find(glance_.unseen, begin, &UnseenWord::begin);
    return found == glance_.unseen.end() ? nullptr : &*found;
  }

  void draw_word(int index, const Box& box) {
    const Theme& theme = skin_.theme;
    const float share = index == chosen_ && !is_recurrent() ? 0 : clamped(weight(index), 0.0F, 1.0F);
    if (share >= least_drawn) paint_.filled_rect(box.low, box.high, faded(color(), 0.15F + 0.4F * share), skin_.px(5));
    if (index == chosen_) draw_frame(words_, index, index, color());
    draw_letters(words_, index, glance_.text);
    if (share < 0.1F) return;
    const std::string number = number_text(static_cast<double>(share), 2);
    const float width = text_size(skin_.fonts.small, number).x;
    if (index != best_ && width > box.high.x - box.low.x + skin_.px(4)) return;  // it would run into the next
    paint_.text(skin_.fonts.small, {(box.low.x + box.high.x - width) / 2, box.high.y + skin_.px(1)}, theme.text_dim,
                number);
  }

  bool is_lit(int written) const {
    const int from = glance_.read_from[static_cast<std::size_t>(written)];
    return from >= 0 && (from == chosen_ || from == best_);
  }

  void draw_between() {
    for (int i = 0; i < static_cast<int>(glance_.written.words.size()); ++i) {
      if (!is_lit(i)) continue;
      const int from = glance_.read_from[static_cast<std::size_t>(i)];
      const ImVec2 high = words_.boxes[static_cast<std::size_t>(from)].below();
      const ImVec2 low = written_.boxes[static_cast<std::size_t>(i)].above();
      const float number = skin_.px(15);  // the weight is below its word
      const float bend = (low.y - high.y) * 0.45F;
      const ImVec2 begin{high.x, high.y + number};
      const std::vector<ImVec2> points = curve(begin, {begin.x, begin.y + bend}, {low.x, low.y - bend}, low);
      paint_.polyline(points, faded(skin_.theme.series[1], 0.8F), skin_.px(2));
    }
  }

  bool is_framed(int written) const {
    return is_lit(written) && glance_.read_from[static_cast<std::size_t>(written)] == chosen_;
  }

  // True if the next word follows without a space, as in "wide.".
  static bool touches_next(const Setting& setting, int at) {
    if (at < 0 || at + 1 >= std::ssize(setting.boxes)) return false;
    const Box &box = setting.boxes[static_cast<std::size_t>(at)],
              &next = setting.boxes[static_cast<std::size_t>(at) + 1];
    return box.low.y == next.low.y && box.high.x > next.low.x;
  }

  // Around those words, and not across the letters of their neighbors.
  void draw_frame(const Setting& setting, int first, int last, Color32 color) {
    ImVec2 low = setting.boxes[static_cast<std::size_t>(first)].low;
    ImVec2 high = setting.boxes[static_cast<std::size_t>(last)].high;
    if (touches_next(setting, first - 1)) low.x += skin_.px(2);
    if (touches_next(setting, last)) high.x -= skin_.px(2);
    paint_.rect(low, high, color, skin_.px(5), skin_.px(2));
  }

  // Boxes that touch share a frame, also across an apostrophe between them: the last of them, if this is the first.
  std::optional<int> end_of_frame(int begin) const {
    const auto continues = [&](int at) { return touches_next(written_, at); };
    const auto may_share = [&](int at) { return is_framed(at) || glance_.read_from[static_cast<std::size_t>(at)] < 0; };
    for (int at = begin - 1; at >= 0 && continues(at) && may_share(at); --at)
      if (is_framed(at)) return std::nullopt;
    int end = begin;
    for (int at = begin + 1; at < std::ssize(glance_.read_from) && continues(at - 1) && may_share(at); ++at)
      if (is_framed(at)) end = at;
    return end;
  }

  void draw_written(int index) {
    const Theme& theme = skin_.theme;
    const Box& box = written_.boxes[static_cast<std::size_t>(index)];
    const int from = glance_.read_from[static_cast<std::size_t>(index)];
    if (is_lit(index) && from != chosen_)
      paint_.filled_rect(box.low, box.high, faded(theme.series[1], 0.3F), skin_.px(5));
    if (const auto end = is_framed(index) ? end_of_frame(index) : std::nullopt)
      draw_frame(written_, index, *end, theme.series[1]);
    draw_letters(written_, index, glance_.written);
    ImGui::SetCursorScreenPos(box.low);
    ImGui::PushID(1000 + index);
    ImGui::Dummy({box.high.x - box.low.x, box.high.y - box.low.y});
    ImGui::PopID();
    if (from >= 0)
      help_tooltip(trf("“{1}” was attended to most when “{0}” was generated (cross-attention, mean of all heads; "
                       "punctuation not counted).",
                       text_of_word(glance_.written.words, index), text_of_word(glance_.text.words, from)),
                   skin_);
  }

  void tell(int word) {
    std::string text;
    if (glance_.text.unknown[static_cast<std::size_t>(word)])
      text =
          tr("Underlined: the vocabulary has no token for this, so the model reads <unk>, as for every other unknown "
             "word.\n");
    if (const UnseenWord* unseen = unseen_at(word)) text += unseen_note(*unseen) + '\n';
    if (is_recurrent()) text += change_text(glance_, word);
    if (!glance_.inspections.empty()) text += trf("“{}” attends to", text_of_word(glance_.text.words, word));
    std::vector<std::pair<float, int>> shares;
    const int seen = glance_.causal ? word + 1 : glance_.inspections.cols;
    for (int i = 0; i < std::min(seen, glance_.inspections.cols); ++i)
      shares.emplace_back(glance_.inspections.at(word, i), i);
    std::ranges::sort(shares, std::ranges::greater());
    shares.resize(std::min<std::size_t>(shares.size(), 5));
    for (const auto& [share, i] : shares)
      text += fmt::format("\n{}  {}", number_text(static_cast<double>(share), 3), text_of_word(glance_.text.words, i));
    point_at({.thing = HoverTarget::token,
              .name = text_of_word(glance_.text.words, word),
              .value = text,
              .about = is_recurrent() ? "hidden state" : "self-attention"});
    ImGui::BeginTooltip();
    plain_text(text + tr("\nClick to select this word."));
    ImGui::EndTooltip();
  }

  const Glance& glance_;
  int chosen_;
  int best_;
  const Skin& skin_;
  Painter paint_;
  Setting words_, written_;
  float arcs_ = 0;
  float bottom_ = 0;
};

// ---- the explanation

// The text of words begin … end, with its spacing.
std::string as_set(const SetText& text, std::size_t begin, std::size_t end) {
  std::string set;
  for (std::size_t i = begin; i < end; ++i) set += (text.apart[i] ? " " : "") + text.words[i].text;
  return set;
}

// The translation of a word, "qu'il": includes punctuation between two of its words, and … for words translated from
// others.
std::string written_of(const Glance& glance, int word) {
  const SetText& written = glance.written;
  std::string text;
  std::size_t after = 0;  // index past the last of them
  for (std::size_t i = 0; i < written.words.size(); ++i) {
    if (glance.read_from[i] != word) continue;
    if (text.empty()) {
      text = written.words[i].text;
    } else {
      const bool goes_on = std::none_of(written.words.begin() + static_cast<std::ptrdiff_t>(after),
                                        written.words.begin() + static_cast<std::ptrdiff_t>(i), has_letters);
      text += goes_on ? as_set(written, after, i + 1) : " … " + written.words[i].text;
    }
    after = i + 1;
  }
  return text;
}

// "“it” attends most to “animal” (apart from itself): weight 0.99. …", with the generated words.
std::string telling(const Glance& glance, int chosen) {
  const int best = most_attended(glance, chosen);
  std::string text;
  if (!glance.changes.empty()) text = change_text(glance, chosen);
  if (best >= 0)
    text = trf("“{}” attends most to “{}” (apart from itself): weight {}.", text_of_word(glance.text.words, chosen),
               text_of_word(glance.text.words, best),
               number_text(static_cast<double>(glance.inspections.at(chosen, best)), 2));
  for (const int word : {chosen, best}) {
    const std::string written = word < 0 ? "" : written_of(glance, word);
    if (!written.empty())
      text +=
          trf(" “{}” was attended to most when “{}” was generated.", text_of_word(glance.text.words, word), written);
  }
  return text;
}

float centered_line(const ImFont* font, const Skin& skin) {
  return font_size(font) + skin.px(2);
}

float centered_height(const std::string& text, const ImFont* font, float width, const Skin& skin) {
  return static_cast<float>(wrapped_lines(font, text, std::max(1.0F, width)).size()) * centered_line(font, skin);
}

// Takes at least the height `least`: what is below must not move while the mouse does.
void centred(const std::string& text, ImFont* font, Color32 color, const Skin& skin, float least = 0) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  Painter paint(skin);
  float y = at.y;
  for (const std::string_view line : wrapped_lines(font, text, std::max(1.0F, room))) {
    paint.text(font, {at.x + std::max(0.0F, std::floor((room - text_size(font, line).x) / 2)), y}, color, line);
    y += centered_line(font, skin);
  }
  ImGui::Dummy({std::max(1.0F, room), std::max(y - at.y, least)});
}

void draw_heading(WorkspaceContext& context, const Glance& glance) {
  const Skin& skin = context.skin;
  const Snapshot& snapshot = *context.maps.newest.snapshot;
  const bool recurrent = snapshot.model.is_recurrent();
  const bool one = recurrent || heads_of(maps_of(snapshot, glance.place.part)) < 2;
  const std::string whole = recurrent ? tr("Change of the encoder's state at each word")
                                      : tr("Attention of each word: ") + title_of(glance.place, snapshot.model);
  const float buttons = one ? 0 : 2 * (ImGui::GetFrameHeight() + skin.px(8));
  const std::string title = shortened(skin.fonts.ui, whole, ImGui::GetContentRegionAvail().x - buttons);
  const float width = text_size(skin.fonts.ui, title).x + buttons;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, (ImGui::GetContentRegionAvail().x - width) / 2));
  if (!one) {
    if (ImGui::ArrowButton("##before", ImGuiDir_Left)) go_to_head<-1>(context);
    help_tooltip(tr("Previous head. Key: ↑."), skin);
    ImGui::SameLine(0, skin.px(8));
  }
  ImGui::AlignTextToFramePadding();
  dim_text(title, skin);
  help_tooltip(
      recurrent
          ? tr("A recurrent network reads word by word and carries one state, without attention between the words of "
               "the sentence. ‖h′ − h‖ / (‖h′‖ + ‖h‖) of the state h before and h′ after a word, in the encoder's top "
               "layer. Origins shows its gates.")
          : tr("An attention head gives each word a set of weights on all words, which sum to 1 (paper §3.2). This "
               "model has several heads; what each attends to is learned. The workspace Attention shows all of them."),
      skin);
  if (one) return;
  ImGui::SameLine(0, skin.px(8));
  if (ImGui::ArrowButton("##next", ImGuiDir_Right)) go_to_head<1>(context);
  help_tooltip(tr("Next head. Key: ↓."), skin);
}

float prediction_height(const Skin& skin) {
  return font_size(skin.fonts.ui) + skin.px(12);
}

// The most probable candidates in one line, as far as they fit, each with a bar as long as its probability.
void draw_prediction(const std::string& caption, std::span<const Candidate> candidates, const Skin& skin) {
  struct Entry {
    std::string text;
    float width, share;
  };
  const float gap = skin.px(14), room = ImGui::GetContentRegionAvail().x;
  float width = text_size(skin.fonts.ui, caption).x;
  std::vector<Entry> entries;
  for (const Candidate& candidate : candidates) {
    const std::string p = number_text(static_cast<double>(candidate.probability), 2);
    Entry entry{one_line(candidate.token.text) + "  " + (p == "0.00" ? "<0.01" : p), 0,
                clamped(candidate.probability, 0.0F, 1.0F)};
    entry.width = text_size(skin.fonts.mono, entry.text).x;
    if (width + gap + entry.width > room) break;
    width += gap + entry.width;
    entries.push_back(std::move(entry));
  }
  Painter paint(skin);
  ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy({room, prediction_height(skin)});
  at.x += std::max(0.0F, std::floor((room - width) / 2));
  paint.text(skin.fonts.ui, at, skin.theme.text_dim, shortened(skin.fonts.ui, caption, room));
  at.x += text_size(skin.fonts.ui, caption).x + gap;
  for (const Entry& entry : entries) {
    const float under = at.y + font_size(skin.fonts.ui) + skin.px(4);
    paint.text(skin.fonts.mono, at, skin.theme.text, entry.text);
    paint.filled_rect({at.x, under}, {at.x + entry.width, under + skin.px(3)}, skin.theme.grid);
    paint.filled_rect({at.x, under}, {at.x + entry.width * entry.share, under + skin.px(3)}, skin.theme.accent);
    at.x += entry.width + gap;
  }
}

void draw_prediction(const Snapshot& complete, const Glance& glance, int chosen, const Skin& skin) {
  const std::string& word = text_of_word(glance.text.words, chosen);
  const DecodingStep* step = prediction_at(complete, glance.text.words[static_cast<std::size_t>(chosen)]);
  if (!step || step->candidates.empty()) return;
  const ModelConfig& model = complete.model;
  const auto most = static_cast<std::size_t>(model.is_classifier() ? model.num_classes : 5);
  draw_prediction(model.is_classifier()  ? tr("Most probable labels")
                  : model.is_masked_lm() ? trf("Most probable at “{}”", word)
                                         : trf("Most probable after “{}”", word),
                  std::span(step->candidates).first(std::min(most, step->candidates.size())), skin);
}

// Draws a centered button; returns true if it is pressed. Without a tooltip, which would cover what the click changes.
bool draw_offer(const std::string& label, const Skin& skin) {
  const std::string text = shortened(skin.fonts.ui, label, ImGui::GetContentRegionAvail().x - skin.px(20));
  const float width = text_size(skin.fonts.ui, text).x + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, (ImGui::GetContentRegionAvail().x - width) / 2));
  ImGui::PushStyleColor(ImGuiCol_Button, mixed(skin.theme.raised, skin.theme.accent, 0.45F));
  const bool pressed = text_button(text);
  ImGui::PopStyleColor();
  return pressed;
}

// "This model was trained on 2 000 sentence pairs; it knows 310 words."
std::string knowledge(const Snapshot& snapshot, const RunOpened& run) {
  if (snapshot.known_words == 0 || run.train_pairs == 0) return {};
  const char* unit = run.config.model.reads_text()      ? tr("characters of text")
                     : run.config.model.is_classifier() ? tr("labeled texts")
                                                        : tr("sentence pairs");
  if (!run.config.model.from.empty())
    return trf("This model was initialized from other weights. Its corpus has {} {} with {} words.",
               grouped(run.train_pairs), unit, grouped(snapshot.known_words));
  if (snapshot.step == 0)
    return trf("This model is untrained. Its corpus has {} {} with {} words.", grouped(run.train_pairs), unit,
               grouped(snapshot.known_words));
  return trf("This model was trained on {} {}; it knows {} words.", grouped(run.train_pairs), unit,
             grouped(snapshot.known_words));
}

// The texts below the explanation, and a button that replaces the sentence; each may be empty.
struct Invitation {
  std::string warning = {}, offer = {}, sentence = {}, hint = {}, about = {};
};

// Suggests the next step: replace a word that does not occur in the training data, or the whole sentence if no word
// fits, or one that changes the pronoun's referent.
Invitation invitation_to(const WorkspaceContext& context, const Glance& glance, const std::string& sentence) {
  if (context.maps.complete.snapshot->captured) return {.hint = tr("Point at a word to see what it attends to.")};
  Invitation invitation{.about = knowledge(*context.maps.complete.snapshot, context.run)};
  const std::vector<Example>& examples = context.run.examples;
  const UnseenWord* unseen = glance.unseen.empty() ? nullptr : &first_to_mend(glance.unseen);
  const std::optional<WordChange> change = glance.written.words.empty() ? std::nullopt : suggested_change(sentence);
  if (unseen) {
    invitation.warning = unseen_note(*unseen);
    const bool mostly = 2 * glance.unseen.size() > glance.text.words.size() - 1;
    if ((mostly || unseen->nearest.empty()) && !examples.empty()) {
      invitation.offer = trf("Use a sentence of the corpus: “{}”", examples.front().source);
      invitation.sentence = examples.front().source;
    } else if (!unseen->nearest.empty()) {
      invitation.offer = trf("Change “{}” to “{}”", unseen->text, unseen->nearest.front());
      invitation.sentence = with_word_replaced(sentence, unseen->text, unseen->nearest.front());
    }
  } else if (change) {
    invitation.offer = trf("Change “{}” to “{}”", change->from, change->to);
    invitation.sentence = change->sentence;
    invitation.hint = tr("Watch where “it” attends and how the translation changes. Or type your own sentence.");
  } else {
    invitation.hint = tr("Type any sentence, then point at its words.");
  }
  return invitation;
}

// At least the height of the usual texts, so that the picture stays in its place when they change.
float height_after_telling(const Invitation& invitation, bool predicts, float width, const Skin& skin) {
  const float spacing = ImGui::GetStyle().ItemSpacing.y, line = font_size(skin.fonts.ui);
  const float prediction = predicts ? prediction_height(skin) + spacing : 0;
  float height = spacing + prediction + (invitation.offer.empty() ? 0 : ImGui::GetFrameHeightWithSpacing());
  for (const std::string* text : {&invitation.warning, &invitation.hint, &invitation.about})
    if (!text->empty()) height += centered_height(*text, skin.fonts.small, width, skin) + spacing;
  const float usual = (predicts ? 2.0F : 1.0F) * line + 2 * font_size(skin.fonts.small) +
                      ImGui::GetFrameHeightWithSpacing() + skin.px(24);
  return std::max(usual, height);
}

void draw_invitation(WorkspaceContext& context, const Invitation& invitation) {
  const Skin& skin = context.skin;
  const auto say = [&](const std::string& text, Color32 color) {
    if (!text.empty()) centred(text, skin.fonts.small, color, skin);
  };
  say(invitation.warning, skin.theme.warning);
  if (!invitation.offer.empty() && draw_offer(invitation.offer, skin)) context.sentence_wanted = invitation.sentence;
  say(invitation.hint, skin.theme.text_dim);
  say(invitation.about, skin.theme.text_dim);
}

// The widest explanation of any word.
std::string widest_telling(const Glance& glance, const Skin& skin) {
  std::string widest;
  float width = 0;
  for (int word = 0; word < static_cast<int>(glance.text.words.size()); ++word) {
    std::string text = telling(glance, word);
    const float extent = text_size(skin.fonts.ui, text).x;
    if (extent <= width) continue;
    width = extent;
    widest = std::move(text);
  }
  return widest;
}

}  // namespace

std::vector<float> state_changes(const RecurrentStates& states, const std::vector<WordSpan>& words) {
  std::vector<float> changes;
  for (const WordSpan& word : words) {
    float difference = 0, before = 0, after = 0;
    for (int unit = 0; unit < states.h.cols; ++unit) {
      const float from = states.h_before(word.begin, unit), to = states.h.at(word.end - 1, unit);
      difference += (to - from) * (to - from);
      before += from * from;
      after += to * to;
    }
    const float most = std::sqrt(before) + std::sqrt(after);
    changes.push_back(most > 0 ? std::sqrt(difference) / most : 0);
  }
  return changes;
}

const DecodingStep* prediction_at(const Snapshot& complete, const WordSpan& word) {
  const ModelConfig& model = complete.model;
  if (!model.is_classifier() && !model.is_masked_lm() && !is_continued(complete)) return nullptr;
  const auto at = static_cast<std::size_t>(model.is_classifier()  ? 0
                                           : model.is_masked_lm() ? word.begin
                                                                  : word.end - 1);
  return at < complete.decoding.size() ? &complete.decoding[at] : nullptr;
}

Glance glance_at(const ShownMaps& maps, const HeadPlace& place) {
  const Snapshot& newest = *maps.newest.snapshot;
  Glance glance{place, maps.newest.version, maps.complete.version, {}, {}, {}, {}, {}, {}, {}};
  const bool text_goes_on = is_continued(newest);
  const Snapshot& inspected = text_goes_on && maps.complete.snapshot ? *maps.complete.snapshot : newest;
  const std::vector<Token>& tokens = row_tokens(inspected, place.part);
  glance.text = set_text(spaced_words_of(tokens), tokens);
  glance.unseen = inspected.unseen;
  if (const Matrix* map = map_at(inspected, place))
    glance.inspections = merged(*map, glance.text.words, glance.text.words);
  glance.causal = is_causal(inspected.model, place.part);
  const RecurrentStates* states = maps.complete.snapshot ? maps.complete.snapshot->recurrent.get() : nullptr;
  if (states && states->h.rows == std::ssize(tokens)) glance.changes = state_changes(*states, glance.text.words);
  if (text_goes_on || newest.model.is_masked_lm() || !maps.complete.snapshot) return glance;
  const Snapshot& complete = *maps.complete.snapshot;
  glance.written = set_text(words_of(complete.target_out), complete.target_out);
  glance.read_from.assign(glance.written.words.size(), -1);
  if (complete.cross.empty() || complete.source != newest.source) return glance;
  const Matrix taken = merged(mean_map(all_of(complete.cross)), glance.written.words, glance.text.words);
  for (int i = 0; i < taken.rows; ++i)
    if (has_letters(glance.written.words[static_cast<std::size_t>(i)]))
      glance.read_from[static_cast<std::size_t>(i)] = most_read(taken, i, glance.text.words);
  return glance;
}

int most_attended(const Glance& glance, int word) {
  int best = -1;
  for (int col = 0; col < glance.inspections.cols; ++col) {
    if (col == word) continue;
    if (glance.inspections.at(word, col) > (best < 0 ? 0 : glance.inspections.at(word, best))) best = col;
  }
  return best;
}

std::optional<WordChange> suggested_change(const std::string& sentence) {
  const auto lacks = [&](std::string_view word) { return with_word_replaced(sentence, word, "") == sentence; };
  if (lacks("it") && lacks("It")) return std::nullopt;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> pairs = {
      {{"tired", "wide"}, {"wide", "tired"}}};
  for (const auto& [from, to] : pairs)
    if (std::string changed = with_word_replaced(sentence, from, to); changed != sentence)
      return WordChange{std::string(from), std::string(to), std::move(changed)};
  return std::nullopt;
}

std::span<const WorkspaceKey> glance_keys() {
  return keys;
}

void ask_for_glance(const Views&, Probe& probe) {
  probe.recurrent = RecurrentWanted{.layer = 63, .read_out = false};  // the encoder's top layer
}

void draw_glance(WorkspaceContext& context) {
  const Skin& skin = context.skin;
  const Snapshot& snapshot = *context.maps.newest.snapshot;
  AttentionView& view = context.views.of<AttentionView>();
  GlanceView& glance = context.views.of<GlanceView>();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  begin(view, snapshot);
  const AttentionPart part = part_of(snapshot);
  if (snapshot.captured && maps_of(snapshot, part).empty())
    return draw_quiet_note(tr("This view shows self-attention, which this capture does not contain."), room, skin);
  if (view.part != part) select(view, {part, view.layer, 0});
  clamp_to(view, snapshot);
  if (glance.made.place != view.place() || glance.made.newest != context.maps.newest.version ||
      glance.made.complete != context.maps.complete.version) {
    glance.made = glance_at(context.maps, view.place());
    glance.widest_telling = widest_telling(glance.made, skin);
  }
  if (glance.made.text.words.empty())
    return draw_quiet_note(
        tr("This view shows what each word attends to, but the sentence has no words. Type a sentence."), room, skin);

  draw_heading(context, glance.made);
  const int chosen = glance.pointed.value_or(chosen_word(glance.made, view, snapshot));
  const int shown = std::min(chosen, static_cast<int>(glance.made.text.words.size()) - 1);
  const Snapshot* complete = context.maps.complete.snapshot.get();
  const bool predicts = complete && prediction_at(*complete, glance.made.text.words.front());
  const Invitation invitation = complete ? invitation_to(context, glance.made, snapshot.source_text) : Invitation();
  const float telling_room = std::max(2 * centered_line(skin.fonts.ui, skin),
                                      centered_height(glance.widest_telling, skin.fonts.ui, room.x, skin));
  const float below = telling_room + height_after_telling(invitation, predicts, room.x, skin);
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 size{room.x, std::max(skin.px(120), ImGui::GetContentRegionAvail().y - below)};
  Picture picture(glance.made, shown, low, size, skin);
  glance.pointed = picture.draw(view);
  ImGui::SetCursorScreenPos({low.x, picture.bottom()});
  centred(telling(glance.made, shown), skin.fonts.ui, skin.theme.text, skin, telling_room);
  if (!complete) return;
  if (predicts) draw_prediction(*complete, glance.made, shown, skin);
  draw_invitation(context, invitation);
}

}  // namespace attnscope
