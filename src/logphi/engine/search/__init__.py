"""The search for the epsilon at which a profile falls to a level.

``warm_start`` guesses the crossing, from Chernoff's bound or the crossing before; ``crossing_search`` prepares profiles near
the guess, and encloses the crossing. Three others need no such search: ``closed_crossing`` where the profile has a closed form,
``near_largest_loss`` where only the largest losses count, and ``batched_crossings`` for many releases of one kind at once.
"""
