"""Add the data that a page needs to the outputs of widgets.

Every kernel of `make site` runs this file at its start, because PYTHONSTARTUP names it.
"""

import derivation_spec
import precomputed_frames
import predictions

for module, name, bundle in [
    ("autograd_course.widgets.sliders", "Explorer", precomputed_frames.bundle),
    ("autograd_course.widgets.stepper", "Stepper", precomputed_frames.bundle),
    ("autograd_course.play.view", "Playground", precomputed_frames.bundle),
    ("autograd_course.quiz.questions", "Panel", predictions.bundle),
    ("autograd_course.derivations.panel", "DerivationPanel", derivation_spec.bundle),
]:
    get_ipython().display_formatter.mimebundle_formatter.for_type_by_name(module, name, bundle)  # noqa: F821
del derivation_spec, predictions, precomputed_frames, module, name, bundle
