"""The pages about sampling say what the program does: options, the figures of the counter's lag, one line of JSON."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
REPLAY = f"replay:{ROOT}/tests/fixtures/nvml/bursty.csv@max"


@pytest.mark.parametrize("command", ["profile", "top", "serve"])
def test_every_option_is_described(program, command):
    page = (ROOT / "docs" / "reference" / "commands" / f"{command}.md").read_text()
    described = re.findall(r"^\| `(--[\w-]+)` \|", page, re.MULTILINE)
    there = re.findall(r"^  (--[\w-]+)", program.run(command, "--help").stdout.decode(), re.MULTILINE)
    assert sorted(described) == sorted(there)


def test_the_plot_is_what_the_script_draws():
    drawn = subprocess.run([sys.executable, ROOT / "tools" / "draw_counter_lag.py", "--svg"], capture_output=True, check=True)
    assert (ROOT / "docs" / "images" / "counter_lag.svg").read_bytes() == drawn.stdout


def test_the_summary_fields_are_those_of_the_reference(program):
    reference = (ROOT / "docs" / "reference" / "schema.md").read_text()
    section = reference.split("## Summary of sampling")[1].split("\n## ")[0]
    described = re.findall(r"^\| (\w+) \|", section, re.MULTILINE)[1:]
    summary = json.loads(program.run("--backend", REPLAY, "--json", "--", "true").stdout)
    assert described == list(summary)


def test_json_is_one_line_however_many_devices(program, tmp_path):
    series = tmp_path / "series.csv"
    series.write_text("time_s,device,util_gpu\n0,0,5\n0,1,6\n1,0,7\n1,1,8\n")
    for options in (["--backend", REPLAY], ["--backend", f"replay:{series}@max", "--device", "all"],
                    ["--backend", REPLAY, "--repeats", "2"], ["--backend", "none"]):
        text = program.run(*options, "--json", "--", "true").stdout.decode()
        assert text.count("\n") == 1
        assert text.endswith("}\n")
        json.loads(text)
