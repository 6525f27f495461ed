"""Lesson 03's pictures."""

from drawn import SVG, svg_of

from autograd_course.lessons.lesson_03.drawings import grown_rectangle


def test_grown_rectangle():
    picture = grown_rectangle(3, 2, 0.1, 0.1)
    assert picture.text.splitlines() == [
        "area 6, grown by 0.51",
        "strips: dx·y = 0.2, x·dy = 0.3",
        "corner: dx·dy = 0.01, 1.96 % of the growth",
    ]
    sizes = [
        (float(rect.get("width")), float(rect.get("height")))
        for rect in svg_of(picture).iter(f"{SVG}rect")
    ]
    assert sizes == [(300, 200), (10, 200), (300, 10), (10, 10)]
    assert grown_rectangle(3, 2, 0.01, 0.01).text.endswith("0.20 % of the growth")
    assert grown_rectangle(3, 2, -0.1, 0.1).text.endswith("corner: dx·dy = −0.01")
    assert "opposite signs, together 0\n" in grown_rectangle(3, 2, -0.6, 0.4).text, (
        "the growth is the corner alone"
    )
