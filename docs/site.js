// What moves on the pages of `make site`: sliders, and no kernel. Every picture is in the page already, packed by
// docs/frames.py; this attaches the controls, and puts the picture of their place where the first one stands.
"use strict";

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const near = new IntersectionObserver(seen => seen.filter(one => one.isIntersecting).forEach(one => one.target.load()),
                                      {rootMargin: "600px"});
document.querySelectorAll(".moves").forEach(attach);

function attach(box) {
    const {controls, together} = JSON.parse(box.dataset.controls);
    const view = box.querySelector(".view"), words = box.querySelector(".words"), news = box.querySelector(".news");
    const at = controls.map(control => control.start);
    const playing = new Set();
    let frames, shown = place(), said = words.textContent;

    // Unpacked once, when the box comes near the window or somebody moves a slider.
    box.load = () => frames ??= unpack(box.querySelector("script").textContent);
    near.observe(box);
    const rows = controls.map((control, number) => row(control, number));
    box.querySelector(".controls").append(...rows);

    // The number of the place in the list of places, in the order of `packed`.
    function place() {
        if (together)
            return controls.reduce((sum, control, i) => sum * control.values.length + at[i], 0);
        const moved = controls.findIndex((control, i) => at[i] !== control.start), i = Math.max(moved, 0);
        return controls.slice(0, i).reduce((sum, control) => sum + control.values.length, 0) + at[i];
    }

    async function show() {
        const {pieces, frames: pictures, at: which} = await box.load();
        if (shown !== place()) {
            shown = place();
            const [drawing, text] = pictures[which[shown]].map(frame => frame.map(piece => pieces[piece]).join(""));
            const aside = [...view.querySelectorAll("*")].map(one => one.scrollLeft);
            view.innerHTML = drawing;
            if (aside.some(Boolean))
                view.querySelectorAll("*").forEach((one, i) => one.scrollLeft = aside[i] ?? 0);
            words.textContent = text;
            box.dataset.place = shown;
        }
        if (!playing.size)
            say();
    }

    // A screen reader hears the lines that have changed, while frames play only once they stop.
    function say() {
        const before = said.split("\n");
        if (said !== words.textContent)
            news.textContent = words.textContent.split("\n").filter(line => !before.includes(line)).join("\n");
        said = words.textContent;
    }

    function move(number, to) {
        at[number] = Math.min(Math.max(to, 0), controls[number].values.length - 1);
        if (!together)
            controls.forEach((control, i) => at[i] = i === number ? at[i] : control.start);
        rows.forEach(row => row.follow());
        return show();
    }

    function row({name, values, numbers, pace}, number) {
        const id = `${box.id}-${number}`, row = element("div", {className: "control"});
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
            row.append(label, typed, slider);
            if (pace)
                row.append(...player(number, name, values, pace));
            row.follow = () => {
                slider.value = at[number];
                slider.setAttribute("aria-valuetext", `${name} = ${values[at[number]]}`);
                typed.value = values[at[number]];
            };
        }
        row.follow();
        return row;
    }

    function player(number, name, values, pace) {
        const button = (text, title, act) => {
            const made = element("button", {type: "button", textContent: text, title, onclick: act});
            made.setAttribute("aria-label", title);
            return made;
        };
        const last = values.length - 1;
        let timer;
        const play = button("▶ play", `play ${name}`, () => timer ? stop() : start());
        function start() {
            playing.add(number);
            play.textContent = "⏸ pause";
            play.setAttribute("aria-label", `pause ${name}`);
            if (at[number] === last)
                move(number, 0);
            timer = setInterval(() => move(number, at[number] + 1).then(() => timer && at[number] === last && stop()), pace);
        }
        function stop() {
            clearInterval(timer);
            timer = undefined;
            playing.delete(number);
            play.textContent = "▶ play";
            play.setAttribute("aria-label", `play ${name}`);
            say();
        }
        const steps = [["−", -1, "back"], ["+", 1, "on"]].map(([sign, by, way]) =>
            button(sign, `one step ${way}: ${name}`, () => { if (timer) stop(); move(number, at[number] + by); }));
        return calm.matches ? steps : [play, ...steps];       // who wants no motion steps
    }
}

async function unpack(base64) {
    const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function nearest(values, typed) {
    const off = values.map(value => Math.abs(value - typed));
    return off.indexOf(Math.min(...off));
}

function element(tag, properties) {
    return Object.assign(document.createElement(tag), properties);
}
