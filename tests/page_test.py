#!/usr/bin/env python3
"""Interactive pages in a real browser: hover, click, keyboard and slider; the numbers on the screen are the run's.

    page_test.py ATTNSCOPE [TEST…]

Exit status 77: no Chromium here (Debian: chromium). Needs nothing but Python's standard library and no network.
"""
import base64
import fcntl
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ATTNSCOPE = os.path.abspath(sys.argv[1])
RUN = os.path.join(os.path.dirname(ATTNSCOPE), "../share/attnscope/english-french")
SENTENCE = "The animal didn't cross the street because it was too tired."
CONTRAST = "The animal didn't cross the street because it was too wide."


def attnscope(*arguments):
    result = subprocess.run([ATTNSCOPE, *arguments], capture_output=True, text=True)
    if result.returncode:
        raise AssertionError(result.stderr)
    return result.stdout


class Browser:
    """Chromium, driven through a pipe (Chrome DevTools protocol)."""

    def __init__(self):
        to_browser, self.input = os.pipe()
        self.output, from_browser = os.pipe()
        self.profile = tempfile.mkdtemp()

        def connect():  # the protocol is on descriptors 3 and 4
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [shutil.which("chromium"), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", "--force-device-scale-factor=1", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.buffer, self.session, self.events = 0, b"", None, []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(domain + ".enable")

    def __call__(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.input, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        while b"\0" not in self.buffer:
            read = os.read(self.output, 1 << 16)
            if not read:
                raise AssertionError("Chromium ended")
            self.buffer += read
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1280, height=720, theme="dark", media=""):
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": theme}])
        self.events.clear()
        self("Page.navigate", url="file://" + path)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def js(self, expression):
        result = self("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(result["exceptionDetails"])
        return result["result"].get("value")

    def middle(self, selector):
        box = self.js(f"(() => {{ const node = document.querySelector({json.dumps(selector)});"
                      "node.scrollIntoView({block: 'center'}); const box = node.getBoundingClientRect();"
                      "return [box.left, box.top, box.width, box.height]; })()")
        return box[0] + box[2] / 2, box[1] + box[3] / 2

    def point_at(self, selector, across=0.5, down=0.5):
        x, y = self.middle(selector)
        width, height = self.js(f"(() => {{ const box = document.querySelector({json.dumps(selector)})"
                                ".getBoundingClientRect(); return [box.width, box.height]; })()")
        at = {"x": x + (across - 0.5) * width, "y": y + (down - 0.5) * height}
        self("Input.dispatchMouseEvent", type="mouseMoved", **at)
        return at

    def leave(self):
        self("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)

    def click(self, selector, **place):
        at = self.point_at(selector, **place)
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                 windowsVirtualKeyCode={"Enter": 13, "Escape": 27, "Tab": 9, "End": 35, "Home": 36, "ArrowLeft": 37,
                                        "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[name])

    def text(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)})?.textContent")

    def count(self, selector):
        return self.js(f"document.querySelectorAll({json.dumps(selector)}).length")

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def write_capture(path, sentences, tensors, **metadata):
    header, data = {"__metadata__": {"format": "attnscope-capture", "version": "1",
                                     "sentences": json.dumps(sentences), **metadata}}, b""
    for name, (shape, values) in tensors.items():
        bytes_of = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_of)]}
        data += bytes_of
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.run_page = os.path.join(cls.folder, "run page.html")
        attnscope("page", "-q", "--run", RUN, "--source", SENTENCE, "--source", CONTRAST, "--corrupted", CONTRAST,
                  "--out", cls.run_page)
        cls.attention = json.loads(attnscope("attend", "--run", RUN, "--source", SENTENCE, "--json"))
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.folder)

    def page(self, *arguments):
        path = os.path.join(self.folder, "page.html")
        attnscope("page", "-q", *arguments, "--out", path)
        return path

    def open(self, path=None, **options):
        self.browser.open(path or self.run_page, **options)

    def tearDown(self):
        loaded = [event["params"]["request"]["url"] for event in self.browser.events
                  if event.get("method") == "Network.requestWillBeSent"]
        self.assertFalse([url for url in loaded if not url.startswith(("file:", "data:", "blob:"))])
        wrong = [event for event in self.browser.events if event.get("method") == "Runtime.exceptionThrown"
                 or event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error"]
        self.assertFalse(wrong)

    def head(self, part, layer, head):
        return next(of for of in self.attention[part] if of["layer"] == layer and of["head"] == head)["weights"]

    def test_model_view_shows_every_head_and_selects(self):
        self.open()
        heads = sum(len(self.attention[part]) for part in ("encoder", "decoder", "cross"))
        self.assertEqual(self.browser.count(".model button canvas"), heads)
        self.browser.click('[data-head="cross 0 1"]')
        self.assertEqual(self.browser.text(".head h2"), "Cross, layer 1, head 2decoder to source")
        self.browser.key("ArrowLeft")
        self.assertEqual(self.browser.text(".head h2"), "Cross, layer 1, head 1decoder to source")
        self.assertEqual(self.browser.js("document.activeElement.dataset.head"), "cross 0 0")

    def test_hover_isolates_and_click_pins(self):
        self.open()
        self.browser.click('[data-head="encoder 1 0"]')
        all_lines = self.browser.count(".maps line")
        it = [token["token"] for token in self.attention["source"]].index("▁it")
        token = f'[data-token="queries {it}"]'
        self.browser.point_at(token)
        weights = self.head("encoder", 2, 1)[it]
        self.assertEqual(self.browser.count(".maps line"), sum(weight * 255 >= 0.5 for weight in weights))
        self.assertEqual(self.browser.text(".head h3"), "▁it attends to")
        shown = re.findall(r"\d\.\d{3}", self.browser.text(".head .bars"))
        self.assertEqual(shown, [f"{weight:.3f}" for weight in sorted(weights, reverse=True)[:8]])
        self.browser.leave()
        self.assertEqual(self.browser.count(".maps line"), all_lines)
        self.browser.click(token)
        self.browser.leave()
        self.assertLess(self.browser.count(".maps line"), all_lines)
        self.browser.key("Escape")
        self.assertEqual(self.browser.count(".maps line"), all_lines)

    def test_keyboard_moves_between_tokens(self):
        self.open()
        self.browser.js('document.querySelector(\'[data-token="queries 0"]\').focus()')
        self.browser.key("ArrowDown")
        self.assertEqual(self.browser.text(".head h3"), "▁animal attends to")
        self.browser.key("Enter")
        self.assertEqual(self.browser.count(".token.pinned"), 1)
        self.browser.key("ArrowRight")
        self.assertEqual(self.browser.text(".head h3"), "▁animal is attended to by")
        self.browser.key("Escape")
        self.assertEqual(self.browser.count(".token.pinned"), 0)

    def test_matrix_shows_the_numbers_of_the_run(self):
        self.open()
        for part, layer, head in (("encoder", 2, 1), ("decoder", 1, 2), ("cross", 1, 1)):
            self.browser.click(f'[data-head="{part} {layer - 1} {head - 1}"]')
            weights = self.head(part, layer, head)
            for row, col in ((0, 0), (len(weights) - 1, len(weights[0]) - 1), (3, 2)):
                self.browser.point_at(".maps image", (col + 0.5) / len(weights[0]), (row + 0.5) / len(weights))
                self.assertRegex(self.browser.text(".readout"), f": {weights[row][col]:.3f}$")
        self.browser.leave()
        self.browser.js("document.querySelector('.maps svg[role=img]').focus()")
        self.browser.key("ArrowDown")
        self.browser.key("ArrowRight")
        self.assertRegex(self.browser.text(".readout"), f"{self.head('cross', 1, 1)[0][1]:.3f}$")

    def test_slider_shows_the_recorded_steps(self):
        self.open()
        last = self.browser.text(".timeline .now")
        self.assertRegex(last, "^step 7600 · loss 1.157$")
        translation = self.browser.text(".output")
        self.browser.js("document.querySelector('input[type=range]').focus()")
        self.browser.key("Home")
        self.assertRegex(self.browser.text(".timeline .now"), "^step 0")
        self.browser.key("ArrowRight")
        self.assertRegex(self.browser.text(".timeline .now"), "^step 400 · loss")
        self.assertNotEqual(self.browser.text(".output"), translation)
        self.browser.js("(() => { const slider = document.querySelector('input[type=range]'); slider.value = 1300;"
                        "slider.dispatchEvent(new Event('input')); })()")
        self.assertRegex(self.browser.text(".timeline .now"), "^step 1200 ")
        with open(os.path.join(RUN, "metrics.jsonl")) as lines:
            loss = next(point["loss"] for point in map(json.loads, lines) if point["step"] == 1200)
        self.assertIn(f"loss {loss:.4g}", self.browser.text(".timeline .now"))
        self.browser.click(".timeline svg", across=0.999)
        self.assertEqual(self.browser.text(".timeline .now"), last)

    def test_other_sentences_and_candidates(self):
        self.open()
        self.browser.js("(() => { const choice = document.querySelector('select'); choice.selectedIndex = 1;"
                        "choice.dispatchEvent(new Event('change')); })()")
        self.assertEqual(self.browser.text("h1"), CONTRAST)
        translation = subprocess.run([ATTNSCOPE, "translate", "-q", "--run", RUN], input=CONTRAST, capture_output=True,
                                     text=True).stdout.strip()
        self.assertEqual(self.browser.text(".output"), translation)
        self.browser.click(".candidates .tokens button:nth-child(2)")
        shown = [float(text) for text in re.findall(r"\d\.\d{3}", self.browser.text(".candidates .bars"))]
        self.assertEqual(shown, sorted(shown, reverse=True))
        self.assertIn(f"{shown[0]:.3f}", self.browser.text(".candidates .tokens button:nth-child(2)"))

    def test_circuit_is_that_of_explain(self):
        self.open()
        explained = json.loads(attnscope("explain", "-q", "--run", RUN, "--clean", SENTENCE, "--corrupted", CONTRAST, "--json"))
        edges = explained["circuit"]["edges"]
        self.assertEqual(self.browser.count(".circuit tr"), 1 + len(edges))
        for row, edge in enumerate(edges, 2):
            self.assertIn(f"L{edge['layer']}", self.browser.text(f".circuit tr:nth-child({row})"))
            self.assertIn(f"{edge['together']['flipped']} of {edge['together']['of']}",
                          self.browser.text(f".circuit tr:nth-child({row})"))

    def test_the_page_opens_again(self):
        with open(self.run_page) as file:
            html = file.read()
        again = json.loads(attnscope("attend", "--capture", self.run_page, "--json"))["sentences"]
        last = [sentence for sentence in again if sentence["text"] == SENTENCE][-1]
        self.assertEqual(last["encoder"], self.attention["encoder"])
        self.assertIn("attnscope page", last["labels"]["made by"])
        self.assertIn("default-src 'none'", html)
        self.assertNotIn("unsafe", html)
        self.assertNotRegex(html.replace("http://www.w3.org/2000/svg", ""), "https?://")
        capture = base64.b64decode(re.search('id="capture">([^<]*)<', html).group(1))
        self.assertEqual(capture[8:9], b"{")
        self.open()
        self.browser.js("(() => { window.saved = null; URL.createObjectURL = (blob) => { window.saved = blob;"
                        "return '#'; }; })()")
        self.browser.click(".about button")
        self.assertEqual(self.browser.js("window.saved.size"), len(capture))

    def test_markup_in_tokens_is_inert(self):
        evil = ["<script>window.evil = 1</script>", "</script><img src=x onerror='window.evil = 1'>", "&amp;\u202e", "a\nb"]
        path = os.path.join(self.folder, "evil.safetensors")
        write_capture(path, [{"text": evil[1], "source": evil, "target": evil, "labels": {"<b>": evil[0]}}],
                      {"0/0/encoder": ([1, 1, 4, 4], [0.25] * 16), "0/0/cross": ([1, 1, 4, 4], [0.25] * 16)})
        self.open(self.page("--capture", path))
        self.assertEqual(self.browser.text("h1"), evil[1])
        self.browser.point_at('[data-token="queries 0"]')
        self.assertEqual(self.browser.text(".head h3"), evil[0] + " attends to")
        self.assertIsNone(self.browser.js("window.evil"))
        self.assertEqual(self.browser.count("img, main script"), 0)
        # Even a script that got into the document does not run.
        self.browser.js("(() => { const script = document.createElement('script'); script.textContent ="
                        "'window.evil = 1'; document.body.append(script); })()")
        self.assertIsNone(self.browser.js("window.evil"))
        self.browser.events.clear()  # the refusal of the policy

    def test_values_of_either_sign(self):
        path = os.path.join(self.folder, "signed.safetensors")
        write_capture(path, [{"source": ["a", "b"]}], {"0/0/encoder": ([1, 1, 2, 2], [-2, 1, 0.5, 0])}, signed="true")
        self.open(self.page("--capture", path))
        self.assertEqual(self.browser.count(".maps line"), 3)
        self.assertEqual(self.browser.count(".maps line.negative"), 1)
        self.browser.point_at(".maps image", 0.25, 0.25)
        self.assertRegex(self.browser.text(".readout"), ": -2$")

    def test_long_inputs_and_many_heads(self):
        count, path = 600, os.path.join(self.folder, "long.safetensors")
        row = [1 / count] * count
        write_capture(path, [{"source": [f"token{i}" for i in range(count)]}],
                      {"0/0/encoder": ([2, 2, count, count], row * count * 4)})
        self.open(self.page("--capture", path))
        self.assertEqual(self.browser.count(".model canvas"), 4)
        self.assertLessEqual(self.browser.count(".maps line"), 4000)
        self.assertLessEqual(self.browser.js("document.querySelector('.model canvas').width"), 128)
        path = os.path.join(self.folder, "heads.safetensors")
        maps = {f"0/0/{part}": ([6, 8, 30, 30], [1 / 30] * 43200) for part in ("encoder", "decoder", "cross")}
        write_capture(path, [{"source": ["word"] * 30, "target": ["mot"] * 30}], maps)
        self.assertLess(os.path.getsize(self.page("--capture", path)), 1 << 20)

    def test_phone_themes_print_and_notebook(self):
        colors = set()
        for width, theme, media in ((390, "dark", ""), (390, "light", ""), (1280, "light", "print")):
            self.open(width=width, height=844, theme=theme, media=media)
            colors.add(self.browser.js("getComputedStyle(document.documentElement).backgroundColor"))
            self.assertLessEqual(self.browser.js("document.documentElement.scrollWidth"), width)
        self.assertEqual(colors, {"rgb(15, 18, 23)", "rgb(255, 255, 255)"})
        self.assertEqual(self.browser.js("getComputedStyle(document.querySelector('.controls')).display"), "none")
        notebook = os.path.join(self.folder, "notebook.html")
        with open(self.run_page) as file, open(notebook, "w") as out:
            out.write('<iframe width="900" height="600" srcdoc="%s"></iframe>'
                      % file.read().replace("&", "&amp;").replace('"', "&quot;"))
        self.open(notebook)
        self.assertEqual(self.browser.js("frames[0].document.querySelector('h1').textContent"), SENTENCE)


if __name__ == "__main__":
    if not shutil.which("chromium"):
        print("skipped: no Chromium here (Debian: chromium), so interactive pages are not tested in a browser")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
