"""Write a report on a class, as a web page and as a table.

The report shows the exercises solved, common mistakes, and answers that were certain but wrong.
"""

import csv
import re
from collections import Counter
from html import escape
from statistics import median

import mistune

from .. import record
from ..drawing import style
from ..drawing.formatting import counted
from ..grading import EXERCISES
from ..quiz.texts import PREDICTIONS
from ..sync_notebooks import NOTEBOOKS

FIRST = 5  # items of each kind suggested for discussion
GROUPS = 8  # groups of wrong answers listed; the others are only counted

CSS = """
*{box-sizing:border-box} html{color-scheme:light dark}
body{margin:0 auto;max-width:64rem;padding:1rem 1rem 3rem;background:var(--paper);color:var(--ink);
font:1rem/1.5 FONT;overflow-wrap:break-word}
h1{font-size:1.9rem;margin:.4rem 0} h2{margin:2.4rem 0 .3rem} h3{margin:1.6rem 0 .2rem;font-size:1.05rem}
p{margin:.3rem 0;max-width:44rem} .faint{color:var(--faint)} b{font-weight:650}
code{font-family:MONO;font-size:.9em}
.talk{columns:26rem;column-gap:.8rem;padding:0;list-style:none}
.talk li{border-left:5px solid var(--gradient);background:var(--panel);padding:.5rem .9rem;margin:0 0 .8rem;
break-inside:avoid}
.talk blockquote{margin:.3rem 0;color:var(--faint)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%} th{text-align:left;font-weight:400}
thead th{color:var(--faint);border-bottom:1px solid var(--line);padding-right:.8rem;white-space:nowrap}
td,tbody th{padding:.35rem .8rem .35rem 0;vertical-align:top;border-bottom:1px solid var(--ground)}
tr{break-inside:avoid}
.bar{display:flex;width:11rem;max-width:100%;height:1rem;background:var(--ground);border-radius:3px;overflow:hidden}
.bar i{background:var(--value)}
.bar b{background:repeating-linear-gradient(45deg,var(--gradient) 0 3px,var(--paper) 3px 5px)}
.each :is(td,tbody th[scope=row]):nth-child(-n+3){white-space:nowrap}
.each td:last-child{width:100%;overflow-wrap:anywhere}
.groups{margin:0;padding:0;list-style:none} .groups li{display:grid;grid-template-columns:3em 1fr;gap:.7em}
.groups b{text-align:right}
.groups.brief{display:flex;flex-wrap:wrap;gap:0 1.4em} .brief li{grid-template-columns:auto auto}
.who{width:auto;font-size:.85rem} .who td,.who th{padding:1px 2px;border:0}
.who tbody th{padding-right:.8em;position:sticky;left:0;background:var(--paper);min-width:5em;max-width:11em}
.who thead th,.who td{text-align:center;min-width:1.65rem;color:var(--ink)}
.who span{display:block;border:1px solid var(--line);border-radius:3px;
background:linear-gradient(to top,var(--value-ground) var(--done),transparent var(--done))}
.who .stuck{border:1.5px dashed var(--gradient)} .who .none{border-color:transparent;color:var(--faint)}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
@media(max-width:42rem){.each,.each tbody,.each tr,.each :is(td,th){display:block} .each thead{display:none}
.each :is(td,th){border:0;padding:.1rem 0} .each tr{border-bottom:1px solid var(--ground);padding:.5rem 0}
.each td[data-is]:before{content:attr(data-is) " ";color:var(--faint)}}
"""


def page(learners, left_out=()):
    """Return the report on a class as an HTML page.

    The page needs no other files. It has a light and a dark mode and can be printed.

    Parameters
    ----------
    learners : dict
        The first result of `collect`.
    left_out : list, optional
        The second result of `collect`. By default, no file is listed as left out.

    Returns
    -------
    str
        The HTML of the page.
    """
    css = CSS.replace("FONT", style.FONT).replace("MONO", style.MONO)
    sheets = (
        f"{style.sheet(0)}@media screen and (prefers-color-scheme:dark){{{style.sheet(1)}}}{css}"
    )
    shown = "".join(
        [
            _talk(learners),
            _where(learners),
            _exercises(learners),
            _predictions(learners),
            _left(left_out),
        ]
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The class</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{sheets}</style></head>'
        f"<body><h1>The class</h1><p>{counted(len(learners), 'record')}. This page gives no marks. It suggests what "
        f"to discuss next. The file class.csv has a line for each learner and question.</p>{shown}</body></html>"
    )


