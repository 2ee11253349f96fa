"""What readers type into the search, and the pages that they should find first."""

from collections.abc import Mapping

# an entry of the index is found before titles and text
PAGES: Mapping[str, tuple[str, ...]] = {
    "epsilon": ("questions", "tutorial", "glossary"),
    "delta": ("questions", "tutorial", "glossary"),
    "DP-SGD": ("dp-sgd", "which-sampler", "opacus"),
    "noise multiplier": ("calibration", "dp-sgd", "glossary"),
    "batch size": ("dp-sgd", "which-sampler"),
    "clipping": ("dp-sgd",),
    "Laplace": ("catalogue-noise",),
    "Gaussian": ("catalogue-noise",),
    "exponential mechanism": ("selections",),
    "randomized response": ("catalogue-responses",),
    "local differential privacy": ("catalogue-responses",),
    "PyTorch": ("opacus", "which-sampler"),
    "JAX": ("which-sampler",),
    "TensorFlow": ("which-sampler",),
    "amplification": ("sampling",),
    "subsampling": ("sampling", "which-sampler"),
    "shuffling": ("batches", "which-sampler"),
    "group privacy": ("batches",),
    "composition": ("tutorial", "accountant"),
    "privacy budget": ("accountant",),
    "PLD": ("glossary", "dp-accounting", "sources-pld"),
    "privacy loss distribution": ("dp-accounting", "sources-pld"),
    "RDP": ("glossary", "conversions", "classical"),
    "Renyi": ("conversions", "classical"),
    "zCDP": ("conversions",),
    "GDP": ("meaning", "conversions"),
    "f-DP": ("conversions",),
    "membership inference": ("meaning",),
    "synthetic data": ("selections",),
    "DP-FTRL": ("correlated-noise",),
    "moments accountant": ("conversions", "classical"),
    "sampling rate": ("glossary", "dp-sgd", "sampling"),
    "adaptive clipping": ("dp-sgd", "sharp-edges"),
    "gradient accumulation": ("dp-sgd", "opacus"),
    "hyperparameter tuning": ("selections",),
    "report noisy max": ("selections", "worked-examples"),
    "sparse vector": ("catalogue-responses",),
    "AboveThreshold": ("catalogue-responses",),
    "partition selection": ("catalogue-responses",),
    "federated learning": ("catalogue-federated", "correlated-noise"),
    "secure aggregation": ("catalogue-federated",),
    "user-level privacy": ("batches", "sharp-edges"),
    "privacy audit": ("auditors",),
    "privacy statement": ("meaning",),
    "bits": ("sharp-edges-numbers",),
    "install": ("index",),
}


def findable(page: str, text: str) -> str:
    """A page with the words for which the search finds it, below its title."""
    words = [word for word, pages in PAGES.items() if page in pages]
    title, newline, rest = text.partition("\n")
    entries = ", ".join(f"! {word}" for word in words)
    return f"{title}\n\n```{{index}} {entries}\n```\n{newline}{rest}" if words else text
