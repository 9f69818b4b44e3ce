// The report command: what is known about a run, or about two, on one page with the sample size of every number.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>
#include <system_error>

#include "analysis/curves.h"
#include "analysis/head_scores.h"
#include "commands/commands.h"
#include "commands/paths.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "common/programs.h"
#include "compute/circuit_json.h"
#include "compute/opening.h"
#include "config/comparison.h"
#include "engine/torch_engine.h"
#include "files/storage/file.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_examples = 8, most_words = 6, most_near = 5;
constexpr int curve_width = 720, curve_height = 200, curve_columns = 360;
constexpr std::uint64_t most_style_bytes = 1 << 16;

// ---- HTML

std::string escaped(std::string_view text) {
  std::string html;
  for (const char letter : text) {
    const char* entity = letter == '<' ? "&lt;" : letter == '>' ? "&gt;" : letter == '&' ? "&amp;" : nullptr;
    entity ? html += entity : html += letter;
  }
  return html;
}

using Row = std::vector<std::string>;

class Html {
 public:
  void element(std::string_view name, std::string_view text) {
    html_ += fmt::format("<{0}>{1}</{0}>\n", name, escaped(text));
  }
  void raw(std::string_view html) { html_ += html; }
  void table(const Row& header, const std::vector<Row>& rows) {
    html_ += "<table>\n";
    row("th", header);
    for (const Row& cells : rows) row("td", cells);
    html_ += "</table>\n";
  }
  const std::string& text() const { return html_; }

 private:
  void row(std::string_view cell, const Row& texts) {
    html_ += "<tr>";
    for (const std::string& text : texts) html_ += fmt::format("<{0}>{1}</{0}>", cell, escaped(text));
    html_ += "</tr>\n";
  }
  std::string html_;
};

// ---- the runs

struct ReportRun {
  std::string name, folder;
  TorchEngine engine;
  RunOpened opened;
};
using Runs = std::vector<std::unique_ptr<ReportRun>>;

Row header_of(const Runs& runs, std::string first) {
  Row header = {std::move(first)};
  for (const auto& run : runs) header.push_back(run->name);
  return header;
}

template <typename Answer>
Answer answer_of(ReportRun& run, StudyQuestion question, ProgressLine& line, const char* what) {
  StudyResult result =
      run.engine.study({.question = std::move(question)}, [&](double fraction) { line.show(what, fraction); });
  return std::get<Answer>(std::move(result.answer));
}

// ---- sections

void add_settings(Html& page, const Runs& runs) {
  const Config defaults;
  std::vector<Row> rows;
  for (const ConfigField& field : config_fields()) {
    const std::string usual = field_text(defaults, field);
    Row row = {std::string(field.key)};
    bool changed = false;
    for (const auto& run : runs) {
      const Config& config = run->opened.config;
      row.push_back(is_used(config, field) ? field_text(config, field) : "–");
      changed = changed || (is_used(config, field) && row.back() != usual);
    }
    row.push_back(usual);
    if (changed) rows.push_back(std::move(row));
  }
  Row header = header_of(runs, "Setting");
  header.emplace_back("Default");
  page.element("p", rows.empty() ? "Every setting has its default." : "Changed by hand, or by a preset:");
  if (!rows.empty()) page.table(header, rows);
}

void add_data(Html& page, const Runs& runs) {
  std::vector<Row> rows = {{"Step"},          {"Parameters"},           {"Vocabulary"},
                           {"Corpus"},        {"Corpus hash (FNV-1a)"}, {"Seed of the split"},
                           {"Training part"}, {"Validation part"},      {"Test part"},
                           {"Skipped lines"}};
  for (const auto& run : runs) {
    const CorpusRecord record = load_corpus_record(RunFolder{run->folder}.corpus());
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    const Row column = {number(run->opened.step),
                        number(run->opened.num_parameters),
                        number(run->opened.vocab_size),
                        record.name,
                        record.hash,
                        number(record.seed),
                        number(record.train),
                        number(record.validation),
                        number(record.test),
                        number(record.skipped)};
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(column[i]);
  }
  page.table(header_of(runs, "Run"), rows);
}

std::string polyline(const Series& points, double last, double high, const char* kind) {
  std::string text;
  for (std::size_t i = 0; i < points.x.size(); ++i)
    if (std::isfinite(points.y[i]))
      text += fmt::format("{:.1f},{:.1f} ", points.x[i] / last * curve_width, curve_height * (1 - points.y[i] / high));
  return fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", kind, text);
}

