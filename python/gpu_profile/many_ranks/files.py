"""The files of a job in any storage that fsspec opens.

A file has a name that is safe to show: the path, or its URL without user, password and query, which may hold a signature.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RankFile", "file_system", "is_url", "list_files", "said", "without_credentials"]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(://|::)")
_URL_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S*")
_USER = re.compile(r"(?<=://)[^/\s]*@")
# What storages call the thing that changes when a file does.
_STAMPS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created")


class RankFile(NamedTuple):
    """One file. `url` is what opens its storage ("" for a local file) and `path` the file in it; `bytes` is -1 and
    `stamp` "" where the storage does not say. `words`: how the program is to read it."""

    name: str
    url: str
    path: str
    bytes: int
    stamp: str
    words: tuple[str, ...] = ()


def is_url(path: str) -> bool:
    """Whether fsspec opens this path."""
    return _URL.match(path) is not None


def without_credentials(text: str) -> str:
    """Return the text with its URLs cut to scheme, host and path."""
    return _URL_IN_TEXT.sub(lambda url: _USER.sub("", url[0]).partition("?")[0], text)


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


def list_files(url: str, options: Mapping[str, Any]) -> list[RankFile]:
    """Return the files of a folder (its own, without hidden ones), a glob or a single file, in name order. Raises Error if there are
    none."""
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
    if not files:
        raise Error(3, f"cannot read {without_credentials(url)}: it has no files")
    return files


