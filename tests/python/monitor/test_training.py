"""Callbacks for Lightning and Transformers. Stand-ins call the documented hooks in the documented order; docs/guides/training.md
has the versions of the packages with which the callbacks were tried."""

import importlib
import json
import pickle
import queue
import re
import sys
import time
import types
from pathlib import Path

import pytest
import replayed
from patience import HANGS_S

from gpu_profile import recording

ROOT = Path(__file__).resolve().parents[3]

EVENTS = ["init_end", "train_begin", "train_end", "epoch_begin", "epoch_end", "step_begin", "substep_end", "step_end", "evaluate", "save", "log"]


class FakeRange:
    log = []

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.log.append(("begin", self.name))
        return self

    def __exit__(self, *_):
        self.log.append(("end", self.name))


@pytest.fixture
def torch(monkeypatch):
    """A PyTorch whose CUDA nothing has used yet."""
    module = types.ModuleType("torch")
    nvtx = types.SimpleNamespace(range_push=lambda name: FakeRange.log.append(("push", name)), range_pop=lambda: FakeRange.log.append(("pop", "")))
    module.cuda = types.SimpleNamespace(is_initialized=lambda: module.used, current_device=lambda: 0, synchronize=lambda device: None, nvtx=nvtx)
    module.profiler = types.SimpleNamespace(record_function=FakeRange)
    module.used = False
    FakeRange.log.clear()
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def fresh(monkeypatch, name):
    monkeypatch.delitem(sys.modules, f"gpu_profile.{name}", raising=False)
    return importlib.import_module(f"gpu_profile.{name}")


@pytest.fixture(params=["lightning.pytorch", "pytorch_lightning", "transformers"])
def framework(request, monkeypatch, torch):
    """The module under test, and `train(callback, folder, ...)`, which calls its hooks as the framework does."""
    names = {"lightning": ["lightning", "lightning.pytorch"], "pytorch_lightning": ["pytorch_lightning"], "transformers": ["transformers"]}
    for name in sum(names.values(), []):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in names[request.param.split(".")[0]]:
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    module = sys.modules[request.param]
    if request.param == "transformers":
        module.TrainerCallback = type("TrainerCallback", (), {f"on_{event}": lambda self, args, state, control, **more: None for event in EVENTS})
        return types.SimpleNamespace(name="transformers", module=fresh(monkeypatch, "transformers"), train=train_transformers)
    module.Callback = type("Callback", (), {})
    if "." in request.param:
        sys.modules["lightning"].pytorch = module
    return types.SimpleNamespace(name="lightning", module=fresh(monkeypatch, "lightning"), train=train_lightning)


def train_lightning(callback, folder, epochs=2, steps=6, rank=0, world_size=1, fetch_s=0.0, step_s=0.0, other_s=0.0, failing=None):
    trainer = types.SimpleNamespace(global_rank=rank, world_size=world_size, default_root_dir=folder, current_epoch=0)

    def call(name, *arguments):
        hook = getattr(callback, name, None)
        if hook is not None:
            hook(trainer, None, *arguments)

    call("on_train_start")
    try:
        for trainer.current_epoch in range(epochs):
            call("on_train_epoch_start")
            for number in range(steps):
                time.sleep(fetch_s)
                call("on_train_batch_start", None, number)
                time.sleep(step_s)
                if failing == number:
                    raise KeyError("theirs")
                call("on_train_batch_end", None, None, number)
                if number == steps // 2:
                    call("on_validation_start")
                    time.sleep(other_s)
                    call("on_validation_end")
            call("on_train_epoch_end")
        call("on_train_end")
    except KeyError as problem:
        call("on_exception", problem)
        raise


def train_transformers(callback, folder, epochs=2, steps=6, rank=0, world_size=1, fetch_s=0.0, step_s=0.0, other_s=0.0, failing=None):
    args = types.SimpleNamespace(process_index=rank, world_size=world_size, output_dir=folder)
    state = types.SimpleNamespace(epoch=0.0)

    def call(event):
        assert getattr(callback, f"on_{event}")(args, state, None, model=None) is None

    call("init_end")
    call("train_begin")
    for _ in range(epochs):
        call("epoch_begin")
        for number in range(steps):
            time.sleep(fetch_s)
            call("step_begin")
            time.sleep(step_s)
            if failing == number:
                raise KeyError("theirs")
            call("step_end")
            if number == steps // 2:
                time.sleep(other_s)
                call("evaluate")
                call("save")
        call("epoch_end")
    call("train_end")


def document(folder, name="gpu-profile-training.json"):
    return json.loads((folder / name).read_text())


