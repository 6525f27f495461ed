"""JupyterHub for a class on one machine; docs/classroom.md explains how to start it and gives measurements."""

import sys
from pathlib import Path

c = get_config()  # noqa: F821  JupyterHub puts it here

# Who comes in: the names in class.txt, one a line. Each of them chooses a password at the first login.
c.JupyterHub.authenticator_class = "firstuseauthenticator.FirstUseAuthenticator"
c.FirstUseAuthenticator.create_users = False
c.Authenticator.allowed_users = set(Path("class.txt").read_text(encoding="utf-8").split())
c.Authenticator.admin_users = {"teacher"}
c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # for an https server in front of it

# Where each learner works: systemd gives each a user, a private home, and an enforced limit.
c.JupyterHub.spawner_class = "systemdspawner.SystemdSpawner"
c.SystemdSpawner.dynamic_users = True
c.Spawner.mem_limit = "512M"
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.args = [
    "--KernelManager.transport=ipc"
]  # otherwise any user of this machine can listen to a kernel's port
c.Spawner.default_url = "/lab/tree/autograd/notebooks/00_start_here.ipynb"
c.Spawner.start_timeout = c.Spawner.http_timeout = 180  # a class comes all at once

c.JupyterHub.cleanup_servers = False  # servers and kernels outlive a restart of the hub
c.JupyterHub.load_roles = [
    {
        "name": "cull",
        "services": ["cull"],
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
    }
]
c.JupyterHub.services = [
    {"name": "cull", "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=3600"]}
]
