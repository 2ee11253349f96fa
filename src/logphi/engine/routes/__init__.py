"""The routes to a privacy profile, one file each, and the choice among them.

``route`` is the interface, and ``registry`` has the routes by name. An ``evaluator`` answers requests by one route. If the user
names none, ``automatic`` lists those that fit the loss, ``planner`` takes them by their promises, ``experience`` keeps what
serves later requests, and ``choices`` records what was taken, for ``explain``.
"""
