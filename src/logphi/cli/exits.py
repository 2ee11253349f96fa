"""The exit statuses."""

# chosen: 70 as in sysexits.h, 130 and 141 as a shell reports the signals SIGINT and SIGPIPE
MET, WIDE, REFUSED, BROKEN, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 70, 130, 141
