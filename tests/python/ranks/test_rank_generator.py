"""The generator of jobs of many ranks (tests/ranks): its truth by hand, its accounts, its files."""

import gzip
import json
import re
import sqlite3
import struct
import sys
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from conftest import FIXTURES

ROOT = FIXTURES.parents[1]
sys.path.insert(0, str(ROOT))

from tests.ranks import generate, nsys  # noqa: E402
from tests.ranks.align import align  # noqa: E402
from tests.ranks.clocks import Recorded  # noqa: E402
from tests.ranks.events import COLLECTIVE, COMPUTED, COPY, P2P, of_run  # noqa: E402
from tests.ranks.folder import Damage, read, write_job, write_nsys  # noqa: E402
from tests.ranks.groups import CUT  # noqa: E402
from tests.ranks.job import MS, Clocks, Fault, Host, Job, Model, Network  # noqa: E402
from tests.ranks.jobs import named  # noqa: E402
from tests.ranks.kineto import Options  # noqa: E402
from tests.ranks.simulate import STREAM_GAP, simulate  # noqa: E402
from tests.ranks.truth import truth  # noqa: E402

# One micro-batch of 100 ms of compute on each rank, and nothing random.
EXACT = Model(layers=1, kernels=1, forward=40 * MS, backward=60 * MS, embedding=0, loss=0, optimizer=0)
PLAIN = Job("plain", dp=2, micro_batches=1, steps=4, model=EXACT, sync="all_reduce", kernel_jitter=0, gpu_spread=0, begin_spread=0, host=Host(jitter=0),
            network=Network(jitter=0, ends=dict.fromkeys(("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "p2p"), 0)))


def faults_of(job, *faults):
    return truth(simulate(replace(job, faults=faults), 1), 1)["faults"]


def slow(rank, factor):
    return Fault("slow_gpu", ("rank", rank), (rank,), factor=factor)


def job_named(name, **changes):
    return replace(named()[name][1](name), **changes)


def test_a_rank_that_is_10_ms_slower_costs_10_ms():
    (fault,) = faults_of(PLAIN, slow(1, 1.1))
    assert fault["cost_ns"] == pytest.approx(10 * MS, abs=2)
    assert fault["alone_ns"] == pytest.approx(10 * MS, abs=2)
    assert (fault["unit"], fault["cause"], fault["named"]) == (["rank", 1], "slow GPU", "must")


def test_a_slow_rank_behind_a_slower_one_costs_nothing_until_that_one_is_repaired():
    hidden, worst = faults_of(replace(PLAIN, dp=4), slow(0, 1.1), slow(1, 1.2))
    assert hidden["cost_ns"] == pytest.approx(0, abs=2)
    assert hidden["alone_ns"] == pytest.approx(10 * MS, abs=2)
    assert worst["cost_ns"] == pytest.approx(10 * MS, abs=2)
    assert worst["alone_ns"] == pytest.approx(20 * MS, abs=2)


def test_late_data_in_some_steps_costs_its_mean():
    (fault,) = faults_of(PLAIN, Fault("late_data", ("rank", 0), (0,), steps=(1,), ns=80 * MS))
    assert fault["cost_ns"] == pytest.approx(20 * MS, abs=2)
    assert fault["steps"] == [PLAIN.first_step + 1]


def test_slow_links_cost_what_the_transfer_takes_longer():
    (fault,) = faults_of(PLAIN, Fault("slow_link", ("group", "dp", 0), group=("dp", 0), factor=3.0))
    assert fault["cost_ns"] == pytest.approx(2 * PLAIN.network.dp, abs=2)


def test_a_pause_behind_a_wait_costs_nothing():
    """The second stage first waits for the first one, longer than its pause."""
    job = replace(PLAIN, dp=1, pp=2)
    (fault,) = faults_of(job, Fault("pause", ("rank", 1), (1,), ns=20 * MS, range="gc.collect"))
    assert fault["cost_ns"] == pytest.approx(0, abs=2)
    assert fault["named"] == "must not"


def test_a_pipeline_of_two_stages_adds_up():
    run = simulate(replace(PLAIN, dp=1, pp=2), 1)
    first, second = run.programs
    forward, backward = (next(i for i, op in enumerate(first) if op.range == name and op.kind == "kernel") for name in ("forward", "backward"))
    there = next(i for i, op in enumerate(second) if op.kind == "kernel")
    begin, end = run.start[0][1, forward, 0, 0], run.end[0][1, backward, 0, 0]
    assert end - begin == pytest.approx(200 * MS + 2 * PLAIN.network.p2p + 5 * STREAM_GAP)
    assert run.start[1][1, there, 0, 0] - run.end[0][1, forward, 0, 0] == pytest.approx(PLAIN.network.p2p + 2 * STREAM_GAP)


def test_a_clean_job_has_nobody_to_name():
    assert truth(simulate(job_named("clean-8"), 3), 3)["faults"] == []


def parts(events, rank, step):
    """compute, exposed communication, copies and idle time of one step, by the states between all boundaries."""
    begin, end = events.begin[rank, step], events.done[rank, step]
    rows = np.flatnonzero((events.rank == rank) & (events.start < end) & (events.end > begin))
    start, stop = np.maximum(events.start[rows], begin), np.minimum(events.end[rows], end)
    bounds = np.unique(np.concatenate([start, stop, [begin, end]]))
    middle = (bounds[1:] + bounds[:-1]) / 2
    running = (start[:, None] < middle) & (middle < stop[:, None])
    state = [running[np.isin(events.kind[rows], kinds)].any(0) for kinds in ((COMPUTED,), (COLLECTIVE, P2P), (COPY,))]
    length = np.diff(bounds)
    which = np.where(state[0], 0, np.where(state[1], 1, np.where(state[2], 2, 3)))
    return np.bincount(which, length, 4)


@pytest.mark.parametrize("name", ["mixed", "overlap", "experts"])
def test_the_parts_of_a_rank_sum_to_its_step(name):
    """Kernels of the compute stream never overlap, so their sum is what the sweep finds; ranks of one step begin and end with the job's step."""
    run = simulate(job_named(name, steps=4), 2)
    events = of_run(run, Recorded(replace(run.job, clocks=Clocks(0, 0, 0)), 2))
    bounds = run.boundaries()
    for rank in range(0, run.job.world, 5):
        for step in range(4):
            compute, exposed, copy, idle = parts(events, rank, step)
            kernels = (events.rank == rank) & (events.step == step) & (events.kind == COMPUTED)
            assert compute == pytest.approx((events.end - events.start)[kernels].sum(), abs=1)
            assert compute + exposed + copy + idle == pytest.approx(events.done[rank, step] - events.begin[rank, step])
            assert min(compute, exposed, copy, idle) > 0
            assert bounds[step] <= events.done[rank, step] <= bounds[step + 1]
    assert run.step_times().sum() == pytest.approx(bounds[-1] - bounds[0])


@pytest.mark.parametrize("name", ["mixed", "overlap", "experts", "islands"])
def test_nothing_starts_before_what_it_waits_for(name):
    run = simulate(job_named(name, steps=3), 4)
    for p, ops in enumerate(run.programs):
        start, end = run.start[p], run.end[p]
        last = {}
        for i, op in enumerate(ops):
            assert (end[:, i] >= start[:, i]).all()
            assert (start[:, i] > run.launch[p][:, i]).all()
            for before in (*op.after, *([last[op.stream]] if op.stream in last else [])):
                assert (start[:, i] >= end[:, before]).all(), (op, ops[before])
            last[op.stream] = i
            if op.group in ("tp", "dp"):
                assert (end[:, i] >= start[:, i].max(2 if op.group == "tp" else 1, keepdims=True)).all()
        assert (run.begin[p][1:] >= run.done[p][:-1]).all()


def test_the_same_seed_gives_the_same_job_and_a_fault_changes_no_draw():
    job = job_named("clean-8", steps=3)
    first, again, other = simulate(job, 5), simulate(job, 5), simulate(job, 6)
    with_fault = simulate(replace(job, faults=(slow(5, 1.5),)), 5)
    kernels = [i for i, op in enumerate(first.programs[0]) if op.kind == "kernel"]
    length = [run.end[0][:, kernels] - run.start[0][:, kernels] for run in (first, again, other, with_fault)]
    assert np.array_equal(length[0], length[1])
    assert not np.allclose(length[0], length[2], rtol=1e-4)
    assert np.allclose(length[0], length[3], atol=1e-3)  # rank 5 is in the other stage
    assert not np.allclose(first.end[1], with_fault.end[1], atol=1e6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A job with every kind of group, and its truth."""
    out = tmp_path_factory.mktemp("ranks")
    job = replace(job_named("experts"), tp=2, steps=3, faults=(slow(3, 1.3),))
    return out, job, write_job(job, 7, out)


def collectives_of(trace):
    return [event for event in trace["traceEvents"] if event.get("cat") == "kernel" and "Collective name" in event["args"]]


def test_files_of_one_job_agree(folder):
    out, job, told = folder
    seen, splits, transfers = {}, {}, {}
    for row in told["files"]:
        trace = read(out / row["file"])
        info = trace["distributedInfo"]
        assert (info["rank"], info["world_size"]) == (row["rank"], job.world)
        groups = {group["pg_name"]: group["ranks"] for group in info["pg_config"]}
        for event in collectives_of(trace):
            args = event["args"]
            ranks = groups[args["Process Group Name"]]
            assert row["rank"] in ranks and args["Group size"] == len(ranks)
            if args["Collective name"] in ("send", "recv"):
                other = args["Dst Rank" if args["Collective name"] == "send" else "Src Rank"]
                ends = (row["rank"], other) if args["Collective name"] == "send" else (other, row["rank"])
                transfers.setdefault(ends, {"send": 0, "recv": 0})[args["Collective name"]] += 1
                continue
            key = (args["Process Group Name"], args["Seq"])
            seen.setdefault(key, {})[row["rank"]] = (args["Collective name"], args["dtype"], args["Comms Id"], tuple(ranks))
            if args["Collective name"] == "all_to_allv":
                splits.setdefault(key, {})[ranks.index(row["rank"])] = [json.loads(args[name]) for name in ("In split size", "Out split size")]
    assert all(len(set(members.values())) == 1 and len(members) == len(next(iter(members.values()))[3]) for members in seen.values())
    assert {kind[0] for members in seen.values() for kind in members.values()} == {"allreduce", "_allgather_base", "_reduce_scatter_base", "all_to_allv"}
    assert transfers and all(count["send"] == count["recv"] > 0 for count in transfers.values())
    assert splits and any(len(set(members[0][0])) > 1 for members in splits.values())
    for members in splits.values():
        assert all(members[a][0][b] == members[b][1][a] for a in members for b in members)


def test_every_kernel_has_its_launch_its_operator_and_its_record(folder):
    out, job, told = folder
    events = read(out / told["files"][5]["file"])["traceEvents"]
    launches = {event["args"]["correlation"]: event for event in events if event.get("cat") == "cuda_runtime"}
    operators = {event["args"]["External id"]: event for event in events if event.get("cat") == "cpu_op"}
    kernels = [event for event in events if event.get("cat") == "kernel"]
    assert len(kernels) == job.steps * sum(op.kind not in ("copy_in", "copy_out") for op in simulate(job, 7).programs[0])
    for kernel in kernels:
        launch, operator = launches[kernel["args"]["correlation"]], operators[kernel["args"]["External id"]]
        assert operator["ts"] <= launch["ts"] <= operator["ts"] + operator["dur"]
        assert kernel["ts"] > launch["ts"]
        if "Collective name" in kernel["args"]:
            shared = {key: value for key, value in operator["args"].items() if key in kernel["args"] and key != "External id"}
            assert operator["name"] == "record_param_comms" and shared["Collective name"] == kernel["args"]["Collective name"]
            assert operator["args"]["Global rank start"] == int(re.match(r"\[(\d+)", kernel["args"]["Process Group Ranks"])[1])


def test_device_work_is_within_its_step(folder):
    out, job, told = folder
    events = read(out / told["files"][0]["file"])["traceEvents"]
    steps = sorted((event["ts"], event["ts"] + event["dur"], event["name"]) for event in events if event.get("cat") == "user_annotation" and "ProfilerStep#" in event["name"])
    assert [name for _, _, name in steps] == [f"ProfilerStep#{job.first_step + i}" for i in range(job.steps)]
    assert all(a[1] <= b[0] for a, b in zip(steps, steps[1:]))
    computed = [event for event in events if event.get("cat") == "kernel" and event["tid"] == 7]
    assert all(any(begin <= event["ts"] and event["ts"] + event["dur"] <= end for begin, end, _ in steps) for event in computed)


def test_recorded_clocks_are_those_of_the_truth():
    job = job_named("jump", steps=4)
    run = simulate(job, 1)
    clocks, told = Recorded(job, 1), truth(run, 1, costs=False)["clocks"]
    span = clocks.span(run)
    for row in told["hosts"]:
        rank = job.host_ranks(row["host"])[0]
        for at, jumped in ((span[0], 0), (span[1], row.get("jump_ns", 0))):
            expected = row["offset_ns"] + row["rate_ppm"] * 1e-6 * (at - told["middle_ns"]) + jumped
            assert clocks.host_times(rank, at, span) - at == pytest.approx(expected, abs=1)
            assert clocks.device_times(rank, at, span) - clocks.host_times(rank, at, span) == pytest.approx(told["gpu_ns"][rank], abs=1)
    assert sum("jump_ns" in row for row in told["hosts"]) == 1


def test_clocks_can_be_aligned_from_what_is_recorded():
    """The bounds of the reference: median below 1 us, none above 5 us, and stated errors that hold."""
    job = job_named("clean-64")
    run = simulate(job, 1)
    clocks = Recorded(job, 1)
    found = align(of_run(run, clocks))
    span = clocks.span(run)
    at = np.linspace(*span, 21)
    wrong = np.array([found.offset[host] + found.rate[host] * (clocks.error(host, at, span) + at - found.middle) - clocks.error(host, at, span) for host in range(job.hosts)])
    wrong = np.abs(wrong - np.median(wrong, axis=0))
    assert len(set(found.island)) == 1 and not found.refused.any()
    assert np.median(wrong) < 1_000 and wrong.max() < 5_000
    assert (wrong.max(1) <= found.error).mean() >= 0.95


def test_islands_have_separate_clocks():
    job = job_named("islands", steps=4)
    found = align(of_run(simulate(job, 1), Recorded(job, 1)))
    groups = {frozenset(np.flatnonzero(found.island == island).tolist()) for island in found.island}
    assert groups == {frozenset({replica, replica + 4}) for replica in range(4)}  # one host per replica and stage


def test_older_writers_have_less(tmp_path):
    job = job_named("clean-8", steps=2)
    write_job(job, 1, tmp_path, Options(seq=False, flows=False, described=False, shared_names=True))
    events = read(tmp_path / "rank00003.json.gz")["traceEvents"]
    assert not any("Seq" in event.get("args", {}) or event.get("cat") == "ac2g" for event in events)
    names = [{group["pg_name"] for group in read(tmp_path / f"rank{rank:05d}.json.gz")["distributedInfo"]["pg_config"]} for rank in (0, 7)]
    assert names[0] == names[1]  # groups of other ranks have the same names
    write_job(job, 1, tmp_path, Options(collectives=False, distributed=False, host_name=True))
    oldest = read(tmp_path / "rank00003.json.gz")
    assert not collectives_of(oldest) and "distributedInfo" not in oldest and oldest["host_name"] == "node000"


def test_long_lists_of_ranks_are_cut(tmp_path):
    job = Job("wide", dp=CUT + 2, steps=1, micro_batches=1, model=EXACT)
    write_job(job, 1, tmp_path, ranks=(0,))
    event = collectives_of(read(tmp_path / "rank00000.json.gz"))[0]
    assert event["args"]["Process Group Ranks"].endswith(f"{CUT - 1}, ...]") and event["args"]["Group size"] == CUT + 2


def test_lost_events_are_lost_and_nothing_else_changes(tmp_path):
    job = job_named("clean-8", steps=5)
    for out, lost in (("whole", 0.0), ("lost", 0.2)):
        write_job(job, 1, tmp_path / out, Options(lost=lost), ranks=(2,))
    whole, some = (read(tmp_path / out / "rank00002.json.gz")["traceEvents"] for out in ("whole", "lost"))
    kernels = [[json.dumps(event) for event in events if event.get("cat") == "kernel"] for events in (whole, some)]
    assert set(kernels[1]) < set(kernels[0])
    assert 0.1 < 1 - len(kernels[1]) / len(kernels[0]) < 0.3
    assert sum(event.get("cat") == "cuda_runtime" for event in whole) == sum(event.get("cat") == "cuda_runtime" for event in some)


def test_damaged_folders_are_damaged_as_told(tmp_path):
    job = job_named("clean-8", steps=4)
    damage = Damage(missing=(1,), cut=(2,), empty=(3,), twice=(4,), claims={5: 6}, shifted={7: (2, 4)})
    rows = {row["rank"]: row for row in write_job(job, 1, tmp_path, damage=damage)["files"]}
    assert not (tmp_path / "rank00001.json.gz").exists() and rows[1]["file"] is None
    with pytest.raises(EOFError):
        gzip.decompress((tmp_path / rows[2]["file"]).read_bytes())
    assert (tmp_path / rows[3]["file"]).read_bytes() == b""
    assert (tmp_path / rows[4]["copy"]).read_bytes() == (tmp_path / rows[4]["file"]).read_bytes()
    assert read(tmp_path / rows[5]["file"])["distributedInfo"]["rank"] == rows[5]["claims"] == 6
    names = {event["name"] for event in read(tmp_path / rows[7]["file"])["traceEvents"] if event.get("cat") == "user_annotation"}
    assert {name for name in names if "ProfilerStep" in name} == {f"ProfilerStep#{step}" for step in rows[7]["steps"]} == {"ProfilerStep#12", "ProfilerStep#13"}


@pytest.mark.parametrize("style, pattern", [("rank", r"rank\d{5}\.json\.gz"), ("host", r"node\d{3}_\d+\.\d+\.pt\.trace\.json\.gz"), ("both", r"node\d{3}-rank\d+\.json\.gz"),
                                            ("plain", r"trace-[0-9a-f]{10}\.json\.gz")])
def test_file_names(tmp_path, style, pattern):
    told = write_job(job_named("clean-8", steps=1), 1, tmp_path, names=style)
    names = {row["file"] for row in told["files"]}
    assert len(names) == 8 and all(re.fullmatch(pattern, name) for name in names)


def test_a_file_of_a_job_of_64_ranks_has_about_200_kb(tmp_path):
    write_job(job_named("clean-64"), 1, tmp_path, ranks=(0, 63), level=6)
    assert all(150_000 < path.stat().st_size < 250_000 for path in tmp_path.glob("*.gz"))


def test_the_command_writes_named_jobs(tmp_path, capsys):
    assert generate.main(["--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert len(listed) == len(set(listed)) and set(named()) < set(listed)
    assert generate.main(["foreign", str(tmp_path / "two"), "--steps", "2"]) == 0
    worlds = sorted(read(path)["distributedInfo"]["world_size"] for path in (tmp_path / "two").glob("*.gz"))
    assert worlds == [4] * 4 + [8] * 8
    for out in ("a", "b"):
        assert generate.main(["gpu", str(tmp_path / out), "--steps", "2", "--seed", "9", "--missing", "0,2-3"]) == 0
    assert sorted(path.name for path in (tmp_path / "a").glob("*.gz")) == [f"rank{rank:05d}.json.gz" for rank in (1, 4, 5, 6, 7)]
    assert all(path.read_bytes() == (tmp_path / "b" / path.name).read_bytes() for path in (tmp_path / "a").iterdir())


def test_nsys_payloads_name_their_communicator(tmp_path):
    job = job_named("clean-8", steps=2, clocks=Clocks(offset=0, rate_ppm=0, gpu=0))
    write_nsys(job, 1, tmp_path)
    found = {}
    for rank in range(8):
        with closing(sqlite3.connect(tmp_path / f"rank{rank:05d}.sqlite")) as base:
            entries = {}
            for schema, name, offset in base.execute("SELECT schemaId, name, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES"):
                entries.setdefault(schema, {})[name] = offset or 0
            (kernels,) = base.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE s.value LIKE 'nccl%'").fetchone()
            ranges = base.execute("SELECT text, binaryData FROM NVTX_EVENTS WHERE domainId = 1 AND eventType = 59 ORDER BY start").fetchall()
            assert len(ranges) == kernels + base.execute("SELECT count(*) FROM NVTX_EVENTS WHERE text = 'ncclCommInitRank'").fetchone()[0]
            for text, data in ranges:
                domain, _, schema, _, size, total = struct.unpack_from("<IIIIQQ", data)
                assert (domain, total) == (1, len(data)) and size == len(data) - 32
                number = struct.unpack_from("<Q", data, 32 + entries[schema]["NCCL communicator ID"])[0]
                if "Rank" in entries[schema]:
                    found.setdefault(number, set()).add((rank, struct.unpack_from("<I", data, 32 + entries[schema]["Rank"])[0]))
                else:
                    assert (rank in {member for member, _ in found[number]}) and text != "ncclCommInitRank"
    assert sorted(len(members) for members in found.values()) == [2] * 4 + [4] * 2 + [8]
    assert nsys.SCHEMA == 1 << 24


@pytest.mark.parametrize("form", ["kineto", "nsys"])
def test_gpu_profile_reads_the_files(program, tmp_path, form):
    job = job_named("experts", steps=3)
    write = write_nsys if form == "nsys" else write_job
    write(job, 1, tmp_path, ranks=(9,))
    path = tmp_path / ("rank00009.sqlite" if form == "nsys" else "rank00009.json.gz")
    report = program.report(path, "kernels", "steps", "collectives", "losses")
    ops = simulate(job, 1).programs[1]
    assert sum(row["count"] for row in report["kernels"].rows) == 3 * sum(op.kind not in ("copy_in", "copy_out") for op in ops)
    assert len(report["steps"].rows) == 3 and report["losses"].rows == []
    if form == "kineto":
        assert {row["name"] for row in report["collectives"].rows} == {"all_gather", "all_reduce", "all_to_all", "reduce_scatter", "send_recv"}
