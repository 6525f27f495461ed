"""PYTHONSTARTUP of the kernels that `make site` runs: what moves and what asks is shown with what a page needs for it."""

import asked
import frames

for module, name, bundle in [
    ("autograd_course.show.sliders", "Explorer", frames.bundle),
    ("autograd_course.show.stepper", "Stepper", frames.bundle),
    ("autograd_course.ask.questions", "Panel", asked.bundle),
]:
    get_ipython().display_formatter.mimebundle_formatter.for_type_by_name(module, name, bundle)  # noqa: F821
del asked, frames, module, name, bundle
