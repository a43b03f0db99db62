"""`serve --jobs`: the totals of `record --aggregate` for Prometheus and pprof, bounded and never falling whatever comes."""

import gzip
import http.client
import json
import os
import subprocess
import time

import pytest
from fake_driver import DEVICE, fake_driver
from nightly import NIGHTLY
from patience import HANGS_S
from played import record_played
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families
from prometheus_client.parser import text_string_to_metric_families
from recordings_of_cupti import lines, script_of_records
from simulate.judge_totals import drawn_job, moved
from test_export_stacks import fields, packed
from test_serve import serve
from test_serve_containers import TRAIN, UID, Host, group, wait_for

ACCEPT = {"Accept": "application/openmetrics-text; version=1.0.0,text/plain;q=0.5"}


def snapshot(folder):
    (file,) = folder.glob("*.totals")
    return file, json.loads(file.read_text())


def samples_of(page, families=text_string_to_metric_families):
    """{(name, labels): value} of the jobs' metrics, and their types."""
    values, types = {}, {}
    for family in families(page):
        if not family.name.startswith("gpu_profile_job_"):
            continue
        types[family.name] = family.type
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in values
            values[key] = sample.value
    return values, types


def scrape(program, folder):
    with serve(program, "--jobs", folder) as server:
        status, _, page = server.ask()
        assert status == 200
        return samples_of(page)[0]


def counted(values):
    return {key: value for key, value in values.items() if key[0].endswith(("_total", "_bucket", "_sum", "_count"))}


@pytest.fixture(scope="module")
def job(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    done = record_played(program, script_of_records(drawn_job(6), folder), folder / "totals", "--aggregate", play="inline",
                         environment={"RANK": "3", "WORLD_SIZE": "4"}.items())
    assert done.status == 0, done.errors
    return folder / "totals"


def test_both_formats_have_the_numbers_of_the_snapshot(program, job):
    with serve(program, "--jobs", job) as server:
        assert "only totals of jobs are served" in server.said[0]
        status, headers, page = server.ask()
        assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
        values, types = samples_of(page)
        _, headers, page = server.ask(headers=ACCEPT)
        assert headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
        opened, open_types = samples_of(page, open_metrics_families)
        assert server.ask("/healthz")[0] == 200
    assert counted(opened) == counted(values) and list(types.values()) == list(open_types.values())
    _, document = snapshot(job)
    (of,) = document["ranks"]
    total = lambda name, **labels: sum(value for (sample, own), value in values.items() if sample == f"gpu_profile_job_{name}" and labels.items() <= dict(own).items())  # noqa: E731
    for each in of["kernels"]:
        wanted = {"kernel": each["name"], "gpu": str(each["device"]), "rank": "3"}
        assert total("kernels_total", **wanted) == each["count"]
        assert total("kernel_seconds_total", **wanted) == pytest.approx(each["total_ns"] / 1e9)
    for each in of["devices"]:
        gpu = {"gpu": str(each["device"])}
        assert total("busy_seconds_total", **gpu) == pytest.approx(each["busy_ns"] / 1e9)
        assert total("collective_exposed_seconds_total", **gpu) == pytest.approx(each["exposed_collective_ns"] / 1e9)
        for cause, ns in each["idle_ns"].items():
            assert total("idle_seconds_total", cause=cause, **gpu) == pytest.approx(ns / 1e9)
        assert total("idle_gap_seconds_sum", **gpu) == pytest.approx(sum(each["idle_ns"].values()) / 1e9)
        assert total("idle_gap_seconds_bucket", le="+Inf", **gpu) == sum(count for _, count in each["gaps"])
        for exponent in range(10, 34, 2):  # an edge of the snapshot's histogram
            edge = next(labels for name, labels in values if name.endswith("gap_seconds_bucket") and dict(labels)["le"] != "+Inf"
                        and float(dict(labels)["le"]) == 2**exponent / 1e9)
            assert total("idle_gap_seconds_bucket", le=dict(edge)["le"], **gpu) == sum(count for at, count in each["gaps"] if at <= 8 * exponent)
    assert sum(each["bytes"] for each in of["copies"]) == total("copy_bytes_total")


def whole_page(program, job, tmp_path, *options):
    """With pods, jobs and devices, in both formats."""
    host = Host(tmp_path / "host")
    host.process(101, group(UID, TRAIN))
    host.process(102, "/")
    with serve(program, "--jobs", job, "--pods", "--host-root", host.root, *options,
               environment=fake_driver(program, tmp_path, DEVICE + "process 0 101 5 1\nprocess 0 102 6 2\nprocess 0 103 7 3\n")) as server:
        wait_for(server, lambda found: "unattributed_processes" in found)
        return server.ask()[2], server.ask(headers=ACCEPT)[2]


@pytest.mark.parametrize("options", [(), ("--dcgm-names",)])
def test_parsers_accept_the_whole_page(program, job, tmp_path, options):
    text, opened = whole_page(program, job, tmp_path, *options)
    names = [{sample.name.removesuffix("_total") for family in parse(page) for sample in family.samples}
             for parse, page in ((text_string_to_metric_families, text), (open_metrics_families, opened))]
    assert names[0] == names[1] >= {"gpu_profile_process_mem_used_bytes", "gpu_profile_job_kernels", "gpu_profile_power_watts"}


@pytest.mark.skipif(not NIGHTLY, reason="promtool comes with Prometheus (Debian package prometheus)")
def test_promtool_accepts_the_whole_page(program, job, tmp_path):
    text, _ = whole_page(program, job, tmp_path)
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_counters_never_fall_and_series_are_bounded(program, tmp_path):
    """Runs of one job with ten thousand names that take turns as the largest, each with another recorder and another server."""
    base = moved(lines())
    kernel = next(record for record in base if record["kind"] == "KERNEL")
    before, sum_of_all = {}, 0
    for run in range(5):
        records, at = [], kernel["start"]
        for number in range(2500):
            took = 10_000_000 if number == 17 * run else 500
            name = ('k"\\\n{}' if number % 100 == 0 else "k{}").format(run * 2500 + number)
            records.append({**kernel, "start": at, "end": at + took, "completed": at + took, "correlationId": number + 1, "name": name})
            at += took + 100
        sum_of_all += len(records)
        assert record_played(program, script_of_records(records, tmp_path), tmp_path / "totals", "--aggregate", play="inline").status == 0
        values = counted(scrape(program, tmp_path / "totals"))
        assert {key: (value, values.get(key)) for key, value in before.items() if values.get(key, -1) < value} == {}
        kernels = {labels: value for (name, labels), value in values.items() if name == "gpu_profile_job_kernels_total"}
        assert sum(kernels.values()) == sum_of_all and len(kernels) <= 51 and len(values) < 200
        assert any(dict(labels)["kernel"] == "(other)" for labels in kernels)
        before = values


def test_a_profile_has_what_ran_since(program, job):
    _, document = snapshot(job)
    with serve(program, "--jobs", job) as server:
        def profile(query=""):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=HANGS_S)
            connection.request("GET", "/debug/pprof/gpu" + query)
            reply = connection.getresponse()
            body = reply.read()
            return reply.status, body

        status, body = profile()
        assert status == 200
        message = list(fields(gzip.decompress(body)))
        strings = [value.decode() for number, value in message if number == 6]
        functions = {dict(fields(value))[1]: strings[dict(fields(value))[2]] for number, value in message if number == 5}
        found = {}
        for number, value in message:
            if number == 2:
                sample, labels = dict(fields(value)), {}
                for inner, label in fields(value):
                    if inner == 3:
                        labels[strings[dict(fields(label))[1]]] = strings[dict(fields(label))[2]]
                assert labels["rank"] == "3"
                found[functions[packed(sample[1])[0]], int(labels["gpu"])] = tuple(packed(sample[2]))
        assert found == {(each["name"], each["device"]): (each["count"], each["total_ns"]) for each in document["ranks"][0]["kernels"]}
        # nothing has run since the server knows the job
        assert not [number for number, _ in fields(gzip.decompress(profile("?seconds=5")[1])) if number == 2]
        assert [profile(query)[0] for query in ("?seconds=0", "?seconds=121", "?seconds=1x", "?second=1", "?seconds=")] == [400] * 5


