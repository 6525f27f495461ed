"""Lesson 02's pictures of a graph in two parts and of a hidden local gradient."""

from drawn import words_in

from autograd_course.lessons.lesson_02.drawings import two_parts
from autograd_course.lessons.lesson_02.exercises import hidden_edge


def test_the_parts_and_what_z_really_did():
    picture = two_parts(0.72, -0.9, -0.2019, reach=5)
    assert picture.text == (
        "x contributes +0.7200, y contributes −0.9000, together −0.1800; "
        "the true change in z is −0.2019, off by −0.0219"
    )
    assert two_parts(0.0, -1.8, -1.8000000000000007, reach=5).text.endswith("off by +0.0000")
    assert "together +0.0000" in two_parts(1.7999999999999998, -1.8, -0.1395, reach=5).text
    assert {"+0.7200", "−0.9000", "−0.2019"} <= {*words_in(picture)}
    assert words_in(two_parts(-1.8, 1.8, -0.13025 + 1e-16, reach=5)).count("−0.1303") == 2, (
        "one number said one way"
    )


def test_the_answer_is_neither_drawn_nor_spoken():
    picture = hidden_edge()
    assert (
        "local gradients: x ?; passed on: x 10" in picture.text
        and "−2.5" not in picture.text + picture.html
    )
