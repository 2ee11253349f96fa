"""The routes to a privacy profile, one file each, listed in the registry."""
