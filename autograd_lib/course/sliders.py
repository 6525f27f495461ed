"""explore: sliders in front of a pure function that draws."""
from html import escape

import ipywidgets as widgets

from . import style


class Explorer(widgets.VBox):
    """The box `explore` returns. `ui.sliders["x"].value = 1.5` moves a slider from Python."""

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        bundle["text/html"] = self.picture.html         # the static twin, for a reader without a kernel
        bundle["text/plain"] = self.picture.text
        return bundle


def explore(picture, **sliders):
    """Sliders over `picture`, a pure function of keyword values that returns a Picture.

    Each keyword is `(min, max, step, start)`, all int or any float, or a list of choices of which the first is the start:

        explore(slope_at, x=(-3.0, 3.0, 0.1, 0.5), h=[1, 0.1, 0.01])

    Beside a slider stands a number box that follows it and can be typed into; the box carries the accessible name, because
    ipywidgets offers none for a slider's handle. The picture's text stands below it, announced politely when it changes.
    An error in `picture` is shown in place of the picture and raised.
    """
    rows, controls = [], {}
    for name, spec in sliders.items():
        row, controls[name] = _control(name, spec)
        rows.append(row)
    view, words = widgets.HTML(), widgets.HTML()
    ui = Explorer([*rows, view, words])
    ui.sliders = controls

    def redraw(change=None):
        try:
            ui.picture = picture(**{name: control.value for name, control in controls.items()})
        except Exception as error:
            view.value = f'<pre style="{style.LINES};{style.CARD}">✗ {escape(f"{type(error).__name__}: {error}")}</pre>'
            words.value = ""
            raise
        view.value = ui.picture.html
        words.value = f'<pre aria-live="polite" style="{style.LINES}">{escape(ui.picture.text)}</pre>'

    redraw()
    for control in controls.values():
        control.observe(redraw, "value")
    return ui


def _control(name, spec):
    """(row to show, widget that holds the value) of one keyword of `explore`."""
    wide, label = widgets.Layout(width="min(420px, 60%)"), {"description_width": "4em"}
    if isinstance(spec, list):
        numbers = all(isinstance(choice, (int, float)) for choice in spec)
        kind = widgets.SelectionSlider if numbers else widgets.Dropdown
        control = kind(options=[(f"{choice:g}" if numbers else str(choice), choice) for choice in spec], value=spec[0],
                       description=name, style=label, layout=wide, tooltip=f"choose {name}")
        return control, control
    low, high, step, start = spec
    slider, box = ((widgets.IntSlider, widgets.BoundedIntText) if all(isinstance(part, int) for part in spec)
                   else (widgets.FloatSlider, widgets.BoundedFloatText))
    limits = {"min": low, "max": high, "step": step, "value": start}
    box = box(**limits, description=name, style=label, layout=widgets.Layout(width="11em"), tooltip=f"type {name}")
    slider = slider(**limits, readout=False, layout=wide, tooltip=f"slide {name}")
    # by arrow keys the slider arrives at 1.7999999999999998; the box says 1.8
    widgets.link((slider, "value"), (box, "value"), transform=(lambda value: round(value, 12), lambda value: value))
    return widgets.HBox([box, slider]), slider
