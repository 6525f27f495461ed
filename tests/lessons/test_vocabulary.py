"""Each technical term is introduced once, explained on the notation page, and used from then on.

A reader who knows these terms can read PyTorch's note on autograd and JAX's Autodiff Cookbook. A
term is given as a regular expression for its forms; its lesson is the one that introduces it, in
bold.
"""

import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
LESSONS = {path.stem[:2]: path for path in sorted(FOLDER.glob("[0-9]*.ipynb"))}

TERMS = {
    "00": [
        "linear approximation",
        "perturb",
        "minimum|minima",
        "stationary point|critical point",
        "function transformation",
    ],
    "01": [
        "with respect to",
        "differentiable",
        "non-differentiable",
        "numerical differentiation",
        "forward difference",
        "truncation error",
        "rounding error|round-off error",
        "floating-point",
        "machine precision",
        "cancellation",
        "Taylor",
        "automatic differentiation",
        "learning rate",
        "convergen|converge",
        "diverge",
        "oscillat",
        "iteration",
    ],
    "02": [
        "partial derivative",
        "multivariable chain rule",
        "chain rule",
        "composition",
        "scalar",
        "computational graph",
        "node",
        "edge",
        "directed acyclic graph",
        "lea(f|ves)",
        "root",
        "intermediate",
        "record",
        "operator overloading",
        "define-by-run",
        "control flow",
        "local gradient",
        "upstream gradient",
        "forward pass",
        "backward pass",
        "propagat",
        "fan-out",
        "nabla|∇",
    ],
    "03": ["distributes", "swaps", "routes", "primitive", "VJP rule|backward rule"],
    "04": [
        "continuous",
        "smooth",
        "saturat",
        "numerically stable",
        "overflow",
        "underflow",
        "subgradient",
    ],
    "05": [
        "activation function",
        "topological order|topological sort",
        "reverse mode",
        "backpropagation",
        "accumulat",
        "Wengert list|evaluation trace",
        "target",
    ],
    "06": [
        "neural network",
        "feed-forward",
        "architecture",
        "optimi[sz]ation",
        "optimi[sz]er",
        "minimi[sz]e",
        "loss function|objective function|objective",
        "parameter",
        "training step",
        "regulari[sz]ation",
        "dense|fully connected",
        "activation",
        "context manager",
        "freeze|frozen",
        "fine-tun",
        "detach",
        "module",
        "dead ReLU",
        "initiali[sz]ation",
    ],
    "08": [
        "vector",
        "broadcast",
        "reduction",
        "elementwise",
        "linear map",
        "transpose",
        "view",
        "mask",
    ],
    "09": [
        "matrix multiplication",
        "inner product",
        "outer product",
        "Jacobian",
        "vector–Jacobian product|VJP",
        "pullback",
        "cotangent",
        "adjoint",
        "domain",
        "codomain",
    ],
    "10": [
        "logits",
        "softmax",
        "log-likelihood",
        "cross-entropy",
        "one-hot",
        "logistic regression",
    ],
    "11": [
        "curvature",
        "condition number",
        "convex",
        "saddle point",
        "momentum",
        "adaptive",
        "bias correction",
        "weight decay",
        "learning-rate schedule",
        "hyperparameter",
    ],
    "12": [
        "epoch",
        "mini-batch",
        "stochastic gradient descent",
        "overfit",
        "generali[sz]",
        "training set",
        "validation set",
        "test set",
        "state[ _]dict",
        "pytree",
    ],
    "13": [
        "vanishing",
        "exploding",
        "backpropagation through time",
        "gradient clipping",
        "hook",
    ],
    "14": ["stride", "padding", "channel", "receptive field", "dropout", "evaluation mode"],
    "15": [
        "forward mode",
        "dual number",
        "Jacobian–vector product|JVP",
        "pushforward",
        "tangent",
        "primal",
        "seed",
        "directional derivative",
        "FLOP",
        "vmap",
        "standard basis",
        "identity matrix",
        "complex step",
        "complex number",
        "imaginary part",
        "conjugate",
        "holomorphic",
    ],
    "16": [
        "higher-order",
        "double backward",
        "Hessian",
        "Hessian–vector product",
        "forward-over-reverse",
        "symmetric",
        "Newton's method",
        "second-order",
        "sharpness",
    ],
    "17": [
        "in-place",
        "version counter",
        "saved tensor",
        "buffer",
        "retain",
        "checkpointing",
        "rematerialisation|rematerialization",
    ],
    "18": [
        "quer(y|ies)",
        "causal mask",
        "residual connection",
        "layer normali[sz]ation",
        "batch normali[sz]ation",
        "head",
    ],
    "19": ["language model", "n-gram", "perplexity", "token", "sampling", "temperature"],
    "20": [
        "tracing|traced",
        "tracer",
        "intermediate representation",
        "just-in-time|JIT",
        "dead code|dead-code",
        "common subexpression|common-subexpression",
        "operator fusion|fusion",
    ],
    "21": [
        "custom function",
        "data parallelism|data-parallel",
        "all-reduce",
        "deterministic",
        "thread",
    ],
    "22": ["straight-through", "implicit differentiation", "fixed point"],
}
# Without these, PyTorch's note on autograd and JAX's Autodiff Cookbook cannot be read.
OFTEN = """
    with respect to|differentiable|function transformation|chain rule|scalar|computational graph|node|edge
    lea(f|ves)|intermediate|record|define-by-run|control flow|forward pass|backward pass|propagat|primitive
    subgradient|reverse mode|accumulat|optimi[sz]er|parameter|detach|module|vector|linear map|transpose|view
    Jacobian|pullback|cotangent|evaluation mode|custom function|forward mode|dual number|tangent|primal|seed
    nabla|vmap|higher-order|Hessian|in-place|saved tensor|checkpointing|tracing|tracer
""".split()
LAST = {"20", "21", "22"}  # few lessons follow
# Retired wordings that the course used in place of a term.
RETIRED = [
    r"\bway back\b",
    r"\bwalk(s|ed)? back\b(?!ward)",
    r"\bruns? away\b(?! from)",
    r"\blowest place\b",
    r"\bhandfuls?\b",
    r"\blost hold\b",
    r"\bforetell",
    r"\bwithout end\b",
    r"\btheir kin\b",
    r"\bmend(s|ed|ing)?\b",
    r"\bcalm_",
    r"\bwhoever\b",
]


