"""Calibration: the parameter of a family of mechanisms that just meets a target."""
