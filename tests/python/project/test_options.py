"""Options are heard or refused: every analysis with every option, and names that match nothing."""

import json
import re
import shutil

import pytest
from conftest import FIXTURES

INPUT = FIXTURES.parents[1] / "examples" / "input_bound.json.gz"
KERNELS = FIXTURES / "ncu" / "kernels.raw.csv.gz"
MEMORY = FIXTURES / "memory" / "growth.snapshot.pickle.gz"
SAMPLES = FIXTURES / "instructions" / "samples.gpuprof"
RECORDINGS = [INPUT, KERNELS, MEMORY, SAMPLES]

# A value of each option that has an effect where the option is read, and the recording that shows it.
VALUES = {
    "--limit": ("1", INPUT), "--gap-min-ns": ("1s", INPUT), "--device": ("0", None), "--step-range": ("ProfilerStep#1", INPUT),
    "--sequence-length": ("5", INPUT), "--input-range": ("aten::to", INPUT), "--kernel": ("fma", KERNELS), "--launch": ("1", KERNELS),
    "--changes": ("input", INPUT), "--threads": ("64", INPUT), "--registers": ("200", INPUT), "--shared-bytes": ("40000", INPUT),
    "--cluster": ("2", INPUT), "--sources": ("src", SAMPLES), "--at": ("1ms", MEMORY), "--between": ("0:1ms", MEMORY),
}
OF_ALL = {"--limit", "--device", "--step-range"}


@pytest.fixture(scope="module")
def help_text(program):
    return " ".join(program.run("report", "--help").stdout.decode().split())


@pytest.fixture(scope="module")
def analyses(program):
    return [row["name"] for row in program.declared("analyses")]


@pytest.fixture(scope="module")
def readers(help_text):
    """By option, the analyses that the help says use it."""
    found = {}
    for option in VALUES.keys() - OF_ALL:
        found[option] = re.search(re.escape(option) + r" \S+ ([\w, ]+): [A-Z]", help_text)[1].split(", ")
    return found


def test_every_option_has_a_value_here(help_text):
    part = help_text[help_text.index("Options of every analysis"):help_text.index("Limits of reading")]
    assert set(re.findall(r"(?<!\S)--[a-z-]+(?= [A-Z])", part)) == set(VALUES)


def answer_of(program, recording, analysis, *words):
    done = program.run("report", recording, analysis, "--format", "json", *words)
    return done.status, done.stdout if done.status == 0 else done.stderr.decode()


@pytest.mark.parametrize("option", sorted(VALUES.keys() - OF_ALL))
def test_an_option_is_heard_or_refused(program, readers, analyses, option):
    value, recording = VALUES[option]
    value = str(SAMPLES.parent) if option == "--sources" else value
    for analysis in analyses:
        status, said = answer_of(program, recording, analysis, option, value)
        if analysis in readers[option]:
            assert status in (0, 4), (analysis, said)
            continue
        assert status == 2 and said.startswith(f"gpu-profile: {option} is not used by `{analysis}`; it is an option of "), (analysis, said)
        assert all(f"`{reader}`" in said for reader in readers[option])


# What a fixture cannot show: its gaps, batches and lines are not those that the option selects.
SILENT = {("--gap-min-ns", "findings"), ("--gap-min-ns", "summary"), ("--kernel", "line_stalls"), ("--kernel", "source")}


@pytest.mark.parametrize("option", sorted(VALUES.keys() - OF_ALL))
def test_what_is_declared_has_an_effect(program, readers, option):
    value, recording = VALUES[option]
    value = str(SAMPLES.parent) if option == "--sources" else value
    for analysis in readers[option]:
        differ = answer_of(program, recording, analysis, option, value) != answer_of(program, recording, analysis)
        assert differ or (option, analysis) in SILENT, (option, analysis)


def test_options_of_every_analysis_are_accepted_by_all(program, analyses):
    of_whole = {"memory", "memory_account", "memory_curve", "memory_trace", "allocations", "growth", "fragmentation", "iterations", "losses", "phases", "validity"}
    for analysis in analyses:
        assert answer_of(program, INPUT, analysis, "--limit", "1", "--device", "0")[0] in (0, 4), analysis
        status, said = answer_of(program, INPUT, analysis, "--step-range", "ProfilerStep#1")
        assert status == 2 and "not used by" in said if analysis in of_whole else status in (0, 4), (analysis, said)


