"""Helpers for both wards of the clinic: lesson 07 for numbers, and lesson 09 for arrays."""

from dataclasses import dataclass

import numpy as np

from autograd_course.lessons.lesson_07 import clinic
from autograd_course.lessons.lesson_09 import array_ward


@dataclass
class Ward:
    module: object
    healthy: type
    longest: int  # lines of a faulty method
    ordinary: list  # the obvious inputs for a check
    unfailed: set  # the examinations that every patient passes

    def wrong(self, engine):
        """Return a dict from each examination that the engine fails to the result."""
        return {
            name: value
            for name, value in self.module.sheet(engine).items()
            if self.module.fails(name, value)
        }

    def mended(self, engine):
        """Return the engine with its faulty method replaced by the correct one."""
        (name,) = own_methods(engine)
        return type("Mended", (engine,), {name: getattr(self.healthy, name)})

    def passes(self, engine):
        """Return, for each of the ordinary inputs, True if the check finds no fault."""
        return [clinic.examine(engine, self.module.ordinary, *xs).passed for xs in self.ordinary]


def own_methods(engine):
    return [name for name, value in vars(engine).items() if callable(value)]


WARDS = {
    "07": Ward(
        clinic, clinic.Scalar, 9, [(0.7, 0.4, 1.3), (1.1, 0.3, 0.5), (0.2, 1.9, 0.8)], {"sum"}
    ),
    "09": Ward(
        array_ward,
        array_ward.Array,
        12,
        [np.random.default_rng(seed).normal(size=(3, n, n)) for seed, n in enumerate([2, 2, 3])],
        {"dot"},
    ),
}
PATIENTS = {
    f"{lesson}.{letter}": patient
    for lesson, ward in WARDS.items()
    for letter, patient in ward.module.PATIENTS.items()
}
PATIENTS["07.known"] = clinic.SQUARED
