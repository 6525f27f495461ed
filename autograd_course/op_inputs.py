"""SAMPLES: example arguments for the rows of the table, used by the engine's tests and by same_line."""

import numpy as np

# For each row that takes keywords, or not every array: (shapes of its arguments, keywords), and
# after them (lowest, highest number) if it does not take all numbers from -3 to 3. Every keyword
# has to occur. A learner's rule has to be right for the first entry; if it fails only for another
# one, same_line says so.
SAMPLES = {
    "sum": [
        ([(2, 3)], {}),
        ([(2, 3)], {"axis": 1}),
        ([(2, 3)], {"axis": -1}),
        ([(2, 3, 4)], {"axis": (0, -1), "keepdims": True}),
    ],
    "mean": [
        ([(2, 3)], {}),
        ([(2, 3)], {"axis": 1}),
        ([(2, 3, 4)], {"axis": (-1, 0), "keepdims": True}),
    ],
    "max": [
        ([(2, 3)], {}),
        ([(2, 3)], {"axis": 0}),
        ([(2, 3, 2)], {"axis": (0, -1), "keepdims": True}),
    ],
    "min": [
        ([(2, 3)], {}),
        ([(2, 3)], {"axis": -1}),
        ([(2, 3, 2)], {"axis": (1, 0), "keepdims": True}),
    ],
    "logsumexp": [
        ([(2, 3)], {}),
        ([(2, 3)], {"axis": 1}),
        ([(2, 3, 2)], {"axis": (0, -1), "keepdims": True}),
    ],
    "softmax": [([(2, 3)], {}), ([(2, 3, 2)], {"axis": 1})],
    "log_softmax": [([(2, 3)], {}), ([(2, 3, 2)], {"axis": 0})],
    "broadcast_to": [
        ([(2, 1)], {"shape": (2, 3)}),
        ([(3, 1)], {"shape": (2, 3, 4)}),
        ([()], {"shape": (2,)}),
    ],
    "reshape": [([(2, 3)], {"shape": (3, -1)}), ([(2, 3)], {"shape": -1}), ([(1,)], {"shape": ()})],
    "transpose": [
        ([(2, 3)], {}),
        ([(2, 3, 4)], {"axes": (2, 0, 1)}),
        ([(3, 3, 3)], {"axes": (-1, 0, 1)}),
    ],
    "squeeze": [([(2, 1, 3, 1)], {"axis": -1}), ([(2, 1, 3, 1)], {})],
    "expand_dims": [([(2, 3)], {"axis": 1}), ([(1, 3)], {"axis": (0, -1)})],
    "astype": [([(2, 3)], {"dtype": np.float64})],
    "getitem": [
        ([(3, 2)], {"index": [0, 2, 0]}),
        ([(3, 4)], {"index": (slice(None, None, -2), 1)}),
    ],
    "scatter": [
        ([(3, 2)], {"index": [0, 2, 0], "shape": (4, 2)}),
        ([(2, 3)], {"index": slice(1, 3), "shape": (4, 3)}),
        ([(3,)], {"index": [0, 2, 0], "shape": (4,)}),
    ],
    "concatenate": [
        ([(2, 2), (1, 2)], {"axis": 0, "starts": [0, 2, 3]}),
        ([(2, 1), (2, 2)], {"axis": 1, "starts": [0, 1, 3]}),
    ],
    "matmul": [
        ([(2, 3), (3, 4)], {}),
        ([(2, 2, 3), (2, 3, 2)], {}),
        ([(2, 3), (4, 3, 2)], {}),
        ([(4, 2, 3), (1, 3, 2)], {}),
    ],
    "einsum": [
        ([(2, 3), (3, 4)], {"a": "ij", "b": "jk", "c": "ki"}),
        ([(2, 3), (2, 3)], {"a": "ij", "b": "ij", "c": ""}),
        ([(2,), ()], {"a": "i", "b": "", "c": "i"}),
        ([(2, 2, 3), (2, 4, 3)], {"a": "nqd", "b": "nkd", "c": "nqk"}),
    ],
    "nll_loss": [([(2, 3)], {"target": np.array([2, 0])})],
    "unfold": [
        ([(2, 2, 4, 5)], {"kernel_size": 3, "stride": 2, "padding": (1, 2)}),
        ([(2, 2, 4, 5)], {"kernel_size": (2, 3)}),
    ],
    "fold": [
        ([(2, 6, 9)], {"output_size": (4, 6), "kernel_size": 3, "stride": 2, "padding": 1}),
        ([(2, 6, 8)], {"output_size": (3, 4), "kernel_size": 2}),
    ],
    "conv2d": [
        ([(2, 2, 5, 4), (2, 2, 3, 2)], {"stride": (2, 1), "padding": (1, 0)}),
        ([(2, 2, 3, 4), (3, 2, 2, 2)], {}),
    ],
}
