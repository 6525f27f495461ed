"""PYTHONSTARTUP of the kernels that `make site` runs: an explorer is shown with every picture behind its sliders."""
import frames

for module, name in [("autograd_course.show.sliders", "Explorer"), ("autograd_course.show.stepper", "Stepper")]:
    get_ipython().display_formatter.mimebundle_formatter.for_type_by_name(module, name, frames.bundle)      # noqa: F821
del frames, module, name
