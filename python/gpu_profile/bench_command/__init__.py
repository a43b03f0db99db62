"""`gpu-profile bench FILE.py[:FUNCTION]`: benchmarks functions of a file.

The program (cli/bench/bench_command.cc) starts this package, which loads the file (selection.py), builds arguments
(arguments.py) and runs gpu_profile.bench. It writes the measurements to the file descriptor given by the program, as
the document of measure/bench_document.h without the fields that the program adds. The program prints tables, writes
files and compares. Contract: docs/reference/commands/bench.md.
"""
