"""Runs checks on a machine with a GPU, even if they crash or hang; see docs/how-it-works/gpu-checks.md. Needs only Python 3.9."""
