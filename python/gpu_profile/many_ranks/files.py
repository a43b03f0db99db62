"""The files of a job: folders and globs of this machine, and of any storage that fsspec opens.

A file has a name that is safe to show: the path, or its URL without user, password and query, which may hold a signature.
"""

from __future__ import annotations

import glob
import os
import posixpath
import re
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from ..errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Naming", "RankFile", "file_system", "is_url", "list_files", "rank_in_name", "said", "without_credentials"]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(://|::)")
_URL_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S*")
_USER = re.compile(r"(?<=://)[^/\s]*@")
# As in cli/ranks/rank_files.cc.
_RANK = re.compile(r"(?:^|[^a-zA-Z])(?:rank|r)[-_.]?([0-9]+)(?![a-zA-Z0-9])", re.IGNORECASE)
# What storages call the thing that changes when a file does.
_STAMPS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created")


class RankFile(NamedTuple):
    """One file. `url` is what opens its storage ("" for a local file) and `path` the file in it; `bytes` is -1 and
    `stamp` "" where the storage does not say. `rank` and `host` are those of its name."""

    name: str
    url: str
    path: str
    bytes: int
    stamp: str
    rank: Optional[int] = None
    host: str = ""


class Naming:
    """What names of files say: regular expressions with one group, or "" for the usual names of ranks and no hosts.
    Raises Error for others."""

    def __init__(self, rank_from: str = "", host_from: str = "") -> None:
        self._rank = _pattern(rank_from, "rank_from")
        self._host = _pattern(host_from, "host_from")

    def named(self, file: RankFile) -> RankFile:
        """Return the file with the rank and the host of its name."""
        name = posixpath.basename(file.name)
        found = self._host.search(name) if self._host else None
        return file._replace(rank=rank_in_name(name, self._rank or _RANK), host=found[1] or "" if found else "")


def _pattern(text: str, option: str) -> re.Pattern[str] | None:
    try:
        pattern = re.compile(text)
    except re.error:
        pattern = None
    if text and (pattern is None or pattern.groups != 1):
        raise Error(2, f"{option} '{text}' is not a regular expression with one group, as in 'rank(\\d+)'")
    return pattern if text else None


def is_url(path: str) -> bool:
    """Whether fsspec opens this path."""
    return _URL.match(path) is not None


def without_credentials(text: str) -> str:
    """Return the text with its URLs cut to scheme, host and path."""
    return _URL_IN_TEXT.sub(lambda url: _USER.sub("", url[0]).partition("?")[0], text)


def rank_in_name(name: str, pattern: re.Pattern[str] = _RANK) -> int | None:
    """Return the rank in "trace.rank-00012.json.gz" or "n17-r00012.gpuprof"; None if there is none."""
    found = pattern.search(posixpath.basename(name))
    number = int(found[1]) if found and found[1] and found[1].isdecimal() else None
    return number if number is not None and number < 1 << 31 else None


def list_files(paths: Iterable[str], options: Mapping[str, Any], naming: Naming) -> list[RankFile]:
    """Return the files of folders (their own, without hidden ones), globs and single files, in name order of each.
    Raises Error for a path without files."""
    files: list[RankFile] = []
    for path in paths:
        found = _in_storage(path, options) if is_url(path) else _local(path)
        if not found:
            raise Error(3, f"cannot read {without_credentials(path)}: it has no files")
        files += map(naming.named, found)
    return files


def file_system(url: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the storage of a URL and the path in it. Raises Error if fsspec is missing."""
    try:
        import fsspec.core  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise Error(None, f"cannot read {without_credentials(url)}: URLs need fsspec; run pip install 'gpu-profile[ranks]'") from None
    found: tuple[Any, str] = fsspec.core.url_to_fs(url, **options)
    return found


def said(problem: Exception, url: str, options: Mapping[str, Any]) -> str:
    """Return what a storage says of a failure as one line, without what opens the storage."""
    text = without_credentials(" ".join(str(problem).split()))
    for secret in _secrets(url, options):
        text = text.replace(secret, "***")
    return text if isinstance(problem, ImportError) else f"{type(problem).__name__}: {text}"


def _secrets(url: str, options: Mapping[str, Any]) -> list[str]:
    user = _USER.search(url)
    found = [user[0] if user else "", url.partition("?")[2]]
    values = list(options.values())
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, str) and not is_url(value):
            found.append(value)
    return [secret for secret in found if len(secret) > 5]  # shorter ones are names of regions and modes


def _local(path: str) -> list[RankFile]:
    path = os.path.abspath(path)
    if os.path.isdir(path):
        inside = [os.path.join(path, name) for name in os.listdir(path) if not name.startswith(".")]
        found = [each for each in inside if os.path.isfile(each)]
    else:
        found = [path] if os.path.exists(path) else glob.glob(path)
        if not found:
            raise Error(3, f"cannot read {path}: no such file or folder")
    files = []
    for each in sorted(found):
        about = os.stat(each)
        files.append(RankFile(each, "", each, about.st_size, f"{about.st_mtime_ns}.{about.st_ino}"))
    return files


def _in_storage(url: str, options: Mapping[str, Any]) -> list[RankFile]:
    try:
        storage, path = file_system(url, options)
        storage.invalidate_cache()  # of listings: this process may have listed the folder before
        if "*" in path:
            found = storage.glob(path, detail=True)
        elif url.endswith("/") or storage.info(path)["type"] == "directory":
            found = {about["name"]: about for about in storage.ls(path, detail=True)}
        else:
            found = {path: storage.info(path)}
    except Error:
        raise
    except Exception as problem:  # each storage has its own
        raise Error(3, f"cannot read {without_credentials(url)}: {said(problem, url, options)}") from None
    files = []
    for each in sorted(found):
        about = found[each]
        if about["type"] == "file" and not posixpath.basename(each).startswith("."):
            name = without_credentials(storage.unstrip_protocol(each))
            stamp = next((str(about[key]) for key in _STAMPS if about.get(key)), "")
            size = about.get("size")
            files.append(RankFile(name, url, each, -1 if size is None else int(size), stamp))
    return files


