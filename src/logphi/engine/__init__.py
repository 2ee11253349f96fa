"""From a question to its bounds: the choice of a route, the orders of the pair, and the status of the answer."""
