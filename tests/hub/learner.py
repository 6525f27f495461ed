"""Simulate a learner at a hub as the browser does: log in, start a server, pull the course, run
cells, move sliders.
"""

import asyncio
import json
import re
import time
from pathlib import Path
from uuid import uuid4

import httpx
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect


class Learner:
    def __init__(self, hub, name):
        self.hub, self.name = hub, name
        self.at = f"{hub}/user/{name}"
        self.browser = httpx.AsyncClient(follow_redirects=True, timeout=200)
        self.kernel = self.socket = None

    def xsrf(self):
        return {
            "X-XSRFToken": next(
                cookie.value
                for cookie in self.browser.cookies.jar
                if cookie.name == "_xsrf" and cookie.path == "/hub/"
            )
        }

    async def login(self, password="a long password"):
        """Log in and create an API token, which replaces the cookies from here on."""
        await self.browser.get(f"{self.hub}/hub/login")
        await self.browser.post(
            f"{self.hub}/hub/login?next=/hub/home",
            headers=self.xsrf(),
            data={"username": self.name, "password": password, "_xsrf": self.xsrf()["X-XSRFToken"]},
        )
        given = await self.browser.post(
            f"{self.hub}/hub/api/users/{self.name}/tokens", headers=self.xsrf(), json={}
        )
        self.token = given.raise_for_status().json()["token"]
        self.cookies = {cookie.name: cookie.value for cookie in self.browser.cookies.jar}
        self.browser.headers["Authorization"] = f"token {self.token}"
        return self

    async def ask(self, method, path, **options):
        """Return the reply of the learner's own server, or raise HTTPStatusError if it refuses."""
        return (
            await self.browser.request(method, f"{self.at}/{path}", **options)
        ).raise_for_status()

    async def start(self):
        """Start the learner's server and return the seconds until it is ready."""
        begin, me = time.perf_counter(), f"{self.hub}/hub/api/users/{self.name}"
        while (
            await self.browser.post(f"{me}/server", json={})
        ).status_code == 400:  # the previous server is still stopping
            assert time.perf_counter() - begin < 60, "no server may start"
            await asyncio.sleep(1)
        while not (await self.browser.get(me)).json()["servers"].get("", {}).get("ready"):
            assert time.perf_counter() - begin < 200, "no server"
            await asyncio.sleep(0.2)
        return time.perf_counter() - begin

    async def pull(self, repository, branch):
        """Pull the course into the folder autograd/ with nbgitpuller, like the link in
        docs/classroom.md.
        """
        link = {
            "repo": repository,
            "branch": branch,
            "targetPath": "autograd",
            "urlpath": "lab/tree/autograd",
        }
        page = await self.browser.get(f"{self.hub}/hub/user-redirect/git-pull", params=link)
        assert (page.status_code, page.url.path) == (200, f"/user/{self.name}/git-pull"), (
            "where the link leads"
        )
        where = {"repo": repository, "branch": branch, "targetpath": "autograd"}
        said = await self.ask("GET", "git-pull/api", params=where)
        assert '"phase": "finished"' in said.text, said.text[-500:]

    async def open(self, path):
        """Open the notebook with a kernel, and return its cells."""
        self.path = path
        self.notebook = (await self.ask("GET", f"api/contents/{path}")).json()["content"]
        session = await self.ask(
            "POST",
            "api/sessions",
            json={"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}},
        )
        self.kernel = session.json()["kernel"]["id"]
        await self.connect()
        return [cell for cell in self.notebook["cells"] if cell["cell_type"] == "code"]

    async def connect(self):
        self.session = uuid4().hex
        self.socket = await websocket_connect(
            HTTPRequest(
                f"{self.at.replace('http', 'ws', 1)}/api/kernels/{self.kernel}/channels?session_id={self.session}",
                headers={"Authorization": f"token {self.token}"},
                request_timeout=60,
            ),
            max_message_size=100_000_000,
        )

    async def send(self, kind, content):
        """Send a message and return the messages that answer it, each with its time in seconds,
        and the reply.
        """
        header = {
            "msg_id": uuid4().hex,
            "msg_type": kind,
            "session": self.session,
            "username": self.name,
            "version": "5.3",
            "date": "",
        }
        begin, answers, idle, reply = time.perf_counter(), [], False, kind == "comm_msg"
        await self.socket.write_message(
            json.dumps(
                {
                    "header": header,
                    "parent_header": {},
                    "metadata": {},
                    "buffers": [],
                    "channel": "shell",
                    "content": content,
                }
            )
        )
        while not (idle and reply):
            message = await asyncio.wait_for(self.socket.read_message(), 200)
            if message is None:
                raise ConnectionError("the kernel's socket was closed")
            message = json.loads(message)
            if message["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            answers.append((time.perf_counter() - begin, message))
            idle = idle or message["content"].get("execution_state") == "idle"
            reply = reply or message["channel"] == "shell"
        return answers

    async def run(self, code):
        """Run a cell and return its messages; raise RuntimeError if the cell raises an error."""
        answers = await self.send(
            "execute_request",
            {
                "code": code,
                "silent": False,
                "store_history": True,
                "user_expressions": {},
                "allow_stdin": False,
            },
        )
        for _, message in answers:
            if message["msg_type"] == "error":
                raise RuntimeError(
                    f"{self.name}: {message['content']['ename']}: {message['content']['evalue']}"
                )
        return [message for _, message in answers]

    async def value(self, expression):
        """Return the text that an expression prints."""
        return "".join(
            message["content"]["text"]
            for message in await self.run(f"print({expression})")
            if message["msg_type"] == "stream"
        ).strip()

    async def move(self, slider, value):
        """Move a slider and return the seconds until the kernel's last change for it, including
        the picture.
        """
        answers = await self.send(
            "comm_msg",
            {
                "comm_id": slider,
                "data": {"method": "update", "state": {"value": value}, "buffer_paths": []},
            },
        )
        changes = [
            (when, message) for when, message in answers if message["msg_type"] == "comm_msg"
        ]
        assert any("<svg" in json.dumps(message["content"]) for _, message in changes), "no picture"
        return changes[-1][0]

    async def save(self):
        await self.ask(
            "PUT",
            f"api/contents/{self.path}",
            json={"type": "notebook", "format": "json", "content": self.notebook},
        )


def sliders(messages):
    """Return a dict from the name of each slider in a kernel's messages to its id; the later of two
    with one name counts.
    """
    made = [message["content"] for message in messages if message["msg_type"] == "comm_open"]
    return {
        content["data"]["state"]["tooltip"]: content["comm_id"]
        for content in made
        if content["data"]["state"]["_model_name"] == "FloatSliderModel"
    }


def processes(name):
    """Return a dict from each process of a learner to (command, MB of its own, PSS), as root sees it."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (
                f"JUPYTERHUB_USER={name}\0"
                in (folder / "environ").read_bytes().decode(errors="replace") + "\0"
            ):
                pss = re.search(
                    r"^Pss: +(\d+)", (folder / "smaps_rollup").read_text(), re.MULTILINE
                )
                found[int(folder.name)] = (folder / "cmdline").read_text(), int(pss[1]) / 1000
        except OSError:
            pass
    return found
