"""List the functions and methods that the playground leaves out, because they compute no value.

They print, plot, train, or compute gradients. The functions that compute values are listed in
functions.py, and the layers in layers.py.
"""

# Calls that show or train, or that prepare it.
LEFT_OUT = {
    *("print", "draw_dot", "render", "show", "plot", "display", "draw_graph", "live_graph"),
    *(
        "argmax",
        "argmin",
        "title",
        "figure",
        "assert_allclose",
        "allclose",
        "isclose",
        "retain_grad",
        "attach_grad",
    ),
    *("set_default_dtype", "zero_", "register_hook", "watch", "_backward"),
    *("device", "is_available", "device_count", "set_device"),
    *("manual_seed", "seed", "set_seed", "PRNGKey", "key", "split", "default_rng", "RandomState"),
    *("set_np", "set_printoptions", "use"),
}
TRAINS = {
    *("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "train", "eval", "parameters", "step"),
    *("zero_grad", "assign_sub", "apply_gradients", "update"),
}
# Attributes that hold or control gradients.
OF_GRADIENTS = {"grad", "grad_fn", "requires_grad", "is_leaf", "label", "grad_req"}
# Functions that make a function's gradient.
GRADIENT_OF = {
    *("grad", "value_and_grad", "jacobian", "jacrev", "jacfwd", "hessian"),
    *("elementwise_grad", "egrad", "derivative"),
}
# They change how a function runs, not its values.
AROUND = {"jit", "function", "checkpoint"}
RECORDING = {"GradientTape", "record", "enable_grad", "set_detect_anomaly", "autocast"}
NOT_RECORDING = {"no_grad", "inference_mode", "pause"}
# Methods that return the same numbers.
SAME = {
    *("double", "float", "half", "cpu", "cuda", "to", "clone", "contiguous", "requires_grad_"),
    *("copy", "type", "astype", "cast"),
}
# What says nothing about the numbers that are computed.
IGNORED_KEYWORDS = {
    *("requires_grad", "dtype", "label", "name", "device", "trainable", "_children", "_op"),
}
SHOWN_BY = {"item", "numpy", "tolist", "asscalar", "detach", "data", "shape", "value"}
