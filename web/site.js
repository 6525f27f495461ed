// Run the sliders and questions on the pages of `make site`, without a kernel and without another host. The page
// already contains every picture of a slider, packed by web/precomputed_frames.py; this script creates the controls and
// shows the picture for their position. It judges predictions as autograd_course/quiz/questions.py does.
"use strict";

// --- Sliders ---------------------------------------------------------------------------------------------------------

// The digits of base 85, as in Python's base64.b85encode, except for "<", which HTML would need to escape.
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
const DIGITS = Object.fromEntries([...ALPHABET].map((letter, digit) => [letter, digit]));
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const near = new IntersectionObserver(seen => seen.filter(one => one.isIntersecting).forEach(one => one.target.load()),
                                      {rootMargin: "600px"});
document.querySelectorAll(".moves").forEach(box => attach(box));
reachable(document);
pointTo(location.hash);
addEventListener("hashchange", () => pointTo(location.hash));
for (const kind of ["load", "resize"])       // WebKit may run this script before the page has its width
    addEventListener(kind, () => reachable(document));
addEventListener("toggle", event => reachable(event.target), true);        // a fold, now as wide as the page
keepOffline();

// On a page that runs, `draw(at)` returns [drawing, words] for the control positions `at`; otherwise the box contains
// the packed pictures.
function attach(box, draw) {
    const {controls, together} = JSON.parse(box.dataset.controls);
    const view = box.querySelector(".view"), words = box.querySelector(".words"), news = box.querySelector(".news");
    const at = controls.map(control => control.start);
    const playing = new Set();
    let frames, shown = place(), said = words.textContent, drawing = false;

    if (!draw) {
        // Unpack the pictures only once, when the box comes near the window or the reader moves a slider.
        box.load = () => frames ??= unpack(box.querySelector("script").textContent).catch(() => {
            words.before(element("p", {className: "note", role: "status", textContent:
                "This browser is too old for interactive pictures. Please update it, or use another browser."}));
            return new Promise(() => {});       // the picture stays as it is
        });
        near.observe(box);
        draw = async at => {
            const {pieces, ways, groups, frames: pictures, at: which} = await box.load();
            const [group, row] = pictures[which[place(at)]];
            const whole = groups[group].map(part => part.length ? part[1][ways[part[0]][row]] : pieces[part]);
            return whole.join("").split("\x1f");
        };
        // A printed page shows the last frame of an animation. It is prepared in advance, because printing cannot wait.
        if (controls.some(control => control.pace))
            addEventListener("load", () => setTimeout(async () => {
                const end = controls.map(control => control.pace ? control.values.length - 1 : control.start);
                view.after(element("div", {className: "printed", innerHTML: (await draw(end))[0]}));
            }));
    }
    const rows = controls.map((control, number) => row(control, number));
    box.dataset.link ??= linkName(box.closest(".cell"), [...box.closest(".output_wrapper, main").querySelectorAll(".moves")].indexOf(box));
    box.querySelector(".controls").append(...grids(controls, rows), sharing());
    box.style.setProperty("--longest", Math.max(...controls.map(control => control.name.length)));

    box.go = to => {
        to.forEach((index, i) => at[i] = index);
        rows.forEach(row => row.follow());
        return show();
    };

    // Move the controls to the positions in a link, {control: value}; controls that this picture does not have are
    // ignored.
    box.restore = positions => {
        const to = controls.map(control => {
            const text = positions.get(control.name), exact = control.values.indexOf(text);
            const number = control.numbers && /\d/.test(text ?? "") ? Number(text) : NaN;
            return exact >= 0 ? exact : Number.isFinite(number) ? nearest(control.values, number) : control.start;
        });
        const moved = together ? -1 : controls.findIndex((control, i) => to[i] !== control.start);
        return box.go(together ? to : to.map((index, i) => i === moved ? index : controls[i].start));
    };
    // Apply the link's positions also to a picture that Python has drawn again.
    const linked = positionsIn(location.hash);
    if (box.id.startsWith("live-") && linked?.name === box.dataset.link)
        box.restore(linked.positions);

    // Create the button that copies a link to this picture with its positions, and writes the link into the address
    // bar.
    function sharing() {
        const row = element("div", {className: "share"}), said = element("span");
        said.setAttribute("role", "status");
        const link = element("button", {type: "button", textContent: "Link to this picture", onclick: async () => {
            const positions = controls.map((control, i) => [control.name, control.values[at[i]]].map(encodeURIComponent).join("="));
            history.replaceState(null, "", `#${box.dataset.link}:${positions.join(",")}`);
            said.textContent = await navigator.clipboard?.writeText(location.href).then(() => "Link copied.", () => "")
                               || "The link is in the address bar.";
            setTimeout(() => said.textContent = "", 4000);
        }});
        link.title = "Copy a link to this picture with the sliders in these positions";
        row.append(link, said);
        return row;
    }

    // Return the index of these positions in the order of `packed`.
    function place(positions = at) {
        if (together)
            return controls.reduce((sum, control, i) => sum * control.values.length + positions[i], 0);
        const moved = controls.findIndex((control, i) => positions[i] !== control.start), i = Math.max(moved, 0);
        return controls.slice(0, i).reduce((sum, control) => sum + control.values.length, 0) + positions[i];
    }

    async function show() {
        while (!drawing && shown !== place()) {       // while a picture is drawn, only the newest position is queued
            drawing = true;
            const now = place(), [picture, text] = await draw([...at]);
            drawing = false;
            shown = now;
            const aside = [...view.querySelectorAll("*")].map(one => one.scrollLeft);
            view.innerHTML = picture;
            if (aside.some(Boolean))
                view.querySelectorAll("*").forEach((one, i) => one.scrollLeft = aside[i] ?? 0);
            words.textContent = text;
            reachable(view);
            box.dataset.place = shown;
        }
        if (!playing.size)
            say();
    }

    // Announce the changed lines to screen readers; while frames play, announce only the last ones.
    function say() {
        const before = said.split("\n");
        if (said !== words.textContent)
            news.textContent = words.textContent.split("\n").filter(line => !before.includes(line)).join("\n");
        said = words.textContent;
    }

    function move(number, to) {
        at[number] = Math.min(Math.max(to, 0), controls[number].values.length - 1);
        if (!together && box.beyond && controls.some((control, i) => i !== number && at[i] !== control.start))
            return box.beyond(Object.fromEntries(controls.map(({name, values}, i) => [name, +values[at[i]]])));
        if (!together)
            controls.forEach((control, i) => at[i] = i === number ? at[i] : control.start);
        rows.forEach(row => row.follow());
        return show();
    }

    function row({name, values, numbers, toggle, pace}, number) {
        const id = `${box.id}-${number}`;
        if (toggle) {
            const {row, get, set} = chosen(name, values, id, numbers ? values.map(
                value => value.replaceAll("-", "−").replace(/^(−?\d{1,3})(\d{3})$/, "$1,$2")) : values);
            row.className = "control";
            row.onchange = () => move(number, values.indexOf(get()));
            row.follow = () => set(values[at[number]]);
            row.follow();
            return row;
        }
        const row = element("div", {className: "control"});
        const label = element("label", {htmlFor: id, textContent: name});
        if (!numbers) {
            const choice = element("select", {id});
            choice.append(...values.map((value, i) => element("option", {value: i, textContent: value})));
            choice.onchange = () => move(number, choice.selectedIndex);
            row.append(label, choice);
            row.follow = () => choice.selectedIndex = at[number];
        } else {
            const slider = element("input", {id, type: "range", min: 0, max: values.length - 1, autocomplete: "off"});
            const typed = element("input", {type: "number", step: "any", autocomplete: "off"});
            typed.setAttribute("aria-label", `${name}, typed`);
            slider.oninput = () => move(number, +slider.value);
            typed.onchange = () => typed.value !== "" && move(number, nearest(values, +typed.value));
            const [back, forward] = [["−", -1, "back"], ["+", 1, "forward"]].map(([sign, by, way]) =>
                labelled(sign, `Step ${way}: ${name}`, () => { row.halt?.(); move(number, at[number] + by); }));
            const track = element("span", {className: "track"});
            track.append(back, slider, forward);
            row.append(label, typed, track);
            track.classList.toggle("steps", !!pace);        // without a player only a finger needs them: site.css
            if (pace && !calm.matches)       // readers who prefer reduced motion use the step buttons
                row.append(player(row, number, name, values, pace));
            row.follow = () => {
                slider.value = at[number];
                slider.setAttribute("aria-valuetext", `${name} = ${values[at[number]]}`);
                typed.value = values[at[number]];
            };
        }
        row.follow();
        return row;
    }

    function player(row, number, name, values, pace) {
        const last = values.length - 1;
        let timer;
        const play = labelled("▶ play", `▶ play ${name}`, () => timer ? stop() : start());
        row.halt = () => timer && stop();
        function start() {
            playing.add(number);
            play.textContent = "⏸ pause";
            play.setAttribute("aria-label", `⏸ pause ${name}`);
            if (at[number] === last)
                move(number, 0);
            timer = setInterval(() => move(number, at[number] + 1).then(() => timer && at[number] === last && stop()), pace);
        }
        function stop() {
            clearInterval(timer);
            timer = undefined;
            playing.delete(number);
            play.textContent = "▶ play";
            play.setAttribute("aria-label", `▶ play ${name}`);
            say();
        }
        return play;
    }
}

