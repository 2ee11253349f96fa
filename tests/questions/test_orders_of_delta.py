"""The order of a pair that cannot attain the larger delta is not computed, if the other one is likelier to."""

import logphi as lp
from logphi.engine.routes.choices import choices


def test_an_order_with_a_far_smaller_profile_is_proved_to_be_below():
    release = 88 * lp.Gaussian(3.1).poisson(0.002) + 2 * lp.GaussianPair(1, 1, 0, 1.11)
    with choices() as made:
        found = release.delta(5.3)
    assert len(made) == 1
    assert found.direction is lp.Direction.ADD
    assert found.lower <= release.delta(5.3, direction="add").upper
    assert release.delta(5.3, direction="add").lower <= found.upper
