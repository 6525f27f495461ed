"""Saving and loading named arrays as .npz files, for nn.py and optim.py: no pickle, and never half a file."""

import os
from pathlib import Path
from threading import get_ident
from zipfile import ZipFile

import numpy as np

from .tape import as_array, commit


class Stateful:
    """Adds `state_dict`, `load_state_dict`, `save` and `load` to a class with two methods: `_state()` names the arrays
    it lives by, and `_changes(state)` says to `commit` how to take over others of their shapes and dtypes."""

    def state_dict(self):
        """A copy of every array, by name."""
        return {name: np.array(array) for name, array in self._state().items()}

    def load_state_dict(self, state):
        """Take over the arrays in `state`, a dict as `state_dict` returns it.

        Raises ValueError if a name is missing or unknown, or a shape differs; and TypeError if a value is not an array
        of real numbers, or would lose its fractions. Then nothing has changed, and so if it is interrupted.
        """
        own, name = self._state(), type(self).__name__
        if not hasattr(state, "items"):
            raise TypeError(
                f"{name}.load_state_dict: a dict of arrays is needed, not {type(state).__name__}; "
                "a file is read by load(path)"
            )
        new = {
            key: as_array(value, f"{name}.load_state_dict: {key}") for key, value in state.items()
        }
        faults = [f"{key} is missing" for key in own.keys() - new.keys()]
        faults += [f"{key} is not known here" for key in new.keys() - own.keys()]
        faults += [
            f"{key} has shape {new[key].shape}, expected {own[key].shape}"
            for key in own.keys() & new.keys()
            if new[key].shape != own[key].shape
        ]
        if faults:
            raise ValueError(f"this state does not fit {name}: {'; '.join(sorted(faults))}")
        for key, value in new.items():
            if not np.can_cast(value.dtype, own[key].dtype, "same_kind"):
                raise TypeError(
                    f"this state does not fit {name}: {key} is of {value.dtype}, expected {own[key].dtype}"
                )
        commit(self._changes({key: np.array(value, own[key].dtype) for key, value in new.items()}))

    def save(self, path):
        """Write the state to `path` as .npz. A save that is interrupted, or meets a full disk, leaves the old file whole.

        Raises ValueError if there is something else than a file at `path`: a folder, a device.
        """
        path = Path(path).resolve()
        if path.exists() and not path.is_file():  # it would be replaced: a device by a file
            raise ValueError(
                f"{type(self).__name__}.save: {path} is not a file; give the path of one, or of a new one"
            )
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

        Raises FileNotFoundError if there is no such file, and ValueError if it is not a whole .npz file of plain
        arrays, each with a name of its own, or does not fit. Then nothing has changed, nor is far too much unpacked.
        """
        try:
            with ZipFile(path) as archive:  # np.load would take the name "x.npy" for "x"
                state, takes = {}, sum(np.asarray(array).nbytes for array in self._state().values())
                unpacked = sum(
                    member.file_size for member in archive.infolist()
                )  # no more of it is ever read
                if (
                    unpacked > 4 * takes + 1e8
                ):  # float64 for float16; and room to say which shape does not fit
                    raise ValueError(
                        f"it unpacks to {unpacked / 1e6:.0f} MB, this state takes {takes / 1e6:.1f} MB"
                    )
                for member in archive.namelist():
                    with archive.open(member) as file:
                        state[member.removesuffix(".npy")] = np.lib.format.read_array(
                            file, allow_pickle=False
                        )
                if len(state) < len(archive.namelist()):
                    raise ValueError("two of its arrays have the same name")
        except (FileNotFoundError, PermissionError, IsADirectoryError):
            raise
        except Exception as error:  # a damaged archive can fail in a dozen ways
            raise ValueError(
                f"{path} is not a .npz file of plain arrays, or it is damaged: {error}"
            ) from None
        self.load_state_dict(state)
