"""List the definitions of the engine in reading order, with their purposes and lessons.

A definition has a name such as "tape:Tensor.backward", in which `*` matches any characters. It
belongs to the first entry that names it. Tests check that each definition of the core belongs to an
entry, and that every link leads to a section of a lesson.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """Hold the entries of one part of the page.

    Attributes
    ----------
    title : str
        The title of the part.
    lines : list of (str, str, str)
        The entries for a first reading. Each consists of the names of definitions, separated by
        spaces, in which `*` matches any characters; the section of a lesson that derives them, such
        as "05 A number that remembers"; and their purpose.
    later : list of (str, str, str)
        The entries for a second reading: definitions that only raise errors, only save time, or
        need a lesson after 10. These entries have the same form as those in `lines`.
    every : list of (str, str, str)
        The entries of `lines`, followed by the entries of `later`.
    """

    title: str
    lines: list
    later: list = field(default_factory=list)
    every = property(lambda self: [*self.lines, *self.later])


@dataclass(frozen=True)
class Deletion:
    """Hold a question about what the engine does without one of its statements.

    Attributes
    ----------
    where : str
        The name of the definition that contains the statement, such as "tape:backward_pass".
    line : str
        The beginning of the statement.
    question : str
        The question as Markdown.
    answer : object
        The right answer: one of the choices, a number or a list of numbers.
    reveal : str
        Markdown that begins with the answer.
    shown : dict or str
        For a question with choices, a dict that maps each choice to a part of the program of a
        contract. Without the statement, only the contract of the right choice is broken. For any
        other question, a part of the program of the contract whose result is the answer.
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
                "This is lesson 05's `Value`, for arrays. Each Tensor holds its value, the row "
                "that made it, its inputs, and a number that is greater than the numbers of all "
                "its inputs. This number is all the order that the backward pass needs. "
                "Attributes that most Tensors share are stored on the class, so that a new "
                "Tensor is cheap.",
            ),
            (
                "values:clock levels:_levels levels:no_grad_level levels:_no_grad_blocks values:_last_change "
                "values:_array_changes rows:_new rows:_floats rows:_scalars",
                "05 The order of visits",
                "These are two counters that only increase. The first numbers the Tensors and "
                "dates the changes of `.data`, because the two are compared; the second "
                "numbers the levels. After them come the state of `no_grad`, the dates, and "
                "short names for objects that are looked up often.",
            ),
            (
                "tape:Tensor.requires_grad",
                "05 A number that remembers",
                "You can set `requires_grad` only on a leaf. A result requires a gradient if any "
                "input that has a rule requires one, unless recording is off.",
            ),
            (
                "tape:to_array values:copied",
                "08 Arrays have a shape",
                "The first returns the array inside a Tensor; the second, a copy that no other "
                "object holds.",
            ),
        ],
        [
            (
                "values:as_array values:_check_floating",
                "08 Arrays have a shape",
                "These convert any argument to an array of real numbers, or raise an error that "
                "says what is wrong. A gradient needs floating-point numbers, because an integer "
                "has no slope.",
            ),
        ],
    ),
    "rules": Part(
        "The table, one number at a time",
        [
            (
                "rows:elementwise",
                "05 Accumulate the gradients",
                "A row consists of a function and, for each input, the line that computes its gradient from the upstream gradient g. The formula that you "
                "derived is the line that runs.",
            ),
            (
                "ops:add ops:subtract ops:multiply ops:divide ops:negative",
                "03 Which input does each rule use?",
                "This is the arithmetic of lesson 03. A sum passes g on; a product passes g "
                "on times the other factor.",
            ),
            (
                "ops:power ops:_exponent_less_one",
                "03 Powers",
                "The exponent becomes a factor, and the new exponent is one less. Only at 0 do the rules check the exponent.",
            ),
            (
                "ops:exp ops:log ops:sqrt ops:sin ops:cos ops:tanh",
                "04 Rules that use the output",
                "Three of these rules use the output z, so nothing is computed twice.",
            ),
            (
                "ops:sigmoid ops:_sigmoid ops:softplus",
                "04 Square root and sigmoid",
                "No exponential overflows here, at −800 or at 800.",
            ),
            (
                "ops:gelu ops:_gelu* ops:_GELU",
                "04 clip and gelu (optional)",
                "The rule of gelu is a product rule with a chain rule inside. The clip keeps "
                "x³ from overflowing.",
            ),
            (
                "ops:relu ops:abs ops:maximum ops:minimum ops:where",
                "04 Functions with kinks",
                "At a kink the gradient is defined by convention: 0 for relu and abs, and "
                "half of g for each input in a tie.",
            ),
        ],
        [
            (
                "ops:_clip ops:clip ops:_where ops:_BITS",
                "04 Functions with kinks",
                "clip also passes g on at its bounds. `_where` is a faster version of NumPy's "
                "`where`.",
            ),
        ],
    ),
    "record": Part(
        "How a call is recorded",
        [
            (
                "rows:Primitive rows:Primitive.__init__ rows:Primitive.__repr__ rows:Primitive.__reduce__",
                "06 The engine that you wrote",
                "A row is data, so that it can be printed, tested and compared with your line.",
            ),
            (
                "rows:Primitive.__call__ rows:Primitive.record tape:Tensor.process tape:one_level_down",
                "05 A number that remembers",
                "This is the centre of the engine. A call belongs to the highest level among "
                "its arguments, and the class of the Tensors on that level decides what "
                "happens. A `Tensor` computes the value one level down. If an input requires "
                "a gradient, it also records how the result was made.",
            ),
            (
                "tape:new_tensor",
                "05 A number that remembers",
                "This function creates the results of ops. Only `_fast_call` repeats its code.",
            ),
        ],
        [
            (
                "rows:Primitive.compute rows:Primitive.call_function rows:_arrays",
                "08 Broadcasting",
                "These call the function itself, and raise NumPy's errors again with a "
                "message that names the row.",
            ),
            (
                "rows:Primitive._check_keywords rows:Primitive._split",
                "08 Sums",
                "These check keywords, and also accept them by position, as NumPy does.",
            ),
            (
                "rows:Primitive._check_rules rows:Primitive._read_names",
                "14 Add your own operation",
                "These check a row of your own when you declare it. They read the names of "
                "the inputs and keywords from its rules.",
            ),
        ],
    ),
    "back": Part(
        "The backward pass",
        [
            (
                "tape:backward_pass",
                "05 Accumulate the gradients",
                "This is your loop. The heap returns the newest pending Tensor, and the "
                "ledger returns its gradient. The gradient is complete, because all users of "
                "the Tensor are newer. The `yield` reports each visit to the caller as it "
                "happens.",
            ),
            (
                "tape:input_gradients",
                "05 Accumulate the gradients",
                "Here the rules run, but only for the inputs that need a gradient.",
            ),
            (
                "tape:match_input values:unbroadcast",
                "08 The gradient of a broadcast array",
                "This is your `unbroadcast`, in one place for every row: if an array was "
                "copied in the forward pass, its gradient is summed in the backward pass.",
            ),
            (
                "tape:Tensor.backward tape:leaf_gradients values:copy_if_view",
                "05 Accumulate the gradients",
                "The whole backward pass runs first, and then all `.grad` are written at "
                "once. So a pass that is interrupted changes nothing. No two gradients share "
                "an array.",
            ),
        ],
    ),
    "moves": Part(
        "Share, sum, and move",
        [
            (
                "rows:linear",
                "08 Masks, forward and backward",
                "This is the second kind of row: if the function is linear, its backward rule "
                "is its transpose.",
            ),
            (
                "ops:sum ops:mean ops:_keep_dims ops:_spread",
                "08 Sums",
                "The rule of a sum copies g along the axes that were summed; the rule of a "
                "mean also divides by the number of entries.",
            ),
            (
                "ops:broadcast_to ops:reshape ops:transpose ops:squeeze ops:expand_dims ops:_astype ops:astype",
                "08 Operations that move entries",
                "These move or copy entries, or convert them to another dtype, and their "
                "rules undo that. Only copied entries need a sum.",
            ),
            (
                "ops:getitem ops:scatter ops:_scatter",
                "08 Indexing",
                "Each is the backward rule of the other. An entry that is read twice gets the "
                "sum of both gradients.",
            ),
        ],
        [
            (
                "ops:_concatenate ops:concatenate ops:_slice_of ops:_as_list ops:stack",
                "08 Four more rules (optional)",
                "Arrays that were joined in the forward pass are split in the backward pass.",
            ),
            (
                "ops:flip ops:split ops:pad ops:swapaxes",
                "08 Four more rules (optional)",
                "These are composed of the rows above, so they need no rules.",
            ),
            (
                "ops:var ops:std",
                "08 Sums",
                "These are also composed of rows: mean, subtract, multiply, and a square root "
                "for std.",
            ),
        ],
    ),
    "products": Part(
        "Products",
        [
            (
                "rows:bilinear ops:_matmul ops:matmul",
                "09 The rules in one line",
                "This is the third kind of row, with your two lines for the matrix product. "
                "The code around them adds an axis to vectors.",
            ),
        ],
        [
            (
                "ops:dot ops:ROWS",
                "09 The rules in one line",
                "NumPy's older product is computed by the newer one. `ROWS` is the whole "
                "table by name.",
            ),
            (
                "ops:unfold ops:fold ops:_unfold* ops:_fold* ops:pair ops:_window_pairs ops:_sizes",
                "14 A window as a row: the fast form",
                "unfold writes each window of an image as a row of numbers; its backward rule "
                "adds these rows up at the positions of their windows.",
            ),
            (
                "ops:conv2d ops:_conv2d* ops:_as_columns ops:_as_rows",
                "14 Both gradients, from the indices",
                "With unfold, a convolution is a matrix product, and so are its two rules.",
            ),
            (
                "ops:einsum ops:_einsum ops:_sum_unshared",
                "18 One rule for every product: einsum (optional)",
                "This is one rule for every product that can be written with letters: in the "
                "backward pass the letters swap places.",
            ),
        ],
    ),
    "choices": Part(
        "Choose and normalise",
        [
            (
                "rows:primitive ops:_weighted ops:max ops:min ops:_shared_extreme",
                "10 max",
                "This is the fourth kind of row, whose forward rule must be written out, as a "
                "`push`. The largest entry gets the gradient; in a tie, the largest entries "
                "share it.",
            ),
            (
                "ops:logsumexp ops:_logsumexp ops:softmax ops:_softmax* ops:log_softmax ops:_log_softmax*",
                "10 Without the Jacobian",
                "The largest entry is subtracted first, so inputs of ±1000 work as well as 1. No "
                "Jacobian is built.",
            ),
        ],
        [
            (
                "ops:_extremum ops:_slices_along ops:_floating",
                "10 max",
                "These compute the same maximum faster, as pooling needs it, and convert "
                "integers to floats.",
            ),
            (
                "ops:nll_loss ops:_nll_loss* ops:NegativeClass",
                "10 Cross-entropy",
                "This picks the log-probabilities of the true classes, after a check that "
                "these classes exist.",
            ),
        ],
    ),
    "operators": Part(
        "Operators, methods, NumPy",
        [
            (
                "operators:_OPERATORS operators:_method operators:_reflected operators:for*_OPERATORS*",
                "05 A number that remembers",
                "In `2 - x` Python calls a method of x, with the two operands swapped. "
                "`_reflected` swaps them again, so that the call is `subtract(2, x)`.",
            ),
            (
                "operators:_dispatch operators:_array_ufunc",
                "06 The engine that you wrote",
                "NumPy calls these two methods of its arguments. They return the result of a "
                "row or a plain array, or raise an error that says what to do.",
            ),
        ],
        [
            (
                "operators:_METHODS operators:_FUNCTIONS operators:_ZERO_GRADIENT operators:_RENAMED operators:_OF_SHAPE "
                "operators:_rows* operators:zero_gradient_functions operators:_of_shape",
                "06 The engine that you wrote",
                "These tables map each method and each NumPy function to its row.",
            ),
            (
                "operators:zero_gradient operators:_named operators:_clip operators:_pad",
                "05 A number that remembers",
                "A comparison has slope 0; a sum accepts NumPy's keywords.",
            ),
            (
                "operators:_from_varargs operators:for* operators:Tensor*",
                "05 A number that remembers",
                "Here all of these are attached to Tensor.",
            ),
        ],
    ),
    "refused": Part(
        "What the engine rejects",
        [
            (
                "operators:_setitem operators:_in_place operators:_no_remainder operators:_reject",
                "08 Indexing",
                "Assigning to an item would change an array that other rules have read, and "
                "`p -= …` would create a new Tensor and train nothing. So both raise an error "
                "that says what to write instead.",
            ),
        ],
        [
            (
                "operators:_array operators:_len operators:_getitem operators:_concrete operators:_bool operators:_index",
                "08 Indexing",
                "These run where Python needs a plain number or array from a Tensor, for "
                "example as an index or in an `if`.",
            ),
        ],
    ),
    "levels": Part(
        "A derivative is a program",
        [
            (
                "levels:new_level transforms:box transforms:_float64",
                "16 Levels: nested derivatives (optional)",
                "Each `grad` opens a level of its own, and puts its inputs on this level. "
                "Values on lower levels are constants to it, so two nested derivatives cannot "
                "be confused.",
            ),
            (
                "transforms:vjp transforms:_vjp transforms:_value",
                "09 The Jacobian, and why engines never build it",
                "These open a level, run the function, and return a pullback that you can call "
                "repeatedly.",
            ),
            (
                "transforms:value_and_grad transforms:_value_and_grad transforms:grad transforms:_grad",
                "06 The engine that you wrote",
                "These call vjp with g = 1.",
            ),
        ],
        [
            (
                "transforms:_chosen",
                "06 The engine that you wrote",
                "This selects the arguments with respect to which a function is differentiated.",
            ),
            (
                "levels:no_grad* levels:_NeedsBrackets* levels:record_above levels:call_recorded levels:is_recording",
                "01 Four ways to differentiate",
                "Inside a `no_grad` block nothing is recorded, on any level up to the level "
                "of the block.",
            ),
        ],
    ),
    "forward": Part(
        "Forward mode, and what uses it",
        [
            (
                "forward:Dual forward:Dual.process rows:Primitive.push_tangents transforms:jvp transforms:_jvp",
                "15 Forward mode from the table of rules",
                "These are your dual numbers. Each kind of row determines how a tangent is "
                "carried along; three of the four kinds need no further line.",
            ),
            (
                "transforms:jacobian transforms:_jacobian transforms:_unit_arrays transforms:hessian transforms:hvp",
                "16 Hessian–vector products, without the Hessian",
                "Rows are computed by backward passes, and columns by forward passes. The "
                "Hessian is the Jacobian of the gradient.",
            ),
        ],
    ),
    "change": Part(
        "Replace, reset, and detach",
        [
            (
                "tape:Tensor.data",
                "06 The training loop",
                "Reading `.data` returns an array. Assigning to it stores a date, from which a "
                "later backward pass can tell that a value it needs was replaced.",
            ),
            (
                "values:_date_change values:assignments values:commit values:check_unchanged values:_owner values:date_array",
                "17 What the tape holds",
                "Changes happen completely or not at all, and each has a date: `_changed_at` "
                "of a Tensor when its value is replaced, and `_array_changes` when an array "
                "is written in place, together with all its views. A backward pass raises an "
                "error at a node that is older than such a date.",
            ),
            (
                "tape:Tensor.retain_grad tape:Tensor.zero_grad tape:_accumulated",
                "06 What if you never reset the gradients?",
                "These keep the gradient of an intermediate value, reset a gradient, or add to "
                "the existing one.",
            ),
            (
                "operators:item operators:_repr operators:_reduce",
                "05 A number that remembers",
                "These return a Tensor as a Python number, as text, or as a copy.",
            ),
            (
                "tape:Tensor.detach rows:is_constant",
                "22 Is it the gradient of another loss?",
                "`detach` returns the same value without its history, as a constant for every "
                "derivative. `is_constant` returns True for such a Tensor.",
            ),
        ],
    ),
    "forget": Part(
        "Forget, and recompute",
        [
            (
                "checkpoint:checkpoint checkpoint:_forget checkpoint:_forgotten checkpoint:_checkpoint",
                "17 Gradient checkpointing: forget and recompute",
                "A checkpoint records which rows ran on which inputs, without their results, "
                "and runs these rows again when the backward pass reaches them.",
            ),
        ],
    ),
    "fast": Part(
        "Repeated code, and recorded code",
        [
            (
                "rows:_fast_call",
                "05 Deep graphs (optional)",
                "This repeats `record` for the most common calls, with one or two plain "
                "arguments, only because it is faster. All other calls go to `record`.",
            ),
            (
                "compiler/traced:* tape:tracer rows:traced_in",
                "20 The tracer",
                "This is the part of the tape that `compile` needs: your recording values, as "
                "one more level.",
            ),
        ],
    ),
    "trace": Part(
        "compile: record one call",
        [
            (
                "compiler/trace:Trace compiler/trace:Trace.__init__ compiler/trace:Trace._record",
                "20 What a program contains",
                "A `Trace` calls the function once, on a level of its own, and keeps what it needs "
                "for the program. It raises an error if the function did something that a program "
                "would not repeat, for example if it drew random numbers or changed a list among "
                "its arguments.",
            ),
            (
                "compiler/trace:Trace.process",
                "20 The library's tracer (optional)",
                "Every call of a row reaches this method while the function is recorded. The call "
                "becomes a line, unless a `grad` inside the function has a Tensor on a higher "
                "level. Then the tape records the call, and its rules come here later.",
            ),
            (
                "compiler/trace:Trace.add_line compiler/trace:_cse_key",
                "20 The tracer",
                "Your `Noted` writes one line for each call. This method first looks for a line "
                "that computes the same value, and uses that line again.",
            ),
            (
                "compiler/trace:Trace._traced compiler/trace:Trace._input compiler/trace:Trace.input_of",
                "20 What a program contains",
                "The inputs of a program are the arguments and every Tensor that the function "
                "closes over.",
            ),
            (
                "compiler/trace:Trace._output compiler/trace:Trace._constant "
                "compiler/trace:Trace._backward",
                "20 The backward pass, as lines",
                "The results are arrays, Tensors, numbers or strings. From each result that "
                "requires a gradient, a backward pass is recorded in the same way, so its "
                "operations become lines too.",
            ),
        ],
        [
            (
                "compiler/trace:_StandIn compiler/trace:_refuse_grad compiler/trace:_rng_states",
                "20 What a program contains",
                "In place of each Tensor argument, the function receives a stand-in whose "
                "`.grad` cannot be read. The states of the random generators show whether it drew numbers.",
            ),
        ],
    ),
    "comments": Part(
        "compile: shorter lines, and their names",
        [
            (
                "compiler/trace:Trace._inlined compiler/trace:_before_broadcast compiler/trace:_factor_times_one "
                "compiler/trace:Trace._copied",
                "20 The tracer",
                "These save lines: `softmax` is recorded as the operations inside it, a product "
                "with 1 needs no line, and an array is not broadcast before an operation that "
                "broadcasts it anyway. An array that is not traced is copied, because the "
                "function may change it later.",
            ),
            (
                "compiler/trace:Trace._with_origin compiler/trace:Origin compiler/trace:NO_ORIGIN "
                "compiler/trace:NOTES compiler/trace:Trace._caller_of compiler/trace:_formula",
                "20 The backward pass of a layer",
                "A line of the backward pass has a comment: the formula of its rule, or that two "
                "gradients are added. To write it, these record which rule is running.",
            ),
            (
                "compiler/trace:Trace._note_names compiler/trace:ENGINE",
                "20 The library's tracer (optional)",
                "The names in a program are those of your variables, found in the frames of your "
                "functions.",
            ),
        ],
    ),
    "calls": Part(
        "compile: which program runs",
        [
            (
                "compiler/__init__:MAX_PROGRAMS compiler/__init__:compile compiler/__init__:compile.__init__ "
                "compiler/__init__:compile.__call__ compiler/__init__:compile._record compiler/__init__:compile.source",
                "20 What a program contains",
                "`compile` keeps one program for each form of the arguments. A call finds its "
                "program, or records one if there is none, and runs it.",
            ),
            (
                "compiler/signature:STATIC compiler/signature:leaf_signature compiler/signature:signature "
                "compiler/signature:OuterTransform",
                "20 What a program contains",
                "The form of the arguments contains every shape, dtype, int, string and key. The "
                "values of arrays, Tensors and floats are not part of it, because a program reads "
                "them at each call. Inside a `grad` that was already open, the function itself runs.",
            ),
        ],
        [
            (
                "compiler/signature:with_stand_ins compiler/__init__:compile.__get__ "
                "compiler/__init__:compile.__reduce__ compiler/__init__:compile._compare",
                "20 What a program contains",
                "These replace the values among the arguments by inputs, make `compile` work "
                "with methods and pickle, and compare a program with its function if you pass "
                "`check=True`.",
            ),
        ],
    ),
    "program": Part(
        "compile: a program, its lines and its memory",
        [
            (
                "compiler/program:Program compiler/program:Program.__init__ compiler/program:Program.run compiler/program:Program.fits "
                "compiler/program:Program._outputs compiler/program:_values",
                "20 Memory: what the backward pass keeps",
                "A program consists of one forward function and of one backward function for each "
                "result that requires a gradient. The forward function also returns the values "
                "that the backward functions read.",
            ),
            (
                "compiler/program:Program._recorded compiler/program:_shared_rule",
                "20 The backward pass, as lines",
                "To the tape, a whole program is one node. Its rules share one call of the "
                "backward function.",
            ),
            (
                "compiler/plan:live_lines",
                "20 Dead code elimination",
                "This starts at the results and follows the inputs. A line that is never reached "
                "is dead code.",
            ),
            (
                "compiler/plan:assign_buffers compiler/plan:LARGE",
                "20 Memory: what the backward pass keeps",
                "A large result is written into memory that is kept between calls. A line may use "
                "a buffer again after the last line that reads it.",
            ),
            (
                "compiler/plan:ufunc compiler/plan:takes_out compiler/plan:UFUNCS",
                "20 A buffer reused too early (optional)",
                "Only some functions can write into a given array: ufuncs with the argument "
                "`out`, and the table's `where`.",
            ),
            (
                "compiler/plan:memory_root compiler/plan:VIEWS compiler/plan:depends_on_values "
                "compiler/plan:is_user_op",
                "20 A buffer reused too early (optional)",
                "A view shares the memory of another line, so the buffer must wait for the readers "
                "of both. A row of your own may return one of its arguments, so its arguments keep "
                "their memory.",
            ),
        ],
    ),
    "writer": Part(
        "compile: write a function",
        [
            (
                "compiler/writer:Writer compiler/writer:Writer.__init__ compiler/writer:Writer.function",
                "20 The library's tracer (optional)",
                "The writer turns a list of lines into the text of a Python function: the "
                "parameters, one assignment for each line with its comment, and the results.",
            ),
            (
                "compiler/writer:Writer.build",
                "20 The library's tracer (optional)",
                "Python compiles the text. Objects that cannot be written as text are passed to it "
                "by name.",
            ),
            (
                "compiler/writer:Writer.name_of compiler/writer:Writer.unique_name compiler/writer:Writer.numbered",
                "20 The library's tracer (optional)",
                "A value has your name for it if there is one, `g_x` if it is the gradient of x, "
                "and otherwise a numbered name such as t1.",
            ),
        ],
        [
            (
                "compiler/writer:Writer.returned_source compiler/writer:Writer.is_inlined",
                "20 What a program contains",
                "A result that shares its memory with an input or with another result is copied. A "
                "transpose that is read once needs no line.",
            ),
        ],
    ),
    "source": Part(
        "compile: write an expression",
        [
            (
                "compiler/writer:Writer.expression compiler/writer:SIGNS compiler/writer:METHODS compiler/writer:POSITIONAL",
                "20 The library's tracer (optional)",
                "This writes the right-hand side of a line as a person would: an operator where "
                "Python has one, a method where NumPy has one, and otherwise a call.",
            ),
            (
                "compiler/writer:Writer.value_source compiler/writer:Writer.index_source compiler/writer:_Code",
                "20 The library's tracer (optional)",
                "These write one argument: a name, a number, an index, or a tuple or list of them.",
            ),
            (
                "compiler/writer:Writer.function_name compiler/writer:Writer.constant compiler/writer:MOST_ENTRIES",
                "20 What a program contains",
                "Functions and arrays that cannot be written as text have names above the "
                "functions of the program.",
            ),
        ],
    ),
}
DELETIONS = {
    "own": Deletion(
        "tape:Tensor.requires_grad",
        "self._value",
        "Which contract breaks without it?",
        "the caller's array stays the caller's",
        "**The caller's array stays the caller's.** Without the line, the Tensor and the "
        "caller share one array, so a caller who writes into the array changes the Tensor "
        "too. The other three programs do not use the array again.",
        {
            "the caller's array stays the caller's": "a = np.ones(2)\nx = leaf(a)",
            "integers are refused": "np.arange(3), requires",
            "x·x at 3": "x = leaf(3.0)\n(x * x).backward()\nx.grad",
            "float32 stays float32": "np.ones(3, np.float32)",
        },
    ),
    "gelu": Deletion(
        "ops:_gelu_rule",
        "x = np.clip",
        "Which of these slopes is no longer right?",
        "gelu at 10²⁰⁰",
        "**gelu at 10²⁰⁰**: x² is inf there and 1 − t² is 0, and 0 · inf is nan. At 0.5 the "
        "clip changes nothing, and the other rules contain no clip.",
        {
            "gelu at 10²⁰⁰": "slopes(ag.gelu",
            "relu at 0": "slopes(ag.relu",
            "sigmoid at −800": "slopes(ag.sigmoid",
            "tanh at 0.5": "slopes(np.tanh, 0.5)",
        },
    ),
    "needed": Deletion(
        "tape:Tensor.process",
        "node._requires_grad = bool",
        "Which contract breaks without it?",
        "within `no_grad`, x·x requires no gradient",
        "**Within `no_grad`, x·x requires no gradient.** By default, every Tensor of the class "
        "requires a gradient, because nearly every result does. This line corrects that for the "
        "others. If a gradient is required, the line changes nothing.",
        {
            "x·x at 3": "x = leaf(3.0)\n(x * x).backward()\nx.grad",
            "within `no_grad`, x·x requires no gradient": "with ag.no_grad(): y = x * x",
            "d³x⁵ by three `grad`": "x ** 5",
            "a bias row": "(x * 2.0 + b)",
        },
    ),
    "tangents": Deletion(
        "forward:Dual.process",
        "tangents[i] = a.tangent",
        "Which contract breaks without it?",
        "`jvp` of a `grad`",
        "**`jvp` of a `grad`.** Without the line, the result is a constant and carries no "
        "tangent. Backward passes need no tangent, so three derivatives of x⁵ by `grad` alone "
        "do not change.",
        {
            "`jvp` of a `grad`": "ag.jvp(ag.grad",
            "d³x⁵ by three `grad`": "x ** 5",
            "60 doublings in 61 visits": "range(60)",
            "a checkpoint": "np.tanh(x * w) * x",
        },
    ),
    "added": Deletion(
        "tape:backward_pass",
        "ledger[key] = ledger[key] + gx",
        "What is the gradient of x in x · x at 3 without it?",
        3.0,
        "**3.** x receives a gradient of 3 from each of the two slots. The first is in the "
        "ledger, and without the line the second is discarded.",
        "x = leaf(3.0)\n(x * x).backward()\nx.grad",
    ),
    "pushed": Deletion(
        "tape:backward_pass",
        "if number < _values._last_change",
        "Which contract breaks without it?",
        "a value changed after it was used",
        "**A value changed after it was used.** Without the line, the dates are not checked. "
        "In this program the rule still has the old 2, and the gradient is 4. But if an array "
        "was changed in place, or if a rule reads a z that was replaced, the rule would use "
        "the new numbers without any message. If nothing has changed, the line has no effect.",
        {
            "x·x at 3": "x = leaf(3.0)\n(x * x).backward()\nx.grad",
            "60 doublings in 61 visits": "range(60)",
            "a bias row": "(x * 2.0 + b)",
            "a value changed after it was used": "y = x * x\nx.data = 5.0",
        },
    ),
    "scatter": Deletion(
        "ops:_scatter",
        "out[index] = x",
        "x[1:, 0] and x[0, −1] are added. What is the gradient of x without the line?",
        "only zeros",
        "**Only zeros**: the result is an array of zeros in the shape of x, into which "
        "nothing was written.",
        {"only zeros": "(x[1:, 0] + x[0, -1])", "the right gradient": "x[[0, 2, 0]]"},
    ),
    "straight": Deletion(
        "ops:matmul",
        "if x_ndim == y_ndim == 2",
        "Without it, one of these products never ends. Which one?",
        "of two stacks",
        "**The product of two stacks.** If both sides have more than two axes, matmul computes Z "
        "= (Yᵀ·Xᵀ)ᵀ, which is again such a product. Two matrices take the longer way, through "
        "`rows`, and their product is right.",
        {
            "of two matrices": "(A @ A)",
            "of a matrix and a vector": "(A @ v + v @ A)",
            "of a stack and a matrix": "(S @ A)",
            "of two stacks": "leaf(np.ones((2, 2, 1)))",
        },
    ),
    "softmax": Deletion(
        "ops:_softmax",
        "e = e / e.sum",
        "logsumexp of [1000, −1000, 1000] has the gradient [0.5, 0, 0.5]. What is the "
        "gradient without the line?",
        [1.0, 0.0, 1.0],
        "**[1, 0, 1].** The slope of logsumexp *is* softmax. Without the division by the sum, "
        "softmax is e to the power of x minus the largest entry, which is never above 1.",
        "x = leaf([1000.0, -1000.0, 1000.0])",
    ),
    "reflected": Deletion(
        "operators:for name, f in _OPERATORS.items():",
        'setattr(Tensor, f"__r',
        "Which contract breaks without it?",
        "2 · a",
        "**2 · a.** The float cannot multiply by a Tensor, so Python calls the reflected "
        "product of the Tensor. In a · 2 Python calls the Tensor's own product first.",
        {
            "2 · a": "b = 2.0 * a",
            "a · 2": "z.retain_grad()",
            "x·x at 3": "x = leaf(3.0)\n(x * x).backward()\nx.grad",
            "d³x⁵": "x ** 5",
        },
    ),
    "arrived": Deletion(
        "transforms:_vjp",
        "if isinstance(z, Tensor) and",
        "The third derivative of x⁵ at 2 is 240. What is it without the line?",
        0.0,
        "**0, and no error.** No backward pass runs, so no gradient reaches the inputs, and "
        "such inputs get zeros. For a constant function zeros are right.",
        "x ** 5))",
    ),
    "kept": Deletion(
        "tape:Tensor.zero_grad",
        "self.grad = None",
        "Two backward passes: x·x at x = 3, then `x.zero_grad()`, then 2x. What is x.grad "
        "without the line?",
        8.0,
        "**8**: 6 from the first backward pass and 2 from the second. A gradient is added to "
        "the one that is already there.",
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
        "Yours sorts all values first and keeps only sums. Ours takes the newest Tensor from "
        "a heap at each visit, runs rules instead of multiplying by stored numbers, checks "
        "dates, recomputes a checkpoint, and shows each visit to its caller.",
    ),
    "15.Dual": (
        "rows:Primitive.push_tangents",
        "Yours writes out the tangent of each operator. Ours derives it from the kind of the "
        "row, so that one method serves the whole table.",
    ),
    "08.bias": (
        "values:unbroadcast",
        "Yours are two cases of one sum: an axis of length 1 that was copied, and axes that "
        "were missing. Ours compares the two shapes to find the axes to sum, and rejects "
        "shapes that broadcasting cannot have made.",
    ),
    "08.scatter": (
        "ops:_scatter",
        "The version with `add.at` is yours. If the index consists only of numbers and "
        "slices, no entry is read twice, and `=` does the same faster; if most entries are "
        "read, `bincount` is faster.",
    ),
    "09.matmul": (
        "ops:_matmul",
        "The two rules are yours. The row also contains the function. Because the row is "
        "`bilinear`, linear in each factor, forward mode needs no further line.",
    ),
    "17.by_hand": (
        "checkpoint:checkpoint",
        "Yours keeps marks of a chain whose step it knows, and calls the step again. Ours "
        "takes any function: it runs the function once, and the backward pass repeats the "
        "operations that were recorded. So you do not have to choose marks, and random "
        "numbers are drawn only once.",
    ),
    "20.Noted": (
        "compiler/traced:Traced.process",
        "NumPy calls your method, which records one line. The row itself calls ours, because "
        "every call goes through `record`. So our line also contains the keywords of the row, "
        "and can be on any level.",
    ),
}