def test_steps_fetches_and_devices_of_each_epoch(framework, tmp_path, capsys):
    backend = replayed.write(tmp_path / "s.csv", time_s=[0, 1], device=[0, 0], util_gpu=[10, 30])
    callback = framework.module.GpuProfileCallback(backend=backend, warmup_steps=2)
    framework.train(callback, tmp_path, fetch_s=0.004, step_s=0.002, other_s=0.2)
    found = document(tmp_path)
    cut = int(framework.name == "lightning")  # steps of an epoch that follow a validation
    assert (found["framework"], found["complete"], found["warmup_steps"], found["steps"], found["interrupted_steps"]) == (framework.name, True, 2, 10 - 2 * cut, 2 * cut)
    assert [(epoch["epoch"], epoch["warmup_steps"], epoch["steps"]) for epoch in found["epochs"]] == [(0, 2, 4 - cut), (1, 0, 6 - cut)]
    assert [epoch["gpu"][0]["util_gpu_mean"] for epoch in found["epochs"]] == [20, 20]
    assert found["step_s"]["min"] >= 0.006 and found["fetch_s"]["min"] >= 0.004
    assert found["step_s"]["p50"] < 0.15 and 30 < found["fetch_pct"] < 95  # validation is no part of a step
    said = capsys.readouterr().err
    assert said.startswith(f"gpu-profile: training: {10 - 2 * cut} steps after 2 warm-up steps (") and "  fetch   mean " in said and "gpu-profile: GPU 0" in said


