"""Show a progress bar for a loop that can be stopped without losing completed steps: `track`."""

import signal
import threading

from tqdm.auto import tqdm


class _Stop:
    """Handle Ctrl-C while a loop runs.

    The first Ctrl-C sets `asked` to True. The second one raises KeyboardInterrupt, which ends a step
    that hangs.
    """

    asked = False

    def __call__(self, number, frame):
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def track(iterable, words=""):
    """Yield the items of `iterable` and show a progress bar, in JupyterLab or a terminal.

        for step in track(range(1000), "training"):
            ...

    An interrupt (the stop button, Ctrl-C) ends the loop after the current step, with a message and
    without an error. Therefore a model that is trained in the loop is in the state after the last
    complete step, and the code below the loop runs. If such loops are nested, all of them end. A
    second interrupt during the same step raises KeyboardInterrupt at once.

    Parameters
    ----------
    iterable : iterable
        The items, such as the steps of a training loop.
    words : str
        The label of the progress bar, or "" for no label.
    """
    stop, outer, done = _Stop(), None, 0
    listens = (
        threading.current_thread() is threading.main_thread()
    )  # no other thread may set a handler, nor is one told
    if listens:
        outer = signal.signal(signal.SIGINT, stop)
    bar = tqdm(iterable, desc=words)
    try:
        for item in iterable:
            if not stop.asked:  # it may have come while the item was fetched
                yield item
                bar.update()
                done += 1
            if stop.asked:
                break
    finally:
        bar.close()
        if listens:
            signal.signal(signal.SIGINT, outer)
    if stop.asked:
        track.stopped = True
        if isinstance(outer, _Stop):
            outer.asked = True
        else:
            print(
                f"Stopped after step {done}{f' of {bar.total}' if bar.total else ''}, as you asked. The finished steps are kept."
            )


track.stopped = (
    False  # True if any loop was stopped early: checks that need a complete run are then skipped
)
