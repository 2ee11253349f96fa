"""Certificates made to keep a checker busy: a kilobyte or a megabyte of text, well formed, that asks for far too much work."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from logphi.text.description import canonical

Terms = list[list[Any]]


def _node(name: str, adjacency: str = "add_remove", base: Any = None, **parameters: Any) -> dict[str, Any]:
    node = {"name": name, "adjacency": adjacency, "parameters": parameters}
    return node if base is None else {**node, "base": base}


def _gaussian(sigma: str = "1", adjacency: str = "add_remove") -> dict[str, Any]:
    return _node("Gaussian", adjacency, sigma=sigma, sensitivity="1")


def _sample(base: Any, rate: str = "0.01", size: str = "1") -> dict[str, Any]:
    return _node("poisson", base=base, rate=rate, group_size=size)


def _mixture(size: int) -> dict[str, Any]:
    parts = [str(k) for k in range(size)]
    return _node("GaussianMixture", sigma="1", sensitivities=parts, probabilities=[f"1/{size}"] * size)


def _laplace(scale: str = "1") -> dict[str, Any]:
    return _node("Laplace", scale=scale, sensitivity="1")


def _discrete_gaussian(sigma: str = "2", move: str = "1", truncation: str | None = None) -> dict[str, Any]:
    return _node("DiscreteGaussian", sigma=sigma, sensitivity=move, truncation=truncation)


def _discrete_laplace(scale: str, move: str = "1000") -> dict[str, Any]:
    return _node("DiscreteLaplace", scale=scale, sensitivity=move)


def _allocation(base: Any, batches: str) -> dict[str, Any]:
    return _node("allocation", base=base, batches=batches)


def _selection(base: Any, mean: str = "10", shape: str = "1") -> dict[str, Any]:
    return _node("repeat_and_select", base=base, mean=mean, shape=shape)


def _composition(*terms: list[Any]) -> dict[str, Any]:
    return {"name": "composition", "adjacency": "add_remove", "terms": list(terms)}


def _partitions(scale: str) -> dict[str, Any]:
    given: dict[str, Any] = {"threshold": "90", "scale": scale, "sigma": None, "truncation": None, "sensitivity": "1"}
    return _node("StabilityThreshold", partitions="1000000", **given)


HOSTILE: dict[str, Terms] = {
    "two mixtures of a hundred": [[2, _mixture(100)]],
    "two samples of groups of 99": [[2, _sample(_gaussian(), "0.1", "99")]],
    "ten groups of a thousand": [[10, _sample(_gaussian(), "0.01", "1000")]],
    "a mixture of 200 beside atoms": [[1, _mixture(200)], [100, _discrete_laplace("7.3", "10")]],
    "1100 discrete Gaussians": [[1100, _discrete_gaussian("1000")]],
    "1100 samples of a discrete Gaussian": [[1100, _sample(_discrete_gaussian())]],
    "10^300 discrete Gaussians": [[10**300, _discrete_gaussian()]],
    "narrow discrete Gaussians": [[1000, _discrete_gaussian("0.1")]],
    "a discrete Gaussian moved far": [[10, _discrete_gaussian("100000", "1000000")]],
    "truncated discrete Gaussians": [[1, _discrete_gaussian(str(2 + k), "1", "19000")] for k in range(60)],
    "discrete Laplace, many steps": [[1, _discrete_laplace(f"{k}.5")] for k in range(1, 100)],
    "lattices without a short span": [[1, _discrete_laplace(f"{10**1000 + k}/7", "1")] for k in range(1, 200)],
    "2000 Laplace": [[2000, _laplace()]],
    "sixty kinds of Laplace": [[1, _laplace(f"{k}.5")] for k in range(1, 60)],
    "300 samples of a narrow Laplace": [[300, _sample(_laplace("1e-3"))]],
    "three samples at a tiny rate": [[3, _sample(_gaussian(), "1e-6")]],
    "samples of hardly any noise": [[100, _sample(_gaussian("1e-5"))]],
    "10^9 samples": [[10**9, _sample(_gaussian("1e4"), "1e-7")]],
    "a hundred pairs": [
        [1, _node("GaussianPair", mean_p="1", sigma_p=f"{100 + k}/100", mean_q="0", sigma_q="1")] for k in range(1, 100)
    ],
    "subsets with hardly any noise": [[100, _node("subset", "replace", _gaussian("1e-3", "replace"), rate="0.1")]],
    "2000 Gaussians and a sample": [*([1, _gaussian(f"{k}.5")] for k in range(1, 2000)), [5, _sample(_gaussian())]],
    "a million batches": [[1, _allocation(_gaussian(), "1000000")]],
    "epochs with hardly any noise": [[10**9, _allocation(_gaussian("1/5"), "1000")]],
    "allocations of many kinds": [[3, _allocation(_gaussian(f"{k}.5"), "997")] for k in range(1, 60)],
    "an allocation of responses": [[5, _allocation(_node("RandomizedResponse", p="0.51"), "5000")]],
    "600 kinds of selections": [[1, _selection(_gaussian(f"{k}.5"))] for k in range(1, 600)],
    "selections of hardly any noise": [[10**9, _selection(_gaussian("1e-5"), "1e9", "1e6")]],
    "a selection of many kinds": [[5, _selection(_composition(*([10**9, _laplace(f"{k}.5")] for k in range(1, 200))))]],
    "selections of almost one run": [[9, _selection(_sample(_mixture(300)), f"{10**999 + k}/{10**999}")] for k in range(1, 50)],
    "selections of rarely many runs": [[1, _selection(_laplace(f"{k}.5"), "1e9", "-0.999")] for k in range(1, 50)],
    "samples of a million partitions": [[7, _sample(_partitions(f"{k}.5"))] for k in range(1, 99)],
    "samples of divergences at many orders": [
        [3, _sample(_node("RenyiDP", orders=[str(2 + j) for j in range(1000)], epsilons=[f"1/{k}"] * 1000))]
        for k in range(1, 9)
    ],
    "a selection of many divergences": [
        [1, _selection(_composition(*([1, _node("ZCDP", rho=f"1/{k}", xi="0")] for k in range(1, 2000))))]
    ],
    "cells for a loss of 1e300": [
        [1, _selection(_composition([3, _node("PureDP", epsilon="1e300")], [1, _laplace()]))],
    ],
    "a hundred kinds of responses": [[50, _node("RandomizedResponse", p=f"0.5{k:02d}")] for k in range(1, 100)],
}


def certificate(
    terms: Terms,
    not_covered: tuple[str, ...],
    *,
    at: tuple[str, str] = ("delta", "1"),
    digits: int = 15,
    bounds: tuple[str, str] | None = None,
    proof: Mapping[str, list[Any]] = MappingProxyType({}),
) -> str:
    """A claim about these mechanisms, of so many digits or with these bounds, with a digest that fits."""
    lower, upper = bounds or ("0.1", f"0.1{'0' * (digits - 1)}1")
    claim = {"quantity": at[0], "at": at[1], "lower": lower, "upper": upper}
    body = {
        "format": "logphi-certificate",
        "version": 3,
        "made_by": {},
        "releases": [{"adjacency": terms[0][1]["adjacency"], "mechanism": terms, "hulls": []}],
        "parameters": "as written",
        "claims": [{**claim, "direction": None, "release": 0, "lines": {}, "proof": dict(proof)}],
        "not_covered": list(not_covered),
    }
    return json.dumps({**body, "sha256": hashlib.sha256(canonical(body).encode("ascii")).hexdigest()})