// Return the name of a picture in a link: the page, its cell and, from the second picture of a cell on, its number.
function linkName(cell, number) {
    const page = location.pathname.split("/").at(-1).replace(/\.html$/, "") || "index";
    const parts = [/^\d\d(?=_)/.exec(page)?.[0] ?? page, ...cell ? [cell.id.replace("cell-id=", "")] : []];
    return [...parts, ...number ? [number + 1] : []].map(encodeURIComponent).join(".");
}

// Parse a fragment such as #02.live:x=3,w=1 into {name, positions: Map of control to value}; return undefined for any
// other fragment.
function positionsIn(fragment) {
    const [, name, list] = /^#([^:]+):(.+=.+)$/.exec(fragment) ?? [];
    try {
        return name && {name, positions: new Map(list.split(",").map(one => one.split("=").map(decodeURIComponent)))};
    } catch { /* not a link of ours: a % in it encodes nothing */ }
}

// Show the picture that the address names, with its controls at the given positions.
async function pointTo(fragment) {
    const linked = positionsIn(fragment);
    const box = linked && [...document.querySelectorAll(".moves")].find(one => one.dataset.link === linked.name);
    if (!box)
        return;
    box.closest("details")?.setAttribute("open", "");
    box.scrollIntoView({block: "center"});
    await box.restore(linked.positions);
    box.scrollIntoView({block: "center"});
}

