"""`record` next to another CUPTI client where CUPTI has several subscribers (CUPTI 13.3 and driver r610, here of the fakes).

Each client, of either interface and however it finds its functions, receives what it receives alone.
"""

import json
import subprocess

import pytest
from other_client import PLAY, PLAYS, count, data_losses, record, total
from patience import HANGS_S
from played import fake_environment, record_played
from recordings_of_cupti import KERN, kernels_in, lines, script_of

SEVERAL = "version 130400; driver 13030"
CLIENTS = {"v1": "", "v1 by path": "path", "v2": "v2", "v2 by dlsym": "v2 dlsym"}


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    return script_of(KERN, tmp_path_factory.mktemp("scripts"))


@pytest.fixture(scope="module")
def kernels():
    return kernels_in(lines())


def received_alone(program, script, folder, client, rules=SEVERAL, arguments=()):
    answer = folder / "alone.json"
    subprocess.run([program.fakes / "fake_program", "--script", script, "--play", PLAY, "--kineto", answer, *arguments],
                   env=fake_environment(program, rules, FAKE_KINETO=client), check=True, timeout=HANGS_S)
    return json.loads(answer.read_text())  # by path without the recorder is linked


def said(outcome):
    """Return what was printed, without line breaks."""
    return " ".join(" ".join(outcome.errors).split())


def facts(program, capture):
    done = program.run("query", capture, "select key, value from meta", "--format", "json")
    return dict(json.loads(done.stdout)["tables"][0]["rows"])


@pytest.mark.parametrize("order", ["second", "first"])
@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_both_are_complete(program, script, kernels, tmp_path, client, order):
    first = ["--kineto-first"] if order == "first" else []
    alone = received_alone(program, script, tmp_path, client, arguments=first)
    other, capture, _ = record(program, script, tmp_path, rules=SEVERAL, client=client, arguments=first)
    assert (other["refused"], other["unknown"], other["dropped"]) == (0, 0, 0)
    assert other["records"] == alone["records"]
    assert other["records"]["10"] == (2 if first else 1) * len(kernels)
    assert other["last_id"] == 4711
    assert other["callbacks"] == alone["callbacks"]
    assert other["times_inside"]
    assert count(program, capture) == PLAYS * len(kernels)
    assert total(program, capture) == PLAYS * sum(r["end"] - r["start"] for r in kernels)
    assert data_losses(program, capture) == set()
    own = "with a subscription of its own" in program.everything_said(capture)
    assert own == (client in ("", "path"))


@pytest.mark.parametrize("rules", ["shuffle 5", "late 3", "causal", "slow cuptiActivityEnable_v2 100",
                                   "slow cuptiActivityDisable_v2 100", "slow cuptiActivityEnableRuntimeApi_v2 20"])
@pytest.mark.parametrize("client", ["", "v2"])
def test_a_difficult_cupti(program, script, kernels, tmp_path, rules, client):
    other, capture, _ = record(program, script, tmp_path, rules=f"{SEVERAL}; {rules}", client=client)
    assert (other["refused"], other["unknown"]) == (0, 0)
    assert count(program, capture) == PLAYS * len(kernels)
    assert data_losses(program, capture) == set()


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_windows_of_ours_leave_the_other_complete(program, script, kernels, tmp_path, client):
    other, capture, _ = record(program, script, tmp_path, "--capture-range", "cudaProfilerApi", rules=SEVERAL, client=client,
                               arguments=["--profiler-range"])
    assert (other["refused"], other["unknown"]) == (0, 0)
    assert other["records"]["10"] == len(kernels)
    assert count(program, capture) == PLAYS * len(kernels)


def test_every_call_of_a_v1_client_is_translated(program, script, kernels, tmp_path):
    """Ids pushed and times asked for before anything else, kinds of one context, a forced flush."""
    other, capture, _ = record(program, script, tmp_path, rules=SEVERAL, client="push contexts forced",
                               play="time=paced live inline", arguments=["--kineto-first"])
    assert (other["refused"], other["unknown"], other["unfinished"]) == (0, 0, 0)
    assert other["records"]["10"] == 2 * len(kernels)
    assert other["last_id"] == 4711
    assert count(program, capture) == PLAYS * len(kernels)


