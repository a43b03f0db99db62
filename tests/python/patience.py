"""How long tests wait for what always happens, before they say that it hangs.

A busy machine makes programs ten times slower, and a limit that one machine meets fails on another. So there is one limit, and it is
long. A time that the program promises is not such a limit, and stands in its test.
"""

HANGS_S = 600
