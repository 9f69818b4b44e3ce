#include "base/terms.h"

#include <algorithm>
#include <array>

namespace attnscope {
namespace {

constexpr std::string_view paper = "Vaswani et al. 2017, arXiv 1706.03762";

constexpr std::array terms = {
    Term{"ablation",
         "Removing a component, or replacing it by its mean, to measure what it contributes (zero ablation, mean "
         "ablation). Only what the other components cannot compensate for shows up in the result.",
         "", "Michel et al. 2019, arXiv 1905.10650", "circuit-importance"},
    Term{"accumulation",
         "Gradient accumulation: the gradients of several batches are summed before one optimizer step. It has the "
         "effect of a batch that would not fit into memory.",
         "g = Σ ∂L_b / ∂w", "", "training.accumulation_steps"},
    Term{"accuracy",
         "Share of answers that are right: of the labels of a classifier, or of tokens that follow from the context.",
         "right / all", "", ""},
    Term{"activation function",
         "The nonlinear function between two linear maps. Without it, two linear maps in a row would be equivalent to "
         "one.",
         "ReLU(x) = max(0, x)", paper, "model.activation"},
    Term{"Adam",
         "An optimizer that adapts the step size of every weight, using running averages of its gradients and of their "
         "squares.",
         "w ← w − η m / (√v + ε)", "Kingma & Ba 2014, arXiv 1412.6980", "training.optimizer"},
    Term{"additive attention",
         "Attention in recurrent networks: a small feed-forward network compares the decoder's state with every "
         "encoder state.",
         "e_j = vᵀ tanh(W s + U h_j)", "Bahdanau et al. 2014, arXiv 1409.0473", "state-attention"},
    Term{"ALiBi",
         "A positional encoding without position vectors: each head subtracts its own slope times the distance from "
         "its scores, so nearby tokens get more weight.",
         "q·k / √d_k − m |i − j|", "Press et al. 2021, arXiv 2108.12409", "model.positions"},
    Term{"alignment",
         "Which source words an output word corresponds to, estimated here from the decoder's cross-attention.", "",
         "Bahdanau et al. 2014, arXiv 1409.0473", "steps"},
    Term{"analogy",
         "“Man is to king as woman is to what?” The answer is the word whose vector is nearest to b − a + c; this "
         "works where similar relations have become similar directions.",
         "argmax cos(v, b − a + c)", "Mikolov et al. 2013, arXiv 1301.3781", "map"},
    Term{"architecture",
         "The components of a model and how they are connected: encoder-decoder, decoder-only, recurrent network or "
         "classifier.",
         "", paper, "architecture"},
    Term{"attention",
         "Each token compares its query with the keys of all tokens and takes a weighted average of their values. The "
         "better a key matches the query, the larger its weight; the weights of one query sum to 1.",
         "softmax(q·Kᵀ / √d) V", paper, "glance"},
    Term{"attention head",
         "One of several attention functions that run in parallel in a layer, each with its own W_Q, W_K and W_V of "
         "width d = D / H. W_O combines their outputs.",
         "head = softmax(QKᵀ / √d) V,  output = [head₁ … head_H] W_O", paper, "attention"},
    Term{"attention rollout",
         "An estimate of how much of each input reaches each position through all layers. It multiplies the attention "
         "matrices of the layers, each averaged with the identity for the residual connection.",
         "∏ (½ W + ½ I)", "Abnar & Zuidema 2020, arXiv 2005.00928", "head"},
    Term{"attribution", "How much each component of the model, or each input token, contributes to one output.", "",
         "Sundararajan et al. 2017, arXiv 1703.01365", "circuit-attribution"},
    Term{"backpropagation through time",
         "How a recurrent network is trained: the gradient flows backward through all states, one step at a time, and "
         "can vanish or explode on the way.",
         "∂L/∂h_t = (∂h_{t+1}/∂h_t)ᵀ ∂L/∂h_{t+1}", "Werbos 1990; Hochreiter & Schmidhuber 1997", "through-time"},
    Term{"bag of words",
         "The words of a sentence without their order. Attention sees no more than this if positions are not encoded.",
         "", paper, "shuffled"},
    Term{"batch",
         "Sentences that are processed together in one training step. Shorter ones are padded, and the padding is "
         "masked.",
         "", "", "batch"},
    Term{"beam search",
         "A decoding method that retains the best few partial outputs at every step, instead of only the best next "
         "token. The best complete output is returned.",
         "score = log P(y | x) / ((5 + |y|) / 6)^α", "Wu et al. 2016, arXiv 1609.08144", "tree"},
    Term{"bias", "A learned number that is added to the output of a linear map, independently of the input.", "x W + b",
         "", "model.biases"},
    Term{"BLEU",
         "A score of how similar a translation is to a reference. It is the geometric mean of the shares of its 1- to "
         "4-grams that occur in the reference, with a penalty for short outputs.",
         "BP · exp(¼ Σ log p_n)", "Papineni et al. 2002", ""},
    Term{"bottleneck",
         "Without attention, the decoder gets only one fixed-size vector from the encoder, however long the sentence "
         "is.",
         "", "Sutskever et al. 2014, arXiv 1409.3215", "bottleneck"},
    Term{"checkpoint", "The weights at one step, saved to files, from which training can continue.", "", "",
         "training.checkpoint_interval"},
    Term{"circuit",
         "The few attention heads and feed-forward networks that produce one answer, and how information moves between "
         "words from layer to layer.",
         "", "Wang et al. 2022, arXiv 2211.00593", "circuit-picture"},
    Term{"classifier", "A model that predicts one label for a whole text instead of generating text.",
         "softmax(W h + b)", "", "classes"},
    Term{"complexity",
         "How the amount of computation grows with the sequence length n: attention with n², a recurrent layer with n, "
         "but in n sequential steps.",
         "n² d against n d²", paper, "cost"},
    Term{"context",
         "The tokens that the model can use for its next prediction: the input and the output so far, up to the "
         "maximum sequence length.",
         "", "", "model.max_length"},
    Term{"contextual vector",
         "The vector of a word after one or more layers. It depends on the whole sentence, so a word with several "
         "senses has different vectors.",
         "", "Peters et al. 2018, arXiv 1802.05365", "senses"},
    Term{"corpus",
         "The texts used for training: pairs of a sentence and its translation, running text, or labeled texts.", "",
         "", "corpus.source"},
    Term{"cosine",
         "A similarity of two vectors by direction: 1 for the same direction, 0 for orthogonal vectors, −1 for "
         "opposite directions.",
         "x·y / (‖x‖ ‖y‖)", "", "map"},
    Term{"cross-attention",
         "The decoder attends to the source: queries come from the output so far, keys and values from the encoder.",
         "softmax(QKᵀ / √d) V with K, V of the encoder's output", paper, "attention"},
    Term{"cross-entropy",
         "The training loss: the negative log-probability of the correct token, averaged over all tokens.",
         "−Σ target · ln p", "", ""},
    Term{"decoder",
         "Generates the output token by token. It attends to its own output so far and, in a translation model, to the "
         "encoder's output.",
         "", paper, "architecture"},
    Term{"decoding",
         "Generating the output: the decoder predicts probabilities for the next token, one token is chosen, and it "
         "becomes the next input.",
         "", paper, "steps"},
    Term{"device", "The hardware that computes the model: the CPU, or a GPU with CUDA.", "", "", "training.device"},
    Term{"dropout",
         "Sets random activations to zero during training and scales up the others, so the model cannot rely on any "
         "single one.",
         "x · m / (1 − p), m = 0 with probability p", "Srivastava et al. 2014", "batch"},
    Term{"embedding",
         "The learned vector of a token, a row of the embedding matrix. Tokens that are used in similar ways get "
         "similar vectors.",
         "x = E[id] · √D", paper, "map"},
    Term{"encoder", "Processes the whole source at once and computes a contextual vector for every token.", "", paper,
         "architecture"},
    Term{"entropy",
         "How spread out a probability distribution is: 0 if all probability is on one token, the logarithm of the "
         "number of tokens if all are equally likely.",
         "−Σ p ln p, in nats", "", "head"},
    Term{"feed-forward",
         "Two linear maps with an activation function between them, applied to every token separately: tokens do not "
         "interact here.",
         "max(0, x W₁ + b₁) W₂ + b₂", paper, "sublayers"},
    Term{"gate",
         "Numbers from 0 to 1 that decide how much of a recurrent state is retained and how much is overwritten (LSTM, "
         "GRU).",
         "c = f ⊙ c₋₁ + i ⊙ g", "Hochreiter & Schmidhuber 1997; Gers et al. 2000; Cho et al. 2014, arXiv 1406.1078",
         "cell"},
    Term{"gradient",
         "How the loss changes with each weight. Each training step moves the weights in the opposite direction.",
         "∂L / ∂w", "", "tensors"},
    Term{"gradient clipping",
         "Scales a gradient down if its norm exceeds a limit, so that one unusual batch does no damage.",
         "g · min(1, c / ‖g‖)", "Pascanu et al. 2012, arXiv 1211.5063", "training.clip_norm"},
    Term{"greedy decoding", "Chooses the most probable token at every step.", "y_t = argmax p(· | y_<t, x)", "",
         "steps"},
    Term{"grokking",
         "Generalization long after memorization: held-out examples are predicted only after many further steps on "
         "training examples that have long been known by heart.",
         "", "Power et al. 2022, arXiv 2201.02177", "grokking"},
    Term{"held-out data",
         "Sentences that are not trained on. The validation part is evaluated during training, the test part at the "
         "end.",
         "", "", "corpus.held_out"},
    Term{"induction head",
         "A head that attends from a token to the one after its earlier occurrence, and so continues a repeated "
         "sequence. It reads the output of a previous-token head in an earlier layer.",
         "… A B … A → B", "Olsson et al. 2022, arXiv 2209.11895", "induction"},
    Term{"initialization",
         "The random values of the weights before training. Their scale decides whether gradients vanish or explode.",
         "", "Glorot & Bengio 2010", "model.initialization"},
    Term{"intervention",
         "A change to the forward pass: a head is ablated, an attention weight is forced, or a token is replaced. The "
         "change of the output shows what the component contributes.",
         "", "", "attention"},
    Term{"kernel regression",
         "A weighted average of known values, where nearer points get more weight. It is attention with distances "
         "instead of learned queries and keys.",
         "ŷ(x) = Σ K((x − x_i)/h) y_i / Σ K", "Nadaraya 1964; Watson 1964", "kernels"},
    Term{"key", "The vector by which a token is found: its input vector times W_K, compared with every query.",
         "k = x W_K", paper, "inside"},
    Term{"label smoothing",
         "Trains on a target that puts most probability on the correct token and a little on every other token. The "
         "model becomes less confident and often more accurate.",
         "(1 − ε) on the correct token, ε / V on every token", "Szegedy et al. 2015, arXiv 1512.00567", "batch"},
    Term{"language model",
         "A decoder-only model that continues a text: it predicts each token from the tokens before it.",
         "p(x_t | x_<t)", "", "model.architecture"},
    Term{"layer norm",
         "Normalizes the vector of each token to mean 0 and variance 1 over its dimensions, then applies a learned "
         "scale and shift.",
         "γ (x − μ) / √(σ² + ε) + β", "Ba et al. 2016, arXiv 1607.06450", "sublayers"},
    Term{"learning rate",
         "The size of one optimizer step. The Noam schedule increases it during the warm-up and then decreases it with "
         "the inverse square root of the step.",
         "D^−½ · min(step^−½, step · warmup^−1.5)", paper, ""},
    Term{"length penalty",
         "Longer outputs have lower probabilities, because every token multiplies by a factor below 1. Beam search "
         "divides the log-probability by a power of the length, so that short outputs do not always win.",
         "((5 + |y|) / 6)^α", "Wu et al. 2016, arXiv 1609.08144", "tree"},
    Term{"linear probe",
         "A linear classifier that reads a property, such as the sense of a word, off a token's vector. A control task "
         "with random labels shows what it merely memorizes.",
         "", "Hewitt & Liang 2019, arXiv 1909.03368", "probes"},
    Term{"log-probability",
         "The logarithm of a probability. The log-probabilities of a sentence's tokens add up where the probabilities "
         "would multiply. Also written ln p or log p.",
         "ln p(y) = Σ ln p(y_t | y_<t)", "", "readings"},
    Term{"logit", "The score of a token before the softmax, which turns the scores of all tokens into probabilities.",
         "h · Eᵀ", "", "steps"},
    Term{"logit lens",
         "The prediction of an intermediate layer, as if decoding stopped there: its vector is passed directly to the "
         "output layer.",
         "softmax(Norm(h_l) Eᵀ)", "nostalgebraist 2020", "steps"},
    Term{"look-ahead mask",
         "Hides from every query the tokens after it, which have not been generated yet (also: causal mask). Without "
         "it, the decoder would learn to copy the answer during training.",
         "scores of keys after the query are −∞", paper, "inside"},
    Term{"loss", "How surprised the model is by the correct tokens, on average. Training minimizes it.",
         "−Σ target · log p, in nats per token", "", ""},
    Term{"masked language model",
         "An encoder that predicts hidden tokens from the tokens on both sides. In training, 15 % of the tokens are "
         "hidden; it generates no text.",
         "p(x_i | x_1 … x_(i−1), x_(i+1) … x_n)", "Devlin et al. 2018, arXiv 1810.04805", "steps"},
    Term{"nat", "The unit of information with natural logarithms: 0.69 nats are one bit.", "1 nat = 1 / ln 2 bit", "",
         ""},
    Term{"nearest contexts",
         "The texts of the corpus in which a vector of the model (a state, a query, a key, a head's output) has the "
         "largest cosine with that of the chosen token. They show what the model treats as similar.",
         "cos(v, w) = v·w / (‖v‖ ‖w‖)", "Hoover et al. 2020, arXiv 1910.05276", "contexts"},
    Term{"neuron",
         "A hidden unit of a feed-forward sublayer: its input weights are a column of W₁, its output weights a row of "
         "W₂. Its activation says how strongly it responds to a token.",
         "a_i = f(x·W₁[:, i] + b₁[i])", "Geva et al. 2021, arXiv 2012.14913", "neurons"},
    Term{"one-hot vector",
         "A vector with a single 1 at the token's own index. It says nothing else about the token: all one-hot vectors "
         "are equally far apart.",
         "‖x − y‖ = √2", "", "one-hot"},
    Term{"padding",
         "Fills the shorter rows of a batch. Masks keep other tokens from attending to it, and it is not part of the "
         "loss.",
         "", "", "batch"},
    Term{"patching",
         "Activation patching: an activation from one forward pass is inserted into another. If the answer flips, this "
         "activation carries the information that distinguishes the two inputs.",
         "", "Meng et al. 2022, arXiv 2202.05262; arXiv 2404.15255", "circuit-place"},
    Term{"perplexity", "The number of equally likely tokens that would be as hard to predict, on average.",
         "exp(mean −ln p), without label smoothing", "", ""},
    Term{"pooling", "Combines many vectors into one: a sum with learned weights, their mean, the first or the last.",
         "h = Σ α_i h_i", "Yang et al. 2016", "classes"},
    Term{"positional encoding",
         "Attention does not depend on the order of its inputs. To encode positions, position vectors are added to the "
         "embeddings, or the scores are made to depend on the distance.",
         "sin, cos(pos / 10000^(2i/D))", paper, "positions"},
    Term{"precision",
         "The number format of training. bfloat16 has the range of float32 but only 8 of its 24 significant bits; sums "
         "and weights stay in float32.",
         "1 + 1/256 → 1", "Micikevicius et al. 2017, arXiv 1710.03740; Kalamkar et al. 2019, arXiv 1905.12322",
         "training.precision"},
    Term{"principal components",
         "The directions in which a set of vectors varies most. The first two give a two-dimensional map of vectors "
         "with many dimensions.",
         "", "Pearson 1901", "map"},
    Term{"probability",
         "How likely the model considers each token to be the next, computed by the softmax from the logits.",
         "exp(l_i) / Σ exp(l_j)", "", "steps"},
    Term{"query",
         "The vector that describes what a token searches for: its input vector times W_Q, compared with every key.",
         "q = x W_Q", paper, "inside"},
    Term{"rank", "The position of a token when all tokens are sorted by probability; 1 is the most probable.", "", "",
         "steps"},
    Term{"recomputation",
         "Gradient checkpointing: each layer stores only its input and is computed again in the backward pass. It "
         "takes more time and less memory.",
         "", "Chen et al. 2016, arXiv 1604.06174", "training.recompute"},
    Term{"recurrent network",
         "Processes a text token by token and carries information in a state (RNN, LSTM, GRU). Information from early "
         "tokens fades.",
         "h_t = f(x_t, h_{t−1})", "Hochreiter & Schmidhuber 1997; Cho et al. 2014, arXiv 1406.1078", "architecture"},
    Term{
        "relative positions",
        "A positional encoding with one learned vector per distance, clipped at a maximum. Each key and value gets the "
        "vector of its distance from the query, so a query can select, for example, the token three positions later.",
        "q_i · (k_j + a_{j−i}) / √d_k", "Shaw et al. 2018, arXiv 1803.02155", "positions"},
    Term{"residual connection",
         "Adds the output of a sublayer to its input, so that no information is lost and gradients can flow back.",
         "x + Sublayer(x)", "He et al. 2015, arXiv 1512.03385", "sublayers"},
    Term{"residual stream",
         "The vector of a token on its way from the embedding to the output layer. Every sublayer reads it and adds "
         "its output to it.",
         "x + Σ outputs of the sublayers", "Elhage et al. 2021", "circuit-score"},
    Term{"rotary embeddings (RoPE)",
         "Queries and keys are rotated, one pair of dimensions at a time, by an angle proportional to the position. "
         "Their dot product then depends only on the distance.",
         "q_m · k_n depends on m − n", "Su et al. 2021, arXiv 2104.09864", "turning"},
    Term{"run",
         "One training and everything that belongs to it, saved as a folder: configuration, weights, tokenizer and "
         "curves.",
         "", "", ""},
    Term{"sampling",
         "Draws the next token at random according to its probability. The same seed repeats the same draws.",
         "y_t ~ p(· | y_<t, x)", "", "readings"},
    Term{"scaled dot product",
         "The attention score of a query and a key: their dot product divided by √d_k. Without the division it grows "
         "with the width, and the softmax saturates.",
         "q·k / √d_k", paper, "scaling"},
    Term{"seed",
         "The starting value of the random number generator: the same seed gives the same initial weights, batches and "
         "samples.",
         "", "", "training.seed"},
    Term{"self-attention", "Attention within one sequence: queries, keys and values all come from the same tokens.",
         "softmax(QKᵀ / √d) V", paper, "glance"},
    Term{"separator", "The text between source and target on each line of a file of pairs.", "", "",
         "corpus.separator"},
    Term{"sinusoids",
         "Sine and cosine waves of many wavelengths that encode positions. Short wavelengths distinguish neighboring "
         "positions, long ones distant positions.",
         "sin, cos(pos / 10000^(2i/D))", paper, "wavelengths"},
    Term{"softmax", "Turns any numbers into positive ones that sum to 1; the largest get most of the total.",
         "exp(s_i) / Σ exp(s_j)", "", "inside"},
    Term{"sparse autoencoder",
         "Explains a vector as the sum of a few directions (features) out of many, which are learned. Neurons often "
         "respond to several things; features are meant to respond to one.",
         "x ≈ Σ z_i w_i + b, few z_i > 0", "Bricken et al. 2023; Gao et al. 2024, arXiv 2406.04093", "neurons"},
    Term{"special tokens", "Tokens that do not represent text: start and end of a sentence, padding, and unknown text.",
         "<s> </s> <pad> <unk>", "", ""},
    Term{"steering",
         "Adds a multiple of a direction to the vectors of all tokens after a layer, for example the difference of two "
         "words, and shows how the output changes.",
         "x + c (h₊ − h₋)", "Turner et al. 2023, arXiv 2308.10248", "head"},
    Term{"step",
         "Training: one update of the weights by the optimizer, from the gradients of one batch. Decoding: one "
         "generated token.",
         "", "", "training.steps"},
    Term{"superposition",
         "A layer represents more features than it has dimensions, as directions that are not at right angles. The "
         "features interfere, which costs little if few of them are active at once.",
         "x\u2032 = ReLU(W\u1D40W x + b)", "Elhage et al. 2022, arXiv 2209.10652", "superposition"},
    Term{"symbols",
         "D is d_model, the width of every vector between layers; H the number of heads, each of width d_k = D / H; "
         "d_ff the inner width of a feed-forward network; V the vocabulary size; B the number of sentences in a batch; "
         "S and T the lengths of source and target; L the loss; p a probability; w or α an attention weight; η the "
         "learning rate; ε a small number; σ a standard deviation; Σ a sum; ∂ a derivative.",
         "B×S×D = B · S rows of D numbers", paper, "architecture"},
    Term{"t-SNE",
         "A two-dimensional map that keeps neighbors together. Distances between separate groups are not meaningful.",
         "", "van der Maaten & Hinton 2008", "map"},
    Term{"teacher forcing",
         "During training the decoder is fed the reference tokens instead of its own output. This trains all positions "
         "in parallel, but the model never learns to recover from its own mistakes.",
         "p(y_t | y_<t of the reference, x)", "Williams & Zipser 1989", "forcing"},
    Term{"temperature",
         "Divides the logits before sampling: values below 1 make the output more predictable, values above 1 more "
         "varied.",
         "softmax(logits / T)", "", "readings"},
    Term{"thread", "One of the parallel workers on the CPU; each computes a part of the batch.", "", "",
         "training.threads"},
    Term{"token",
         "The unit that the model processes: a word or a part of a word, represented by its number in the vocabulary.",
         "", "", "attention"},
    Term{"tokenizer",
         "Splits a text into tokens. SentencePiece learns its pieces from the corpus; ▁ marks the start of a word.", "",
         "Sennrich et al. 2015, arXiv 1508.07909; Kudo & Richardson 2018, arXiv 1808.06226", ""},
    Term{"top-k", "Sampling only from the k most probable tokens.", "", "Fan et al. 2018, arXiv 1805.04833",
         "readings"},
    Term{"top-p",
         "Nucleus sampling: sampling only from the smallest set of tokens whose probabilities sum to at least p.", "",
         "Holtzman et al. 2019, arXiv 1904.09751", "readings"},
    Term{
        "validation",
        "An evaluation on sentences that are not trained on. It shows whether the model generalizes or only memorizes.",
        "", "", "training.validation_interval"},
    Term{"value",
         "The vector that a token passes on to the tokens attending to it: its input vector times W_V, scaled by the "
         "attention weight.",
         "v = x W_V", paper, "lookup"},
    Term{"vocabulary", "All tokens that the model knows, each with its number (token id).", "V", "",
         "tokenizer.vocab_size"},
    Term{"warm-up",
         "The first steps of training, in which the learning rate increases slowly while Adam estimates the gradients' "
         "scale.",
         "η · step / warm-up", paper, "schedule"},
    Term{"weight",
         "A learned parameter of the model. In attention, a weight is the share of one query's attention that a key "
         "receives.",
         "", "", "tensors"},
    Term{"weight decay",
         "Shrinks all matrices a little at every step, so that weights stay small unless the loss needs them.",
         "w ← w − η λ w", "Loshchilov & Hutter 2017, arXiv 1711.05101", "training.weight_decay"},
    Term{"weight tying",
         "One matrix is used as source embedding, target embedding and output matrix. There are fewer weights, and "
         "each is trained on more data.",
         "", "Press & Wolf 2016, arXiv 1608.05859", "model.tied_embeddings"},
    Term{"width", "The number of dimensions of every vector between layers, D or d_model.", "D", paper,
         "model.d_model"},
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
