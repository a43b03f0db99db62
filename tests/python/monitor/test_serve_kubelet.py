"""`serve --kubelet`: which pod has which device. A made-up kubelet answers with the frames that a gRPC server may send."""

import socket
import struct
import threading
from contextlib import contextmanager

import pytest
from fake_driver import DEVICE, fake_driver
from patience import HANGS_S
from test_serve import serve
from test_serve_containers import lines, wait_for

DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 4, 6, 8, 9
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8


def frame(kind, flags, stream, content):
    return struct.pack(">I", len(content))[1:] + struct.pack(">BBI", kind, flags, stream) + content


def field(number, content):
    size, left = b"", len(content)
    while left > 0x7F:
        size, left = size + bytes([left & 0x7F | 0x80]), left >> 7
    return bytes([number << 3 | 2]) + size + bytes([left]) + content


def pod(space, name, container, *ids, resource=b"nvidia.com/gpu"):
    devices = field(2, field(1, resource) + b"".join(field(2, each) for each in ids))
    return field(1, field(1, name) + field(2, space) + field(3, field(1, container) + devices))


def literals(block):
    """The headers of a request without table and Huffman's code."""
    static = {2: ":method GET", 3: ":method POST", 4: ":path", 1: ":authority", 6: ":scheme http", 31: "content-type"}
    found = {}
    while block:
        first, block = block[0], block[1:]
        if first & 0x80:
            name, value = static[first & 0x7F].split()
            found[name] = value
            continue
        assert first < 0x10  # never kept
        number = first
        if first == 0x0F:
            number, block = 15 + block[0], block[1:]
        texts = []
        for _ in range(1 if number else 2):
            texts.append(block[1:block[0] + 1].decode())
            block = block[block[0] + 1:]
        found[static[number] if number else texts[0]] = texts[-1]
    return found


