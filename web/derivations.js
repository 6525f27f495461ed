// Derivations on a page without Python: the judge of autograd_course/derivations, and its boxes. The parser, the values and
// the verdicts follow expressions.py and judge.py; what can be repaired is said in Python only. tests/derivations/typed.json
// runs through both.
"use strict";
const derivations = (() => {
const FUNCTIONS = {exp: Math.exp, log: Math.log, ln: Math.log, sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos, tanh: Math.tanh,
                   sinh: Math.sinh, cosh: Math.cosh, abs: Math.abs, sigmoid: x => 1 / (1 + Math.exp(-x))};
const CONSTANTS = {e: Math.E, pi: Math.PI};
const [LONGEST, MOST_SUMS, MOST_SYMBOLS, MOST_NESTED] = [200, 3, 80, 40];
const SPELLINGS = [["−", "-"], ["–", "-"], ["×", "·"], ["⋅", "·"], ["÷", "/"], ["**", "^"], ["²", "^2"], ["³", "^3"], ["ᵀ", "^T"], ["'", "^T"],
                   ["½", "(1/2)"], ["Σ", " sum"], ["∑", " sum"], ["σ", " sigmoid"], ["√", " sqrt"], ["yhat", "ŷ"], ["np.", ""], [".mT", "^T"], [".T", "^T"],
                   ["≈", ""], ["\\cdot", "·"], ["\\top", "T"], ["\\", ""]];
const BINDING = {"+": 1, "-": 1, "*": 3, "·": 3, "@": 3, "/": 3, beside: 3, "^": 5}, SIGN = 3;

class Unreadable extends Error {}
class Mismatch extends Error {}

const parts = tree => [tree, ...tree.slice(1).filter(Array.isArray).flatMap(parts)];
const names = tree => new Set(parts(tree).filter(([kind]) => kind === "name" || kind === "entry").map(one => one[1]));
const letters = spec => spec.letters.map(([letter]) => letter.split("[")[0]);

// The tree of a formula; Unreadable says how to write it.
function read(text, spec, tight = false) {
    if ([...text].length > LONGEST)
        throw new Unreadable(`Write at most ${LONGEST} characters: no line here is longer.`);
    text = text.replace(/\\frac\{([^{}]*)\}\{([^{}]*)\}/g, "(($1)/($2))");
    SPELLINGS.forEach(([typed, plain]) => text = text.replaceAll(typed, plain));
    text = text.replace(/sum\((.+) for ([\p{L}\p{N}_])(?![\p{L}\p{N}_])( in [^()]*(\([^()]*\))?)?\)/gu, "sum_$2($1)");
    const own = letters(spec), known = [...own, ...Object.keys(FUNCTIONS), "e", "pi", "sum", "transpose", "T"];
    const longest = [...known].sort((a, b) => b.length - a.length);
    const binding = tight ? {...BINDING, beside: 4} : BINDING;
    const tokens = [...text.matchAll(/(\p{L}+)|(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|_\{[^}]*\}|_[\p{L}\p{N}]+|\[[^\]]*\]|\S)/gu)].flatMap(([, word, other]) => {
        if (!word)
            return [{"{": "(", "}": ")"}[other] ?? other];
        const found = word.match(new RegExp(longest.join("|"), "gu")) ?? [];
        if (found.join("") !== word)
            throw new Unreadable(`“${word}” is not a letter of this derivation. Its letters are ${own.join(", ")}.` +
                                 (spec.matrices.length ? ` An entry is written ${[...spec.matrices].sort()[0]}[i,j].` : ""));
        return found;
    });
    if (tokens.length > MOST_SYMBOLS)
        throw new Unreadable(`Write at most ${MOST_SYMBOLS} symbols: no line here has more.`);
    if (tokens.filter(one => one === "sum").length > MOST_SUMS)
        throw new Unreadable(`Write at most ${MOST_SUMS} sums: no line here has more.`);
    if (!tokens.length)
        throw new Unreadable("The line is empty. Type the right-hand side.");
    let at = 0, depth = 0;
    const next = () => tokens[at] ?? "";
    const equation = () => next() === "=" ? " Type the right-hand side only." : "";
    function take(wanted) {
        if (!next())
            throw new Unreadable(wanted ? `A closing “${wanted}” is missing.` : "The line ends too early: something has to follow.");
        if (wanted && next() !== wanted)
            throw new Unreadable(`“${wanted}” is missing before “${next()}”.`);
        return tokens[at++];
    }
    const characters = text => text.match(/[\p{L}\p{N}]/gu) ?? [];
    function indices() {
        let found = "";
        while (/^[_[]/.test(next()))
            found += characters(take()).join("");
        return found;
    }
    const isMatrix = tree => parts(tree).some(([kind, name]) => kind === "name" && spec.matrices.includes(name));
    function line(least) {
        if (++depth > MOST_NESTED)
            throw new Unreadable("Write it with fewer brackets, signs and powers inside one another.");
        let left;
        if (next() === "+" || next() === "-") {
            const sign = take(), inside = line(Math.max(least, SIGN));
            left = sign === "-" ? ["negative", inside] : inside;
        } else
            left = atom();
        for (;;) {
            const beside = /^[\p{L}\p{N}(.]/u.test(next());
            let operator = beside ? "beside" : next();
            if ((binding[operator] ?? 0) < least) {
                depth -= 1;
                return left;
            }
            if (!beside)
                take();
            if (operator === "^" && next() === "T") {
                take();
                if (!spec.matrices.length)
                    throw new Unreadable("Here ' and T have no meaning: no letter is a matrix.");
                const found = left[0] === "name" ? indices() : "";
                left = found ? ["entry", left[1], [...found].reverse().join("")] : ["transpose", left];
                continue;
            }
            const right = line(operator === "^" ? 5 : binding[operator] + 1);
            if (operator === "beside" || operator === "·")
                operator = isMatrix(left) && isMatrix(right) ? "@" : "*";
            left = [operator, left, right];
        }
    }
    const argument = () => next() === "(" ? atom() : line(5);
    function atom() {
        if ([")", "=", ","].includes(next()) || next() in binding)
            throw new Unreadable(`“${next()}” cannot stand there.${equation()}`);
        const token = take();
        if (token === "(") {
            const inside = line(1);
            take(")");
            return inside;
        }
        if (/^\.?\d/.test(token))
            return ["number", Number(token)];
        if (token === "sum") {
            if (!next().startsWith("_"))
                throw new Unreadable("Name the index of the sum, as in sum_j g[i,j] * B[k,j].");
            const over = [...new Set(characters(take()))];
            return over.reduceRight((body, index) => ["sum", index, body], line(3));
        }
        if (token === "transpose")
            return ["transpose", argument()];
        if (Object.hasOwn(FUNCTIONS, token)) {
            const power = next() === "^" ? (take(), line(5)) : null;
            const called = ["call", token === "ln" ? "log" : token, argument()];
            return power ? ["^", called, power] : called;
        }
        if (!known.includes(token) || token === "T")
            throw new Unreadable(`“${token}” cannot stand there.`);
        const found = indices();
        return found ? ["entry", token, found] : ["name", token];
    }
    const tree = line(1);
    if (next())
        throw new Unreadable(`The line can be read only up to “${next()}”.${equation()}`);
    return tree;
}

// A value is a number or an array of rows; a vector is an array of numbers, of which a line reads the entries.
const shape = value => Array.isArray(value) ? [value.length, ...shape(value[0])] : [];
const each = (f, a, b) => Array.isArray(a) ? a.map((one, i) => each(f, one, Array.isArray(b) ? b[i] : b))
                        : Array.isArray(b) ? b.map(one => each(f, a, one)) : f(a, b);
const turned = rows => shape(rows).length === 2 ? rows[0].map((_, j) => rows.map(row => row[j])) : rows;
const OPERATORS = {"+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, "^": (a, b) => a ** b};

// The value of a tree at one point, {letter: value, index: number}.
function value(tree, point, sizes) {
    const [kind, first, second] = tree;
    if (kind === "number")
        return first;
    if (kind === "name")
        return point[first] ?? CONSTANTS[first];
    if (kind === "entry") {
        const array = point[first];
        if ([...second].some(index => !(index in sizes && index in point)))
            throw new Mismatch(`An index of ${first} is neither on the left nor under a sum.`);
        if (`${[...second].map(index => sizes[index])}` !== `${shape(array)}`)
            throw new Mismatch(`The indices ${second} do not fit the shape of ${first}, which is (${shape(array).join(", ")}).`);
        return [...second].reduce((rows, index) => rows[point[index]], array);
    }
    if (kind === "sum") {
        if (!(first in sizes))
            throw new Mismatch(`There is no index ${first} here, so there is nothing to add over.`);
        return Array.from({length: sizes[first]}, (_, i) => value(second, {...point, [first]: i}, sizes)).reduce((a, b) => each(OPERATORS["+"], a, b));
    }
    if (kind === "call")
        return each(FUNCTIONS[first], value(second, point, sizes));
    const left = value(first, point, sizes);
    if (kind === "negative")
        return each(x => -x, left);
    if (kind === "transpose")
        return turned(left);
    const right = value(second, point, sizes), [mine, other] = [shape(left), shape(right)];
    if (kind === "@" ? mine.length < 2 || other.length < 2 || mine[1] !== other[0] : mine.length && other.length && `${mine}` !== `${other}`)
        throw new Mismatch(`The shapes (${mine.join(", ")}) and (${other.join(", ")}) do not fit.`);
    if (kind !== "@")
        return each(OPERATORS[kind], left, right);
    return left.map(row => turned(right).map(column => row.reduce((sum, x, i) => sum + x * column[i], 0)));
}

// The points of a derivation, with the letters that a formula defines; `fixed` holds some letters at a value.
function pointsOf(spec, count, fixed = {}) {
    return Array.from({length: count}, (_, at) => {
        const point = {};
        for (const [letter, given] of spec.letters) {
            const [name, indices] = letter.replace("]", "").split("[");
            if (typeof given !== "string")
                point[name] = fixed[name] ?? given[at];
            else if (indices)       // the entries of a vector, p[j]
                point[name] = Array.from({length: spec.sizes[indices]}, (_, i) => value(read(given, spec), {...point, [indices]: i}, spec.sizes));
            else
                point[name] = value(read(given, spec), point, spec.sizes);
        }
        return point;
    });
}

// The values of a line at all points, for all indices of the left side.
function values(tree, step, points, sizes) {
    const cells = [...step.indices].reduce((all, index) => all.flatMap(cell =>
        Array.from({length: sizes[index]}, (_, i) => ({...cell, [index]: i}))), [{}]);
    return points.map(point => cells.map(cell => value(tree, {...point, ...cell}, sizes)));
}

function agree(spec, step, tree, right, points) {
    let mine;
    const due = values(right, step, points, spec.sizes);
    try {
        mine = values(tree, step, points, spec.sizes);
    } catch (problem) {
        if (problem instanceof Mismatch)
            return false;
        throw problem;
    }
    const [a, b] = [mine.flat(Infinity), due.flat(Infinity)];
    const sizes = b.map(Math.abs).sort((x, y) => x - y), room = (sizes[(sizes.length - 1) >> 1] + sizes[sizes.length >> 1]) / 2 + 1e-3;
    return `${shape(mine)}` === `${shape(due)}` && b.every(Number.isFinite) && b.every((x, i) => Math.abs(a[i] - x) <= 1e-8 * (Math.abs(x) + room));
}

// {kind, message, tree}: the kind is "right", "equal", "wrong" or "unreadable", as in Python.
function judge(spec, number, typed) {
    const step = spec.steps[number], points = spec.points ??= pointsOf(spec, spec.count), right = read(step.right, spec);
    let tree;
    try {
        tree = read(typed, spec);
    } catch (problem) {
        if (problem instanceof Unreadable)
            return {kind: "unreadable", message: problem.message};
        throw problem;
    }
    if (!agree(spec, step, tree, right, points)) {
        if (agree(spec, step, read(typed, spec, true), right, points))
            return {kind: "unreadable", message: "Put brackets around what you divide by.", tree};
        for (const [line, message] of step.mistakes)
            if (agree(spec, step, ["+", ["-", tree, read(line, spec)], right], right, points))
                return {kind: message.startsWith("It is equal") ? "equal" : "wrong", message, tree};
        return {kind: "wrong", message: differs(spec, step, tree, right, points), tree};
    }
    const bag = tree => parts(tree).map(part => JSON.stringify(part)).sort().join();
    for (const [line, message] of step.mistakes)
        if (bag(tree) === bag(read(line, spec)))
            return {kind: "equal", message, tree};
    for (const [letter, given] of spec.letters) {
        if (typeof given === "string" || shape(given[0]).length)
            continue;
        const where = pointsOf(spec, 3, {[letter]: 0});
        if (values(right, step, where, spec.sizes).flat(Infinity).every(Number.isFinite) && !agree(spec, step, tree, right, where))
            return {kind: "equal", message: `It is equal, except where ${letter} is 0: there your line has no value, and the line asked for has one.`, tree};
    }
    const allowed = step.letters ? step.letters.split(" ") : letters(spec);
    const surplus = [...names(tree)].filter(name => !allowed.includes(name) && !(name in CONSTANTS)).sort();
    if (surplus.length)
        return {kind: "equal", message: `It is equal, but write it without ${surplus.join(" and ")}: use only ${allowed.join(", ")}.`, tree};
    if (number && bag(tree) === bag(read(spec.steps[number - 1].right, spec)))
        return {kind: "equal", message: "It is equal, but it is the line above: take one more step.", tree};
    return {kind: "right", message: "", tree};
}

// A true sentence about a line that is not right.
function differs(spec, step, tree, right, points) {
    let mine;
    const due = values(right, step, points, spec.sizes);
    try {
        mine = values(tree, step, points, spec.sizes);
    } catch (problem) {
        return problem.message;
    }
    const kind = one => shape(one).length ? `an array of shape (${shape(one).join(", ")})` : "a single number";
    if (`${shape(mine)}` !== `${shape(due)}`)
        return `Your line is ${kind(mine[0][0])}, and the left side is ${kind(due[0][0])}.`;
    const short = x => `${+x.toPrecision(4)}`.replace("-", "−");
    for (const [at, point] of points.entries()) {
        const [a, b] = [mine[at].flat(Infinity), due[at].flat(Infinity)];
        const entry = a.findIndex((x, i) => Number.isFinite(x) && Math.abs(x - b[i]) > 1e-6 * Math.abs(b[i]) + 1e-8);
        if (entry < 0)
            continue;
        const involved = letters(spec).filter(name => typeof point[name] === "number" && (names(tree).has(name) || names(right).has(name)));
        const where = involved.map(name => `${name} = ${short(point[name])}`).join(", ") || "one example";
        return `Compare the two sides at ${where}: your line is ${short(a[entry])}, and the left side is ${short(b[entry])}.`;
    }
    return "At some points your line has no value, or one that is too large.";
}

// The tree as MathML.
function drawn(tree) {
    const [kind, first, second] = tree, rank = {"+": 1, "-": 1, negative: 2, "*": 3, "@": 3, "/": 3, sum: 3, "^": 5, transpose: 5};
    const row = (...all) => `<mrow>${all.join("")}</mrow>`, mo = sign => `<mo>${sign}</mo>`;
    const bare = (part, least) => (rank[part[0]] ?? 9) >= least || part[0] === "/" && least <= 3;
    const within = (part, least) => bare(part, least) ? drawn(part) : row(mo("("), drawn(part), mo(")"));
    switch (kind) {
        case "number": return `<mn>${first}</mn>`;
        case "name": return first === "ŷ" ? `<mover><mi>y</mi>${mo("^")}</mover>` : /^d[a-z]$/i.test(first) ? row("<mi>d</mi>", `<mi>${first[1]}</mi>`) : `<mi>${first}</mi>`;
        case "entry": return `<msub><mi>${first}</mi>${row(...[...second].map(index => `<mi>${index}</mi>`))}</msub>`;
        case "negative": return row('<mo form="prefix">−</mo>', within(first, 3));
        case "transpose": return `<msup>${within(first, 6)}${mo("⊤")}</msup>`;
        case "call": return first === "sqrt" ? `<msqrt>${drawn(second)}</msqrt>` : row(`<mi>${first}</mi>`, mo("⁡"), mo("("), drawn(second), mo(")"));
        case "sum": return row(`<munder>${mo("∑")}<mi>${first}</mi></munder>`, within(second, 3));
        case "/": return `<mfrac>${row(drawn(first))}${row(drawn(second))}</mfrac>`;
        case "^": return `<msup>${within(first, 6)}${row(drawn(second))}</msup>`;
    }
    let last = first;
    while (["*", "/", "@"].includes(last[0]))
        last = last[2];
    const sign = {"*": second[0] === "number" ? "·" : "⁢", "@": "·", "-": "−"}[kind] ?? kind;
    return row(within(first, rank[kind] === 1 ? 1 : last[0] === "sum" ? 4 : 3), mo(sign), within(second, rank[kind] + (kind === "-")));
}

// Ask for the lines of a derivation in turn, in place of its empty boxes; those that stand are kept in the record.
function ask(box) {
    const spec = JSON.parse(box.dataset.derive), {name, steps, keys} = spec, lines = [], body = element("div", {className: "lines"});
    const math = inside => `<math><mstyle displaystyle="true">${inside}</mstyle></math>`;
    let number = 0, asked = null;
    box.append(body);
    box.classList.add("on");
    next();
    for (const [text, shown] of progress().lines[name] ?? []) {
        if (!asked || judge(spec, number, text).kind !== "right")
            break;          // the derivation has changed since
        goOn(text, shown);
    }

    function goOn(text, shown) {
        lines.push([text, shown]);
        asked.remove();
        stand(text);
        next();
    }

    function stand(text) {
        const step = steps[number++], row = element("p");
        row.innerHTML = `${step.left} ${math(drawn(read(text, spec)))}`;
        body.append(row);
        if (step.rivals.length)
            body.append(...reason(step));
        else
            row.append(`\u2003${step.reason}`);
    }

    function reason(step) {
        const choice = chosen("Why?", [step.reason, ...step.rivals].sort(), `why-${name}`), said = element("p", {role: "status"});
        choice.row.onchange = () => {
            said.textContent = choice.get() === step.reason ? "Right." : `No, it is: ${step.reason}.`;
            choice.lock(true);
        };
        return [choice.row, said];
    }

    function keep(text, shown) {
        goOn(text, shown);
        change(record => record.lines[name] = lines);
        asked?.querySelector("input").focus();
    }

    // The line that is asked now, after those that are given.
    function next() {
        while (number < steps.length && steps[number].worked)
            stand(steps[number].right);
        asked = null;
        if (number === steps.length)
            return;
        const step = steps[number], typed = element("input", {type: "text", autocomplete: "off", placeholder: "type the right-hand side"});
        typed.setAttribute("aria-label", `right-hand side of line ${number + 1}`);
        const echo = element("p", {className: "echo"}), said = element("p", {role: "status"}), row = element("div", {className: "boxes"});
        const type = text => { typed.value = text; draw(); };
        row.innerHTML = step.left;
        row.append(typed, labelled("Check", "check this line", check),
                   labelled("Show this line", "show this line and go on", () => keep(step.right, true)));
        typed.oninput = draw;
        typed.onkeydown = event => { if (event.key === "Enter") check(); };
        const tokens = element("div", {className: "keys"});
        tokens.append(...keys.map(key => labelled(key, `type ${key}`, () =>
            type(typed.value + (/^\p{L}+$/u.test(key) && /[\p{L}\p{N}]$/u.test(typed.value) ? " " : "") + key))),
            labelled("⌫", "delete the last character", () => type(typed.value.slice(0, -1).trimEnd())));
        asked = element("div");
        asked.append(row, echo, said, tokens);
        body.append(asked);

        function draw() {
            let inside = "<mo>…</mo>";
            try {
                inside = drawn(read(typed.value, spec));
            } catch { /* it is not a formula yet */ }
            echo.innerHTML = `read as ${step.left} ${math(inside)}`;
        }

        function check() {
            const {kind, message} = judge(spec, number, typed.value);
            if (kind === "right")
                return keep(typed.value, false);
            const title = {wrong: "Not yet.", equal: "True, but not this line."}[kind];
            said.replaceChildren(...(title ? [element("strong", {textContent: title}), " "] : []), message);
        }
    }
}

return {read, judge, drawn, ask};
})();
if (typeof document !== "undefined")
    document.querySelectorAll(".derive").forEach(derivations.ask);
