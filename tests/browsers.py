"""Firefox and WebKit for the tests: one page each, driven by the browsers' own protocols.

Firefox supports WebDriver BiDi over a web socket. WebKit is driven by WebKitWebDriver over HTTP, in
a MiniBrowser on a virtual screen. Playwright drives only its own builds of these browsers, which no
package registry has.
"""

import json
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import lab
import websocket

FIREFOX = ["firefox-esr", "firefox"]
# No start page and no services of Mozilla; site data stay in the profile, which is a temporary folder.
PREFERENCES = {
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "app.update.auto": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}
MINI_BROWSER = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"
NARROWEST = 450  # pixels: the toolbar of a MiniBrowser makes its window no narrower


class Firefox:
    """Drive one tab of Firefox; `faults` are the errors in its console since the last `open`."""

    def __init__(self, address):
        self.channel = websocket.create_connection(
            address, timeout=lab.PATIENCE, suppress_origin=True
        )
        self.numbers, self.faults = count(1), []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        # The first tab never has the focus, so its pages receive no focus events
        self.tab = self.ask("browsingContext.create", type="tab")["context"]

    def ask(self, method, **params):
        number = next(self.numbers)
        self.channel.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            said = json.loads(self.channel.recv())
            if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
                self.faults.append(said["params"]["text"])
            if said.get("id") == number:
                assert said["type"] == "success", said
                return said["result"]

    def open(self, address):
        self.ask("browsingContext.navigate", context=self.tab, url=address, wait="complete")
        self.faults.clear()

    def evaluate(self, expression):
        """Return the awaited value of a JavaScript expression."""
        done = self.ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})))()",
            target={"context": self.tab},
            awaitPromise=True,
        )
        assert done["type"] == "success", done["exceptionDetails"]["text"]
        return json.loads(done["result"].get("value", "null"))

    def press(self, *keys):
        """Press and release these keys; keys without a character use WebDriver's codes, as in
        KEYS.
        """
        self.ask("input.performActions", context=self.tab, actions=pressed(keys))

    def resize(self, width, height):
        viewport = {"width": width, "height": height}
        self.ask("browsingContext.setViewport", context=self.tab, viewport=viewport)


KEYS = {"Backspace": "\ue003", "Enter": "\ue007"}


def pressed(keys):
    """Return the WebDriver actions that press and release these keys in turn."""
    codes = [KEYS.get(key, key) for key in keys]
    actions = [{"type": kind, "value": code} for code in codes for kind in ("keyDown", "keyUp")]
    return [{"type": "key", "id": "keyboard", "actions": actions}]


@contextmanager
def firefox(folder):
    """Yield a headless Firefox with its profile in `folder`, or None if it is not installed."""
    program = next(filter(None, map(shutil.which, FIREFOX)), None)
    if not program:
        yield None
        return
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in PREFERENCES.items()]
    (folder / "user.js").write_text("\n".join(lines))
    command = [program, "--headless", "--no-remote", "--profile", folder]
    with open(folder / "log", "w+") as log:
        process = subprocess.Popen(
            [*command, "--remote-debugging-port", "0"], stdout=log, stderr=subprocess.STDOUT
        )
        try:
            yield Firefox(f"{listening(folder / 'log', process)}/session")
        finally:
            process.terminate()
            process.wait(lab.PATIENCE)


def listening(log, process):
    """Return the address of the web socket that Firefox prints once it is listening."""
    for _ in range(10 * lab.PATIENCE):
        address = log.read_text().partition("WebDriver BiDi listening on ")[2].partition("\n")
        if address[1]:
            return address[0].strip()
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    raise TimeoutError(log.read_text())


class WebKit:
    """Drive one window of WebKit's MiniBrowser, which reports no console errors, so `faults`
    stays empty.
    """

    faults = ()

    def __init__(self, address):
        self.session = address
        self.width, self.height = 1280, 900
        self.session += f"/session/{self.ask('/session', CAPABILITIES)['sessionId']}"
        self.ask("/timeouts", {"script": 1000 * lab.PATIENCE, "pageLoad": 1000 * lab.PATIENCE})

    def ask(self, path, given=None):
        request = urllib.request.Request(
            self.session + path, json.dumps(given or {}).encode(), {"Content-Type": "text/json"}
        )
        with urllib.request.urlopen(request, timeout=lab.PATIENCE) as answer:
            return json.load(answer)["value"]

    def open(self, address):
        """Open a page; one narrower than WebKit's window is opened in a frame of that width."""
        if self.width >= NARROWEST:
            self.ask("/url", {"url": address})
            return
        # The server's page for a missing file has this origin and no policy that forbids frames.
        self.ask("/url", {"url": urllib.parse.urljoin(address, "/no-such-file")})
        self.evaluate(f"""new Promise(done => {{
            const style = "border:0;width:{self.width}px;height:{self.height}px";
            const frame = Object.assign(document.createElement("iframe"), {{style, onload: done, src: "{address}"}});
            document.body.style.margin = 0;
            document.body.replaceChildren(frame) }}).then(() => true)""")
        self.ask("/frame", {"id": 0})

    def evaluate(self, expression):
        """Return the awaited value of a JavaScript expression."""
        script = f"""const done = arguments[0];
            (async () => JSON.stringify(await ({expression}) ?? null))()
                .then(text => done([text]), error => done([null, String(error)]));"""
        text, *error = self.ask("/execute/async", {"script": script, "args": []})
        assert not error, error
        return json.loads(text)

    def press(self, *keys):
        """Press and release these keys, as in Firefox."""
        self.ask("/actions", {"actions": pressed(keys)})

    def resize(self, width, height):
        """Set the size of the window, which the next `open` uses."""
        self.width, self.height = width, height
        self.ask("/frame", {"id": None})
        self.ask("/window/rect", {"width": max(width, NARROWEST), "height": height})


CAPABILITIES = {"capabilities": {"alwaysMatch": {}}}


@contextmanager
def webkit(folder):
    """Yield a WebKit on a virtual screen, or None if it is not installed."""
    program = next(iter(sorted(Path("/").glob(MINI_BROWSER[1:]))), None)
    if not (program and shutil.which("WebKitWebDriver") and shutil.which("Xvfb")):
        yield None
        return
    CAPABILITIES["capabilities"]["alwaysMatch"] = {
        "webkitgtk:browserOptions": {"binary": str(program), "args": ["--automation"]}
    }
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    screen = ["Xvfb", "-displayfd", "1", "-screen", "0", "1400x1000x24"]
    started = [subprocess.Popen(screen, stdout=subprocess.PIPE, text=True)]
    try:
        environment = {
            "DISPLAY": f":{started[0].stdout.readline().strip()}",
            "HOME": str(folder),
            "PATH": "/usr/bin:/bin",
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
        }
        started.append(subprocess.Popen(["WebKitWebDriver", f"--port={port}"], env=environment))
        for _ in range(10 * lab.PATIENCE):
            with suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=9).close()
                break
            time.sleep(0.1)
        yield WebKit(f"http://127.0.0.1:{port}")
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(lab.PATIENCE)