def exactly(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise ConnectionError("serve has given up")
        data += piece
    return data


def receive(connection):
    head = exactly(connection, 9)
    return head[3], head[4], int.from_bytes(head[5:9], "big"), exactly(connection, int.from_bytes(head[:3], "big"))


def answer_with(message):
    """What a server of gRPC sends, with every freedom that the protocol gives it."""
    def answer(connection):
        assert exactly(connection, 24) == b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        connection.sendall(frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)) + frame(PING, 0, 0, b"are you?") + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 999)))
        seen, window = [], 65535
        while (PING, ACK, 0, b"are you?") not in seen or not any(each[0] == DATA for each in seen):
            seen.append(receive(connection))
        settings = next(content for kind, flags, _, content in seen if kind == SETTINGS and not flags & ACK)
        values = dict(struct.iter_unpack(">HI", settings))
        window += next(int.from_bytes(content, "big") for kind, _, stream, content in seen if kind == WINDOW_UPDATE and stream == 0)
        assert values[1] == 0 and values[2] == 0 and min(values[4], window) >= len(message) + 5
        headers = next(literals(content) for kind, flags, stream, content in seen if (kind, flags, stream) == (HEADERS, END_HEADERS, 1))
        assert headers == {":method": "POST", ":scheme": "http", ":path": "/v1.PodResourcesLister/List", ":authority": "localhost",
                           "content-type": "application/grpc", "te": "trailers"}
        assert (DATA, END_STREAM, 1, bytes(5)) in seen and (SETTINGS, ACK, 0, b"") in seen
        body = b"\0" + struct.pack(">I", len(message)) + message
        connection.sendall(frame(HEADERS, 0, 1, b"\x20\x88") + frame(CONTINUATION, END_HEADERS, 1, b"\x5f\x10application/grpc"))
        for at in range(0, len(body), 10_000):
            connection.sendall(frame(DATA, PADDED, 1, b"\3" + body[at:at + 10_000] + b"pad"))
        connection.sendall(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x40\x0bgrpc-status\x010\x40\x0cgrpc-message\0"))
    return answer


@contextmanager
def kubelet(path, answer):
    """Gives this answer to each question. On a busy machine it may be too slow for some, so a connection that breaks is no problem."""
    problems, ended = [], threading.Event()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        listening.settimeout(HANGS_S)

        def run():
            while not ended.is_set():
                with listening.accept()[0] as connection:
                    connection.settimeout(HANGS_S)
                    try:
                        if not ended.is_set():
                            answer(connection)
                    except OSError:
                        continue
                    except (AssertionError, LookupError, ValueError, StopIteration) as problem:
                        problems.append(repr(problem))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield problems
        finally:
            ended.set()
            with socket.socket(socket.AF_UNIX) as last:
                last.connect(str(path))
            thread.join(HANGS_S)
            path.unlink()


def test_pods_of_devices_that_idle(program, tmp_path):
    many = b"".join(pod(b"else", f"p{number}".encode(), b"c", b"0000:01:00.0", resource=b"example.com/nic") for number in range(3000))
    message = (pod(b"team", b"train-0", b"main", b"GPU-two", b"GPU-gone") + many + pod(b"team", b"a", b"x", b"GPU-two::0", b"GPU-two::1")
               + pod(b"team", b"b", b"y", b"MIG-1", resource=b"nvidia.com/mig-1g.10gb") + pod(b'"}\n', b"b", b"y", b"MIG-1") + pod(b"gke", b"p", b"c", b"nvidia0"))
    assert len(message) > 2**17
    script = DEVICE + "device uuid=GPU-two\ndevice uuid=GPU-three\nmig 2 uuid=MIG-1\n"
    with kubelet(tmp_path / "k", answer_with(message)) as problems, \
            serve(program, "--kubelet", tmp_path / "k", environment=fake_driver(program, tmp_path, script)) as server:
        found = wait_for(server, lambda found: "temp_celsius" in found and found["kubelet_up"] == {"": 1})
        assert found["pod_device_info"].keys() == {"namespace=team pod=train-0 container=main"} | {
            f"gpu={each}" for each in ("1 namespace=team pod=train-0 container=main", "1 namespace=team pod=a container=x", "2 namespace=team pod=b container=y")
        }, found["pod_device_info"]
        assert set(found["pod_device_info"].values()) == {1}
        assert found["pod_devices_unknown"] == {"reason=id": 1, "reason=name": 1}
        assert not [name for name, values in found.items() if name != "pod_device_info" for text in values if "pod=" in text]
        assert 'gpu_profile_pod_device_info{uuid="GPU-gone",namespace="team",pod="train-0",container="main"} 1' in server.ask()[2]
        assert not problems


def test_without_an_answer_nothing_is_known_and_it_asks_again(program, tmp_path):
    path, script = tmp_path / "k", fake_driver(program, tmp_path, DEVICE)
    with serve(program, "--kubelet", path, environment=script) as server:
        while "cannot be attributed to pods" not in (line := server.process.stderr.readline()):
            assert line
        assert f"cannot ask {path}: No such file or directory; serve asks again every 10 s" in line
        assert wait_for(server, lambda found: "temp_celsius" in found)["kubelet_up"] == {"": 0}
        answers = [answer_with(pod(b"team", b"a", b"x", b"GPU-gone"))]
        with kubelet(path, lambda connection: answers[-1](connection)):
            assert "pod_device_info" in wait_for(server, lambda found: found["kubelet_up"] == {"": 1})
            answers.append(lambda connection: connection.recv(10**6))
            assert "pod_device_info" not in wait_for(server, lambda found: found["kubelet_up"] == {"": 0})


@pytest.mark.parametrize(("answer", "why"), [
    (lambda connection: connection.recv(1) and connection.recv(10**6) and threading.Event().wait(2), "no complete answer in time"),
    (lambda connection: connection.sendall(b"HTTP/1.1 404 Not Found\r\n\r\n"), "it is not HTTP/2"),
    (lambda connection: connection.sendall(frame(SETTINGS, 0, 0, b"") + frame(PING, 0, 0, b"12345678") * 10**6), "too many frames without content"),
    (lambda connection: connection.sendall(frame(SETTINGS, 0, 0, b"") + frame(HEADERS, END_HEADERS, 1, b"\x88") + frame(DATA, 0, 1, bytes(16384)) * 1000),
     "the message has more than 4194304 bytes"),
    (lambda connection: connection.sendall(frame(SETTINGS, 0, 0, b"") + frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x88\x40\x0bgrpc-status\x0212")),
     "gRPC status 12 (unknown method)"),
    (answer_with(b"\x0a\x7f"), "list of devices is damaged"),
])
def test_hostile_answers(program, tmp_path, answer, why):
    with kubelet(tmp_path / "k", answer), serve(program, "--kubelet", tmp_path / "k", environment=fake_driver(program, tmp_path, DEVICE)) as server:
        while "cannot be attributed to pods" not in (line := server.process.stderr.readline()):
            assert line
        assert why in line or "no complete answer in time" in line  # the unit tests have no clock
        found = wait_for(server, lambda found: "temp_celsius" in found)
        assert found["kubelet_up"] == {"": 0} and "pod_device_info" not in found


def test_only_if_asked(program, tmp_path):
    with serve(program, environment=fake_driver(program, tmp_path, DEVICE)) as server:
        assert "kubelet_up" not in wait_for(server, lambda found: "temp_celsius" in found)
