"""The exceptions of this package: a one-line message and the program's exit code.

``Error`` covers every failure that the package itself reports. ``GpuBackendError`` is raised with ``strict=True`` if no
GPU can be sampled. Exceptions of the monitored code are never wrapped. Both can be pickled, so that they can be
returned from worker processes.
"""

from __future__ import annotations

__all__ = ["Error", "GpuBackendError"]


class Error(Exception):
    """A failure: ``message`` is one line, ``code`` the program's exit code (None: it could not start)."""

    def __init__(self, code: int | None, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[Error], tuple[int | None, str]]:
        return type(self), (self.code, self.message)


class GpuBackendError(Error):
    """The device cannot be sampled, and ``strict=True`` makes that an error."""
