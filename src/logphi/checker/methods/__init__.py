"""Ways from laws to delta: each encloses the same number."""
