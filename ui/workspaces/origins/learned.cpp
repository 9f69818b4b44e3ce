#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cmath>
#include <numeric>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

// A part of a formula; parts that changed since the previous step are highlighted.
struct FormulaPart {
  const char* text;
  bool is_new = false;
};

struct StepText {
  const char* title;
  const char* help;
  std::array<FormulaPart, 4> formula;
};

// Same order as PoolingStep.
constexpr std::array steps = {
    StepText{mark("1 kernel"),
             mark("The Gaussian kernel as a softmax over the keys, with a width set by hand: nothing is learned."),
             {{{mark("\u0177(x) = \u03A3\u1D62 softmax\u1D62( ")},
               {"\u2212((x \u2212 x\u1D62)/h)\u00B2/2"},
               {" ) y\u1D62"}}}},
    StepText{mark("2 learned width"),
             mark("The same with one parameter, w = 1/h, learned by gradient descent."),
             {{{mark("\u0177(x) = \u03A3\u1D62 softmax\u1D62( \u2212((x \u2212 x\u1D62) ")},
               {"w", true},
               {")\u00B2/2 ) y\u1D62"}}}},
    StepText{mark("3 learned q and k"),
             mark("The score becomes a product of two learned projections of \u03C6(x) = (1, z, z\u00B2), z = x/2.5 "
                  "\u2212 1, with d_k = 2. The kernel \u2212((z \u2212 z_i) w)\u00B2/2 is such a product, w\u00B2(z, "
                  "1)\u00B7(z_i, \u2212z_i\u00B2/2), up to a term that is the same for all keys and cancels in the "
                  "softmax. Learning starts at the kernel; width and center may then differ from query to query."),
             {{{mark("\u0177(x) = \u03A3\u1D62 softmax\u1D62( ")},
               {"q\u00B7k\u1D62/\u221Ad_k", true},
               {" ) y\u1D62"},
               {"   q = W_Q \u03C6(x), k\u1D62 = W_K \u03C6(x\u1D62)", true}}}},
    StepText{mark("4 several heads"),
             mark("Three such heads, each with its own projections, mixed by a learned W_O. They are initialized with "
                  "different widths."),
             {{{"\u0177(x) = "},
               {"\u03A3_h W_O,h ", true},
               {mark("\u03A3\u1D62 softmax\u1D62( q_h\u00B7k_h\u1D62/\u221Ad_k ) y\u1D62")}}}},
};
static_assert(steps.size() == static_cast<std::size_t>(PoolingStep::heads) + 1);

// Draws one line, clipped at the right.
void draw_formula(const StepText& step, bool chosen, const Skin& skin) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 size{std::max(1.0F, ImGui::GetContentRegionAvail().x), font_size(skin.fonts.ui) + skin.px(2)};
  ImGui::Dummy(size);
  help_tooltip(tr(step.help), skin);
  Painter paint(skin);
  paint.push_clip(origin, {origin.x + size.x, origin.y + size.y});
  float x = origin.x;
  for (const FormulaPart& part : step.formula) {
    if (!part.text) break;
    const Color32 plain = chosen ? skin.theme.text : skin.theme.text_dim;
    const Color32 color = part.is_new ? skin.theme.accent : plain;
    paint.text(skin.fonts.ui, {x, origin.y}, chosen ? color : faded(color, 0.75F), part.text);
    x += text_size(skin.fonts.ui, part.text).x;
  }
  paint.pop_clip();
}

void draw_steps(LearnedView& learned, const Skin& skin) {
  float widest = 0;
  for (const StepText& step : steps) widest = std::max(widest, button_width(tr(step.title)));
  const float left = ImGui::GetCursorPosX();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto step = static_cast<PoolingStep>(i);
    const bool chosen = learned.step == step;
    if (draw_choice(tr_label(steps[i].title), chosen, tr(steps[i].help), skin)) restart(learned, step);
    ImGui::SetCursorPosX(left + widest + skin.px(8));
    draw_formula(steps[i], chosen, skin);
  }
  ImGui::SetCursorPosX(left + widest + skin.px(8));
  draw_label(skin.fonts.bold, skin.theme.text, tr("all queries at once: softmax(QK\u1D40/\u221Ad_k) V"), skin);
  help_tooltip(tr("Paper \u00A73.2.1: one row of Q per query, one row of K per key, and a row of V for its value, here "
                  "one number y. The model's heads are the fourth step, with token vectors in place of \u03C6(x) and "
                  "values projected by W_V."),
               skin);
}