def test_each_rank_writes_a_file_of_its_own(framework, tmp_path, capsys):
    for rank in (0, 3):
        framework.train(framework.module.GpuProfileCallback(backend="none"), tmp_path, rank=rank, world_size=4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gpu-profile-training.rank0.json", "gpu-profile-training.rank3.json"]
    assert document(tmp_path, "gpu-profile-training.rank3.json")["rank"] == 3
    assert capsys.readouterr().err.count("training, rank") == 1  # the first one's
    framework.train(framework.module.GpuProfileCallback(backend="none", path=tmp_path / "deep/own.json", report=False), tmp_path)
    assert document(tmp_path, "deep/own.json")["world_size"] == 1 and capsys.readouterr().err == ""


def test_a_report_function_gets_the_dictionary(framework, tmp_path):
    found = []
    framework.train(framework.module.GpuProfileCallback(backend="none", report=found.append), tmp_path)
    assert found == [document(tmp_path)] and found[0]["steps"] + found[0]["interrupted_steps"] == 2


def test_steps_are_ranges(framework, torch, tmp_path):
    torch.used = True
    framework.train(framework.module.GpuProfileCallback(backend="none", report=False), tmp_path, epochs=1, steps=2)
    assert FakeRange.log == 2 * [("begin", "step"), ("push", "step"), ("pop", ""), ("end", "step")]
    FakeRange.log.clear()
    framework.train(framework.module.GpuProfileCallback(backend="none", report=False, mark_steps=False), tmp_path)
    assert FakeRange.log == []


def test_a_pytorch_without_nvtx_is_no_failure(framework, torch, tmp_path, recwarn):
    torch.used = True
    torch.cuda.nvtx.range_push = lambda name: (_ for _ in ()).throw(RuntimeError("NVTX functions not installed"))
    framework.train(framework.module.GpuProfileCallback(backend="none", report=False), tmp_path, epochs=1, steps=2)
    assert FakeRange.log == 2 * [("begin", "step"), ("end", "step")] and not recwarn.list


def test_rank_0_in_standby_asks_for_steps_once(framework, torch, tmp_path, monkeypatch):
    """And every step is marked once: by a range of NVTX, or else by step()."""
    asked, marked = queue.Queue(), []
    monkeypatch.setattr(recording, "trigger", lambda **given: asked.put(given))
    monkeypatch.setattr(recording, "step", lambda: marked.append("step"))
    options = {"backend": "none", "report": False, "record_at": 8, "record_steps": 3}
    framework.train(framework.module.GpuProfileCallback(**options), tmp_path)
    assert marked == 12 * ["step"] and asked.empty(), "nobody is in standby"
    monkeypatch.setenv("GPUPROF_STANDBY", str(tmp_path))
    for rank in (1, 0):
        framework.train(framework.module.GpuProfileCallback(**options, mark_steps=False), tmp_path, rank=rank, world_size=2)
    assert asked.get(timeout=HANGS_S) == {"steps": 3} and asked.empty()
    assert len(marked) == 3 * 12
    torch.used = True
    framework.train(framework.module.GpuProfileCallback(backend="none", report=False), tmp_path)
    assert len(marked) == 3 * 12 and FakeRange.log.count(("push", "step")) == 12


def test_a_trigger_that_fails_is_a_warning(framework, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUPROF_STANDBY", str(tmp_path / "nowhere"))
    said = queue.Queue()
    monkeypatch.setattr("gpu_profile.training.warn", said.put)
    framework.train(framework.module.GpuProfileCallback(backend="none", report=False, record_at=1), tmp_path)
    assert re.fullmatch(r"no steps are recorded: no recording is in standby.*; the training continues", said.get(timeout=HANGS_S))
    assert document(tmp_path)["complete"] and said.empty()


def test_a_training_that_raises_is_written(framework, torch, tmp_path):
    torch.used = True
    callback = framework.module.GpuProfileCallback(backend="none", warmup_steps=0, report=False)
    with pytest.raises(KeyError, match="theirs"):
        framework.train(callback, tmp_path, failing=3)
    if framework.name == "lightning":
        assert (document(tmp_path)["problem"], document(tmp_path)["complete"], document(tmp_path)["steps"]) == ("KeyError", False, 3)
        assert FakeRange.log.count(("push", "step")) == FakeRange.log.count(("pop", ""))


def test_a_failing_profiler_is_a_warning(framework, torch, tmp_path):
    torch.profiler.record_function = None
    with pytest.warns(RuntimeWarning, match="the training continues without monitoring: TypeError") as caught:
        framework.train(framework.module.GpuProfileCallback(backend="none"), tmp_path)
    assert len(caught) == 1
    with pytest.warns(RuntimeWarning, match="without monitoring: ZeroDivisionError"):
        framework.train(framework.module.GpuProfileCallback(backend="none", mark_steps=False, report=lambda found: 1 / 0), tmp_path)


def test_a_file_that_cannot_be_written_is_a_warning(framework, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="cannot write .*; the training continues"):
        framework.train(framework.module.GpuProfileCallback(backend="none", path=tmp_path / "file/x.json", warmup_steps=0), tmp_path)
    assert "gpu-profile: training: 1" in capsys.readouterr().err


def test_wrong_arguments_are_raised_before_the_training(framework):
    for arguments, complaint in (({"warmup_steps": -1}, "warmup_steps must be"), ({"interval_s": 0}, "interval_s must be"), ({"backend": "cuda"}, "unknown backend"), ({"record_at": 0}, "record_at and record_steps must be")):
        with pytest.raises(ValueError, match=complaint):
            framework.module.GpuProfileCallback(**arguments)


def test_a_callback_can_be_pickled_and_used_again(framework, tmp_path, monkeypatch):
    callback = framework.module.GpuProfileCallback(backend="none", report=False)
    callback = pickle.loads(pickle.dumps(callback))
    for _ in range(2):
        framework.train(callback, tmp_path, epochs=3)
        assert document(tmp_path)["warmup_steps"] == 10 and len(document(tmp_path)["epochs"]) == 3


def test_nothing_is_imported_that_is_not_used():
    import subprocess

    code = "import sys, gpu_profile.training; print([name for name in ('torch', 'lightning', 'pytorch_lightning', 'transformers') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(("name", "package"), [("lightning", "Lightning"), ("transformers", "Transformers")])
def test_a_missing_framework_is_named(name, package, monkeypatch):
    for each in ("lightning", "lightning.pytorch", "pytorch_lightning", "transformers"):
        monkeypatch.setitem(sys.modules, each, None)
    for each in ("lightning.pytorch", "pytorch_lightning"):
        monkeypatch.delitem(sys.modules, each)
        monkeypatch.setattr(sys, "path", [])
    with pytest.raises(ImportError, match=f"gpu_profile.{name} needs {package}"):
        fresh(monkeypatch, name)


def test_the_page_trains(framework, tmp_path, monkeypatch):
    """The blocks of the guide, with trainers that call the hooks."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/guides/training.md").read_text(), re.MULTILINE | re.DOTALL)
    (block,) = [each for each in blocks if f"gpu_profile.{framework.name} " in each]
    package = "lightning.pytorch" if framework.name == "lightning" else "transformers"
    if package not in sys.modules:
        pytest.skip("the page shows the import of lightning")
    calls = []

    class Trainer:
        def __init__(self, *given, callbacks, **more):
            self.callbacks = callbacks

        def fit(self, *given):
            calls.append(self.callbacks)
            framework.train(self.callbacks[0], tmp_path, steps=12)

        train = fit

    sys.modules[package].Trainer = Trainer
    exec(block, dict.fromkeys(("model", "loader", "arguments", "dataset")))
    assert len(calls) == 1 and document(tmp_path)["complete"] and document(tmp_path)["warmup_steps"] == (10 if framework.name == "lightning" else 5)
