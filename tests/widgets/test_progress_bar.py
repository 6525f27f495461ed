"""track counts steps, can be stopped between two steps, and restores the handling of Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from jupyter_client.manager import start_new_kernel

from autograd_course import track


@pytest.fixture(autouse=True)
def same_handler(monkeypatch):
    monkeypatch.setattr(track, "stopped", False)
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_all_items_come_with_a_bar(capsys):
    assert list(track(range(7), "counting")) == list(range(7))
    assert list(track(iter("ab"))) == ["a", "b"] and not track.stopped
    out, err = capsys.readouterr()
    assert "counting" in err and "7/7" in err and not out


def test_an_interrupt_ends_the_loop_after_the_step(capsys):
    begun, ended = [], []
    for step in track(range(5)):
        begun.append(step)
        if step == 2:
            interrupt()
        ended.append(step)
    assert begun == ended == [0, 1, 2] and track.stopped
    out, err = capsys.readouterr()
    assert (
        out == "Stopped after step 3 of 5, as you asked. The finished steps are kept.\n"
        and "3/5" in err
    )


def test_an_interrupt_between_the_steps(capsys):
    def items():
        yield 0
        interrupt()
        yield 1
        pytest.fail("asked for more")

    assert list(track(items())) == [0]
    assert capsys.readouterr().out.startswith("Stopped after step 1, as you asked.")


def test_a_second_interrupt_ends_a_step_that_hangs(capsys):
    with pytest.raises(KeyboardInterrupt):
        for _ in track(range(5)):
            interrupt()
            interrupt()
            pytest.fail("still in the step")
    for step in track(range(2)):
        if step == 0:
            interrupt()  # the next loop counts from one again


def test_nested_loops_all_end(capsys):
    seen = []
    for epoch in track(range(3)):
        for batch in track(range(3)):
            seen.append((epoch, batch))
            if seen[-1] == (1, 1):
                interrupt()
    assert seen == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert capsys.readouterr().out.count("Stopped") == 1


def test_the_handler_is_there_only_while_the_loop_runs():
    before = signal.getsignal(signal.SIGINT)
    loop = track(range(3))
    assert signal.getsignal(signal.SIGINT) is before, "not before the first step"
    next(loop)
    assert signal.getsignal(signal.SIGINT) is not before
    loop.close()
    assert signal.getsignal(signal.SIGINT) is before
    for _ in track(range(3)):
        break
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(ZeroDivisionError):
        for _ in track(range(3)):
            raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_it_only_counts():
    seen = []
    thread = threading.Thread(target=lambda: seen.extend(track(range(4))))
    thread.start()
    thread.join()
    assert seen == [0, 1, 2, 3]


LOOP = """
import time
from autograd_course import track
begun, ended = [], []
for step in track(range(200), "training"):
    begun.append(step)
    print("step", step, flush=True)
    time.sleep(0.05)
    ended.append(step)
assert begun == ended and 0 < len(ended) < 200
print("and on", len(ended), flush=True)
"""


def test_in_a_terminal():
    with subprocess.Popen(
        [sys.executable, "-c", LOOP], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        while running.stdout.readline() != "step 3\n":
            pass
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 0 and "Traceback" not in err and "training" in err
    *_, stopped, on = out.splitlines()
    assert (
        stopped
        == f"Stopped after step {on.removeprefix('and on ')} of 200, as you asked. The finished steps are kept."
    )


def test_in_a_kernel():
    manager, client = start_new_kernel()
    try:
        said = []

        def stop_at_step_3(message):
            said.append(message["content"].get("text", ""))
            if "step 3\n" in said[-1]:
                manager.interrupt_kernel()

        reply = client.execute_interactive(LOOP, output_hook=stop_at_step_3, timeout=60)
        assert reply["content"]["status"] == "ok", reply["content"]
        assert "Stopped after" in "".join(said) and "and on" in "".join(said)
        after = client.execute_interactive(
            "assert len(ended) < 200; 1 / 0", output_hook=lambda message: None, timeout=60
        )
        assert after["content"]["ename"] == "ZeroDivisionError", "the next cell runs"
        hanging = "for step in track(range(3)):\n    print('in')\n    time.sleep(60)"

        def stop_twice(message):
            if "in" in message["content"].get("text", ""):
                manager.interrupt_kernel()
                time.sleep(0.5)
                manager.interrupt_kernel()

        assert (
            client.execute_interactive(hanging, output_hook=stop_twice, timeout=30)["content"][
                "ename"
            ]
            == "KeyboardInterrupt"
        )
        plain = "print('in')\ntime.sleep(60)"
        once = client.execute_interactive(
            plain,
            timeout=30,
            output_hook=lambda message: (
                message["content"].get("text") and manager.interrupt_kernel()
            ),
        )
        assert once["content"]["ename"] == "KeyboardInterrupt", "outside a loop one is enough"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
