"""The bash completion, run by bash as it would be: words typed so far in, suggestions out. For zsh and fish only that the
scripts are made; their shells are seldom on a test machine.
"""

import os
import subprocess
from pathlib import Path

import pytest

from conftest import FIXTURES

COMPLETE = """
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_gpu_profile 2>/dev/null
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def script(program, tmp_path_factory):
    outcome = program.run("completions", "bash")
    assert outcome.status == 0, outcome.errors
    path = tmp_path_factory.mktemp("completions") / "gpu-profile.bash"
    path.write_bytes(outcome.stdout)
    return path


def suggestions(script, folder, *words, path=None):
    quoted = " ".join(f"'{word}'" for word in ("gpu-profile", *words))
    done = subprocess.run(["bash", "-c", COMPLETE.format(script=script, words=quoted)], cwd=folder, capture_output=True, text=True, check=True,
                          env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"} if path else None)
    return done.stdout.split()


@pytest.mark.parametrize(("words", "wanted"), [
    (("re",), ["record", "report"]),
    (("report", "tra"), ["trace.json"]),
    (("report", "trace.json", "kern"), ["kernels", "kernel"]),
    (("report", "--format", "csv", "trace.json", "idl"), ["idle"]),
    (("report", "trace.json", "--format", ""), ["text", "csv", "json", "md"]),
    (("report", "trace.json", "--li"), ["--limit"]),
    (("report", "trace.json", "--limit", ""), []),
    (("export", "capt"), ["capture"]),
    (("completions", ""), ["bash", "zsh", "fish"]),
])
def test_bash_suggests(script, tmp_path, words, wanted):
    (tmp_path / "trace.json").write_text("{}")
    assert suggestions(script, tmp_path, *words) == wanted


def test_bash_suggests_kernels_of_the_recording(script, program):
    """k-1 is the kernel with the longest total; the program on PATH lists them."""
    folder = FIXTURES / "kineto"
    found = suggestions(script, folder, "whatif", "memory_bound.json.gz", "--change", "k-", path=Path(program.path).parent)
    assert found == [f"k-{i}=" for i in range(1, len(found) + 1)] and len(found) > 3
    assert "waits" in suggestions(script, folder, "whatif", "memory_bound.json.gz", "--change", "wa")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_option(program, shell):
    outcome = program.run("completions", shell)
    assert outcome.status == 0
    for word in (b"gap-min-ns", b"kernels", b"completions"):
        assert word in outcome.stdout