def test_what_is_no_snapshot_is_left_out(program, job, tmp_path):
    """Damaged, foreign, huge, linked and old files; the others are served."""
    file, document = snapshot(job)
    (tmp_path / "good-0.totals").write_text(json.dumps(document))
    old = {**document, "written_ns": time.time_ns() - 301 * 10**9, "host": "old"}
    for name, text in {"half-0": json.dumps(document)[:500], "empty-0": "", "other-0": json.dumps({"format": "x", "version": 1}), "new-0": json.dumps({**document, "version": 2}),
                       "old-0": json.dumps(old), "wrong-0": json.dumps({**document, "ranks": [{"kernels": [{"name": 7, "count": -1, "durations": [[1], [-1, 2], "x"]}]}]})}.items():
        (tmp_path / f"{name}.totals").write_text(text)
    (tmp_path / "link-0.totals").symlink_to(file)
    os.mkfifo(tmp_path / "pipe-0.totals")
    with open(tmp_path / "huge-0.totals", "wb") as huge:
        huge.truncate(1 << 40)
    kernels = {dict(labels)["host"] for name, labels in scrape(program, tmp_path) if name == "gpu_profile_job_kernels_total"}
    assert kernels == {document["host"]}
    assert sum(value for (name, labels), value in scrape(program, tmp_path).items() if name == "gpu_profile_job_kernels_total" and dict(labels).get("rank") == "3") \
        == sum(each["count"] for each in document["ranks"][0]["kernels"])


def test_a_folder_that_is_not_there(program, tmp_path):
    done = program.run("serve", "--prometheus", "127.0.0.1:0", "--jobs", tmp_path / "none")
    assert done.status == 3 and "none" in done.errors[-1]
