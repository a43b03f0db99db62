"""`gpu-profile serve --prometheus`: what it says, to whom, and how it ends. The page is read by Prometheus' own parser."""

import http.client
import os
import re
import select
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_driver import DEVICE, children_of, fake_driver, no_driver
from patience import HANGS_S
from prometheus_client.parser import text_string_to_metric_families

BURSTY = Path(__file__).parents[2] / "fixtures" / "nvml" / "bursty.csv"
REPLAY = f"replay:{BURSTY}"


class Server:
    def __init__(self, process):
        self.process = process
        self.said = []
        while True:
            line = process.stderr.readline()
            assert line, f"ended: {self.said}"
            self.said.append(line)
            if address := re.search(r"http://([^/]+):(\d+)/metrics", line):
                self.host, self.port = address[1], int(address[2])
                return

    def ask(self, path="/metrics", method="GET", body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANGS_S)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            reply = connection.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read().decode()
        finally:
            connection.close()

    def samples(self):
        """{(name, gpu or None, reason or None): value} of a page that parses, and the families' types."""
        status, headers, text = self.ask()
        assert status == 200
        assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
        values, types = {}, {}
        for family in text_string_to_metric_families(text):
            assert family.documentation
            assert family.name not in types
            types[family.name] = family.type
            for sample in family.samples:
                key = (sample.name, sample.labels.get("gpu"), sample.labels.get("reason"))
                assert key not in values
                values[key] = sample.value
        return values, types

    def wait_for(self, good):
        deadline = time.monotonic() + HANGS_S
        while not good(values := self.samples()[0]):
            assert time.monotonic() < deadline, values
            time.sleep(0.1)
        return values


