import numpy as np
import pytest

from logphi.quadrature.sums.approximate_nodes import ApproximateNodes

LOSS = np.linspace(-1.0, 1.0, 5001)


def law(loss, log_mass):
    total = np.log(np.exp(log_mass).sum())
    return ApproximateNodes(loss, log_mass - total)


def by_hand(nodes, c):
    return np.array([np.log((np.exp(nodes.log_mass) * np.exp((one + 1) * nodes.loss)).sum()) for one in c.ravel()]).reshape(
        c.shape
    )


def test_the_transform_is_the_sum_over_the_nodes_and_keeps_the_shape():
    c = np.array([[-1.5, -0.3], [0.7, 20.0]])
    loss, masses = np.array([-0.4, 0.1, 0.3]), np.log([0.2, 0.3, 0.4])
    nodes = ApproximateNodes(loss, masses, (float(1 - np.exp(masses + loss).sum()), 0.1))
    assert nodes.log_transform(c) == pytest.approx(by_hand(nodes, c), rel=1e-12)


def test_large_losses_are_no_overflow():
    nodes = ApproximateNodes(np.array([-900.0, 900.0]), np.log([0.5, 0.5]))
    assert nodes.log_transform(np.array([9.0])) == pytest.approx([9000 + np.log(0.5)])


def test_merged_nodes_keep_mass_and_mean_and_about_the_transform():
    nodes = law(LOSS, LOSS / 2 - LOSS**2)
    merged = nodes.merged(512)
    assert merged.loss.size <= 512
    for power in (0, 1):
        moments = [(np.exp(one.log_mass) * one.loss**power).sum() for one in (nodes, merged)]
        assert moments[1] == pytest.approx(moments[0], rel=1e-12)
    c = np.array([-3.0, -0.5, 2.0, 30.0])
    assert by_hand(merged, c) == pytest.approx(by_hand(nodes, c), rel=1e-4)


def test_a_far_atom_is_not_merged_with_others():
    nodes = law(np.append(LOSS, 8.0), np.append(np.zeros(LOSS.size), -40.0))
    merged = nodes.merged(512)
    assert merged.loss[-1] == 8.0
    c = np.array([30.0])
    assert by_hand(merged, c) == pytest.approx(by_hand(nodes, c), rel=1e-3)


def test_few_nodes_and_equal_nodes():
    few = ApproximateNodes(np.array([0.1, 0.2]), np.log([0.5, 0.5]))
    assert few.merged(2) is few
    same = ApproximateNodes(np.full(10, 0.1), np.full(10, np.log(0.1))).merged(4)
    assert same.loss == pytest.approx([0.1])
    assert np.exp(same.log_mass) == pytest.approx([1.0])
