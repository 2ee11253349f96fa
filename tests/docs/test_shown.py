"""A page and what an example prints are told apart where, and only where, the numbers or the words differ."""

import pytest

from shown import same


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("0.84 (between 0.8405924973867 and 0.8405924973942)", "0.8406 (between 0.8405924973868 and 0.8405924973941)"),
        ("Gaussian(sigma=1.1) ... 14062 steps", "Gaussian(sigma=1.1)\nadds up over 14062  steps\n"),
        ("array([1.5, -2.5e-07])", "array([1.5, -2.5001e-07])"),
        ("  width    2e-12; every error", "  width    4e-12; every error"),
        ("    rounding        1.2e-13 (proved)", "    rounding        9e-13 (proved)"),
        ("it kept its promise, with 2.1e-13\n", "it kept its promise, with 1.9e-13\n"),
        ("    inner           0 (proved)", "    inner           0 (proved)"),
    ],
)
def test_digits_of_one_machine_do_not_count(shown, printed):
    assert same(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("2.3815969214", "2.3815969254"),
        ("0.5", "0.7"),
        ("1e-05", "2e-05"),
        ("1.5", "-1.5"),
        ("14062 steps", "14063 steps"),
        ("sigma1", "sigma2"),
        ("a ... b", "a and c"),
        ("a b", "ab"),
        ("0.5", "0.5 and more"),
        ("0.5", "inf"),
        ("    rounding        1.2e-13 (proved)", "    rounding        1.2e-11 (proved)"),
        ("    rounding        1.2e-13 (proved)", "    rounding        0 (proved)"),
        ("    inner           0 (proved)", "    inner           1e-300 (proved)"),
        ("2.3815969214243972546884291 <= epsilon", "2.3815969214243872546884291 <= epsilon"),
    ],
)
def test_everything_else_does(shown, printed):
    assert not same(shown, printed)
