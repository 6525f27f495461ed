// Show a text box in each cell of the playground's page in place of the code, and draw its function while the reader
// types. Text that is typed, or that comes from a link, is data: it is passed to Python inside a string, and
// autograd_course/play parses it as arithmetic. A link carries the text and the controls: playground.html#text=tanh(w*x)&w=2&step=3.
"use strict";

// live.js calls this for each such cell; `draw(source)` writes the cell's source and runs it.
function playground(one, draw) {
    const id = `${one.box.id}-text`, label = element("label", {htmlFor: id, textContent: "Function"});
    const text = element("textarea", {id, value: textOf(one.text), spellcheck: false, autocapitalize: "off", autocomplete: "off"});
    const said = element("p", {className: "note"});
    said.setAttribute("role", "status");
    const buttons = element("p", {className: "live-cell"});
    buttons.append(pressed("Copy link", copy), pressed("Save as SVG", () => save("svg")),
                   pressed("Save as PNG", () => save("png")), pressed("Restore original", restore));
    const panel = element("div", {className: "plays"});
    panel.append(label, text, buttons, said);
    one.own.hidden = true;
    one.box.querySelector(".input, details:has(.input)").hidden = true;
    one.output.before(panel);
    fit();
    beyond();

    // Draw while the reader types: always the latest text, as soon as Python is free.
    let drawing = false;
    text.oninput = async () => {
        fit();
        clearTimeout(timer);
        if (drawing)
            return;
        drawing = true;
        try {
            for (let drawn; drawn !== text.value;) {
                drawn = text.value;
                await run();
            }
        } finally {  // if drawing fails, the next key draws again
            drawing = false;
        }
    };

    // If a text cannot be drawn, keep the last picture, and show the sentence that says what to write instead. It waits
    // for a pause, because a text that is half typed is refused at almost every key.
    const PAUSE = 500;
    let refusals = 0, timer;
    one.refused = error => {
        one.fresh = true;
        refusals += 1;
        clearTimeout(timer);
        timer = setTimeout(() => say(error.trim().split("\n").at(-1).replace(/^[\w.]*CannotDraw: /, "")), PAUSE);
    };

    return {open};

    // The page contains a picture for each position of one control. If two controls have moved, Python draws the
    // picture.
    function beyond() {
        for (const box of one.output.querySelectorAll(".moves"))
            box.beyond = run;
    }

    function fit() {
        text.rows = Math.min(14, Math.max(2, text.value.split("\n").length));
    }

    function say(words) {
        said.textContent = words;
        const example = EXAMPLES.find(one => words.includes(one));
        if (example)
            said.append(" ", element("a", {href: `#${new URLSearchParams({text: example})}`, textContent: `Draw ${example}`}));
        panel.classList.toggle("refused", !!words);
    }

    async function run(at = {}) {
        const before = refusals;
        await draw(`from autograd_course import playground; playground(${JSON.stringify(text.value)}, **${JSON.stringify(at)})`);
        if (refusals === before)
            say("");
    }

    function restore() {
        text.value = textOf(one.ours);
        fit();
        one.output.replaceChildren(...one.before);
        say("");
        draw(null);
    }

    // Show a link's text and controls. Python starts without a click only if the browser has stored it already.
    async function open(link) {
        const {text: given, ...rest} = Object.fromEntries(new URLSearchParams(link));
        const at = Object.entries(rest).filter(([name, value]) => /^[A-Za-z]\w*(\[[\d, ]+\])?$/.test(name) && isFinite(value));
        text.value = given;
        fit();
        const start = () => run(Object.fromEntries(at.map(([name, value]) => [name, Number(value)])));
        const kept = await self.caches?.open("autograd-course").then(cache => cache.keys()).catch(() => []);
        if (kept?.length)
            return start();
        one.output.replaceChildren();
        const ask = pressed("Draw this function", () => { ask.remove(); start(); });
        said.replaceChildren(ask, ` Downloads Python (${Math.ceil(LIVE.bytes / 1e6)} MB, once).`);
    }

    async function copy() {
        const parts = new URLSearchParams({text: text.value});
        for (const control of one.output.querySelectorAll(".moves .control")) {
            const value = control.querySelector("[type=number]")?.value;
            if (value)
                parts.set(control.querySelector("label").textContent, value);
        }
        const address = `${location.href.split("#")[0]}#${parts}`;
        try {
            await navigator.clipboard.writeText(address);
            said.textContent = "Link copied.";
        } catch {
            history.replaceState(null, "", address);
            said.textContent = "The link is in the address bar.";
        }
    }

    async function save(kind) {
        const svg = one.output.querySelector(".view svg");
        if (!svg)
            return;
        const drawing = new Blob([standalone(svg)], {type: "image/svg+xml"});
        const blob = kind === "svg" ? drawing : await bitmap(drawing, svg);
        const link = element("a", {href: URL.createObjectURL(blob), download: `gradients.${kind}`});
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }
}

// Texts that the sentences of the reader give as examples: each gets a link that draws it.
const EXAMPLES = [
    "L = tanh(w*x + b)", "tanh(w*x + b)", "y = x**2 + tanh(3*x)", "y = x**2 + 3*x", "where(x < 1, x**2, 2*x - 1)",
    "where(x > 0, x, 0.1*x)", "F = x**2 + y**2 - 25", "L = a**2 + b**2", "x1**2 + x2**2", "y = x**2", "tanh(x)"];

// Return the text in a cell's source: playground("…") as this script writes it, or with three quotes as in the
// notebook.
function textOf(source) {
    const long = /playground\("""\n?([^]*?)\n?"""/.exec(source), short = /playground\(("(?:[^"\\]|\\.)*")/.exec(source);
    return long ? long[1] : short ? JSON.parse(short[1]) : "";
}

function pressed(text, onclick) {
    return element("button", {type: "button", textContent: text, onclick});
}

// Return an SVG that looks the same as a separate file: the page's colours and fonts are written into each of its
// elements.
const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight"];
function standalone(svg) {
    const copy = svg.cloneNode(true), theirs = svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((part, i) => {
        const look = getComputedStyle(theirs[i]);
        LOOKS.forEach(name => part.style.setProperty(name, look.getPropertyValue(name)));
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.style.background = getComputedStyle(svg).backgroundColor;
    return new XMLSerializer().serializeToString(copy);
}

async function bitmap(drawing, svg) {
    const SHARP = 2, {width, height} = svg.viewBox.baseVal, image = new Image();
    image.src = URL.createObjectURL(drawing);
    await image.decode();
    const canvas = element("canvas", {width: SHARP * width, height: SHARP * height});
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    return new Promise(done => canvas.toBlob(done, "image/png"));
}
