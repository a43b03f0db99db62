"""`serve --pods`: memory and utilisation of processes, by container and pod. The host's /proc and /var/log are planted."""

import json
import os
import time

import pytest
from fake_driver import DEVICE, fake_driver
from patience import HANGS_S
from prometheus_client.parser import text_string_to_metric_families
from test_serve import serve

UID, OTHER = "0a1b2c3d-1111-2222-3333-444455556666", "ffffffff-1111-2222-3333-444455556666"
TRAIN, SIDE, ALONE = "a" * 64, "b" * 64, "c" * 64
MIB = 2**20


class Host:
    """The root folder of a host with a reader that is process 77."""

    def __init__(self, root, ids="77", groups="cgroup:[4026531835]"):
        self.root = root
        self.process(2, name="kthreadd", parent=0)
        (self.file(77) / "ns").mkdir(parents=True)
        (self.file(77) / "status").write_text(f"Name:\tserve\nNSpid:\t{ids}\nThreads:\t1\n")
        (self.file(77) / "ns" / "cgroup").symlink_to(groups)
        (root / "proc" / "self").symlink_to("77")

    def file(self, pid):
        return self.root / "proc" / str(pid)

    def process(self, pid, *groups, name="py) thon", parent=1, started=0, state="S"):
        self.file(pid).mkdir(parents=True)
        (self.file(pid) / "stat").write_text(f"{pid} ({name}) {state} {parent} 1 1" + " 0" * 15 + f" {started} 0 0" + " 0" * 28 + "\n")
        (self.file(pid) / "cgroup").write_text("".join(f"0::{group}\n" for group in groups))

    def pod(self, space, pod, uid, *containers):
        folder = self.root / "var" / "log" / "pods" / f"{space}_{pod}_{uid}"
        for name in containers:
            (folder / name).mkdir(parents=True)

    def log(self, space, pod, container, identity):
        folder = self.root / "var" / "log" / "containers"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{pod}_{space}_{container}-{identity}.log").symlink_to("/nonexistent/0.log")


def group(uid, identity):
    return f"/kubepods.slice/kubepods-pod{uid.replace('-', '_')}.slice/cri-containerd-{identity}.scope"


def lines(page):
    """{name: {labels without those of the device, as text: value}}"""
    found = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            labels = " ".join(f"{key}={value}" for key, value in sample.labels.items() if key not in ("uuid", "name"))
            values = found.setdefault(sample.name.removeprefix("gpu_profile_"), {})
            assert labels not in values
            values[labels] = sample.value
    return found


def wait_for(server, good):
    deadline = time.monotonic() + HANGS_S
    while not good(found := lines(server.ask()[2])):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    return found


def scrape(program, tmp_path, script, *options):
    with serve(program, "--pods", "--host-root", tmp_path / "host", *options, environment=fake_driver(program, tmp_path, DEVICE + script)) as server:
        return wait_for(server, lambda found: "processes" in found or "unattributed_processes" in found)


def test_sums_by_container_pod_and_gpu(program, tmp_path):
    host = Host(tmp_path / "host")
    host.process(101, group(UID, TRAIN))
    host.process(102, group(UID, TRAIN))
    host.process(103, group(UID, SIDE))
    host.process(104, group(OTHER, "d" * 64))
    host.process(105, f"/system.slice/docker-{ALONE}.scope")
    host.process(106, "/user.slice/user-1000.slice/session-3.scope")
    host.pod("team-a", "train-0.x", UID, "main", "side")
    host.pod("team-b", "infer", OTHER, "server")
    host.log("team-a", "train-0.x", "main", TRAIN)
    found = scrape(program, tmp_path, "device uuid=GPU-two\nmig 1 uuid=MIG-1\nprocess 0 101 100 30\nprocess 0 102 50 20\nprocess 0 103 7 0\n"
                   "process 0 104 3 1\nprocess 0 105 9 2\nprocess 0 106 11 3\nprocess 2 101 40 0\n")
    pod = f"namespace=team-a pod=train-0.x pod_uid={UID}"
    main, side = f"{pod} container=main", f"{pod} container_id={SIDE}"
    infer = f"namespace=team-b pod=infer pod_uid={OTHER} container=server"
    assert found["process_mem_used_bytes"] == {
        f"gpu=0 {main}": 150 * MIB, f"gpu=0 {side}": 7 * MIB, f"gpu=0 {infer}": 3 * MIB, f"gpu=0 container_id={ALONE}": 9 * MIB, "gpu=0": 11 * MIB,
        f"gpu=1 {main}": 40 * MIB}
    assert found["processes"][f"gpu=0 {main}"] == 2
    assert found["process_util_ratio"][f"gpu=0 {main}"] == pytest.approx(0.5)
    assert found["process_util_ratio"][f"gpu=0 {infer}"] == pytest.approx(0.01)
    assert "unattributed_processes" not in found
    assert not [text for values in found.values() for text in values if "101" in text or "pid" in text.replace("pod_uid", "")]
    assert not [text for name, values in found.items() if not name.startswith("process") for text in values if "pod" in text]  # device values stay the device's


