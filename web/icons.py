"""Define ICONS, which maps the number of every lesson to its picture in the list of lessons.

A picture is an SVG of 72 × 40 px. The key of a path in _PATHS is its class in site.css: paths with
the keys v, g and t have the colours and dashes of a value, a gradient and a tangent, i is ink, o is
another engine, and f is filled.
"""


def _dots(places, size=3):
    half = f"a{size} {size} 0 1 1"
    return "".join(f"M{x - size} {y}{half} {2 * size} 0{half} {-2 * size} 0z" for x, y in places)


def _boxes(places, wide=8, high=8):
    return "".join(f"M{x} {y}h{wide}v{high}h{-wide}z" for x, y in places)


_GRID = [(16 + 10 * c, 10 * r) for r in range(4) for c in range(4)]
_PATHS = {
    "00": {"f": _boxes([(16, 6)], 14, 32), "g": _boxes([(42, 20)], 14, 18)},
    "01": {"v": "M4 36Q40 36 68 4", "i": "M24 38L66 8", "f": _dots([(33, 31), (58, 14)])},
    "02": {"i": _boxes([(4, 4), (4, 26), (50, 15)], 18, 10), "v": "M22 9L49 18M22 31L49 22"},
    "03": {"v": _boxes([(12, 14)], 34, 24), "g": "M46 14h12v24h-12M12 14v-10h34v10"},
    "04": {"v": "M4 36C34 36 38 4 68 4", "t": "M22 38L50 2"},
    "05": {"i": _boxes([(4, 14), (50, 14)], 18, 12), "g": "M49 20H24M31 14L24 20L31 26"},
    "06": {
        "v": "M6 36C20 2 44 40 66 6",
        "f": _dots([(16, 8), (26, 6), (40, 10)]),
        "i": _boxes([(34, 30), (46, 28), (58, 26)], 6, 6),
    },
    "07": {"i": "M4 4C16 34 34 36 68 36", "o": "M4 4C30 6 34 34 68 28"},
    "08": {
        "v": _boxes([(12, 2), (28, 2), (44, 2)], 14, 9),
        "g": "M19 14v22M35 14v22M51 14v22M15 31l4 5l4 -5M31 31l4 5l4 -5M47 31l4 5l4 -5",
    },
    "09": {
        "v": _boxes([(32, 2)], 28, 12) + _boxes([(12, 18)], 16, 20),
        "i": _boxes([(32, 18)], 28, 20),
    },
    "10": {"f": _boxes([(10, 30)], 12, 8) + _boxes([(30, 4)], 12, 34) + _boxes([(50, 24)], 12, 14)},
    "11": {
        "i": "M36 20m-32 0a32 17 0 1 0 64 0a32 17 0 1 0 -64 0M36 20m-16 0a16 8 0 1 0 32 0a16 8 0 1 0 -32 0",
        "v": "M8 12L18 27L25 14L30 24L34 18",
    },
    "12": {"f": _boxes([(28, 2), (36, 2), (44, 8), (36, 16), (44, 24), (28, 32), (36, 32)])},
    "13": {"v": "M4 20C10 0 18 0 24 20S38 40 44 20S58 0 66 16", "f": _dots([(24, 20), (44, 20)])},
    "14": {
        "i": _boxes(_GRID, 10, 10),
        "f": _boxes([(26, 10), (36, 10), (26, 20), (36, 20)], 10, 10),
    },
    "15": {"i": _boxes([(4, 14), (50, 14)], 18, 12), "t": "M23 20H48M41 14L48 20L41 26"},
    "16": {"v": "M4 6C24 6 24 34 44 34H68", "t": "M16 2Q34 66 56 2", "f": _dots([(27, 22)])},
    "17": {
        "f": _boxes([(4, 16), (38, 16)], 10, 16),
        "i": _boxes([(15, 16), (26, 16), (49, 16), (60, 16)], 10, 16)
        + "M9 15v-12l8 4l-8 4M43 15v-12l8 4l-8 4",
    },
    "18": {
        "f": _boxes([(x, y) for x, y in _GRID if x - 16 <= y], 9, 9),
        "i": _boxes([(x, y) for x, y in _GRID if x - 16 > y], 9, 9),
    },
    "19": {"v": "M4 4C12 28 30 34 68 36", "i": "M30 6h10M44 6h8M56 6h10M36 14h14M54 14h10"},
    "20": {"v": "M4 6h26M4 14h20M4 22h26M4 30h16", "g": "M40 30h26M40 22h18M40 14h26M40 6h20"},
    "21": {"v": "M4 32C30 32 42 8 68 8", "o": "M4 8C30 8 42 32 68 32", "i": "M4 20H68"},
    "22": {"v": "M4 32H36V8H68", "g": "M12 38L60 2"},
}
ICONS = {
    number: '<svg class="icon" viewBox="0 0 72 40" width="72" height="40" aria-hidden="true">'
    + "".join(f'<path class="{kind}" d="{path}"/>' for kind, path in paths.items())
    + "</svg>"
    for number, paths in _PATHS.items()
}
