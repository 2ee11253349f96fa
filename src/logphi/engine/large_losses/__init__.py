"""Rare large losses among many small ones: which losses are large, and what they add to an excess.

The profile of many sampled normal pairs at a small rate may be decided by one loss that exceeds most others. The moments of the
whole loss allow for several of these, and a line for it lies far above the answer. So the loss is split by the number of large
ones. The way through the files:

1. ``large_guesses`` guesses which losses are large, whether they decide, and at which caps to split; no bound depends on it.
2. ``clipping`` splits at sharp caps: a line for the loss without large ones (:mod:`logphi.laws.normal.clipped`), a closed form
   for the masses above the caps, and a bound of the rest.
3. ``one_large`` splits by coins, where one large loss itself needs a line: lines for none, one and several large losses
   (:mod:`logphi.laws.normal.some_large`, of the marked parts in :mod:`logphi.laws.normal.marked_normal`).
4. ``excess`` has the closed form and the bound that both add.

With hardly any noise, large losses are as good as seen, and ``separated`` has bounds in closed form; ``beside`` has
those beside other losses.

Of samples under replacement, ``capped`` leaves out large losses that are negligible.
"""
