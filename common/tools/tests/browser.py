"""A headless Chromium for the tests of pages. A test that needs one ends in `main()`, and is skipped (77) where there
is none, or no python3-selenium: common/tools/setup.sh --contributor installs both."""

import json
import sys
import threading
import unittest

from tools.tests import system_python

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = WebDriverException = None

SKIPPED = 77


def address_of(tests, server):
    """Lets a server work for a class of tests, and returns its address."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tests.addClassCleanup(server.server_close)
    tests.addClassCleanup(server.shutdown)
    return f"http://127.0.0.1:{server.server_port}/"


class Window:
    """One window of a headless Chromium; `logs` names what is kept of a page, "performance" for its requests."""

    def __init__(self, logs=("browser", "performance")):
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {name: "ALL" for name in logs})
        self.driver = webdriver.Chrome(options=options)

    def close(self):
        self.driver.quit()

    def open(self, page):
        """Opens a file, or an address."""
        self.driver.get(page if isinstance(page, str) else page.resolve().as_uri())

    def run(self, script, *arguments):
        """What a piece of JavaScript returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments, seconds=10):
        """What a piece of JavaScript returns, as soon as that is true."""
        return WebDriverWait(self.driver, seconds).until(lambda _: self.run(script, *arguments))

    def text(self, selector):
        """The text of the first element that a CSS selector names."""
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        """Clicks as a reader does, with the mouse."""
        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def press(self, *keys):
        """Presses keys one after another, wherever the focus is: "tab", "page down", "/"."""
        ActionChains(self.driver).send_keys(*(getattr(Keys, key.replace(" ", "_").upper(), key) for key in keys)).perform()

    def type(self, text):
        """Types a text, wherever the focus is."""
        ActionChains(self.driver).send_keys(text).perform()

    def size(self, width, height):
        """The size of the page's window in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name):
        """Sets the reader's colour scheme: "light" or "dark"; "" is the system's again."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def media(self, name):
        """Shows the page as it is printed: "print"; "" is the screen again."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": name})

    def console(self):
        """Messages of the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that the page asked for since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def missing():
    """Why no browser can be driven here; "" if one can."""
    if webdriver is None:
        return "no python3-selenium"
    try:
        Window().close()
    except WebDriverException as error:
        return f"no browser: {error.msg}"
    return ""


def main():
    system_python.again_if_missing(webdriver)
    if reason := missing():
        print(f"{reason}: common/tools/setup.sh --contributor installs what is missing")
        sys.exit(SKIPPED)
    unittest.main()
