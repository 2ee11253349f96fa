"""Adapters to other packages, each of which is imported only with its adapter."""
