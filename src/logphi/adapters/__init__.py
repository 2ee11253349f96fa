"""Adapters to other packages. A package is imported only when its adapter is."""
