"""What a call moves and does, and its share of the device's peak: by stand-ins for arrays and PyTorch's counter, and on the
simulated device, which has the name and the attributes of an H200."""

import sys
import types

import pytest
from test_bench_frameworks import TORCH, answers, fake  # noqa: F401

import gpu_profile
from gpu_profile.bench_counts import count

H200 = "name NVIDIA H200; attribute 75 9; attribute 76 0; attribute 16 132; memory 150000000000; kernel 1 constant 100000; latency_ns 0"


class Array:
    def __init__(self, dtype="float32", nbytes=4000):
        self.dtype, self.nbytes, self.shape = dtype, nbytes, (nbytes,)


class FlopCounterMode:
    total = 2e9

    def __init__(self, display):
        assert display is False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def get_total_flops(self):
        return self.total


@pytest.fixture
def torch(monkeypatch):
    modules = {name: types.ModuleType(name) for name in ("torch", "torch.utils", "torch.utils.flop_counter")}
    modules["torch.utils.flop_counter"].FlopCounterMode = FlopCounterMode
    modules["torch"].backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=False)))
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return modules["torch"]


def test_given_figures_need_no_call():
    found = count(1e6, 2e9, None, [Array("float16")], pytest.fail)
    assert found == (1e6, "given", 2e9, "given", "fp16", ())
    assert count(None, None, "fp16", [], pytest.fail) == (None, None, None, None, None, ())


def test_bytes_are_at_least_inputs_and_outputs():
    x, out = Array(), Array(nbytes=500)
    found = count("count", None, None, ((x, [x]), {"y": Array()}), lambda: {"out": out})
    assert (found.bytes, found.bytes_from) == (8500, "at least")
    assert "lower bound" in found.notes[0]
    found = count("count", None, None, (3,), lambda: None)
    assert (found.bytes, found.bytes_from) == (None, None)
    assert len(found.notes) == 1 and found.notes[0].startswith("bytes are unknown: ")


def test_flops_by_pytorchs_counter(torch, monkeypatch):
    calls = []
    found = count("count", "count", None, [Array("torch.bfloat16")], lambda: calls.append(1))
    assert (found.flops, found.flops_from, found.flops_as, len(calls)) == (2e9, "torch.utils.flop_counter", "bf16", 1)
    monkeypatch.setattr(FlopCounterMode, "total", 0)
    found = count(None, "count", None, [Array()], lambda: None)
    assert (found.flops, found.flops_from, found.flops_as) == (None, None, None)
    assert found.notes[0].startswith("FLOP are unknown: torch.utils.flop_counter ")


def test_flops_without_pytorch():
    found = count(None, "count", None, [Array()], lambda: None)
    assert len(found.notes) == 1 and "PyTorch" in found.notes[0]


@pytest.mark.parametrize(("dtypes", "format"), [
    (["float32"], "fp32"), (["float16", "int8"], "fp16"), (["int8"], "int8"), (["float16", "float32"], None), (["int64"], None),
    (["torch.float8_e4m3fn"], "fp8"), ([], None),
])
def test_number_formats(dtypes, format):
    assert count(None, 1.0, None, [Array(dtype) for dtype in dtypes], pytest.fail).flops_as == format


def test_float32_is_tf32_where_pytorch_multiplies_so(torch):
    torch.backends.cuda.matmul.allow_tf32 = True
    assert count(None, 1.0, None, [Array()], pytest.fail).flops_as == "tf32"
    assert count(None, 1.0, "fp32", [Array()], pytest.fail).flops_as == "fp32"


def test_what_is_no_count():
    with pytest.raises(gpu_profile.Error, match="bytes 'lots'.*'count'") as caught:
        gpu_profile.bench(len, (), bytes="lots")
    assert caught.value.code == 2


def test_share_of_the_peak(answers):  # noqa: F811
    given, counted, none = answers(TORCH, f'''
        script("{H200}")
        torch.started = True
        x = Tensor(True)
        x.dtype, x.shape, x.nbytes = "torch.bfloat16", (1,), 120_000_000
        say(bench(kernel, x, bytes=240e6, flops=49.5e9, **QUICK), text=str(bench(kernel, x, bytes=240e6, flops=49.5e9, **QUICK)))
        say(bench(kernel, x, bytes="count", **QUICK), text=str(bench(kernel, x, bytes="count", **QUICK)))
        script("kernel 1 constant 100000")
        say(bench(kernel, x, bytes=240e6, **QUICK))
    ''')
    assert given["bytes_pct"] == pytest.approx(50, rel=1e-3)
    assert given["flop_pct"] == pytest.approx(50, rel=0.03)
    assert (given["flops_as"], given["peak_bytes_per_s"]) == ("bf16", 4.8e12)
    assert given["peak_source"] == "NVIDIA H200 datasheet (SXM) (known device)"
    assert "2400 GB/s (50 % of 4800 GB/s) · 495 TFLOP/s (" in given["text"] and "TFLOP/s, bf16)" in given["text"]
    assert counted["bytes_pct"] == pytest.approx(25, rel=1e-3)
    assert "at least 1200 GB/s (25 % of 4800 GB/s)" in counted["text"]
    assert (none["bytes_pct"], none["peak_source"]) == (None, None)
    assert "share of peak unknown: the bandwidth of Fake GPU is unknown" in none["notes"]


def test_an_unknown_arithmetic(answers):  # noqa: F811
    (found,) = answers('''
        try:
            bench(lambda: launch(1, 0x100), stream=0x100, flops=1.0, flops_as="fp7")
        except Error as problem:
            print(json.dumps([problem.code, problem.message]))
    ''')
    assert found[0] == 2 and "'fp7'" in found[1] and "'fp8'" in found[1], "the nearest names are suggested"