def test_another_process_by_the_same_number_gets_nothing(program, tmp_path):
    host = Host(tmp_path / "host")
    later = int((time.clock_gettime(time.CLOCK_BOOTTIME) + 10**6) * os.sysconf("SC_CLK_TCK"))
    host.process(101, group(UID, TRAIN), started=later)
    host.process(103, "/a/../..", group(UID, TRAIN), group(UID, SIDE))
    host.process(104, group(UID, TRAIN))
    host.process(105, "/", state="Z")
    found = scrape(program, tmp_path, "process 0 101 100 30\nprocess 0 102 50 20\nprocess 0 103 7 0\nprocess 0 104 5 0\nprocess 0 105 3 0\n")
    assert found["unattributed_processes"] == {"gpu=0 reason=reused": 1, "gpu=0 reason=gone": 2, "gpu=0 reason=ambiguous": 1}
    assert found["process_mem_used_bytes"] == {f"gpu=0 pod_uid={UID} container_id={TRAIN}": 5 * MIB}


def test_a_container_that_is_added_later_is_not_the_first_one(program, tmp_path):
    host = Host(tmp_path / "host")
    host.process(101, group(UID, TRAIN))
    host.pod("team", "train", UID, "main")
    pod, script = f"gpu=0 namespace=team pod=train pod_uid={UID}", "process 0 101 100 30\nprocess 0 102 50 20\n"
    with serve(program, "--pods", "--host-root", host.root, environment=fake_driver(program, tmp_path, DEVICE + script)) as server:
        wait_for(server, lambda found: f"{pod} container=main" in found.get("processes", {}))
        host.pod("team", "train", UID, "debugger")
        host.process(102, group(UID, SIDE))
        found = wait_for(server, lambda found: len(found["processes"]) == 2)
    assert found["process_mem_used_bytes"] == {f"{pod} container=main": 100 * MIB, f"{pod} container_id={SIDE}": 50 * MIB}


def test_a_process_younger_than_the_turn_has_no_utilisation(program, tmp_path):
    host = Host(tmp_path / "host")
    host.process(101, group(UID, TRAIN), started=int((time.clock_gettime(time.CLOCK_BOOTTIME)) * os.sysconf("SC_CLK_TCK")) - 1)
    found = scrape(program, tmp_path, "process 0 101 100 30\n", "--interval", "3600")
    assert found["process_mem_used_bytes"] == {f"gpu=0 pod_uid={UID} container_id={TRAIN}": 100 * MIB}
    assert "process_util_ratio" not in found


def test_a_reader_that_cannot_know_says_so(program, tmp_path):
    host = Host(tmp_path / "host", ids="5000\t77", groups="cgroup:[4026532000]")
    host.process(1, group(UID, TRAIN))  # the reader's own namespace has a process 1, too
    host.process(4100001, "/../../" + group(UID, TRAIN)[17:])
    host.process(4100002, "/")
    host.process(4100003, f"/../cri-containerd-{SIDE}.scope")
    script = "process 0 1 1 1\nprocess 0 4100001 2 1\nprocess 0 4100002 4 1\nprocess 0 4100003 8 1\n"
    found = scrape(program, tmp_path, script)
    assert found["unattributed_processes"] == {"gpu=0 reason=hidden": 1, "gpu=0 reason=namespace": 1}
    assert found["process_mem_used_bytes"] == {f"gpu=0 pod_uid={UID} container_id={TRAIN}": 2 * MIB, f"gpu=0 container_id={SIDE}": 8 * MIB}
    (host.file(2) / "stat").unlink()
    with serve(program, "--pods", "--host-root", host.root, environment=fake_driver(program, tmp_path, DEVICE + script)) as server:
        while "hostPID" not in (line := server.process.stderr.readline()):
            assert line
        found = wait_for(server, lambda found: "unattributed_processes" in found)
        assert found["unattributed_processes"] == {"gpu=0 reason=namespace": 4} and "processes" not in found


