"""A real JupyterLab, and a headless Chromium to drive it."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.request
from contextlib import contextmanager, suppress
from math import ceil

import pytest

TOKEN = "suite"
PATIENCE = 240  # seconds before a wait fails; some machines run at a twentieth of their speed
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {  # notifications cover a corner
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    }
}

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]  # the rules that axe-core checks


def from_npm(folder, package, member):
    """Return the text of a file from an npm package; skip the test if npm is missing."""
    if not shutil.which("npm"):
        pytest.skip("no npm here")
    fetched = subprocess.run(
        ["npm", "pack", "--silent", package],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    if fetched.returncode:
        pytest.skip(f"npm has no {package} for us: {fetched.stderr.strip()[-200:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        return archive.extractfile(f"package/{member}").read().decode()


@contextmanager
def jupyterlab(folder, home):
    """Yield the address of a JupyterLab on `folder`, with its own settings, kernels and history
    in `home`.
    """
    settings = home / "settings"
    settings.mkdir()
    (settings / "overrides.json").write_text(json.dumps(SETTINGS))
    own = {
        name: str(home / name)
        for name in [
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_RUNTIME_DIR",
            "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR",
            "IPYTHONDIR",
        ]
    }
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0",
        f"--IdentityProvider.token={TOKEN}",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.app_settings_dir={settings}",
        f"--MappingKernelManager.kernel_info_timeout={PATIENCE}",
        "--LabApp.expose_app_in_browser=True",
    ]  # window.jupyterapp, which runs commands
    log = home / "lab.log"
    with open(log, "w") as output:
        server = subprocess.Popen(
            command, env=os.environ | own, stdout=output, stderr=subprocess.STDOUT
        )

    def ask(path, method="GET"):
        request = urllib.request.Request(
            address + path, headers={"Authorization": f"token {TOKEN}"}, method=method
        )
        return urllib.request.urlopen(request, timeout=PATIENCE).read()

    try:
        while not (address := address_in(home / "JUPYTER_RUNTIME_DIR")):
            assert server.poll() is None, "JupyterLab did not start:\n" + log.read_text()
            time.sleep(0.1)
        yield address
        ask("/api/shutdown", "POST")  # ends the kernels as well
        server.wait(PATIENCE)
    finally:
        server.kill()


def address_in(runtime):
    """Wait until a server has written its address to the file, and return it."""
    for file in runtime.glob("jpserver-*.json"):
        with suppress(ValueError):
            return json.loads(file.read_text())["url"].rstrip("/")


@contextmanager
def chromium(playwright):
    """Yield a headless Chromium, or None: Debian's, or the installed Chrome on any system.

    Debian's headless-only build comes first, because it renders the same pages with a sixth less
    CPU time.
    """
    program = next(
        filter(
            None, map(shutil.which, ["chromium-headless-shell", "chromium", "chromium-browser"])
        ),
        None,
    )
    where = {"executable_path": program} if program else {"channel": "chrome"}
    quiet = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",  # as root, in a container
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--process-per-site",
    ]  # pages share compiled code
    try:
        browser = playwright.chromium.launch(args=quiet, timeout=1000 * PATIENCE, **where)
    except Exception as error:
        assert not program, error
        yield None
        return
    yield browser
    browser.close()


class Window:
    """Drive a JupyterLab page that opens lessons one after the other, and collect the browser's
    console errors.
    """

    def __init__(self, browser, address):
        self.page = browser.new_page(viewport={"width": 1280, "height": 900})
        self.console, self.outside = [], []
        self.page.on(
            "console", lambda said: said.type == "error" and self.console.append(said.text)
        )
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.on(
            "request",
            lambda request: (
                self.outside.append(request.url)
                if not request.url.startswith((address, "data:", "blob:"))
                else None
            ),
        )
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.goto(f"{address}/lab?reset&token={TOKEN}")
        self.page.wait_for_function(
            """window.jupyterapp?.shell.currentWidget
                                       && !document.querySelector('#jupyterlab-splash')""",
            polling=20,
        )


def until(page, condition, given=None):
    """Wait for a JavaScript condition on a page of the site, whose policy forbids the eval in
    `wait_for_function`.

    The page polls, because each call from here costs a hundred times as much.
    """
    from playwright.sync_api import Error

    polls = f"""async given => {{
        const holds = () => {{ const one = ({condition}); return typeof one === "function" ? one(given) : one; }};
        for (const end = performance.now() + 2000; performance.now() < end;) {{
            if (await holds()) return true;
            await new Promise(done => setTimeout(done, 20));
        }} }}"""
    end = time.monotonic() + PATIENCE
    while True:
        with suppress(Error):  # a page that is reloading cannot evaluate anything
            if page.evaluate(polls, given):
                return
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


class Lesson:
    """Drive a notebook that is open in JupyterLab."""

    def __init__(self, window, path):
        self.window, self.page = window, window.page
        self.page.evaluate(
            "path => { window.ran = 0; jupyterapp.commands.execute('docmanager:open', {path}) }",
            path,
        )
        self.wait(
            """path => { const panel = jupyterapp.shell.currentWidget;
                  return panel?.context?.path === path && panel.sessionContext.session?.kernel?.status === 'idle'
                         && panel.content.widgets.every(cell => !cell.isPlaceholder()) }""",
            given=path,
        )
        self.page.evaluate(LISTEN)

    def close(self):
        """Close the notebook and shut its kernel down, without a dialog about saving."""
        self.page.evaluate("""async () => { const panel = jupyterapp.shell.currentWidget;
                           await panel.sessionContext.shutdown(); panel.dispose() }""")
        self.window.console, self.window.outside = [], []

    def wait(self, condition, *, given=None):
        # Poll every 20 ms; polling at every frame would require the page to draw frames
        return self.page.wait_for_function(condition, arg=given, polling=20)

    def run_all(self):
        """Run all cells, to the end or the first error."""
        self.page.evaluate(
            "() => { jupyterapp.commands.execute('notebook:run-all-cells').then(() => window.ran = 1) }"
        )
        self.wait(
            "window.ran && lab.kernel.status === 'idle' && !lab.asked.size && lab.widgets_show()"
        )

    def errors(self):
        """Return every exception and warning of the kernel so far, including those in a slider's
        callback, and the widgets that are not displayed.

        "No such comm …" is left out, because JupyterLab may ask for the state of widgets before
        ipywidgets is imported.
        """
        broken = self.page.eval_on_selector_all(
            ".jupyter-widgets-error, .jp-WidgetManager-error",
            "found => found.map(one => one.innerText)",
        )
        return self.page.evaluate("lab.raised") + broken

    def cell(self, cell_id):
        """Return the cell's element in the page."""
        return self.page.evaluate_handle("id => lab.cell(id).node", cell_id).as_element()

    def widgets(self):
        """Return (id of its cell, element) for each widget on display, without widgets inside
        another.
        """
        inner = ".jupyter-widgets .jupyter-widgets"
        found = self.page.query_selector_all(
            f".jp-Notebook .jp-OutputArea-output .jupyter-widgets:not({inner})"
        )
        return list(zip(self.page.evaluate("nodes => nodes.map(lab.id)", found), found))

    def run(self, cell_id, text=None):
        """Run one cell by the keyboard, after replacing its content by `text` if given."""
        self.cell(cell_id).wait_for_selector(".cm-content").click()
        self.wait(
            "id => lab.cell(id).node.querySelector('.cm-content') === document.activeElement",
            given=cell_id,
        )
        if text is not None:
            self.page.keyboard.press("ControlOrMeta+A")
            self.page.keyboard.insert_text(text)
            self.wait(
                "([id, text]) => lab.cell(id).model.sharedModel.source === text",
                given=[cell_id, text],
            )
        self.page.evaluate("lab.ran = 0")
        self.page.keyboard.press("Shift+Enter")
        self.wait("lab.ran && lab.kernel.status === 'idle'")

    def shown(self, cell_id):
        """Return the output of the cell as text, once there is one."""
        self.wait(
            """id => {
            const node = lab.cell(id).node;
            node.scrollIntoView();      // off screen it is not drawn, and what is not drawn has no text
            return node.querySelector('.jp-OutputArea').innerText.trim() }""",
            given=cell_id,
        )
        return self.cell(cell_id).query_selector(".jp-OutputArea").inner_text()

    def watch(self, widget):
        """Let `press` measure the changes of this widget from now on."""
        self.page.evaluate("widget => lab.watch(widget)", widget)

    def rest(self):
        """Wait until the kernel has answered every request, and the watched widget has displayed
        the result.
        """
        rests = self.wait(
            "lab.rests() && new Promise(idle => requestIdleCallback(() => idle(lab.rests())))"
        )
        return rests.json_value()

    def press(self, control, keys):
        """Press keys on a control of the watched widget, and wait until kernel and widget are
        idle.

        Record the milliseconds from the last press to the last change and to the frame that shows
        it, or None if the slider was already at its end.
        """
        standing = control.evaluate("control => lab.ready(control)")
        for key in keys.split():
            self.page.keyboard.press(key)
        if standing and control.get_attribute("aria-valuetext") == standing:
            return None
        return self.rest()

    def look(self, width=1280, theme="Light"):
        """Set the window's width, and JupyterLab's theme."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.evaluate(
            "theme => { jupyterapp.commands.execute('apputils:change-theme', {theme}) }",
            f"JupyterLab {theme}",
        )
        self.wait(
            """theme => document.body.dataset.jpThemeName === theme && document.querySelector('.jp-Cell').offsetHeight
                     && !document.querySelector('#jupyterlab-splash')""",
            given=f"JupyterLab {theme}",
        )

    def pictures(self, path):
        """Save the whole notebook as PNGs: path_1.png, path_2.png, …"""
        # JupyterLab does not draw cells that are off screen; it guesses their height
        drawn = "content-visibility: visible !important; contain: style !important"
        self.page.add_style_tag(content=f".jp-Cell {{{drawn}}}")
        width, high = self.page.viewport_size["width"], 3000
        self.page.set_viewport_size({"width": width, "height": high})
        self.wait("high => lab.scroller().clientHeight > 0.9 * high", given=high)
        seen, whole = self.page.evaluate(
            "[lab.scroller().clientHeight, lab.scroller().scrollHeight]"
        )
        for part in range(ceil(whole / seen)):
            self.page.evaluate("top => { lab.scroller().scrollTop = top }", part * seen)
            self.page.screenshot(path=f"{path}_{part + 1}.png")
        self.page.set_viewport_size({"width": width, "height": 900})


# window.lab: functions that the tests call in the page. Times are those of performance.now(),
# like an event's timeStamp.
LISTEN = """() => {
    const panel = jupyterapp.shell.currentWidget;
    const kernel = panel.sessionContext.session.kernel;
    const cells = () => panel.content.widgets;
    const gone = new AbortController();
    panel.disposed.connect(() => gone.abort());
    const lab = window.lab = {
        kernel, cells, scroller: () => panel.node.querySelector('.jp-WindowedPanel-outer'),
        cell: id => cells().find(cell => cell.model.id === id),
        id: node => cells().find(cell => cell.node.contains(node)).model.id,
        raised: [], ran: 0, asked: new Set(),      // which messages to widgets in the kernel it has not answered yet
        // With all that is inside them: what ipywidgets puts into a box comes after the box
        widgets_show: async () => {
            const views = widget => [widget._view ?? [], ...[...widget.children()].map(views)].flat();
            const whole = async view => {
                for (const inside of await Promise.all(view.children_views?.views ?? []))
                    await whole(inside);
            };
            await Promise.all(views(panel.content).map(whole));
            return [...panel.node.querySelectorAll('[data-mime-type="application/vnd.jupyter.widget-view+json"]')]
                .every(view => view.querySelector('.jupyter-widgets, .jupyter-widgets-error, .jp-WidgetManager-error'));
        },
        watch: widget => {
            lab.observer?.disconnect();
            lab.observer = new MutationObserver(() => {
                lab.changed = performance.now();
                requestAnimationFrame(() => { lab.shown = performance.now() });
            });
            lab.observer.observe(widget, {subtree: true, childList: true, characterData: true, attributes: true});
        },
        ready: control => {
            control.focus();
            lab.sent = lab.changed = lab.shown = 0;
            return control.getAttribute('aria-valuetext');
        },
        rests: () => lab.sent && !lab.asked.size && lab.shown >= lab.changed
                     && [lab.changed - lab.pressed, lab.shown - lab.pressed],
    };
    document.addEventListener('keydown', event => { lab.pressed = event.timeStamp }, {capture: true, signal: gone.signal});
    kernel.anyMessage.connect((_, {msg, direction}) => {
        if (direction === 'send' && msg.header.msg_type === 'comm_msg') lab.asked.add(lab.sent = msg.header.msg_id);
    });
    kernel.iopubMessage.connect((_, {header, parent_header, content}) => {
        if (header.msg_type === 'error') lab.raised.push(`${content.ename}: ${content.evalue}`);
        if (content.name === 'stderr' && !content.text.startsWith('No such comm')) lab.raised.push(content.text);
        if (content.execution_state === 'idle') lab.asked.delete(parent_header.msg_id);
        if (content.execution_state === 'idle' && parent_header.msg_type === 'execute_request') lab.ran = 1;
    });
}"""
