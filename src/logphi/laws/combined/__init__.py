"""Laws made of other laws: convex combinations, conditioned laws, samples."""
