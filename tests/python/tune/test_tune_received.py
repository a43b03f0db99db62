"""`tune` runs the command of a folder without a question only if the user gave it there; and no folder shows the secrets of a command."""

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from terminal import Terminal
from test_tune import INPUT_FIXED, document, stand_in, tune  # noqa: F401 (a fixture)

TOUCH = [sys.executable, "-c", "open('ran', 'a').write('x')"]
QUESTION = "you did not begin this investigation here"


@pytest.fixture
def own(tune, program, tmp_path):
    """The folder of an investigation of a command that writes "x" into a file, with recordings left for two more runs."""
    binary = tune.environment["GPUPROF_BIN"] = stand_in(program, tmp_path, [1, 1, 1])
    assert tune("--repeat", "1", "--", *TOUCH, GPUPROF_BIN=binary)[0] == 0
    (tmp_path / "ran").unlink()
    return tmp_path / "tune"


def packed_and_unpacked(folder):
    """What an archive of the folder contains, unpacked in its place."""
    archive = shutil.make_archive(str(folder.parent / "packed"), "tar", folder)
    folder.rename(folder.parent / "moved away")
    shutil.unpack_archive(archive, folder)


def edited(**members):
    def edit(folder):
        (folder / "investigation.json").write_text(json.dumps({**document(folder), **members}))

    return edit


def test_the_users_own_folder_needs_no_question(tune, own, tmp_path):
    assert tune("trial", "x")[0] == 0 and tune("again")[0] == 0
    assert (tmp_path / "ran").read_text() == "xx"


@pytest.mark.parametrize("received", [packed_and_unpacked, edited(command=[*TOUCH, "more"]), edited(record="--memory"), edited(id="0" * 32), edited(id=None)],
                         ids=["unpacked", "other command", "other options", "other id", "no id"])
@pytest.mark.parametrize("words", [["trial", "x"], ["again"]], ids=["trial", "again"])
def test_a_received_folder_runs_nothing_unseen(tune, own, tmp_path, received, words):
    received(own)
    before = (own / "investigation.json").read_bytes()
    status, said, errors = tune(*words)
    assert (status, said, len(errors)) == (2, [], 1)
    assert "give --yes: gpu-profile record " in errors[0] and f"{sys.executable} -c" in errors[0]
    assert not (tmp_path / "ran").exists() and (own / "investigation.json").read_bytes() == before and not (own / "trials").exists()
    status, _, errors = tune(*words, "--yes")
    assert status == 0 and errors[0].startswith(f"gpu-profile: {QUESTION}; --yes runs its command: gpu-profile record ")
    assert (tmp_path / "ran").read_text() == "x"
    assert tune(*words)[0] == 0  # allowed once, it is the user's own
    edited(command=["true"])(own)
    assert tune(*words)[0] == 2


@pytest.mark.parametrize("reply, status", [("y\n", 0), ("n\n", 5), ("\n", 5), ("\x04", 5), ("\x03", 130)], ids=["yes", "no", "nothing", "end", "interrupt"])
def test_a_terminal_is_asked(tune, program, own, tmp_path, reply, status):
    edited(record="--memory")(own)
    with Terminal([program.path, "tune", "trial", "x"], cwd=tmp_path, environment=tune.environment, columns=1000) as terminal:
        shown = terminal.expect(r"\? \[y/N\] ")
        assert QUESTION in shown and "\n  gpu-profile record --memory -- " in shown and f"Run it in {tmp_path}?" in shown
        terminal.type(reply)
        ended, _ = terminal.end()
    assert ended == status and (tmp_path / "ran").exists() == (status == 0)


def test_a_command_cannot_hide_itself(tune, own):
    edited(command=["sh", "-c", "\x1b[2K\r\nharmless\x9b1A\u202e\ttext"])(own)
    status, _, errors = tune("again")
    assert (status, len(errors)) == (2, 1) and all(character.isprintable() for character in errors[0])
    assert "harmless" in errors[0]


@pytest.mark.parametrize("members", [{"command": ["a\0b"]}, {"record": "'"}, {"record": "a\0"}, {"id": f"{os.pardir}/x"}, {"command": ["\ud800"]}])
def test_words_that_no_command_has_are_one_line(tune, own, members):
    edited(**members)(own)
    status, _, errors = tune("again", "--yes")
    assert (status, len(errors)) == (3, 1) and "has an unexpected value" in errors[0]


