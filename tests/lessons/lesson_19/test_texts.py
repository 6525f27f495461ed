"""Lesson 19's texts, its n-gram counts, and the recorded run, which `python
tests/lessons/lesson_19/test_texts.py` records again.
"""

import zlib
from functools import cache

import numpy as np
import pytest

from autograd_course.lessons.lesson_19 import texts

task = cache(texts.task)


def test_the_names_are_the_same_in_every_python():
    names = texts.names()
    assert len(names) == len(set(names)) == 1379 and sum(map(len, names)) == 24356
    assert zlib.crc32("\n".join(names).encode()) == 671844351


def test_prose_is_each_paragraph_once_in_printable_letters():
    prose = texts.prose()
    assert len(set(prose)) == len(prose) > 500 and set("".join(prose)) <= set(texts.PRINTABLE)
    assert all(text[-1] == "." and len(text) >= 60 and "  " not in text for text in prose)


@pytest.mark.parametrize("what", ["names", "prose"])
def test_what_is_held_out_is_not_learned_from(what):
    """Training and held-out texts do not overlap, and a text's part depends on the text alone.
    Catch repeated paragraphs that are split by position.
    """
    one = task(what)
    assert not set(one.known) & set(one.unseen) and 0.06 < len(one.unseen) / len(one.known) < 0.16
    half = [*one.known, *one.unseen][::2]  # the part of a text does not depend on other texts
    assert texts.split(half) == (
        [text for text in half if text in set(one.known)],
        [text for text in half if text in set(one.unseen)],
    )


def test_counting_is_what_a_loop_counts():
    rng = np.random.default_rng(0)
    text, held_out, many = rng.integers(0, 3, 200), rng.integers(0, 3, 40), 3
    for n, p in enumerate(texts.counted(text, held_out, many, n=4, trust=2.0), 1):
        for i in range(n - 1, 40):
            share = np.full(many, 1 / many)
            for k in range(n):
                followed = np.zeros(many)
                for j in range(k, 200):
                    if np.array_equal(text[j - k : j], held_out[i - k : i]):
                        followed[text[j]] += 1
                assert np.array_equal(followed, texts.after(text, held_out[i - k : i], many))
                share = (followed + 2.0 * share) / (followed.sum() + 2.0)
            assert p[i] == pytest.approx(share[held_out[i]])


def test_both_predict_the_same_letters_in_order():
    names = task("names")
    assert (
        np.array_equal(names.asked, np.arange(names.asked[0], names.asked[-1] + 1))
        and names.asked[0] == 9
    )
    p = names.guessed(names.writer())
    assert p.shape == names.asked.shape == names.counted(2)[1].shape
    assert p.shape == names.seen.shape and names.seen[:9].tolist() == [*range(9, 17), 9]
    here = names.test[:17]
    one = texts.surprise(names.writer(), here[None, :-1], here[None, 1:]).data[0, 8:]
    assert np.allclose(p[:8], np.exp(-one), atol=1e-6)


def test_brackets_find_the_one_that_opened_them():
    assert texts.opened("a(b(c)d)\n)(").tolist() == [0, 0, 0, 0, 0, 2, 0, 6, 0, 0, 0]


def test_a_run_is_followed():
    words = ["ab" * k + "c" * j for k in range(1, 9) for j in range(1, 9)]
    names = texts.Task(
        "tiny", words, "\nabc", steps=6, every=2, many=5, width=8, context=4, heads=2
    )
    model = names.writer()
    run = names.follow(model, range(4))
    assert (
        run["steps"] == [0, 2, 4]
        and len(run["losses"]) == 4
        and all(len(text) == 5 for text in run["wrote"])
    )
    assert run["held_out"][-1] == round(texts.nats(names.guessed(model)), 4) < run["held_out"][0]


def test_the_recording_is_of_this_code():
    """The recorded weights give the recorded loss, and a new training starts with the same
    losses. With the text of another Python version the loss is similar.
    """
    prose = task("prose")
    run, model = prose.recorded()
    loss, same = texts.nats(prose.guessed(model)), run["text"] == prose.fingerprint()
    assert loss == pytest.approx(run["held_out"][-1], abs=0.002 if same else 0.15)
    assert run["steps"] == [*range(0, prose.steps + 1, prose.every)] and len(run["wrote"]) == len(
        run["steps"]
    )
    if same:
        new = [*texts.train(prose.writer(), prose.text, range(3), prose.steps)]
        assert np.allclose(new, run["losses"][:3], rtol=1e-3)


if __name__ == "__main__":
    from autograd_course import track

    prose = task("prose")
    model = prose.writer()
    prose.record(prose.follow(model, track(range(prose.steps), "reading prose")), model)
