#include "workspaces/attention/norm_diagram.h"

#include <array>
#include <string>

#include "widgets/painter.h"
#include "widgets/tooltip.h"

namespace attnscope {
namespace {

struct NormText {
  bool pre;
  const char* title;
  const char* help;
};

constexpr std::array norm_texts = {
    NormText{
        false, "post-norm: LayerNorm(x + Sublayer(x))",
        "As in the paper (§3.1, §5.4): what the sublayer gives is added to its input, and the sum is normalised, so "
        "every piece's vector leaves with about the same length."},
    NormText{
        true, "pre-norm: x + Sublayer(LayerNorm(x))",
        "The sublayer sees a normalised input, and what it gives is added to the input as it came: the vectors grow "
        "from layer to layer, and a last layer norm ends the stack (GPT-2; arXiv 2002.04745)."},
};

constexpr float least_width = 330;  // of one, at scale 1

// A row of boxes with arrows, and the residual connection over the sublayer.
class Diagram {
 public:
  Diagram(ImVec2 at, const Skin& skin, Color32 ink) : skin_(skin), paint_(skin), at_(at), ink_(ink) {}

  void draw(bool pre) {
    text("x");
    const float from = at_.x + skin_.px(5);
    arrow();
    if (pre) box("LayerNorm");
    if (pre) arrow();
    box("Sublayer");
    arrow();
    text("⊕");
    const float to = at_.x - text_size(skin_.fonts.ui, "⊕").x / 2;
    skip(from, to);
    if (!pre) arrow();
    if (!pre) box("LayerNorm");
    arrow();
    text("x′");
  }

 private:
  float middle() const { return at_.y + skin_.px(24); }

  void text(const char* label) {
    const ImVec2 extent = text_size(skin_.fonts.ui, label);
    paint_.text(skin_.fonts.ui, {at_.x, middle() - extent.y / 2}, ink_, label);
    at_.x += extent.x;
  }

  void arrow() {
    const float from = at_.x + skin_.px(4);
    const float to = at_.x + skin_.px(20);
    const float head = skin_.px(3);
    paint_.line({from, middle()}, {to, middle()}, ink_, skin_.px(1));
    paint_.line({to, middle()}, {to - head, middle() - head}, ink_, skin_.px(1));
    paint_.line({to, middle()}, {to - head, middle() + head}, ink_, skin_.px(1));
    at_.x = to + skin_.px(4);
  }

  void box(const char* label) {
    const ImVec2 extent = text_size(skin_.fonts.ui, label);
    const ImVec2 low{at_.x, middle() - extent.y / 2 - skin_.px(3)};
    const ImVec2 high{at_.x + extent.x + skin_.px(12), middle() + extent.y / 2 + skin_.px(3)};
    paint_.rect(low, high, ink_, skin_.px(3));
    paint_.text(skin_.fonts.ui, {low.x + skin_.px(6), middle() - extent.y / 2}, ink_, label);
    at_.x = high.x;
  }

  void skip(float from, float to) {
    const float top = at_.y + skin_.px(6);
    const float line = skin_.px(1);
    paint_.line({from + skin_.px(7), middle()}, {from + skin_.px(7), top}, ink_, line);
    paint_.line({from + skin_.px(7), top}, {to, top}, ink_, line);
    paint_.line({to, top}, {to, middle() - skin_.px(7)}, ink_, line);
  }

  const Skin& skin_;
  Painter paint_;
  ImVec2 at_;
  Color32 ink_;
};

void draw_one(const NormText& text, bool own, ImVec2 at, ImVec2 size, const Skin& skin) {
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
  help_tooltip(std::string(text.help) + (own ? "\nThis model is built so." : "\nNot this model."), skin);
  Painter paint(skin);
  const Color32 dim = faded(skin.theme.text_dim, 0.55F);
  paint.text(skin.fonts.small, at, own ? skin.theme.accent : dim, text.title);
  Diagram({at.x, at.y + font_size(skin.fonts.small)}, skin, own ? skin.theme.text : dim).draw(text.pre);
}

}  // namespace

float norm_diagram_height(const Skin& skin) {
  return font_size(skin.fonts.small) + skin.px(40);
}

void draw_norm_diagram(bool pre_norm, float width, const Skin& skin) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const bool both = width >= skin.px(2 * least_width);
  ImVec2 at = origin;
  for (const NormText& text : norm_texts) {
    const bool own = text.pre == pre_norm;
    if (!own && !both) continue;
    draw_one(text, own, at, {both ? width / 2 : width, norm_diagram_height(skin)}, skin);
    at.x += width / 2;
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({width, norm_diagram_height(skin)});
}

}  // namespace attnscope
