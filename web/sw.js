// A service worker, so that the course opens without a network once a reader has visited one page. `make site` puts FILES
// before this: {name: sha256} of each page, script, style and icon. Python's own parts are kept by worker.js.
"use strict";
const CACHE = "autograd-course pages", PATIENCE = 3000;      // milliseconds that a page waits for the network
let offlineUntil = 0;       // after a failed request, pages do not wait for the network until then

addEventListener("install", event => {
    skipWaiting();
    event.waitUntil(keep());
});
addEventListener("activate", event => event.waitUntil(forget()));
addEventListener("fetch", event => {
    const name = nameOf(event.request);
    if (name)
        event.respondWith(answer(event.request, name));
});

// Return the name of the requested file, or undefined if it is not in FILES.
function nameOf({method, url}) {
    const {scope} = registration, [path] = url.split(/[?#]/);
    const name = path.slice(scope.length) || "index.html";
    return method === "GET" && path.startsWith(scope) ? [name, `${name}.html`].find(one => Object.hasOwn(FILES, one)) : undefined;
}

function address(sha256) {
    return new URL(`kept/${sha256}`, registration.scope).href;
}

// Fetch the new files of this edition one at a time, so that the reader's own requests come first. An interrupted
// installation continues at the next visit.
async function keep() {
    const kept = await caches.open(CACHE);
    for (const [name, sha256] of Object.entries(FILES))
        if (!await kept.match(address(sha256))) {
            const found = await fetch(name, {cache: "no-cache", priority: "low"}), content = await found.arrayBuffer();
            if (await hash(content) !== sha256)
                throw new Error(`${name} is not the file of this edition`);      // the site is being replaced just now
            const headers = {"Content-Type": found.headers.get("Content-Type")};
            await kept.put(address(sha256), new Response(content, {headers}));
        }
}

// Delete the files of earlier editions.
async function forget() {
    const kept = await caches.open(CACHE), current = Object.values(FILES).map(address);
    const old = (await kept.keys()).filter(({url}) => !current.includes(url));
    await Promise.all(old.map(one => kept.delete(one)));
}

// Return the file from the network, so that a page and its scripts belong to the same, newest edition; without a
// network, return the stored file.
async function answer(request, name) {
    const network = Date.now() < offlineUntil ? Promise.reject(new TypeError("offline")) : fetch(request);
    const late = new Promise((_, failed) => setTimeout(failed, PATIENCE));
    network.catch(() => {});
    late.catch(() => {});
    try {
        return await Promise.race([network, late]);
    } catch {
        offlineUntil = Date.now() + 10 * PATIENCE;
        const kept = await caches.open(CACHE);
        return await kept.match(address(FILES[name])) ?? network;
    }
}

async function hash(bytes) {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return [...digest].map(byte => byte.toString(16).padStart(2, "0")).join("");
}
