"""Normal laws: masses, quantiles and order of profiles, with small relative errors also in the far tails."""