// Return the rows of controls; the entries of an array, such as A[0, 1], form a grid of number boxes.
function grids(controls, rows) {
    const found = {};
    return rows.filter((row, i) => {
        const [, name, index] = /^(\w+)\[(.*)\]$/.exec(controls[i].name) ?? [];
        if (!name)
            return true;
        const first = !found[name];
        found[name] ??= element("div", {className: "entries"});
        found[name].append(row);
        row.classList.add("entry");
        found[name].style.setProperty("--columns", +index.split(",").at(-1) + 1);
        return first;
    }).map(row => row.matches(".entry") ? row.parentElement : row);
}

// Make elements that are wider than their place scrollable, by keyboard too. If a drawing was shifted to its relevant
// part, the rest can be reached by scrolling.
function reachable(root) {
    for (const one of root.querySelectorAll('[style*="margin-left:clamp"]')) {
        const aside = -parseFloat(getComputedStyle(one).marginLeft);
        if (aside > 0) {
            one.style.marginLeft = 0;
            one.parentElement.scrollLeft = aside;
        }
    }
    for (const one of root.querySelectorAll("pre, p, ul, ol, table, .formula, .output_wrapper, .output_wrapper div")) {
        if (one.closest("details:not([open])"))
            continue;           // as narrow as its fold's name
        const more = () => one.classList.toggle("more", one.scrollLeft + one.clientWidth + 4 < one.scrollWidth);
        if (one.scrollWidth > one.clientWidth + 1) {
            one.tabIndex = 0;
            one.onscroll = more;
        }
        more();         // also where a turned phone shows all of it
    }
}

// Print folded hints and solutions at the end of the page as answers, each under the name of its section.
addEventListener("beforeprint", () => {
    const answers = element("section", {className: "answers"});
    let section, named;
    for (const one of document.querySelectorAll("main :is(h2, .output_wrapper details, .text_cell_render details)")) {
        if (one.matches("h2"))
            section = one;
        else if (!one.matches("details details, .moves details, :has(> [start='0'])") && section) {
            if (named !== section)
                answers.append(element("h3", {textContent: section.textContent}));
            named = section;
            const copy = one.cloneNode(true);
            copy.hidden = false;
            [copy, ...copy.querySelectorAll("details")].forEach(fold => fold.open = true);
            answers.append(copy);
        }
    }
    if (named) {
        answers.prepend(element("h2", {textContent: "Hints and solutions"}));
        document.querySelector(".turn.end").before(answers);
    }
});
addEventListener("afterprint", () => document.querySelector(".answers")?.remove());

