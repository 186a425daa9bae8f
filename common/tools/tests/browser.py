"""Drives a headless Chromium through ChromeDriver, with the standard library only.

Debian and Ubuntu: packages chromium and chromium-driver. See https://www.w3.org/TR/webdriver/.
"""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
KEYS = {
    "left": "\ue012", "right": "\ue014", "home": "\ue011", "end": "\ue010", "page down": "\ue00f",
    "page up": "\ue00e",
}


def missing():
    """Why no browser can be driven here; "" if one can."""
    absent = [name for name, found in (("chromium", CHROMIUM), ("chromedriver", DRIVER)) if not found]
    return f"{' and '.join(absent)} not found: common/tools/setup.sh --contributor installs both" if absent else ""


class Browser:
    """One window of a headless Chromium, as a context manager."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            for line in self.driver.stdout:
                if found := re.search(r"started successfully on port (\d+)", line):
                    self.address = f"http://127.0.0.1:{found[1]}"
                    break
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
            arguments.append(f"--user-data-dir={self.profile.name}")
            answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments},
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }}})
            self.address += f"/session/{answer['sessionId']}"
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.ask("DELETE", "")
        finally:
            self.close()

    def close(self):
        """Ends the driver, and the browser with it."""
        self.driver.terminate()
        self.driver.wait(20)
        self.driver.stdout.close()
        self.profile.cleanup()

    def ask(self, method, path, body=None):
        """The value of one WebDriver command; AssertionError with the driver's message if it fails."""
        data = json.dumps(body if body is not None else {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {json.load(error)['value']['message']}") from None

    def open(self, file):
        """Loads a file:// page."""
        self.ask("POST", "/url", {"url": file.resolve().as_uri()})

    def run(self, script, *arguments):
        """What a piece of JavaScript returns."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector):
        """The text of the first element that a CSS selector names."""
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        """Clicks as a reader does, with the mouse."""
        element = self.ask("POST", "/element", {"using": "css selector", "value": selector})
        self.ask("POST", f"/element/{next(iter(element.values()))}/click")

    def press(self, *keys):
        """Presses keys one after another, wherever the focus is."""
        actions = [{"type": kind, "value": KEYS[key]} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def chrome(self, command, **parameters):
        """A command of Chromium's own protocol."""
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height):
        """The size of the page's window in CSS pixels."""
        self.chrome("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        """Sets the reader's colour scheme: "light" or "dark"."""
        self.chrome("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def screenshot(self, file):
        """Writes what the window shows as PNG."""
        file.write_bytes(base64.b64decode(self.ask("GET", "/screenshot")))

    def console(self):
        """Messages of the console since the last call."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses that the page asked for since the last call."""
        entries = self.ask("POST", "/se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
