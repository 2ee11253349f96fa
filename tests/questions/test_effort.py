"""How much work the answer to the most common question is: counted, not timed."""

import logphi as lp
from effort import calls

# measured: 1,533; each call into Python costs what a small array does
MOST_CALLS = 2_000


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
