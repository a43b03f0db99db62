"""What a file is called: quoted in commands that are shown to be copied, and without its folder in pages."""

import base64
import gzip
import importlib
import json

import pytest
from conftest import FIXTURES
from view_document import MANIFEST, SEGMENT


def test_copied_commands_are_quoted(program, tmp_path):
    hostile = tmp_path / "a; touch x $(id).json.gz"
    hostile.write_bytes((FIXTURES / "kineto/input_bound.json.gz").read_bytes())
    report = program.report(hostile)
    assert report.document["source"]["file"] == str(hostile)
    assert report.document["next_steps"] and all(f"'{hostile}'" in step for step in report.document["next_steps"])
    broken = tmp_path / "a\x1b[31m\nb.json"
    broken.write_bytes(gzip.decompress(hostile.read_bytes()))
    steps = program.report(broken).document["next_steps"]
    assert steps and all(f"$'{tmp_path}/a\\033[31m\\nb.json'" in step for step in steps)


def test_pages_hold_no_folder(program, tmp_path):
    folder = tmp_path / "private_folder"
    folder.mkdir()
    recording, page = folder / "run one.json", tmp_path / "page.html"
    recording.write_bytes(gzip.decompress((FIXTURES / "kineto/input_bound.json.gz").read_bytes())[:-20000])  # cut off, so that there is a loss
    assert program.run("export", "html", recording, "-o", page).status == 0
    text = page.read_text()
    manifest = json.loads(MANIFEST.search(text)[1])
    assert manifest["source"]["file"] == "run one.json" and manifest["source"]["words"] == "'run one.json'"
    missing = program.run("export", "html", folder / "nothing.json", "-o", page)
    assert missing.status == 3 and str(folder / "nothing.json") in missing.errors[0]  # who asks sees what they typed
    segments = [gzip.decompress(base64.b64decode(found[3])) for found in SEGMENT.finditer(text)]
    assert segments and all(b"private_folder" not in part for part in [text.encode(), *segments])


@pytest.mark.parametrize("module", ["bench_command", "evaluation"])
def test_messages_command_no_terminal(module, tmp_path, capsys):
    missing = str(tmp_path / "a\x1b[31m.py")
    status = importlib.import_module(f"gpu_profile.{module}.__main__").main([missing] if module == "bench_command" else [missing, missing])
    assert status not in (0, None) and "\x1b" not in capsys.readouterr().err
