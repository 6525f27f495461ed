"""Thrown at the exercises of lesson 05, beside their mistakes: more wrong answers, and right ones in other styles."""

from thrown import throw

from autograd_course.grading import edit
from autograd_course.grading.rule_checks import FAULTS, engine
from autograd_course.lessons.lesson_05.exercises import _newest_first, _paying, _reached

LOCALS = "(y.data, x.data)"

throw(
    "05.multiply",
    planted=[
        edit(LOCALS, "(x.data, y.data)", "The two are swapped"),
        edit("x.data * y.data", "round(x.data * y.data, 6)", "Nearly right"),
        edit("x.data * y.data", "round(x.data * y.data, 12)", "Nearly right"),
        edit(LOCALS, "(np.float32(y.data), np.float32(x.data))", "Nearly right"),
        edit(LOCALS, "(1.0, 1.0)", "local gradients of add"),
        edit(LOCALS, "(x.data + y.data, x.data + y.data)", "Number 1 of 2 differs"),
        edit(LOCALS, "(y, x)", "A Value stands among these"),
        edit(LOCALS, "y.data", "2 values were expected, and this is one"),
        edit(LOCALS, "(y.data,)", "you gave 1"),
        edit(LOCALS, "(x.data * y.data, x.data * y.data)", "That is the result, twice"),
        edit(LOCALS, "(y.grad, x.grad)", "Those are gradients"),
        edit(LOCALS, "(abs(y.data), abs(x.data))", "sign"),
        edit(LOCALS, "(int(y.data), int(x.data))", "Nothing is rounded"),
        edit(
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "z = Value(x.data * y.data, (x, y), (y.data, x.data))\n    z.grad = 1.0\n    return z",
            "backward will fill it",
        ),
        edit("x.data * y.data,", "x.data + y.data,", "the number in the result"),
        edit("x.data * y.data,", "x,", "Multiply their numbers"),
        edit("x.data * y.data,", "x * y,", "Multiply their numbers"),
        edit("(x, y), (", "(x.data, y.data), (", "the Values themselves"),
        edit("(x, y), (", "(), (", "the way back would end here"),
        edit("(x, y), (", "(y, x), (", "themselves, in this order"),
        *[
            edit(
                "(x, y), (y.data, x.data)",
                f"(x, y)[::{step}], (y.data, x.data)[::{step}]",
                "themselves, in this order",
            )
            for step in ("1 if x.number < y.number else -1", "-1 if x.number < y.number else 1")
        ],
        edit("(y.data, x.data)", "(y.data if x.data else 0.0, x.data)", "Number 1 of 2 differs"),
        edit(
            "return",
            "kept = multiply.__dict__.setdefault('kept', [0, 0])\n    kept[:] = x, y\n    return",
            "(x, y), (",
            "kept, (",
            "writes into it at the next call",
        ),
        edit("(x, y), (", "(x,) if x is y else (x, y), (", "also when both are the same Value"),
        edit("x.data * y.data,", "round(x.data * y.data),", "whole number"),
        edit(
            LOCALS,
            "(x.data * y.data / x.data, x.data * y.data / y.data)",
            "other number is at hand",
        ),
        edit("return Value", "x.grad += y.data\n    return Value", "leaves x and y as they were"),
        edit(
            "return Value", "x.grad = y.grad = 0.0\n    return Value", "leaves x and y as they were"
        ),
        edit(
            "return Value", "x.locals = (y.data,)\n    return Value", "leaves x and y as they were"
        ),
        edit("return Value", "x.inputs = (x, y)\n    return Value", "leaves x and y as they were"),
        edit(
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "x.data = x.data * y.data\n    return x",
            "leaves x and y as they were",
        ),
        edit(
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "return x * y",
            "Multiply their numbers",
        ),
        edit(
            "def multiply",
            "made = {}\ndef multiply",
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "return made.setdefault((x.data, y.data), Value(x.data * y.data, (x, y), (y.data, x.data)))",
            "a new Value at each call",
        ),
        edit(
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "return x.data * y.data",
            "numbers alone remember nothing",
        ),
        edit("return Value(", "return (", "numbers alone remember nothing"),
        edit("x.data))", "x.data)),", "Return one new Value"),
        edit(
            "return Value(x.data * y.data, (x, y), (y.data, x.data))",
            "z = Value(x.data * y.data, (x, y), (y.data, x.data))\n    z.number = max(x.number, y.number)\n    return z",
            "that of an input",
        ),
        edit(
            "(y.data, x.data)",
            "(min(y.data, 5e6), x.data) if x.data < 5e3 else (1.0, x.data)",
            "where x holds 5",
        ),
        (lambda x, y: print(x.data * y.data), "It prints the result"),
    ],
    also_right=[
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


def _in_depth(output):
    """Found from each to its inputs, and sorted by half their numbers."""
    found = []

    def visit(value):
        found.append(value)
        for x in value.inputs:
            if x not in found:
                visit(x)

    visit(output)
    return sorted(found, key=lambda value: value.number // 2, reverse=True)


throw(
    "05.order",
    planted=[
        edit(SORTED, "return found", "Who still owes this value?"),
        edit(
            "x in value.inputs",
            "x in [x for x, local in zip(value.inputs, value.locals) if local]",
            "a is missing",
        ),
        edit(
            "for x in value.inputs:",
            "a, b = value.inputs or (output, output)\n        for x in (a, b):",
            "one, or three",
        ),
        edit(
            "found = [output]",
            "found = order.__dict__.setdefault('found', [])\n    found[:] = [output]",
            SORTED,
            "found.sort(key=lambda value: -value.number)\n    return found",
            "writes into it at the next call",
        ),
        edit(", reverse=True", "", "begins with the oldest"),
        edit("value.number", "value.number // 2", "Who still owes this value?"),
        edit(
            "for x in value.inputs",
            "for x in value.inputs[::-1]",
            "value.number",
            "value.number // 2",
            "Who still owes this value?",
        ),
        (_in_depth, "Who still owes this value?"),
        edit("value.number", "value.data", "Who still owes this value?"),
        edit("value.number", "-value.number", "begins with the oldest"),
        edit("if x not in seen:", "if True:", "is in it 2 times"),
        edit(
            "if x not in seen:",
            "if True:",
            "sorted(found",
            "sorted(set(found)",
            "Is every path walked",
        ),
        edit("in value.inputs", "in output.inputs", "Inputs of inputs belong to it"),
        edit("in value.inputs", "in value.inputs[:1]", "w is missing, and L was made from it"),
        edit("for value in found:", "for value in [output]:", "Inputs of inputs belong to it"),
        edit("[output]", "list(output.inputs)", "The output itself is missing"),
        edit("in value.inputs", "in value.inputs[:2]", "c is missing, and L was made from it"),
        edit(SORTED, SORTED + "[:50]", "append all inputs"),
        edit(SORTED, SORTED + " if output.inputs else []", "The output itself is missing"),
        edit(
            SORTED,
            "for value in found:\n        value.inputs = ()\n    " + SORTED,
            "not the business of order",
        ),
        edit("sorted(found", "sorted(found[1:]", "The output itself is missing"),
        edit(
            SORTED,
            "return sorted((value.number for value in found), reverse=True)",
            "whole numbers",
        ),
        edit(SORTED, "return [value.data for value in found]", "A list of Values was expected"),
        edit(SORTED, "return set(found)", "A set has no order"),
        edit(
            "return sorted(",
            "return iter(sorted(",
            "reverse=True)",
            "reverse=True))",
            "An iterator gives its Values once",
        ),
        edit(
            SORTED,
            "return reversed(sorted(found, key=lambda value: value.number))",
            "An iterator gives its Values once",
        ),
        edit("found, key=lambda value: value.number,", "found,", "key=lambda value: value.number"),
        edit("key=lambda value: value.number", "key=output.number", "key is a function"),
        edit("key=lambda value: value.number", "key='number'", "key is a function"),
        edit(
            SORTED, "return found.sort(key=lambda value: value.number, reverse=True)", "list.sort"
        ),
        edit("found.append(x)", "found.append(value)", "is in it 3 times"),
        edit("seen.add(x)\n", "pass\n", "is in it 2 times"),
        edit(
            "[output]",
            "{output}",
            "found.append(x)",
            "found.add(x)",
            "A set or a dict may not grow",
        ),
        edit(EACH, "        found.append(value.inputs)", "Take them one by one"),
        edit(
            "if x not in seen:", "if x.inputs and x not in seen:", "The walk needs the leaves too"
        ),
        edit("if x not in seen:", "if x.data not in [known.data for known in found]:", "still two"),
        edit(
            "if x not in seen:",
            "if (x.data, x.inputs) not in [(one.data, one.inputs) for one in found if x.inputs]"
            " and x not in seen:",
            "d is missing. It holds the same number as c",
        ),
        edit(
            "found = [output]",
            "found = [output]\n    output.grad = 0.0",
            "not the business of order",
        ),
        edit(
            "found = [output]",
            "found = [output]\n    output.number = 10**9",
            "not the business of order",
        ),
        edit(
            "for x in value.inputs:",
            "value.locals = ()\n        for x in value.inputs:",
            "not the business of order",
        ),
        edit(
            "found, key=lambda value: value.number,",
            "found.number,",
            "each Value in it has a number",
        ),
        edit(
            "for x in value.inputs:",
            "value.grad = 0.0\n        for x in value.inputs:",
            "not the business of order",
        ),
        edit(
            "if x not in seen:",
            "if not hasattr(x, 'seen'):\n                x.seen = True",
            "second call",
        ),
        edit(
            "def order(output):\n    found = [output]",
            "def order(output, found=[]):\n    found.append(output)",
            "second call",
        ),
        edit(
            SORTED,
            "return _newest_first([*found, *([] if output.name == 'L' else [Value(0.0, name='M')])])",
            "was not made from it",
        ),
        edit(SORTED, "print(found)", "It prints the result"),
    ],
    also_right=[
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

throw(
    "05.backward",
    planted=[
        *(
            (engine(fault).backward, FAULTS[fault])
            for fault in ("replaced", "=", "early", "kept", "seeded twice", "local")
        ),
        edit("ledger.get(x, 0.0) + g * local", "g * local", FAULTS["="]),
        edit("value.grad += g", "value.grad = g", FAULTS["replaced"]),
        edit("1.0}", "0.0}", "value.grad += g"),
        edit("1.0}", "2.0}", "begin with 1.0"),
        edit("{output: 1.0}", "{}", "begins with 1.0"),
        edit("        value.grad += g\n", "", "value.grad += g"),
        edit(
            "        value.grad += g\n",
            "",
            PAY,
            f"{PAY}\n            value.grad += g",
            "A leaf has none",
        ),
        edit(PAY, f"{PAY}\n            x.grad += g * local", "Exactly double. Does the ledger"),
        edit("ledger.get(x, 0.0)", "ledger.get(x)", "ledger.get(x, 0.0) gives 0.0"),
        edit(
            "ledger.get(x, 0.0) + g * local",
            "g * local + ledger.get(x)",
            "ledger.get(x, 0.0) gives 0.0",
        ),
        edit("g * local", "g.data * local", "local gradient are plain numbers"),
        edit("g * local", "(g * local if abs(g * local) > 1e-12 else 0.0)", "w = 1e-30"),
        edit("g * local", "max(-1e15, min(1e15, g * local))", "w = 1e+30"),
        edit(
            "value.grad += g",
            "value.grad = value.grad + g if value.inputs or value is not output else 1.0",
            "a second backward",
        ),
        edit(
            "for value in order(output):\n        g = ledger.pop(value)",
            "while ledger:\n        value, g = ledger.popitem()",
            FAULTS["every path"],
        ),
        edit(
            "value.grad += g",
            "value.grad = value.grad + g if value.grad < 1e12 else g",
            "a second call",
        ),
        edit("1.0}", "output.grad + 1}", "something still holds"),
        edit(
            "        for x,",
            "        if len({*value.locals}) > len({*value.inputs}):\n            continue\n        for x,",
            "of b and b",
        ),
        edit(
            "ledger = {output: 1.0}",
            "ledger, came = {output: 1.0}, {}",
            PAY,
            f"            came[x] = came.get(x, 0) + 1\n            if came[x] < 6:\n    {PAY}",
            "by each of seven ways",
        ),
        edit("g * local", "local.data * g", "local gradient are plain numbers"),
        edit(
            "x, local in zip(value.inputs, value.locals)",
            "x in value.inputs",
            "g * local",
            "g * value.locals",
            "zip(value.inputs, value.locals)",
        ),
        edit("zip(value.inputs, value.locals)", "[value.inputs]", "gives each input together with"),
        edit(
            "for x, local in zip(value.inputs, value.locals):",
            "for local in value.locals:\n          for x in value.inputs:",
            "Each local gradient belongs to one input",
        ),
        edit("value.locals", "value.local", "They are called locals"),
        edit("value.locals", "value.locals[::-1]", "first belongs to the first input"),
        edit("value.inputs", "value.users", "knows its inputs, not its users"),
        edit(
            "ledger[x] = ledger.get(x, 0.0) + g * local",
            "ledger[x] += g * local",
            "ledger.get(x, 0.0)",
        ),
        edit("ledger.pop(value)", "ledger.pop(value.number)", "The keys of the ledger are Values"),
        edit("ledger.pop(value)", "ledger.pop()", "Whose entry"),
        edit("ledger.pop(value)", "ledger.pop(g)", "Whose entry"),
        edit("ledger[x] = ledger.get", "ledger = ledger.get", "before .get is no dict"),
        edit(
            "ledger[x] = ledger.get(x, 0.0) + g * local",
            "ledger.append(g * local)",
            "an entry of a dict",
        ),
        edit(
            "for x, local in zip(value.inputs, value.locals)",
            "for x in value.inputs",
            "together with its local gradient",
        ),
        edit(
            "value.grad += g",
            "value.grad = g if value.inputs else value.grad + g",
            "for every Value: value.grad += g",
        ),
        edit("g * local", "int(1000 * g * local) / 1000", "x = 1, y = 4, w = -0.333333"),
        edit("output: 1.0", "output: 1.0 if output.inputs else 0.0", "backward(x)"),
        edit("ledger[x] = ledger.get", "ledger.get", "by writing alone"),
        edit(
            "for x, local in zip(value.inputs, value.locals):",
            "x, y = value.inputs\n        for x, local in zip((x, y), value.locals):",
            "A leaf has no inputs",
        ),
        edit("ledger.pop(value)", "ledger.pop(output)", "that of the value whose turn it is"),
        edit("order(output)", "order(output)[::-1]", "users first"),
        edit("order(output)", "reversed(order(output))", "users first"),
        edit("order(output)", "[output, *output.inputs]", "order(output)"),
        edit("order(output)", "order", "order(output)"),
        edit(
            "value.grad += g",
            "value.grad += g\n        if g == 0:\n            continue",
            "A gradient of 0 is sent on too",
        ),
        edit(
            "value.grad += g",
            "value.grad += g if not value.inputs else 0.0",
            "also one in the middle, and L itself",
        ),
        edit(
            "value.grad += g",
            "value.grad += g if value is not output else 0.0",
            "L itself has a gradient too",
        ),
        edit(
            "value.grad += g",
            "value.grad += g if value is output or not value.inputs else 0.0",
            "also one in the middle",
        ),
        edit("value.grad += g", "value.grad += abs(g)", "sign"),
        edit("ledger.get(x, 0.0)", "ledger.get(x, 1.0)", "An entry begins at 0.0"),
        edit("g * local", "round(g * local)", "neither round it"),
        edit("+= g", "+= round(g, 6)", "Nearly right"),
        edit("g * local", "(g + local)", "added to it is g times local"),
        edit("1.0}", "output.grad or 1.0}", "Number 1 of 5 differs"),
        edit(
            "{output:",
            "{output.data:",
            "pop(value)",
            "pop(value.data)",
            "ledger[x] = ledger.get(x,",
            "ledger[x.data] = ledger.get(x.data,",
            "keys of the ledger are Values",
        ),
        edit("g * local", "np.clip(g * local, -1e3, 1e3)", "nothing is cut off"),
        edit("g * local", "max(g * local, 0.0)", "a negative gradient"),
        edit(
            "value.grad += g",
            "value.grad += g\n        value.data += g",
            "numbers of the forward pass stay",
        ),
        edit("ledger = {output: 1.0}", "ledger = {output: output.data}", "begins with 1.0"),
        (lambda output: _paying(output, 1.0), FAULTS["every path"]),
        (lambda output: _into_grad(output), FAULTS["kept"]),
        edit(
            "for value in order(output):",
            "while ledger:\n      for value in order(output):",
            ".pop(value)",
            ".get(value, 0.0)",
            "does not come to an end",
        ),
        (lambda output: 1.0, "Nothing arrives in the .grad"),
    ],
    also_right=[
        edit("value.grad += g", "value.grad = value.grad + g"),
        edit("ledger.get(x, 0.0) + g * local", "local * g + (ledger[x] if x in ledger else 0)"),
        edit("ledger.pop(value)", "ledger[value]"),
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
