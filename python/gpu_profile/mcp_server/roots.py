"""The folders that tools may read: every path of a call is resolved to a real file or folder inside them.

A path is judged after all symbolic links are followed, and the program gets the result, so that a link cannot lead out. The
files of a folder are judged as well, because the program reads them.
"""

from __future__ import annotations

import os
import stat

from ..errors import Error

__all__ = ["Roots"]

_USAGE, _UNREADABLE, _NOT_PERMITTED = 2, 3, 5
_MOST_ENTRIES = 100_000  # of a folder and the folders in it; a job of 10,000 ranks has fewer


class Roots:
    """`folders`: real paths of the folders. Relative paths are looked up in each, in order."""

    def __init__(self, folders: list[str]) -> None:
        self.folders = [os.path.realpath(folder) for folder in folders]
        for given, folder in zip(folders, self.folders):
            if not os.path.isdir(folder):
                raise Error(_USAGE, f"--root '{given}': not a folder")

    def resolve(self, given: str, *, entries: bool = True) -> str:
        """Return the real path of a file or folder. Raises Error if it is outside, missing, or something else, and if an entry
        of a folder leads outside, unless only their names are wanted."""
        if not given or "\0" in given:
            raise Error(_USAGE, "a path must not be empty or contain a zero byte")
        candidates = [os.path.realpath(os.path.join(folder, given)) for folder in self.folders]
        inside = [path for path in candidates if self._holds(path)]
        if not inside:
            raise Error(_NOT_PERMITTED, f"'{given}' is outside {self.text()}; start the server with --root FOLDER to allow another folder")
        path = next((path for path in inside if os.path.lexists(path)), None)
        if path is None:
            raise Error(_UNREADABLE, f"cannot read '{given}': no such file in {self.text()}; the tool files lists what is there")
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            if entries:
                self._check_entries(given, path)
        elif not stat.S_ISREG(mode):
            raise Error(_UNREADABLE, f"cannot read '{given}': neither a file nor a folder")
        return path

    def shown(self, path: str) -> str:
        """Return a path inside the folders as calls may give it: relative if it is in the first one."""
        return os.path.relpath(path, self.folders[0]) if self._holds(path, self.folders[:1]) else path

    def text(self) -> str:
        return " and ".join(f"'{folder}'" for folder in self.folders)

    def _holds(self, path: str, folders: list[str] | None = None) -> bool:
        return any(os.path.commonpath((folder, path)) == folder for folder in folders or self.folders)

    def _check_entries(self, given: str, folder: str) -> None:
        left = _MOST_ENTRIES
        for place, folders, files in os.walk(folder):
            for name in (*folders, *files):
                left -= 1
                if left < 0:
                    raise Error(_USAGE, f"'{given}' contains more than {_MOST_ENTRIES:,} files; name a folder inside it")
                entry = os.path.join(place, name)
                if os.path.islink(entry) and not self._holds(os.path.realpath(entry)):
                    raise Error(_NOT_PERMITTED, f"'{given}' contains a link that leads out of {self.text()}: '{os.path.relpath(entry, folder)}'")
