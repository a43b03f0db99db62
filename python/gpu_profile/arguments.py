"""Arguments that several interfaces take: which device, how many runs. A mistake is a ValueError or TypeError that names
the argument and what it takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, Union

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

__all__ = ["Device", "check_runs", "device_list", "is_device"]


class DeviceObject(Protocol):
    """An object that stands for a device, as torch.device does; without an index it means the first one."""

    @property
    def type(self) -> str: ...
    @property
    def index(self) -> int | None: ...


# A device number, a UUID, "all", "0,2", or several numbers and UUIDs.
Device = Union[int, str, DeviceObject, Iterable[Union[int, str, DeviceObject]]]


def device_list(device: Device) -> str:
    """A device argument as the library takes it: "all", or numbers and UUIDs separated by commas."""
    if isinstance(device, bool):
        raise TypeError(f"device is {device}: it takes a number, a UUID, \"all\", or a list of them")
    if isinstance(device, int):
        if device < 0:
            raise ValueError(f"device is {device}: devices are numbered from 0")
        return str(device)
    if isinstance(device, str):
        named = device.strip()
        if not named:
            raise ValueError('device is empty: it takes a number, a UUID, "all", or a list of them')
        return named
    if is_device(device):
        return str(device.index or 0)
    if isinstance(device, Iterable):
        return ",".join(device_list(one) for one in device)
    raise TypeError(f"device is {device!r}: it takes a number, a UUID, \"all\", or a list of them")


def is_device(device: object) -> TypeGuard[DeviceObject]:
    """Whether it is a device object as torch.device is; that one can be called as well."""
    return hasattr(device, "index") and hasattr(device, "type") and not isinstance(device, type)


def check_runs(repeats: int, warmup_runs: int) -> None:
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}: it takes a number of at least 1")
    if warmup_runs < 0:
        raise ValueError(f"warmup_runs is {warmup_runs}: it takes a number of at least 0")
