"""Questions put to a log-phi; each names its theorem and the side on which its error falls."""