@contextmanager
def serve(program, *options, environment=None, address="127.0.0.1:0"):
    interval = () if "--interval" in options else ("--interval", "0.1")
    with subprocess.Popen([program.path, "serve", "--prometheus", address, *interval, *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield Server(process)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=HANGS_S) == 0
            assert process.stdout.read() == ""
        finally:
            process.kill()


def test_known_numbers_in_base_units(program, tmp_path):
    with serve(program, environment=fake_driver(program, tmp_path)) as server:
        values, types = server.samples()
        expected = {"util_gpu_ratio": 0.75, "util_mem_ratio": 0.2, "mem_used_bytes": 1000 * 2**20, "power_watts": 300,
                    "power_limit_watts": 700, "temp_celsius": 50, "clock_sm_hertz": 1.5e9, "clock_sm_max_hertz": 1.98e9,
                    "energy_joules_total": 10, "throttle_reasons": 4, "pstate": 0, "up": 1}
        for name, value in expected.items():
            assert values[f"gpu_profile_{name}", "0", None] == pytest.approx(value), name
        assert values["gpu_profile_throttled", "0", "power"] == 1
        assert values["gpu_profile_throttled", "0", "heat"] == 0
        assert 0 <= values["gpu_profile_last_sample_age_seconds", "0", None] < HANGS_S
        assert types["gpu_profile_energy_joules"] == "counter"
        assert types["gpu_profile_util_gpu_ratio"] == "gauge"
        assert all(name.startswith("gpu_profile_") for name in types)
        labels = {sample.name: sample.labels for family in text_string_to_metric_families(server.ask()[2])
                  for sample in family.samples}
        assert labels["gpu_profile_power_watts"] == {"gpu": "0", "uuid": "GPU-one", "name": "NVIDIA H200"}
        assert re.fullmatch(r"\d+\.\d+\.\d+", labels["gpu_profile_build_info"]["version"])
        assert labels["gpu_profile_sampler_info"] == {"backend": "nvml"}


def test_what_is_not_supported_is_absent(program, tmp_path):
    script = DEVICE + "fail nvmlDeviceGetPowerUsage 3\nfail nvmlDeviceGetUtilizationRates 3\n"
    with serve(program, environment=fake_driver(program, tmp_path, script)) as server:
        values = server.wait_for(lambda seen: ("gpu_profile_temp_celsius", "0", None) in seen)
        for name in ("power_watts", "util_gpu_ratio", "util_mem_ratio"):
            assert (f"gpu_profile_{name}", "0", None) not in values


def test_a_lost_gpu_is_down_and_its_values_are_gone(program, tmp_path):
    script = DEVICE + ("device uuid=GPU-two\nset 1 util_gpu 5\nset 1 mem_used_mb 7\n"
                       "fail * 15 device 0 after 60\n")
    with serve(program, environment=fake_driver(program, tmp_path, script)) as server:
        values = server.wait_for(lambda seen: seen.get(("gpu_profile_up", "0", None)) == 0)
        assert not [key for key in values if key[1] == "0" and key[0] not in
                    ("gpu_profile_up", "gpu_profile_last_sample_age_seconds", "gpu_profile_power_limit_watts",
                     "gpu_profile_clock_sm_max_hertz", "gpu_profile_clock_mem_max_hertz")]
        assert values["gpu_profile_up", "1", None] == 1
        assert server.ask("/healthz")[0] == 200  # one device answers


def test_a_replay_is_labelled_and_its_end_is_not_health(program, tmp_path):
    series = tmp_path / "series.csv"
    series.write_text("time_s,device,util_gpu\n0,0,5\n0.2,0,6\n")
    with serve(program, "--backend", f"replay:{series}") as server:
        assert 'backend="replay"' in server.ask()[2]
        assert "replayed from" in server.process.stderr.readline()
        server.wait_for(lambda seen: seen["gpu_profile_sampler_up", None, None] == 0)
        server.wait_for(lambda seen: seen["gpu_profile_up", "0", None] == 0)
        assert ("gpu_profile_util_gpu_ratio", "0", None) not in server.samples()[0]
        status, _, text = server.ask("/healthz")
        assert (status, text) == (503, "the replayed recording has ended\n")


def test_paths_methods_and_headers(program):
    with serve(program, "--backend", REPLAY) as server:
        assert server.ask("/healthz")[::2] == (200, "ok\n")
        assert server.ask("/metrics?x=1")[0] == 200
        for path in ("/", "/metric", "/metrics/", "/../etc/passwd", "/%2e%2e/etc/passwd", "//metrics"):
            assert server.ask(path)[0] == 404, path
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            status, headers, _ = server.ask(method=method)
            assert (status, headers["Allow"]) == (405, "GET, HEAD"), method
        status, headers, text = server.ask(method="HEAD")
        assert (status, text) == (200, "")
        assert int(headers["Content-Length"]) > 0
        _, headers, _ = server.ask(headers={"Origin": "http://elsewhere.example"})
        assert not [name for name in headers if name.lower().startswith("access-control")]


def connection_to(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_S)


def test_large_and_broken_requests_are_refused(program):
    with serve(program, "--backend", REPLAY) as server:
        for request in (b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
                        b"POST /metrics HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" + b"b" * 10_000,
                        b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
                        b"GET /metrics HTTP/1.1\r\nContent-Length: -5\r\n\r\n"):
            with connection_to(server) as connection:
                try:
                    connection.sendall(request)
                    reply = connection.recv(100)
                except OSError:
                    reply = b""
                assert not reply.startswith(b"HTTP/1.1 200") or b"9.9" in request, request[:40]
            assert server.ask("/healthz")[0] == 200


def ended(connection):
    """Whether the server has closed the connection."""
    return bool(select.select([connection], [], [], 0)[0])  # it answers nothing else to them


def test_slow_and_silent_clients_do_not_keep_others_waiting(program):
    """More of them than the server has descriptors. The oldest make room, so at most 100 are left when it answers; a server that waited
    until they are late would have more."""
    with serve(program, "--backend", REPLAY) as server:
        silent = []
        try:
            for number in range(300):
                silent.append(connection_to(server))
                if number % 2:
                    silent[-1].sendall(b"GET /metr")
            assert server.ask()[0] == 200
            assert sum(not ended(connection) for connection in silent) <= 100
        finally:
            for connection in silent:
                connection.close()


def test_more_clients_than_it_takes(program):
    with serve(program, "--backend", REPLAY) as server:
        crowd = [connection_to(server) for _ in range(100)]
        more = []
        for _ in range(200):
            connection = socket.socket()
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", server.port))
            more.append(connection)
        time.sleep(0.5)
        for connection in crowd + more:
            connection.close()
        assert server.ask()[0] == 200


def test_it_listens_on_the_loopback_address_unless_told(program):
    with serve(program, "--backend", REPLAY, address=":0") as server:
        assert server.host == "127.0.0.1"
        assert not [line for line in server.said if "no password" in line]
    with serve(program, "--backend", REPLAY, address="0.0.0.0:0") as server:
        assert server.host == "0.0.0.0"
        assert "replayed" in server.process.stderr.readline()
        assert "no password" in server.process.stderr.readline()


def test_a_port_in_use_is_one_line(program):
    with serve(program, "--backend", REPLAY) as server:
        outcome = program.run("serve", "--prometheus", f":{server.port}", "--backend", REPLAY)
        assert outcome.status == 5
        assert len(outcome.errors) == 1
        assert "in use" in outcome.errors[0]


@pytest.mark.parametrize("options", [
    (), ("--prometheus", "nonsense"), ("--prometheus", ":99999"), ("--prometheus", ":0", "--interval", "0"),
    ("--prometheus", ":0", "--backend", "none"), ("--prometheus", "no.such.host.invalid:0")])
def test_wrong_command_lines(program, options):
    outcome = program.run("serve", *options)
    assert outcome.status == 2
    assert len(outcome.errors) == 1


@pytest.mark.parametrize("option", [("--web-config", "web.yml"), ("--web-config=web.yml",), ("--web-config",)])
def test_protection_it_does_not_have_is_refused(program, option):
    outcome = program.run("serve", "--prometheus", ":0", "--backend", REPLAY, *option)
    assert outcome.status == 2
    assert outcome.errors == ["gpu-profile: --web-config: removed; for TLS and passwords, put a reverse proxy in front of serve "
                              "(see gpu-profile serve --help)"]
    assert b"web-config" not in program.run("serve", "--help").stdout
    assert b"web-config" not in program.run("completions", "fish").stdout


def test_without_a_gpu_one_sentence(program):
    done = subprocess.run([program.path, "serve", "--prometheus", ":0"], capture_output=True, text=True,
                          timeout=HANGS_S, env=no_driver(), check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert len(done.stderr.splitlines()) == 1
    assert "no GPU can be sampled" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_cleanly(program, number):
    with subprocess.Popen([program.path, "serve", "--prometheus", ":0", "--backend", REPLAY], stderr=subprocess.PIPE,
                          text=True) as process:
        Server(process)
        process.send_signal(number)
        assert process.wait(timeout=HANGS_S) == 0


def test_a_second_signal_on_its_way_changes_nothing(program):
    for attempt in range(12):
        with subprocess.Popen([program.path, "serve", "--prometheus", ":0", "--backend", REPLAY], stderr=subprocess.PIPE,
                              text=True) as process:
            Server(process)
            process.send_signal(signal.SIGTERM)
            time.sleep(attempt * 100e-6)  # `timeout` leaves less than this between its two
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=HANGS_S) == 0


def test_a_killed_sampler_is_replaced(program, tmp_path):
    with serve(program, environment=fake_driver(program, tmp_path)) as server:
        (sampler,) = children_of(server.process.pid)
        os.kill(sampler, signal.SIGKILL)
        time.sleep(0.5)
        server.wait_for(lambda seen: seen["gpu_profile_up", "0", None] == 1
                        and seen["gpu_profile_last_sample_age_seconds", "0", None] < 0.4)
