#include "shell/glossary.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/input.h"
#include "base/translation.h"
#include "shell/actions.h"
#include "shell/scope.h"
#include "widgets/words.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

constexpr std::string_view paper = "Vaswani et al. 2017, arXiv 1706.03762";

constexpr std::array terms = {
    Term{"attention",
         "Every token asks all others for what it needs: the better their keys match its query, the more of "
         "their values it takes. The weights of one query sum to 1.",
         "softmax(q·Kᵀ / √d) V", paper, "glance"},
    Term{"attention head",
         "One of several attentions side by side, each with its own W_Q, W_K and W_V of d = D / H "
         "dimensions. What they bring is put together by W_O.",
         "head = softmax(QKᵀ / √d) V,  output = [head₁ … head_H] W_O", paper, "attention"},
    Term{"batch", "Sentences that are trained on together. Shorter ones are filled up with padding, which is masked.",
         "", "", "batch"},
    Term{"beam search",
         "Instead of the best next token alone, the best few beginnings are kept at every step, and the "
         "best whole sentence among them is taken.",
         "score = log P(y | x) / ((5 + |y|) / 6)^α", "Wu et al. 2016, arXiv 1609.08144", "tree"},
    Term{"BLEU",
         "How much a translation has in common with a reference: the geometric mean of the shares of its runs of 1 "
         "to 4 words that stand in the reference, with a penalty for being too short.",
         "BP · exp(¼ Σ log p_n)", "Papineni et al. 2002", ""},
    Term{"cross-attention",
         "The decoder's look at the source: its queries come from what was written so far, keys and "
         "values from the encoder.",
         "softmax(QKᵀ / √d) V with K, V of the encoder's output", paper, "attention"},
    Term{"decoder",
         "Writes the output token by token. It sees what it has written so far and, in a translator, the "
         "encoder's output.",
         "", paper, "architecture"},
    Term{"dropout",
         "While training, random numbers are set to zero and the others made larger, so that nothing relies on "
         "one of them alone.",
         "x · m / (1 − p) with m = 0 in a share p", "Srivastava et al. 2014", "batch"},
    Term{"embedding",
         "The vector of a token: a row of a table, learned like all else. What is used alike comes to lie "
         "near.",
         "x = E[id] · √D", paper, "map"},
    Term{"encoder", "Reads the whole source at once and gives every token a vector that knows its context.", "", paper,
         "architecture"},
    Term{"entropy",
         "How spread a distribution is: 0 when everything lies on one token, the logarithm of their number when "
         "all are alike.",
         "−Σ p ln p, in nats", "", "head"},
    Term{"feed-forward",
         "Two linear maps with a bend between them, the same for every token, which does not look at its "
         "neighbours here.",
         "max(0, x W₁ + b₁) W₂ + b₂", paper, "sublayers"},
    Term{"greedy decoding", "Always the most probable next token.", "y_t = argmax p(· | y_<t, x)", "", "steps"},
    Term{"intervention",
         "A change made in the model while it is looked at: a head switched off, a weight put elsewhere, a "
         "word replaced. What changes downstream shows what the part was for.",
         "", "", "attention"},
    Term{"key", "What a token offers to be found by: its vector times W_K, compared with every query.", "k = x W_K",
         paper, "inside"},
    Term{"label smoothing",
         "The target is not one token with certainty but mostly that one and a little of every other; "
         "the model becomes less sure and often better.",
         "(1 − ε) on the right token, ε / V on each", "Szegedy et al. 2015, arXiv 1512.00567", "batch"},
    Term{"layer norm",
         "Every token's vector is shifted to mean 0 and scaled to variance 1 over its dimensions, then "
         "stretched and shifted by what was learned.",
         "γ (x − μ) / √(σ² + ε) + β", "Ba et al. 2016, arXiv 1607.06450", "sublayers"},
    Term{"learning rate",
         "How far the weights go along the gradient in one update. Noam's schedule rises while it warms up "
         "and falls with the root of the steps.",
         "D^−½ · min(step^−½, step · warmup^−1.5)", paper, ""},
    Term{"logit", "The score of a token before the softmax makes probabilities of all scores.", "h · Eᵀ", "", "steps"},
    Term{"look-ahead mask",
         "Hides from every query the tokens after it: they have not been written yet. Without it a model "
         "learns to copy the answer.",
         "scores of keys after the query are −∞", paper, "inside"},
    Term{"loss", "How surprised the model is by the right tokens, on average; training makes it smaller.",
         "−Σ target · log p, in nats a token", "", ""},
    Term{"perplexity", "Among how many equally likely tokens the model hesitates, on average.", "exp(loss)", "", ""},
    Term{"positional encoding",
         "Attention by itself knows no order. Vectors that differ from place to place are added to "
         "the embeddings, or the distance changes the scores.",
         "sin, cos(pos / 10000^(2i/D))", paper, "positions"},
    Term{"probability", "What the softmax makes of the logits: how likely the model holds each token to come next.",
         "exp(l_i) / Σ exp(l_j)", "", "steps"},
    Term{"query", "What a token looks for: its vector times W_Q, compared with every key.", "q = x W_Q", paper,
         "inside"},
    Term{"recurrent network",
         "Reads token by token and carries what it remembers in a state (RNN, LSTM, GRU). What came "
         "long ago fades.",
         "h_t = f(x_t, h_{t−1})", "Hochreiter & Schmidhuber 1997; Cho et al. 2014, arXiv 1406.1078", "architecture"},
    Term{"residual connection",
         "What a sublayer makes is added to what went in, so that nothing is lost on the way and "
         "gradients find back.",
         "x + Sublayer(x)", "He et al. 2015, arXiv 1512.03385", "sublayers"},
    Term{"self-attention", "Attention of a text to itself: queries, keys and values all come from the same tokens.",
         "softmax(QKᵀ / √d) V", paper, "glance"},
    Term{"softmax", "Makes positive shares of any numbers that sum to 1; the largest get nearly all.",
         "exp(s_i) / Σ exp(s_j)", "", "inside"},
    Term{"teacher forcing",
         "While training the decoder reads the right beginning, not its own: every token is a lesson, "
         "and its own mistakes are never practised.",
         "p(y_t | y_<t of the reference, x)", "Williams & Zipser 1989", "forcing"},
    Term{"temperature", "Divides the logits before sampling: below 1 the model becomes surer, above 1 bolder.",
         "softmax(logits / T)", "", "readings"},
    Term{"token", "A piece of text with a number: a word or a part of one. All the model sees are these numbers.", "",
         "", "attention"},
    Term{"tokenizer", "Cuts text into tokens; its pieces were found in the corpus. ▁ marks where a word begins.", "",
         "Sennrich et al. 2015, arXiv 1508.07909; Kudo & Richardson 2018, arXiv 1808.06226", ""},
    Term{"value",
         "What a token gives to those who look at it: its vector times W_V, taken in proportion to the weight.",
         "v = x W_V", paper, "lookup"},
};