void draw_buttons(OriginsView& view, const Skin& skin) {
  LearnedView& learned = view.learned;
  const bool fixed = learned.step == PoolingStep::kernel;
  const bool few = view.points.known.size() < 2;
  const char* why_not =
      fixed ? tr("The first step has nothing to learn: you set its width.")
      : few ? tr("Learning needs at least two points, because each is predicted from the others. Add a point.")
            : nullptr;
  if (icon_button(learned.learning ? tr_label("Pause") : tr_label("Learn"), learned.learning ? Icon::pause : Icon::play,
                  skin.theme.success, !why_not,
                  why_not ? why_not
                          : tr("Gradient descent with Adam on the leave-one-out error, the mean of (y_i \u2212 the "
                               "estimate from the other points)\u00B2. With its own point included, each key would "
                               "learn to attend only to itself. Key: Enter."),
                  skin))
    learned.learning = !learned.learning;
  ImGui::SameLine(0, skin.px(6));
  if (icon_button(tr_label("Step"), Icon::step, skin.theme.text, !why_not,
                  why_not ? why_not : tr("One optimizer step. Key: End."), skin))
    learn(learned, view.points, 1);
  ImGui::SameLine(0, skin.px(6));
  if (icon_button(tr_label("Restart"), Icon::reset, skin.theme.text, true,
                  tr("Starts learning from scratch. Key: Home."), skin))
    restart(learned, learned.step);
  const SliderText width{fixed ? tr("width h") : tr("initial h"),
                         tr("The kernel width at which every stage is initialized.")};
  if (draw_slider(width, learned.first_width, 0.1, 5, "%.2f", true, skin)) restart(learned, learned.step);
  ImGui::BeginDisabled(fixed);
  draw_slider({tr("learning rate"), fixed ? tr("The first step has nothing to learn: you set its width.")
                                          : tr("The size of an optimizer step.")},
              learned.learning_rate, 1e-3, 0.2, "%.3f", true, skin);
  ImGui::EndDisabled();
  draw_point_controls(view.points, skin);
}

std::string vector_text(std::span<const double> numbers) {
  std::string text;
  for (const double number : numbers) text += fmt::format("{:>7}", number_text(number, 2));
  return text;
}

void draw_projection(const LearnedPooling& pooling, int head, bool of_keys, const Skin& skin) {
  const std::span<const double> all = projection(pooling, head, of_keys);
  for (int row = 0; row < pooling_width; ++row) {
    const auto numbers = all.subspan(static_cast<std::size_t>(row) * pooling_features, pooling_features);
    const char* name = row > 0 ? "   " : of_keys ? "W_K" : "W_Q";
    draw_label(skin.fonts.mono_small, skin.theme.text, name + vector_text(numbers), skin);
    help_tooltip(tr("One row per dimension of d_k = 2; the columns are the coefficients of 1, z and z\u00B2, z = x/2.5 "
                    "\u2212 1."),
                 skin);
  }
}

