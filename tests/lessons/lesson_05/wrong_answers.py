"""Wrong answers to the exercises of lesson 05 with their causes, and right answers in other styles."""

from answer_cases import cases

from autograd_course.grading import edit
from autograd_course.grading.causes import own
from autograd_course.grading.rule_checks import FAULTS, engine
from autograd_course.lessons.lesson_05.exercises import (
    OLD_LEDGER,
    ONE_LEFT,
    SENT_AGAIN,
    _newest_first,
    _paying,
    _reached,
)

LOCALS = "(y.data, x.data)"

cases(
    "05.multiply",
    wrong=[
        edit(LOCALS, "(x.data, y.data)", "own: The two are swapped"),
        edit("x.data * y.data", "round(x.data * y.data, 6)", "nearly"),
        edit("x.data * y.data", "round(x.data * y.data, 12)", "last digits"),
        edit(LOCALS, "(np.float32(y.data), np.float32(x.data))", "nearly"),
        edit(LOCALS, "(1.0, 1.0)", "own: local gradients of add"),
        edit(LOCALS, "(x.data + y.data, x.data + y.data)", "none in part 1"),
        edit(LOCALS, "(y, x)", "own: One of these is a Value"),
        edit(LOCALS, "y.data", "one value"),
        edit(LOCALS, "(y.data,)", "number of values"),
        edit(LOCALS, "(x.data * y.data, x.data * y.data)", "own: That is the result, twice"),
        edit(LOCALS, "(y.grad, x.grad)", "own: Those are gradients"),
        edit(LOCALS, "(y.data * x.grad, x.data * y.grad)", "own: .grad plays no part"),
        edit(LOCALS, "(y.data + x.grad, x.data + y.grad)", "own: .grad plays no part"),
        edit(LOCALS, "(abs(y.data), abs(x.data))", "own: sign"),
        edit(
            LOCALS,
            "(int(y.data), int(x.data))",
            "own: Do not round: each local gradient is the other number",
        ),
        edit(
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "z = Value(x.data * y.data, (x, y), (y.data, x.data))\n    z.grad = 1.0\n    return z",
            "own: backward will fill it",
        ),
        edit("x.data * y.data,", "x.data + y.data,", "own: That is the sum"),
        edit(", (y.data, x.data)", "", "own: Pass the two local gradients"),
        edit("x.data * y.data", "x.item() * y.item()", "own: A Value has only data"),
        edit(LOCALS, LOCALS + ", requires_grad=True", "own: Value takes three things"),
        edit("x.data * y.data,", "x,", "own: Multiply their numbers"),
        edit("x.data * y.data,", "x * y,", "own: Multiply their numbers"),
        edit("(x, y), (", "(x.data, y.data), (", "own: the Values themselves"),
        edit("(x, y), (", "(), (", "own: There are no inputs"),
        edit("(x, y), (", "(y, x), (", "own: themselves, in this order"),
        edit(f"(x, y), {LOCALS}", "(y, x), (x.data, y.data)", "own: the pairs match"),
        *[
            edit(
                "(x, y), (y.data, x.data)",
                f"(x, y)[::{step}], (y.data, x.data)[::{step}]",
                "own: the pairs match",
            )
            for step in ("1 if x.number < y.number else -1", "-1 if x.number < y.number else 1")
        ],
        edit("(y.data, x.data)", "(y.data if x.data else 0.0, x.data)", "none in part 1"),
        edit(
            "return",
            "kept = multiply.__dict__.setdefault('kept', [0, 0])\n    kept[:] = x, y\n    return",
            "(x, y), (",
            "kept, (",
            "own: overwrites it at the next call",
        ),
        edit("(x, y), (", "(x,) if x is y else (x, y), (", "own: There are two inputs"),
        edit("x.data * y.data,", "round(x.data * y.data),", "own: whole number"),
        edit(
            LOCALS,
            "(x.data * y.data / x.data, x.data * y.data / y.data)",
            "own: A factor may be 0, so do not divide",
        ),
        edit("return Value", "x.grad += y.data\n    return Value", "own: multiply only records"),
        edit(
            "return Value",
            "x.grad = y.grad = 0.0\n    return Value",
            "own: multiply only records",
        ),
        edit(
            "return Value",
            "x.locals = (y.data,)\n    return Value",
            "own: multiply only records",
        ),
        edit(
            "return Value",
            "x.inputs = (x, y)\n    return Value",
            "own: multiply only records",
        ),
        edit(
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "x.data = x.data * y.data\n    return x",
            "own: multiply only records",
        ),
        edit(
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "return x * y",
            "own: Multiply their numbers",
        ),
        edit(
            "def multiply",
            "made = {}\ndef multiply",
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "return made.setdefault((x.data, y.data), Value(x.data * y.data, (x, y), (y.data, x.data)))",
            "own: a new Value at each call",
        ),
        edit(
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "return x.data * y.data",
            "own: Return one new Value",
        ),
        edit("return Value(", "return (", "own: Return one new Value"),
        edit("x.data))", "x.data)),", "own: Return one new Value"),
        edit(
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "z = Value(x.data * y.data, (x, y), (y.data, x.data))\n    z.number = max(x.number, y.number)\n    return z",
            "own: Each Value gets its .number when it is created",
        ),
        edit(
            "(y.data, x.data)",
            "(min(y.data, 5e6), x.data) if x.data < 5e3 else (1.0, x.data)",
            "none in part 1 | where x holds 5",
        ),
        (lambda x, y: print(x.data * y.data), "printed"),
    ],
    accepted=[
        edit(LOCALS, "[y.data, x.data]"),
        edit("(x, y), (", "[x, y], ("),
        edit(LOCALS, "tuple(v.data for v in (y, x))"),
        edit(
            "x.data * y.data, (x, y), (y.data, x.data)",
            "locals=[y.data, x.data], inputs=(x, y), data=float(x.data) * y.data",
        ),
        """
        class Value(Value): pass         # the learner's is not the check's own
        def multiply(x, y):              # takes plain numbers too
            x, y = (v if isinstance(v, Value) and len({x, y}) else Value(v) for v in (x, y))
            return Value(x.data * y.data, (x, y), (y.data, x.data))""",
        """
        def multiply(x, y):
            z = Value(np.prod([x.data, y.data]))
            z.inputs = x, y
            z.locals = y.data, x.data
            return z""",
    ],
)


