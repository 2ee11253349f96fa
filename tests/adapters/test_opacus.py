"""Training with Opacus is accounted for as what it is, in this release of Opacus and in older ones."""

import importlib
import json
import math
import os
import re
import subprocess
import sys
import warnings
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import opacus
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from opacus import PrivacyEngine, accountants, privacy_engine
from opacus.accountants import PRVAccountant, RDPAccountant, utils
from opacus.schedulers import ExponentialNoise
from opacus.utils.batch_memory_manager import BatchMemoryManager
from scipy.stats import binom
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader

import logphi as lp
import logphi.adapters.opacus as adapter
from logphi.adapters.opacus import LogPhiAccountant, SamplingWarning
from logphi.adapters.opacus.sampling import BatchSizes
from logphi.pairs.pair import UnsupportedError
from private_training import ADAPTIVE, BATCHES, RECORDS, made_private, train
from repository import ROOT

pytestmark = [
    # a generator that is quick and not cryptographic: nothing is published here
    pytest.mark.filterwarnings("ignore:Secure RNG turned off"),
    # the inputs of the first layer need no gradient; Opacus does without
    pytest.mark.filterwarnings("ignore:Full backward hook is firing"),
    # the Renyi accountant would like more orders; its answer is an upper bound as it is
    pytest.mark.filterwarnings("ignore:Optimal order is the:UserWarning:opacus"),
]

DELTA = 1e-5
RATE = 1 / BATCHES
# the error that their accountant is asked to keep to: its upper end may exceed the truth by twice as much
PRV_ERROR = 0.01
# where those who want to test older releases have put them, each in a directory of its own
OLDER = [place for place in os.environ.get("LOGPHI_OLDER_OPACUS", "").split(os.pathsep) if place]


def engine(accountant="logphi"):
    return PrivacyEngine(accountant=accountant)


def spent(history, kind=LogPhiAccountant):
    accountant = kind()
    accountant.history = list(history)
    return accountant


def composed(history):
    return lp.compose([steps * lp.Gaussian(sigma=noise).poisson(rate) for noise, rate, steps in history])


# ------------------------------------------------------------------------------------------------ training


def test_a_training_run_is_a_composition_of_sampled_gaussians():
    private = engine()
    workshop = made_private(private.make_private, noise_multiplier=1.1)
    assert train(*workshop, epochs=3) == 3 * BATCHES
    history = private.accountant.history
    assert history == [(1.1, RATE, 3 * BATCHES)]
    assert len(private.accountant) == 3 * BATCHES
    own = (3 * BATCHES * lp.Gaussian(sigma=1.1).poisson(RATE)).epsilon(DELTA)
    assert private.get_epsilon(DELTA) == own.upper
    assert private.accountant.bound(DELTA).same_as(own)
    assert private.accountant.release == 3 * BATCHES * lp.Gaussian(sigma=1.1).poisson(RATE)
    assert own.upper < spent(history, RDPAccountant).get_epsilon(DELTA)
    theirs = spent(history, PRVAccountant).get_epsilon(DELTA, eps_error=PRV_ERROR)
    assert own.lower <= theirs <= own.upper + 2 * PRV_ERROR


def test_every_noise_of_a_schedule_is_an_entry():
    private = engine()
    workshop = made_private(private.make_private, noise_multiplier=2.0)
    schedule = ExponentialNoise(workshop[1], gamma=0.5)
    for _ in range(2):
        train(*workshop)
        schedule.step()
    train(*workshop)
    history = [(2.0, RATE, BATCHES), (1.0, RATE, BATCHES), (0.5, RATE, BATCHES)]
    assert private.accountant.history == history
    assert private.get_epsilon(DELTA) == composed(history).epsilon(DELTA).upper


def test_physical_batches_are_not_steps():
    private = engine()
    model, optimizer, loader = made_private(private.make_private, noise_multiplier=1.0)
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=3, optimizer=optimizer) as small:
        assert train(model, optimizer, small, epochs=2) > 2 * BATCHES
    assert private.accountant.history == [(1.0, RATE, 2 * BATCHES)]