def test_a_v1_client_by_dlsym_is_refused_by_cupti(program, script, kernels, tmp_path):
    """It does not arrive at our library: CUPTI keeps the interfaces apart."""
    other, capture, _ = record(program, script, tmp_path, rules=SEVERAL, client="dlsym")
    assert other["refused"] == 39
    assert count(program, capture) == PLAYS * len(kernels)


@pytest.mark.parametrize("client", ["v2 alone", "v2 alone dlsym", "dlsym"])
def test_who_came_first_and_allows_nobody_is_named(program, script, tmp_path, client):
    other, _, outcome = record(program, script, tmp_path, rules=SEVERAL, client=client, arguments=["--kineto-first"])
    assert other["refused"] == 0
    named = "another profiler, fake XLA, has CUPTI" if "v2" in client else "another profiler, CUPTI, has CUPTI"
    assert named in said(outcome)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_own_refuses_the_other(program, script, kernels, tmp_path, client):
    other, capture, _ = record(program, script, tmp_path, "--cupti", "own", rules=SEVERAL, client=client)
    assert other["refused"] == 39
    assert "10" not in other["records"]
    assert count(program, capture) == PLAYS * len(kernels)


def test_yield_leaves_it_to_the_other(program, script, kernels, tmp_path):
    other, capture, outcome = record(program, script, tmp_path, "--cupti", "yield", rules=SEVERAL)
    assert (other["refused"], other["unknown"]) == (0, 0)
    assert other["records"]["10"] == len(kernels)
    assert count(program, capture) == len(kernels)
    assert "another client of CUPTI" in said(outcome)


@pytest.mark.parametrize(("rules", "variables", "interface"), [
    (SEVERAL, {}, "V2"), ("version 130300; driver 13030", {}, "V1"), ("version 130400; driver 13020", {}, "V1"),
    ("version 130202; driver 13030", {}, "V1"), (SEVERAL + "; fail cuptiSubscribe_v2 27", {}, "V1"),
    (SEVERAL, {"GPUPROF_CUPTI_V1": "1"}, "V1")])
def test_the_interface_follows_the_versions(program, script, kernels, tmp_path, rules, variables, interface):
    capture = tmp_path / "run.gpuprof"
    outcome = record_played(program, script, capture, "--sample", "0", rules=rules, environment=variables)
    assert outcome.status == 0, outcome.errors
    assert facts(program, capture)["cupti_interface"] == interface
    assert count(program, capture) == len(kernels)


def test_graphs_as_a_whole(program, script, tmp_path):
    """Their kind needs an attribute that locks once any kind is on."""
    capture = tmp_path / "run.gpuprof"
    graphs = script_of(KERN, tmp_path)
    outcome = record_played(program, graphs, capture, "--sample", "0", "--graph", "graph", rules=SEVERAL)
    assert outcome.status == 0, outcome.errors
    assert "graph launches" not in said(outcome)


@pytest.mark.parametrize("function", ["cuptiActivityRegisterCallbacks_v2", "cuptiActivityEnable_v2", "cuptiGetTimestamp_v2",
                                      "cuptiActivitySetAttribute_v2", "cuptiActivityGetNumDroppedRecords_v2"])
def test_a_failing_function_does_no_harm(program, script, tmp_path, function):
    capture = tmp_path / "run.gpuprof"
    outcome = record_played(program, script, capture, "--sample", "0", rules=f"{SEVERAL}; fail {function} 999")
    assert outcome.status == 0, outcome.errors


def test_a_profiler_that_cupti_keeps_out_is_named(program, script, tmp_path):
    """Proton that loads CUPTI from a folder which the user set."""
    rival, capture = tmp_path / "libproton.so", tmp_path / "run.gpuprof"
    rival.write_bytes((program.fakes / "libfake_kineto.so").read_bytes())
    variables = {"LD_PRELOAD": str(rival)}
    arguments = ["--sleep-ms", "300"]
    outcome = record_played(program, script, capture, "--sample", "0", rules=SEVERAL, arguments=arguments, environment=variables)
    assert "Proton" not in said(outcome)
    variables["TRITON_CUPTI_LIB_PATH"] = "/mine"
    capture.unlink()
    outcome = record_played(program, script, capture, "--sample", "0", rules=SEVERAL, arguments=arguments, environment=variables)
    assert "Proton cannot profile in this process" in said(outcome)