EACH = """        for x in value.inputs:
            if x not in seen:
                seen.add(x)
                found.append(x)"""
SORTED = "return sorted(found, key=lambda value: value.number, reverse=True)"


def _in_depth_last(value, found):
    for x in value.inputs:
        _in_depth_last(x, found)
    if value not in found:
        found.append(value)
    return found


def _in_depth(output):
    """Find the values depth-first, and sort them by half their numbers."""
    found = []

    def visit(value):
        found.append(value)
        for x in value.inputs:
            if x not in found:
                visit(x)

    visit(output)
    return sorted(found, key=lambda value: value.number // 2, reverse=True)


cases(
    "05.order",
    wrong=[
        edit(SORTED, "return found", "own: , which uses it and has not sent anything yet"),
        edit(
            "x in value.inputs",
            "x in [x for x, local in zip(value.inputs, value.locals) if local]",
            "own: a is missing",
        ),
        edit(
            "for x in value.inputs:",
            "a, b = value.inputs or (output, output)\n        for x in (a, b):",
            "own: one, or three",
        ),
        edit(
            "found = [output]",
            "found = order.__dict__.setdefault('found', [])\n    found[:] = [output]",
            SORTED,
            "found.sort(key=lambda value: -value.number)\n    return found",
            "own: overwrites it at the next call",
        ),
        edit(", reverse=True", "", "own: begins with the oldest"),
        edit("value.number", "value.number // 2", "own: a comes before b which"),
        edit(
            "for x in value.inputs",
            "for x in value.inputs[::-1]",
            "value.number",
            "value.number // 2",
            "own: a comes before b which",
        ),
        (_in_depth, "own: a comes before b which"),
        (lambda output: _in_depth_last(output, []), "own: Reverse your list"),
        edit("value.number", "value.data", "own: sorted by the data of the Values"),
        edit("value.number, reverse=True", "value.data", "own: sorted by the data of the Values"),
        edit("seen.add(x)", "seen += x", "own: A set has no +="),
        edit("seen.add(x)", "seen += {x}", "own: A set has no +="),
        edit("value.number, reverse=True)", "value.number).reverse()", "nothing"),
        edit("value.number", "-value.number", "own: begins with the oldest"),
        edit("if x not in seen:", "if True:", "own: is in it 2 times"),
        edit(
            "if x not in seen:",
            "if True:",
            "sorted(found",
            "sorted(set(found)",
            "own: Does your code follow every path",
        ),
        edit(
            "in value.inputs",
            "in output.inputs",
            "own: is missing. Include the inputs of inputs too",
        ),
        edit("in value.inputs", "in value.inputs[:1]", "own: w is missing, and L was made from it"),
        edit(
            "for value in found:",
            "for value in [output]:",
            "own: is missing. Include the inputs of inputs too",
        ),
        edit("[output]", "list(output.inputs)", "own: The output itself is missing"),
        edit("in value.inputs", "in value.inputs[:2]", "own: c is missing, and L was made from it"),
        edit(SORTED, SORTED + "[:50]", "own: append all inputs"),
        edit(SORTED, SORTED + " if output.inputs else []", "own: The output itself is missing"),
        edit(
            SORTED,
            "for value in found:\n        value.inputs = ()\n    " + SORTED,
            "own: order must not change any Value",
        ),
        edit("sorted(found", "sorted(found[1:]", "own: The output itself is missing"),
        edit(
            SORTED,
            "return sorted((value.number for value in found), reverse=True)",
            "own: whole numbers",
        ),
        edit(SORTED, "return [value.data for value in found]", "own: Return a list of Values"),
        edit(SORTED, "return set(found)", "own: A set has no order"),
        edit(
            "return sorted(",
            "return iter(sorted(",
            "reverse=True)",
            "reverse=True))",
            "own: An iterator can be read only once",
        ),
        edit(
            SORTED,
            "return reversed(sorted(found, key=lambda value: value.number))",
            "own: An iterator can be read only once",
        ),
        edit(
            "found, key=lambda value: value.number,",
            "found,",
            "own: key=lambda value: value.number",
        ),
        edit(
            "key=lambda value: value.number",
            "key=output.number",
            "own: key must be a function that returns what to sort by",
        ),
        edit(
            "key=lambda value: value.number",
            "key='number'",
            "own: key must be a function that returns what to sort by",
        ),
        edit(SORTED, "return found.sort(key=lambda value: value.number, reverse=True)", "nothing"),
        edit("found.append(x)", "found.append(value)", "own: is in it 3 times"),
        edit("seen.add(x)\n", "pass\n", "own: is in it 2 times"),
        edit(
            "[output]",
            "{output}",
            "found.append(x)",
            "found.add(x)",
            "own: A set or a dict must not grow while a loop goes through it",
        ),
        edit(EACH, "        found.append(value.inputs)", "own: Take them one by one"),
        edit(
            "if x not in seen:",
            "if x.inputs and x not in seen:",
            "own: The leaves are missing",
        ),
        edit(
            "if x not in seen:",
            "if x.data not in [known.data for known in found]:",
            "own: still two",
        ),
        edit(
            "if x not in seen:",
            "if (x.data, x.inputs) not in [(one.data, one.inputs) for one in found if x.inputs]"
            " and x not in seen:",
            "own: d is missing. It holds the same number as c",
        ),
        edit(
            "found = [output]",
            "found = [output]\n    output.grad = 0.0",
            "own: order must not change any Value",
        ),
        edit(
            "found = [output]",
            "found = [output]\n    output.number = 10**9",
            "own: order must not change any Value",
        ),
        edit(
            "for x in value.inputs:",
            "value.locals = ()\n        for x in value.inputs:",
            "own: order must not change any Value",
        ),
        edit(
            "found, key=lambda value: value.number,",
            "found.number,",
            "own: A list has no such attribute",
        ),
        edit(
            "for x in value.inputs:",
            "value.grad = 0.0\n        for x in value.inputs:",
            "own: order must not change any Value",
        ),
        edit(
            "if x not in seen:",
            "if not hasattr(x, 'seen'):\n                x.seen = True",
            "own: second call",
        ),
        edit(
            "def order(output):\n    found = [output]",
            "def order(output, found=[]):\n    found.append(output)",
            "own: second call",
        ),
        edit(
            SORTED,
            "return _newest_first([*found, *([] if output.name == 'L' else [Value(0.0, name='M')])])",
            "own: was not made from it",
        ),
        edit(SORTED, "print(found)", "printed"),
    ],
    accepted=[
        """
        def order(output):
            found = []
            def visit(value):            # calls itself: right, and 5,000 in a row are too deep for Python
                if value not in found:
                    for x in value.inputs:
                        visit(x)
                    found.append(value)
            visit(output)
            return found[::-1]""",
        edit(SORTED, "found.sort(key=lambda value: -value.number)\n    return found"),
        edit(SORTED, "return tuple(sorted(found, key=lambda value: value.number))[::-1]"),
        """
        from operator import attrgetter

        def order(output):
            seen, stack = {output}, [output]
            while stack:
                fresh = set(stack.pop().inputs) - seen
                seen |= fresh
                stack += fresh
            return sorted(seen, key=attrgetter("number"))[::-1]""",
        """
        def order(output):
            owed, todo = {}, [output]
            for value in todo:
                for x in value.inputs:
                    if x not in owed:
                        todo.append(x)
                    owed[x] = owed.get(x, 0) + 1
            ready, out = [output], []
            while ready:
                out.append(ready.pop())
                for x in out[-1].inputs:
                    owed[x] -= 1
                    if not owed[x]:
                        ready.append(x)
            return out""",
        """
        import heapq

        def order(output):
            heap, known, out = [(-output.number, output)], {output.number}, []
            while heap:
                out.append(heapq.heappop(heap)[1])
                for x in out[-1].inputs:
                    if x.number not in known:
                        known.add(x.number)
                        heapq.heappush(heap, (-x.number, x))
            return out""",
        """
        class Value(Value): pass         # the learner's is not the check's own
        def order(output):
            found = [output]
            for value in found:
                found += [x for x in value.inputs if isinstance(x, Value) and x not in found]
            return sorted(dict.fromkeys(found), key=lambda value: -value.number)""",
    ],
)


PAY = "            ledger[x] = ledger.get(x, 0.0) + g * local"

cases(
    "05.backward",
    wrong=[
        *((engine(fault).backward, own(FAULTS[fault])) for fault in ("replaced", "early", "local")),
        (engine("kept").backward, own(SENT_AGAIN)),
        (engine("seeded twice").backward, own(OLD_LEDGER)),
        edit(
            "ledger = {output: 1.0}",
            "ledger = vars(backward).setdefault('ledger', {})\n    ledger[output] = 1.0",
            "ledger.pop(value)",
            "ledger[value]",
            own(OLD_LEDGER),
        ),
        (engine("=").backward, own(ONE_LEFT)),
        edit("ledger.get(x, 0.0) + g * local", "g * local", own(ONE_LEFT)),
        edit("ledger.get(x,", "ledger.get(value,", own(ONE_LEFT)),
        edit("g * local", "x.grad * local", "own: own gradient from before"),
        edit("g * local", "value.grad * local", "own: also holds the gradients of earlier calls"),
        edit(
            PAY,
            "            g = g * local\n            ledger[x] = ledger.get(x, 0.0) + g",
            "own: g was overwritten inside the loop",
        ),
        edit(
            PAY,
            "            g *= local\n            ledger[x] = ledger.get(x, 0.0) + g",
            "own: g was overwritten inside the loop",
        ),
        edit("value.grad += g", "value.grad = g", own(FAULTS["replaced"])),
        edit("value.grad += g", "value += g", "own: To send it on, multiply numbers"),
        edit("g * local", "value * local", "own: To send it on, multiply numbers"),
        edit("value.grad += g", "grad += g", "own: Each Value has its own .grad"),
        edit(PAY, f"{PAY}\n        return ledger", "own: ends after the first visit"),
        edit(PAY, f"{PAY}\n            return", "own: ends after the first visit"),
        edit(PAY, f"{PAY}\n        break", "own: ends after the first visit"),
        edit("1.0}", "0.0}", "own: no .grad changes"),
        edit("1.0}", "2.0}", "own: Exactly double. Does the ledger"),
        edit("{output: 1.0}", "{}", "own: that of the value whose turn it is"),
        edit("        value.grad += g\n", "", "own: no .grad changes"),
        edit(
            "        value.grad += g\n",
            "",
            PAY,
            f"{PAY}\n            value.grad += g",
            "own: the leaves get none",
        ),
        edit(
            PAY, f"{PAY}\n            x.grad += g * local", "own: Exactly double. Does the ledger"
        ),
        edit(
            "ledger.get(x, 0.0)",
            "ledger.get(x)",
            "own: ledger.get(x) returns None if there is no entry yet",
        ),
        edit(
            "ledger.get(x, 0.0) + g * local",
            "g * local + ledger.get(x)",
            "own: ledger.get(x) returns None if there is no entry yet",
        ),
        edit("g * local", "g.data * local", "own: local gradient are plain numbers"),
        edit(
            "g * local",
            "(g * local if abs(g * local) > 1e-12 else 0.0)",
            "own: A gradient may be small | w = 1e-30",
        ),
        edit("g * local", "max(-1e15, min(1e15, g * local))", "none in part 2 | w = 1e+30"),
        edit(
            "value.grad += g",
            "value.grad = value.grad + g if value.inputs or value is not output else 1.0",
            "own: Two calls gave the same as one",
        ),
        edit(
            "for value in order(output):\n        g = ledger.pop(value)",
            "while ledger:\n        value, g = ledger.popitem()",
            own(FAULTS["every path"]),
        ),
        edit(
            "value.grad += g",
            "value.grad = value.grad + g if value.grad < 1e12 else g",
            "own: for every Value: value.grad += g",
        ),
        edit(
            "1.0}",
            "output.grad + 1}",
            own(SENT_AGAIN),
        ),
        edit(
            "        for x,",
            "        if len({*value.locals}) > len({*value.inputs}):\n            continue\n        for x,",
            "own: The ledger has no entry for this value",
        ),
        edit(
            "ledger = {output: 1.0}",
            "ledger, came = {output: 1.0}, {}",
            PAY,
            f"            came[x] = came.get(x, 0) + 1\n            if came[x] < 6:\n    {PAY}",
            "own: x receives a 1 along each of seven paths",
        ),
        edit("g * local", "local.data * g", "own: local gradient are plain numbers"),
        edit(
            "x, local in zip(value.inputs, value.locals)",
            "x in value.inputs",
            "g * local",
            "g * value.locals",
            "own: zip(value.inputs, value.locals)",
        ),
        edit(
            "zip(value.inputs, value.locals)",
            "[value.inputs]",
            "own: A Value is not a number",
        ),
        edit(
            "for x, local in zip(value.inputs, value.locals):",
            "for local in value.locals:\n          for x in value.inputs:",
            "own: Each local gradient belongs to one input",
        ),
        edit("value.locals", "value.local", "own: The attribute is called locals"),
        edit("value.locals", "value.locals[::-1]", "own: first belongs to the first input"),
        edit("value.inputs", "value.users", "own: A Value stores its inputs"),
        edit(
            "ledger[x] = ledger.get(x, 0.0) + g * local",
            "ledger[x] += g * local",
            "own: The ledger has no entry for this value",
        ),
        edit(
            "ledger.pop(value)",
            "ledger.pop(value.number)",
            "own: The keys of the ledger are Values",
        ),
        edit("ledger.pop(value)", "ledger.pop()", "own: ledger.pop(value)"),
        edit("ledger.pop(value)", "ledger.pop(g)", "own: g has no value yet"),
        edit("ledger[x] = ledger.get", "ledger = ledger.get", "own: The object before"),
        edit(
            "ledger[x] = ledger.get(x, 0.0) + g * local",
            "ledger.append(g * local)",
            "own: an entry of a dict",
        ),
        edit(
            "for x, local in zip(value.inputs, value.locals)",
            "for x in value.inputs",
            "own: pairs each input with its local",
        ),
        edit(
            "value.grad += g",
            "value.grad = g if value.inputs else value.grad + g",
            "own: for every Value: value.grad += g",
        ),
        edit(
            "g * local",
            "int(1000 * g * local) / 1000",
            "rounded in part 2 | x = 1, y = 4, w = -0.333333",
        ),
        edit("output: 1.0", "output: 1.0 if output.inputs else 0.0", "none | backward(x)"),
        edit("ledger[x] = ledger.get", "ledger.get", "own: The ledger has no entry for this value"),
        edit(
            "for x, local in zip(value.inputs, value.locals):",
            "x, y = value.inputs\n        for x, local in zip((x, y), value.locals):",
            "own: A leaf has no inputs",
        ),
        edit(
            "ledger[x] = ledger.get(x, 0.0) + g * local",
            "x.grad += g * local",
            "own: its contribution went to x.grad",
        ),
        edit(
            "        value.grad += g\n",
            "",
            "ledger[x] = ledger.get(x, 0.0) + g * local",
            "x.grad += g * local",
            "own: its contribution went to x.grad",
        ),
        edit("order(output)", "order(output)[1:]", "own: the output is not visited"),
        edit("ledger.pop(value)", "ledger.pop(output)", "own: that of the value whose turn it is"),
        edit("order(output)", "order(output)[::-1]", "own: users first"),
        edit("order(output)", "reversed(order(output))", "own: users first"),
        edit("order(output)", "[output, *output.inputs]", "own: a negative gradient"),
        edit("order(output)", "order", "own: order(output)"),
        edit(
            "value.grad += g",
            "value.grad += g\n        if g == 0:\n            continue",
            "own: Send a gradient of 0 on too",
        ),
        edit(
            "value.grad += g",
            "value.grad += g if not value.inputs else 0.0",
            "own: Every value gets its gradient",
        ),
        edit(
            "value.grad += g",
            "value.grad += g if value is not output else 0.0",
            "own: L itself has a gradient too",
        ),
        edit(
            "value.grad += g",
            "value.grad += g if value is output or not value.inputs else 0.0",
            "own: Every value gets its gradient, including intermediate values",
        ),
        edit("value.grad += g", "value.grad += abs(g)", "own: sign"),
        edit("ledger.get(x, 0.0)", "ledger.get(x, 1.0)", "own: An entry begins at 0"),
        edit("g * local", "round(g * local)", "own: A gradient may be small"),
        edit("+= g", "+= round(g, 6)", "nearly"),
        edit("g * local", "(g + local)", "own: An entry begins at 0"),
        edit("ledger.get(x, 0.0) + g * local", "g + g * local", "own: An entry begins at 0"),
        edit("1.0}", "output.grad or 1.0}", "none in part 1"),
        edit(
            "{output:",
            "{output.data:",
            "pop(value)",
            "pop(value.data)",
            "ledger[x] = ledger.get(x,",
            "ledger[x.data] = ledger.get(x.data,",
            "own: The keys of the ledger are Values",
        ),
        edit("g * local", "np.clip(g * local, -1e3, 1e3)", "own: A graph may be deep"),
        edit("g * local", "max(g * local, 0.0)", "own: a negative gradient"),
        edit(
            "value.grad += g",
            "value.grad += g\n        value.data += g",
            "own: only .grad changes",
        ),
        edit("ledger = {output: 1.0}", "ledger = {output: output.data}", "own: begins with 1.0"),
        (lambda output: _paying(output, 1.0), own(FAULTS["every path"])),
        (lambda output: _into_grad(output), own(SENT_AGAIN)),
        edit(
            "for value in order(output):",
            "while ledger:\n      for value in order(output):",
            ".pop(value)",
            ".get(value, 0.0)",
            "endless",
        ),
        (lambda output: 1.0, "own: no .grad changes"),
    ],
    accepted=[
        edit("value.grad += g", "value.grad = value.grad + g"),
        edit("ledger.get(x, 0.0) + g * local", "local * g + (ledger[x] if x in ledger else 0)"),
        edit("ledger.pop(value)", "ledger[value]"),
        edit("ledger.pop(value)", "ledger.get(value, 0.0)"),
        edit("g = ledger.pop(value)", "g = ledger[value]\n        del ledger[value]"),
        edit(
            "value.grad += g", "value.grad += g\n        if not value.inputs:\n            continue"
        ),
        """
        from collections import defaultdict

        def backward(output):
            ledger = defaultdict(float)
            ledger[output] = 1
            for value in order(output):
                for i in range(len(value.inputs)):
                    ledger[value.inputs[i]] += ledger[value] * value.locals[i]
            for value, g in ledger.items():
                value.grad += g""",
        """
        def backward(output):
            order_of_visits = list(order(output))
            arrived = {id(value): [] for value in order_of_visits}
            arrived[id(output)].append(1.0)
            for value in order_of_visits:
                g = sum(arrived[id(value)])
                value.grad += g
                [arrived[id(x)].append(g * local) for x, local in zip(value.inputs, value.locals)]
            return {value: value.grad for value in order_of_visits}""",
        """
        def backward(output):      # no ledger: each value asks all that come before it; slow in a deep graph
            whole = {}
            for x in order(output):
                whole[x] = float(x is output) + sum(whole[z] * local for z in whole
                                                    for y, local in zip(z.inputs, z.locals) if y is x)
            for x, g in whole.items():
                x.grad += g""",
    ],
)


def _into_grad(output):
    output.grad = 1.0
    for value in _newest_first(_reached(output)):
        for x, local in zip(value.inputs, value.locals):
            x.grad += value.grad * local
