"""`%%gpu_profile` and `%gpu_profile`: options, values, exceptions and summaries, in an IPython shell and in a kernel."""

import re
from pathlib import Path

import pytest
import replayed

from gpu_profile.magic import split_line
from patience import HANGS_S

pytest.importorskip("IPython", reason="IPython is not installed")


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """An IPython shell with the magics; `shell.shown` has what they displayed."""
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    found = InteractiveShell.instance()
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    shown = found.shown = []
    found.run_line_magic("load_ext", "gpu_profile")
    yield found
    InteractiveShell.clear_instance()


@pytest.fixture
def backend(tmp_path):
    return replayed.write(tmp_path / "s.csv", time_s=[0, 1], device=[0, 0], util_gpu=[10, 30])


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def run(shell, source):
    return shell.run_cell(source, store_history=True)


@pytest.mark.parametrize(("line", "options", "statement"), [
    ("", {}, ""),
    ("f(x)", {}, "f(x)"),
    ("--interval-s 0.05 --strict f(--x)", {"interval_s": 0.05, "strict": True}, "f(--x)"),
    ("--repeats=3 --warmup-runs 1 train(a, 'b  c')", {"repeats": 3, "warmup_runs": 1}, "train(a, 'b  c')"),
    ("--sync-fn 'lambda: wait(1)' --device all", {"sync_fn": "lambda: wait(1)", "device": "all"}, ""),
])
def test_a_line_is_options_and_a_statement(line, options, statement):
    assert split_line(line) == (options, statement)


@pytest.mark.parametrize(("line", "complaint"), [
    ("--interval 1 f()", "unknown option '--interval'; did you mean '--interval-s'?"),
    ("--repeats many f()", "--repeats: expected a number, not 'many'"),
    ("--device", "--device needs a value"),
])
def test_wrong_options_are_named(line, complaint):
    with pytest.raises(ValueError, match=f"^{complaint.replace('?', '[?]')}$"):
        split_line(line)


def test_a_cell_runs_in_the_notebook_and_its_last_value_is_shown(shell, backend):
    done = run(shell, f"%%gpu_profile --backend {backend} --result found\nimport math\ndef twice(x):\n    return 2 * math.floor(x)\ntwice(21.5)")
    assert done.success and done.result == 42 and shell.user_ns["twice"](4) == 8
    (shown,) = shell.shown
    assert shown["text/plain"].startswith("gpu-profile: GPU 0") and shown["text/html"].startswith("<pre>gpu-profile: GPU 0")
    assert shell.user_ns["found"].util_gpu_mean == 20
    assert run(shell, f"%%gpu_profile --backend {backend}\n1 + 1;").result is None
    assert run(shell, f"x = %gpu_profile --backend {backend} twice(3)").success and shell.user_ns["x"] == 6
    assert run(shell, "%%gpu_profile --backend none\n!true\n%pwd").result  # magics and shell commands in a cell
    assert len(shell.shown) == 4


def test_an_exception_is_that_of_the_cell_and_the_summary_appears(shell, capsys):
    done = run(shell, "%%gpu_profile --backend none\na = 1\nraise KeyError('mine')")
    assert isinstance(done.error_in_exec, KeyError) and shell.user_ns["a"] == 1
    assert "the region ended with KeyError" in shell.shown[0]["text/plain"]
    said = plain(capsys.readouterr().out)
    assert re.search(r"In\[\d+\], line 3\n.*\n-+> 3 raise KeyError\('mine'\)", said) and "decorator.py" not in said
    assert isinstance(run(shell, "%%gpu_profile\n1 +").error_in_exec, SyntaxError)


def test_repeats_and_sync_functions(shell, backend):
    run(shell, "calls, waits = [], []")
    done = run(shell, f"%%gpu_profile --backend {backend} --repeats 2 --warmup-runs 1 --result both --sync-fn 'lambda: waits.append(1)'\ncalls.append(1)\nlen(calls)")
    assert done.result == 3 and len(shell.user_ns["waits"]) == 4
    assert len(shell.user_ns["both"].runs) == 2 and "over 2 runs" in shell.shown[0]["text/plain"]


@pytest.mark.parametrize(("source", "complaint"), [
    ("%gpu_profile", "usage: %gpu_profile"),
    ("%%gpu_profile f()\n1", "unexpected 'f()' after %%gpu_profile"),
    ("%%gpu_profile --result 1x\n1", "expected the name of a variable, not '1x'"),
    ("%%gpu_profile --sync-fn nothing\n1", "--sync-fn nothing: NameError"),
    ("%%gpu_profile --backend cuda\n1", "unknown backend 'cuda'"),
    ("%%gpu_profile --interval-s 0\n1", "interval_s must be finite"),
    ("%%gpu_profile\nawait f()", "cannot run a cell with await; use: async with"),
])
def test_wrong_use_has_one_line(shell, capsys, source, complaint):
    done = run(shell, source)
    assert type(done.error_in_exec).__name__ == "UsageError" and complaint in str(done.error_in_exec)
    assert shell.shown == [] and "Traceback" not in "".join(capsys.readouterr())


def test_unloading_removes_them(shell):
    run(shell, "%unload_ext gpu_profile")
    assert not run(shell, "%gpu_profile 1").success or shell.shown == []
    run(shell, "%load_ext gpu_profile")
    run(shell, "%gpu_profile --backend none 1")
    assert len(shell.shown) == 1


def test_a_kernel_shows_summary_value_and_exception(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    cells = ["%load_ext gpu_profile", "%%gpu_profile --backend none\n6 * 7", "%%gpu_profile --backend none\nraise KeyError('mine')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with pytest.raises(nbclient.exceptions.CellExecutionError) as caught:
        nbclient.NotebookClient(notebook, timeout=HANGS_S).execute()
    assert "KeyError: 'mine'" in plain(str(caught.value))
    _, good, bad = ([(each.output_type, each.get("data", {})) for each in cell.outputs] for cell in notebook.cells)
    assert [kind for kind, _ in good] == ["display_data", "execute_result"] and good[1][1]["text/plain"] == "42"
    assert good[0][1]["text/html"].startswith("<pre>gpu-profile") and good[0][1]["text/plain"].startswith("gpu-profile: no GPU was sampled")
    assert [kind for kind, _ in bad] == ["display_data", "error"]


def test_the_page_runs(shell, monkeypatch):
    page = Path(__file__).resolve().parents[3] / "docs/guides/python.md"
    cells = re.findall(r"^```ipython\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    calls = []
    shell.user_ns["step"] = lambda: calls.append(1)
    done = [run(shell, cell) for cell in cells]
    assert len(cells) == 4 and all(each.success for each in done)
    assert len(calls) == 10 + 1 + 3 and len(shell.shown) == 2 and shell.user_ns["summary"].duration_s > 0