void add_curves(Html& page, const Runs& runs) {
  double last = 1, high = 1e-9;
  std::vector<Curves> curves(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const MetricPoint& point : runs[i]->opened.metrics) {
      curves[i].append(point);
      last = std::max(last, static_cast<double>(point.step));
      if (const auto loss = point[metric("loss")]; loss && std::isfinite(*loss)) high = std::max(high, *loss);
    }
  std::string svg = fmt::format("<figure><svg viewBox=\"-2 -4 {} {}\">\n", curve_width + 4, curve_height + 8);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& [key, name] : {std::pair{metric("loss"), "training"}, {metric("validation_nll"), "validation"}}) {
      const Series& points = curves[i][key].points();
      if (points.x.empty()) continue;
      svg += polyline(thinned(points, 0, last, curve_columns), last, high, fmt::format("{}{}", name, i).c_str());
      rows.push_back({runs[i]->name, name, fmt::format("{:.4f}", points.y.back()),
                      fmt::format("{:.0f}", points.x.back()), std::to_string(points.x.size())});
    }
  if (rows.empty()) throw std::runtime_error("no metrics were recorded");
  page.raw(svg + "</svg></figure>\n");
  page.element("p",
               fmt::format("Loss in nats per token, from 0 to {:.3f}, over {:.0f} steps. Training (thin): with label "
                           "smoothing and dropout. Validation (thick): without.",
                           high, last));
  page.table({"Run", "Loss", "Last value", "At step", "Points"}, rows);
}

Row evaluation_row(ReportRun& run, ProgressLine& line) {
  const StudyResult result = run.engine.study({.question = HeldOutStudy{}},
                                              [&](double fraction) { line.show("Evaluating", fraction); });
  if (const auto* text = std::get_if<TextEvaluation>(&result.answer))
    return {run.name, fmt::format("{} characters", text->characters), fmt::format("{:.4f}", text->nll.per_token()),
            fmt::format("{:.3f} bits per character", text->bits_per_character())};
  const auto& of_pairs = std::get<Evaluation>(result.answer);
  const double pairs = static_cast<double>(std::max<std::int64_t>(1, of_pairs.pairs));
  return {run.name, fmt::format("{} pairs, {} tokens", of_pairs.pairs, of_pairs.nll.tokens),
          fmt::format("{:.4f}", of_pairs.nll.per_token()),
          run.opened.config.model.is_classifier()
              ? fmt::format("accuracy {:.2f} %", 100 * of_pairs.confusion.accuracy())
              : fmt::format("BLEU {:.2f}, exact match {:.2f} %", of_pairs.bleu,
                            100 * static_cast<double>(of_pairs.exact) / pairs)};
}

void add_evaluation(Html& page, const Runs& runs, ProgressLine& line) {
  std::vector<Row> rows;
  for (const auto& run : runs) rows.push_back(evaluation_row(*run, line));
  page.element("p", "On the test part, with greedy decoding.");
  page.table({"Run", "Sample", "Nats per token", "Scores"}, rows);
}

void add_examples(Html& page, const Runs& runs) {
  const std::vector<Example>& examples = runs.front()->opened.examples;
  if (examples.empty()) throw std::runtime_error("the corpus is not available");
  Row header = header_of(runs, "Source");
  header.insert(header.begin() + 1, "Reference");
  std::vector<Row> rows;
  for (std::size_t i = 0; i < std::min(most_examples, examples.size()); ++i) {
    Row& row = rows.emplace_back(Row{examples[i].source, examples[i].target});
    for (const auto& run : runs) row.push_back(forward_pass(run->engine, examples[i].source)->output_text);
  }
  page.table(header, rows);
}

void add_heads(Html& page, ReportRun& run, ProgressLine& line) {
  std::vector<std::shared_ptr<const Snapshot>> passes;
  std::vector<const Snapshot*> sentences;
  for (const Example& example : run.opened.examples)
    sentences.push_back(passes.emplace_back(forward_pass(run.engine, example.source)).get());
  const std::vector<HeadScores> scores = head_scores(sentences);
  const auto result = answer_of<HeadsResult>(run, HeadsQuestion{}, line, "Ablating heads");
  if (!result.problem.empty()) throw std::runtime_error(result.problem);
  const auto number = [](std::optional<double> value) {
    return value ? fmt::format("{:.3f}", *value) : std::string("–");
  };
  std::vector<Row> rows;
  for (const HeadImportance& head : result.heads) {
    Row& row =
        rows.emplace_back(Row{head_name(head.place, run.opened.config.model), fmt::format("{:+.4f}", head.exact)});
    const auto of = std::ranges::find(scores, head.place, &HeadScores::place);
    if (of == scores.end()) continue;
    for (const auto& value : {std::optional(of->entropy), of->distance, of->previous, std::optional(of->first),
                              std::optional(of->special), of->induction})
      row.push_back(number(value));
  }
  page.element("p",
               fmt::format("{}: {:.4f} nats per token with all heads, on {} tokens of the validation part. The other "
                           "columns are means over {} sentences of the corpus.",
                           run.name, result.nll, result.tokens, sentences.size()));
  page.table({"Head", "Loss without it", "Entropy", "Distance", "Previous token", "First token", "Special tokens",
              "Induction"},
             rows);
}

