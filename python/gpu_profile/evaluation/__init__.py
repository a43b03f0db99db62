"""`gpu-profile evaluate`: is OPTIMIZED faster than BASELINE, is it still right, and is the figure honest?

The parent (session.py) never imports a module under test. Each side lives in a worker process of its own (worker.py), and
both are asked in turn over a private socket (wire.py). What the optimized side returns travels as plain bytes to the
baseline's process, which compares it (compare.py). Findings become fixed sentences in findings.py, figures in verdict.py.
Contract of the output: docs/reference/commands/evaluate.md. Nothing but the standard library is imported by the parent.
"""
