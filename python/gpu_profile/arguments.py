"""Validation of arguments that several interfaces share: devices, numbers of runs, names. An invalid argument raises
ValueError or TypeError with its name and the accepted values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, Union

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

__all__ = ["Device", "check_runs", "device_list", "is_device", "unknown"]

_EXPECTED = 'a number, a UUID, "all", or a list of them'


class DeviceObject(Protocol):
    """A device object such as torch.device; without an index it denotes the first device."""

    @property
    def type(self) -> str: ...
    @property
    def index(self) -> int | None: ...


# A device number, a UUID, "all", "0,2", or several numbers and UUIDs.
Device = Union[int, str, DeviceObject, Iterable[Union[int, str, DeviceObject]]]


def device_list(device: Device) -> str:
    """Convert a device argument to the library's form: "all", or comma-separated numbers and UUIDs."""
    if isinstance(device, bool):
        raise TypeError(f"invalid device {device}: expected {_EXPECTED}")
    if isinstance(device, int):
        if device < 0:
            raise ValueError(f"invalid device {device}: devices are numbered from 0")
        return str(device)
    if isinstance(device, str):
        named = device.strip()
        if not named:
            raise ValueError(f"invalid device '': expected {_EXPECTED}")
        return named
    if is_device(device):
        return str(device.index or 0)
    if isinstance(device, Iterable):
        return ",".join(device_list(one) for one in device)
    raise TypeError(f"invalid device {device!r}: expected {_EXPECTED}")


def is_device(device: object) -> TypeGuard[DeviceObject]:
    """Return whether `device` is a device object such as torch.device, which is callable, too."""
    return hasattr(device, "index") and hasattr(device, "type") and not isinstance(device, type)


def check_runs(repeats: int, warmup_runs: int) -> None:
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    if warmup_runs < 0:
        raise ValueError(f"warmup_runs must be at least 0, got {warmup_runs}")


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Return the message for an unknown name: with the closest known name, otherwise with all of them."""
    from difflib import get_close_matches

    names = list(known)
    close = get_close_matches(str(name), names, 1)
    return f"unknown {kind} '{name}'; " + (f"did you mean '{close[0]}'?" if close else f"expected one of {', '.join(names)}")
