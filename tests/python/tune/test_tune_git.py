"""`tune` asks git what the code is, in a repository that may come from elsewhere: nothing that the repository names is run."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from patience import HANGS_S

ROOT = Path(__file__).resolve().parents[3]
ASK = "import json, sys; from gpu_profile.tuning.change import Code; code = Code('inv'); print(json.dumps([code.state, code.patch.decode('latin-1')]))"


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *words], cwd=folder, check=True, capture_output=True)


def committed(folder):
    """A new repository with a commit, and a change after it."""
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "train.py").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "train.py").write_text("two\n")
    return folder


@pytest.fixture
def repository(tmp_path):
    return committed(tmp_path / "received")


def asked(folder, path=None):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PATH": path or os.environ["PATH"], "HOME": str(folder.parent)}
    done = subprocess.run([sys.executable, "-c", ASK], cwd=folder, env=environment, capture_output=True, text=True, timeout=HANGS_S, check=True)
    return json.loads(done.stdout)


def script(path, marker, prints=""):
    path.write_text(f"#!/bin/sh\ntouch {marker}\n{prints}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("attack", ["fsmonitor", "clean", "process", "clean, named oddly", "textconv", "external diff", "pager", "submodule", "promisor", "git in the folder"])
def test_nothing_of_a_received_repository_runs(repository, tmp_path, attack):
    marker = tmp_path / "ran"
    run = script(tmp_path / "run.sh", marker, "cat")
    attributes, path = repository / ".gitattributes", None
    if attack == "fsmonitor":
        git(repository, "config", "core.fsmonitor", str(run))
    elif attack in ("clean", "process", "clean, named oddly"):
        name = "a=b" if attack == "clean, named oddly" else "odd"  # one that splits where it should not
        attributes.write_text(f"*.py filter={name}\n")
        git(repository, "config", f"filter.{name}.{'process' if attack == 'process' else 'clean'}", str(run))
        git(repository, "config", f"filter.{name}.required", "true")
    elif attack == "textconv":
        attributes.write_text("*.py diff=odd\n")
        git(repository, "config", "diff.odd.textconv", str(run))
    elif attack == "external diff":
        git(repository, "config", "diff.external", str(run))
        attributes.write_text("*.py diff=odd\n")
        git(repository, "config", "diff.odd.command", str(run))
    elif attack == "pager":
        git(repository, "config", "core.pager", str(run))
        git(repository, "config", "pager.diff", "true")
    elif attack == "submodule":
        inner = committed(repository / "inner")
        (repository / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = .\n\tignore = none\n')  # stronger than a setting
        git(repository, "add", "inner", ".gitmodules")
        git(repository, "commit", "-q", "-m", "with a submodule")
        git(inner, "config", "core.fsmonitor", str(run))
        (inner / ".gitattributes").write_text("*.py filter=inner\n")  # one that the repository around it does not name
        git(inner, "config", "filter.inner.clean", str(run))
    elif attack == "promisor":
        blob = subprocess.run(["git", "rev-parse", "HEAD:train.py"], cwd=repository, capture_output=True, text=True, check=True).stdout.strip()
        (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        for name, value in {"core.repositoryformatversion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
                            "remote.origin.url": f"ext::{run}", "protocol.ext.allow": "always"}.items():
            git(repository, "config", name, value)
    else:
        script(repository / "git", marker, "exit 1")
        path = f".:{os.environ['PATH']}"
    state, patch = asked(repository, path)
    assert not marker.exists()
    if attack != "promisor":  # whose commit is not there
        assert state is not None and ("+two" in patch or attack == "submodule")


@pytest.mark.parametrize("what", ["index", "include", "attributes", "excludes"])
@pytest.mark.parametrize("kind", ["a pipe", "/dev/zero"])
def test_what_git_reads_is_limited(repository, tmp_path, monkeypatch, what, kind):
    """In time and memory: the code is unknown then, or known without it."""
    from gpu_profile.tuning import change

    file = repository / ".git" / "index" if what == "index" else tmp_path / "odd"
    file.unlink(missing_ok=True)
    if kind == "a pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(kind)
    if what != "index":
        git(repository, "config", {"include": "include.path", "attributes": "core.attributesFile", "excludes": "core.excludesFile"}[what], str(file))
    monkeypatch.chdir(repository)
    monkeypatch.setattr(change, "_SECONDS", 2)
    monkeypatch.setattr(change, "_MOST_MEMORY", 100 << 20)
    begun = time.monotonic()
    change.Code("inv")
    assert time.monotonic() - begun < HANGS_S / 10


def test_what_git_prints_is_limited(repository):
    (repository / "train.py").write_text("line\n" * 3_000_000)
    state, patch = asked(repository)
    assert "was not kept (limit: 1 MiB)" in state["note"] and len(patch) > 1 << 20
