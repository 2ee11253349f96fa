"""How much work the answer to the most common question is: counted, not timed."""

import logphi as lp
from effort import calls

# measured: 1,307 and 1,927; each call into Python costs what a small array does
MOST_CALLS = 1_400
MOST_CALLS_FOR_EPSILON = 2_100
# measured: 836 a point
MOST_CALLS_IN_A_SWEEP = 1_000


def python_calls(work):
    return calls(work, ("call",))


def training(steps):
    return steps * lp.Gaussian(sigma=1.1).poisson(256 / 60000)


def test_the_profile_of_a_training_takes_few_calls():
    # what is loaded by a first question does not count
    training(1000).delta(1.0)
    assert python_calls(lambda: training(14062).delta(2.0)) <= MOST_CALLS
    release = training(14062)
    release.delta(2.0)
    assert python_calls(lambda: release.delta(2.0)) <= MOST_CALLS


def test_epsilon_of_a_training_lays_one_contour():
    training(1000).epsilon(1e-5)
    assert python_calls(lambda: training(14062).epsilon(1e-5)) <= MOST_CALLS_FOR_EPSILON


def test_the_points_of_a_sweep_share_their_calls():
    def swept(steps):
        return lp.sweep(training, {"steps": steps}, delta=1e-5)

    swept(list(range(10000, 13200, 100)))
    assert python_calls(lambda: swept(list(range(10000, 16400, 100)))) <= 64 * MOST_CALLS_IN_A_SWEEP
