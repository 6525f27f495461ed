// Judge derivations on a page without Python, as autograd_course/derivations does, and show their boxes. The parser,
// the values, the verdicts and the repairs follow expressions.py and judge.py; tests run tests/derivations/typed.json
// through both.
"use strict";
const derivations = (() => {
const FUNCTIONS = {exp: Math.exp, log: Math.log, ln: Math.log, sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos, tanh: Math.tanh,
                   sinh: Math.sinh, cosh: Math.cosh, abs: Math.abs, sigmoid: x => 1 / (1 + Math.exp(-x))};
const CONSTANTS = {e: Math.E, pi: Math.PI};
const [LONGEST, MOST_SUMS, MOST_SYMBOLS, MOST_NESTED] = [200, 3, 80, 40];
const WORDS = ["sum", "frac", "transpose", "matmul", "dot", "T"], OWN = "m";
const OPERAND = "a letter, a number or an opening bracket";
const SQUARE = "Square brackets are for indices only. Use round brackets.";
const SPELLINGS = [["−", "-"], ["–", "-"], ["×", "·"], ["⋅", "·"], ["•", "·"], ["∗", "*"], ["÷", "/"], ["∕", "/"], ["⁄", "/"], [":", "/"], ["**", "^"],
                   ["ᵀ", "^T"], ["'", "^T"], ["’", "^T"], ["′", "^T"], ["⊤", "T"],
                   ["½", "(1/2)"], ["⅓", "(1/3)"], ["⅔", "(2/3)"], ["¼", "(1/4)"], ["¾", "(3/4)"], ["Σ", " sum"], ["∑", " sum"],
                   ["σ", " sigmoid"], ["√", " sqrt"], ["\\hat{y}", "ŷ"], ["\\hat y", "ŷ"], ["y_hat", "ŷ"], ["yhat", "ŷ"],
                   [".mT", "^T"], [".T", "^T"], [".dot(", "@("], [".matmul(", "@("], [".mm(", "@("], [".pow(", "^("],
                   ["≈", ""], ["\\cdot", "·"], ["\\times", "·"], ["\\top", "T"], ["\\intercal", "T"], ["\\limits", ""],
                   ["\\dfrac", " frac"], ["\\tfrac", " frac"], ["\\frac", " frac"], ["\\sigma", " sigmoid"],
                   ["\\left", ""], ["\\right", ""], ["\\,", " "], ["\\;", " "], ["\\!", ""], ["\\", " "]];
const SMALL = [["⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ʰⁿᵖˣʸᶻ", "0123456789+-()hnpxyz", "^(", ")"], ["ᵢⱼₖₙ", "ijkn", "_{", "}"]];
const PATTERNS = [[/(?<![\p{L}\p{N}_])(?:np|numpy|torch|math)\./gu, ""],
                  [/([0-9]+)([½⅓⅔¼¾])/g, "($1+$2)"],
                  [/\\(?:mathrm|mathsf|mathbf|text|operatorname)\{([^{}]*)\}/g, "$1"],
                  [/\^[({]\s*(?:T|\\top|\\intercal)\s*[)}]/g, "^T"],
                  [/\.(?:t|transpose|swapaxes)\([^()]*\)/g, "^T"],
                  [/(?:,\s*)?(?<![\p{L}\p{N}_])(?:axis|dim|keepdims?)\s*=\s*[-\p{L}\p{N}_]+/gu, ""],
                  [/(\p{L}+)\.sum\(\s*\)/gu, "sum($1)"]];
const SUM_OF = /sum\((.+)(?: for |,\s+|(?<=[\])}]),)([\p{L}\p{N}_])( in [^()]*(\([^()]*\))?)?\)/gu;
const LIMITS = /sum\s*_?[{(]?\s*[\p{L}\p{N}_]+\s*([!<>]?=|[<>≠≤≥])/u;
const WIDE = /\^\s*([\p{L}\p{N}]\s*[-+]\s*[0-9]|-?\s*[0-9]+\s*\p{L})/gu;
// Other readings that a line may have been meant for, and the part of the line that needs brackets in each of them.
const MEANT = {tight: "what you divide by", wide: "the whole exponent"};
const BINDING = {"+": 1, "-": 1, "*": 3, "·": 3, "@": 3, "/": 3, beside: 3, "^": 5}, SIGN = 3;

class Unreadable extends Error {}
class Mismatch extends Error {}

const parts = tree => [tree, ...tree.slice(1).filter(Array.isArray).flatMap(parts)];
const names = tree => new Set(parts(tree).filter(([kind]) => kind === "name" || kind === "entry").map(one => one[1]));
const letters = spec => spec.letters.map(([letter]) => letter.split("[")[0]);

// Return a typed text in the spelling of the grammar.
function plainly(text) {
    text = text.replace(/^[ =$]+/, "").replace(/[ .,;$]+$/, "");
    for (const [small, plain, opened, closed] of SMALL)
        text = text.replace(new RegExp(`[${small}]+`, "g"), run => opened + [...run].map(one => plain[small.indexOf(one)]).join("") + closed);
    PATTERNS.forEach(([pattern, plain]) => text = text.replace(pattern, plain));
    text = text.normalize("NFC");
    SPELLINGS.forEach(([typed, plain]) => text = text.replaceAll(typed, plain));
    return text.normalize("NFKC").replace(SUM_OF, "sum_$2($1)");
}

// Parse a formula into a tree; Unreadable says how to write it.
function read(text, spec, {tight, wide} = {}) {
    if ([...text].length > LONGEST)
        throw new Unreadable(`The line is too long: write at most ${LONGEST} characters.`);
    text = plainly(text);
    if (wide)
        text = text.replace(WIDE, "^($1)");
    if (LIMITS.test(text))
        throw new Unreadable("Write a sum with its index only, as in `sum_i`. The index runs over all values.");
    if (text.includes("="))
        throw new Unreadable("Type the right-hand side only, without “=”.");
    for (const [opened, closed] of ["[]", "{}"])
        if (text.split(opened).length > text.split(closed).length)
            throw new Unreadable(`A closing “${closed}” is missing.`);
    const own = letters(spec), known = [...own, ...Object.keys(FUNCTIONS), "e", "pi", ...WORDS];
    const noLetter = word => `“${word}” is not defined in this derivation. Write a derivative as a formula in the letters ${own.join(", ")}.`;
    const longest = [...known].sort((a, b) => b.length - a.length);
    const binding = tight ? {...BINDING, beside: 4} : BINDING;
    const tokens = [...text.matchAll(/(\p{L}+)|(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|_\{[^}]*\}|\[[^\]]*\]|_[\p{L}\p{N}]+(?:,\s*[\p{L}\p{N}](?![\p{L}\p{N}]))*|\S)/gu)].flatMap(([, word, other]) => {
        if (!word)
            return [other];
        const found = word.match(new RegExp(longest.join("|"), "gu")) ?? [];
        const array = [...spec.matrices].sort()[0], entry = array ? ` Write an entry as ${array}[i], or as ${array}[i,j] if it has two indices.` : "";
        if (found.join("") === word)
            return found;
        if (["grad", "gout", "dout", "upstream"].includes(word) && own.includes("g"))
            throw new Unreadable("Write g for the upstream gradient, which PyTorch calls grad_output.");
        if (word === "einsum")
            throw new Unreadable("Write a sum as `sum_` followed by its index, for example `sum_i`, not with `einsum`. Write a matrix product with `@`.");
        if ([...word].every(one => one in spec.sizes))
            throw new Unreadable(`“${word}” is an index. Write it in square brackets, or after \`sum_\`.${entry}`);
        if (/^[d∂][\p{L}\p{N}_]$/u.test(word))
            throw new Unreadable(noLetter(word));
        throw new Unreadable(`“${word}” is not defined in this derivation. Its letters are ${own.join(", ")}.` +
                             (word.length > 2 ? ` The functions are ${Object.keys(FUNCTIONS).join(", ")}.` : "") + entry);
    });
    if (tokens.length > MOST_SYMBOLS)
        throw new Unreadable(`The line is too long: write at most ${MOST_SYMBOLS} symbols.`);
    if (tokens.filter(one => one === "sum").length > MOST_SUMS)
        throw new Unreadable(`The line has too many sums: write at most ${MOST_SUMS}.`);
    if (!tokens.length)
        throw new Unreadable("The line is empty. Type the right-hand side.");
    let at = 0, depth = 0;
    const next = () => tokens[at] ?? "";
    function take(wanted) {
        if (!next())
            throw new Unreadable(wanted ? `“${wanted}” is missing at the end of the line.`
                                        : `The line ends after “${tokens.at(-1)}”, but ${OPERAND} must follow.`);
        if (wanted && next() !== wanted)
            throw new Unreadable(`“${wanted}” is missing before “${next()}”.`);
        return tokens[at++];
    }
    const characters = text => text.match(/[\p{L}\p{N}]/gu) ?? [];
    function indices() {
        let found = "";
        while (/^[_[]/.test(next())) {
            const token = take();
            if (!characters(token).length)
                throw new Unreadable(`Write an index after “${token[0]}”.`);
            const inside = token.replace(/[_{}[\]]/g, ""), strange = /[^\p{L}\p{N}\s,]/u.test(inside);
            if (token[0] === "[" && strange)
                throw new Unreadable(SQUARE);
            const words = inside.match(/[^\s,]+/g) ?? [];
            if (words.length > 1 && words.some(one => [...one].length > 1) || strange)
                throw new Unreadable(`“${inside}” is not an index. Write each index as one letter.`);
            found += characters(token).join("");
        }
        return found;
    }
    const isMatrix = tree => parts(tree).some(([kind, name]) => kind === "name" && spec.matrices.includes(name));
    function line(least) {
        if (++depth > MOST_NESTED)
            throw new Unreadable("The brackets, signs and powers are nested too deeply: simplify the line.");
        let left;
        if (next() === "+" || next() === "-") {
            const sign = take(), inside = line(Math.max(least, SIGN));
            left = sign === "-" ? ["negative", inside] : inside;
        } else
            left = atom();
        for (;;) {
            const beside = /^[\p{L}\p{N}({.]/u.test(next());
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
                    throw new Unreadable("“'” and “T” transpose a matrix, but this derivation has no matrix. Write a derivative as a formula.");
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
    const argument = () => next() === "(" || next() === "{" ? atom() : line(5);
    function atom() {
        if ([")", "}", ","].includes(next()) || next() in binding)
            throw new Unreadable(`Expected ${OPERAND}, got “${next()}”.`);
        const token = take();
        if (token === "(" || token === "{") {
            const inside = line(1);
            take(token === "(" ? ")" : "}");
            const found = inside[0] === "transpose" && inside[1][0] === "name" ? indices() : "";
            return found ? ["entry", inside[1][1], [...found].reverse().join("")] : inside;
        }
        if (/^\.?\d/.test(token))
            return ["number", Number(token)];
        if (token === "sum") {
            if (!next().startsWith("_")) {
                const body = line(3), own = replaced(body, ([kind, name]) => kind === "name" && spec.vectors.includes(name) ? ["entry", name, OWN] : undefined);
                if (same(body, own))
                    throw new Unreadable("Name the index of the sum, as in `sum_i`.");
                return ["sum", OWN, own];
            }
            const over = [...new Set(characters(take()))];
            return over.reduceRight((body, index) => ["sum", index, body], line(3));
        }
        if (token === "frac")
            return ["/", atom(), atom()];
        if (token === "transpose")
            return ["transpose", argument()];
        if (Object.hasOwn(FUNCTIONS, token)) {
            const power = next() === "^" ? (take(), line(5)) : null;
            if (["", ...")},*·@/^"].includes(next()))
                throw new Unreadable(`“${token}” needs an argument: write ${token}(…).`);
            const called = ["call", token === "ln" ? "log" : token, argument()];
            return power ? ["^", called, power] : called;
        }
        if (token === "matmul" || token === "dot") {
            take("(");
            const left = line(1);
            take(",");
            const right = line(1);
            take(")");
            return ["@", left, right];
        }
        if (token.startsWith("["))
            throw new Unreadable(SQUARE);
        if (token === "∂")
            throw new Unreadable(noLetter(token));
        if (!known.includes(token) || token === "T")
            throw new Unreadable(`Expected ${OPERAND}, got “${token}”.`);
        const found = indices();
        return found ? ["entry", token, found] : ["name", token];
    }
    const tree = line(1);
    if (next())
        throw new Unreadable(`Unexpected “${next()}”. Remove it, or correct the formula before it.`);
    return tree;
}

// A value is a number or an array of rows; a vector is an array of numbers whose entries a line reads.
const shape = value => Array.isArray(value) ? [value.length, ...shape(value[0])] : [];
const each = (f, a, b) => Array.isArray(a) ? a.map((one, i) => each(f, one, Array.isArray(b) ? b[i] : b))
                        : Array.isArray(b) ? b.map(one => each(f, a, one)) : f(a, b);
const turned = rows => shape(rows).length === 2 ? rows[0].map((_, j) => rows.map(row => row[j])) : rows;
const OPERATORS = {"+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, "^": (a, b) => a ** b};

// Return a shape as rows and columns; a vector is a column.
const square = lengths => [...lengths, 1, 1].slice(0, 2);

// Write a shape as Python writes a tuple.
const tuple = lengths => lengths.length === 1 ? `(${lengths[0]},)` : `(${lengths.join(", ")})`;

// Return the value of `sum_m …` with an index m that the derivation does not have; m gets the length of a free index that fits.
function sumOverOwnIndex(tree, point, sizes) {
    const own = tree[1], used = part => part[0] === "entry" ? part[2].includes(own) : part.some(one => Array.isArray(one) && used(one));
    for (const free of used(tree[2]) ? Object.keys(sizes).filter(index => !(index in point)) : [])
        try {
            return value(tree, point, {...sizes, [own]: sizes[free]});
        } catch (problem) {
            if (!(problem instanceof Mismatch))
                throw problem;
        }
    const inside = parts(tree).filter(([kind]) => kind === "sum").map(one => one[1]);
    for (const one of parts(tree[2]).filter(([kind]) => kind === "entry"))
        refuseUnbound(one, index => inside.includes(index) || index in sizes && index in point);
    if (Object.keys(sizes).every(index => index in point))
        throw new Mismatch("No index is left for this sum: every index is on the left-hand side or under another sum.");
    throw new Mismatch(`There is no index ${own} to sum over.`);
}

function refuseUnbound(entry, isBound) {
    const free = [...entry[2]].find(index => !isBound(index));
    if (free)
        throw new Mismatch(`The index ${free} of \`${asText(entry)}\` is ` +
                           (/\p{L}/u.test(free) ? "neither on the left-hand side nor under a sum." : "a number: write a letter, or a sum over a letter."));
}

// Return the value of a tree at one point, {letter: value, index: number}.
function value(tree, point, sizes) {
    const [kind, first, second] = tree;
    if (kind === "number")
        return first;
    if (kind === "name")
        return point[first] ?? CONSTANTS[first];
    if (kind === "entry") {
        const array = point[first], shown = `\`${asText(tree)}\``;
        refuseUnbound(tree, index => index in sizes && index in point);
        if (`${[...second].map(index => sizes[index])}` !== `${shape(array)}`)
            throw new Mismatch(`${shown} does not fit the shape of ${first}, which is ${shape(array).length ? tuple(shape(array)) : "()"}: ` +
                               [...new Set(second)].map(index => `${index} has ${sizes[index]} values`).join(", ") + ".");
        return [...second].reduce((rows, index) => rows[point[index]], array);
    }
    if (kind === "sum") {
        if (!(first in sizes))
            return sumOverOwnIndex(tree, point, sizes);
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
        throw new Mismatch(`The shapes ${tuple(square(mine))} and ${tuple(square(other))} are incompatible in \`${asText(tree)}\`.` +
                           (kind === "*" ? " `*` multiplies entry by entry; write `@` for a matrix product." : ""));
    if (kind !== "@")
        return each(OPERATORS[kind], left, right);
    return left.map(row => turned(right).map(column => row.reduce((sum, x, i) => sum + x * column[i], 0)));
}

// Return the points of a derivation, with the letters that a formula defines; `fixed` keeps some letters at a value.
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

// Return the values of a line at all points, for all indices of the left side.
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
    return close(mine, due);
}

function close(mine, due) {
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
        for (const [meant, where] of Object.entries(MEANT))
            if (agree(spec, step, read(typed, spec, {[meant]: true}), right, points))
                return {kind: "unreadable", message: `This is read as \`${asText(tree)}\`. Put brackets around ${where}.`, tree};
        for (const [line, message] of step.mistakes)
            if (agree(spec, step, ["+", ["-", tree, read(line, spec)], right], right, points))
                return {kind: "wrong", message, tree};
        const above = number && spec.steps[number - 1], isAbove = above && agree(spec, above, tree, read(above.right, spec), points);
        const said = isAbove ? "That is right for the line above. " : "";
        const sums = parts(tree).filter(([kind]) => kind === "sum").length;     // each is a loop: more would take seconds
        for (const [repaired, message, hint] of sums > 3 ? [] : repairs(spec, step, tree, right))
            if (agree(spec, step, repaired, right, points))
                return {kind: "wrong", message: said + message, hint, tree};
        return {kind: "wrong", message: said + differs(spec, step, tree, right, points), tree};
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
            return {kind: "equal", message: `It is equal, except where ${letter} is 0: there your line has no value, but the right line has one.`, tree};
    }
    const allowed = step.letters ? step.letters.split(" ") : letters(spec);
    const surplus = [...names(tree)].filter(name => !allowed.includes(name) && !(name in CONSTANTS)).sort();
    if (surplus.length) {
        const where = listed(bridges(spec, step, tree, right, allowed, surplus, points));
        return {kind: "equal", message: `It is equal, but write it without ${listed(surplus)}: use only ${allowed.join(", ")}${where && `, where ${where}`}.`, tree};
    }
    if (number && bag(tree) === bag(read(spec.steps[number - 1].right, spec)))
        return {kind: "equal", message: "It is equal, but it repeats the line above: take one more step.", tree};
    return {kind: "right", message: "", tree};
}

const listed = words => [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(" and ");

// Return how to write a line without its surplus letters: a part of it that has the value of an allowed letter; or the
// definitions that lead from the surplus letters to those allowed, except one that is the line itself.
function bridges(spec, step, tree, right, allowed, surplus, points) {
    if (!Object.keys(spec.sizes).length)
        for (const part of parts(tree).filter(part => surplus.some(name => names(part).has(name))))
            for (const letter of allowed)
                if (close(values(part, step, points, {}), points.map(point => [point[letter]])))
                    return [`\`${asText(part)}\` is ${letter}`];
    const madeOf = {}, found = [];
    for (const [letter, formula] of spec.letters.filter(([, formula]) => typeof formula === "string")) {
        const name = letter.split("[")[0], definition = read(formula, spec), direct = [...names(definition)].filter(one => !(one in CONSTANTS));
        madeOf[name] = new Set([...direct, ...direct.flatMap(one => [...madeOf[one] ?? []])]);
        const leads = surplus.some(one => madeOf[name].has(one)) || surplus.includes(name) && direct.every(one => allowed.includes(one));
        if (leads && !agree(spec, step, definition, right, points))
            found.push([name, `\`${letter} = ${formula}\``]);
    }
    const ends = [...allowed, ...surplus], onTheWay = new Set([...ends, ...ends.flatMap(name => [...madeOf[name] ?? []])]);
    return found.filter(([name]) => onTheWay.has(name)).map(([, said]) => said);
}

// Return [repaired tree, wrong place, correction] for each repair, the most likely first, in the order of judge.py.
function* repairs(spec, step, tree, right) {
    const every = parts(tree), own = letters(spec), sizes = Object.keys(spec.sizes), mine = terms(tree), due = terms(right);
    const those = (...kinds) => every.filter(([kind]) => kinds.includes(kind)), name = letter => ["name", letter], number = x => ["number", x];
    const swapped = (one, other, whole = tree) => replaced(whole, part => same(part, one) ? other : undefined);
    const order = [...new Set([...step.letters.split(" ").filter(Boolean), ...own])];
    const several = mine.length > 1 ? mine : [];
    yield [["negative", tree], "A sign is wrong.", "The sign of the whole line is wrong, but its size is right."];
    for (const [sign, term] of several)
        yield [["+", tree, ["*", number(-2 * sign), term]], "The sign of one term is wrong.", `The sign of \`${asText(term)}\` is wrong.`];
    for (const [sign, term] of several)
        yield [[sign > 0 ? "-" : "+", tree, term], "There is one term too many.", `The term \`${asText(term)}\` does not belong there.`];
    if (["+", "-"].includes(tree[0]) && ["+", "-"].includes(tree[2][0]))
        yield [tree[1], "There is one term too many.", `The bracket \`(${asText(tree[2])})\` does not belong there.`];
    for (const one of those("+", "-"))
        yield [swapped(one, [one[0] === "+" ? "-" : "+", one[1], one[2]]), "The sign of one term is wrong.",
               `The sign of \`${asText(one[2])}\` is wrong in \`${asText(one)}\`.`];
    for (const [sign, term] of due.length > 1 ? due : [])
        yield [[sign > 0 ? "+" : "-", tree, term], "A term is missing.",
               `The missing term contains ${[...names(term)].sort().join(", ") || "no letter"}.`];
    for (const one of every.filter(([kind, first]) => kind === "^" || kind === "call" && first === "exp"))
        yield [swapped(one, [one[0], one[1], ["negative", one[2]]]), "The sign of an exponent is wrong.",
               `The exponent in \`${asText(one)}\` must have the opposite sign.`];
    if (sizes.length)
        yield* indexRepairs();
    for (const one of those("call"))
        yield [swapped(one, one[2]), "There is one function too many.", `Write \`${asText(one[2])}\` in place of \`${asText(one)}\`.`];
    // A letter that also occurs in the requested line is seldom the wrong one, so it is tried last.
    const stays = names(right);
    yield* letterRepairs(letter => !stays.has(letter));
    for (const one of those("entry"))
        for (const other of allEntries())
            if (one[1] !== other[1] && one[2] !== other[2])
                yield [swapped(one, other), "One factor or term is wrong.", `Write \`${asText(other)}\` in place of \`${asText(one)}\`.`];
    yield* factorRepairs();
    for (const one of those("@"))
        yield [swapped(one, ["@", one[2], one[1]]), "The order of the matrices is wrong.", `Exchange the two matrices in \`${asText(one)}\`.`];
    if (tree[0] === "+" || tree[0] === "-")
        for (const [one, other] of [[tree[1], rest => [tree[0], rest, tree[2]]], [tree[2], rest => [tree[0], tree[1], rest]]])
            if (one[0] === "*" || one[0] === "/") {
                yield [["*", one[1], other(one[2])], "A factor of the whole sum is applied to one term only.",
                       `\`${asText(one[1])}\` is a factor of the whole sum: put brackets around the sum.`];
                yield [["/", other(one[1]), one[2]], "Only one term is divided, not the whole sum.",
                       `\`${asText(one[2])}\` divides the whole sum: put brackets around the sum.`];
            }
    for (const [sign, term] of several.filter(([, term]) => names(term).size))
        for (const letter of order)
            for (const operator of "*/") {
                const [where, said] = operator === "*" ? ["A factor is missing in one term.", `The factor ${letter} is missing in \`${asText(term)}\`.`]
                                                       : ["A divisor is missing in one term.", `Divide by ${letter} in the term \`${asText(term)}\`.`];
                yield [[sign > 0 ? "+" : "-", tree, ["-", [operator, term, name(letter)], term]], where, said];
            }
    yield* letterRepairs(letter => stays.has(letter));
    yield [["/", number(1), tree], "Numerator and denominator are swapped.", "It is upside down: 1 divided by your line is right."];
    for (const x of [2, 0.5, -2, -0.5, 3, 4])
        yield [["*", number(x), tree], "A constant factor is wrong.", `${x} times your line is right.`];
    for (const [sign, term] of several)
        for (const x of [2, 0.5, 3, 4])
            yield [["+", tree, ["*", number(sign * (x - 1)), term]], "A constant factor in one term is wrong.", `Write ${x} times \`${asText(term)}\`.`];

    function* letterRepairs(isOld) {
        const factors = those("*", "/").flatMap(([, ...two]) => two), all = [tree, ...mine.map(([, term]) => term), ...factors];
        for (const whole of all.filter((one, i) => all.findIndex(other => same(one, other)) === i))
            for (const old of [...names(tree)].filter(letter => !(letter in CONSTANTS) && isOld(letter)).sort())
                for (const letter of order.filter(letter => letter !== old)) {
                    const renamed = replaced(whole, ([kind, first, ...rest]) =>
                        (kind === "name" || kind === "entry") && first === old ? [kind, letter, ...rest] : undefined);
                    yield [swapped(whole, renamed), "One letter is wrong.",
                           `Write ${letter} in place of ${old}${same(whole, tree) ? "" : ` in \`${asText(whole)}\``}.`];
                }
    }

    // Every entry of an array of the derivation, with different indices that fit.
    function* allEntries() {
        for (const letter of order) {
            const lengths = shape(spec.points[0][letter]);
            for (const indices of lengths.length === 1 ? sizes : lengths.length ? sizes.flatMap(a => sizes.filter(b => b !== a).map(b => a + b)) : [])
                if (`${[...indices].map(index => spec.sizes[index])}` === `${lengths}`)
                    yield ["entry", letter, indices];
        }
    }

    function* indexRepairs() {
        for (const one of those("entry").filter(one => one[2].length > 1))
            yield [swapped(one, ["entry", one[1], [...one[2]].reverse().join("")]), "The order of two indices is wrong.",
                   `The indices of ${one[1]} are exchanged in \`${asText(one)}\`.`];
        for (const one of those("entry"))
            for (const old of sizes.filter(index => one[2].includes(index)))
                for (const index of sizes.filter(index => index !== old))
                    yield [swapped(one, ["entry", one[1], one[2].replaceAll(old, index)]), "One index is wrong.",
                           `Write ${index} in place of ${old} in \`${asText(one)}\`.`];
        for (const one of those("name", "transpose")) {
            const other = one[0] === "transpose" ? one[1] : ["transpose", one];
            yield [swapped(one, other), "A transpose is missing, or there is one too many.", `Write \`${asText(other)}\` in place of \`${asText(one)}\`.`];
        }
        for (const one of those("sum"))
            for (const index of sizes) {
                yield [swapped(one, ["sum", index, one[2]]), "The sum is over the wrong index.",
                       `You sum over ${one[1]}. Which index does the left side lack?`];
                if (step.indices.includes(one[1]))
                    yield [swapped(one, one[2]), "There is one sum too many.", `The left side has the index ${one[1]}, so do not sum over it.`];
            }
        for (const index of sizes.filter(index => !step.indices.includes(index)))
            yield [["sum", index, tree], "A sum is missing.", `The left side has no ${index}, so sum over ${index}.`];
    }

    function* factorRepairs() {
        for (const factor of allEntries())
            for (const one of those("entry"))
                yield [swapped(one, ["*", one, factor]), "A factor is missing.", `The factor \`${asText(factor)}\` is missing.`];
        for (const one of those("*"))
            for (const [kept, surplus] of [[one[1], one[2]], [one[2], one[1]]])
                yield [swapped(one, kept), "There is one factor too many.", `The factor \`${asText(surplus)}\` does not belong there.`];
        for (const one of those("/"))
            yield [swapped(one, one[1]), "There is one divisor too many.", `\`${asText(one[1])}\` must not be divided by \`${asText(one[2])}\`.`];
        for (const one of those("^"))
            for (const [sign, less] of [["-", "smaller"], ["+", "larger"]])
                yield [swapped(one, ["^", one[1], [sign, one[2], number(1)]]), "One exponent is wrong.", `The exponent in \`${asText(one)}\` must be 1 ${less}.`];
        for (const one of those("*", "/"))
            yield [swapped(one, [one[0] === "*" ? "/" : "*", one[1], one[2]]), "A multiplication and a division are exchanged.",
                   one[0] === "*" ? `Divide by \`${asText(one[2])}\` instead of multiplying.` : `Multiply by \`${asText(one[2])}\` instead of dividing.`];
        for (const letter of sizes.length ? [] : order)
            for (const factor of [name(letter), ["^", name(letter), number(2)]])
                for (const operator of "*/") {
                    const [where, said] = operator === "*" ? ["A factor is missing", `The factor \`${asText(factor)}\` is missing`]
                                                           : ["A divisor is missing", `Your line must be divided by \`${asText(factor)}\``];
                    yield [[operator, tree, factor], `${where}.`, `${said}.`];
                    yield [["negative", [operator, tree, factor]], `${where}, and the sign is wrong.`, `${said}, and the sign is wrong.`];
                }
    }
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const replaced = (tree, change) => change(tree) ?? tree.map((child, i) => i && Array.isArray(child) ? replaced(child, change) : child);
// Return [[sign, term], …] for a sum of terms.
const terms = ([kind, a, b], sign = 1) => kind === "+" || kind === "-" ? [...terms(a, sign), ...terms(b, kind === "+" ? sign : -sign)]
                                        : kind === "negative" ? terms(a, -sign) : [[sign, b === undefined ? [kind, a] : [kind, a, b]]];

// Return the tree as it is typed in the course, or as NumPy code.
function asText(tree, code = false) {
    const [kind, first, second] = tree, text = part => asText(part, code);
    const within = (part, least) => (RANK[part[0]] ?? 9) >= least ? text(part) : `(${text(part)})`;
    switch (kind) {
        case "number": return `${first}`;
        case "name": return first;
        case "entry": return `${first}[${[...second].join(", ")}]`;
        case "negative": return `-${within(first, 3)}`;
        case "transpose": return `${within(first, 6)}.T`;
        case "call": return `${!code ? "" : first === "sigmoid" ? "ag." : "np."}${first}(${text(second)})`;
        case "sum": return `sum_${first} ${within(second, 3)}`;
        case "^": return code && same(first, ["name", "e"]) ? `np.exp(${text(second)})` : `${within(first, 6)}${code ? "**" : "^"}${within(second, 6)}`;
    }
    return `${within(first, leastOnTheLeft(kind, first))} ${kind} ${within(second, RANK[kind] + (kind === "-" || kind === "/"))}`;
}

// Return a true sentence about a line that no small repair corrects.
function differs(spec, step, tree, right, points) {
    if (!step.indices && parts(tree).some(([kind]) => kind === "entry"))
        return "The left side is a whole array, and your line has indices: write it with whole arrays only.";
    let mine;
    const due = values(right, step, points, spec.sizes);
    try {
        mine = values(tree, step, points, spec.sizes);
    } catch (problem) {
        if (!(problem instanceof Mismatch))
            throw problem;
        return problem.message;
    }
    const kind = one => shape(one).length ? `an array of shape ${tuple(square(shape(one)))}` : "a single number";
    if (step.indices && shape(mine[0][0]).length && !shape(due[0][0]).length)
        return "Your line is a whole array, and the left side is one entry: write the indices.";
    if (`${shape(mine)}` !== `${shape(due)}`)
        return `Your line is ${kind(mine[0][0])}, and the left side is ${kind(due[0][0])}.`;
    const finite = mine.map(one => one.flat(Infinity).every(Number.isFinite));
    if (!finite.includes(true))
        return "At every point that was tried, your line has no value, or its value is too large.";
    if (finite.includes(false))
        return "At some points your line has no value, or its value is too large.";
    const allowed = step.letters ? step.letters.split(" ") : letters(spec);
    for (const [name] of spec.letters.filter(([name, given]) => allowed.includes(name) && typeof given !== "string" && !shape(given[0]).length)) {
        const moves = [tree, right].map(one => {
            const [low, high] = [2, 3].map(at => values(one, step, pointsOf(spec, 4, {[name]: at}), spec.sizes));
            return !close(low, high);
        });
        if (moves[0] !== moves[1])
            return moves[0] ? `Your line changes with ${name}, and the left side does not.` : `Your line does not change with ${name}, and the left side does.`;
    }
    const short = x => `${+x.toPrecision(4)}`.replace("-", "−");
    for (const [at, point] of points.entries()) {
        const [a, b] = [mine[at].flat(Infinity), due[at].flat(Infinity)];
        const entry = a.findIndex((x, i) => Math.abs(x - b[i]) > 1e-6 * Math.abs(b[i]) + 1e-8);
        if (entry < 0)
            continue;
        const involved = letters(spec).filter(name => typeof point[name] === "number" && new Set(points.map(one => one[name])).size > 1 && (names(tree).has(name) || names(right).has(name)));
        const place = involved.map(name => `${name} = ${short(point[name])}`).join(", ");
        return `${place ? `Compare the two sides at ${place}:` : "In an example with random numbers,"} your line is ${short(a[entry])}, and the left side is ${short(b[entry])}.`;
    }
}

// The precedence of each kind of tree in its written form.
const RANK = {"+": 1, "-": 1, negative: 2, "*": 3, "@": 3, "/": 3, sum: 3, "^": 5, transpose: 5};

// Return the precedence that the left operand needs; a sum would include the right operand.
function leastOnTheLeft(kind, left) {
    while (["*", "/", "@"].includes(left[0]))
        left = left[2];
    return RANK[kind] === 1 ? 1 : left[0] === "sum" ? 4 : 3;
}

// Return the tree as MathML.
function drawn(tree) {
    const [kind, first, second] = tree;
    const row = (...all) => `<mrow>${all.join("")}</mrow>`, mo = sign => `<mo>${sign}</mo>`;
    const bare = (part, least) => (RANK[part[0]] ?? 9) >= least || part[0] === "/" && least <= 3;
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
    const sign = {"*": second[0] === "number" ? "·" : "⁢", "@": "·", "-": "−"}[kind] ?? kind;
    return row(within(first, leastOnTheLeft(kind, first)), mo(sign), within(second, RANK[kind] + (kind === "-")));
}

// Ask for the lines of a derivation one at a time, in place of its empty boxes; accepted lines are kept in the record.
function ask(box) {
    const spec = JSON.parse(box.dataset.derive), {name, steps} = spec, lines = [], body = element("div", {className: "lines", tabIndex: -1, role: "group"});
    const news = element("div", {className: "news"});       // there from the start, so that a screen reader reads it out
    let number = 0, asked = null;
    body.setAttribute("aria-label", "derivation");
    news.setAttribute("aria-live", "polite");
    box.append(body, news);
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
        const answered = () => {
            said.textContent = choice.get() === step.reason ? "Right." : `No. The reason is: ${step.reason}.`;
            choice.lock(true);
        };
        choice.row.onchange = () => {
            answered();
            change(record => record.reasons[name] ??= choice.get());
        };
        choice.set(progress().reasons[name]);
        if (choice.get())
            answered();
        return [choice.row, said];
    }

    function keep(text, shown) {
        goOn(text, shown);
        change(record => record.lines[name] = lines);
        (asked?.querySelector("input") ?? body).focus();
        news.textContent = [shown ? "It is shown above." : "Right.", ...body.querySelector("fieldset:enabled") ? ["Choose the reason above."] : [],
                            asked ? `Line ${number + 1} is next.` : "That was the last line."].join(" ");
    }

    // The current line, after the lines that are given; after the last one, the rule in code.
    function next() {
        while (number < steps.length && steps[number].worked)
            stand(steps[number].right);
        asked = null;
        if (number < steps.length)
            body.append(asked = boxFor(spec, number, keep));
        else if (spec.code && lines.length && !lines.at(-1)[1])
            body.append(inCode(spec, lines.at(-1)[0]));
    }
}

const math = inside => `<math><mstyle displaystyle="true">${inside}</mstyle></math>`;

// Return the rule in code that the last line gives, with a button that writes it into the editor of the exercise.
function inCode(spec, text) {
    const rename = ([kind, first]) => kind === "name" && first in spec.renamed ? ["name", spec.renamed[first]] : undefined;
    const code = spec.code.replace("{}", asText(replaced(read(text, spec), rename), true)), start = code.split("=")[0] + "= ";
    const said = element("span", {role: "status"}), rule = element("p"), row = element("div", {className: "boxes"}), both = element("div");
    const fill = element("button", {type: "button", textContent: "Write it into the exercise", onclick: () => {
        const has = line => line.startsWith(start);
        const editor = [...document.querySelectorAll("textarea")].find(({value}) => value.split("\n").some(has));
        if (!editor)
            return said.textContent = `Write it on the line of the exercise that begins with ${start.trim()}`;
        editor.value = editor.value.split("\n").map(line => has(line) ? code : line).join("\n");
        editor.dispatchEvent(new Event("input"));
        said.textContent = "Written into the exercise. Press Check below it.";
    }});
    rule.append("In code, this is your rule for the exercise: ", element("code", {textContent: code}));
    row.append(fill, said);
    both.append(rule, row);
    return both;
}

// Return a text box with its buttons for one line of a derivation; keep(text, shown) is called once it is right or shown.
function boxFor(spec, number, keep) {
    const step = spec.steps[number], typed = element("input", {type: "text", autocomplete: "off", autocapitalize: "off",
                                                               spellcheck: false, placeholder: "type the right-hand side"});
    let checked = null;
    typed.setAttribute("aria-label", step.named);
    const echo = element("p", {className: "echo"}), said = element("p", {role: "status"}), row = element("div", {className: "boxes"});
    const type = text => { typed.value = text; draw(); };
    row.innerHTML = step.left;
    row.append(typed, labelled("Check", "check this line", check),
               labelled("Show this line", "show this line and go on", () => keep(step.right, true)));
    typed.oninput = draw;
    typed.onkeydown = event => { if (event.key === "Enter") check(); };
    const tokens = element("div", {className: "keys", role: "group"});
    tokens.setAttribute("aria-label", "keys that type into the line");
    tokens.append(...spec.keys.map(([key, spoken]) => labelled(key, `type ${spoken}`, () =>
        type(typed.value + (/^\p{L}+$/u.test(key) && /[\p{L}\p{N}]$/u.test(typed.value) ? " " : "") + key))),
        labelled("⌫", "delete the last character", () => type(typed.value.slice(0, -1).trimEnd())));
    const asked = element("div");
    asked.append(row, echo, said, tokens);
    return asked;

    function draw() {
        let inside = "<mo>…</mo>";
        try {
            inside = drawn(read(typed.value, spec));
        } catch { /* it is not a formula yet */ }
        echo.innerHTML = `read as ${step.left} ${math(inside)}`;
    }

    function check() {
        const {kind, message, hint} = judge(spec, number, typed.value);
        if (kind === "right")
            return keep(typed.value, false);
        const title = {wrong: "Not yet.", equal: "True, but not this line."}[kind];
        const more = !hint ? "" : typed.value === checked ? ` ${hint}` : " Press Check again for a hint.";
        const formulas = (message + more).split("`").map((text, i) => i % 2 ? element("code", {textContent: text, className: text.length > 16 ? "" : "whole"}) : text);
        said.replaceChildren(...(title ? [element("strong", {textContent: title}), " "] : []), ...formulas);
        checked = typed.value;
    }
}

// Ask for the first line that was shown in each derivation of earlier lessons, two at most, as from_memory does in panel.py.
function remember(place, lesson, specs) {
    for (const [name, lines] of Object.entries(progress().lines)) {
        const spec = specs.find(one => one.name === name && name.slice(0, 2) < lesson), index = lines.findIndex(([, shown]) => shown);
        const numbers = spec?.steps.flatMap((step, i) => step.worked ? [] : [i]), number = numbers?.[index];
        if (number === undefined || place.querySelectorAll(".derive").length === 2)
            continue;
        const box = element("div", {className: "derive on", tabIndex: -1}), asked = boxFor(spec, number, kept);
        const line = (step, text) => {
            const row = element("p");
            row.innerHTML = `${step.left} ${math(drawn(read(text, spec)))}`;
            return row;
        };
        const before = spec.steps.slice(0, number).map(step => line(step, step.right));
        box.append(element("p", {textContent: `From lesson ${name.slice(0, 2)}, where you were shown it: type the next line.`}), ...before, asked);
        place.append(box);

        function kept(text, shown) {
            const said = element("p", {role: "status"});
            asked.replaceWith(line(spec.steps[number], text), said);
            box.focus();
            said.textContent = shown ? "You will be asked for this line again in a later lesson." : "Right. You will not be asked for this line again.";
            if (!shown)
                change(record => record.lines[name][index] = [text, false]);
        }
    }
}

return {read, judge, drawn, ask, remember};
})();
if (typeof document !== "undefined")
    document.querySelectorAll(".derive").forEach(derivations.ask);
