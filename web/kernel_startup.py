"""PYTHONSTARTUP of the kernels that `make site` runs: what moves and what asks is shown with what a page needs for it."""

import precomputed_frames
import predictions

for module, name, bundle in [
    ("autograd_course.widgets.sliders", "Explorer", precomputed_frames.bundle),
    ("autograd_course.widgets.stepper", "Stepper", precomputed_frames.bundle),
    ("autograd_course.quiz.questions", "Panel", predictions.bundle),
]:
    get_ipython().display_formatter.mimebundle_formatter.for_type_by_name(module, name, bundle)  # noqa: F821
del predictions, precomputed_frames, module, name, bundle
