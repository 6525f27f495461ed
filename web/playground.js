// The cells of the playground's page: a text box in the place of the code, whose function is drawn while it is typed.
// What is typed, and what a link brings, is data: it goes to Python inside a string, and autograd_course/play reads it as
// arithmetic. A link carries the text and the controls: playground.html#text=tanh(w*x)&w=2&step=3.
"use strict";

// Called by live.js for each such cell, with `draw(source)`, which writes a cell's source and runs it.
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

    let timer;
    text.oninput = () => {
        fit();
        clearTimeout(timer);
        timer = setTimeout(run, 400);
    };

    // A text that cannot be drawn: the sentence that says what to write instead; the picture of the last one stays.
    one.refused = error => {
        one.fresh = true;
        said.textContent = error.trim().split("\n").at(-1).replace(/^[\w.]*CannotDraw: /, "");
        panel.classList.add("refused");
    };

    return {open};

    // The page has a picture for each place of one control. For places of two at once Python draws.
    function beyond() {
        for (const box of one.output.querySelectorAll(".moves"))
            box.beyond = run;
    }

    function fit() {
        text.rows = Math.min(14, Math.max(2, text.value.split("\n").length));
    }

    async function run(at = {}) {
        said.textContent = "";
        panel.classList.remove("refused");
        await draw(`from autograd_course import playground; playground(${JSON.stringify(text.value)}, **${JSON.stringify(at)})`);
    }

    function restore() {
        text.value = textOf(one.ours);
        fit();
        one.output.replaceChildren(...one.before);
        said.textContent = "";
        panel.classList.remove("refused");
        draw(null);
    }

    // A link's text and controls. Python comes unasked only where the browser keeps it already.
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
            said.textContent = "The link is in the clipboard.";
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

// The text of a cell's source: playground("…") as this script writes it, or with three quotes as the notebook does.
function textOf(source) {
    const long = /playground\("""\n?([^]*?)\n?"""/.exec(source), short = /playground\(("(?:[^"\\]|\\.)*")/.exec(source);
    return long ? long[1] : short ? JSON.parse(short[1]) : "";
}

function pressed(text, onclick) {
    return element("button", {type: "button", textContent: text, onclick});
}

// An SVG that looks the same in a file of its own: the page's colours and letters are written into each of its elements.
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
