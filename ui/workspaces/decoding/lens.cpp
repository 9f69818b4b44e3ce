#include "workspaces/decoding/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/input.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

using Lens = std::vector<LensRow>;

// Rows from top to bottom: the output, the last layer, …, the first sublayer. Columns are steps.
struct LensPicture {
  const Snapshot& snapshot;
  const Lens& lens;
  std::vector<float> columns;  // left edge of each step's column, and the right edge of the last
  float row_height;
  const Skin& skin;

  int rows() const { return static_cast<int>(lens.size()); }
  const LensRow& row(int number) const { return lens[static_cast<std::size_t>(number)]; }
  const LensCell& cell(int number, std::size_t step) const { return row(number).cells[step]; }
  float top_of(int number) const { return static_cast<float>(rows() - number) * row_height; }
  float width_of(std::size_t step) const { return columns[step + 1] - columns[step]; }
};

float text_width(const std::string& token, const Skin& skin) {
  return text_size(skin.fonts.mono, token).x;
}

std::vector<float> column_ends(const Snapshot& snapshot, const Lens& lens, const Skin& skin) {
  std::vector<float> columns = {0};
  for (std::size_t step = 0; step < snapshot.target_out.size(); ++step) {
    float width = text_width(snapshot.target_out[step].text, skin);
    for (const LensRow& row : lens) width = std::max(width, text_width(row.cells[step].best.front().token.text, skin));
    columns.push_back(columns.back() + clamped(width, skin.px(28), skin.px(110)) + skin.px(10));
  }
  return columns;
}

bool fits(const Snapshot& snapshot, const Lens& lens) {
  return std::ranges::all_of(lens, [&](const LensRow& row) {
    return row.cells.size() == snapshot.target_out.size() &&
           std::ranges::none_of(row.cells, [](const LensCell& cell) { return cell.best.empty(); });
  });
}

void draw_text_cell(Painter& paint, ImVec2 low, ImVec2 high, Color32 ink, const std::string& text, const Skin& skin) {
  const float width = std::min(text_width(text, skin), high.x - low.x - skin.px(4));
  paint.push_clip({low.x + skin.px(2), low.y}, {high.x - skin.px(2), high.y});
  paint.text(skin.fonts.mono, {(low.x + high.x - width) * 0.5F, (low.y + high.y - font_size(skin.fonts.mono)) * 0.5F},
             ink, text);
  paint.pop_clip();
}

void draw_cell(Painter& paint, const LensPicture& picture, int row, std::size_t step, ImVec2 origin) {
  const LensCell& cell = picture.cell(row, step);
  const Guess& best = cell.best.front();
  const ImVec2 low(origin.x + picture.columns[step], origin.y + picture.top_of(row));
  const ImVec2 high(low.x + picture.width_of(step) - 1, low.y + picture.row_height - 1);
  const Color32 fill = map_color(ColorMap::viridis, best.probability);
  paint.filled_rect(low, high, fill);
  draw_text_cell(paint, low, high, text_on(fill), best.token.text, picture.skin);
  const bool agrees = best.token.id == picture.snapshot.target_out[step].id;
  if (agrees) {  // underlines predictions that already equal the output
    const float y = high.y - picture.skin.px(2.5F);
    paint.line({low.x + picture.skin.px(4), y}, {high.x - picture.skin.px(4), y}, text_on(fill), picture.skin.px(1.5F));
  }
}

std::string row_name(const LensRow& row) {
  if (!row.within) return trf("layer {}", row.layer + 1);
  return row.within == Sublayer::self_attention ? trf("{}: self-attention", row.layer + 1)
                                                : trf("{}: cross-attention", row.layer + 1);
}

void cell_tooltip(const LensPicture& picture, int row, std::size_t step) {
  const LensCell& cell = picture.cell(row, step);
  const WithFont font(picture.skin.fonts.mono);
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(trf("step {}, after {}:", step + 1, row_name(picture.row(row))).c_str());
  for (const Guess& guess : cell.best) plain_text(fmt::format("{:.4f}  {}", guess.probability, guess.token.text));
  plain_text(
      trf("output: {}, rank {} here, p = {:.4f}", picture.snapshot.target_out[step].text, cell.rank, cell.chosen));
  ImGui::EndTooltip();
}