def test_a_step_that_is_refused_is_not_taken():
    private = engine()
    model, optimizer, loader = made_private(private.make_private, noise_multiplier=1e-200)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    with pytest.raises(ValueError, match="between 1e-100 and 1e100"):
        train(model, optimizer, loader)
    assert all(torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))
    assert private.get_epsilon(DELTA) == 0


def test_accumulated_batches_count_as_one_of_a_larger_rate():
    private = engine()
    with pytest.warns(SamplingWarning):
        model, optimizer, loader = made_private(private.make_private, noise_multiplier=1.0, poisson_sampling=False)
    for index, (features, labels) in enumerate(loader):
        cross_entropy(model(features), labels).backward()
        if index % 2:
            optimizer.step()
            optimizer.zero_grad()
    assert private.accountant.history == [(1.0, 2 * RATE, BATCHES // 2)]


def sampling_warnings(caught):
    return [str(one.message) for one in caught if one.category is SamplingWarning]


@pytest.mark.parametrize("shuffle", [False, True])
def test_without_poisson_sampling_it_warns_once_with_the_order_of_the_right_number(shuffle):
    private = engine()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        workshop = made_private(private.make_private, noise_multiplier=1.1, poisson_sampling=False, shuffle=shuffle)
        train(*workshop, epochs=4)
        private.get_epsilon(DELTA)
        made_private(private.make_private, noise_multiplier=1.1, poisson_sampling=False, shuffle=shuffle)
    (said,) = sampling_warnings(caught)
    for needle in ("poisson_sampling=False", "too small", "one release an epoch without sampling", "noise multiplier 1.1"):
        assert needle in said
    right = [float(format((epochs * lp.Gaussian(sigma=1.1)).epsilon(DELTA), ".2g")) for epochs in (1, 10)]
    told = [float(format((BATCHES * epochs * lp.Gaussian(1.1).poisson(RATE)).epsilon(DELTA), ".2g")) for epochs in (1, 10)]
    assert f"epsilon is then {right[0]:g} after one epoch and {right[1]:g} after ten" in said
    assert f"this accountant says {told[0]:g} and {told[1]:g}" in said
    assert right[0] > told[0]
    assert issubclass(SamplingWarning, UserWarning)


def test_a_budget_without_poisson_sampling_is_warned_of():
    private = engine()
    with pytest.warns(SamplingWarning, match="one release an epoch"):
        made_private(
            private.make_private_with_epsilon, target_epsilon=2.0, target_delta=DELTA, epochs=2, poisson_sampling=False
        )


def test_a_loader_of_ones_own_in_place_of_the_returned_one_is_noticed():
    private = engine()
    model, optimizer, loader = made_private(private.make_private, noise_multiplier=1.1)
    own = DataLoader(loader.dataset, batch_size=4, shuffle=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train(model, optimizer, own, epochs=4)
    (said,) = sampling_warnings(caught)
    assert "batches hold 4 records" in said


@pytest.mark.parametrize("kind", ["usual", "physical", "everything", "other accountant"])
def test_poisson_samples_are_not_warned_of(kind):
    private = engine("rdp" if kind == "other accountant" else "logphi")
    options: dict[str, Any] = {"poisson_sampling": kind in ("usual", "physical")}
    options |= {"batch_size": RECORDS} if kind == "everything" else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model, optimizer, loader = made_private(private.make_private, noise_multiplier=1.0, **options)
        if kind == "physical":
            with BatchMemoryManager(data_loader=loader, max_physical_batch_size=1, optimizer=optimizer) as small:
                train(model, optimizer, small, epochs=6)
        else:
            train(model, optimizer, loader, epochs=6)
    assert sampling_warnings(caught) == []


@pytest.mark.parametrize(("expected", "rate"), [(7, 1 / 8), (2, 0.3), (100, 0.004), (1.1, 0.01), (50, 0.9)])
def test_no_size_of_a_poisson_sample_is_likelier_than_its_bound(expected, rate):
    number = round(expected / rate)
    variance = number * rate * (1 - rate)
    assert binom.pmf(range(number + 1), number, rate).max() <= (2 * math.e * variance) ** -0.5


@pytest.mark.parametrize("seed", range(3))
def test_sizes_of_samples_are_an_accident_and_equal_ones_are_not(seed):
    drawn, alike = BatchSizes(), BatchSizes()
    sizes = binom.rvs(60, 1 / 8, size=1500, random_state=seed)
    assert all(drawn.accidental(size, 7, 1 / 8) for size in sizes)
    assert [alike.accidental(256, 256, 0.004) for _ in range(12)].index(False) in range(5, 12)
    # nothing is known of tiny samples
    assert all(BatchSizes().accidental(0, 0.5, 0.01) for _ in range(100))


def test_adaptive_clipping_is_told_by_its_whole_noise():
    private = engine()
    train(*made_private(private.make_private, noise_multiplier=1.0, **ADAPTIVE))
    assert private.accountant.history == [(1.0, RATE, BATCHES)]


def test_a_run_goes_on_from_its_checkpoint_to_the_bit(tmp_path):
    once, first, second = engine(), engine(), engine()
    train(*made_private(once.make_private, noise_multiplier=1.1), epochs=2)

    model, optimizer, loader = made_private(first.make_private, noise_multiplier=1.1)
    train(model, optimizer, loader)
    first.save_checkpoint(path=tmp_path / "half.pt", module=model, optimizer=optimizer)
    model, optimizer, loader = made_private(second.make_private, noise_multiplier=1.1)
    second.load_checkpoint(path=tmp_path / "half.pt", module=model, optimizer=optimizer)
    assert second.accountant.history == first.accountant.history
    assert second.accountant.bound(DELTA).same_as(first.accountant.bound(DELTA))
    train(model, optimizer, loader)
    assert second.accountant.bound(DELTA).same_as(once.accountant.bound(DELTA))
    # what the first one keeps is its own
    assert len(first.accountant) == BATCHES
    # code is not loaded along with it
    plain = torch.load(tmp_path / "half.pt", weights_only=True)
    assert plain["privacy_accountant_state_dict"]["mechanism"] == "logphi"


@pytest.mark.parametrize("before", ["rdp", "prv"])
def test_a_run_changes_its_accountant_midway(before, tmp_path):
    old, new = engine(before), engine()
    model, optimizer, loader = made_private(old.make_private, noise_multiplier=1.1)
    train(model, optimizer, loader)
    old.save_checkpoint(path=tmp_path / "half.pt", module=model)
    model, optimizer, loader = made_private(new.make_private, noise_multiplier=1.1)
    new.load_checkpoint(path=tmp_path / "half.pt", module=model)
    train(model, optimizer, loader)
    assert new.accountant.history == [(1.1, RATE, 2 * BATCHES)]


def test_the_noise_is_found_that_a_budget_needs():
    private = engine()
    workshop = made_private(private.make_private_with_epsilon, target_epsilon=2.0, target_delta=DELTA, epochs=2)
    train(*workshop, epochs=2)
    assert 2.0 - 0.01 <= private.get_epsilon(DELTA) <= 2.0
    budget = {"target_epsilon": 2.0, "target_delta": DELTA, "sample_rate": RATE, "epochs": 2}
    own = utils.get_noise_multiplier(accountant="logphi", **budget)
    assert own == workshop[1].noise_multiplier
    assert own < utils.get_noise_multiplier(accountant="rdp", **budget)


# -------------------------------------------------------------------------------------------- the accountant


def test_nothing_is_spent_before_the_first_step():
    accountant = LogPhiAccountant()
    assert len(accountant) == 0
    assert accountant.get_epsilon(DELTA) == 0 == accountant.get_epsilon(0.0)


def test_the_order_of_steps_does_not_matter():
    one, other = [(1.0, 0.1, 3), (2.0, 0.1, 5), (1.0, 0.1, 4)], [(2.0, 0.1, 5), (1.0, 0.1, 7)]
    assert spent(one).release == spent(other).release
    assert len(spent(one)) == 12


@pytest.mark.parametrize("rate", [1e-3, 0.3, 1.0])
def test_without_noise_no_epsilon_is_enough(rate):
    for before in ([], [(1.0, 0.01, 10)]):
        history = [*before, (0.0, rate, 1)]
        assert spent(history).get_epsilon(DELTA) == math.inf == spent(history, RDPAccountant).get_epsilon(DELTA)


def test_without_noise_what_is_hardly_ever_sampled_is_hardly_ever_told():
    assert spent([(0.0, 1e-7, 50)]).get_epsilon(DELTA) == 0
    assert spent([(0.0, 1e-7, 200)]).get_epsilon(DELTA) == math.inf
    # 1 - (1 - rate)^steps, the probability that a record ever takes part
    assert -math.expm1(200 * math.log1p(-(2**-14))) in spent([(0.0, 2**-14, 200)]).release.delta(1.0)


@pytest.mark.parametrize(("told", "drawn"), [(1e-7, 2 * 2**-24), (2**-24, 2**-24), (1 / 3, 5592406 * 2**-24), (1.0, 1.0)])
def test_the_rate_is_the_one_that_is_drawn_with(told, drawn):
    assert spent([(1.0, told, 7)]).release == 7 * lp.Gaussian(1.0).poisson(drawn)


def test_options_of_other_accountants_mean_nothing():
    accountant = spent([(1.0, 0.1, 5)])
    assert accountant.get_epsilon(DELTA, alphas=[2], eps_error=1.0) == accountant.get_epsilon(delta=DELTA)
    with pytest.raises(TypeError):
        accountant.get_epsilon(DELTA, [2])


@pytest.mark.parametrize("delta", [-0.1, 1.1, math.nan, "1e-5", None, [1e-5]])
def test_a_delta_that_is_none_is_refused(delta):
    with pytest.raises((ValueError, TypeError), match="delta must"):
        spent([(1.0, 0.1, 1)]).get_epsilon(delta)


BAD_STEPS = [
    (math.nan, 0.1, "noise_multiplier"),
    (math.inf, 0.1, "noise_multiplier"),
    (-1.0, 0.1, "noise_multiplier must not be negative"),
    ("1", 0.1, "noise_multiplier"),
    (True, 0.1, "noise_multiplier"),
    (1e-200, 0.1, "between 1e-100 and 1e100"),
    (1.0, math.nan, "sample_rate"),
    (1.0, -0.1, "sample_rate must not be negative"),
    (1.0, 1.25, "more than one pass over the data were accumulated"),
    (1.0, None, "sample_rate"),
]


@pytest.mark.parametrize(("noise", "rate", "text"), BAD_STEPS)
def test_a_step_that_cannot_be_accounted_for_is_not_recorded(noise, rate, text):
    accountant = spent([(1.0, 0.1, 5)])
    with pytest.raises((ValueError, TypeError), match=text):
        accountant.step(noise_multiplier=noise, sample_rate=rate)
    assert accountant.history == [(1.0, 0.1, 5)]


BAD_STATES: list[tuple[Any, str]] = [
    (None, "a mapping with a history and a mechanism"),
    ({}, "privacy_accountant_state_dict"),
    ({"history": []}, "a mapping with a history and a mechanism"),
    ({"history": [], "mechanism": "ftrl"}, "a history of accountant 'ftrl' may mean something else"),
    ({"history": [], "mechanism": ["rdp"]}, "may mean something else"),
    ({"history": "abc", "mechanism": "rdp"}, "is a list"),
    ({"history": {1: 2}, "mechanism": "rdp"}, "is a list"),
    ({"history": [(1.0, 0.1)], "mechanism": "rdp"}, "an entry of a history is"),
    ({"history": ["abc"], "mechanism": "rdp"}, "an entry of a history is"),
    ({"history": [(1.0, 0.1, -3)], "mechanism": "rdp"}, "number of steps must not be negative"),
    ({"history": [(1.0, 0.1, 3.5)], "mechanism": "rdp"}, "integer"),
    ({"history": [(1.0, 0.1, True)], "mechanism": "rdp"}, "integer"),
    ({"history": [(1.0, 0.1, 10**400)], "mechanism": "rdp"}, "at most 1e300"),
    *(({"history": [(noise, rate, 1)], "mechanism": "rdp"}, text) for noise, rate, text in BAD_STEPS),
]


@pytest.mark.parametrize(("state", "text"), BAD_STATES)
def test_a_state_that_is_none_is_refused_whole(state, text):
    accountant = spent([(1.0, 0.1, 5)])
    with pytest.raises((ValueError, TypeError), match=text):
        accountant.load_state_dict(state)
    assert accountant.history == [(1.0, 0.1, 5)]
    if isinstance(state, dict) and isinstance(state.get("history"), list) and state["history"]:
        with pytest.raises((ValueError, TypeError), match=text):
            spent(state["history"]).get_epsilon(DELTA)


def test_a_state_of_an_older_release_names_its_accountant_by_a_method():
    accountant = LogPhiAccountant()
    accountant.load_state_dict({"history": [(1.0, 0.1, 5)], "mechanism": RDPAccountant.mechanism})
    assert accountant.history == [(1.0, 0.1, 5)]


def test_a_state_stays_as_it_was_saved_and_is_plain():
    accountant = spent([(1.0, 0.1, 5)])
    state = accountant.state_dict()
    accountant.step(noise_multiplier=1.0, sample_rate=0.1)
    assert state == OrderedDict(history=[(1.0, 0.1, 5)], mechanism="logphi")
    read = json.loads(json.dumps(state))
    other = LogPhiAccountant()
    other.load_state_dict(read)
    other.step(noise_multiplier=1.0, sample_rate=0.1)
    assert other.history == accountant.history
    assert len(read["history"][0]) == 3
    assert read["history"][0][2] == 5
    filled = {"mine": 1}
    assert accountant.state_dict(filled) is filled
    assert filled["mine"] == 1


STEPS = st.tuples(st.sampled_from([0.8, 1.0, 3.0]), st.sampled_from([0.0, 0.01, 0.5]))


@given(st.lists(STEPS, max_size=30))
def test_the_history_is_the_run_lengths_of_the_steps(steps):
    own, theirs = LogPhiAccountant(), RDPAccountant()
    for noise, rate in steps:
        own.step(noise_multiplier=noise, sample_rate=rate)
        theirs.step(noise_multiplier=noise, sample_rate=rate)
    assert own.history == theirs.history
    assert len(own) == len(steps)


@pytest.mark.parametrize(("version", "tells_all"), [("1.5.4", False), ("1.6.0", True), ("1.10", True), ("2.0.1", True)])
def test_adaptive_clipping_is_refused_where_its_noise_is_not_told(version, tells_all, monkeypatch):
    monkeypatch.setattr(opacus, "__version__", version)
    accountant = LogPhiAccountant()
    hook = accountant.get_optimizer_hook_fn(sample_rate=0.1)
    adaptive = SimpleNamespace(noise_multiplier=1.0, accumulated_iterations=1, unclipped_num_std=10.0)
    if tells_all:
        hook(adaptive)
    else:
        with pytest.raises(UnsupportedError, match=rf"Opacus {version}: before 1\.6"):
            hook(adaptive)
        hook(SimpleNamespace(noise_multiplier=1.0, accumulated_iterations=1))
    assert accountant.history == [(1.0, 0.1, 1)]


# ------------------------------------------------------------------------------------------- registration


def test_the_name_is_known_and_stays_known():
    for _ in range(2):
        importlib.reload(adapter)
        assert type(accountants.create_accountant("logphi")) is adapter.LogPhiAccountant
    assert type(accountants.create_accountant("rdp")) is RDPAccountant


def test_releases_without_a_registry_get_one(monkeypatch):
    def make(mechanism):
        if mechanism == "rdp":
            return RDPAccountant()
        raise ValueError(f"Unexpected accounting mechanism: {mechanism}")

    monkeypatch.delattr(accountants, "register_accountant")
    for place in (accountants, utils, privacy_engine):
        monkeypatch.setattr(place, "create_accountant", make)
    for _ in range(2):
        importlib.reload(adapter)
    assert type(engine().accountant) is LogPhiAccountant
    assert type(engine("rdp").accountant) is RDPAccountant
    assert accountants.create_accountant is utils.create_accountant is privacy_engine.create_accountant
    assert accountants.create_accountant.make is make
    noise = utils.get_noise_multiplier(target_epsilon=2.0, target_delta=DELTA, sample_rate=0.1, steps=9, accountant="logphi")
    assert 1.98 < spent([(noise, 0.1, 9)]).get_epsilon(DELTA) <= 2.0
    with pytest.raises(ValueError, match="Unexpected accounting mechanism: own"):
        engine("own")


def run(code, *path, **environment):
    ours = [str(Path(lp.__file__).parents[1]), str(ROOT / "tests" / "shared")]
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*path, *ours]), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_opacus_is_loaded_by_its_adapter_alone():
    code = """
import sys
import logphi
from logphi import Gaussian
Gaussian(sigma=1).epsilon(1e-5)
assert not {"opacus", "torch"} & set(sys.modules)
sys.modules["opacus"] = None
import logphi.adapters.opacus
"""
    assert "needs Opacus (import of opacus halted; None in sys.modules): pip install opacus" in run(code).stderr


def test_the_lines_of_the_readme_run():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```python opacus\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    parts = made_private(dict)
    names = {"model": parts["module"], "optimizer": parts["optimizer"], "loader": parts["data_loader"]}
    names |= {"PrivacyEngine": PrivacyEngine, "train": train}
    exec(lines, names)
    assert names["engine"].get_epsilon(1e-5) == composed([(1.1, RATE, BATCHES)]).epsilon(1e-5).upper


OLDER_RUN = """
import json, sys, tempfile, warnings
from pathlib import Path
warnings.simplefilter("ignore")
import opacus
from opacus import PrivacyEngine
from opacus.accountants.utils import get_noise_multiplier
import logphi.adapters.opacus
from private_training import ADAPTIVE, made_private, train
assert Path(opacus.__file__).parents[1] == Path(sys.argv[1]), opacus.__file__
private = PrivacyEngine(accountant="logphi")
workshop = made_private(private.make_private, noise_multiplier=1.1)
train(*workshop, epochs=2)
with tempfile.TemporaryDirectory() as place:
    private.save_checkpoint(path=Path(place) / "end.pt", module=workshop[0])
    other = PrivacyEngine(accountant="logphi")
    other.load_checkpoint(path=Path(place) / "end.pt", module=workshop[0])
budgeted = PrivacyEngine(accountant="logphi")
train(*made_private(budgeted.make_private_with_epsilon, target_epsilon=2.0, target_delta=1e-5, epochs=1))
former = PrivacyEngine(accountant="rdp")
train(*made_private(former.make_private, noise_multiplier=1.1))
changed = PrivacyEngine(accountant="logphi")
changed.accountant.load_state_dict(former.accountant.state_dict())
try:
    adapting = PrivacyEngine(accountant="logphi")
    train(*made_private(adapting.make_private, noise_multiplier=1.0, **ADAPTIVE))
except Exception as refusal:
    adaptive = type(refusal).__name__
print(json.dumps({
    "adaptive": adaptive,
    "registry": hasattr(opacus.accountants, "register_accountant"),
    "history": private.accountant.history,
    "epsilon": private.get_epsilon(1e-5),
    "resumed": other.get_epsilon(1e-5),
    "budgeted": budgeted.get_epsilon(1e-5),
    "changed": changed.accountant.history,
    "kept": type(former.accountant).__name__,
}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("place", OLDER or [None])
def test_older_releases_take_the_accountant_by_its_name(place):
    if place is None:
        pytest.skip("no older release of Opacus: name directories that hold one in LOGPHI_OLDER_OPACUS")
    result = run(f"import sys; sys.argv.append({place!r}); exec({OLDER_RUN!r})", place)
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    own = (2 * BATCHES * lp.Gaussian(sigma=1.1).poisson(RATE)).epsilon(DELTA).upper
    assert told["registry"] is False
    assert told["history"] == [[1.1, RATE, 2 * BATCHES]]
    assert told["epsilon"] == told["resumed"] == own
    assert 1.98 < told["budgeted"] <= 2.0
    assert told["changed"] == [[1.1, RATE, BATCHES]]
    # by this accountant, or by releases that know no such clipping
    assert told["adaptive"] in ("UnsupportedError", "TypeError", "ValueError")
    assert told["kept"] == "RDPAccountant"
