"""What can go wrong, as exceptions: one line of text and the program's exit code.

``Error`` is every failure that this package reports by itself; ``GpuBackendError`` is the one that ``strict=True`` asks
for, when there is no way to sample a GPU. Exceptions of the monitored code are never wrapped. Both can be pickled, so
that they come back from worker processes.
"""

from __future__ import annotations

__all__ = ["Error", "GpuBackendError"]


class Error(Exception):
    """What went wrong, in one line (``message``), and the program's exit code (``code``, None: it could not start)."""

    def __init__(self, code: int | None, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[Error], tuple[int | None, str]]:
        return type(self), (self.code, self.message)


class GpuBackendError(Error):
    """The device cannot be sampled, and ``strict=True`` says that this is an error."""
