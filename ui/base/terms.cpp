#include "base/terms.h"

#include <algorithm>
#include <array>

namespace attnscope {
namespace {

constexpr std::string_view paper = "Vaswani et al. 2017, arXiv 1706.03762";

constexpr std::array terms = {
    Term{"ablation",
         "A part is taken out, or its mean put in its place, to see what was its doing. What the model loses without "
         "it was not made up for by others.",
         "", "Michel et al. 2019, arXiv 1905.10650", "circuit-importance"},
    Term{"accumulation",
         "Gradients of several batches are summed before one update: a larger batch than fits the memory at once.",
         "g = Σ ∂L_b / ∂w", "", "training.accumulation_steps"},
    Term{"activation function", "The bend between two linear maps. Without it two maps in a row would be one.",
         "ReLU(x) = max(0, x)", paper, "model.activation"},
    Term{"Adam",
         "The optimizer: every weight gets steps of its own size, by the mean of its gradients and of their squares.",
         "w ← w − η m / (√v + ε)", "Kingma & Ba 2014, arXiv 1412.6980", "training.optimizer"},
    Term{"additive attention",
         "The attention of recurrent networks: the decoder's state is compared with every state of the encoder by a "
         "small network.",
         "e_j = vᵀ tanh(W s + U h_j)", "Bahdanau et al. 2014, arXiv 1409.0473", "state-attention"},
    Term{"ALiBi",
         "The order told without vectors: every head takes from its scores its slope times the distance, so that what "
         "is near counts more.",
         "q·k / √d_k − m |i − j|", "Press et al. 2021, arXiv 2108.12409", "model.positions"},
    Term{"alignment", "Which words of the source a written word was taken from, read off the decoder's attention.", "",
         "Bahdanau et al. 2014, arXiv 1409.0473", "steps"},
    Term{"analogy",
         "Man is to king as woman is to what? The answer is looked for near b − a + c, because like differences became "
         "like directions.",
         "argmax cos(v, b − a + c)", "Mikolov et al. 2013, arXiv 1301.3781", "map"},
    Term{"architecture",
         "What the model is built of and how the parts are joined: encoder and decoder, the decoder alone, a recurrent "
         "network, or a classifier.",
         "", paper, "architecture"},
    Term{"attention",
         "Every token asks all others for what it needs: the better their keys match its query, the more of "
         "their values it takes. The weights of one query sum to 1.",
         "softmax(q·Kᵀ / √d) V", paper, "glance"},
    Term{"attention head",
         "One of several attentions side by side, each with its own W_Q, W_K and W_V of d = D / H "
         "dimensions. What they bring is put together by W_O.",
         "head = softmax(QKᵀ / √d) V,  output = [head₁ … head_H] W_O", paper, "attention"},
    Term{"attention rollout",
         "How much of every input reaches a place through all layers, when each passes on half by itself and half by "
         "its attention.",
         "∏ (½ W + ½ I)", "Abnar & Zuidema 2020, arXiv 2005.00928", "head"},
    Term{"attribution",
         "What an output comes from: how much of it each part of the model brings, and each piece that was read.", "",
         "Sundararajan et al. 2017, arXiv 1703.01365", "circuit-attribution"},
    Term{"backpropagation through time",
         "How a recurrent network learns: the gradient goes back step by step through all states, and fades or "
         "explodes on the way.",
         "∂L/∂h_t = (∂h_{t+1}/∂h_t)ᵀ ∂L/∂h_{t+1}", "Hochreiter & Schmidhuber 1997", "through-time"},
    Term{"bag of words",
         "The words of a sentence without their order: all that attention sees when nothing tells it the positions.",
         "", paper, "shuffled"},
    Term{"batch", "Sentences that are trained on together. Shorter ones are filled up with padding, which is masked.",
         "", "", "batch"},
    Term{"beam search",
         "Instead of the best next token alone, the best few beginnings are kept at every step, and the "
         "best whole sentence among them is taken.",
         "score = log P(y | x) / ((5 + |y|) / 6)^α", "Wu et al. 2016, arXiv 1609.08144", "tree"},
    Term{"bias", "A learned number that is added to the result of a linear map, whatever comes in.", "x W + b", "",
         "model.biases"},
    Term{"BLEU",
         "How much a translation has in common with a reference: the geometric mean of the shares of its runs of 1 "
         "to 4 words that stand in the reference, with a penalty for being too short.",
         "BP · exp(¼ Σ log p_n)", "Papineni et al. 2002", ""},
    Term{"bottleneck",
         "Without attention all that the decoder knows of the source is one vector, however long the sentence is.", "",
         "Sutskever et al. 2014, arXiv 1409.3215", "bottleneck"},
    Term{"checkpoint", "The weights as they were at one step, saved as files: training can go on from there.", "", "",
         "training.checkpoint_interval"},
    Term{"circuit",
         "The few heads and networks by which one answer is made: which word reads which, layer after layer.", "",
         "Wang et al. 2022, arXiv 2211.00593", "circuit-picture"},
    Term{"classifier", "A model that names one label for a whole text instead of writing.", "softmax(W h + b)", "",
         "classes"},
    Term{"complexity",
         "How the work grows with the length n of a text: attention with n², a recurrent layer with n, but one step "
         "after another.",
         "n² d against n d²", paper, "cost"},
    Term{"context",
         "What the model can look at: the pieces read and written so far, at most as many as its longest sentence.", "",
         "", "model.max_length"},
    Term{"contextual vector",
         "The vector of a word after some layers: it depends on the whole sentence, so that one word has different "
         "vectors for its senses.",
         "", "Peters et al. 2018, arXiv 1802.05365", "senses"},
    Term{"corpus",
         "The texts that are learned from: pairs of a sentence and its translation, running text, or texts with a "
         "label.",
         "", "", "corpus.source"},
    Term{"cosine", "How alike two vectors point: 1 the same way, 0 across, −1 opposite.", "x·y / (‖x‖ ‖y‖)", "", "map"},
    Term{"cross-attention",
         "The decoder's look at the source: its queries come from what was written so far, keys and "
         "values from the encoder.",
         "softmax(QKᵀ / √d) V with K, V of the encoder's output", paper, "attention"},
    Term{"cross-entropy", "The loss that is trained on: the surprise at the right token, averaged.", "−Σ target · ln p",
         "", ""},
    Term{"decoder",
         "Writes the output token by token. It sees what it has written so far and, in a translator, the "
         "encoder's output.",
         "", paper, "architecture"},
    Term{
        "decoding",
        "Writing: the decoder gives probabilities for the next token, one is chosen, and it is read as the next input.",
        "", paper, "steps"},
    Term{"device", "Where the model computes: the processor, or a graphics card by CUDA.", "", "", "training.device"},
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
    Term{"gate", "Numbers from 0 to 1 that decide what of a state is kept and what is written anew (LSTM, GRU).",
         "c = f ⊙ c₋₁ + i ⊙ g", "Hochreiter & Schmidhuber 1997; Cho et al. 2014, arXiv 1406.1078", "cell"},
    Term{"gradient", "How the loss changes with every weight: training goes a step against it.", "∂L / ∂w", "",
         "tensors"},
    Term{"gradient clipping",
         "A gradient longer than a limit is scaled down to it, so that one strange batch does no harm.",
         "g · min(1, c / ‖g‖)", "Pascanu et al. 2012, arXiv 1211.5063", "training.clip_norm"},
    Term{"greedy decoding", "Always the most probable next token.", "y_t = argmax p(· | y_<t, x)", "", "steps"},
    Term{"held-out data",
         "Sentences that are put aside: the validation part is looked at while training, the test part at the end. No "
         "weight is learned from them.",
         "", "", "corpus.held_out"},
    Term{"initialization",
         "The random numbers that the weights begin with; how large they are decides whether gradients pass.", "",
         "Glorot & Bengio 2010", "model.initialization"},
    Term{"intervention",
         "A change made in the model while it is looked at: a head switched off, a weight put elsewhere, a "
         "word replaced. What changes downstream shows what the part was for.",
         "", "", "attention"},
    Term{"kernel regression",
         "The mean of what is known, weighted by nearness: attention with distances in place of learned queries and "
         "keys.",
         "ŷ(x) = Σ K((x − x_i)/h) y_i / Σ K", "Nadaraya 1964; Watson 1964", "kernels"},
    Term{"key", "What a token offers to be found by: its vector times W_K, compared with every query.", "k = x W_K",
         paper, "inside"},
    Term{"label smoothing",
         "The target is not one token with certainty but mostly that one and a little of every other; "
         "the model becomes less sure and often better.",
         "(1 − ε) on the right token, ε / V on each", "Szegedy et al. 2015, arXiv 1512.00567", "batch"},
    Term{"language model",
         "Goes on with a text: a decoder alone, which predicts every next token from those before it.", "p(x_t | x_<t)",
         "", "model.architecture"},
    Term{"layer norm",
         "Every token's vector is shifted to mean 0 and scaled to variance 1 over its dimensions, then "
         "stretched and shifted by what was learned.",
         "γ (x − μ) / √(σ² + ε) + β", "Ba et al. 2016, arXiv 1607.06450", "sublayers"},
    Term{"learning rate",
         "How far the weights go along the gradient in one update. Noam's schedule rises while it warms up "
         "and falls with the root of the steps.",
         "D^−½ · min(step^−½, step · warmup^−1.5)", paper, ""},
    Term{"length penalty",
         "Long outputs have many factors below 1. Beam search divides the log-probability by a power of the length, so "
         "that short ones do not always win.",
         "((5 + |y|) / 6)^α", "Wu et al. 2016, arXiv 1609.08144", "tree"},
    Term{"log-probability",
         "The logarithm of a probability: those of a sentence's tokens add up where the probabilities multiply. "
         "Written Σ ln p or Σ log p.",
         "ln p(y) = Σ ln p(y_t | y_<t)", "", "readings"},
    Term{"logit", "The score of a token before the softmax makes probabilities of all scores.", "h · Eᵀ", "", "steps"},
    Term{"logit lens", "What a middle layer would already write: its vector goes straight through the output layer.",
         "softmax(Norm(h_l) Eᵀ)", "nostalgebraist 2020", "steps"},
    Term{"look-ahead mask",
         "Hides from every query the tokens after it: they have not been written yet. Without it a model "
         "learns to copy the answer.",
         "scores of keys after the query are −∞", paper, "inside"},
    Term{"loss", "How surprised the model is by the right tokens, on average; training makes it smaller.",
         "−Σ target · log p, in nats a token", "", ""},
    Term{"nat", "The unit of surprise with the natural logarithm: 0.69 nats are one bit.", "1 nat = 1 / ln 2 bit", "",
         ""},
    Term{"one-hot vector",
         "A vector with a single 1, which says which token it is and nothing else: all are equally far apart.",
         "‖x − y‖ = √2", "", "one-hot"},
    Term{"padding", "What fills the shorter rows of a batch. Masks keep it from being looked at, and it has no loss.",
         "", "", "batch"},
    Term{"patching",
         "A value of one run is put into another run. If the answer follows, the value carries what makes the "
         "difference.",
         "", "Meng et al. 2022, arXiv 2202.05262; arXiv 2404.15255", "circuit-place"},
    Term{"perplexity", "Among how many equally likely tokens the model hesitates, on average.", "exp(loss)", "", ""},
    Term{"pooling", "Many vectors become one: their sum with learned weights, their mean, the first or the last.",
         "h = Σ α_i h_i", "Yang et al. 2016", "classes"},
    Term{"positional encoding",
         "Attention by itself knows no order. Vectors that differ from place to place are added to "
         "the embeddings, or the distance changes the scores.",
         "sin, cos(pos / 10000^(2i/D))", paper, "positions"},
    Term{"precision",
         "In how many digits the model computes while it trains. bfloat16 keeps the range of a float and 8 of its 24 "
         "significant bits; what is added up, and the weights, keep all.",
         "1 + 1/256 → 1", "Micikevicius et al. 2017, arXiv 1710.03740; Kalamkar et al. 2019, arXiv 1905.12322",
         "training.precision"},
    Term{"principal components",
         "The directions in which vectors differ most: the first two make a flat map of many dimensions.", "",
         "Pearson 1901", "map"},
    Term{"probability", "What the softmax makes of the logits: how likely the model holds each token to come next.",
         "exp(l_i) / Σ exp(l_j)", "", "steps"},
    Term{"query", "What a token looks for: its vector times W_Q, compared with every key.", "q = x W_Q", paper,
         "inside"},
    Term{"rank", "The place of a token when all are sorted by their probability: 1 is the most probable.", "", "",
         "steps"},
    Term{"recomputation",
         "Gradient checkpointing: the backward pass needs what every layer computed. Instead of keeping it, each layer "
         "keeps its input and is run again, which takes time and saves memory.",
         "", "Chen et al. 2016, arXiv 1604.06174", "training.recompute"},
    Term{"recurrent network",
         "Reads token by token and carries what it remembers in a state (RNN, LSTM, GRU). What came "
         "long ago fades.",
         "h_t = f(x_t, h_{t−1})", "Hochreiter & Schmidhuber 1997; Cho et al. 2014, arXiv 1406.1078", "architecture"},
    Term{"relative positions",
         "The order told by learned vectors, one for every distance, farther ones as the farthest: each key and each "
         "value gets that of its distance from the query. So a query may ask for what stands three words on.",
         "q_i · (k_j + a_{j−i}) / √d_k", "Shaw et al. 2018, arXiv 1803.02155", "positions"},
    Term{"residual connection",
         "What a sublayer makes is added to what went in, so that nothing is lost on the way and "
         "gradients find back.",
         "x + Sublayer(x)", "He et al. 2015, arXiv 1512.03385", "sublayers"},
    Term{"residual stream",
         "What runs past all sublayers from the embedding to the output: each adds to it, and what was added stays.",
         "x + Σ what the sublayers give", "Elhage et al. 2021", "circuit-score"},
    Term{"rotary positions (RoPE)",
         "Queries and keys are turned, pair by pair of dimensions, by an angle that grows with the position: only the "
         "distance is left in their product.",
         "q_m · k_n depends on m − n", "Su et al. 2021, arXiv 2104.09864", "turning"},
    Term{"run", "One training with all that belongs to it: configuration, weights, tokenizer and curves, as a folder.",
         "", "", ""},
    Term{"sampling", "The next token is drawn by chance, by its probability; a seed makes the same draws again.",
         "y_t ~ p(· | y_<t, x)", "", "readings"},
    Term{"scaled dot product",
         "The score of a query and a key: their product over √d_k. Without the division it grows with the width, and "
         "the softmax saturates.",
         "q·k / √d_k", paper, "scaling"},
    Term{"seed", "The number that all chance begins with: the same seed gives the same weights, batches and draws.", "",
         "", "training.seed"},
    Term{"self-attention", "Attention of a text to itself: queries, keys and values all come from the same tokens.",
         "softmax(QKᵀ / √d) V", paper, "glance"},
    Term{"separator", "What stands between source and target on a line of a file of pairs.", "", "",
         "corpus.separator"},
    Term{"sinusoids",
         "Waves of many lengths that mark the positions: fast ones tell neighbours apart, slow ones far places.",
         "sin, cos(pos / 10000^(2i/D))", paper, "wavelengths"},
    Term{"softmax", "Makes positive shares of any numbers that sum to 1; the largest get nearly all.",
         "exp(s_i) / Σ exp(s_j)", "", "inside"},
    Term{"special tokens",
         "Tokens that stand for no text: the start, the end of a sentence, padding, and what is unknown.",
         "<s> </s> <pad> <unk>", "", ""},
    Term{"step", "One update of the weights by the gradients of one batch. In decoding: one token that is written.", "",
         "", "training.steps"},
    Term{"symbols",
         "D is d_model, the width of every vector; H heads of width d_k = D / H; d_ff the inner width of a "
         "feed-forward network; V the number of tokens in the vocabulary; B sentences in a batch; S and T the lengths "
         "of source and target; L the loss; p a probability; w or α an attention weight; η a learning rate; ε a small "
         "number; σ a deviation; Σ a sum; ∂ a derivative.",
         "B×S×D = B · S rows of D numbers", paper, "architecture"},
    Term{"t-SNE", "A map on which neighbours stay neighbours; distances between far groups mean nothing.", "",
         "van der Maaten & Hinton 2008", "map"},
    Term{"teacher forcing",
         "While training the decoder reads the right beginning, not its own: every token is a lesson, "
         "and its own mistakes are never practised.",
         "p(y_t | y_<t of the reference, x)", "Williams & Zipser 1989", "forcing"},
    Term{"temperature", "Divides the logits before sampling: below 1 the model becomes surer, above 1 bolder.",
         "softmax(logits / T)", "", "readings"},
    Term{"thread", "One of the processor's workers; each takes a part of the batch.", "", "", "training.threads"},
    Term{"token", "A piece of text with a number: a word or a part of one. All the model sees are these numbers.", "",
         "", "attention"},
    Term{"tokenizer", "Cuts text into tokens; its pieces were found in the corpus. ▁ marks where a word begins.", "",
         "Sennrich et al. 2015, arXiv 1508.07909; Kudo & Richardson 2018, arXiv 1808.06226", ""},
    Term{"top-k", "Only the k most probable tokens can be drawn.", "", "Fan et al. 2018, arXiv 1805.04833", "readings"},
    Term{"top-p", "Only the fewest tokens that together are at least so probable can be drawn: the nucleus.", "",
         "Holtzman et al. 2019, arXiv 1904.09751", "readings"},
    Term{"validation",
         "A look at sentences that training does not learn from, to see whether the model learns rules or learns by "
         "heart.",
         "", "", "training.validation_interval"},
    Term{"value",
         "What a token gives to those who look at it: its vector times W_V, taken in proportion to the weight.",
         "v = x W_V", paper, "lookup"},
    Term{"vocabulary", "All tokens that the model knows, each with its number.", "V", "", "tokenizer.vocab_size"},
    Term{"warm-up", "The learning rate rises slowly at the beginning, until Adam has measured its gradients.",
         "η · step / warm-up", paper, "schedule"},
    Term{"weight", "A learned number of the model; or, of attention, the share of a query's look that a key gets.", "",
         "", "tensors"},
    Term{"weight decay", "All matrices shrink a little at every update, so that none grows without need.",
         "w ← w − η λ w", "Loshchilov & Hutter 2017, arXiv 1711.05101", "training.weight_decay"},
    Term{"weight tying",
         "One matrix serves as source embedding, target embedding and output: fewer weights, learned from more.", "",
         "Press & Wolf 2016, arXiv 1608.05859", "model.tied_embeddings"},
    Term{"width", "How many numbers every vector between the layers has: D or d_model.", "D", paper, "model.d_model"},
};

}  // namespace

std::span<const Term> glossary() {
  return terms;
}

const Term* find_term(std::string_view name) {
  const auto found = std::ranges::find(terms, name, &Term::name);
  return found == terms.end() ? nullptr : &*found;
}

}  // namespace attnscope
