"""`record --merge` on a folder from elsewhere: a link or a pipe in it is refused, so that no other file is written and no writer is waited for."""

import os
import shutil
from pathlib import Path

import pytest

RECORDING = Path(__file__).resolve().parents[2] / "fixtures" / "kineto" / "overlap.json.gz"
PARTS = ["beside-os_calls.gpuprof", "beside-logs.gpuprof", "beside-kernel-counters.gpuprof", "124-1.gpuprof", "125.oscalls", "os_calls.shared", "counters.plan", "logs/nccl.1.log"]


@pytest.fixture
def parts(program, tmp_path):
    folder = tmp_path / "received.parts"
    folder.mkdir()
    assert program.run("export", "capture", RECORDING, "-o", folder / "123-1.gpuprof").status == 0
    (folder / "os_calls.shared").touch()
    return folder


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_record_does_not_make_is_refused(program, parts, tmp_path, name, kind):
    target, file = tmp_path / "precious", parts / name
    shutil.copy(RECORDING, target)
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    if kind == "link":
        file.symlink_to(target)
    else:
        os.mkfifo(file)
    outcome = program.run("record", "--merge", parts, "-o", tmp_path / "out.gpuprof")
    assert outcome.status == 3 and len(outcome.errors) == 1
    assert f"{name} is neither a file nor a folder" in outcome.errors[0]
    assert target.read_bytes() == RECORDING.read_bytes() and not (tmp_path / "out.gpuprof").exists()


def test_the_rest_is_merged(program, parts, tmp_path):
    assert program.run("record", "--merge", parts, "-o", tmp_path / "out.gpuprof").status == 0
    assert program.run("report", tmp_path / "out.gpuprof").status == 0
