// Draws the capture that an interactive page contains. Tokens may contain anything, so text is only ever set as text.
"use strict";
(() => {
const most_lines = 4000; // drawn at once
const thumbnail = 128; // pixels; larger maps show the strongest value of each block
const most_bars = 8;
const longest_label = 18; // characters
const letter = 7.3; // width of a letter of the 12 px monospaced font
const film_pause = 400; // milliseconds
const parts = { encoder: ["source", "source"], decoder: ["target", "target"], cross: ["output", "source"] };
const titles = { encoder: "Encoder", decoder: "Decoder", cross: "Cross" };

const facts = JSON.parse(document.getElementById("facts").textContent);
const light = matchMedia("(prefers-color-scheme: light)");
const state = { sentence: 0, frame: 0, part: "", layer: 0, head: 0, show: "both", output: 0, pinned: null, cell: null };
let capture = null, page = null, film = 0;

// ---- words and elements

function t(english, ...values) {
  return (facts.words[english] ?? english).replace(/\{\}/g, () => values.shift());
}

function add(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}
const el = (tag, properties, ...children) => add(document.createElement(tag), properties, children);
const svg = (tag, properties, ...children) =>
  add(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

const visible = (token) => token.replace(/\n/g, "\\n").replace(/\t/g, "\\t").replace(/\r/g, "\\r");
function short(token) {
  const letters = Array.from(visible(token));
  return letters.length > longest_label ? letters.slice(0, longest_label - 1).join("") + "…" : letters.join("");
}
const color_of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const masks = (value) => value === -Infinity;  // a masked score
const size = (value) => (masks(value) ? 0 : Math.abs(value));
const number = (value) =>
  masks(value) ? "−∞" : capture.signed ? String(Number(value.toPrecision(4))) : value.toFixed(3);
const widest = (tokens) => Math.max(...tokens.map((token) => Array.from(short(token)).length)) * letter;

// ---- the capture (safetensors)

function decode(base64) {
  const text = atob(base64.trim()), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function read_capture(bytes) {
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const meta = header.__metadata__;
  const sentences = JSON.parse(meta.sentences).map((sentence) => ({ ...sentence, frames: {} }));
  for (const [name, tensor] of Object.entries(header)) {
    const [sentence, step, kind] = name.split("/");
    if (!(kind in parts)) continue;
    const { frames, steps, ...texts } = sentences[sentence];
    const frame = (frames[step] ??= { ...texts, ...steps?.[step], step: Number(step), maps: {} });
    const [begin, end] = tensor.data_offsets.map((offset) => 8 + length + offset);
    frame.maps[kind] = { shape: tensor.shape, values: new Float32Array(bytes.buffer, begin, (end - begin) / 4) };
  }
  for (const sentence of sentences) {
    sentence.frames = Object.values(sentence.frames).sort((a, b) => a.step - b.step);
    for (const frame of sentence.frames) frame.output ??= frame.target;
  }
  const losses = Object.entries(JSON.parse(meta.loss ?? "{}")).map(([step, loss]) => [Number(step), loss]);
  return { bytes, sentences, losses, signed: meta.signed === "true", circuit: JSON.parse(meta.circuit ?? "null") };
}

const sentence_shown = () => capture.sentences[state.sentence];
const frame_shown = () => sentence_shown().frames[state.frame];

function map_at(frame, part, layer, head) {
  const { shape: [, heads, rows, cols], values } = frame.maps[part];
  const first = (layer * heads + head) * rows * cols;
  const of_map = values.subarray(first, first + rows * cols);
  let high = capture.signed ? 1e-12 : 1;
  for (const value of of_map) high = Math.max(high, size(value));
  return { rows, cols, high, masked: part === "decoder" && is_causal(frame), at: (row, col) => of_map[row * cols + col],
           queries: frame[parts[part][0]], keys: frame[parts[part][1]] };
}
const map_shown = () => map_at(frame_shown(), state.part, state.layer, state.head);

// Whether no decoder query attends to a later key.
function is_causal(frame) {
  if (frame.causal === undefined) {
    const { shape: [, , rows, cols], values } = frame.maps.decoder;
    frame.causal = rows > 1 && values.every((value, i) => size(value) === 0 || i % cols <= Math.floor(i / cols) % rows);
  }
  return frame.causal;
}

function kind_text(part, frame) {
  if (capture.signed) return t("captured values");
  if (part === "cross") return t("decoder to source");
  return part === "decoder" && is_causal(frame) ? t("masked self-attention") : t("self-attention");
}
const head_title = () => t("{}, layer {}, head {}", t(titles[state.part]), state.layer + 1, state.head + 1);

// ---- colors

const colors = () => facts.colors[!capture.signed ? "weights" : light.matches ? "light" : "dark"];
function color_index(value, high) {
  const share = capture.signed ? 0.5 + value / (2 * high) : value / high;
  return Math.max(0, Math.min(255, Math.floor(share * 255 + 0.5)));
}

// One pixel per cell, or per block of a large map.
function painted(map, limit) {
  const block = Math.ceil(Math.max(map.rows, map.cols) / limit);
  const table = colors().match(/../g).map((hex) => parseInt(hex, 16));
  const masked = color_of("--masked").match(/[0-9a-f]{2}/g)?.map((hex) => parseInt(hex, 16)) ?? [238, 238, 238];
  const canvas = el("canvas", { width: Math.ceil(map.cols / block), height: Math.ceil(map.rows / block) });
  const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
  for (let y = 0, at = 0; y < canvas.height; ++y) {
    for (let x = 0; x < canvas.width; ++x, at += 4) {
      let strongest = -Infinity;
      for (let row = y * block; row < Math.min(map.rows, (y + 1) * block); ++row) {
        for (let col = x * block; col < Math.min(map.cols, (x + 1) * block); ++col) {
          const value = map.at(row, col);
          if (masks(strongest) || size(value) > size(strongest)) strongest = value;
        }
      }
      const index = 3 * color_index(strongest, map.high);
      image.data.set((map.masked && x > y) || masks(strongest) ? masked : table.slice(index, index + 3), at);
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

function legend(map, width) {
  const hex = colors(), stops = [];
  for (let i = 0; i <= 16; ++i) {
    const at = 6 * Math.round(i * 255 / 16);
    stops.push(svg("stop", { offset: i / 16, "stop-color": "#" + hex.slice(at, at + 6) }));
  }
  const text = (x, anchor, value) => svg("text", { x, y: 22, "text-anchor": anchor }, String(Number(value.toPrecision(3))));
  return [svg("linearGradient", { id: "scale" }, ...stops), svg("rect", { width, height: 8, fill: "url(#scale)" }),
          text(0, "start", capture.signed ? -map.high : 0), text(width, "end", map.high)];
}

// ---- the model: every head

function draw_model() {
  const frame = frame_shown(), list = [];
  for (const part of Object.keys(parts)) {
    if (!frame.maps[part]) continue;
    const [layers, heads] = frame.maps[part].shape;
    const grid = el("div", { class: "heads" }, el("span"));
    grid.style.gridTemplateColumns = `auto repeat(${heads}, minmax(34px, 92px))`;
    for (let head = 0; head < heads; ++head) grid.append(el("span", { class: "dim" }, `H${head + 1}`));
    for (let layer = 0; layer < layers; ++layer) {
      grid.append(el("span", { class: "dim" }, `L${layer + 1}`));
      for (let head = 0; head < heads; ++head) grid.append(head_button(frame, part, layer, head));
    }
    list.push(el("div", {}, el("h3", {}, t(titles[part]), el("small", {}, kind_text(part, frame))), grid));
  }
  page.model.replaceChildren(el("h2", {}, t("Model")), el("div", { class: "parts" }, ...list));
}

function head_button(frame, part, layer, head) {
  const button = el("button", {
    "data-head": `${part} ${layer} ${head}`, title: t("{}, layer {}, head {}", t(titles[part]), layer + 1, head + 1),
    "aria-pressed": part === state.part && layer === state.layer && head === state.head,
    onclick: () => choose_head(part, layer, head),
    onkeydown: (event) => {
      const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      const next = move && page.model.querySelector(`[data-head="${part} ${layer + move[0]} ${head + move[1]}"]`);
      if (move) event.preventDefault();
      next?.focus();
      next?.click();
    },
  }, painted(map_at(frame, part, layer, head), thumbnail));
  button.setAttribute("aria-label", button.title);
  return button;
}

function choose_head(part, layer, head) {
  if (part !== state.part) state.pinned = null;
  Object.assign(state, { part, layer, head });
  for (const button of page.model.querySelectorAll("[data-head]"))
    button.setAttribute("aria-pressed", button.dataset.head === `${part} ${layer} ${head}`);
  draw_head();
}

// ---- one head: lines and matrix

function draw_head() {
  const map = map_shown(), choices = el("div", { class: "row controls" });
  for (const [name, title] of [["matrix", t("Matrix")], ["lines", t("Lines")], ["both", t("Both")]]) {
    choices.append(el("button", { "aria-pressed": state.show === name, onclick: () => {
      state.show = name;
      draw_head();
    } }, title));
  }
  const maps = el("div", { class: "maps" });
  page.lines = state.show === "matrix" ? null : lines_view(map);
  const beside = page.lines ? Number(page.lines.root.getAttribute("width")) + 16 : 0;
  page.matrix = state.show === "lines" ? null : matrix_view(map, page.head.clientWidth - 26, beside);
  for (const view of [page.lines, page.matrix]) if (view) maps.append(el("div", {}, view.root));
  page.readout = el("p", { class: "readout mono", "aria-live": "polite" });
  page.attended = el("div");
  page.head.replaceChildren(el("h2", {}, head_title(), el("small", {}, kind_text(state.part, frame_shown()))), choices,
                            maps, page.readout, page.attended);
  show_focus(state.pinned);
}

const same = (a, b) => a && b && a.side === b.side && a.index === b.index;
const weight_between = (map, token, partner) =>
  token.side === "queries" ? map.at(token.index, partner) : map.at(partner, token.index);
const other = (side) => (side === "queries" ? "keys" : "queries");

// Shows what a token attends to, or is attended to by; null: all lines.
function show_focus(token, cell = null) {
  const map = map_shown();
  if (token && token.index >= map[token.side].length) token = state.pinned = null;
  page.lines?.focus(token);
  page.matrix?.focus(token, cell);
  page.readout.textContent =
    cell ? `${t("query")} ${visible(map.queries[cell.row])} · ${t("key")} ${visible(map.keys[cell.col])}: ${number(map.at(cell.row, cell.col))}`
    : same(token, state.pinned) ? t("Pinned: click again or press Escape to unpin.")
    : t("Point at a token to see what it attends to. Click to pin it.");
  page.attended.replaceChildren();
  if (!token) return;
  const name = visible(map[token.side][token.index]);
  const partners = map[other(token.side)].map((text, index) => [text, weight_between(map, token, index)]);
  partners.sort((a, b) => size(b[1]) - size(a[1]));
  page.attended.append(el("h3", {}, token.side === "queries" ? t("{} attends to", name) : t("{} is attended to by", name)),
                       bars(partners.slice(0, most_bars), map.high));
}

function bars(rows, high) {
  const list = el("div", { class: "bars" });
  for (const [text, value] of rows) {
    const bar = svg("rect", { height: 12, width: `${Math.min(100, 100 * size(value) / high)}%` });
    list.append(el("span", { class: "token", title: visible(text) }, visible(text)), svg("svg", {}, bar),
                el("span", { class: "number mono" }, number(value)));
  }
  return list;
}

function pin(token) {
  state.pinned = same(token, state.pinned) ? null : token;
  show_focus(token && same(token, state.pinned) ? token : state.pinned);
}

function lines_view(map) {
  const count = Math.max(map.rows, map.cols), pitch = count > 60 ? 15 : 21, gap = 190;
  const widths = { queries: widest(map.queries) + 12, keys: widest(map.keys) + 12 };
  const left = widths.queries, right = left + gap;
  const middle = (index) => (index + 0.5) * pitch + 2;
  const root = svg("svg", { width: right + widths.keys + 2, height: count * pitch + 4, role: "group" });
  const drawn = svg("g"), tokens = { queries: [], keys: [] }, note = svg("title");
  for (const side of ["queries", "keys"]) {
    map[side].forEach((text, index) => {
      const x = side === "queries" ? 0 : right;
      const box = svg("rect", { x, y: middle(index) - pitch / 2, width: widths[side], height: pitch });
      const label = svg("text", { x: side === "queries" ? left - 6 : right + 6, y: middle(index) + 4,
                                  "text-anchor": side === "queries" ? "end" : "start" }, short(text));
      tokens[side].push(svg("g", token_events({ side, index }, text, tokens), box, label));
    });
  }
  root.append(note, drawn, ...tokens.queries, ...tokens.keys);

  function focus(token) {
    let lines = [];
    for (let row = 0; row < map.rows; ++row) {
      for (let col = 0; col < map.cols; ++col) {
        const strength = size(map.at(row, col)) / map.high;
        const isolated = !token || token.index === (token.side === "queries" ? row : col);
        if (isolated && strength * 255 >= 0.5) lines.push([row, col, strength]);
      }
    }
    const all = lines.length;
    if (all > most_lines) lines = lines.sort((a, b) => b[2] - a[2]).slice(0, most_lines);
    note.textContent = all > most_lines ? t("The {} strongest of {} lines are drawn.", most_lines, all) : "";
    drawn.replaceChildren(...lines.map(([row, col, strength]) => svg("line", {
      x1: left, x2: right, y1: middle(row), y2: middle(col), "stroke-opacity": strength.toFixed(3),
      "stroke-width": strength < 0.25 ? 1 : strength < 0.63 ? 2 : 3, class: map.at(row, col) < 0 ? "negative" : "",
    })));
    for (const side of ["queries", "keys"]) {
      tokens[side].forEach((node, index) => {
        const partner = token && token.side !== side;
        node.classList.toggle("focus", same(token, { side, index }) ?? false);
        node.classList.toggle("pinned", same(state.pinned, { side, index }) ?? false);
        node.firstChild.style.fill = partner ? color_of("--line") : "";
        node.firstChild.style.fillOpacity = partner ? size(weight_between(map, token, index)) / map.high * 0.6 : "";
      });
    }
  }
  return { root, focus };
}

function token_events(token, text, tokens) {
  return {
    class: "token", tabindex: 0, role: "button", "aria-label": visible(text), "data-token": `${token.side} ${token.index}`,
    onpointerenter: () => show_focus(token),
    onpointerleave: () => show_focus(state.pinned),
    onfocus: () => show_focus(token),
    onblur: () => show_focus(state.pinned),
    onclick: () => pin(token),
    onkeydown: (event) => {
      if (event.key === "Enter" || event.key === " ") pin(token);
      else if (event.key === "ArrowDown" || event.key === "ArrowUp")
        tokens[token.side][token.index + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
      else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        const to = tokens[event.key === "ArrowLeft" ? "queries" : "keys"];
        to[Math.min(token.index, to.length - 1)].focus();
      } else return;
      event.preventDefault();
    },
  };
}

// Next to the lines, which are `beside` wide, if there is room for readable cells, else below.
function matrix_view(map, room, beside) {
  const left = widest(map.queries) + 8, top = widest(map.keys) * 0.77 + 14, right = widest(map.keys) * 0.64 + 4;
  const fitting = (width) => Math.floor(Math.min(width - left - right, 480) / Math.max(map.rows, map.cols));
  const cell = Math.max(2, Math.min(28, fitting(room - beside) >= 11 ? fitting(room - beside) : fitting(room)));
  const every = Math.ceil(13 / cell);
  const width = map.cols * cell, height = map.rows * cell;
  const root = svg("svg", { width: left + Math.max(width, 60) + right, height: top + height + 40, tabindex: 0,
                            role: "img", "aria-label": head_title() });
  const image = svg("image", { x: left, y: top, width, height, preserveAspectRatio: "none",
                               href: painted(map, 4096).toDataURL() });
  const row_mark = svg("rect", { class: "mark", visibility: "hidden" });
  const cell_mark = svg("rect", { class: "mark", visibility: "hidden", width: cell, height: cell });
  root.append(image);
  map.queries.forEach((text, row) => row % every ||
    root.append(svg("text", { x: left - 5, y: top + (row + 0.5) * cell + 4, "text-anchor": "end" }, short(text))));
  map.keys.forEach((text, col) => col % every ||
    root.append(svg("text", { transform: `translate(${left + (col + 0.5) * cell + 3} ${top - 5}) rotate(-50)` }, short(text))));
  root.append(row_mark, cell_mark, svg("g", { transform: `translate(${left} ${top + height + 10})` }, ...legend(map, Math.max(width, 60))));

  function show_cell(row, col) {
    state.cell = { row: Math.max(0, Math.min(map.rows - 1, row)), col: Math.max(0, Math.min(map.cols - 1, col)) };
    show_focus({ side: "queries", index: state.cell.row }, state.cell);
  }
  function leave() {
    state.cell = null;
    show_focus(state.pinned);
  }
  function place(mark, box) {
    mark.setAttribute("visibility", box ? "visible" : "hidden");
    for (const [name, value] of Object.entries(box ?? {})) mark.setAttribute(name, value);
  }
  image.addEventListener("pointermove", (event) => {
    const box = image.getBoundingClientRect();
    show_cell(Math.floor((event.clientY - box.top) / box.height * map.rows),
              Math.floor((event.clientX - box.left) / box.width * map.cols));
  });
  image.addEventListener("pointerleave", leave);
  image.addEventListener("click", () => state.cell && pin({ side: "queries", index: state.cell.row }));
  root.addEventListener("blur", leave);
  root.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (move) show_cell((state.cell?.row ?? -move[0]) + move[0], (state.cell?.col ?? -move[1]) + move[1]);
    else if (event.key === "Enter" && state.cell) pin({ side: "queries", index: state.cell.row });
    else return;
    event.preventDefault();
  });
  return { root, focus: (token, chosen) => {
    const of_row = token?.side === "queries";
    place(row_mark, token && { x: of_row ? left : left + token.index * cell, y: of_row ? top + token.index * cell : top,
                               width: of_row ? width : cell, height: of_row ? cell : height });
    place(cell_mark, chosen && { x: left + chosen.col * cell, y: top + chosen.row * cell });
  } };
}

// ---- output and candidates

function draw_candidates() {
  const frame = frame_shown(), predictions = frame.predictions ?? [];
  page.candidates.hidden = predictions.length === 0;
  if (predictions.length === 0) return;
  state.output = Math.min(state.output, predictions.length - 1);
  const tokens = el("div", { class: "tokens" });
  predictions.forEach((step, index) => {
    const chosen = step.candidates.find(([text]) => text === frame.output[index]);
    tokens.append(el("button", { class: "token", "aria-pressed": index === state.output, onclick: () => {
      state.output = index;
      draw_candidates();
      page.candidates.querySelectorAll(".tokens button")[index].focus();
    } }, visible(frame.output[index]), el("small", {}, chosen ? chosen[1].toFixed(3) : "–")));
  });
  const rows = el("div", { class: "bars" });
  for (const [text, probability] of predictions[state.output].candidates.slice(0, most_bars)) {
    rows.append(el("span", { class: "token" }, visible(text)),
                svg("svg", {}, svg("rect", { height: 12, width: `${100 * probability}%` })),
                el("span", { class: "number mono" }, probability.toFixed(3)));
  }
  page.candidates.replaceChildren(el("h2", {}, t("Candidates"), el("small", {}, t("most probable next tokens"))), tokens, rows);
}

// ---- recorded steps

function show_frame(index) {
  state.frame = Math.max(0, Math.min(sentence_shown().frames.length - 1, index));
  draw_frame();
}

function nearest_frame(step) {
  const distances = sentence_shown().frames.map((frame) => Math.abs(frame.step - step));
  return distances.indexOf(Math.min(...distances));
}

function draw_timeline() {
  const frames = sentence_shown().frames, steps = frames.map((frame) => frame.step);
  const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -5, PageUp: 5, Home: -1e9, End: 1e9 };
  page.timeline.hidden = frames.length < 2 && capture.losses.length === 0;
  page.slider = el("input", {
    type: "range", min: 0, max: Math.max(...steps, ...capture.losses.map(([step]) => step)), "aria-label": t("Step"),
    oninput: () => show_frame(nearest_frame(Number(page.slider.value))),
    onkeydown: (event) => {
      if (!(event.key in moves)) return;
      event.preventDefault();
      show_frame(state.frame + moves[event.key]);
    },
  });
  page.now = el("span", { class: "now mono" });
  page.curve = svg("svg", { onclick: (event) => {
    const box = page.curve.getBoundingClientRect();
    show_frame(nearest_frame((event.clientX - box.left - 8) / (box.width - 16) * Number(page.slider.max)));
  } });
  page.film = el("button", { class: "controls", onclick: play }, t("Film"));
  const several = frames.length > 1;
  page.timeline.replaceChildren(el("div", { class: "row" }, several ? page.film : null, page.now),
                                ...(several ? [page.slider] : []), ...(capture.losses.length ? [page.curve] : []));
}

function play() {
  if (film) {
    clearInterval(film);
    film = 0;
  } else {
    if (state.frame + 1 === sentence_shown().frames.length) show_frame(0);
    film = setInterval(() => {
      show_frame(state.frame + 1);
      if (state.frame + 1 === sentence_shown().frames.length) play();
    }, film_pause);
  }
  page.film.textContent = film ? t("Stop") : t("Film");
}

function draw_curve(step) {
  const width = page.curve.clientWidth || 800, height = 76, most = Number(page.slider.max) || 1;
  const losses = capture.losses.map(([, loss]) => loss), high = Math.max(...losses), low = Math.min(0, ...losses);
  const x = (at) => 8 + at / most * (width - 16), y = (loss) => height - 4 - (loss - low) / (high - low || 1) * (height - 10);
  const at = capture.losses.find(([of]) => of === step)?.[1];
  page.now.textContent = t("step {}", step) + (at === undefined ? "" : " · " + t("loss {}", at.toPrecision(4)));
  const path = capture.losses.map(([of, loss], i) => `${i ? "L" : "M"}${x(of).toFixed(1)} ${y(loss).toFixed(1)}`).join("");
  const ticks = sentence_shown().frames.map((frame) => `M${x(frame.step).toFixed(1)} ${height}v-5`).join("");
  const line = (d, color, thick) => svg("path", { d, fill: "none", stroke: `var(--${color})`, "stroke-width": thick });
  const label = (value, at_y) => svg("text", { x: width - 8, y: at_y, "text-anchor": "end", fill: "var(--text-dim)", "font-size": 11 }, value);
  page.curve.setAttribute("viewBox", `0 0 ${width} ${height}`);
  page.curve.replaceChildren(line(path, "line", 1.5), line(ticks, "text-dim", 1), line(`M${x(step)} 0V${height}`, "accent", 1.5),
                             label(high.toPrecision(3), 12));
}

// ---- circuit and facts

function draw_circuit() {
  const circuit = capture.circuit;
  page.circuit.hidden = !circuit;
  if (!circuit) return;
  const table = el("table", {}, el("tr", {}, ...["Attention", "Heads", "Attends to", "Effect", "Flips"].map((name) => el("th", {}, t(name)))));
  for (const edge of circuit.edges) {
    const heads = edge.heads.map(({ head, at }) => `H${head + 1} ${t(at)}`).join(", "), words = edge.read.map((word) => t(word)).join(", ");
    table.append(el("tr", {}, ...[`${t(titles[edge.part])} L${edge.layer + 1}`, heads, edge.swap ? t("swaps the weights of {}", words) : words,
                                  `${(100 * edge.share).toFixed(0)} %`, t("{} of {}", edge.flips, edge.of)].map((text) => el("td", {}, text))));
  }
  const runs = circuit.sentences.flatMap(({ text, output, margin }) => [
    el("p", {}, text, " ", el("span", { class: "output" }, output)),
    el("p", { class: "dim mono" }, t("log p({}) − log p({}) = {} nats", visible(circuit.a), visible(circuit.b), margin.toFixed(3)))]);
  page.circuit.replaceChildren(el("h2", {}, t("Circuit")), ...runs, el("div", { class: "scroll" }, table));
}

function draw_about() {
  const list = el("dl");
  for (const [name, value] of Object.entries(sentence_shown().labels ?? {})) list.append(el("dt", {}, name), el("dd", {}, value));
  list.append(el("dt", {}, t("Step")), el("dd", {}, String(frame_shown().step)));
  const file = decodeURIComponent(location.pathname.split("/").pop()) || "page.html";
  const save = el("button", { class: "controls", onclick: () => {
    const url = URL.createObjectURL(new Blob([capture.bytes]));
    el("a", { href: url, download: file.replace(/\.html$/, "") + ".safetensors" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  } }, t("Save the capture"));
  page.about.replaceChildren(el("h2", {}, t("About this page")), list, save,
                             el("p", { class: "dim" }, t("To open this page in attnscope: {}", `attnscope ${file}`)));
}

// ---- the page

function draw_header() {
  const choice = el("select", { "aria-label": t("Sentence"), onchange: () => choose_sentence(choice.selectedIndex) },
                    ...capture.sentences.map(({ text }) => el("option", {}, text)));
  choice.selectedIndex = state.sentence;
  page.output = el("p", { class: "output" });
  page.header.replaceChildren(el("h1", {}, sentence_shown().text), page.output,
                              ...(capture.sentences.length > 1 ? [el("div", { class: "row controls" }, choice)] : []));
}

function choose_sentence(index) {
  if (film) play();
  const step = frame_shown()?.step ?? Infinity;
  Object.assign(state, { sentence: index, output: 0, pinned: null });
  state.frame = step === Infinity ? sentence_shown().frames.length - 1 : nearest_frame(step);
  const { maps } = frame_shown();
  if (!maps[state.part] || state.layer >= maps[state.part].shape[0] || state.head >= maps[state.part].shape[1])
    Object.assign(state, { part: Object.keys(parts).find((part) => maps[part]), layer: 0, head: 0 });
  draw_header();
  draw_timeline();
  draw_frame();
}

function draw_frame() {
  const frame = frame_shown();
  page.slider.value = frame.step;
  page.slider.setAttribute("aria-valuetext", t("step {}", frame.step));
  page.now.textContent = t("step {}", frame.step);
  page.output.textContent = frame.output_text ?? "";
  page.output.hidden = !frame.output_text;
  document.title = `${sentence_shown().text} – attnscope`;
  if (capture.losses.length) draw_curve(frame.step);
  draw_model();
  draw_head();
  draw_candidates();
  draw_about();
}

function start() {
  document.documentElement.lang = facts.language;
  capture = read_capture(decode(document.getElementById("capture").textContent));
  const section = (className) => el("section", { class: className });
  page = { header: el("header"), timeline: el("div", { class: "timeline" }), model: section("model"), head: section("head"),
           candidates: section("wide candidates"), circuit: section("wide circuit"), about: section("wide about") };
  document.getElementById("page").replaceChildren(...Object.values(page));
  state.frame = Infinity;
  draw_circuit();
  choose_sentence(0);
  light.addEventListener("change", draw_frame);
  let width = innerWidth; // a phone's height changes while it scrolls
  addEventListener("resize", () => innerWidth !== width && (width = innerWidth, draw_frame()));
  addEventListener("keydown", (event) => event.key === "Escape" && state.pinned && pin(state.pinned));
}

try {
  start();
} catch (error) {
  document.getElementById("page").replaceChildren(el("p", {}, t("This page cannot be shown: {}", error.message)));
}
})();
