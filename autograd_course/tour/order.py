"""The core of the engine in reading order: its definitions, their purpose, and the lessons they need.

A definition is named "tape:Tensor.backward"; `*` matches any letters. It belongs to the first line
that names it. Tests check that each definition of the core belongs to a line, and that every link
leads to a section.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """lines: [(definitions, the lesson and its section, "05 A number that remembers", what they are for), …].

    later: such lines too, for a second reading: what only refuses, is only quicker, or needs a lesson after 10.
    """

    title: str
    lines: list
    later: list = field(default_factory=list)
    every = property(lambda self: [*self.lines, *self.later])


@dataclass(frozen=True)
class Foretold:
    """A statement that is going to be struck out, by its definition and how it begins, and what is asked about it.

    shown: what each choice of an answer is about, a piece of one promise's program: the promise of the right answer is
    broken, and no other of these. Else the answer is a number or a row, what the promise of that piece gives.
    """

    where: str
    line: str
    question: str
    answer: object
    reveal: str
    shown: object


PARTS = {
    "values": Part(
        "A number that remembers",
        [
            (
                "values:Value tape:Tensor tape:Tensor.__init__",
                "05 A number that remembers",
                "Lesson 05's `Value`, for arrays. Beside the value are the row that made it, its inputs, and a number "
                "that is greater than the numbers of all its inputs: the backward pass needs no other order. What most "
                "Tensors share is kept on the class, so that a new one costs little.",
            ),
            (
                "values:_clock levels:_levels levels:no_grad_level levels:_no_grad_blocks values:_last_change "
                "values:_array_changes rows:_new rows:_floats rows:_scalars",
                "05 Whose turn is it?",
                "Two counters that never go back. The first numbers Tensors and dates changes of `.data`, since these are "
                "compared; the second numbers levels. After them come the state of `no_grad`, the dates, and short names for "
                "what is looked up often.",
            ),
            (
                "tape:Tensor.requires_grad",
                "05 A number that remembers",
                "Only a leaf can be asked for a gradient; a result wants one if any input that has a rule does, unless nothing "
                "is recorded.",
            ),
            (
                "tape:to_array values:copied",
                "08 Arrays have a shape",
                "The array below a Tensor, and a copy that no other object holds.",
            ),
        ],
        [
            (
                "values:as_array values:_check_floating",
                "08 Arrays have a shape",
                "Whatever comes in becomes an array of real numbers, or an error that says what is wrong with it. An "
                "integer has no slope, so a gradient needs floating point.",
            ),
        ],
    ),
    "rules": Part(
        "The table, one number at a time",
        [
            (
                "rows:elementwise",
                "05 Accumulate the gradients",
                "A row: the function, and for each input the line that computes its gradient from the upstream gradient g. The formula "
                "that you derived is the line that runs.",
            ),
            (
                "ops:add ops:subtract ops:multiply ops:divide ops:negative",
                "03 Which input does each rule use?",
                "The arithmetic of lesson 03. A sum passes g on; a product passes it on times the other factor.",
            ),
            (
                "ops:power ops:_exponent_less_one",
                "03 Powers",
                "The exponent comes down, and one less stays up; only at 0 has the exponent to be looked at.",
            ),
            (
                "ops:exp ops:log ops:sqrt ops:sin ops:cos ops:tanh",
                "04 Rules that use the output",
                "Three of these slopes are read off z, so that nothing is computed twice.",
            ),
            (
                "ops:sigmoid ops:_sigmoid ops:softplus",
                "04 Square root and sigmoid",
                "Written so that no exponential overflows, at −800 as at 800.",
            ),
            (
                "ops:gelu ops:_gelu* ops:_GELU",
                "04 clip and gelu (optional)",
                "One product rule and one chain rule, and a clip that keeps x³ from overflowing.",
            ),
            (
                "ops:relu ops:abs ops:maximum ops:minimum ops:where",
                "04 Functions with kinks",
                "At a kink the slope is agreed on: 0 for relu and abs, a half for each of two that tie.",
            ),
        ],
        [
            (
                "ops:_clip ops:clip ops:_where ops:_BITS",
                "04 Functions with kinks",
                "clip passes g on at its bounds. `_where` is NumPy's, quicker.",
            ),
        ],
    ),
    "record": Part(
        "How a call is recorded",
        [
            (
                "rows:Primitive rows:Primitive.__init__ rows:Primitive.__repr__ rows:Primitive.__reduce__",
                "06 The engine that you wrote",
                "What a row is: data, so that it can be printed, tested, and compared with your line.",
            ),
            (
                "rows:Primitive.__call__ rows:Primitive.record tape:Tensor.process tape:one_level_down",
                "05 A number that remembers",
                "The middle of the engine. The call belongs to the highest level among its arguments, and the class of the "
                "Tensors there decides what happens. A `Tensor` computes the value one level down, and records how "
                "the result was made if an input requires a gradient.",
            ),
            (
                "tape:new_tensor",
                "05 A number that remembers",
                "Creates the results of ops; `_fast_call` alone repeats its code.",
            ),
        ],
        [
            (
                "rows:Primitive.compute rows:Primitive.call_function rows:_arrays",
                "08 Broadcasting",
                "The function itself, and NumPy's complaints in words that name the row.",
            ),
            (
                "rows:Primitive._check_keywords rows:Primitive._split",
                "08 Sums",
                "Keywords, also by position as in NumPy.",
            ),
            (
                "rows:Primitive._check_rules rows:Primitive._read_names",
                "14 Add your own operation",
                "A row of your own is looked at when it is declared. The names of inputs and keywords are read off its "
                "rules.",
            ),
        ],
    ),
    "back": Part(
        "The backward pass",
        [
            (
                "tape:backward_pass",
                "05 Accumulate the gradients",
                "Your loop. A heap gives the newest waiting Tensor, and the ledger its gradient. This gradient is complete, "
                "because all users of the Tensor are newer. The `yield` hands each visit to the caller as it happens.",
            ),
            (
                "tape:input_gradients",
                "05 Accumulate the gradients",
                "The rules run here, for those inputs only that want a gradient.",
            ),
            (
                "tape:match_input values:unbroadcast",
                "08 The gradient of a broadcast array",
                "Your unbroadcast, in one place for every row: what was copied forward is summed in the backward pass.",
            ),
            (
                "tape:Tensor.backward tape:leaf_gradients values:copy_if_view",
                "05 Accumulate the gradients",
                "First the whole walk, then all `.grad` at once: a walk that is stopped on its way changes nothing. No "
                "two gradients share an array.",
            ),
        ],
    ),
    "moves": Part(
        "Share, sum, and move",
        [
            (
                "rows:linear",
                "08 There and back",
                "The second kind of row: if the function is linear, the backward pass is its transpose.",
            ),
            (
                "ops:sum ops:mean ops:_keep_dims ops:_spread",
                "08 Sums",
                "A sum spreads g over what was summed; a mean gives each its share.",
            ),
            (
                "ops:broadcast_to ops:reshape ops:transpose ops:squeeze ops:expand_dims ops:_astype ops:astype",
                "08 Operations that move entries",
                "Values are moved, spread or made another dtype, and the backward pass undoes that; only what was spread is "
                "summed.",
            ),
            (
                "ops:getitem ops:scatter ops:_scatter",
                "08 Indexing",
                "Each is the backward pass of the other. An entry that is read twice gets the gradients of both readings, added.",
            ),
        ],
        [
            (
                "ops:_concatenate ops:concatenate ops:_slice_of ops:_as_list ops:stack",
                "08 Four more rules (optional)",
                "Joined forward, cut apart in the backward pass.",
            ),
            (
                "ops:flip ops:split ops:pad ops:swapaxes",
                "08 Four more rules (optional)",
                "Made of the rows above, so they need no rule.",
            ),
            (
                "ops:var ops:std",
                "08 Sums",
                "Made of rows too: mean, minus, times, and for std a square root.",
            ),
        ],
    ),
    "products": Part(
        "Products",
        [
            (
                "rows:bilinear ops:_matmul ops:matmul",
                "09 The rules in one line",
                "The third kind of row, and your two lines for the matrix product. What lies around them lends an axis to "
                "vectors.",
            ),
        ],
        [
            (
                "ops:dot ops:ROWS",
                "09 The rules in one line",
                "NumPy's older product, by the newer; and the whole table by name.",
            ),
            (
                "ops:unfold ops:fold ops:_unfold* ops:_fold* ops:pair ops:_window_pairs ops:_sizes",
                "14 A window as a row: the fast form",
                "Each window of an image becomes a row of numbers; the backward pass adds them up where they were.",
            ),
            (
                "ops:conv2d ops:_conv2d* ops:_as_columns ops:_as_rows",
                "14 Both gradients, from the indices",
                "Then a convolution is a matrix product, and so are its rules.",
            ),
            (
                "ops:einsum ops:_einsum ops:_sum_unshared",
                "18 One rule for every product: einsum (optional)",
                "One rule for every product that letters spell: in the backward pass they swap places.",
            ),
        ],
    ),
    "choices": Part(
        "Choose and normalise",
        [
            (
                "rows:primitive ops:_weighted ops:max ops:min ops:_shared_extreme",
                "10 max",
                "The fourth kind of row, where forward mode has to be written out, as a `push`. The largest gets the "
                "gradient; those who tie share.",
            ),
            (
                "ops:logsumexp ops:_logsumexp ops:softmax ops:_softmax* ops:log_softmax ops:_log_softmax*",
                "10 Without the Jacobian",
                "The largest is taken off first, so that ±1000 is as good as 1; and no Jacobian is built.",
            ),
        ],
        [
            (
                "ops:_extremum ops:_slices_along ops:_floating",
                "10 max",
                "A quicker way to the same maximum, as pooling needs it; and integers as floats.",
            ),
            (
                "ops:nll_loss ops:_nll_loss*",
                "10 Cross-entropy",
                "The log-probabilities of the right classes, and a check that there are such classes.",
            ),
        ],
    ),
    "operators": Part(
        "Operators, methods, NumPy",
        [
            (
                "operators:_OPERATORS operators:_method operators:_reflected operators:for*_OPERATORS*",
                "05 A number that remembers",
                "In `2 - x` Python asks x, with the two swapped: `_reflected` puts them in order again, so it is "
                "`subtract(2, x)`.",
            ),
            (
                "operators:_dispatch operators:_array_ufunc",
                "06 The engine that you wrote",
                "NumPy asks its arguments whether they know better. These answer: the row, a plain array, or an error "
                "with a way out.",
            ),
        ],
        [
            (
                "operators:_METHODS operators:_FUNCTIONS operators:_ZERO_GRADIENT operators:_RENAMED operators:_OF_SHAPE "
                "operators:_rows* operators:_constant operators:_of_shape",
                "06 The engine that you wrote",
                "Which method and which function of NumPy is which row.",
            ),
            (
                "operators:_zero_gradient operators:_named operators:_reduction operators:_clip operators:_pad operators:_like",
                "05 A number that remembers",
                "A comparison has no slope; a sum has NumPy's keywords.",
            ),
            (
                "operators:_from_varargs operators:for* operators:Tensor*",
                "05 A number that remembers",
                "Where all of it is attached to Tensor.",
            ),
        ],
    ),
    "refused": Part(
        "What is refused",
        [
            (
                "operators:_setitem operators:_in_place operators:_no_remainder operators:_reject",
                "08 Indexing",
                "Writing items would change what others have read, and `p -= …` would make another Tensor and train nothing: an "
                "error says what to write in its place.",
            ),
        ],
        [
            (
                "operators:_array operators:_len operators:_getitem operators:_float operators:_concrete operators:_bool operators:_index",
                "08 Indexing",
                "Where a Tensor is asked for a plain number, as an index or by an `if`.",
            ),
        ],
    ),
    "levels": Part(
        "A derivative is a program",
        [
            (
                "levels:new_level transforms:box transforms:_float64",
                "16 Levels: nested derivatives (optional)",
                "Each `grad` opens a level of its own, and puts its inputs on it. What lies lower is a constant to it: so "
                "two derivatives at once cannot be confused.",
            ),
            (
                "transforms:vjp transforms:_vjp transforms:_value",
                "09 The Jacobian, and why engines never build it",
                "Open a level, run the function, and pull back as often as you like.",
            ),
            (
                "transforms:value_and_grad transforms:_value_and_grad transforms:grad transforms:_grad",
                "06 The engine that you wrote",
                "The same with g = 1.",
            ),
        ],
        [
            (
                "transforms:_chosen",
                "06 The engine that you wrote",
                "Which of the arguments are meant.",
            ),
            (
                "levels:no_grad* levels:_NeedsBrackets* levels:record_above levels:call_recorded levels:is_recording",
                "01 Four ways to differentiate",
                "A block in which nothing is recorded: levels up to its own are shut.",
            ),
        ],
    ),
    "forward": Part(
        "Forward, and all of it",
        [
            (
                "forward:Dual forward:Dual.process rows:Primitive.push_tangents transforms:jvp transforms:_jvp",
                "15 Forward mode from the table of rules",
                "Your dual numbers. Each kind of row says how it carries a tangent along, three of the four without a "
                "further line.",
            ),
            (
                "transforms:jacobian transforms:_jacobian transforms:_unit_arrays transforms:hessian transforms:hvp",
                "16 Hessian–vector products, without the Hessian",
                "Rows by backward passes, columns by forward passes; the Hessian is the Jacobian of the gradient.",
            ),
        ],
    ),
    "change": Part(
        "Replace, reset, and detach",
        [
            (
                "tape:Tensor.data",
                "06 The training loop",
                "Reading the value gives an array. Replacing it leaves a date, from which a backward pass sees that the "
                "value it needs is gone.",
            ),
            (
                "values:_date_change values:assignments values:commit values:check_unchanged values:_owner values:date_array",
                "17 What the tape holds",
                "Changes happen whole or not at all, and are dated: a Tensor's `_changed_at` when its value is replaced, `_array_changes` when "
                "an array is written in place, with all its views. A walk raises at a node that is older than such a date.",
            ),
            (
                "tape:Tensor.retain_grad tape:Tensor.zero_grad tape:_accumulated",
                "06 What if you never reset the gradients?",
                "Keep a gradient inside, forget one, or add to what is there.",
            ),
            (
                "operators:item operators:_repr operators:_reduce",
                "05 A number that remembers",
                "A Tensor as a Python number, as text, and as a copy.",
            ),
            (
                "tape:Tensor.detach rows:is_constant",
                "22 Is it the gradient of another loss?",
                "`detach` gives the same value without its past: a constant to every derivative. `is_constant` says whether a "
                "Tensor is one.",
            ),
        ],
    ),
    "forget": Part(
        "Forget, and compute again",
        [
            (
                "checkpoint:checkpoint values:next_number checkpoint:_forget checkpoint:_forgotten checkpoint:_checkpoint",
                "17 Gradient checkpointing: forget and recompute",
                "Keep which rows ran on what, without their results; run them again when the walk comes by.",
            ),
        ],
    ),
    "fast": Part(
        "What is said twice, and written down",
        [
            (
                "rows:_fast_call",
                "05 How deep? (optional)",
                "`record` once more, for what nearly every call is: one or two plain arguments. It is here for its speed "
                "alone: whatever is not so plain goes to `record`.",
            ),
            (
                "compiler/traced:* tape:tracer rows:traced_in",
                "20 The tracer",
                "What `compile` asks of the tape: your values that write down, as one more level.",
            ),
        ],
    ),
}
FORETOLD = {
    "own": Foretold(
        "tape:Tensor.requires_grad",
        "self._value",
        "Which promise breaks without it?",
        "the caller's array stays the caller's",
        "**The caller's array stays the caller's.** The Tensor and the caller now share one array: a caller who writes "
        "into it changes the Tensor too. Nothing else in these four looks at the array again.",
        {
            "the caller's array stays the caller's": "a = np.ones(2)\nx = leaf(a)",
            "integers are refused": "np.arange(3), requires",
            "x·x at 3": "x = leaf(3.0)\n(x * x).backward()\nx.grad",
            "float32 stays float32": "np.ones(3, np.float32)",
        },
    ),
    "gelu": Foretold(
        "ops:_gelu_rule",
        "x = np.clip",
        "Which of these slopes is no longer right?",
        "gelu at 10²⁰⁰",
        "**gelu at 10²⁰⁰**: x² is inf there, and 1 − t² is 0, and 0 · inf is nan. At 0.5 the clip had nothing to do, "
        "and the neighbours' rules never had it.",
        {
            "gelu at 10²⁰⁰": "slopes(ag.gelu",
            "relu at 0": "slopes(ag.relu",
            "sigmoid at −800": "slopes(ag.sigmoid",
            "tanh at 0.5": "slopes(np.tanh, 0.5)",
        },
    ),
    "needed": Foretold(
        "tape:Tensor.process",
        "node._requires_grad = bool",
        "Which promise breaks without it?",
        "within `no_grad`, x·x requires no gradient",
        "**Within `no_grad`, x·x requires no gradient.** The class says of every Tensor that it does, as nearly every "
        "result does; this line says it of the others. Where something is needed, the line says what is so already.",
        {
            "x·x at 3": "x = leaf(3.0)\n(x * x).backward()\nx.grad",
            "within `no_grad`, x·x requires no gradient": "with ag.no_grad(): y = x * x",
            "d³x⁵ by three `grad`": "x ** 5",
            "a bias row": "(x * 2.0 + b)",
        },
    ),
    "tangents": Foretold(
        "forward:Dual.process",
        "tangents[i] = a.tangent",
        "Which promise breaks without it?",
        "`jvp` of a `grad`",
        "**`jvp` of a `grad`.** The result is a constant then, and carries no tangent along. Backward passes need no "
        "tangent, so three derivatives of x⁵ by `grad` alone do not change.",
        {
            "`jvp` of a `grad`": "ag.jvp(ag.grad",
            "d³x⁵ by three `grad`": "x ** 5",
            "60 doublings in 61 visits": "range(60)",
            "a checkpoint": "np.tanh(x * w) * x",
        },
    ),
    "added": Foretold(
        "tape:backward_pass",
        "ledger[key] = ledger[key] + gx",
        "What is the gradient of x in x · x at 3 without it?",
        3.0,
        "**3.** Two gradients of 3 arrive at x, by both slots. The first is in the ledger, and the second is "
        "thrown away.",
        "x = leaf(3.0)\n(x * x).backward()\nx.grad",
    ),
    "pushed": Foretold(
        "tape:backward_pass",
        "if number < _values._last_change",
        "Which promise breaks without it?",
        "a value changed after it was used",
        "**A value changed after it was used.** The dates are no longer checked. Here the rule still has the old 2, "
        "and gives 4; but where an array was changed in place, or a rule reads a z that was replaced, it would compute "
        "with the new numbers and say nothing. Where nothing changed, nothing is lost.",
        {
            "x·x at 3": "x = leaf(3.0)\n(x * x).backward()\nx.grad",
            "60 doublings in 61 visits": "range(60)",
            "a bias row": "(x * 2.0 + b)",
            "a value changed after it was used": "y = x * x\nx.data = 5.0",
        },
    ),
    "scatter": Foretold(
        "ops:_scatter",
        "out[index] = x",
        "x[1:, 0] and x[0, −1] are added. What goes back to x without it?",
        "only zeros",
        "**Only zeros**: an array of zeros in the shape of x, into which nothing was written.",
        {"only zeros": "(x[1:, 0] + x[0, -1])", "the right gradient": "x[[0, 2, 0]]"},
    ),
    "straight": Foretold(
        "ops:matmul",
        "if x_ndim == y_ndim == 2",
        "Which product does not end without it?",
        "of two stacks",
        "**Of two stacks.** With more than two axes on both sides the product is turned round, Z = (Yᵀ·Xᵀ)ᵀ, which is "
        "such a product again. Two matrices take the longer way, past `rows`, and are right.",
        {
            "of two matrices": "(A @ A)",
            "of a matrix and a vector": "(A @ v + v @ A)",
            "of a stack and a matrix": "(S @ A)",
            "of two stacks": "leaf(np.ones((2, 2, 1)))",
        },
    ),
    "softmax": Foretold(
        "ops:_softmax",
        "e = e / e.sum",
        "logsumexp of [1000, −1000, 1000] has the gradient [0.5, 0, 0.5]. What is it without the line?",
        [1.0, 0.0, 1.0],
        "**[1, 0, 1].** The slope of logsumexp *is* softmax, and without its sum softmax is e to x minus the "
        "largest, which is never above 0.",
        "x = leaf([1000.0, -1000.0, 1000.0])",
    ),
    "reflected": Foretold(
        "operators:for name, f in _OPERATORS.items():",
        'setattr(Tensor, f"__r',
        "Which promise breaks without it?",
        "2 · a",
        "**2 · a.** The float does not know what to do with a Tensor, and asks the Tensor for its reflected "
        "product. In a · 2 the Tensor is asked first.",
        {
            "2 · a": "b = 2.0 * a",
            "a · 2": "z.retain_grad()",
            "x·x at 3": "x = leaf(3.0)\n(x * x).backward()\nx.grad",
            "d³x⁵": "x ** 5",
        },
    ),
    "arrived": Foretold(
        "transforms:_vjp",
        "if isinstance(z, Tensor) and",
        "What is the third derivative of x⁵ at 2 without it? It is 240.",
        0.0,
        "**0, and no error.** No backward pass runs, so no gradient reaches the inputs, and such inputs get zeros. For a "
        "constant function zeros are right.",
        "x ** 5))",
    ),
    "kept": Foretold(
        "tape:Tensor.zero_grad",
        "self.grad = None",
        "Backward passes: x·x at x = 3, then `x.zero_grad()`, then 2x. What is x.grad without the line?",
        8.0,
        "**8**: 6 from the first backward pass and 2 from the second. A gradient is added to the one already there.",
        "x.zero_grad()",
    ),
}
# Five engines, each with one statement deleted. Each is broken differently, and no text reveals how.
PATIENTS = {
    "A": ("values:copy_if_view", "return g if isinstance(g, Value)"),
    "B": ("ops:_scatter", "np.add.at(out, index, x)"),
    "C": ("tape:Tensor.__init__", "self._requires_grad = False"),
    "D": ("ops:_logsumexp", "top = np.where(np.isfinite"),
    "E": ("operators:for name, f in _OPERATORS.items():", 'setattr(Tensor, f"__i'),
}
# An exercise in which the learner wrote it too, and what differs.
BESIDE = {
    "05.backward": (
        "tape:backward_pass",
        "Yours sorts everything first and keeps only sums; ours takes the newest from a heap as it goes, runs "
        "rules in the place of numbers, checks dates, recomputes a checkpoint, and shows each visit to its "
        "caller.",
    ),
    "15.Dual": (
        "rows:Primitive.push_tangents",
        "Yours writes each operator's tangent down; ours reads it off the kind of the row, so that one method "
        "serves the whole table.",
    ),
    "08.bias": (
        "values:unbroadcast",
        "Yours are two cases of one sum: an axis of length 1 that was stretched, and axes that were not there. Ours "
        "reads off the two shapes which axes to sum, and refuses shapes that broadcasting cannot have made.",
    ),
    "08.scatter": (
        "ops:_scatter",
        "The way with `add.at` is yours. Where the index is made of numbers and slices alone, no entry is read twice, and "
        "`=` does the same more quickly; where most entries are read, `bincount` does.",
    ),
    "09.matmul": (
        "ops:_matmul",
        "The two rules are yours. The row has its function beside them; and that it is `bilinear`, linear in each factor, "
        "says how tangents go: forward mode needs no further line.",
    ),
    "17.by_hand": (
        "checkpoint:checkpoint",
        "Yours keeps marks of a chain whose step it knows, and calls the step again. Ours takes any function: it runs "
        "once, and what was recorded is the recipe that the backward pass runs again. So no mark needs to be "
        "chosen, and random numbers are drawn once.",
    ),
    "20.Noted": (
        "compiler/traced:Traced.process",
        "Yours is asked by NumPy and writes down one line. Ours is asked by the row itself, because every call comes "
        "through `record`: so a line also has the row's keywords, and may be on any level.",
    ),
}
