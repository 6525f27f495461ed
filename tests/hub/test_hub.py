"""A real JupyterHub with simulated learners; a separate job that needs `pip install
".[course,hub]"` and npm's proxy.

Run HUB_LEARNERS="1 10 20" python -m pytest tests/hub -o addopts= --noconftest -s as root;
otherwise, part of it is skipped.
"""

import asyncio
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ["jupyterhub", "jupyterhub_idle_culler", "nbgitpuller", "firstuseauthenticator"]
if not all(map(find_spec, NEEDED)) or not shutil.which("configurable-http-proxy"):
    pytest.skip(
        "JupyterHub or its proxy is not installed: see docs/classroom.md",
        allow_module_level=True,
    )

sys.path.insert(0, str(Path(__file__).parent))
import httpx  # noqa: E402
import zmq  # noqa: E402
from learner import Learner, processes, sliders  # noqa: E402
from tornado.httpclient import HTTPClientError  # noqa: E402

LESSON = "autograd/notebooks/02_draw_the_graph.ipynb"
SIZES = [int(size) for size in os.environ.get("HUB_LEARNERS", "1 10").split()]
NAMES = [f"learner{number:02}" for number in range(max(2, *SIZES))]
ROOTED = hasattr(os, "geteuid") and os.geteuid() == 0
ROOT_ONLY = pytest.mark.skipif(not ROOTED, reason="only root gives others a user number")
SPAWNERS = ["simple", pytest.param("own", marks=ROOT_ONLY)]