@pytest.mark.parametrize(("words", "said"), [
    (["report", INPUT, "--step-range", "ProfilerStep"], "did you mean 'ProfilerStep#0'"),
    (["report", INPUT, "--step-range", "nosuch"], "no range or operator of this recording has this name; this recording has "),
    (["report", INPUT, "--device", "7"], "no such device in this recording; it has device 0"),
    (["report", MEMORY, "memory", "--device", "7"], "it has device 0"),
    (["report", KERNELS, "roofline", "--kernel", "gemm_naiv_"], "did you mean 'gemm_naive'?"),
    (["report", KERNELS, "occupancy_curves", "--kernel", "nosuch"], "this recording has atomic_hot, "),
    (["report", INPUT, "findings", "--input-range", "aten::too"], "or 'aten::to'"),
    (["whatif", INPUT, "--change", "k-999=0.5"], "no kernel has this handle; this recording has k-1 to k-48"),
    (["whatif", INPUT, "--change", "kernel:nosuch=0.5"], "no kernel's name matches"),
    (["whatif", INPUT, "--change", "imput"], "did you mean 'input'?"),
    (["whatif", INPUT, "--changes", "input"], "use --change"),
    (["whatif", INPUT, "--kernel", "k-1"], "--kernel: an option of report, for kernel, "),
    (["query", INPUT, "SELECT 1", "--step-range", "nosuch"], "no range or operator"),
    (["query", INPUT, "SELECT count(*) FROM kernels", "--gap-min-ns", "5us"], "--gap-min-ns is not used by `kernels`"),
    (["compare", INPUT, INPUT, "--step-range", "nosuch"], "no range or operator"),
    (["compare", INPUT, INPUT, "--gap-min-ns", "5us"], "an option of report, for summary, findings, gaps"),
    (["ranks", FIXTURES / "ranks", "--device", "0"], "an option of report"),
    (["ranks", FIXTURES / "gloo" / "even", "--step-range", "nosuch"], "no range or operator of these ranks"),
    (["profile", "--backend", "replay:nofile", "--", "true"], "cannot read nofile"),
    (["top", "--once", "--backend", "replay:nofile"], "cannot read nofile"),
    (["bench", "--backend", "replay:nofile", "--", "true"], "cannot read nofile"),
])
def test_a_name_that_matches_nothing_is_an_error(program, words, said):
    done = program.run(*words)
    assert done.status in (2, 3) and said in done.stderr.decode()


def test_a_label_without_runs_is_an_error(program, tmp_path):
    history = ["--db", tmp_path / "h.sqlite"]
    assert program.run("history", "add", INPUT, "--label", "train", *history).status == 0
    for words in (["check", INPUT, "--label", "trai", "--fail-on", "step_p50>2%"], ["list", "--label", "trai"]):
        done = program.run("history", *words, *history)
        assert done.status == 2 and "unknown label 'trai'; did you mean 'train'?" in done.stderr.decode()


def test_a_history_keeps_no_run_without_a_timeline(program, tmp_path):
    done = program.run("history", "add", KERNELS, "--label", "train", "--db", tmp_path / "h.sqlite")
    assert done.status == 4 and "has no timeline" in done.stderr.decode()


def test_a_gate_may_close_when_nothing_can_be_told(program, tmp_path):
    history = ["--label", "train", "--db", tmp_path / "h.sqlite"]
    assert program.run("history", "add", INPUT, *history, "--machine", "a").status == 0
    check = ["history", "check", INPUT, *history, "--machine", "b", "--fail-on"]
    assert (program.run(*check, "step_p50>2%").status, program.run(*check, "cannot-tell").status) == (0, 1)
    assert program.run("compare", INPUT, INPUT, "--fail-on", "cannot-tell").status == 0
    assert program.run("report", INPUT, "--fail-on", "cannot-tell").status == 0
    cut = tmp_path / "host.json"
    cut.write_text(json.dumps({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}))
    assert program.run("report", cut, "--fail-on", "cannot-tell").status == 1


def test_the_warm_up_of_a_replayed_series_is_left_out(program):
    series = FIXTURES / "nvml" / "bursty.csv"
    lengths = []
    for warmup in ([], ["--warmup", "5"]):
        done = program.run("profile", "--backend", f"replay:{series}@max", "--json", *warmup, "--", shutil.which("true"))
        lengths.append(json.loads(done.stdout)["duration_s"])
    assert lengths[0] - lengths[1] == pytest.approx(5, abs=0.1)