def test_recordings_that_are_given_need_no_question(tune, own, tmp_path):
    packed_and_unpacked(own)
    assert tune("trial", "x", "--recording", INPUT_FIXED)[0] == 0 and tune("again", "--recording", tmp_path / "prepared/01.json")[0] == 0
    assert tune("status", "--yes")[0] == 2


def test_without_a_place_for_its_state_it_asks(tune, program, tmp_path):
    (tmp_path / "file").touch()
    more = {"GPUPROF_BIN": stand_in(program, tmp_path, [1, 1, 1]), "XDG_STATE_HOME": str(tmp_path / "file")}
    status, _, errors = tune("--repeat", "1", "--", *TOUCH, **more)
    assert status == 0 and "cannot keep the command: " in errors[-1] and "Not a directory" in errors[-1]
    assert tune("again", **more)[0] == 2 and tune("again", "--yes", **more)[0] == 0


def test_a_state_that_others_can_change_is_not_trusted(tune, own):
    (kept,) = Path(tune.environment["XDG_STATE_HOME"]).rglob("*.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    kept.chmod(0o620)
    assert tune("again")[0] == 2
    kept.chmod(0o600)
    kept.rename(kept.parent.parent / "elsewhere")
    kept.symlink_to(kept.parent.parent / "elsewhere")
    assert tune("again")[0] == 2
    kept.unlink()
    for text in ("[]", "{", "{}", ""):
        kept.write_text(text)
        kept.chmod(0o600)
        assert tune("again")[0] == 2


SECRETS = (["--password", "tell no one"], ["--api-key=s3cr3tvalue"], ["HF_TOKEN=s3cr3tvalue"], ["https://user:s3cr3tvalue@host/x"], ["-c", "TOKEN=s3cr3tvalue true"])


@pytest.mark.parametrize("secret", SECRETS, ids=lambda words: words[0])
@pytest.mark.parametrize("way", ["words", "project"])
def test_secrets_of_a_command_stay_out_of_the_folder(tune, program, tmp_path, secret, way):
    binary = stand_in(program, tmp_path, [1, 1, 1])
    command = [*TOUCH, *secret]
    if way == "project":
        (tmp_path / "project.json").write_text(json.dumps({"command": command, "repeat": 1}))
        assert tune("begin", "--project", "project.json", GPUPROF_BIN=binary)[0] == 0
    else:
        assert tune("--repeat", "1", "--", *command, GPUPROF_BIN=binary)[0] == 0
    assert tune("trial", "x", GPUPROF_BIN=binary)[0] == 0 and tune("report")[0] == 0  # the command is still known here
    assert (tmp_path / "ran").read_text() == "xx"
    assert not [path for path in (tmp_path / "tune").rglob("*") if path.is_file() and (b"s3cr3tvalue" in path.read_bytes() or b"tell no one" in path.read_bytes())]
    assert "***" in document(tmp_path / "tune")["command_text"] and r"\*\*\*" in (tmp_path / "tune/report.md").read_text()
    packed_and_unpacked(tmp_path / "tune")
    status, _, errors = tune("again", "--yes", GPUPROF_BIN=binary)
    assert (status, len(errors)) == (2, 1) and "contained a secret" in errors[0] and "--recording FILE" in errors[0]
    assert (tmp_path / "ran").read_text() == "xx"


def test_the_usual_folder_is_no_link(tune, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "tune").symlink_to("elsewhere")
    for words in (["begin", "--recording", INPUT_FIXED], ["status"]):
        status, _, errors = tune(*words)
        assert (status, len(errors)) == (2, 1) and "is a link, which is only followed if it is given with --folder" in errors[0]
    assert not list((tmp_path / "elsewhere").iterdir())
    assert tune("begin", "--recording", INPUT_FIXED, "--folder", "tune")[0] == 0


@pytest.mark.parametrize("what", ["a pipe", "/dev/zero", "deep"])
def test_a_project_that_never_ends(tune, tmp_path, what):
    project = tmp_path / "project.json"
    if what == "a pipe":
        os.mkfifo(project)
    elif what == "deep":
        project.write_text("[" * 1_000_000)
    else:
        project.symlink_to(what)
    status, _, errors = tune("begin", "--project", project)
    assert (status, len(errors)) == (2, 1) and f"cannot read {project}: " in errors[0]


def test_a_failed_recording_does_not_print_the_secret(tune, program, tmp_path):
    status, _, errors = tune("--", sys.executable, "-c", "raise SystemExit(3)", "--password", "s3cr3tvalue", GPUPROF_BIN=stand_in(program, tmp_path, [1]))
    assert status == 3 and "--password ***" in errors[-1] and "s3cr3tvalue" not in "".join(errors)