void add_embeddings(Html& page, ReportRun& run) {
  const auto whole = run.engine.embeddings({});
  if (!whole->problem.empty()) throw std::runtime_error(whole->problem);
  const Vocabulary& vocabulary = *whole->vocabulary;
  std::vector<Row> rows;
  for (const int id : most_frequent(vocabulary, 40 * most_words)) {
    const std::string name = token_name(vocabulary.tokens[static_cast<std::size_t>(id)]);
    if (rows.size() == most_words) break;
    if (name.size() < 4 || name.front() == '+') continue;  // letters and punctuation say little
    Row near;
    for (const Neighbour& other : run.engine.embeddings({.chosen = name})->neighbours.nearest)
      if (near.size() < most_near)
        near.push_back(
            fmt::format("{} {:.2f}", token_name(vocabulary.tokens[static_cast<std::size_t>(other.id)]), other.cosine));
    rows.push_back({name, fmt::format("{}", fmt::join(near, ", "))});
  }
  page.element(
      "p",
      fmt::format("{}: {} of {} tokens × {}; statistics over {} tokens. Nearest tokens by cosine, of frequent words:",
                  run.name, matrix_title(whole->matrix, run.opened.config.model), vocabulary.tokens.size(),
                  whole->width, whole->map->used));
  page.table({"Word", "Nearest tokens"}, rows);
}

void add_circuit(Html& page, ReportRun& run, ProgressLine& line) {
  if (run.opened.pinned.empty()) throw std::runtime_error("no sentence is pinned in this run");
  const auto result = answer_of<CircuitResult>(run, CircuitStudy{{run.opened.pinned.front().text, {}, {}}}, line,
                                               "Searching for the circuit");
  if (!result.problem.empty()) throw std::runtime_error(result.problem);
  const ContrastFacts& facts = result.facts;
  page.element("p",
               fmt::format("{}: the difference between two sentences, log p({}) − log p({}), {} {}.", run.name,
                           facts.a.text, facts.b.text, result.found.pairs, result.found.pairs == 1 ? "pair" : "pairs"));
  std::vector<Row> rows;
  for (const ContrastRun* of : {&facts.clean, &facts.corrupted})
    rows.push_back({of->text, of->output, fmt::format("{:.3f}", of->margin)});
  page.table({"Sentence", "Output", "Difference, nats"}, rows);
  rows.clear();
  for (const CircuitEdge& edge : result.found.edges) {
    std::vector<int> heads = edge.heads();
    for (int& head : heads) ++head;
    rows.push_back({fmt::format("{} layer {}, head {}", part_name(edge.part), edge.layer + 1, fmt::join(heads, ", ")),
                    words_text(result.found, edge.read), fmt::format("{:.0f} %", 100 * edge.together.share()),
                    fmt::format("{} of {}", edge.together.turned(), 2 * edge.together.cases)});
  }
  page.table({"Heads", "Attend to", "Effect", "Answers flipped"}, rows);
}

// The hash in the form that sha256sum of coreutils prints.
std::string sha256(const fs::path& file) {
  std::FILE* output = ::popen(("sha256sum < " + shell_quoted(file.string())).c_str(), "r");
  char text[65] = {};
  const bool read = output && std::fread(text, 1, 64, output) == 64;
  if (!output || ::pclose(output) != 0 || !read) throw std::runtime_error("sha256sum (package coreutils) failed");
  return text;
}

void add_reproduction(Html& page, const Runs& runs) {
  std::string commands;
  std::vector<Row> rows;
  for (const auto& run : runs) {
    const RunFolder folder{run->folder};
    const std::string config = fmt::format("config-{}.json", run->name);
    commands += fmt::format("attnscope train --config {} --out {} --steps {}\n", shell_quoted(config),
                            shell_quoted(run->name + "-again"), run->opened.step);
    for (const fs::path& file : folder.files())
      if (fs::exists(file)) rows.push_back({run->name, file.filename().string(), sha256(file)});
  }
  page.raw(fmt::format("<pre>{}</pre>\n", escaped(commands)));
  page.element(
      "p", fmt::format("With attnscope {} on the same processor and number of threads, the same seed gives the same "
                       "run. Changes of settings while the run trained, and continuing it on other machines, are not "
                       "part of these commands.",
                       ATTNSCOPE_VERSION));
  page.table({"Run", "File", "SHA-256"}, rows);
}