bool has(std::string_view text, std::string_view typed) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::ranges::search(text, typed, same).begin() != text.end() || typed.empty();
}

void draw_list(GlossaryView& view, float width, float height, const Skin& skin) {
  ImGui::BeginChild("terms", {width, height});
  ImGui::SetNextItemWidth(-1);
  ImGui::InputTextWithHint("##typed", tr("search"), &view.typed);
  ImGui::BeginChild("names", {0, 0});
  bool any = false;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!has(tr(terms[i].name), view.typed) && !has(tr(terms[i].meaning), view.typed)) continue;
    any = true;
    const std::string name(tr(terms[i].name));
    if (ImGui::Selectable(name.c_str(), view.chosen == static_cast<int>(i), ImGuiSelectableFlags_DontClosePopups))
      view.chosen = static_cast<int>(i);
  }
  if (!any) small_text(skin.theme.text_dim, tr("No term has that."), skin);
  ImGui::EndChild();
  ImGui::EndChild();
}

void show(Scope& scope, std::string_view name) {
  const Workspace* of_view = show_view(scope.views, name);
  show_workspace(scope, of_view ? *of_view : *find_workspace(name));
  scope.glossary.open = false;
}

void draw_term(Scope& scope, const Term& term, float height, const Skin& skin) {
  ImGui::BeginChild("term", {0, height});
  bold_text(tr(term.name), skin);
  ImGui::Spacing();
  wrapped_text(skin.theme.text, tr(term.meaning));
  if (!term.formula.empty()) {
    ImGui::Spacing();
    const WithFont mono(skin.fonts.mono);
    wrapped_text(skin.theme.accent, term.formula);
  }
  if (!term.source.empty()) {
    ImGui::Spacing();
    small_text(skin.theme.text_dim, term.source, skin);
  }
  ImGui::Spacing();
  if (!term.shown.empty() && ImGui::Button(tr_label("Show me"))) show(scope, term.shown);
  ImGui::EndChild();
}

}  // namespace

std::span<const Term> glossary() {
  return terms;
}

void open_glossary(Scope& scope, std::string_view name) {
  const auto found = std::ranges::find(terms, name, &Term::name);
  scope.glossary = {.open = true, .typed = {}, .chosen = static_cast<int>(found - terms.begin())};
}

void draw_glossary(Scope& scope, const Skin& skin) {
  const char* title = tr_label("Glossary");
  GlossaryView& view = scope.glossary;
  if (view.open && !ImGui::IsPopupOpen(title)) ImGui::OpenPopup(title);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const ImVec2 size{std::min(skin.px(640), viewport.WorkSize.x * 0.94F),
                    std::min(skin.px(420), viewport.WorkSize.y * 0.86F)};
  ImGui::SetNextWindowSize(size);
  ImGui::SetNextWindowPos(viewport.GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
  if (!ImGui::BeginPopupModal(title, &view.open, ImGuiWindowFlags_NoResize)) return;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float footer = ImGui::GetFrameHeightWithSpacing();
  draw_list(view, room.x * 0.36F, room.y - footer, skin);
  ImGui::SameLine(0, skin.px(16));
  draw_term(scope, terms[static_cast<std::size_t>(view.chosen)], room.y - footer, skin);
  if (ImGui::Button(tr_label("Close")) || key_pressed(Key::escape)) view.open = false;
  if (!view.open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace attnscope
