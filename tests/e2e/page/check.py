# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Opens a page in headless Chromium in three widths and two colour schemes, and checks it as its readers use it.

check.py PAGE AXE OUTDIR: AXE is axe-core's script. Prints a line for each fault. OUTDIR gets a screenshot of each
combination. Faults: a page wider than the window, an error of a script, a request to a network, a violation of a rule
of axe-core; a header of a table that the keyboard does not reach or that does not say how it sorts; in the dark scheme
a colour for idle time that is brighter than the one for code.
"""
import base64
import json
import os
import subprocess
import sys
import time

BROWSERS = ("chromium-headless-shell", "chromium")
WIDTHS = (1280, 375, 320)
SCHEMES = ("light", "dark")


class Browser:
    """A browser with a pipe for commands: Chromium's --remote-debugging-pipe, JSON texts that end with NUL."""

    def __init__(self):
        ask, self.commands = os.pipe()
        self.answers, answer = os.pipe()

        def descriptors():
            os.dup2(ask, 3)
            os.dup2(answer, 4)

        # Their numbers may be 3 and 4 here: they move away first.
        ask, answer = (os.dup2(fd, number) for fd, number in ((ask, 103), (answer, 104)))
        for name in BROWSERS:
            try:
                self.process = subprocess.Popen(
                    [name, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"],
                    preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL)
                break
            except FileNotFoundError:
                continue
        else:
            sys.exit("no browser")
        os.close(ask)
        os.close(answer)
        self.number = 0
        self.rest = b""
        self.events = []
        self.session = None

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers, 1 << 16)
            if not more:
                sys.exit("the browser has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.commands, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit(f"{expression[:60]}: {result['exceptionDetails']['exception'].get('description', '?')[:300]}")
        return result["result"].get("value")

    def key(self, name, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, text=text if kind == "keyDown" else "")

    def open(self, page):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        self.page = page

    def load(self, width, scheme):
        self.events.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        error = self.ask("Page.navigate", url="file://" + os.path.abspath(self.page)).get("errorText")
        if error:
            sys.exit(f"{self.page}: {error}")
        end = time.monotonic() + 60
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            if time.monotonic() > end:
                sys.exit(f"{self.page} is not loaded within 60 s")
            time.sleep(0.05)
            self.value("0")  # reads events, too


def is_fault(event):
    method, parameters = event.get("method"), event.get("params", {})
    if method == "Runtime.exceptionThrown":
        return "error: " + parameters["exceptionDetails"]["exception"].get("description", "?")[:200]
    if method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
        return "error: " + parameters["entry"]["text"][:200]
    if method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:")):
        return "request: " + parameters["request"]["url"][:200]
    return None


# The brightness of a custom colour (WCAG 2, relative luminance).
BRIGHTNESS = """(name => {const probe = document.createElement('i'); probe.style.color = `var(${name})`;
document.body.append(probe); const rgb = getComputedStyle(probe).color.match(/[0-9.]+/g).map(x => x / 255); probe.remove();
const [r, g, b] = rgb.map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
return 0.2126 * r + 0.7152 * g + 0.0722 * b;})"""


def keyboard_faults(browser):
    """Sorts a table by the keyboard alone."""
    headers = browser.value("document.querySelectorAll('th').length")
    if headers != browser.value("document.querySelectorAll('th button').length"):
        yield "a header that is not a button"
    if not headers:
        return
    browser.value("document.body.focus()")
    for _ in range(browser.value("document.querySelectorAll('a,button,summary,input,select').length") + 2):
        browser.key("Tab", 9)
        if browser.value("document.activeElement.parentNode.tagName") != "TH":
            continue
        before = browser.value("document.activeElement.parentNode.getAttribute('aria-sort')")
        browser.key("Enter", 13, "\r")
        after = browser.value("document.activeElement.parentNode.getAttribute('aria-sort')")
        if after not in ("ascending", "descending") or after == before:
            yield f"a header that says {after} after {before}"
        return
    yield "no header is reached by Tab"


def faults(browser, axe, width, scheme, screenshot):
    browser.load(width, scheme)
    wide = browser.value("document.documentElement.scrollWidth")
    if wide > width:
        yield f"{wide} pixels wide"
    picture = browser.ask("Page.captureScreenshot", captureBeyondViewport=True, format="png",
                          clip={"x": 0, "y": 0, "width": width, "height": 2400, "scale": 1})
    with open(screenshot, "wb") as file:
        file.write(base64.b64decode(picture["data"]))
    if scheme == "dark" and browser.value(f"{BRIGHTNESS}('--idle') > {BRIGHTNESS}('--run')"):
        yield "idle is brighter than code"
    browser.value(axe)
    for rule in browser.value("axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.length + ' of ' + v.nodes[0].target))"):
        yield "axe: " + rule
    yield from keyboard_faults(browser)
    # The last ones, because using the page makes errors, too.
    yield from filter(None, map(is_fault, browser.events))


def main():
    page, axe, out = sys.argv[1:]
    with open(axe, encoding="utf-8") as file:
        script = file.read()
    browser = Browser()
    browser.open(page)
    for width in WIDTHS:
        for scheme in SCHEMES:
            name = os.path.join(out, f"{os.path.basename(page)}.{width}.{scheme}.png")
            for fault in faults(browser, script, width, scheme, name):
                print(f"{width} {scheme}: {fault}")
    browser.process.kill()


main()
