"""Show sliders above a picture that a pure function draws, with the function `explore`."""

import sys
from html import escape
from math import floor, isfinite

import ipywidgets as widgets

from ..drawing import style
from ..drawing.axes import round_step
from ..drawing.formatting import number

# Read out by a screen reader, not shown: the same lines are visible above it.
UNSEEN = (
    "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:pre"
)
# The folded text is in the next widget, which is drawn once: a redrawn fold would close.
FOLD = (
    "<style>.in-words:has(details:not([open])) + .widget-html pre{display:none}</style>"
    "<details><summary>in words</summary></details>"
)
WIDE = {"width": "min(420px, 60%)", "margin": "2px 8px"}
# A slider fills the space beside its number box, with its handle beside the box and not on it. In a
# row that is too narrow for both, as in JupyterLab on a phone, it moves to a line of its own.
SLIDER = {"flex": "1 1 8em", "max_width": "420px", "margin": "2px 8px"}
ROW_OF_CONTROLS = {"flex_flow": "row wrap"}

# ipywidgets gives the handle of a slider no accessible name, and Python no way to set one. JupyterLab
# runs this in a widget of outputs: each handle is called as the tooltip of its slider.
NAME_HANDLES = """(() => {
    const name = () => document.querySelectorAll(".noUi-handle:not([aria-label])").forEach(handle => {
        const title = handle.closest(".widget-slider")?.querySelector("label")?.title;
        if (title)
            handle.setAttribute("aria-label", title);
    });
    name();
    if (!window.namesHandles) {
        window.namesHandles = new MutationObserver(name);
        window.namesHandles.observe(document.body, {childList: true, subtree: true});
    }
})();"""

FEW = 4  # stops, up to which a control shows them all
PLAYING = (
    "playing" if hasattr(widgets.Play, "playing") else "_playing"
)  # in ipywidgets 7, which Colab has
# Radio buttons in a row that wraps, each high enough for a finger, without ipywidgets' margin of up to
# a line. The group has no accessible name; each button's label starts with its name.
ROW = (
    "<style>.toggle{{align-items:start!important}}.toggle .widget-radio-box{{flex-wrap:wrap;margin-bottom:0!important}}"
    ".toggle .widget-radio-box label{{display:flex;flex-flow:row-reverse;align-items:center;height:28px;"
    "padding-right:8px}}.toggle .widget-radio-box input{{height:auto}}"
    '.{0} .widget-radio-box label::before{{content:"{1} ";' + UNSEEN + "}}</style>"
)


class Explorer(widgets.VBox):
    """Show controls and the picture that depends on them.

    This is the widget that `explore` returns, called `ui` below. With `draw` and `positions`, a
    page without a kernel can store a picture for each combination of values.

    Attributes
    ----------
    sliders : dict
        The controls, by name. `ui.sliders["x"].value = 1.5` moves a slider from Python.
    players : dict
        The players of the controls that can be played, by the name of the control.
    draw : callable
        `ui.draw(**values)` returns the Picture at these values, and does not move the controls.
    picture : Picture
        The picture that is shown.
    view : widget
        The widget that shows the picture.
    """

    def positions(self):
        """Return a dict that maps the name of each control to a list of all its values, in order.

        For a widget that the caller passed to `explore`, the dict has None in place of a list,
        unless the widget is a slider or has a list of choices.
        """
        return {name: _positions(control) for name, control in self.sliders.items()}

    def values(self):
        """Return a dict that maps the name of each control to its current value."""
        return {name: _value(control) for name, control in self.sliders.items()}

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        bundle["text/html"] = self.picture.html  # the static twin, for a reader without a kernel
        bundle["text/plain"] = self.picture.text
        return bundle


