"""Privacy statements: what was released, what is promised of it, and what nobody checked."""
