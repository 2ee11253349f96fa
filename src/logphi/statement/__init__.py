"""Privacy statements: what was released, with which guarantee, and what was not checked."""
