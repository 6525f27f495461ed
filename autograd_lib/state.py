"""Save and load named arrays as .npz files, for nn and optim."""

import os
from pathlib import Path
from threading import get_ident

import numpy as np

from .hints import plain_words
from .values import as_array, commit


class Stateful:
    """Base class with `state_dict`, `load_state_dict`, `save` and `load`.

    A subclass defines two methods. `_state()` returns a dict of its arrays by name.
    `_changes(state)` takes such a dict, whose arrays have the same shapes and dtypes, and returns
    the changes, for `commit`, that replace the arrays of the object with those in `state`.
    """

    def state_dict(self):
        """Return a copy of the state.

        Returns
        -------
        dict of str to ndarray
            A copy of each array, by name.
        """
        return {name: np.array(array) for name, array in self._state().items()}

    def load_state_dict(self, state):
        """Replace every array with the array of the same name in `state`.

        If an error or an interrupt occurs, nothing is changed.

        Parameters
        ----------
        state : dict of str to array_like
            Arrays by name, as returned by `state_dict`.

        Raises
        ------
        TypeError
            If `state` is not a dict, if a value is not an array of real numbers, or if floating
            numbers would be truncated to integers.
        ValueError
            If a name is missing or unknown, or a shape differs.
        """
        current, name = self._state(), type(self).__name__
        if not hasattr(state, "items"):
            raise TypeError(
                f"{name}.load_state_dict: expected a dict of arrays, got {type(state).__name__}; "
                "use load(path) to read a file"
            )
        new = {
            key: as_array(value, f"{name}.load_state_dict: {key}") for key, value in state.items()
        }
        faults = [f"{key} is missing" for key in current.keys() - new.keys()]
        faults += [f"{key} is unknown" for key in new.keys() - current.keys()]
        faults += [
            f"{key} has shape {new[key].shape}, expected {current[key].shape}"
            for key in current.keys() & new.keys()
            if new[key].shape != current[key].shape
        ]
        if faults:
            raise ValueError(
                f"{name}.load_state_dict: the state does not fit: {'; '.join(sorted(faults))}"
            )
        for key, value in new.items():
            if not np.can_cast(value.dtype, current[key].dtype, "same_kind"):
                raise TypeError(
                    f"{name}.load_state_dict: the state does not fit: {key} has dtype "
                    f"{value.dtype}, expected {current[key].dtype}"
                )
        arrays = {key: np.array(value, current[key].dtype) for key, value in new.items()}
        commit(self._changes(arrays))

    def save(self, path):
        """Write the state to a .npz file.

        The file is replaced in one step. If the save is interrupted, or the disk is full, the old
        file stays intact.

        Parameters
        ----------
        path : str or os.PathLike
            The file to write.

        Raises
        ------
        ValueError
            If `path` is a folder or a device; or if an array is named "file" or "allow_pickle", or
            its name ends in ".npy", because `numpy.savez` cannot store these names.
        FileNotFoundError
            If the folder of `path` does not exist.
        """
        path, name = Path(path).resolve(), type(self).__name__
        # os.replace would put a file in the place of a device.
        if path.exists() and not path.is_file():
            raise ValueError(
                f"{name}.save: {path} exists and is not a file; pass the path of a file"
            )
        state = self._state()
        _check_names(state, f"{name}.save: ")
        # Strict, so that the error names a missing folder and not the draft.
        draft = path.parent.resolve(strict=True) / f"{path.name}.{os.getpid()}.{get_ident()}.part"
        try:
            with open(draft, "wb") as file:
                np.savez(file, **state)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)

    def load(self, path):
        """Read the state from a .npz file.

        If an error or an interrupt occurs, nothing is changed.

        Parameters
        ----------
        path : str or os.PathLike
            The file to read.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is damaged, is not a .npz file of plain arrays with different names, or its
            arrays do not match this object.
        """
        try:
            with np.load(path, allow_pickle=False) as archive:
                _check_names(archive.files)
                state = {name: archive[name] for name in archive.files}
        except (FileNotFoundError, PermissionError, IsADirectoryError):
            raise
        except Exception as error:  # a damaged archive can fail in a dozen ways
            raise ValueError(
                f"{type(self).__name__}.load: {path} is damaged, or is not a .npz file of plain "
                f"arrays: {plain_words(error)}"
            ) from None
        self.load_state_dict(state)


def _check_names(names, prefix=""):
    """Raise ValueError if a name occurs twice, or if `numpy.savez` cannot store a name.

    `prefix` is put before the message.
    """
    if len(set(names)) < len(names):
        raise ValueError(
            f"{prefix}two arrays have the same name, {max(names, key=list(names).count)!r}; rename "
            "one of them"
        )
    for name in names:
        if name in ("file", "allow_pickle") or name.endswith(".npy"):
            raise ValueError(f"{prefix}an array in a .npz file cannot be named {name!r}; rename it")


def clear_grads(owner, parameters, set_to_none):
    """Set the gradient of every parameter to None.

    Parameters
    ----------
    owner : Stateful
        The object whose method `zero_grad` was called.
    parameters : list of Tensor
        Its parameters.
    set_to_none : bool
        The argument of `zero_grad`.

    Raises
    ------
    ValueError
        If `set_to_none` is False.
    """
    if not set_to_none:
        raise ValueError(
            f"{type(owner).__name__}.zero_grad: set_to_none=False is not supported; leave it out"
        )
    for p in parameters:
        p.grad = None