class Hub:
    """Run JupyterHub with docs/jupyterhub_config.py in a folder of its own."""

    def __init__(self, spawner, cull=3600):
        self.folder = Path(tempfile.mkdtemp(prefix="h"))
        self.folder.chmod(0o711)
        for name, mode in [("h", 0o711), ("secrets", 0o700)]:
            (self.folder / name).mkdir(mode)
            (self.folder / name).chmod(mode)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1] - 5 & 0xFFF8
        self.port, self.at = port, f"http://127.0.0.1:{port}"
        self.env = os.environ | {
            "HUB_CONFIG": str(ROOT / "docs/jupyterhub_config.py"),
            "HUB_SPAWNER": spawner,
            "HUB_PORT": str(port),
            "HUB_CULL": str(cull),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        (self.folder / "secrets/class.txt").write_text("\n".join(["teacher", *NAMES]))
        self.log = open(self.folder / "secrets/log", "ab")
        self.begin()

    def begin(self):
        config = Path(__file__).with_name("config.py")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "-f", config],
            cwd=self.folder / "secrets",
            env=self.env,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        for _ in range(300):
            try:
                if httpx.get(f"{self.at}/hub/health").status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            assert self.process.poll() is None, (self.folder / "secrets/log").read_text()[-2000:]
            time.sleep(0.2)
        raise TimeoutError("the hub does not answer")

    def end(self):
        for name in NAMES:
            for process in processes(name):
                os.kill(process, signal.SIGKILL)
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def hub(spawner, **options):
    hub = Hub(spawner, **options)
    try:
        yield hub
    except BaseException:
        print((hub.folder / "secrets/log").read_text()[-3000:])
        raise
    finally:
        hub.end()


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Create a repository of the current course for nbgitpuller, readable for everyone."""
    folder = Path(tempfile.mkdtemp(prefix="course"))
    for name in ["notebooks", "autograd_lib", "autograd_course", "pyproject.toml", "README.md"]:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    git = ["git", "-c", "user.name=teacher", "-c", "user.email=teacher@localhost"]
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        ["commit", "-q", "-m", "The course"],
    ):
        subprocess.run([*git, *command], cwd=folder, check=True)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    yield f"file://{folder}"
    shutil.rmtree(folder, ignore_errors=True)


async def seated(hub, names, course):
    """Return learners who have the lesson open, and the seconds that each waited for a server."""
    learners = [await Learner(hub.at, name).login() for name in names]
    waited = await asyncio.gather(*[learner.start() for learner in learners])
    for learner in learners:
        await learner.pull(course, "main")
    cells = await asyncio.gather(*[learner.open(LESSON) for learner in learners])
    return learners, waited, cells


async def run_all(learner, cells):
    """Run the lesson from the first cell to the last, and return (seconds, messages)."""
    begin, messages = time.perf_counter(), []
    for cell in cells:
        messages += await learner.run("".join(cell["source"]))
    return time.perf_counter() - begin, messages


def median_and_worst(seconds, unit=1):
    return f"{statistics.median(seconds) * unit:.3g} ({max(seconds) * unit:.3g})"


@pytest.mark.parametrize("size", SIZES)
def test_a_class(size, course):
    async def lesson():
        learners, waited, cells = await seated(hub_, NAMES[:size], course)
        ran = await asyncio.gather(*map(run_all, learners, cells))
        moved = []

        async def play(learner, messages, number):
            slider = sliders(messages)["slide y"]
            await asyncio.sleep(number / size)
            for step in range(12):
                moved.append(await learner.move(slider, 1.0 + step % 4))
                await asyncio.sleep(1)  # a learner looks at the change

        await asyncio.gather(
            *[
                play(learner, messages, number)
                for number, (learner, (_, messages)) in enumerate(zip(learners, ran))
            ]
        )
        memory = [processes(learner.name) for learner in learners]
        servers, kernels = (
            [
                sum(mb for command, mb in found.values() if ("ipykernel" in command) is kernel)
                for found in memory
            ]
            for kernel in (False, True)
        )
        print(
            f"\n{size} learners; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores. Median (worst):\n"
            f"server ready {median_and_worst(waited)} s, "
            f"all cells {median_and_worst([seconds for seconds, _ in ran])} s, "
            f"slider to picture {median_and_worst(moved, 1000)} ms,\n"
            f"MB: server {median_and_worst(servers)}, kernel {median_and_worst(kernels)}"
        )
        assert max(map(sum, zip(servers, kernels))) < 512, (
            "what docs/classroom.md plans for a learner"
        )
        assert statistics.median(moved) < 1, "seconds from a slider to its picture"

    with hub("own" if ROOTED else "simple") as hub_:
        asyncio.run(lesson())


async def at_work(hub, course):
    """Return a learner who has solved an exercise, saved the notebook, and has a variable in the
    kernel.
    """
    (learner,), _, (cells,) = await seated(hub, NAMES[:1], course)
    for cell in learner.notebook["cells"]:
        if cell["source"] == "gradient_of_a = ...":
            cell["source"] = "gradient_of_a = 36"
    await run_all(learner, cells)
    await learner.save()
    await learner.run("mine = 42")
    return learner


async def kept(learner, restarted=True):
    """Return True if the notebook has the answer and progress.json records it as right."""
    lesson = (await learner.ask("GET", f"api/contents/{LESSON}")).json()["content"]
    progress = (await learner.ask("GET", "api/contents/autograd/notebooks/progress.json")).json()[
        "content"
    ]
    return (
        "gradient_of_a = 36" in [cell["source"] for cell in lesson["cells"]]
        and "02.routes" in progress
    )


def kill(learner, kernel):
    for process, (command, _) in processes(learner.name).items():
        if ("ipykernel" in command) is kernel:
            os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("spawner", SPAWNERS[-1:])
def test_saved_work_survives(spawner, course):
    """Saved work survives a killed kernel, a restarted and a killed hub, a killed server, and a
    culled server.
    """

    async def lesson():
        learner = await at_work(hub_, course)
        assert await kept(learner)

        kill(learner, kernel=True)
        await asyncio.sleep(8)  # JupyterLab's server starts a new kernel
        await learner.connect()
        assert await learner.value("'mine' in dir()") == "False" and await kept(learner), (
            "a kernel killed"
        )

        await learner.run("mine = 42")
        for sent in (signal.SIGTERM, signal.SIGKILL):
            hub_.process.send_signal(sent)
            hub_.process.wait(30)
            hub_.begin()
            await learner.connect()
            assert await learner.value("mine") == "42" and await kept(learner), (
                "the hub restarted: the kernel goes on"
            )

        kill(learner, kernel=False)
        await asyncio.sleep(8)  # the hub looks every two seconds here
        await learner.start()
        assert await kept(learner), "a server killed"

        await learner.open(LESSON)
        before, begin = sum(mb for _, mb in processes(learner.name).values()), time.perf_counter()
        while processes(learner.name):
            assert time.perf_counter() - begin < 120, "nobody is there, and the server runs on"
            await asyncio.sleep(1)
        print(f"\nculled after {time.perf_counter() - begin:.0f} s, {before:.0f} MB given back")
        await learner.start()
        assert await kept(learner), "a server culled"

    with hub(spawner, cull=30) as hub_:
        asyncio.run(lesson())


# Attacks of alice, who is in the same class as bob: a dict from attack to True if it
# succeeds. FORBIDDEN is any refusal.
FORBIDDEN = (302, 400, 401, 403, 404, 405)

# These run in alice's own kernel, where only the system's user accounts protect bob.
INSIDE = {
    "bob's files, from a cell": "open('{bob}/autograd/notebooks/progress.json').read()",
    "bob's folder, through a link in one's own": "import os; os.symlink('{bob}', 'link'); os.listdir('link')",
    "bob's kernel's connection file and socket": "import glob; open(glob.glob('{bob}/.local/share/jupyter/runtime/kernel-*.json')[0])",
    "bob's token, from /proc": "open('/proc/{server}/environ').read()",
    "bob's kernel, killed": "import os; os.kill({kernel}, 0)",
    "the proxy's token, from /proc": "open('/proc/{proxy}/environ').read()",
    "the hub's database and cookie secret": "open('{secrets}/jupyterhub.sqlite'); open('{secrets}/jupyterhub_cookie_secret')",
}


async def attacks(hub, alice, bob):
    """Return [(what is tried, True if it succeeds)]."""
    found = processes(bob.name)
    server, kernel = (
        next(
            process for process, (command, _) in found.items() if ("ipykernel" in command) is wanted
        )
        for wanted in (False, True)
    )
    proxy = int(
        subprocess.check_output(
            ["pgrep", "-f", f"configurable-http-proxy.*{hub.port}"], text=True
        ).split()[0]
    )
    theirs = subprocess.check_output(["ss", "-ltnpH"], text=True).splitlines()
    port = next(
        int(line.split()[3].rpartition(":")[2]) for line in theirs if f"pid={server}," in line
    )
    tried = []

    async def web(what, method, url, token=None, **options):
        async with httpx.AsyncClient(cookies=options.pop("cookies", None)) as client:
            headers = {"Authorization": f"token {token}"} if token else {}
            answer = await client.request(method, url, headers=headers, **options)
        tried.append((what, answer.status_code not in FORBIDDEN))
        return answer.status_code

    by_port = f"http://127.0.0.1:{port}/user/{bob.name}"
    for at in (bob.at, by_port):
        assert (
            await web("", "GET", f"{at}/api/contents/autograd/notebooks/progress.json", bob.token)
            == 200
        )
    tried.clear()  # the next attacks use addresses that bob himself can open
    api, mine = f"{hub.at}/hub/api", alice.token
    for token, whose in [
        (None, "no token"),
        (mine, "one's own token"),
        ("0" * 32, "a guessed token"),
    ]:
        for path in [
            "api/contents/autograd/notebooks/progress.json",
            f"api/kernels/{bob.kernel}",
            "api/sessions",
            "lab",
            "files/autograd/notebooks/progress.json",
            "api/terminals",
        ]:
            await web(f"bob's server, {whose}", "GET", f"{bob.at}/{path}", token)
            await web(f"bob's server by its port, {whose}", "GET", f"{by_port}/{path}", token)
        await web(
            f"bob's kernel stopped, {whose}", "DELETE", f"{bob.at}/api/kernels/{bob.kernel}", token
        )
        await web(
            f"the proxy's own port, {whose}",
            "GET",
            f"http://127.0.0.1:{hub.port + 2}/api/routes",
            token,
        )
    for method, path in [
        ("GET", "users"),
        ("GET", f"users/{bob.name}"),
        ("DELETE", f"users/{bob.name}/server"),
        ("POST", f"users/{bob.name}/tokens"),
        ("GET", f"users/{bob.name}/tokens"),
        ("GET", "proxy"),
        ("POST", "users/mallory"),
        ("PATCH", f"users/{alice.name}"),
        ("POST", "shutdown"),
        ("GET", "services"),
    ]:
        await web(
            "the hub's API, one's own token", method, f"{api}/{path}", mine, json={"admin": True}
        )
    await web(
        "no xsrf token, cookies alone",
        "POST",
        f"{api}/users/{alice.name}/tokens",
        json={},
        cookies=alice.cookies,
    )

    for path in [
        "files/../../{0}/x",
        "files/%2e%2e/%2e%2e/{0}/x",
        "api/contents/..%2f..%2f{0}",
        "api/contents/%2e%2e/{0}",
        "files//etc/passwd",
        "api/contents/..%5c..%5c{0}",
        "files/..%252f..%252f{0}",
        "../{0}/api/contents",
    ]:
        with socket.create_connection(
            ("127.0.0.1", hub.port)
        ) as line:  # a raw request, because clients normalise the path
            line.sendall(
                f"GET /user/{alice.name}/{path.format(bob.name)} HTTP/1.0\r\n"
                f"Authorization: token {mine}\r\n\r\n".encode()
            )
            status = int(line.makefile("rb").readline().split()[1])
            tried.append(("a path out of one's folder", status not in FORBIDDEN))
    try:
        await Learner.connect(type("", (), vars(bob) | {"token": mine})())
        tried.append(("the websocket of bob's kernel, one's own token", True))
    except HTTPClientError:
        tried.append(("the websocket of bob's kernel, one's own token", False))
    mallory = Learner(hub.at, bob.name)
    try:
        await mallory.login("another password")
        tried.append(("bob's name with another password", True))
    except httpx.HTTPStatusError:
        tried.append(("bob's name with another password", False))
    with (
        zmq.Context() as context,
        context.socket(zmq.SUB) as ear,
    ):  # a kernel's messages are signed, not secret
        ear.subscribe("")
        for line in theirs:
            if f"pid={kernel}," in line:
                ear.connect(f"tcp://{line.split()[3]}")
        await asyncio.sleep(1)
        await bob.run("print('what bob thinks')")
        tried.append(("bob's outputs, from his kernel's ports", bool(ear.poll(1000))))
    for what, code in INSIDE.items():
        try:
            await alice.run(
                code.format(
                    bob=hub.folder / "h" / bob.name,
                    server=server,
                    kernel=kernel,
                    proxy=proxy,
                    secrets=hub.folder / "secrets",
                )
            )
            tried.append((what, True))
        except RuntimeError:
            tried.append((what, False))
    return tried


@pytest.mark.parametrize("spawner", SPAWNERS)
def test_attacks_on_another_learners_work(spawner, course):
    """If all learners share one system user, only attacks from inside a kernel succeed. With one
    user each, none does.
    """

    async def lesson():
        (alice, bob), _, (_, cells) = await seated(hub_, NAMES[:2], course)
        await run_all(bob, cells)
        await bob.run("open('progress.json', 'a').close()")
        tried = await attacks(hub_, alice, bob)
        through = {what for what, got in tried if got}
        print(f"\n{spawner}: {len(tried)} tried; through: {sorted(through) or 'none'}")
        assert through == (set(INSIDE) if spawner == "simple" else set())

    with hub(spawner) as hub_:
        asyncio.run(lesson())
