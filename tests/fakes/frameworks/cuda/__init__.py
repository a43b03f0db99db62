"""A stand-in for NVIDIA's package; see bench."""
