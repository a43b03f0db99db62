"""User files that commands load: importing them, and formatting their errors."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from typing import Any

__all__ = ["load", "missing", "said", "user_frames"]

_OWN = os.path.dirname(os.path.abspath(__file__))


def load(path: str) -> Any:
    """Import a file as a module, with its folder first on sys.path, like `python FILE`."""
    folder, name = os.path.dirname(os.path.abspath(path)), os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(name if name not in sys.modules else "_loaded_" + name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def missing(path: str) -> str:
    """Say why a path cannot be loaded."""
    return "it is a folder; name a Python file in it" if os.path.isdir(path) else "no such file"


def user_frames(problem: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of an exception outside this package."""
    return [frame for frame in traceback.extract_tb(problem.__traceback__) if not frame.filename.startswith((_OWN, "<frozen"))]


def said(problem: BaseException) -> str:
    """Format an exception as one line, with its place in the user's files."""
    frames = user_frames(problem)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    text = " ".join(str(problem).split())[:300]
    return f"{type(problem).__name__}{': ' + text if text else ''}{where}"