def explore(picture, **sliders):
    """Show sliders above a picture, and draw the picture again when a slider moves.

        explore(slope_at, x=(-3.0, 3.0, 0.5), h=[1, 0.1, 0.01])
        explore(boundary_at, step=range(0, 301, 10))

    A control with at most four values that does not play is a row of radio buttons. Beside a slider
    is a number box that follows it and accepts typed numbers. Both have accessible names: the box
    from ipywidgets, the slider's handle from a script, where the notebook runs it. The picture's
    text is shown below the picture, folded as "in words" if the drawing contains all of it. Screen
    readers announce changed lines of the text politely and, while frames play, only once they stop.
    A picture higher than the window scrolls, and the sliders stay in place. Frames that take long
    to draw are skipped, not queued.

    Parameters
    ----------
    picture : callable
        A pure function that takes the values of the sliders as keyword arguments and returns a
        Picture. An error that it raises is shown in place of the picture, and raised.
    **sliders
        For each argument of `picture`, one of

        - `(min, max, start)` or `(min, max, step, start)`: a slider of integers if all are int,
          otherwise of floats;
        - a list of choices, which starts at the first one;
        - a range: a slider over its numbers, which can also be played like the frames of a film;
        - your own widget, whose `value` is passed.

    Returns
    -------
    Explorer
        The widget.

    Raises
    ------
    TypeError
        If `picture` is not a function.
    ValueError
        If a slider is not given in one of these forms.
    """
    if not callable(picture):
        raise TypeError(
            f"explore: expected a function that returns a picture, got {type(picture).__name__}"
        )
    rows, controls, players = [], {}, {}
    room = max(4.0, 0.6 * max(map(len, sliders), default=0) + 1)  # em, for the longest name
    for name, spec in sliders.items():
        row, controls[name], player = _control(
            name, spec, {"description_width": f"{room}em"}, {"width": f"{room + 7}em"}
        )
        rows.append(row)
        if player:
            players[name] = player
    view, fold, words = (
        widgets.HTML(layout={"max_height": "80vh", "overflow": "auto"}),
        widgets.HTML(FOLD),
        widgets.HTML(),
    )
    dark = widgets.HTML(style.SHEET, layout={"display": "none"})
    view.tabbable = True  # a scrolling region must be reachable by keyboard
    fold.add_class("in-words")
    if sys.platform != "emscripten":  # a page of the site names its own sliders
        rows.append(_named_handles())
    ui = Explorer([*rows, dark, view, words])
    ui.sliders, ui.players, ui.draw, ui.view = controls, players, picture, view
    drawn, said = None, []  # the values last drawn, the lines last announced

    def redraw(change=None):
        nonlocal drawn
        before, drawn = drawn, ui.values()
        if drawn == before:
            return
        try:
            ui.picture = picture(**drawn)
        except Exception as error:
            view.value = f'<pre style="{style.LINES};{style.CARD}">✗ {escape(f"{type(error).__name__}: {error}")}</pre>'
            words.value = ""
            raise
        view.value = ui.picture.html
        say()

    def say(change=None):
        nonlocal said
        lines, news = ui.picture.text.splitlines(), []
        if not any(getattr(player, PLAYING) for player in players.values()):
            news, said = [line for line in lines if said and line not in said], lines
        words.value = (
            f'<pre style="{style.LINES}">{escape(ui.picture.text)}</pre>'
            f'<div aria-live="polite" style="{UNSEEN}">{escape(chr(10).join(news))}</div>'
        )

    redraw()
    if ui.picture.says_all:
        ui.children = [*rows, dark, view, fold, words]
    for control in controls.values():
        control.observe(redraw, "value")
    for player in players.values():
        player.observe(say, PLAYING)
    return ui


def _named_handles():
    script = {"output_type": "display_data", "metadata": {}}
    script["data"] = {"application/javascript": NAME_HANDLES}
    return widgets.Output(outputs=(script,), layout={"display": "none"})


def _value(control):
    """Return the value of a control, rounded to remove the rounding errors of its steps.

    The arrow keys can move a slider to 1.7999999999999998, or to 1e-16 in place of 0, and the first
    display can turn 0.7 into 0.7000000000000002.
    """
    return round(control.value, 12) if isinstance(control, widgets.FloatSlider) else control.value


def _positions(control):
    """Return a list of all values of a slider or a list of choices, or None for any other widget.

    The start value of a slider is included, even if it is between two steps.
    """
    if hasattr(control, "options"):
        return [value for _, value in control.options]
    if not isinstance(control, (widgets.IntSlider, widgets.FloatSlider)):
        return None
    return _stops(control.min, control.max, control.step, _value(control))


def _stops(low, high, step, start):
    steps = floor((high - low) / step + 1e-9)
    return sorted({*(round(low + k * step, 12) for k in range(steps + 1)), start})