// The step under the mouse.
std::optional<std::size_t> hovered_step(const LensPicture& picture, ImVec2 origin) {
  if (!ImGui::IsItemHovered()) return std::nullopt;
  const float x = ImGui::GetIO().MousePos.x - origin.x;
  const auto after = std::ranges::upper_bound(picture.columns, x);
  if (after == picture.columns.begin() || after == picture.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(after - picture.columns.begin()) - 1;
}

void draw_cells(const LensPicture& picture, DecodingView& view) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float height = picture.row_height * static_cast<float>(picture.rows() + 1);
  const bool clicked = ImGui::InvisibleButton("cells", ImVec2(picture.columns.back(), height));
  const auto hovered = hovered_step(picture, origin);
  Painter paint(picture.skin);
  const Theme& theme = picture.skin.theme;
  for (std::size_t step = 0; step < picture.snapshot.target_out.size(); ++step) {
    const ImVec2 low(origin.x + picture.columns[step], origin.y);
    const ImVec2 high(low.x + picture.width_of(step) - 1, low.y + picture.row_height);
    if (!ImGui::IsRectVisible(low, {high.x, low.y + height})) continue;
    const bool current = static_cast<int>(step) == view.time_step;
    draw_text_cell(paint, low, high, current ? theme.success : theme.text_dim, picture.snapshot.target_out[step].text,
                   picture.skin);
    for (int row = 0; row < picture.rows(); ++row) draw_cell(paint, picture, row, step, origin);
    if (current)
      paint.rect({low.x - 1, low.y}, {high.x + 1, low.y + height}, theme.accent, picture.skin.px(2),
                 picture.skin.px(2));
  }
  if (!hovered) return;
  const auto row = static_cast<int>((ImGui::GetIO().MousePos.y - origin.y) / picture.row_height);
  if (row >= 1 && row <= picture.rows()) cell_tooltip(picture, picture.rows() - row, *hovered);
  if (clicked) visit(view, picture.snapshot, static_cast<int>(*hovered));
}

float names_width(const LensPicture& picture) {
  float width = text_size(picture.skin.fonts.small, tr("output")).x;
  for (const LensRow& row : picture.lens) width = std::max(width, text_size(picture.skin.fonts.small, row_name(row)).x);
  return width;
}

// Next to the cells, which scroll.
float draw_row_names(const LensPicture& picture) {
  const Skin& skin = picture.skin;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Painter paint(skin);
  const float width = names_width(picture) + skin.px(8);
  const float middle = (picture.row_height - font_size(skin.fonts.small)) * 0.5F;
  paint.text(skin.fonts.small, {at.x, at.y + middle}, skin.theme.text_dim, tr("output"));
  for (int row = 0; row < picture.rows(); ++row)
    paint.text(skin.fonts.small, {at.x, at.y + picture.top_of(row) + middle},
               picture.row(row).within ? skin.theme.text_dim : skin.theme.text, row_name(picture.row(row)));
  return width;
}

void follow_step(const LensPicture& picture, DecodingView& view) {
  if (ImGui::IsWindowAppearing()) view.lens_scrolled_to = -1;
  // The scroll range of a new window is not known in its first frame.
  const bool can_scroll = ImGui::GetScrollMaxX() > 0 || picture.columns.back() <= ImGui::GetWindowWidth();
  if (view.lens_scrolled_to == view.time_step || !can_scroll) return;
  view.lens_scrolled_to = view.time_step;
  const auto step = static_cast<std::size_t>(view.time_step);
  const float middle = (picture.columns[step] + picture.columns[step + 1]) * 0.5F;
  ImGui::SetScrollX(std::max(0.0F, middle - ImGui::GetWindowWidth() * 0.5F));
}

void draw_grid_of_guesses(const LensPicture& picture, DecodingView& view) {
  const float names = draw_row_names(picture);
  const float bar = picture.skin.px(14);  // thickness of the scroll bar
  const float height = picture.row_height * static_cast<float>(picture.rows() + 1) + bar;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + names);
  ImGui::BeginChild("lens", ImVec2(0, std::min(height, ImGui::GetContentRegionAvail().y * 0.7F)), false,
                    view_flags() | ImGuiWindowFlags_HorizontalScrollbar);
  draw_cells(picture, view);
  follow_step(picture, view);
  ImGui::EndChild();
}

// ---- the present step, layer by layer

void draw_guess(Painter& paint, const Guess& guess, bool written, ImVec2 at, float width, const Skin& skin) {
  const float height = font_size(skin.fonts.mono) + skin.px(4);
  const ImVec2 high(at.x + width - skin.px(6), at.y + height - skin.px(2));
  paint.filled_rect(at, high, faded(skin.theme.grid, 0.6F), skin.px(2));
  const Color32 color = written ? skin.theme.success : skin.theme.accent;
  const float share = clamped(guess.probability, 0.0F, 1.0F);
  if (share > 0) paint.filled_rect(at, {at.x + (high.x - at.x) * share, high.y}, faded(color, 0.55F), skin.px(2));
  paint.push_clip(at, high);
  paint.text(skin.fonts.mono, {at.x + skin.px(4), at.y + skin.px(1)}, skin.theme.text, guess.token.text);
  const std::string number = fmt::format("{:.3f}", guess.probability);
  const ImVec2 extent = text_size(skin.fonts.mono_small, number);
  paint.text(skin.fonts.mono_small, {high.x - extent.x - skin.px(3), at.y + (height - extent.y) * 0.5F},
             skin.theme.text_dim, number);
  paint.pop_clip();
}

