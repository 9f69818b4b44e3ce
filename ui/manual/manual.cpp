#include "manual/manual.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

#include "base/input.h"
#include "base/translation.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

using Kind = MarkdownBlock::Kind;

ImFont* font_of(const MarkdownSpan& span, bool bold, const Skin& skin) {
  if (span.code) return skin.fonts.mono;
  return bold || span.bold ? skin.fonts.bold : skin.fonts.ui;
}

Color32 color_of(const MarkdownSpan& span, const Skin& skin) {
  return !span.link.empty() || span.code ? skin.theme.accent : skin.theme.text;
}

bool is_page_link(std::string_view link) {
  return link.find("://") == std::string_view::npos;
}

// Words of several fonts in one flow of lines; Dear ImGui wraps only text of one font. `clicked` receives the link of a
// clicked word.
class Flow {
 public:
  Flow(const Skin& skin, std::string& clicked) : skin_(skin), clicked_(clicked) {
    left_ = ImGui::GetCursorPosX();
    right_ = left_ + ImGui::GetContentRegionAvail().x;
    x_ = left_;
  }

  void add(const MarkdownLine& line, bool bold) {
    for (const MarkdownSpan& span : line) add(span, bold);
  }

 private:
  void add(const MarkdownSpan& span, bool bold) {
    const WithFont font(font_of(span, bold, skin_));
    std::string_view rest = span.text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size() - 1) + 1;  // a word and the space after it
      draw_word(rest.substr(0, end), span);
      rest.remove_prefix(end);
    }
  }

  void draw_word(std::string_view word, const MarkdownSpan& span) {
    const char* begin = word.data();
    const float width = ImGui::CalcTextSize(begin, begin + word.size()).x;
    const std::size_t letters = word.ends_with(' ') ? word.size() - 1 : word.size();
    const float ink = ImGui::CalcTextSize(begin, begin + letters).x;
    if (x_ + ink > right_ && x_ > left_) x_ = left_;
    if (!first_ && x_ > left_) ImGui::SameLine(0, 0);
    ImGui::PushStyleColor(ImGuiCol_Text, color_of(span, skin_));
    ImGui::TextUnformatted(begin, begin + word.size());
    ImGui::PopStyleColor();
    if (!span.link.empty() && is_page_link(span.link)) touch(span.link);
    x_ += width;
    first_ = false;
  }

  void touch(const std::string& link) {
    if (!ImGui::IsItemHovered()) return;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddLine({low.x, high.y}, high, skin_.theme.accent);
    if (ImGui::IsItemClicked()) clicked_ = link;
  }

  const Skin& skin_;
  std::string& clicked_;
  float left_ = 0;
  float right_ = 0;
  float x_ = 0;
  bool first_ = true;
};

void draw_line(const MarkdownLine& line, bool bold, std::string& clicked, const Skin& skin) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, skin.px(3)});
  Flow(skin, clicked).add(line, bold);
  ImGui::PopStyleVar();
}

void draw_code(const MarkdownBlock& block, int id, const Skin& skin) {
  const WithFont mono(skin.fonts.mono);
  const auto lines = static_cast<float>(std::ranges::count(block.code, '\n'));
  const float bar = ImGui::GetStyle().ScrollbarSize;
  ImGui::PushID(id);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, skin.theme.panel);
  ImGui::BeginChild("code", {0, lines * ImGui::GetTextLineHeight() + skin.px(16) + bar}, true,
                    ImGuiWindowFlags_HorizontalScrollbar);
  ImGui::TextUnformatted(block.code.c_str(), block.code.c_str() + block.code.size());
  ImGui::EndChild();
  ImGui::PopStyleColor();
  if (ImGui::SmallButton(tr_label("Copy"))) ImGui::SetClipboardText(block.code.c_str());
  ImGui::PopID();
}