void draw_parameters(LearnedView& learned, const Skin& skin) {
  const LearnedPooling& pooling = learned.pooling;
  if (learned.step == PoolingStep::heads) {
    for (int head = 0; head < pooling_heads; ++head) {
      const std::string title = trf("head {}", head + 1);
      if (draw_choice(title.c_str(), learned.head == head,
                      tr("Shows this head's projections and weights. Keys: \u2191 and \u2193."), skin))
        learned.head = head;
    }
    end_choices();
  }
  const std::size_t count = pooling.parameters.size();
  draw_label(skin.fonts.small, skin.theme.text_dim,
             trf("{} learned parameter{}", count == 0 ? tr("no") : fmt::to_string(count), count == 1 ? "" : "s"), skin);
  if (learned.step == PoolingStep::width) {
    const double w = pooling.parameters.front();
    draw_label(skin.fonts.mono_small, skin.theme.text,
               trf("w = {}, width 1/w = {}", number_text(w, 3), number_text(1 / w, 3)), skin);
  }
  if (learned.step < PoolingStep::projections) return;
  draw_projection(pooling, learned.head, false, skin);
  draw_projection(pooling, learned.head, true, skin);
  if (learned.step == PoolingStep::heads)
    draw_label(skin.fonts.mono_small, skin.theme.text, "W_O" + vector_text(head_mix(pooling)), skin);
}

void draw_losses(LearnedView& learned, const Skin& skin) {
  draw_label(skin.fonts.small, skin.theme.text_dim,
             trf("{} steps, loss {}", learned.updates,
                 std::isfinite(learned.loss) ? number_text(learned.loss, 4) : tr("none: needs two points")),
             skin);
  draw_label(skin.fonts.small, skin.theme.series[2],
             tr("error on clean points ") +
                 (std::isfinite(learned.clean_error) ? number_text(learned.clean_error, 3) : tr("none")),
             skin);
  help_tooltip(tr("Mean over the queries of (estimate \u2212 (2 sin x + x))\u00B2. With many parameters the loss keeps "
                  "falling while this error grows: the noise is being fitted."),
               skin);
  const PlotLine line{.name = tr("loss"), .series = &learned.losses, .color = skin.theme.series[0]};
  draw_plot(
      "losses", {&line, 1}, {0, 0}, learned.losses_axis, learned.losses_plot,
      {.title = tr("Leave-one-out error"),
       .help = tr("Mean over the points of (y_i \u2212 the estimate from the other points)\u00B2, before each step."),
       .x_label = tr("step")},
      skin);
}

std::string weight_formula(const LearnedView& learned, double query, double key) {
  const LearnedPooling& pooling = learned.pooling;
  const std::string score = number_text(pooling_score(pooling, learned.head, query, key), 4);
  const std::string after = trf(" = {}, w = softmax over the keys", score);
  if (learned.step == PoolingStep::kernel) return "\u2212((x \u2212 x_i)/h)\u00B2/2" + after;
  if (learned.step == PoolingStep::width) return "\u2212((x \u2212 x_i) w)\u00B2/2" + after;
  const auto q = projected(pooling, learned.head, false, query), k = projected(pooling, learned.head, true, key);
  return fmt::format("({}, {})\u00B7({}, {})/\u221A2", number_text(q[0], 2), number_text(q[1], 2), number_text(k[0], 2),
                     number_text(k[1], 2)) +
         after;
}

void draw_learned_fit(OriginsView& view, TextureStore& textures, const Skin& skin) {
  const LearnedView& learned = view.learned;
  const std::array lines = {
      PlotLine{.name = tr("2 sin x + x"), .series = &learned.clean, .color = skin.theme.series[2]},
      PlotLine{.name = tr("estimate"), .series = &learned.estimate, .color = skin.theme.series[0]},
  };
  draw_pooling(view.points,
               {.lines = lines,
                .weights = learned.weights,
                .version = learned.version,
                .formula = [&](double query, double key) { return weight_formula(learned, query, key); }},
               textures, skin);
}

}  // namespace

void draw_learned(WorkspaceContext& context, OriginsView& view) {
  const Skin& skin = context.skin;
  LearnedView& learned = view.learned;
  draw_steps(learned, skin);
  draw_buttons(view, skin);
  if (learned.learning) learn(learned, view.points, updates_a_frame(learned, view.points));
  settle(learned, view.points);
  const auto parameters = [&] {
    draw_parameters(learned, skin);
    draw_losses(learned, skin);
  };
  draw_beside([&] { draw_learned_fit(view, context.textures, skin); }, parameters, skin);
}

}  // namespace attnscope