def _control(name, spec, label, small):
    """Create the control for one keyword argument of `explore`.

    Parameters
    ----------
    name : str
        The name of the argument.
    spec : tuple, list, range or widget
        The value of the argument, in one of the forms that `explore` lists.
    label, small : dict
        The style of the label, and the layout of a number box.

    Returns
    -------
    row : widget
        The widget to show.
    control : widget
        The widget whose `value` is passed to the picture.
    player : widget or None
        The widget that plays, for a range.
    """
    if isinstance(spec, widgets.Widget):
        return spec, spec, None
    if isinstance(spec, list) and spec:
        numbers, options = _said(spec)
        if len(spec) <= FEW:
            return _toggle(name, label, options, spec[0])
        box = widgets.Dropdown(
            options=options,
            value=spec[0],
            description=name,
            style=label,
            layout=small if numbers else WIDE,
            tooltip=f"choose {name}",
        )
        if not numbers:
            return box, box, None
        slider = widgets.SelectionSlider(
            options=options, value=spec[0], readout=False, layout=SLIDER, tooltip=f"slide {name}"
        )
        widgets.link((slider, "value"), (box, "value"))
        return widgets.HBox([box, slider], layout=ROW_OF_CONTROLS), slider, None
    if isinstance(spec, range) and spec and spec.step > 0:
        box, slider = _slider(
            name,
            label,
            small,
            spec[0],
            spec[-1],
            spec.step,
            spec[0],
            nearest=lambda value: min(spec, key=lambda frame: abs(frame - value)),
        )
        box.observe(
            lambda change: box.set_trait("value", slider.value), "value"
        )  # a number between two frames was typed
        play, player = _player(name, slider, len(spec))
        return widgets.HBox([box, slider, play, player], layout=ROW_OF_CONTROLS), slider, player
    if not (isinstance(spec, tuple) and len(spec) in (3, 4)):
        raise ValueError(
            f"explore: {name}: expected (min, max, start), (min, max, step, start), a list of "
            f"choices, or a range of frames, got {spec!r}"
        )
    low, high, *step, start = spec
    if not (low < high and isfinite(high - low)) or step and not step[0] > 0:
        raise ValueError(f"explore: {name}: expected finite min < max and a step > 0, got {spec!r}")
    if not low <= start <= high:
        raise ValueError(f"explore: {name}: expected a start from {low} to {high}, got {spec!r}")
    whole = all(isinstance(part, int) for part in spec)
    step = step[0] if step else 1 if whole else _hundredth(high - low)
    if (high - low) / step < FEW and len(stops := _stops(low, high, step, start)) <= FEW:
        return _toggle(name, label, _said(stops)[1], start)
    box, slider = _slider(name, label, small, low, high, step, start, whole)
    return widgets.HBox([box, slider], layout=ROW_OF_CONTROLS), slider, None


def _said(choices):
    """Return (numbers, options) for a list of choices.

    `numbers` is True if all choices are numbers, and `options` is [(label, choice), …].
    """
    numbers = all(
        isinstance(choice, (int, float)) and not isinstance(choice, bool) for choice in choices
    )
    return numbers, [(number(choice, 6) if numbers else str(choice), choice) for choice in choices]


def _toggle(name, label, options, start):
    """Create a row of radio buttons, and return (row, control, None) as `_control` does.

    `options` is [(label, value), …], and `label` is the style of the description.
    """
    radios = widgets.RadioButtons(
        options=options,
        value=start,
        orientation="horizontal",
        description=name,
        style=label,
        layout={"width": "auto"},
    )
    own = f"toggle-{radios.model_id}"
    radios.add_class(own).add_class("toggle").add_class(
        "widget-inline-hbox"
    )  # this sets their name at the left
    return (
        widgets.HBox([radios, widgets.HTML(ROW.format(own, name), layout={"display": "none"})]),
        radios,
        None,
    )


def _slider(name, label, small, low, high, step, start, whole=True, nearest=lambda value: value):
    """Create a number box and a slider with the same value, and return (box, slider).

    Both have integer values if `whole` is True, otherwise floats. `nearest(value)` returns the value
    to which the slider moves when `value` is typed into the box.
    """
    slider, box = (
        (widgets.IntSlider, widgets.BoundedIntText)
        if whole
        else (widgets.FloatSlider, widgets.BoundedFloatText)
    )
    limits = {"min": low, "max": high, "step": step, "value": start}
    box = box(**limits, description=name, style=label, layout=small, tooltip=f"type {name}")
    slider = slider(**limits, readout=False, layout=SLIDER, tooltip=f"slide {name}")
    widgets.link(
        (slider, "value"), (box, "value"), transform=(lambda value: round(value, 12), nearest)
    )
    return box, slider


def _player(name, slider, frames):
    """Create a button that plays the frames of `slider`, and return (button, player).

    The player is a hidden Play widget, which the button starts and stops: the buttons of a Play widget
    have no accessible names. While the kernel draws, the browser keeps only the newest frame number,
    and sends it when the kernel is free, so frames are skipped and not queued. `frames` is the number
    of frames.
    """
    pace = min(
        1000, max(100, 8000 // frames)
    )  # eight seconds, where that is neither a rush nor a wait
    player = widgets.Play(
        min=slider.min,
        max=slider.max,
        step=slider.step,
        value=slider.value,
        interval=pace,
        layout={"display": "none"},
    )
    button = widgets.ToggleButton(
        description="play",
        icon="play",
        tooltip=f"play {name}",
        layout={"width": "6.5em", "flex": "none"},
    )
    widgets.link(
        (player, "value"), (slider, "value")
    )  # not in the browser, which would tell the kernel of both
    widgets.jslink((player, PLAYING), (button, "value"))

    def caption(change):
        button.description = button.icon = "pause" if change["new"] else "play"
        button.tooltip = f"{button.description} {name}"

    player.observe(caption, PLAYING)
    return button, player


def _hundredth(span):
    """Return a step of about a hundredth of `span`, rounded to 1, 2 or 5 times a power of ten."""
    return 1 / round_step(
        99 / span
    )  # 1, 2 and 5 are among each other's reciprocals, times a power of ten
