"""The published JSON Schema of the documents (core/schema/documents.schema.json) describes what every command writes.

Documents are checked against a strict form of it: a member that the schema does not know is an error, so that it cannot fall
behind the program. Its lists of names are compared with the program's own, and documents that are wrong in one place are refused.
"""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
from patience import HANGS_S
import pytest

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "core/schema/documents.schema.json").read_text())
KINETO = "tests/fixtures/kineto"
TRANSFORMER, SMALL = f"{KINETO}/transformer.json.zst", f"{KINETO}/small_kernels.json.zst"
REPLAY = "replay:tests/fixtures/nvml/bursty.csv@max"
RECORDINGS = (
    TRANSFORMER,
    f"{KINETO}/transformer-stacks-shapes-memory.json.zst",
    "tests/fixtures/nsys/h100_2gpu_1s.sqlite.zst",
    "tests/fixtures/nsys/mock_gpu_trace.csv",
    "tests/fixtures/jax/mlp.xplane.pb.zst",
    "tests/fixtures/public/nccl_parser_config__nccl_data.json.zst",
    "tests/fixtures/memory/growth.snapshot.pickle.gz",
    "tests/fixtures/ncu/kernels.raw.csv.gz",
    "tests/fixtures/nvidia-smi/h200-580.csv",
    "tests/fixtures/proton/matmul.hatchet",
)


