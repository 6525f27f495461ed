"""A forked kernel behaves like any other: it has its own folder and environment, can be
interrupted, and ends with its parent.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jupyter_client import KernelManager

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")


@pytest.fixture
def kernel(tmp_path):
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(tmp_path), env=os.environ | {"MINE": "1"})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def said(client, code):
    """Return the output of the code, and the name of the error that it raised."""
    shown = []
    reply = client.execute_interactive(
        code,
        timeout=60,
        output_hook=lambda message: shown.append(message["content"].get("text", "")),
    )
    return "".join(shown).strip(), reply["content"].get("ename")


def test_a_kernel_has_its_own_folder_and_environment(kernel, tmp_path):
    manager, client = kernel
    assert manager.kernel_spec.argv[3] == "fork", "or this tests another kernel"
    assert said(client, "import os; print(os.getcwd(), os.environ['MINE'])") == (
        f"{tmp_path} 1",
        None,
    )
    parent, random = said(client, "import numpy as np; print(os.getppid(), np.random.rand())")[
        0
    ].split()
    other = KernelManager(kernel_name="python3")
    other.start_kernel()
    second = other.client()
    second.start_channels()
    second.wait_for_ready(timeout=60)
    second_said = said(second, "import os, numpy as np; print(os.getppid(), np.random.rand())")[0]
    second_parent, second_random = second_said.split()
    second.stop_channels()
    other.shutdown_kernel(now=True)
    assert parent == second_parent and random != second_random


def test_a_kernel_can_be_interrupted(kernel):
    manager, client = kernel
    # short sleeps, because an interrupt just before a sleep takes effect only after it
    asked = client.execute(
        "import time; print('at work', flush=True)\nwhile True: time.sleep(0.05)"
    )
    while (
        client.get_iopub_msg(timeout=60)["msg_type"] != "stream"
    ):  # earlier, the interrupt would not reach the cell
        pass
    manager.interrupt_kernel()
    replies = iter(
        lambda: client.get_shell_msg(timeout=30), None
    )  # including late replies to wait_for_ready
    reply = next(reply for reply in replies if reply["parent_header"]["msg_id"] == asked)
    assert reply["content"]["ename"] == "KeyboardInterrupt"


@pytest.mark.rotating("tests/kernels.py", "tests/once.py")
def test_the_kernel_and_its_workers_end_with_their_parent(kernel):
    manager, client = kernel
    start = "import os; from joblib import Parallel, delayed; print(os.getpid(), *Parallel(2)("
    started = said(client, start + "delayed(os.getpid)() for _ in range(8)))")[0].split()
    processes = [Path("/proc", number) for number in set(started)]
    assert len(processes) > 1 and all(process.exists() for process in processes)
    manager.provisioner.process.kill()
    assert all_end(processes)


def all_end(processes):
    """Return True if all these processes are gone within 20 seconds."""
    end = time.monotonic() + 20
    while any(process.exists() for process in processes) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(process.exists() for process in processes)


SUITE = """
import os, sys, tempfile, time
from pathlib import Path
import kernels
from jupyter_client import KernelManager
kernels.install(Path(sys.argv[1]))
manager = KernelManager(kernel_name="python3")
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
client.execute_interactive(
    "import os; from joblib import Parallel, delayed; "
    "print(os.getpid(), *Parallel(2)(delayed(os.getpid)() for _ in range(8)))",
    output_hook=lambda message: print(message["content"].get("text", ""), end="", flush=True),
)
time.sleep(600)
"""


@pytest.mark.rotating("tests/kernels.py", "tests/once.py")
def test_the_workers_end_with_a_test_run_that_is_killed(tmp_path):
    """Regression: the workers survived, because ipykernel ends a kernel whose parent is gone,
    but not the kernel's children.
    """
    suite = subprocess.Popen(
        [sys.executable, "-c", SUITE, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    started = set(suite.stdout.readline().split())
    suite.kill()
    suite.wait()
    assert len(started) > 1 and all_end([Path("/proc", number) for number in started])