# ---------------------------------------------------------------- what is counted


def exercises(learners):
    """Return a dict that maps the name of each exercise that a learner tried to its counts.

    `learners` is the first result of `collect`. The counts of an exercise are a dict:

    - "solved" is the number of learners who solved the exercise;
    - "stuck" is the number of learners who tried but did not solve it;
    - "tries" is the median number of tries of the learners who solved the exercise, including the
      right one, or None if no record has this number;
    - "wrong" is a list of tuples: a hint, the number of learners who got the hint, and the number
      of times that it was given. The hint that most learners got comes first.
    """
    found = {}
    for name in EXERCISES:
        solved = [one for one in learners.values() if name in one["solved"]]
        tried = [one["tries"][name] for one in learners.values() if name in one["tries"]]
        who, times = Counter(hint for wrong in tried for hint in wrong), Counter()
        for wrong in tried:
            times.update(wrong)
        known = [1 + sum(one["tries"][name].values()) for one in solved if name in one["tries"]]
        stuck = sum(name in one["tries"] and name not in one["solved"] for one in learners.values())
        if solved or tried:
            found[name] = {
                "solved": len(solved),
                "stuck": stuck,
                "tries": median(known) if known else None,
                "wrong": [(hint, many, times[hint]) for hint, many in who.most_common()],
            }
    return found


def predictions(learners):
    """Return a dict that maps the name of each prediction that a learner made to its counts.

    `learners` is the first result of `collect`. The counts of a prediction are a dict:

    - "made" is the number of learners who made the prediction;
    - "right" is the number of learners who were right;
    - "sure and wrong" is the number of learners who were certain but wrong;
    - "wrong" is a list of tuples: a wrong answer and the number of learners who gave it. The most
      frequent answer comes first.
    """
    found = {}
    for name in PREDICTIONS:
        made = [one["predictions"][name] for one in learners.values() if name in one["predictions"]]
        if made:
            found[name] = {
                "made": len(made),
                "right": sum(right for *_, right in made),
                "sure and wrong": sum(sure == "certain" and not right for _, sure, right in made),
                "wrong": Counter(answer for answer, _, right in made if not right).most_common(),
            }
    return found


def table(learners):
    """Return the rows of class.csv as a list of tuples, with the header first.

    There is a row for each exercise and each prediction in the record of each learner. `learners`
    is the first result of `collect`.
    """
    rows = [("learner", "kind", "name", "right", "wrong tries", "sure", "hints, or the answer")]
    for learner, one in learners.items():
        for name in EXERCISES:
            if name in one["solved"] or name in one["tries"]:
                wrong = one["tries"].get(name)
                rows.append(
                    (
                        learner,
                        "exercise",
                        name,
                        "yes" if name in one["solved"] else "no",
                        "" if wrong is None else sum(wrong.values()),
                        "",
                        "; ".join(
                            f"{times} × {hint or 'no hint'}"
                            for hint, times in (wrong or {}).items()
                        ),
                    )
                )
        rows += [
            (learner, "prediction", name, "yes" if right else "no", "", sure, answer)
            for name, (answer, sure, right) in one["predictions"].items()
        ]
    return rows


def write_table(learners, file):
    """Write the rows of `table(learners)` as CSV to an open file.

    Text that a spreadsheet would interpret as a formula is prefixed with an apostrophe.

    Parameters
    ----------
    learners : dict
        The first result of `collect`.
    file : file object
        A text file that is open for writing.
    """
    writer = csv.writer(file)
    for row in table(learners):
        writer.writerow(
            [
                f"'{cell}" if re.match(r"\s*[=+@-](?!\s*[\d.,/]*$)", str(cell)) else cell
                for cell in row
            ]
        )


# ---------------------------------------------------------------- what is shown