def strict(schema):
    """The same schema, refusing members that it does not name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object" and "additionalProperties" not in schema:
        out["additionalProperties"] = False
    return out


def validator(kind, schema=SCHEMA):
    return jsonschema.Draft202012Validator({**schema, "oneOf": [{"$ref": f"#/$defs/{kind}"}]})


def problems(kind, document):
    return [f"{'/'.join(map(str, each.absolute_path))}: {each.message[:200]}"
            for top in validator(kind, strict(SCHEMA)).iter_errors(document) for each in (top.context or [top])]


def document_of(program, *arguments, status=0):
    done = subprocess.run([program.path, *arguments], capture_output=True, cwd=ROOT, check=False, timeout=HANGS_S,
                          env={**os.environ, "GPUPROF_PYTHON": sys.executable})
    assert done.returncode == status, done.stderr.decode()
    return json.loads(done.stdout)


def test_the_program_prints_it(program):
    assert document_of(program, "schema", "--format", "json-schema") == SCHEMA


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator.check_schema(strict(SCHEMA))


@pytest.mark.parametrize("file", RECORDINGS)
def test_first_answers(program, file):
    assert problems("report", document_of(program, "report", file, "--format", "json", "--limit", "20")) == []


@pytest.mark.parametrize("file", RECORDINGS[:6])
def test_every_analysis(program, file):
    names = [row[0] for table in document_of(program, "schema", "--format", "json")["tables"] if table["name"] == "analyses"
             for row in table["rows"]]
    assert len(names) > 30
    document = document_of(program, "report", file, *names, "--format", "json", "--limit", "10")
    assert set(names) <= {table["name"] for table in document["tables"]}
    assert problems("report", document) == []


@pytest.fixture(scope="module")
def history(program, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("history") / "runs.sqlite")
    for _ in range(3):
        subprocess.run([program.path, "history", "add", TRANSFORMER, "--label", "step", "--db", path], cwd=ROOT, check=True, capture_output=True)
    return path


@pytest.mark.parametrize("arguments", [
    ("compare", TRANSFORMER, SMALL),
    ("compare", TRANSFORMER, TRANSFORMER, "kernels", "ops"),
    ("query", TRANSFORMER, "SELECT name, count(*) FROM kernel GROUP BY 1"),
    ("query", TRANSFORMER, "SELECT * FROM kernel", "--limit", "3"),
    ("report", "tests/fixtures/ncu/kernels.raw.csv.gz", "kernel", "--kernel", "k-1"),
    ("schema",),
    ("doctor",),
    ("kernel-info", "tests/fixtures/cubin/kernels.sm_90a.cubin.gz"),
    ("kernel-info", "tests/fixtures/cubin/add.sm_90a.cubin.gz", "--lines"),
], ids=lambda arguments: " ".join(arguments[:1]))
def test_other_reports(program, arguments):
    assert problems("report", document_of(program, *arguments, "--format", "json")) == []


@pytest.mark.parametrize("arguments", [("list",), ("check", TRANSFORMER, "--label", "step")], ids=lambda arguments: arguments[0])
def test_histories(program, history, arguments):
    assert problems("report", document_of(program, "history", *arguments, "--db", history, "--format", "json")) == []


def test_a_damaged_recording(program, tmp_path):
    whole = (ROOT / TRANSFORMER).read_bytes()
    (cut := tmp_path / "cut.json.gz").write_bytes(whole[: len(whole) // 2])
    document = document_of(program, "report", str(cut), "--format", "json")
    assert document["damaged"]
    assert problems("report", document) == []
    assert problems("report", document_of(program, "query", str(cut), "SELECT 1", "--format", "json")) == []


@pytest.mark.parametrize("options, kind", [
    (("--backend", REPLAY), "summary"), (("--backend", "none"), "summary"), (("--backend", REPLAY, "--repeats", "2"), "runs")])
def test_sampling(program, options, kind):
    assert problems(kind, document_of(program, "profile", "--json", *options, "--", "true")) == []


def test_benchmarks(program, tmp_path):
    saved = tmp_path / "saved.json"
    short = ("--min-time", "0.01", "--max-samples", "8", "--min-samples", "5")
    function = document_of(program, "bench", "examples/evaluate/baseline.py:kernel", "--inputs", "examples/evaluate/inputs.py", "--memory",
                           *short, "--save", str(saved), "--format", "json")
    assert problems("bench", function) == []
    assert problems("bench", json.loads(saved.read_text())) == []
    assert problems("bench", document_of(program, "bench", *short, "--format", "json", "--", "true")) == []
    assert problems("report", document_of(program, "bench", "compare", str(saved), str(saved), "--format", "json")) == []


def test_evaluations(program, tmp_path):
    (broken := tmp_path / "broken.py").write_text("raise ValueError('never loads')\n")
    for side, status in (("examples/evaluate/optimized.py", 0), (str(broken), 3)):
        document = document_of(program, "evaluate", "examples/evaluate/baseline.py", side, "--shape", "64x64", "--repeat", "5", "--json",
                               status=status)
        assert problems("evaluation", document) == []


def test_lists_of_names_are_the_programs(program):
    kinds, names = SCHEMA["$defs"], {}
    for row in program.declared("json_values"):
        names.setdefault((row["object"], row["member"]), set()).add(row["value"])
    names["statement", "code"] = {row["name"] for row in program.declared("comparison_warnings")}
    assert names.keys() == {("verdict", "name"), ("finding", "basis"), ("finding", "severity"), ("column", "unit"), ("column", "type"), ("statement", "code")}
    names["column", "unit"].add(None)
    for (kind, member), expected in names.items():
        assert set(kinds[kind]["properties"][member]["enum"]) == expected, (kind, member)
    declared = {row["name"]: row["doc"] for row in program.declared("summary_fields")}
    assert {name: each["description"] for name, each in kinds["summary"]["properties"].items()} == declared


def spoiled(document):
    """The document with one thing wrong at a time."""
    for name in ("tool", "schema", "tables", "source"):
        yield f"without {name}", {key: value for key, value in document.items() if key != name}
    for what, change in (
        ("a newer schema", lambda d: d.update(schema=2)),
        ("an unknown verdict", lambda d: d["verdict"].update(name="slow")),
        ("a verdict without a basis", lambda d: d["verdict"].pop("basis")),
        ("a cell that is a list", lambda d: d["tables"][0]["rows"][0].__setitem__(0, [1])),
        ("an unknown unit", lambda d: d["tables"][0]["columns"][0].update(unit="furlong")),
        ("a finding that costs less than nothing", lambda d: d["findings"][0].update(cost_ns=-1)),
        ("a warning that is a text", lambda d: d["trust"][0].update(warning="yes")),
    ):
        wrong = copy.deepcopy(document)
        change(wrong)
        yield what, wrong


def test_wrong_documents_are_refused(program):
    document = document_of(program, "report", "examples/input_bound.json.gz", "--format", "json")
    published = validator("report")
    assert published.is_valid(document)
    for what, wrong in spoiled(document):
        assert not published.is_valid(wrong), what
    assert published.is_valid({**document, "a_later_member": 1}), "members may be added"
    assert problems("report", {**document, "a_later_member": 1})
