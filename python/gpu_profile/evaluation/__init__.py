"""`gpu-profile evaluate`: is OPTIMIZED faster than BASELINE, is it still correct, and can the figure be trusted?

The parent (session.py) never imports a module under test. Each side runs in a separate worker process (worker.py); the
parent sends requests to both in turn over a private socket (wire.py). The outputs of the optimized side travel as plain
bytes to the baseline's process, which compares them (compare.py). Findings become fixed messages in findings.py,
figures in verdict.py. Contract of the output: docs/reference/commands/evaluate.md. The parent imports only the standard library.
"""