def _talk(learners):
    """Return an HTML list of topics to discuss with the class.

    The topics are the predictions on which most learners were certain but wrong, and the exercises
    on which most learners are stuck, each with the most frequent answer or hint.
    """
    items = []
    for name, one in _most(predictions(learners), "sure and wrong"):
        said, many = one["wrong"][0]
        items.append(
            f"<b>{escape(name)}: {one['sure and wrong']} of {one['made']} were certain but wrong.</b>"
            f"<blockquote>{_html(PREDICTIONS[name].question)}</blockquote>"
            f"<p>{counted(many, 'learner')} answered <code>{escape(said)}</code>.</p>"
            f"{_html(PREDICTIONS[name].reveal)}"
        )
    for name, one in _most(exercises(learners), "stuck"):
        hints = Counter(
            hint
            for each in learners.values()
            if name not in each["solved"]
            for hint in each["tries"].get(name, ())
            if hint
        ).most_common(1)
        told = "".join(
            f"<p>{many} of them got the hint “{escape(hint)}”</p>" for hint, many in hints
        )
        items.append(
            f"<b>{escape(name)}: {one['stuck']} tried it but have not solved it, and {one['solved']} have.</b>"
            f"<blockquote>{_html(EXERCISES[name].question)}</blockquote>{told}"
        )
    cards = "".join(f"<li>{item}</li>" for item in items)
    return "<h2>To discuss next</h2>" + (
        f'<ul class="talk">{cards}</ul>'
        if items
        else "<p>No learner was certain but wrong, and no learner is stuck.</p>"
    )


def _most(found, what):
    """Return the entries of `found` with the largest counts, as a list of (name, counts).

    `what` is the key of the count that is compared. There are at most FIRST entries, the largest
    count first. Entries with a count of 0 are left out.
    """
    return [
        one for one in sorted(found.items(), key=lambda one: -one[1][what])[:FIRST] if one[1][what]
    ]


