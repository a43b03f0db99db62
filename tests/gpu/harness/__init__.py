"""Runs checks on a machine with a GPU, whatever happens to them; see docs/how-it-works/gpu-checks.md. Needs Python 3.9 and nothing else."""
