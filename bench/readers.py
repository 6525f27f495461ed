"""Time many readers who open a lesson of the site at the same time.

python bench/readers.py FOLDER 200     FOLDER: make site ARGS="--parts PARTS FOLDER"; aiohttp is in
the extra `bench`

The server is aiohttp's, a plain one for files, in a process of its own on 127.0.0.1. Like static
hosts, it sends text compressed by gzip, an ETag, and `Cache-Control: max-age=600`; readers have six
connections, like browsers.
"""

import asyncio
import gzip
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aiohttp
from aiohttp import web

LESSON = "05_walk_backward.html"
BESIDE = ["site.css", "site.js", "live.css", "live.js"]
BOUND = 240  # seconds for all of a visit


def serve(folder):
    async def ten_minutes(request, response):
        response.headers["Cache-Control"] = "max-age=600"

    async def main():
        app = web.Application()
        app.on_response_prepare.append(ten_minutes)
        app.router.add_static("/", folder)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
        await site.start()
        print(site._server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Event().wait()

    asyncio.run(main())


async def fetch(session, name, tags):
    """Request `name`, and return the number of bytes in the response and its headers."""
    known = {"If-None-Match": tags[name]} if name in tags else {}
    async with session.get(name, headers=known) as answer:
        body = await answer.read()
        assert answer.status == (304 if known else 200), (name, answer.status)
        tags[name] = answer.headers["ETag"]
        return len(body) + sum(len(key) + len(value) + 4 for key, value in answer.raw_headers)


async def visit(port, names, tags):
    """Return (seconds, bytes) of a reader who fetches the first of the names, then the others."""
    begin = time.perf_counter()
    async with aiohttp.ClientSession(
        f"http://127.0.0.1:{port}/",
        auto_decompress=False,
        headers={"Accept-Encoding": "gzip"},
        connector=aiohttp.TCPConnector(limit=6),
        timeout=aiohttp.ClientTimeout(BOUND),
    ) as session:
        size = await fetch(session, names[0], tags)
        size += sum(await asyncio.gather(*[fetch(session, name, tags) for name in names[1:]]))
    return time.perf_counter() - begin, size


async def measure(port, readers, parts):
    for visits, names in [("read", [LESSON, *BESIDE]), ("run", ["worker.js", *parts])]:
        if not names[1:]:
            continue
        kept = [{} for _ in range(readers)]
        not_kept = [name for name in names if not name.endswith(".part")]
        for when, asked in [("at first", names), ("ten minutes later", not_kept)]:
            begin = time.perf_counter()
            seconds, sizes = zip(
                *await asyncio.gather(*[visit(port, asked, tags) for tags in kept])
            )
            whole = time.perf_counter() - begin
            print(
                f"{visits}, {when}: {len(asked)} requests, {sizes[0] / 1e3:,.1f} kB each; "
                f"{readers} at once: median {statistics.median(seconds):.2f} s, "
                f"worst {max(seconds):.2f} s; "
                f"{readers / whole:.0f} readers and {sum(sizes) / whole / 1e6:.0f} MB a second; "
                f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
            )


def main(folder, readers):
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        for path in Path(copy).iterdir():
            if path.suffix in (".html", ".css", ".js"):
                Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), 6))
        server = subprocess.Popen(
            [sys.executable, __file__, "serve", copy], stdout=subprocess.PIPE, text=True
        )
        try:
            port = int(server.stdout.readline())
            asyncio.run(
                measure(port, int(readers), sorted(path.name for path in Path(copy).glob("*.part")))
            )
        finally:
            server.kill()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    serve(sys.argv[2]) if sys.argv[1] == "serve" else main(*sys.argv[1:])
