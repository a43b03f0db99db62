"""Drawn pairs for `gpu-profile evaluate`, and trials of how often it is wrong about them (trials.py)."""