def _where(learners):
    """Return an HTML table of progress, with a row for each learner and a column for each lesson.

    Lessons that no learner has begun are left out.
    """
    titles = record.lessons(NOTEBOOKS)
    names = {lesson: [name for name in EXERCISES if name[:2] == lesson] for lesson in titles}
    begun = [
        lesson
        for lesson in titles
        if any(
            name[:2] == lesson
            for one in learners.values()
            for name in [*one["solved"], *one["tries"], *one["predictions"]]
        )
    ]
    head = "".join(
        f'<th scope="col" title="{escape(titles[lesson])}">{lesson}</th>' for lesson in begun
    )
    rows = []
    for learner, one in learners.items():
        cells = []
        for lesson in begun:
            solved, all_of_them = (
                sum(name in one["solved"] for name in names[lesson]),
                len(names[lesson]),
            )
            stuck = sum(
                name in one["tries"] and name not in one["solved"] for name in names[lesson]
            )
            kind = "stuck" if stuck else "" if solved else "none"
            said = f"{titles[lesson]}: {solved} of {all_of_them} solved{f', {stuck} tried' if stuck else ''}"
            full = f"--done:{100 * solved / max(all_of_them, 1):.0f}%"
            cells.append(
                f'<td><span class="{kind}" title="{escape(said)}" style="{full}">'
                f"{solved or ('0' if stuck else '·')}</span></td>"
            )
        rows.append(f'<tr><th scope="row"><bdi>{escape(learner)}</bdi></th>{"".join(cells)}</tr>')
    return (
        f"<h2>Progress</h2><p class=faint>The number of exercises solved in each lesson: the fuller the "
        f"box, the more. A dashed box means that something was tried but not solved.</p>"
        f'<div class="wide" tabindex="0" role="group" aria-label="Progress"><table class="who"><thead><tr>'
        f"<td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _exercises(learners):
    rows, lesson = [], ""
    for name, one in exercises(learners).items():
        rows += _heading(lesson, lesson := name[:2])
        solved, stuck = (100 * one[part] / len(learners) for part in ("solved", "stuck"))
        not_yet = f", {one['stuck']} not yet" if one["stuck"] else ""
        tries = "–" if one["tries"] is None else f"{one['tries']:g}"
        groups = [
            (
                f"{many} ×",
                escape(hint)
                or '<span class="faint">a wrong answer for which there is no hint</span>',
            )
            for hint, many, _ in one["wrong"]
        ]
        rows.append(
            f'<tr><th scope="row">{escape(name)}</th>'
            f'<td><span class="bar" aria-hidden="true"><i style="width:{solved:.1f}%"></i>'
            f'<b style="width:{stuck:.1f}%"></b></span>{one["solved"]} solved{not_yet}</td>'
            f'<td data-is="tries:">{tries}</td><td>{_groups(groups)}</td></tr>'
        )
    return (
        f"<h2>Exercises</h2><p class=faint>The bar shows the class: learners who solved it (filled), and those "
        f"who tried but have not solved it (striped). Tries are the median of those who solved it. Wrong answers are listed by the hint that "
        f"they got, with how many learners got it.</p>"
        f"{_table(['exercise', 'solved', 'tries', 'wrong answers, by their hint'], rows)}"
    )


def _predictions(learners):
    rows, lesson = [], ""
    for name, one in predictions(learners).items():
        rows += _heading(lesson, lesson := name[:2])
        groups = [(f"{many} ×", f"<code>{escape(answer)}</code>") for answer, many in one["wrong"]]
        rows.append(
            f'<tr><th scope="row">{escape(name)}</th><td><span class="bar" aria-hidden="true">'
            f'<i style="width:{100 * one["right"] / one["made"]:.1f}%"></i></span>'
            f"{one['right']} of {one['made']} right</td>"
            f'<td data-is="sure and wrong:">{one["sure and wrong"]}</td>'
            f"<td>{_groups(groups, 'brief')}</td></tr>"
        )
    return (
        f"<h2>Predictions</h2><p class=faint>Only first answers count. The bar shows the learners who answered; "
        f"its filled part shows those who were right.</p>"
        f"{_table(['prediction', 'right', 'sure and wrong', 'wrong answers'], rows)}"
    )


def _left(left_out):
    lines = [
        f"<li><code>{escape(where)}</code>: {escape(why)}</li>" for where, why in left_out[:100]
    ]
    more = f"<li>and {len(left_out) - 100:,} more</li>" if len(left_out) > 100 else ""
    return f"<h2>Files that are left out</h2><ul>{''.join(lines)}{more}</ul>" if lines else ""


def _heading(before, lesson):
    """Return a list with a table row that contains the title of a lesson, or an empty list.

    `before` is the number of the lesson in the row above, and `lesson` is that of the next row. The
    list is empty if they are equal.
    """
    title = record.lessons(NOTEBOOKS).get(lesson, lesson)
    return [f'<tr><th scope="rowgroup" colspan="4"><b>{escape(title)}</b></th></tr>'] * (
        before != lesson
    )


def _table(head, rows):
    cells = "".join(f'<th scope="col">{one}</th>' for one in head)
    return (
        f'<table class="each"><thead><tr>{cells}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
        if rows
        else "<p>None yet.</p>"
    )


def _groups(groups, brief=""):
    more = [("", f'<span class="faint">and {len(groups) - GROUPS} more</span>')] * (
        len(groups) > GROUPS
    )
    items = "".join(f"<li><b>{many}</b>{html}</li>" for many, html in groups[:GROUPS] + more)
    return f'<ul class="groups {brief}">{items}</ul>' if items else ""


_markdown = mistune.create_markdown(plugins=["math", "table"])
SIGNS = {
    "partial": "∂",
    "cdot": "·",
    "pi": "π",
    "sigma": "σ",
    "epsilon": "ε",
    "sum": "Σ",
    "times": "×",
    "approx": "≈",
    "ldots": "…",
    "lvert": "|",
    "rvert": "|",
    "top": "ᵀ",
    "text": "",
}  # other words stay, as sin


def _html(markdown):
    """Convert the course's Markdown to HTML, with formulas as plain letters and signs.

    The formulas are simplified, but a reader can recognise the question.
    """
    return re.sub(
        r"\\\((.+?)\\\)|\$\$\s*(.+?)\s*\$\$",
        lambda found: f"<i>{_spelled(found[1] or found[2])}</i>",
        _markdown(markdown),
        flags=re.DOTALL,
    )


def _spelled(tex):
    r"""Convert a TeX formula to simple HTML.

    For example, \frac{1}{2} w_1^2 becomes ½ w<sub>1</sub><sup>2</sup>.
    """
    tex = re.sub(
        r"\\(?!frac|sqrt)([a-z]+)",
        lambda found: SIGNS.get(found[1], found[1]),
        re.sub(r"\\[ ,]", " ", tex),
    )
    for mark, tag in [("^", "sup"), ("_", "sub")]:
        tex = re.sub(
            rf"\{mark}(?:\{{([^{{}}]*)\}}|(\w|ᵀ))",
            lambda found, tag=tag: f"<{tag}>{found[1] or found[2]}</{tag}>",
            tex,
        )
    tex = re.sub(
        r"\\frac\{([^{}]*)\}\{([^{}]*)\}",
        lambda found: "/".join(part if len(part) < 2 else f"({part})" for part in found.groups()),
        tex,
    ).replace("1/2", "½")
    return (
        re.sub(r"\\sqrt\{(.*)\}", r"√(\1)", tex).replace("{", "").replace("}", "").replace("-", "−")
    )
