"""docs/jupyterhub_config.py adapted to a machine without systemd and accounts; test_hub.py
starts it in a folder.
"""

import os
from pathlib import Path

from jupyterhub.spawner import SimpleLocalProcessSpawner

c = get_config()  # noqa: F821  JupyterHub puts it here
load_subconfig(os.environ["HUB_CONFIG"])  # noqa: F821

HERE = Path.cwd().parent


class OneUserEach(SimpleLocalProcessSpawner):
    """Give each learner a system user and a private home, as systemd, accounts and containers
    do.
    """

    def make_preexec_fn(self, name):
        home, number = Path(self.home_dir), 20_000 + self.user.id

        def before():
            home.mkdir(mode=0o700, exist_ok=True)
            os.chown(home, number, number)
            os.chdir(home)
            os.setgroups([])
            os.setgid(number)
            os.setuid(number)

        return before


c.JupyterHub.spawner_class = {"simple": SimpleLocalProcessSpawner, "own": OneUserEach}[
    os.environ["HUB_SPAWNER"]
]
c.SimpleLocalProcessSpawner.home_dir_template = str(
    HERE / "h/{username}"
)  # a path to a kernel has 107 letters
c.JupyterHub.bind_url = f"http://127.0.0.1:{os.environ['HUB_PORT']}"
c.JupyterHub.hub_port = int(os.environ["HUB_PORT"]) + 1
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{int(os.environ['HUB_PORT']) + 2}"
c.FirstUseAuthenticator.dbm_path = str(Path.cwd() / "passwords")
c.Spawner.poll_interval = 2
c.Spawner.args.append("--allow-root")  # with SimpleLocalProcessSpawner, where this is run by root
c.JupyterHub.services[0]["command"][-1:] = [f"--timeout={os.environ['HUB_CULL']}", "--cull-every=2"]
(HERE / "gitconfig").write_text(
    "[safe]\n\tdirectory = *\n", encoding="utf-8"
)  # the course is not the learner's
c.Spawner.environment = {
    "JUPYTERHUB_ACTIVITY_INTERVAL": "2",
    "GIT_CONFIG_GLOBAL": str(HERE / "gitconfig"),
}
c.JupyterHub.last_activity_interval = 2