// Decode the text that `as_text` of precomputed_frames.py wrote into JSON: five digits are four bytes, and the last
// group may be shorter.
async function unpack(text) {
    const bytes = new Uint8Array(4 * Math.ceil(text.length / 5)), view = new DataView(bytes.buffer);
    for (let i = 0; i < text.length; i += 5) {
        let value = 0;
        for (let k = i; k < i + 5; k++)
            value = 85 * value + (DIGITS[text[k]] ?? 84);
        view.setUint32(4 * i / 5, value);
    }
    const packed = bytes.subarray(0, Math.floor(4 * text.length / 5));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function nearest(values, typed) {
    const off = values.map(value => Math.abs(value - typed));
    return off.indexOf(Math.min(...off));
}

// --- Predictions -----------------------------------------------------------------------------------------------------

const EXAMPLE = {number: "like 17, −0.3, 1/7", row: "like 17, −0.3, 11", shape: "like (8, 5)"};
const HOW = {number: "Write it like 17, −0.3, 1/7, 2e-9 or 3*4 + log(2).", row: "Write it like 17, −0.3, 11.",
             shape: "Write it like (8, 5), or () for a single number."};
// localStorage holds the same record as JupyterLab's progress.json, and the reader's text of each cell.
const KEPT = "autograd-course progress.json", WORK = "autograd-course cell ";
const unkept = new Map();       // records that this browser could not store, because storage is full or blocked
addEventListener("beforeunload", event => unkept.size && event.preventDefault());
// Add a link at the end of each heading. Its sign is in site.css, so that it does not become part of the heading's
// text.
for (const heading of document.querySelectorAll("main :is(h2, h3)[id]")) {
    const link = element("a", {className: "section-link", href: `#${heading.id}`});
    link.setAttribute("aria-label", "Link to this section");
    heading.append(link);
}
showProgress();
for (const kind of ["pageshow", "storage"])      // back from a lesson, or solved in another tab
    addEventListener(kind, showProgress);
document.querySelectorAll(".ask").forEach(ask);
offer();
addEventListener("DOMContentLoaded", comeBack);     // after derivations.js, if the page has it

function ask(box) {
    const {name, parts, sure, praise} = JSON.parse(box.dataset.ask);
    const boxes = box.querySelector(".boxes"), verdict = box.querySelector(".verdict"), answer = box.querySelector("details");
    const given = parts.map((part, i) => part.kind === "choice" ? chosen(part.label || "your answer", part.choices, `${box.id}-${i}`)
                                                                : typed(part, `${box.id}-${i}`));
    const how = chosen("How sure are you?", sure, `${box.id}-sure`);
    const button = element("button", {type: "button"});
    boxes.append(...given.map(one => one.row), ...(parts.length ? [how.row] : []), button);
    button.onclick = () => answer.hidden ? reveal() : again();
    let openings = 0;
    again();
    const earlier = progress().predictions[name];
    if (earlier?.answer.length === parts.length) {
        given.forEach((one, i) => one.set(earlier.answer[i]));
        how.set(earlier.sure);
        open(earlier.right);
    }

    function again() {
        verdict.textContent = "";
        lock(false, "Reveal");
    }

    function lock(shut, action) {
        answer.hidden = !shut;
        answer.open = shut;
        button.textContent = action;
        [...given, how].forEach(one => one.lock(shut));
    }

    function reveal() {
        const texts = given.map(one => one.get());
        if (texts.some(Boolean) && !texts.every(Boolean))
            return verdict.textContent = "Fill in every part, or clear them all to see the answer.";
        const right = texts.map((text, i) => text && agrees(parts[i], text));
        const unclear = right.findIndex(one => one === undefined);
        if (unclear >= 0)
            return verdict.textContent = `Can't read “${texts[unclear]}”. ${HOW[parts[unclear].kind]}`;
        const good = texts.some(Boolean) ? right.every(Boolean) : null;
        if (good !== null)
            change(({predictions}) => predictions[name] ??= {
                answer: texts, sure: how.get() || null, right: good, recalled: false, missed: +!good});
        open(good);
    }

    function open(good) {
        openings += 1;
        if (good !== null) {
            const words = openings === 1 ? praise[`${good ? "True" : "False"} ${how.get()}`] : good ? "Right this time." : "Not this time.";
            verdict.replaceChildren(element("strong", {textContent: `${good ? "✓ " : ""}${words}`}),
                                    ` You: ${given.map(one => one.get()).join(", ")}. Ours: ${parts.map(part => part.shown).join(", ")}.`);
        }
        lock(true, parts.length ? "Try again" : "Hide");
    }
}

function typed({label, kind}, id) {
    const row = element("div", {className: "part"});
    const box = element("input", {id, type: "text", placeholder: EXAMPLE[kind], autocomplete: "off"});
    row.append(element("label", {htmlFor: id, textContent: label || "your answer"}), box);
    return {row, get: () => box.value.trim(), set: text => box.value = text, lock: shut => box.disabled = shut};
}

// Return a row of radio buttons. `written` contains the text that is shown for each choice.
function chosen(label, choices, name, written = choices) {
    const row = element("fieldset", {className: "part"}), id = `${name}-named`;
    row.setAttribute("aria-labelledby", id);        // not a legend, which WebKit places above the row
    row.append(element("span", {id, className: "named", textContent: label}));
    const radios = choices.map((choice, i) => {
        const one = element("label"), radio = element("input", {type: "radio", name, value: choice, autocomplete: "off"});
        one.append(radio, written[i]);
        row.append(one);
        return radio;
    });
    return {row, get: () => radios.find(radio => radio.checked)?.value ?? "",
            set: text => radios.forEach(radio => radio.checked = radio.value === text), lock: shut => row.disabled = shut};
}

// Where a later lesson asks questions from memory, ask for lines of derivations that the reader was shown. The scripts
// for this are fetched only for a reader who has such lines.
async function comeBack() {
    const asks = document.querySelector("[data-source^='recall(']"), lesson = asks?.dataset.source.match(/\d\d/)[0];
    const owes = ([name, lines]) => name.slice(0, 2) < lesson && lines.some(([, shown]) => shown);
    if (!asks || !Object.entries(progress().lines).some(owes))
        return;
    for (const src of ["derivations.js", "derived.js"])
        if (!document.querySelector(`script[src="${src}"]`))
            await new Promise(done => document.head.append(element("script", {src, onload: done})));
    const place = element("div"), cell = asks.closest(".code_cell");
    (cell.querySelector(".output_wrapper") ?? cell).append(place);      // once Python runs the cell, its question replaces this one
    derivations.remember(place, lesson, DERIVED);
}

// Return true if a text is the answer, and undefined if it cannot be parsed.
function agrees({kind, value, room, shown}, text) {
    if (kind === "choice")
        return text === shown;
    if (kind === "shape")
        return /^\s*(torch\.Size)?[\s\d,x×*()[\]]*$/.test(text) ? (text.match(/\d+/g) ?? []).map(Number).join() === value.map(Number).join() : undefined;
    const texts = kind === "row" ? numbersOf(text) : [text], numbers = texts.map(parse);
    if (numbers.includes(undefined))
        return undefined;
    const near = (x, i) => x === parse(value[i]) || Math.abs(x - parse(value[i])) <= room[i];
    return numbers.length === value.length && numbers.every((x, i) => near(x, i) || /%\s*$/.test(texts[i]) && near(x / 100, i));
}

function numbersOf(text) {
    let inner = text.trim().replace(/^(np\.|torch\.)?(array|tensor)/, "").replace(/^[[\]() ]+|[[\]() ]+$/g, "");
    const more = inner.split("(").length - inner.split(")").length;     // brackets that belonged to a number and were removed
    inner = "(".repeat(Math.max(-more, 0)) + inner + ")".repeat(Math.max(more, 0));
    const decimalCommas = inner.includes(";") && !/,\s/.test(inner);
    inner = inner.replace(/\s+%/g, "%").replace(/\s*([*/^·×÷])\s*|\s+([+−-])\s+|([a-z])\s+/g, "$1$2$3");
    return inner.split(decimalCommas ? /\s*;\s*/ : /[\s,;]+/);
}

// Return the number in a text, or the result of its arithmetic, as quiz/arithmetic.py does (tests/quiz/typed.json is
// for both); undefined if the text has none.
const parse = (() => {
    const SPELLINGS = [["−", "-"], ["–", "-"], ["∞", "inf"], ["·", "*"], ["×", "*"], ["⋅", "*"], ["÷", "/"],
                       ["**", "^"], ["²", "^2"], ["³", "^3"], ["√", "sqrt "], ["π", "pi"], ["\u00a0", " "]];
    const FUNCTIONS = {exp: Math.exp, log: Math.log, ln: Math.log, log2: Math.log2, log10: Math.log10, sqrt: Math.sqrt,
                       sin: Math.sin, cos: Math.cos, tan: Math.tan, tanh: Math.tanh, abs: Math.abs};
    const CONSTANTS = {pi: Math.PI, e: Math.E, inf: Infinity, nan: NaN};
    const OPERATORS = {"+": (x, y) => x + y, "-": (x, y) => x - y, "*": (x, y) => x * y, "/": (x, y) => x / y, "^": (x, y) => x ** y};
    const THOUSANDS = "[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9])";
    const NUMBER = `(?:${THOUSANDS}(?:\\.[0-9]*)?|[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:e[+-]?[0-9]+)?`;
    const TOKEN = new RegExp(`${NUMBER}|log(?:2|10)(?=\\()|[a-z]+|[^ ]`, "g"), LONGEST = 200;
    const unreadable = () => { throw new RangeError(); };
    let tokens;

    const next = wanted => tokens.length && wanted.includes(tokens[0]) ? tokens.shift() : "";
    function applied(apply, ...values) {
        const value = apply(...values);
        const isOut = Number.isNaN(value) ? !values.some(Number.isNaN) : !Number.isFinite(value) && values.every(Number.isFinite);
        return isOut ? unreadable() : value;
    }
    function leftToRight(signs, operand) {
        let value = operand();
        for (let sign = next(signs); sign; sign = next(signs))
            value = applied(OPERATORS[sign], value, operand());
        return value;
    }
    const sum = () => leftToRight("+-", product), product = () => leftToRight("*/", signed);
    function signed() {
        const sign = next("+-");
        return sign === "-" ? -signed() : sign ? signed() : power();
    }
    function power() {
        const value = atom();
        return next("^") ? applied(OPERATORS["^"], value, signed()) : value;
    }
    function atom() {
        if (next("(")) {
            const value = sum();
            return next(")") ? value : unreadable();
        }
        const token = tokens.shift() ?? "";
        if (Object.hasOwn(FUNCTIONS, token))
            return applied(FUNCTIONS[token], tokens[0] === "(" ? atom() : power());
        if (Object.hasOwn(CONSTANTS, token))
            return CONSTANTS[token];
        if (!RegExp(`^${NUMBER}$`).test(token))
            unreadable();
        return Number((RegExp(`^${THOUSANDS}`).test(token) ? token.replaceAll(",", "") : token).replace(",", "."));
    }
    return text => {
        let plain = text.trim().replace(/^about\s+/, "").replace(/([0-9¼-¾⅐-⅞])\s*(?!inf|nan|pi)[a-zA-Z]{2,}$/, "$1");
        plain = plain.replace(/([0-9]*)([¼-¾⅐-⅞])/g, (_, whole, part) => `(${whole || 0}+${part.normalize("NFKC").replace("⁄", "/")})`);
        SPELLINGS.forEach(([typed, written]) => plain = plain.replaceAll(typed, written));
        plain = plain.replace(/^[^=≈~<>≤≥]*[a-zA-Z∂][^=≈~<>≤≥]*(?=[=≈~<>≤≥])|\s*[%°]$/g, "").replace(/^[=≈~<>≤≥ ]+/, "");
        plain = plain.replace(/\b(np|math|torch)\./g, "").replace(/([0-9]) (?=[0-9]{3}(?![0-9]))/g, "$1");
        tokens = plain.length > LONGEST ? [] : plain.toLowerCase().match(TOKEN) ?? [];
        try {
            const value = sum();
            return tokens.length ? undefined : value;
        } catch (error) {
            if (!(error instanceof RangeError))     // also: brackets nested too deeply
                throw error;
        }
    };
})();

function keep(key, text) {
    unkept.delete(key);
    try {
        if (text === null)
            localStorage.removeItem(key);
        else
            localStorage.setItem(key, text);
    } catch {
        unkept.set(key, text);
    }
}

// Read everything that is stored. This happens on every use, because another page may have written it.
function shelf() {
    let all = {};
    try {
        all = {...localStorage};
    } catch { /* storage is blocked */ }
    return Object.assign(all, Object.fromEntries(unkept));
}

// Return the value stored under a key, or null if it is missing or damaged: Python and the page rely on its form.
function read(key) {
    let value = null;
    try {
        value = JSON.parse(shelf()[key] ?? "null");
    } catch { /* the value is not JSON */ }
    if (!isObject(value))
        return null;
    return key === KEPT ? sound(value) : typeof value.text === "string" ? value : null;
}

function isObject(value) {
    return value !== null && typeof value === "object" && !Array.isArray(value);
}

// Return the record without its damaged entries, in the form that record.py reads.
function sound(record) {
    const texts = value => Array.isArray(value) && value.every(one => typeof one === "string");
    const counts = (value, ...names) => isObject(value) && names.every(name => Number.isInteger(value[name]));
    const form = {
        predictions: one => isObject(one) && texts(one.answer) && [one.right, one.recalled].every(yes => typeof yes === "boolean") &&
                            (one.sure === null || typeof one.sure === "string"),
        cards: texts,
        lines: all => Array.isArray(all) && all.every(line => Array.isArray(line) && line.length === 2 &&
                                                      typeof line[0] === "string" && typeof line[1] === "boolean"),
        reasons: one => typeof one === "string",
        gym: one => counts(one, "right", "missed", "owed"),
        tries: one => counts(one, "last") && counts(one.wrong, ...Object.keys(one.wrong ?? {})),
    };
    const kept = {exercises: texts(record.exercises) ? record.exercises : []};
    for (const [part, fits] of Object.entries(form))
        kept[part] = Object.fromEntries(Object.entries(isObject(record[part]) ? record[part] : {}).filter(([, one]) => fits(one)));
    return kept;
}

function progress() {
    return read(KEPT) ?? sound({});
}

function change(event) {
    const now = progress();
    event(now);
    keep(KEPT, JSON.stringify(now));
    offer();
    document.dispatchEvent(new Event("progress-changed"));
}

// {"03_derive_the_arithmetic/square-stub": {text, ours}}
function work() {
    const names = Object.keys(shelf()).filter(key => key.startsWith(WORK)).sort();
    return Object.fromEntries(names.map(key => [key.slice(WORK.length), read(key)]).filter(([, one]) => one));
}

// Show at the end of the page what is stored, with buttons to download it for JupyterLab or another browser, to load
// it, and to delete it.
function offer() {
    const cells = work(), {exercises, predictions, cards, lines} = progress();
    const count = (number, word) => number ? [`${number} ${word}${number === 1 ? "" : "s"}`] : [];
    const all = [...count(Object.keys(predictions).length, "prediction"), ...count(Object.keys(lines).length, "derivation"),
                 ...count(exercises.length, "exercise"),
                 ...count(Object.keys(cards).length, "card"), ...count(Object.keys(cells).length, "changed cell")];
    document.querySelector(".keep")?.remove();
    const keeping = element("p", {className: "keep"});
    if (all.length) {
        const whole = new Blob([JSON.stringify({...progress(), cells}, null, 1)], {type: "application/json"});
        const save = element("a", {download: "progress.json", textContent: "Download my answers",
                                   href: URL.createObjectURL(whole), onclick: () => unkept.clear()});
        const forget = element("button", {type: "button", textContent: "Delete my answers", onclick: () => {
            if (!confirm("Delete all saved answers in every lesson?"))
                return;
            Object.keys(shelf()).filter(key => key === KEPT || key.startsWith(WORK)).forEach(key => keep(key, null));
            unkept.clear();
            location.reload();
        }});
        keeping.append(unkept.size ? "This browser can't save your work (storage is full or blocked). Download it before you close this page: "
                                   : "Saved in this browser: ", `${all.join(", ")}. `, save,
                       " (to continue in JupyterLab, put progress.json next to the notebooks) · ", forget, " · ");
    }
    const file = element("input", {type: "file", accept: ".json", onchange: () => bring(file.files[0])});
    const load = element("label", {textContent: "Load answers from progress.json: "});
    load.append(file);
    keeping.append(load);
    document.querySelector(".turn.end").before(keeping);
}

// Add the entries of a file to the stored ones; an entry of the file replaces a stored one. A file with a damaged entry
// is rejected.
async function bring(file) {
    try {
        const {cells = {}, ...found} = JSON.parse(await file.text()), now = progress(), fits = sound(found);
        for (const part of ["predictions", "cards", "lines", "reasons", "gym", "tries"]) {
            if (Object.keys(fits[part]).length !== Object.keys(found[part] ?? {}).length)
                throw new Error(part);
            Object.assign(now[part], fits[part]);
        }
        if (!isObject(cells) || fits.exercises.length !== found.exercises.length ||
            !Object.values(cells).every(one => isObject(one) && typeof one.text === "string"))
            throw new Error("exercises");
        now.exercises = [...new Set([...now.exercises, ...fits.exercises])];
        for (const [name, {text, ours}] of Object.entries(cells))
            keep(WORK + name, JSON.stringify({text, ours}));
        keep(KEPT, JSON.stringify(now));
    } catch {
        return document.querySelector(".keep").append(" This file is not a progress.json from this course.");
    }
    location.reload();
}

// --- Search ------------------------------------------------------------------------------------------------------------

// Search all pages with search.js. That script contains the texts, because a page on disk may not read other files; it
// is fetched when the reader focuses the search box.
const search = element("form", {className: "search", onsubmit: () => false});
const sought = element("input", {type: "search", id: "sought", autocomplete: "off"}), many = element("p"), found = element("ol");
search.setAttribute("role", "search");
many.setAttribute("role", "status");
search.append(element("label", {htmlFor: "sought", textContent: "Search"}), sought, many, found);
(document.getElementById("search-here") ?? document.querySelector(".aside")).prepend(search);
let index;
sought.onfocus = () => index ??= new Promise((ready, failed) => {
    document.head.append(element("script", {src: "search.js", onerror: failed, onload: () => ready(finder(TEXTS))}));
});
sought.oninput = async () => {
    const all = sought.value.trim() ? (await (index ?? sought.onfocus()))(sought.value) : [];
    const shown = all.slice(0, 12);
    many.textContent = !sought.value.trim() ? "" : `${all.length} section${all.length === 1 ? "" : "s"}` +
                       (all.length > 12 ? "; showing the top 12" : "");
    found.replaceChildren(...shown.map(({id, where, heading, text, terms}) => {
        const top = heading === where.replace(/^\d+ /, "");
        const one = element("li"), link = element("a", {href: id});
        link.append(...marked(top ? where : `${where}: ${heading}`, terms));
        one.append(link, element("br"), ...excerpt(text, terms));
        return one;
    }));
};

// Return the position of the first search term in a text, and that term; 0 and "" if the text contains none, for
// example because only the heading does.
function firstOf(terms, text) {
    const places = terms.map(term => [text.toLowerCase().indexOf(term), term]).filter(([at]) => at >= 0);
    return places.sort(([a], [b]) => a - b)[0] ?? [0, ""];
}

// Return the text with the first search term in it marked.
function marked(text, terms) {
    const [at, term] = firstOf(terms, text);
    if (!term)
        return [text];
    const end = at + term.length;
    return [text.slice(0, at), element("mark", {textContent: text.slice(at, end)}), text.slice(end)];
}

// Return some words around the first search term in the text.
function excerpt(text, terms) {
    const [at] = firstOf(terms, text);
    const from = Math.max(0, text.lastIndexOf(" ", Math.max(0, at - 40))), to = text.indexOf(" ", at + 80);
    const end = to < 0 ? text.length : to;
    return [from ? "… " : "", ...marked(text.slice(from, end).trimStart(), terms), end < text.length ? " …" : ""];
}

// Show on the front page how many exercises of each lesson are solved, and a link to the last lesson in which the
// reader has answered a question, or to the next lesson if that one is complete.
function showProgress() {
    const {exercises, predictions} = progress();
    const begun = [...exercises, ...Object.keys(predictions), ...Object.keys(work())].map(name => name.slice(0, 2));
    const links = [];
    let next = -1;
    for (const [place, lesson] of document.querySelectorAll("[data-exercises]").entries()) {
        const all = lesson.dataset.exercises.split(" ").filter(Boolean), link = lesson.querySelector("a");
        const solved = all.filter(name => exercises.includes(name)).length, complete = solved > 0 && solved === all.length;
        lesson.querySelector(".done")?.remove();
        if (solved)
            lesson.append(element("p", {className: "done", textContent: `${complete ? "✓ " : ""}${solved} of ${all.length} exercises`}));
        if (begun.includes(link.textContent.slice(0, 2)))
            next = place + complete;
        links.push(link);
    }
    const link = links[next];
    document.querySelector(".continue")?.replaceChildren(...link ? ["Continue where you left off: ",
        element("a", {href: link.getAttribute("href"), textContent: link.textContent})] : []);
}

// Register sw.js, which stores the pages, so that they can be installed and opened without a network. Do not register
// it for pages on disk, where browsers do not allow it, or if the reader's browser saves data.
function keepOffline() {
    if (!navigator.serviceWorker || location.protocol === "file:")
        return;
    document.head.append(element("link", {rel: "manifest", href: "manifest.webmanifest"}));
    if (!navigator.connection?.saveData)
        addEventListener("load", () => navigator.serviceWorker.register("sw.js").catch(() => {}));     // it is blocked
}

function element(tag, properties) {
    return Object.assign(document.createElement(tag), properties);
}

// Return a button whose visible text is shorter than its accessible name.
function labelled(text, label, act) {
    const made = element("button", {type: "button", textContent: text, onclick: act});
    made.setAttribute("aria-label", label);
    return made;
}