// ---- the page

// A part that cannot be computed says why.
void attempt(Html& page, std::string_view of, const std::function<void()>& add) {
  try {
    add();
  } catch (const std::exception& error) {
    page.element("p", fmt::format("{}: not computed, because: {}", of, error.what()));
  }
}

void add_section(Html& page, const char* title, const std::function<void()>& add) {
  page.element("h2", title);
  attempt(page, title, add);
}

std::string report_html(const Runs& runs, ProgressLine& line) {
  std::vector<std::string> names;
  for (const auto& run : runs) names.push_back(run->name);
  const std::string title = fmt::format("{}", fmt::join(names, " and "));
  Html page;
  const auto each = [&](const auto& add) {
    for (const auto& run : runs) attempt(page, run->name, [&] { add(*run); });
  };
  page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
  page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
  page.element("title", title);
  page.raw(fmt::format("<style>\n{}</style>\n</head>\n<body>\n",
                       read_file(asset_folder() / "report.css", most_style_bytes)));
  page.element("h1", title);
  page.element("p", fmt::format("Report of attnscope {}. No intervention was active.", ATTNSCOPE_VERSION));
  for (const auto& run : runs)
    if (!run->opened.pinned.empty())
      page.raw(fmt::format("<p><a href=\"page-{0}.html\">Interactive page of {0}</a></p>\n", escaped(run->name)));
  add_section(page, "Settings", [&] { add_settings(page, runs); });
  add_section(page, "Data", [&] { add_data(page, runs); });
  add_section(page, "Curves", [&] { add_curves(page, runs); });
  add_section(page, "Evaluation", [&] { add_evaluation(page, runs, line); });
  add_section(page, "Sample outputs", [&] { add_examples(page, runs); });
  add_section(page, "Heads", [&] { each([&](ReportRun& run) { add_heads(page, run, line); }); });
  add_section(page, "Embeddings", [&] { each([&](ReportRun& run) { add_embeddings(page, run); }); });
  add_section(page, "Circuit", [&] { each([&](ReportRun& run) { add_circuit(page, run, line); }); });
  add_section(page, "To reproduce", [&] { add_reproduction(page, runs); });
  page.raw("</body>\n</html>\n");
  return page.text();
}

bool runs_well(std::vector<std::string> arguments) {
  try {
    return status_at_end(start_program(std::move(arguments), NamelessFile(""))) == 0;
  } catch (const std::system_error&) {
    return false;  // not installed
  }
}

bool write_pdf(const fs::path& html, const fs::path& pdf) {
  if (runs_well({"weasyprint", html.string(), pdf.string()})) return true;
  std::vector<std::string> chromium = {"chromium", "--headless=new", "--disable-gpu", "--no-pdf-header-footer",
                                       "--print-to-pdf=" + pdf.string(), "file://" + html.string()};
  if (::geteuid() == 0) chromium.emplace_back("--no-sandbox");  // Chromium refuses to start as root with it
  return runs_well(chromium) && fs::exists(pdf);
}

}  // namespace

int report(const ReportOptions& options) {
  const fs::path folder = fs::absolute(options.out);
  if (fs::exists(folder) && !(fs::is_directory(folder) && fs::is_empty(folder)))
    throw std::runtime_error(fmt::format("{}: exists and is not an empty folder; nothing was written", options.out));
  ProgressLine line;
  Runs runs;
  for (const std::string& path : options.runs) {
    auto& run = *runs.emplace_back(std::make_unique<ReportRun>());
    run.opened = open_run(run.engine, path, line);
    run.folder = run.opened.folder;
    const bool taken = runs.size() > 1 && runs.front()->name == run.opened.name;
    run.name = run.opened.name + (taken ? "-b" : "");
  }
  const std::string html = report_html(runs, line);
  line.clear();
  fs::create_directories(folder);
  for (const auto& run : runs) {
    save_config(folder / fmt::format("config-{}.json", run->name), run->opened.config);
    if (!run->opened.pinned.empty())
      page({.run = run->folder, .out = (folder / fmt::format("page-{}.html", run->name)).string()});
  }
  write_file(folder / "report.html", html);
  const bool pdf = write_pdf(folder / "report.html", folder / "report.pdf");
  tell("wrote {}{}", (folder / "report.html").string(),
       pdf ? " and report.pdf" : "; for a PDF, install weasyprint or chromium");
  return 0;
}

}  // namespace attnscope
