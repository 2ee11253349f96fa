"""The routes to a privacy profile: one file each, entered in the registry."""
