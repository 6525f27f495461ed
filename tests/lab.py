"""A real JupyterLab, and a headless Chromium to use it with."""
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

TOKEN = "suite"
NO_NOTICES = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}  # they cover a corner
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": NO_NOTICES,
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},  # cells off screen are in the page too
}


@contextmanager
def jupyterlab(folder, home):
    """Yield the address of a JupyterLab on `folder`, with settings, kernels and history of its own in `home`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = home / "settings"
    settings.mkdir()
    (settings / "overrides.json").write_text(json.dumps(SETTINGS))
    own = {name: str(home / name) for name in [
        "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR"]}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1",
               f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}",
               f"--ServerApp.root_dir={folder}", f"--LabApp.app_settings_dir={settings}",
               "--LabApp.expose_app_in_browser=True"]  # window.jupyterapp, which runs commands
    log = home / "lab.log"
    with open(log, "w") as output:
        server = subprocess.Popen(command, env=os.environ | own, stdout=output, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"

    def ask(path, method="GET"):
        request = urllib.request.Request(address + path, headers={"Authorization": f"token {TOKEN}"}, method=method)
        return urllib.request.urlopen(request, timeout=5).read()

    try:
        for _ in range(600):
            try:
                ask("/api/status")
                break
            except OSError:
                assert server.poll() is None, "JupyterLab did not start:\n" + log.read_text()
                time.sleep(0.1)
        yield address
        ask("/api/shutdown", "POST")  # ends the kernels as well
        server.wait(20)
    finally:
        server.kill()


@contextmanager
def chromium(playwright):
    """Yield a headless Chromium, or None where there is none: Debian's, or the installed Chrome on any system."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    where = {"executable_path": program} if program else {"channel": "chrome"}
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",  # as root, in a container
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    try:
        browser = playwright.chromium.launch(args=quiet, **where)
    except Exception as error:
        assert not program, error
        yield None
        return
    yield browser
    browser.close()


class Lesson:
    """A notebook open in JupyterLab, and what the browser complained of meanwhile."""

    def __init__(self, browser, address, path):
        self.page = browser.new_page(viewport={"width": 1280, "height": 900})
        self.console, self.outside = [], []
        self.page.on("console", lambda said: said.type == "error" and self.console.append(said.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.on("request", lambda request: self.outside.append(request.url)
                     if not request.url.startswith((address, "data:", "blob:")) else None)
        self.page.goto(f"{address}/lab/tree/{path}?reset&token={TOKEN}")
        self.wait("window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'")
        self.page.evaluate("""() => {
            window.raised = [];
            jupyterapp.shell.currentWidget.sessionContext.session.kernel.iopubMessage.connect((_, {header, content}) => {
                if (header.msg_type === 'error') raised.push(`${content.ename}: ${content.evalue}`);
                if (content.name === 'stderr' && !content.text.startsWith('No such comm')) raised.push(content.text);
            });
        }""")

    def wait(self, condition, seconds=60):
        self.page.wait_for_function(condition, timeout=1000 * seconds)

    def run_all(self, seconds=180):
        """Run all cells, to the end or the first error."""
        self.page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells').then(() => window.ran = 1) }")
        self.wait("window.ran && jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'", seconds)

    def errors(self):
        """Every exception and warning of the kernel so far, also those of a slider's callback, and widgets that do not show.

        Less "No such comm …": JupyterLab may ask for the state of widgets before ipywidgets is imported.
        """
        broken = self.page.eval_on_selector_all(".jupyter-widgets-error, .jp-WidgetManager-error",
                                                "found => found.map(one => one.innerText)")
        return self.page.evaluate("window.raised") + broken

    def picture(self, path):
        """The whole notebook as one PNG."""
        height = self.page.evaluate("document.querySelector('.jp-NotebookPanel .jp-WindowedPanel-viewport').scrollHeight")
        self.page.set_viewport_size({"width": 1280, "height": min(height + 120, 16000)})
        self.page.wait_for_timeout(500)  # it lays itself out anew, and stays where it had scrolled to
        self.page.evaluate("document.querySelector('.jp-NotebookPanel .jp-WindowedPanel-outer').scrollTop = 0")
        self.page.screenshot(path=path)
        self.page.set_viewport_size({"width": 1280, "height": 900})