def test_hostile_names_links_and_pipes(program, tmp_path):
    host = Host(tmp_path / "host")
    pods = tmp_path / "host" / "var" / "log" / "pods"
    for name in ('te"am_p_' + UID, "te\nam_p_" + UID, f"a_b_c_{UID}", f"_p_{UID}", f"a__{UID}", "x", "\xff_p_" + UID):
        (pods / name).mkdir(parents=True)
    host.pod("good", "pod", OTHER, "main")
    (pods / f"good_linked_{UID}").symlink_to("/")
    host.process(101, group(UID, TRAIN))
    host.process(102, group(OTHER, SIDE))
    host.process(103)
    os.truncate(host.file(103) / "cgroup", 1 << 34)
    host.process(104)
    (host.file(104) / "cgroup").unlink()
    os.mkfifo(host.file(104) / "cgroup")
    host.file(105).mkdir()
    os.mkfifo(host.file(105) / "stat")
    found = scrape(program, tmp_path, "".join(f"process 0 {pid} 1 0\n" for pid in range(101, 106)))
    assert set(found["process_mem_used_bytes"]) == {f"gpu=0 pod_uid={UID} container_id={TRAIN}", f"gpu=0 namespace=good pod=pod pod_uid={OTHER} container=main"}
    assert sum(found["unattributed_processes"].values()) == 3
    assert found["ignored_pod_folders"][""] == 7
    assert found["pod_folders_incomplete"][""] == 0


def test_any_number_of_pods_and_folders(program, tmp_path):
    host = Host(tmp_path / "host")
    script = ""
    for number in range(300):
        host.process(1000 + number, group(UID[:-4] + f"{number:04}", f"{number:064x}"))
        script += f"process 0 {1000 + number} {number + 1} 0\n"
    pods = tmp_path / "host" / "var" / "log" / "pods"
    pods.mkdir(parents=True)
    for number in range(8200):
        (pods / f"{number}").symlink_to("x")
    found = scrape(program, tmp_path, script)
    memory = found["process_mem_used_bytes"]
    assert len(memory) == 256 and sum(memory.values()) == 300 * 301 // 2 * MIB
    assert memory["gpu=0 container=(other)"] == 45 * 46 // 2 * MIB
    assert found["pod_folders_incomplete"][""] == 1


def test_pods_of_jobs(program, tmp_path):
    host = Host(tmp_path / "host")
    host.pod("team-a", "train-0", UID, "main", "side")
    totals = {"format": "gpu-profile aggregate", "version": 1, "host": "node", "started_ns": 1, "written_ns": time.time_ns(), "ended": False,
              "ranks": [{"rank": 3, "job": "", "processes": 1, "devices": [{"device": 0, "uuid": "GPU-one", "busy_ns": 7}]}]}
    for name, pod in {"known-0": {"pod_uid": UID, "container": "main"}, "elsewhere-0": {"pod_uid": OTHER, "container": "main", "pod": 'p"', "namespace": "n" * 300}, "none-0": {}}.items():
        (tmp_path / f"{name}.totals").write_text(json.dumps({**totals, **pod}))
    found = scrape(program, tmp_path, "process 0 101 1 0\n", "--jobs", tmp_path)["job_busy_seconds_total"]
    own = {text.split("recorder=")[1] for text in found}
    assert own == {f"known-0 namespace=team-a pod=train-0 pod_uid={UID} container=main rank=3 gpu=0",
                   f'elsewhere-0 pod=p" pod_uid={OTHER} container=main rank=3 gpu=0', "none-0 rank=3 gpu=0"}


def test_only_if_asked(program, tmp_path):
    with serve(program, environment=fake_driver(program, tmp_path, DEVICE + "process 0 1 1 1\n")) as server:
        assert not [name for name in wait_for(server, lambda found: "temp_celsius" in found) if "process" in name or "pod" in name]
    assert program.run("serve", "--prometheus", ":0", "--host-root", "/").status == 2
