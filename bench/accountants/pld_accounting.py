"""PLD_accounting (Feldman & Shenfeld 2026): random allocation, between two discretizations that are refined."""

from __future__ import annotations

from workloads import Allocation, Workload

from accountants.answer import Accountant, Answer, UnsupportedError

# chosen: its default accuracy takes minutes
_ACCURACY = 0.02


def with_pld_accounting(workload: Workload) -> Answer:
    """The range of epsilon."""
    (step, epochs), *others = workload.steps
    if others or workload.question != "epsilon" or not isinstance(step, Allocation):
        raise UnsupportedError("it is asked for random allocation only")
    from PLD_accounting import gaussian_allocation_epsilon_range

    upper, lower = gaussian_allocation_epsilon_range(
        delta=workload.at, sigma=step.sigma, num_steps=step.batches, num_epochs=epochs, epsilon_accuracy=_ACCURACY
    )
    return Answer(float(upper), float(lower), float(upper))


ALLOCATION = Accountant(f"PLD_accounting, to {_ACCURACY:g}", "PLD_accounting", with_pld_accounting, questions=("epsilon",))