void draw_table(const MarkdownBlock& block, int id, std::string& clicked, const Skin& skin) {
  const auto columns = static_cast<int>(block.rows.front().size());
  ImGui::PushID(id);
  if (ImGui::BeginTable("table", columns, ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp)) {
    for (std::size_t row = 0; row < block.rows.size(); ++row) {
      ImGui::TableNextRow();
      for (const MarkdownLine& cell : block.rows[row]) {
        ImGui::TableNextColumn();
        draw_line(cell, row == 0, clicked, skin);
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopID();
}

void draw_heading(const MarkdownBlock& block, ManualView& view, std::string& clicked, const Skin& skin) {
  if (block.level > 1) ImGui::Dummy({1, skin.px(8)});
  const WithFont font(block.level == 1 ? skin.fonts.large : skin.fonts.bold);
  if (block.level == 1) {
    plain_text(plain_text_of(block.line));
  } else {
    draw_line(block.line, true, clicked, skin);
  }
  if (view.anchor == heading_anchor(plain_text_of(block.line))) {
    ImGui::SetScrollHereY(0);
    view.anchor.clear();
  }
}

void draw_item(const MarkdownBlock& block, std::string& clicked, const Skin& skin) {
  const float indent = skin.px(18) * static_cast<float>(block.level) + skin.px(8);
  ImGui::Indent(indent);
  plain_text(block.marker);
  ImGui::SameLine(0, skin.px(8));
  ImGui::BeginGroup();
  draw_line(block.line, false, clicked, skin);
  ImGui::EndGroup();
  ImGui::Unindent(indent);
}

void draw_page(ManualView& view, const ManualPage& page, std::string& clicked, const Skin& skin) {
  if (std::exchange(view.restarts, false)) ImGui::SetScrollY(0);
  int id = 0;
  Kind previous = Kind::heading;
  for (const MarkdownBlock& block : page.blocks) {
    ++id;
    if (std::exchange(previous, block.kind) == Kind::list_item && block.kind != Kind::list_item) ImGui::Spacing();
    switch (block.kind) {
      case Kind::heading:
        draw_heading(block, view, clicked, skin);
        break;
      case Kind::paragraph:
        draw_line(block.line, false, clicked, skin);
        break;
      case Kind::list_item:
        draw_item(block, clicked, skin);
        break;
      case Kind::code:
        draw_code(block, id, skin);
        break;
      case Kind::table:
        draw_table(block, id, clicked, skin);
        break;
    }
    if (block.kind != Kind::list_item) ImGui::Spacing();
  }
}

void draw_titles(ManualView& view, const std::vector<ManualPage>& pages, ImVec2 size) {
  ImGui::BeginChild("pages", size);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const std::string title = pages[i].title();
    const std::string shown = shortened(ImGui::GetFont(), title, ImGui::GetContentRegionAvail().x);
    ImGui::PushID(static_cast<int>(i));
    if (selectable_text(shown, view.page == i, ImGuiSelectableFlags_DontClosePopups))
      view = {.open = true, .page = i, .anchor = {}, .restarts = true};
    ImGui::PopID();
    if (shown != title && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", title.c_str());
  }
  ImGui::EndChild();
}

}  // namespace

std::string ManualPage::title() const {
  const auto heading = std::ranges::find(blocks, Kind::heading, &MarkdownBlock::kind);
  return heading == blocks.end() ? name : plain_text_of(heading->line);
}

ManualPage make_page(std::string name, std::string_view markdown) {
  return {std::move(name), read_markdown(markdown)};
}

bool follow_link(ManualView& view, const std::vector<ManualPage>& pages, std::string_view link) {
  const std::size_t hash = std::min(link.find('#'), link.size());
  std::string_view name = link.substr(0, hash);
  const std::string anchor(link.substr(std::min(hash + 1, link.size())));
  std::size_t page = view.page;
  if (!name.empty()) {
    if (name.ends_with(".md")) name.remove_suffix(3);
    const auto target = std::ranges::find(pages, name, &ManualPage::name);
    if (target == pages.end()) return false;
    page = static_cast<std::size_t>(target - pages.begin());
  }
  view = {.open = true, .page = page, .anchor = anchor, .restarts = anchor.empty()};
  return true;
}

void draw_manual(ManualView& view, const std::vector<ManualPage>& pages, const Skin& skin) {
  if (pages.empty()) return;
  const char* title = tr_label("Manual");
  if (view.open && !ImGui::IsPopupOpen(title)) ImGui::OpenPopup(title);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowSize(
      {std::min(skin.px(980), viewport.WorkSize.x * 0.94F), std::min(skin.px(760), viewport.WorkSize.y * 0.9F)});
  ImGui::SetNextWindowPos(viewport.GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
  if (!ImGui::BeginPopupModal(title, &view.open, ImGuiWindowFlags_NoResize)) return;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float height = room.y - ImGui::GetFrameHeightWithSpacing();
  draw_titles(view, pages, {skin.px(214), height});
  ImGui::SameLine(0, skin.px(16));
  std::string clicked;
  ImGui::BeginChild("page", {0, height});
  draw_page(view, pages[std::min(view.page, pages.size() - 1)], clicked, skin);
  ImGui::EndChild();
  if (!clicked.empty()) follow_link(view, pages, clicked);
  if (ImGui::Button(tr_label("Close")) || key_pressed(Key::escape)) view.open = false;
  if (!view.open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace attnscope
