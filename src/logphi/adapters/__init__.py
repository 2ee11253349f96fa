"""Other people's packages, each imported only when its adapter is."""