void draw_row_guesses(const LensPicture& picture, int row, std::size_t step) {
  const Skin& skin = picture.skin;
  const LensCell& cell = picture.cell(row, step);
  const int written = picture.snapshot.target_out[step].id;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  const float name = names_width(picture) + skin.px(8);
  const std::string rank = trf("rank {}", cell.rank);
  const float last = text_size(skin.fonts.mono_small, tr("rank 00000")).x;
  const float width = std::max(skin.px(40), (room - name - last) / static_cast<float>(cell.best.size()));
  const float line = font_size(skin.fonts.mono) + skin.px(4);
  Painter paint(skin);
  paint.text(skin.fonts.small, {at.x, at.y + (line - font_size(skin.fonts.small)) * 0.5F}, skin.theme.text_dim,
             row_name(picture.row(row)));
  float x = at.x + name;
  for (const Guess& guess : cell.best) {
    draw_guess(paint, guess, guess.token.id == written, {x, at.y}, width, skin);
    x += width;
  }
  paint.text(skin.fonts.mono_small, {x, at.y + (line - font_size(skin.fonts.mono_small)) * 0.5F},
             cell.rank == 1 ? skin.theme.success : skin.theme.text_dim, rank);
  ImGui::Dummy(ImVec2(room, line));
  help_tooltip(trf("The top predictions here, and the rank of the token that was generated, {} (p = {:.4f}).",
                   picture.snapshot.target_out[step].text, cell.chosen),
               skin);
}

void draw_lens_choice(LensChoice& lens, const Skin& skin) {
  const auto choose = [&](const char* title, bool tuned, const char* help) {
    if (draw_choice(title, lens.tuned == tuned, help, skin)) lens.tuned = tuned;
  };
  choose(tr_label("logit lens"), false, tr("Reads each row's vector as if it were the last layer's."));
  choose(
      tr_label("tuned lens"), true,
      tr("First translates each row's vector by an affine map, which is fitted to the model's output on the training "
         "part when you choose it, in about a minute, and saved in the run's folder (2303.08112)."));
  if (lens.tuned && row_button(tr_label("Recompute"))) lens.run = 0;
  end_choices();
}

// "1: self-attention 3.21 → 1.02, …", but for the last layer, which is the output.
std::string divergences(const Lens& rows, const TunedLensResult& fitted) {
  std::string text;
  for (std::size_t i = 0; i + 1 < std::min(rows.size(), fitted.tuned_kl.size()); ++i)
    text += fmt::format("{}{} {:.2f} → {:.2f}", i > 0 ? ", " : "", row_name(rows[i]), fitted.logit_kl[i],
                        fitted.tuned_kl[i]);
  return text;
}

void draw_explanation(const LensChoice& choice, const Decodings& decodings, const Skin& skin) {
  small_text(skin.theme.text_dim,
             tr("Logit lens: the prediction after each layer and each attention sublayer if decoding stopped there. "
                "The vector goes through the final layer norm, linear layer and softmax. Color: the prediction's "
                "probability (bright: 1); underlined: the token that was generated."),
             skin);
  if (!choice.tuned) return;
  if (!choice.fitted) return small_text(skin.theme.text_dim, tr("Fitting the tuned lens…"), skin);
  if (!choice.fitted->problem.empty())
    return small_text(skin.theme.text_dim, tr_filled(choice.fitted->problem), skin);
  if (!decodings.lens_is_tuned) return;
  small_text(skin.theme.text,
             trf("Tuned lens, fitted at step {}. KL to the output on the validation part, nats per token, logit lens → "
                 "tuned lens: {}",
                 choice.step, divergences(decodings.lens, *choice.fitted)),
             skin);
}

void draw_step_guesses(const LensPicture& picture, int step) {
  ImGui::Spacing();
  bold_text(trf("At step {}", step + 1), picture.skin);
  ImGui::BeginChild("guesses", ImVec2(0, 0), false, view_flags());
  for (int row = picture.rows(); row-- > 0;) draw_row_guesses(picture, row, static_cast<std::size_t>(step));
  ImGui::EndChild();
}

}  // namespace

void draw_lens(const Shown& shown, DecodingView& view, const Decodings* decodings, const Skin& skin) {
  const Snapshot& snapshot = *shown.snapshot;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (snapshot.model.is_recurrent()) {
    return draw_quiet_note(tr("The logit lens needs a stack of layers with a shared residual stream. A recurrent "
                              "decoder has one state per step: choose another architecture in the setup to use it."),
                           room, skin);
  }
  if (!decodings || decodings->lens.empty() || !fits(snapshot, decodings->lens))
    return draw_quiet_note(is_recorded(snapshot) ? recorded_note(shown) : "…", room, skin);
  const float row_height = font_size(skin.fonts.mono) + skin.px(8);
  const LensPicture picture{snapshot, decodings->lens, column_ends(snapshot, decodings->lens, skin), row_height, skin};
  draw_lens_choice(view.lens, skin);
  draw_grid_of_guesses(picture, view);
  draw_explanation(view.lens, *decodings, skin);
  draw_step_guesses(picture, view.time_step);
}

}  // namespace attnscope
