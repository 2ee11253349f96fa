"""The exit statuses."""

# chosen: answered within tolerance
MET = 0
# chosen: answered, but wider than requested
WIDE = 1
# chosen: bad input
REFUSED = 2
# from sysexits.h
BROKEN = 70
# derived: as a shell reports the signal SIGINT
INTERRUPTED = 130
# derived: as a shell reports the signal SIGPIPE
PIPE_CLOSED = 141
