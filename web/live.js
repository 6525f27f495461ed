// Let the reader edit and run the cells of a page. Python runs in a Web Worker, worker.js, which starts only when the
// reader asks for it. This browser stores the reader's text, cell by cell. A page that is opened from disk, or in a
// browser without Web Workers, stays static.
"use strict";
{
const live = {cells: [], calls: new Map(), asked: 0, era: 0, turn: Promise.resolve(), models: new Map()};
const PAGE = location.pathname.split("/").at(-1).replace(/\.html$/, "") || "index";
// --- The page --------------------------------------------------------------------------------------------------------

function prepare() {
    const kept = document.querySelector("main > .live:empty"), bar = live.bar = kept ?? element("div", {className: "live"});
    const note = live.note = element("span", {className: "live-note"});
    const title = [...document.querySelector("main").children].find(one => one.contains(document.querySelector("h1")));
    if (!kept)
        (document.querySelector(".front") ?? title).after(bar);
    if (location.protocol === "file:") {
        document.body.className = "";       // no text box will take the place of the code
        note.append("To run this page, start a web server in its folder: ",
                    element("code", {textContent: "python -m http.server"}), ". Then open the address it prints.");
        return bar.append(note);
    }
    if (!window.Worker || !window.WebAssembly || !window.DecompressionStream) {
        document.body.className = "";
        return bar.remove();
    }
    live.start = button("Run this page", () => run(live.cells.at(-1)));
    live.start.className = "live-start";
    live.stop = button("Stop", stop);
    live.again = button("Restart", afresh);
    live.progress = element("progress", {max: LIVE.bytes, value: 0});
    live.progress.setAttribute("aria-label", "Progress");
    note.setAttribute("role", "status");
    note.textContent = `Downloads Python (${Math.ceil(LIVE.bytes / 1e6)} MB, once). ` +
                       "You can then edit and run every cell and check your answers.";
    live.solved = element("span", {className: "live-solved"});
    bar.append(live.start, live.stop, live.again, live.progress, live.solved, note);
    document.querySelectorAll(".code_cell").forEach((box, place) => live.cells.push(cell(box, place)));
    const plays = live.cells.filter(one => one.plays).map(one => playground(one, source => {
        write(one, source ?? one.ours);
        return source && run(one);
    }));
    const linked = () => location.hash.startsWith("#text=") && plays[0]?.open(location.hash.slice(1));
    addEventListener("hashchange", linked);
    linked();
    dock();
    look("idle");
    count();
    document.addEventListener("progress-changed", count);
    fetchAhead();
    for (const kind of ["input", "click"])
        addEventListener(kind, ({target}) => target.closest(".live-cell, .live-editor") && warm());
}

// Start Python as soon as the reader focuses an editor or a button of a cell, so that it is ready when they press Run.
// This happens only once: after Stop, or if the network failed, Python starts again only when the reader presses Run.
function warm() {
    if (live.warmed || live.started || navigator.connection?.saveData)
        return;
    live.warmed = live.warming = true;
    begin().then(() => live.bar.dataset.state === "starting" && rest("Python is ready."));
}

// Once the pages are stored for reading offline, store Python too, if this site serves it: no other host gets a request
// before the reader runs a cell. Running a cell ends this download; the parts that have arrived stay stored.
async function fetchAhead() {
    if (!LIVE.beside || (navigator.connection?.effectiveType ?? "4g") !== "4g")
        return;
    await navigator.serviceWorker?.ready;
    if (live.started)
        return;
    live.ahead = new Worker("worker.js");
    live.ahead.onmessage = ({data}) => data.id && live.ahead?.terminate();
    live.ahead.postMessage({id: 1, ask: "fetch", given: []});
}

// On a narrow screen, show Run, Stop and the number of solved exercises at the bottom of the window once the bar is out
// of sight.
function dock() {
    const dock = live.dock = element("div", {className: "live-dock", hidden: true});
    live.dockRun = button("", () => (live.start.hidden ? live.stop : live.start).click());
    live.dockSolved = element("span");
    dock.append(live.dockRun, live.dockSolved);
    live.bar.after(dock);
    // Elements below the window count as visible, so that only a bar above the window is treated as out of sight.
    new IntersectionObserver(([{isIntersecting}]) => { dock.hidden = isIntersecting; }, {rootMargin: "0px 0px 1000000px"})
        .observe(live.bar);
}

// Show in the bar and in the dock how many of the page's exercises are solved.
function count() {
    const all = live.cells.map(one => one.exercise).filter(Boolean), solved = progress().exercises;
    const words = `${all.filter(name => solved.includes(name)).length} of ${all.length} exercise${all.length === 1 ? "" : "s"}`;
    for (const place of [live.solved, live.dockSolved])
        place.textContent = all.length ? words : "";
}

// Set the state of the bar: "idle" before Python is loaded, then "starting", "running", "ready" or "failed".
function look(state) {
    live.bar.dataset.state = state;
    live.start.hidden = state === "running" || state === "starting" && !live.warming;
    live.start.textContent = live.cells.some(one => one.ran !== null) ? "Run all" : "Run this page";
    live.stop.hidden = live.progress.hidden = state !== "starting" && state !== "running";
    live.again.hidden = state !== "ready";
    live.dockRun.textContent = (live.start.hidden ? live.stop : live.start).textContent;
}

function button(text, act) {
    return element("button", {type: "button", textContent: text, onclick: act});
}

// --- A cell ----------------------------------------------------------------------------------------------------------

// On a phone, a comment that is aligned far to the right would wrap after its "#", so it follows its line closely.
const NARROW = matchMedia("(max-width: 30rem)").matches;
const compact = text => text.replace(/(\S) {3,}#/g, "$1  #");

function cell(box, place) {
    const id = box.id.replace("cell-id=", ""), hidden = box.querySelector("[data-source]")?.dataset.source;
    const written = (hidden ?? box.querySelector(".input_area pre").textContent).trim();
    const ours = NARROW && id.endsWith("-stub") ? compact(written) : written;
    const own = element("span", {className: "live-cell"}), key = `${WORK}${PAGE}/${id}`;
    const one = {id, place, box, ours, own, key, text: ours, ran: null,
                 plays: /^playground\(/.test(ours),       // playground.js makes a text box of it
                 asks: !!hidden && !!box.querySelector(".ask, .derive")};       // a question that the page itself judges
    const kept = read(key);
    const check = /^check\("([^"]+)/m.exec(ours);
    const shows = /^progress\(/.test(ours);      // the reader's record, which changes: nothing to answer, and never the last run
    const does = hidden && !shows ? "Answer" : "Run";
    one.once = !!hidden && !shows;
    one.whole = /^(read|delete_lines|yours_and_ours|patients)\(/.test(hidden);      // a picture, and nothing to answer
    one.button = button(does, () => run(one.check ?? one));
    one.button.setAttribute("aria-label", `${does}, cell ${place + 1}`);
    one.mine = button("", () => swap(one));
    one.edit = button("Edit", () => edit(one).focus());
    one.status = element("span", {className: "live-status"});
    own.append(one.button, ...hidden ? [] : [one.edit, one.mine], one.status);
    if (!box.querySelector(".output_wrapper"))
        box.append(element("div", {className: "output_wrapper"}));
    one.output = box.querySelector(".output_wrapper");
    if (!one.asks)
        one.output.before(own);
    if (check) {
        one.exercise = check[1];
        one.output.querySelector(".note")?.replaceChildren(...progress().exercises.includes(check[1])
            ? ["✓ You have already solved this."]
            : ["Replace the ", element("code", {textContent: "..."}), " above with your answer, then press Check."]);
        one.stub = live.cells.at(-1);
        one.stub.check = one;
        // The button of the answer also runs the check below it, because a reader wants both; so the code of the check
        // is folded.
        Object.assign(one.stub.button, {textContent: "Check", className: "live-check"});
        one.stub.button.setAttribute("aria-label", `Check, cell ${one.stub.place + 1}`);
        const fold = folded("Code of the check", box.querySelector(".input"));
        own.replaceChildren(one.edit, one.mine);
        fold.append(own);
        one.output.after(fold);
        one.status = one.stub.status;
        box.classList.add("live-verdict");
    }
    for (const note of one.output.querySelectorAll("[data-live]"))      // it named JupyterLab, for pages that run nothing
        note.textContent = note.dataset.live.replace("press Answer", `press ${does}`);
    one.before = [...one.output.childNodes];
    if (kept) {
        show(one, kept.text);
        one.status.textContent = compact(kept.ours) === compact(ours) ? ""
            : "The lesson's version of this cell has changed since you edited it.";
    } else if (id.endsWith("-stub"))
        edit(one);
    follow(one);
    return one;
}

// Return true if a text box can indent only what is wrapped. Chromium 156 indents every line but the first. The style is
// given here, because the style sheet may still be loading.
function hangs() {
    const box = element("textarea", {value: "a\nbbbbbbbb", rows: 1});
    box.style = "width: 10ch; padding: 0; border: 0; overflow: hidden; font: 16px/24px monospace; white-space: pre-wrap; " +
                "overflow-wrap: anywhere; text-indent: 4ch hanging each-line";
    document.body.append(box);
    const lines = box.scrollHeight / 24;
    box.remove();
    return lines < 2.5;
}

const HOW_TO_LEAVE = "Shift+Enter runs the cell. Tab indents. To leave the editor, press Escape, then Tab.";

// Replace the code by an editor: a plain text box, which works on every phone, over a coloured copy of its text.
function edit(one) {
    if (one.editor)
        return one.editor;
    const area = one.box.querySelector(".input_area"), shade = element("pre");
    const box = element("textarea", {value: one.text});
    Object.assign(box, {spellcheck: false, autocomplete: "off", autocapitalize: "off", rows: 1});
    box.setAttribute("aria-label", `code of cell ${one.place + 1}`);
    box.setAttribute("aria-description", HOW_TO_LEAVE);
    shade.setAttribute("aria-hidden", "true");
    area.classList.add("live-editor");
    area.classList.toggle("live-hanging", live.hangs ??= hangs());
    area.replaceChildren(shade, box);
    area.after(element("p", {className: "note live-keys", textContent: HOW_TO_LEAVE}));
    box.oninput = () => write(one, box.value);
    box.onkeydown = event => typed(event, box, one);
    box.onbeforeinput = event => changes(event, box);
    Object.assign(one, {editor: box, shade});
    one.box.querySelector("details:has(> .input)")?.setAttribute("open", "");
    follow(one);
    return box;
}

function write(one, text) {
    show(one, text);
    keep(one.key, text.trim() === one.ours ? null : JSON.stringify({text, ours: one.ours}));
    offer();
}

function show(one, text) {
    one.text = text;
    const editor = edit(one);
    if (editor.value !== text)
        editor.value = text;
    follow(one);
}

// Show our original text in place of the reader's text, and switch back.
function swap(one) {
    const text = one.text.trim() === one.ours ? one.aside : one.ours;
    one.aside = one.text;
    write(one, text);
    one.editor.focus();
}

// Take over the text that another tab has written into the same cell.
addEventListener("storage", ({key}) => {
    const one = live.cells.find(other => other.key === key);
    if (one)
        show(one, read(key)?.text ?? one.ours);
    offer();
});

function follow(one) {
    one.edit.hidden = !!one.editor;
    one.button.hidden = one.whole || one.once && one.ran !== null;
    const same = one.text.trim() === one.ours;
    one.mine.hidden = same && !one.aside;
    one.mine.textContent = same ? "Restore my version" : "Restore original";
    if (one.shade)
        one.shade.innerHTML = `${coloured(one.text)}\n`;
    one.box.classList.toggle("live-stale", one.ran !== null && one.ran !== one.text);
}

const WORDS = "and as assert break class continue def del elif else except False finally for from global if import in " +
              "is lambda None nonlocal not or pass raise return True try while with yield";
const STRING = /"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/;
const TOKEN = new RegExp(`(#.*)|([rfb]{0,2}(?:${STRING.source}))|\\b(${WORDS.replaceAll(" ", "|")})\\b|[&<>]`, "g");
function coloured(text) {
    const safe = words => words.replace(/[&<>]/g, sign => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[sign]);
    return text.replace(TOKEN, (all, remark, string, word) => {
        const kind = remark ? "c1" : string ? "s1" : word ? "k" : "";
        return kind ? `<span class="${kind}">${safe(all)}</span>` : safe(all);
    });
}

// Insert text through execCommand, because this keeps the browser's undo history intact.
const insert = text => document.execCommand("insertText", false, text);
let leaving = false;
function typed(event, box, one) {
    const {key, shiftKey, ctrlKey, metaKey} = event, from = box.selectionStart;
    if (key === "Enter" && (shiftKey || ctrlKey || metaKey))
        run(one.check ?? one);
    else if (key === "Tab" && !leaving && !ctrlKey && !metaKey) {
        const start = box.value.lastIndexOf("\n", from - 1) + 1, end = box.selectionEnd;
        if (from === end && !shiftKey)
            insert(" ".repeat(4 - (from - start) % 4));
        else {
            const lines = box.value.slice(start, end).split("\n");
            const moved = lines.map(one => shiftKey ? one.replace(/^ {1,4}/, "") : `    ${one}`);
            box.setSelectionRange(start, end);
            insert(moved.join("\n"));
            const by = moved.join("\n").length - lines.join("\n").length, first = moved[0].length - lines[0].length;
            box.setSelectionRange(Math.max(start, from + first), end + by);
        }
    } else {
        leaving = key === "Escape" || leaving && key === "Shift";
        return;
    }
    leaving = false;
    event.preventDefault();
}

// Indent a new line like the line before it, or further after a colon; Backspace removes one indent. This event is used
// because phones send no key events.
function changes(event, box) {
    const from = box.selectionStart, line = /[^\n]*$/.exec(box.value.slice(0, from))[0], indent = /^ */.exec(line)[0];
    if (event.inputType === "insertLineBreak") {
        event.preventDefault();
        insert(`\n${indent}${/:\s*(#.*)?$/.test(line) ? "    " : ""}`);
    } else if (event.inputType === "deleteContentBackward" && from === box.selectionEnd && line && line === indent) {
        event.preventDefault();     // WebKit would delete what was selected before
        box.setSelectionRange(from - ((line.length - 1) % 4 + 1), from);
        document.execCommand("delete");
    }
}

// --- Python ----------------------------------------------------------------------------------------------------------

function ask(what, ...given) {
    return new Promise(done => {
        live.calls.set(++live.asked, done);
        live.worker.postMessage({id: live.asked, ask: what, given});
    });
}

function begin() {
    return live.started ??= (async () => {
        live.ahead?.terminate();
        const worker = live.worker = new Worker("worker.js"), began = performance.now();
        let loaded = 0;
        // An error event without a message means that the script itself could not be fetched.
        worker.onerror = event => { event.preventDefault(); ended(worker, event.message ?? "offline"); };
        worker.onmessage = ({data}) => {
            if (worker !== live.worker)
                return;
            if (data.dead)
                return ended(worker, data.dead);
            if (data.id) {
                live.calls.get(data.id)?.(data);
                live.calls.delete(data.id);
            } else if (data.loaded) {
                live.progress.value = loaded += data.loaded;
                live.note.ariaBusy = loaded < LIVE.bytes;        // a screen reader need not say every step
                live.note.textContent = loaded < LIVE.bytes ? fetched(loaded, performance.now() - began) : "Starting Python …";
            } else
                hear(data);
        };
        look("starting");
        live.progress.max = LIVE.bytes;
        live.note.textContent = fetched(0, 0);
        live.told = JSON.stringify(progress());
        take(await ask("start", live.told, JSON.stringify(work())));
    })();
}

// Show how much of Python has arrived, and estimate the remaining seconds once a second has passed.
function fetched(bytes, milliseconds) {
    const left = milliseconds > 1000 && bytes ? Math.ceil(milliseconds / 1000 * (LIVE.bytes / bytes - 1)) : 0;
    return `Downloading Python: ${(bytes / 1e6).toFixed(1)} of ${(LIVE.bytes / 1e6).toFixed(1)} MB` +
           (left ? `, about ${left} s left` : " …");
}

// Python has ended, by Stop or by an error. Start a new one at once; the reader's text stays, and cells run again when
// they are needed.
function ended(worker, why) {
    const running = live.running, starting = live.bar.dataset.state === "starting";
    worker.terminate();
    live.era += 1;
    live.calls.forEach(done => done({gone: true}));
    live.calls.clear();
    live.models.clear();
    live.started = live.running = undefined;
    live.cells.forEach(one => { one.ran = null; follow(one); });
    if (running) {
        running.status.textContent = "";
        put(running, {error: /call stack/.test(why) ? "Infinite recursion: Python stopped and was restarted. Your answers are safe." : why});
        refuse(running);
    }
    if (starting) {
        look("failed");
        live.note.textContent = why === STOPPED ? "Stopped. Press Run to start Python."
            : why === "offline" ? "Python could not be downloaded because the network did not respond. Press Run again when you are connected."
            : `Python could not start: ${why}`;
        return;
    }
    begin().then(() => live.bar.dataset.state === "failed" || rest("Python restarted. Your answers are still here."));
}

const STOPPED = "Stopped. The cells above will rerun when you next run a cell.";
function stop() {
    ended(live.worker, STOPPED);
}

function afresh() {
    live.cells.forEach(one => { one.output.replaceChildren(...one.before); one.status.textContent = ""; });
    ended(live.worker, "");
}

function rest(words) {
    look("ready");
    live.note.textContent = words;
}

// Run the cells above that are new or changed, and then the cell itself. Requests are queued, so that only one cell
// runs at a time.
function run(one) {
    const era = live.era;
    return live.turn = live.turn.then(async () => {
        if (era !== live.era)
            return;
        const first = performance.now();
        live.warming = false;
        if (live.bar.dataset.state === "starting")
            look("starting");
        await begin();
        if (!live.worker || live.bar.dataset.state === "failed")
            return;
        look("running");
        live.note.textContent = "Running …";
        live.progress.max = 1;
        const ahead = live.cells.slice(0, one.place + 1)
            .filter(other => other === one || !other.asks && !(one.plays && other.plays) && other.ran !== other.text);
        const wrong = [], lacking = new Map();
        for (const [i, other] of ahead.entries()) {
            live.progress.value = i / ahead.length;
            if (wrong.includes(other.stub))
                continue;
            const {gone, ok, absent} = await single(other);
            if (gone)
                return;
            if (absent)
                lacking.set(absent, (lacking.get(absent) ?? 0) + 1);
            else if (!ok) {
                wrong.push(other);
                refuse(other);
            }
        }
        live.bar.dataset.seconds = ((performance.now() - first) / 1000).toFixed(2);
        rest(`Ran ${ahead.length} cell${ahead.length === 1 ? "" : "s"}. `);
        if (wrong.length)
            live.note.append(element("a", {href: `#${wrong[0].box.id}`,
                                           textContent: `${wrong.length} raised an error`}), ". ");
        for (const [name, number] of lacking)
            live.note.append(`${number} need${number === 1 ? "s" : ""} ${name}, which is not available in the browser, ` +
                             "so the recorded results are shown. ");
    });
}

// If an answer raises an error, the check below it shows no verdict, because the verdict would be about an earlier
// answer.
function refuse(stub) {
    live.cells.filter(one => one.stub === stub).forEach(one => {
        one.fresh = false;
        put(one, {error: "The answer above raised an error. Fix it first."});
    });
}

async function single(one) {
    const text = one.text, chosen = [...one.output.querySelectorAll(".ask :checked")].map(radio => radio.value);
    live.running = one;
    one.fresh = false;
    one.status.textContent = "running …";
    one.box.classList.add("live-running");
    const answer = await ask("run", one.id, text, ...told());
    one.box.classList.remove("live-running");
    if (answer.gone)
        return answer;
    live.running = undefined;
    one.status.textContent = "";
    one.ran = answer.ok ? text : null;      // after an error it is tried again
    if (answer.absent && text.trim() !== one.ours)
        answer.absent = null;
    if (!one.fresh)
        one.output.replaceChildren();
    for (const radio of one.output.querySelectorAll(".live-view [type=radio]"))     // what the page's own question had
        if (chosen.includes(radio.value))
            radio.click();
    if (answer.error)
        put(one, {error: answer.error});
    take(answer);
    follow(one);
    return answer;
}

// Keep the learner's record in this browser and in Python in step: each side tells the other when the record has
// changed.
function told() {
    const now = JSON.stringify(progress());
    return now === live.told ? [] : [live.told = now];
}

function take(answer) {
    if (!answer.progress)
        return;
    live.told = answer.progress;
    const found = JSON.parse(answer.progress);
    change(kept => Object.assign(kept, found, {predictions: {...kept.predictions, ...found.predictions}}));
}

function hear({cell: id, output, clear, widget, state, content}) {
    const one = live.cells.find(other => other.id === id);
    if (widget)
        return heard(widget, state, content);
    if (clear)
        return one.output.replaceChildren();
    put(one, output);
}

// --- What a cell shows -----------------------------------------------------------------------------------------------

function put(one, output) {
    if (one.refused && output.error !== undefined)
        return one.refused(output.error);
    if (output.absent && !one.fresh && one.text.trim() === one.ours) {
        one.fresh = true;
        const textContent = `This needs ${output.absent}, which is not available in the browser. Showing a recorded result.`;
        return one.output.replaceChildren(element("p", {className: "note", textContent}), ...one.before);
    }
    if (!one.fresh)
        one.output.replaceChildren();
    one.fresh = true;
    const last = one.output.lastElementChild;
    if (output.text !== undefined) {
        const into = last?.matches(".live-text") ? last.firstChild : element("pre");
        into.written = ((into.written ?? "") + output.text).replace(/[^\n]*\r(?!\n)/g, "");
        into.textContent = into.written.replace(/\n$/, "");
        if (into.parentNode !== last || !last)
            add("live-text output_text", into);
    } else if (output.error !== undefined) {
        add("live-error", element("pre", {textContent: output.error.replace(/\n$/, "")}),
            ...output.all ? [folded("Full traceback", element("pre", {textContent: output.all}))] : []);
    } else if (output.moves)
        add("", moves(output.moves, one));
    else if (output.widget)
        add("live-widget", view(output.widget, one));
    else
        add("output_html", element("div", {innerHTML: output.html}));
    tidy(one.output);

    function add(kind, ...inside) {
        const area = element("div", {className: `output_area ${kind}`});
        area.append(...inside);
        one.output.append(area);
    }
}

function folded(title, content) {
    const fold = element("details");
    fold.append(element("summary", {textContent: title}), content);
    return fold;
}

function tidy(root) {
    for (const link of root.querySelectorAll('a[href*=".ipynb"]'))
        link.setAttribute("href", link.getAttribute("href").replace(/\.ipynb(?=$|#)/, ".html"));
    reachable(root);
}

// Show an explorer with the controls that site.js creates and pictures that the worker draws.
function moves({key, controls, html, text, says_all: saysAll, below}, one) {
    const era = live.era;
    let place;
    const box = element("div", {className: "moves", id: `live-${key}`});
    const words = element("pre", {className: "words", textContent: text});
    const view = element("div", {className: "view", innerHTML: html}), news = element("div", {className: "news"});
    news.setAttribute("aria-live", "polite");
    box.dataset.controls = JSON.stringify({controls, together: true});
    box.dataset.link = linkName(one.box, one.output.querySelectorAll(".moves").length);
    box.append(element("div", {className: "controls"}), view);
    box.append(element("div", {innerHTML: below}), saysAll ? folded("Text description", words) : words, news);
    attach(box, async at => {
        if (era !== live.era)
            return again(at);
        const from = performance.now(), made = await ask("move", key, JSON.stringify(at));
        box.dataset.took = Math.round(performance.now() - from);
        return made.gone ? [view.innerHTML, words.textContent]
            : made.error ? [folded("Full traceback", element("pre", {textContent: made.error})).outerHTML, ""]
            : [made.html, made.text];
    });
    return box;

    // The Python process that drew this picture has ended, so run the cell in the new one and move its new picture.
    async function again(at) {
        place ??= [...one.output.querySelectorAll(".moves")].indexOf(box);
        const focused = [...box.querySelectorAll("input, select, button")].indexOf(document.activeElement);
        if (box.isConnected)
            await run(one);
        const next = one.output.querySelectorAll(".moves")[place];
        if (next?.go && next !== box) {
            if (focused >= 0)
                next.querySelectorAll("input, select, button")[focused]?.focus();
            await next.go(at);
        }
        return [view.innerHTML, words.textContent];
    }
}

// Show ipywidgets: the worker sends their state, and there is a view for each kind that the course uses.
function heard(id, state, content) {
    const model = live.models.get(id) ?? {id, state: {}, views: []};
    live.models.set(id, model);
    Object.assign(model.state, state);
    if (state)
        model.views.forEach(redraw => redraw());
    if (content?.do === "focus")
        model.focus?.();
}

function view(id, one) {
    const model = live.models.get(id), s = model.state, kind = s._model_name.replace("Model", "");
    const inner = reference => live.models.get(reference.replace("IPY_MODEL_", ""));
    const era = live.era;
    // The Python process that created this widget may have ended; in that case run the cell in the new one.
    const send = data => era === live.era ? ask("event", one.id, JSON.stringify({widget: id, ...data}), ...told()).then(take)
                                          : whole.isConnected && run(one);
    const set = state => { Object.assign(s, state); send({state}); };
    const whole = element("div", {className: "live-view"});
    let redraw = () => {};

    function labelled(control) {
        control.id = `live-${id}`;
        whole.append(element("label", {htmlFor: control.id, textContent: s.description}), control);
        if (!s.description)
            control.setAttribute("aria-label", s.tooltip ?? s.placeholder ?? kind);
        model.focus = () => control.focus();
        return control;
    }

    if (s.children) {
        whole.className += ` live-${kind.toLowerCase()}`;
        let shown;
        redraw = () => {
            if (shown !== s.children.join())
                whole.replaceChildren(...s.children.map(child => view(inner(child).id, one)));
            shown = s.children.join();
        };
    } else if (/^HTML/.test(kind)) {
        let shown;
        whole.className += " widget-html";
        redraw = () => { if (shown !== s.value) { whole.innerHTML = shown = s.value; tidy(whole); } };
    } else if (kind === "Button" || kind === "ToggleButton") {
        const press = button("", () => kind === "Button" ? send({content: {event: "click"}}) : set({value: !s.value}));
        whole.append(press);
        model.focus = () => press.focus();
        redraw = () => {
            press.textContent = s.description;
            press.className = kind === "Button" ? "" : `widget-toggle-button ${s.value ? "mod-active" : ""}`;
            if (s.tooltip)
                press.setAttribute("aria-label", s.tooltip);
            if (kind === "ToggleButton")
                press.setAttribute("aria-pressed", s.value);
        };
    } else if (kind === "RadioButtons") {
        const {row, get, set: check} = chosen(s.description, s._options_labels, `live-${id}`);
        whole.append(row);
        row.onchange = () => set({index: s._options_labels.indexOf(get())});
        redraw = () => check(s._options_labels[s.index] ?? "");
    } else if (kind === "Dropdown" || kind === "SelectionSlider") {
        const choice = labelled(element("select"));
        choice.append(...s._options_labels.map(textContent => element("option", {textContent})));
        choice.onchange = () => set({index: choice.selectedIndex});
        redraw = () => choice.selectedIndex = s.index ?? -1;
    } else if (kind === "Checkbox") {
        const box = labelled(element("input", {type: "checkbox"}));
        whole.prepend(box);
        box.onchange = () => set({value: box.checked});
        redraw = () => box.checked = s.value;
    } else if (/Slider$|^Bounded/.test(kind)) {
        const type = /Slider/.test(kind) ? "range" : "number";
        const number = labelled(element("input", {type, autocomplete: "off"}));
        number.oninput = () => number.value !== "" && set({value: +number.value});
        redraw = () => Object.assign(number, {min: s.min, max: s.max, step: s.step, value: s.value});
    } else if (kind === "Text" || kind === "Textarea") {
        const tag = kind === "Text" ? "input" : "textarea";
        const box = labelled(element(tag, {autocomplete: "off", placeholder: s.placeholder}));
        if (kind === "Textarea")
            box.rows = s.rows ?? 4;
        box.oninput = () => set({value: box.value});
        box.onkeydown = event => { if (event.key === "Enter" && kind === "Text") send({content: {event: "submit"}}); };
        redraw = () => { if (box.value !== s.value) box.value = s.value; };
    }
    const layout = s.layout && inner(s.layout);
    const every = () => {
        redraw();
        whole.classList.add(...s._dom_classes ?? []);
        if (!s.children)
            whole.querySelectorAll("input, select, textarea, button, fieldset")
                .forEach(control => { control.disabled = !!s.disabled; });
        for (const [name, value] of Object.entries(layout?.state ?? {}))
            if (!name.startsWith("_"))
                whole.style.setProperty(name.replaceAll("_", "-"), value ?? "");
    };
    model.views.push(every);
    layout?.views.push(every);
    every();
    return whole;
}

if (document.querySelector(".code_cell"))
    prepare();
}
