"""The gallery: each example is run, and what it draws is written as SVG.

``python docs/gallery.py DIRECTORY`` draws all of it; a builder of pages calls :func:`draw`.
"""

import io
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

from logphi.progress import shown
from logphi.text.files import write_whole

# title, caption, code; the code leaves what it drew in ``axes``
EXAMPLES = (
    (
        "DP-SGD",
        "The privacy profile of DP-SGD on 60,000 records, after a quarter of the steps and at the end.",
        """\
import logphi as lp

step = lp.Gaussian(sigma=1.1).poisson(256 / 60000)
axes = lp.plot.profile(14062 * step, 3515 * step, labels=["14062 steps", "3515 steps"])
""",
    ),
    (
        "Laplace and Gaussian noise",
        "Laplace noise has a largest loss. Gaussian noise of the same variance is better until shortly before it.",
        """\
import logphi as lp

laplace, gaussian = 20 * lp.Laplace(scale=10.0), 20 * lp.Gaussian(sigma=200**0.5)
axes = lp.plot.profile(laplace, gaussian, labels=["20 x Laplace(10)", "20 x Gaussian of the same variance"])
""",
    ),
    (
        "Two directions",
        "Sampled mechanisms reveal that a record is present more readily than that it is absent.",
        """\
import logphi as lp

axes = lp.plot.profile(lp.Gaussian(sigma=0.8).poisson(0.2), directions=("remove", "add"), labels=["sampled Gaussian"])
""",
    ),
    (
        "Trade-off functions",
        "The errors of the best test between neighbouring data sets: smooth, in three pieces, and in steps.",
        """\
import logphi as lp

axes = lp.plot.tradeoff(lp.Gaussian(sigma=1.0), lp.Laplace(scale=1.0), 5 * lp.RandomizedResponse(p=0.6))
""",
    ),
    (
        "Membership inference",
        "The best membership inference at low false positive rates. Delta is a floor: so often the record is revealed.",
        """\
import logphi as lp

training = 14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)
axes = lp.plot.tradeoff(training, lp.ApproximateDP(epsilon=0.5, delta=1e-3), roc=True, labels=["DP-SGD", "(0.5, 0.001)-DP"])
""",
    ),
    (
        "Characteristic functions",
        "The characteristic function of a smooth loss decays to zero. With atoms it does not decay.",
        """\
import logphi as lp

mechanisms = lp.Gaussian(sigma=1.0), lp.Laplace(scale=1.0), lp.RandomizedResponse(p=0.75)
axes = lp.plot.phi(*mechanisms, t=[k / 10 for k in range(151)], labels=["Gaussian", "Laplace", "randomized response"])
""",
    ),
    (
        "Composition",
        "What up to ten thousand releases cost, exactly and by classical theorems.",
        """\
import logphi as lp

counts = [1, 3, 10, 30, 100, 300, 1000, 3000, 10000]
methods = ["basic composition", "advanced composition", "Renyi, tradeoff"]
axes = lp.plot.composition(lp.Gaussian(sigma=1.1).poisson(0.01), counts, delta=1e-5, methods=methods)
""",
    ),
    (
        "Training",
        "Epsilon against epochs for three runs; dashed, by the Renyi accountant.",
        """\
import logphi as lp

noises = [0.9, 1.1, 1.5]
runs = [lp.dp_sgd(dataset_size=60000, batch_size=256, steps=14062, noise_multiplier=noise) for noise in noises]
axes = lp.plot.training(runs, delta=1e-5, labels=[f"noise {noise}" for noise in noises])
""",
    ),
    (
        "Comparison",
        "The same thousand releases by every classical method.",
        """\
import logphi as lp

axes = lp.plot.compare(1000 * lp.Gaussian(sigma=1.1).poisson(0.01), delta=1e-5)
""",
    ),
    (
        "Comparison over a range",
        "The saddle point is hard to tell from the truth; central limit theorems cannot go below their error.",
        """\
import logphi as lp

epsilons = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
methods = ["advanced composition", "Renyi, tradeoff", "Berry-Esseen", "saddle point"]
axes = lp.plot.compare(100 * lp.PureDP(epsilon=0.1), epsilon=epsilons, methods=methods)
""",
    ),
    (
        "A loss with a density",
        "The privacy loss of a sampled Gaussian, in both directions.",
        """\
import logphi as lp

axes = lp.plot.loss(lp.Gaussian(sigma=0.8).poisson(0.1))
""",
    ),
    (
        "A loss with atoms",
        "Propose, test, release: a density, atoms with their own axis, and the probability of an infinite loss in the legend.",
        """\
import logphi as lp

axes = lp.plot.loss(5 * lp.DistanceToInstability(epsilon=1.0, delta=1e-3))
""",
    ),
    (
        "A loss on a lattice",
        "The loss of sampled randomized responses consists of atoms.",
        """\
import logphi as lp

axes = lp.plot.loss(20 * lp.RandomizedResponse(p=0.6).poisson(0.3))
""",
    ),
    (
        "Bands",
        "Where no density is proved, the loss is drawn as a histogram, whose bands are the proved bounds.",
        """\
import logphi as lp

axes = lp.plot.loss(10 * lp.Laplace(scale=1.0).poisson(0.1), rtol=1e-2)
""",
    ),
)


def draw(directory):
    """Write the pictures into a directory: the title of each, its file, its caption and its code."""
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    drawn = []
    for title, caption, code in shown(EXAMPLES, "pictures"):
        name = title.lower().replace(" ", "-")
        names: dict[str, Any] = {}
        exec(compile(code, name, "exec"), names)
        figure, content = names["axes"].figure, io.BytesIO()
        # the same bytes on every run
        with mpl.rc_context({"svg.hashsalt": name}):
            figure.savefig(content, format="svg", metadata={"Date": None})
        plt.close(figure)
        write_whole(target / f"{name}.svg", content.getvalue())
        drawn.append((title, f"{name}.svg", caption, code))
    return drawn


if __name__ == "__main__":
    draw(sys.argv[1])
