"""`gpu-profile bench FILE.py[:FUNCTION]`: benches functions of a file.

The program (cli/bench/functions.cc) starts this package, which loads the file (selection.py), makes arguments (arguments.py) and
runs gpu_profile.bench. What was measured goes to the file descriptor that the program names, as the document of
measure/bench_document.h without what the program knows itself; tables, files and comparisons are the program's.
Contract: docs/reference/commands/bench.md.
"""
