"""Normal laws: masses, quantiles and regions, relatively accurate however far out."""
