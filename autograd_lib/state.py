"""Saving and loading named arrays as .npz files, for nn.py and optim.py: no pickle, and never half a file."""

import os
from pathlib import Path
from threading import get_ident
from zipfile import ZipFile

import numpy as np


class Stateful:
    """Adds `load_state_dict`, `save` and `load` to a class with `_state()`, which names the arrays it lives by."""

    def state_dict(self):
        """A copy of every array, by name."""
        return {name: np.array(array) for name, array in self._state().items()}

    def load_state_dict(self, state):
        """Take over the arrays in `state`, a dict as `state_dict` returns it.

        Raises
        ------
        ValueError
            If a name is missing or unknown, or a shape differs; then nothing has changed.
        """
        own = self._state()
        faults = [f"{name} is missing" for name in own.keys() - state.keys()]
        faults += [f"{name} is not known here" for name in state.keys() - own.keys()]
        faults += [f"{name} has shape {np.shape(state[name])}, expected {np.shape(own[name])}"
                   for name in own.keys() & state.keys() if np.shape(state[name]) != np.shape(own[name])]
        faults += [f"{name} is not made of real numbers" for name in own.keys() & state.keys()
                   if np.asarray(state[name]).dtype.kind not in "biuf"]
        if faults:
            raise ValueError(f"this state does not fit {type(self).__name__}: {'; '.join(sorted(faults))}")
        self._set_state(state)

    def save(self, path):
        """Write the state to `path` as .npz. A save that is interrupted leaves the old file whole."""
        path = Path(path).resolve()
        draft = path.with_name(f"{path.name}.{os.getpid()}.{get_ident()}.part")
        try:
            with open(draft, "wb") as file:
                with ZipFile(file, "w") as archive:  # np.savez, but for any name
                    for name, array in self._state().items():
                        with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)  # in one step, on the same disk
        finally:
            draft.unlink(missing_ok=True)

    def load(self, path):
        """Read the state from the .npz file at `path`.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it is not a whole .npz file of plain arrays, or does not fit; then nothing has changed.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                state = dict(file)
        except (FileNotFoundError, PermissionError, IsADirectoryError):
            raise
        except Exception as error:  # a damaged archive can fail in a dozen ways
            raise ValueError(f"{path} is not a .npz file of plain arrays, or it is damaged: {error}") from None
        self.load_state_dict(state)