def markdown(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return "\n\n".join(
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"
    )


TEXTS = {lesson: markdown(path) for lesson, path in LESSONS.items()}
NOTATION = markdown(FOLDER / "notation.ipynb")
EVERY_TERM = pytest.mark.parametrize(
    "lesson, term", [(lesson, term) for lesson, terms in TERMS.items() for term in terms]
)


def found(term, text):
    return re.findall(rf"\b(?:{term})", text, re.IGNORECASE)


def emphasised(text):
    """Return the text set in bold or italics: terms are in bold, their synonyms often in
    italics.
    """
    return [words for _, words in re.findall(r"(\*{1,2})([^*\n]+)\1", text)]


@EVERY_TERM
def test_a_term_is_introduced_in_bold_in_its_lesson(lesson, term):
    assert any(found(term, words) for words in emphasised(TEXTS[lesson])), (
        f"lesson {lesson} sets {term} neither in bold nor, as a synonym, in italics"
    )


@EVERY_TERM
def test_a_term_is_on_the_notation_page(lesson, term):
    assert found(term, NOTATION)


@EVERY_TERM
def test_a_term_is_used_after_it_was_introduced(lesson, term):
    uses = [found(term, text) for later, text in TEXTS.items() if later >= lesson]
    often = term.split("|")[0] in "|".join(OFTEN) and lesson not in LAST
    assert sum(map(len, uses)) >= (3 if often else 2)


@pytest.mark.parametrize("lesson", [*LESSONS, "notation"])
def test_retired_words_do_not_occur(lesson):
    text = TEXTS.get(lesson, NOTATION)
    used = [match[0] for words in RETIRED for match in re.finditer(words, text, re.IGNORECASE)]
    assert used == []
