"""The commands that read folders and files, for tests/soak/received.py: their words, the exit statuses and what they may write."""

import http.client
import json
import os
import re
import signal
import time
from dataclasses import dataclass, field

from received_folders import HISTORY, MODULES, PROGRAMS

ANSWERS = (0, 1, 2, 3, 4, 5)  # 6 is a defect of the program or of the machine
PATIENCE_S = 90
# What hostile entries are put in place of.
PLACES = {
    "job": ("*", "reduced/*", "flight/*", "cache/.*"), "history": ("*",), "recordings": ("*",), "parts": ("*", "*/*"), "bench": ("*", ".gpu-profile", ".gpu-profile/bench", ".gpu-profile/bench/*"),
    "investigation": ("tune", "tune/*", "tune/*/*", "tune/trials/1/*", "tune/investigation.json", "tune/investigation.json", "tune/.lock", "*.json.gz", "*.py", ".git", ".git/*", ".git/index", ".git/refs/heads/*"),
}  # fmt: skip
MAIN = {"job": "", "history": "", "recordings": "", "parts": "run.gpuprof.parts-abcdef", "bench": "", "investigation": "tune"}
CACHE = ("cache", "cache/*")
TUNE = ("tune/investigation.json", "tune/.lock", "tune/.*.part-*", "tune/trials", "tune/trials/*", "tune/baseline-again*", "tune/again*")


WAITING = ("report", "query", "compare", "whatif", "export", "scrub", "ranks", "view")  # for data from a pipe, 30 s without --pipe-wait


@dataclass
class Command:
    """`words`: FOLDER, FILE and OUT are replaced. `writes`: patterns of what it may write in the received folder. `follows`: it opens what links
    that were named, or lie in a folder that was named, lead to. `during`: a conversation; it says what is wrong."""

    name: str
    kinds: tuple
    words: tuple
    writes: tuple = ()
    follows: bool = True
    python: bool = False
    statuses: tuple = ANSWERS
    during: object = None
    places: dict = field(default_factory=dict)

    @property
    def talks(self):
        return self.during is converse

    def folder(self, place, kind):
        """The current folder: the received one, if it still is one."""
        return place.received if place.received.is_dir() else place.folder

    def words_for(self, place, kind, hostile, chance):
        main = place.received / MAIN[kind]
        planted = {*PROGRAMS, *(f"{name}.py" for name in MODULES)}
        inside = sorted(path for path in (*main.glob("*"), *main.glob("*/*"), *main.glob(".gpu-profile/bench/*")) if ".git" not in path.parts and path.name not in planted)
        known = [path for path in hostile if os.path.lexists(path)]

        def word_for(word):
            if word == "FILE":
                return str(chance.choice(known) if known and chance.random() < 0.8 else chance.choice(inside or [main]))
            if word == "FORMAT":
                return chance.choice(FORMATS)
            return word.replace("FOLDER", str(main)).replace("OUT", str(place.out / "out"))

        return [*(word_for(word) for word in self.words), *(("--pipe-wait", "1") if self.words[0] in WAITING else ())]


class Lines:
    """Lines that a process prints into a file."""

    def __init__(self, place):
        self.path = place / "stdout"

    def wait(self, process, count):
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            lines = self.path.read_bytes().split(b"\n")[:-1]
            if len(lines) >= count or os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return self.path.read_bytes().split(b"\n")[:-1]
            time.sleep(0.005)
        return None


def browse(process, place, _kind):
    """Opens the page of `view`, asks for its parts, and ends it."""
    lines = Lines(place).wait(process, 1)
    if lines is None:
        yield "prints no address"
        process.kill()
        return
    address = re.fullmatch(rb"http://127\.0\.0\.1:(\d+)/#([0-9a-f]{32})", lines[0] if lines else b"")
    if address is None:
        return  # it has ended

    def ask(path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=PATIENCE_S)
        try:
            connection.request(method, path, b"" if method == "POST" else None, headers)
            reply = connection.getresponse()
            return reply.status, reply.getheader("set-cookie"), reply.read()
        finally:
            connection.close()

    try:
        _, cookie, _ = ask("/session", "POST", Authorization=f"Bearer {address[2].decode()}")
        headers = {"Cookie": cookie.split(";")[0]}
        until = time.monotonic() + PATIENCE_S
        while json.loads(ask("/progress", **headers)[2])["stage"] not in ("ready", "failed") and time.monotonic() < until:
            time.sleep(0.02)
        for path in ("/manifest", "/recordings", "/rank/0/manifest", "/rank/1/manifest", "/rank/2/manifest", "/blob/0"):
            if ask(path, **headers)[0] == 500:
                yield f"answers {path} with a defect"
    except OSError as problem:
        if not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            yield f"does not answer: {problem!r}"
    os.kill(process.pid, signal.SIGINT)


CALLS = {
    "job": (("files", {}), ("ranks", {"paths": ["."]}), ("report", {"file": "job.gpuprof"}), ("report", {"file": "rank00000.json.gz"}), ("ranks", {"paths": ["reduced"]})),
    "history": (("files", {}), ("report", {"file": HISTORY}), ("query", {"file": "nsys.sqlite", "sql": "SELECT count(*) FROM kernel"})),
    "investigation": (("tune", {"folder": "tune"}), ("tune", {"folder": "tune", "action": "next"}), ("tune", {"folder": "tune", "action": "report"}), ("files", {"folder": "tune"})),
    "recordings": (("files", {}), ("report", {"file": "overlap.gpuprof"}), ("compare", {"base": "overlap.json.gz", "new": "triton.json.gz"}),
                   ("kernel_info", {"file": "add.sm_80.cuda12.cubin.gz"}), ("report", {"file": "mock.sqlite.gz"})),
    "parts": (("files", {"folder": "run.gpuprof.parts-abcdef"}), ("report", {"file": "run.gpuprof.parts-abcdef"}), ("report", {"file": "run.gpuprof.parts-abcdef/123-1.gpuprof"})),
    "bench": (("files", {"folder": ".gpu-profile/bench"}), ("report", {"file": ".gpu-profile/bench/a.json"})),
}  # fmt: skip


def converse(process, place, kind):
    """Calls tools of `mcp`."""
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
    calls = [("initialize", start), *(("tools/call", {"name": tool, "arguments": arguments}) for tool, arguments in CALLS[kind])]
    for number, (method, parameters) in enumerate(calls):
        messages = [{"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}]
        if number == 0:
            messages.append({"jsonrpc": "2.0", "method": "notifications/initialized"})
        try:
            process.stdin.write("".join(json.dumps(message) + "\n" for message in messages).encode())
            process.stdin.flush()
        except OSError:
            return  # it has ended, and its status says how
        lines = Lines(place).wait(process, number + 1)
        if lines is None:
            yield f"does not answer {method} {parameters}"
            process.kill()
            return
        if len(lines) > number:
            text = json.loads(lines[number])
            if "result" not in text:
                yield f"answers {method} {parameters} with {str(text)[:300]}"
            elif "exit_code" in str(text) and re.search(r'exit_code\\*"?: *6', lines[number].decode()):
                yield f"answers {method} {parameters} with a defect: {str(text)[:500]}"
    process.stdin.close()
    process.stdin = None


# Not the module of the current folder: that is for who starts Python.
RANKS = ("import sys\nsys.path = [each for each in sys.path if each]\nimport gpu_profile\ntry:\n    job = gpu_profile.ranks(sys.argv[1], cache=sys.argv[2])\n    job.report()\n    job.rank(0)\nexcept gpu_profile.Error as error:\n"
         "    print(' '.join(str(error).split()), file=sys.stderr)\n")
OPEN = "import sys\nsys.path = [each for each in sys.path if each]\nimport gpu_profile\ntry:\n    print(len(gpu_profile.open(sys.argv[1]).kernels))\nexcept gpu_profile.Error as error:\n    print(error, file=sys.stderr)\n"
EVERY = ("job", "history", "recordings", "parts", "bench", "investigation")
FORMATS = ("capture", "chrome", "perfetto", "nsys", "folded", "pprof", "csv", "html")

COMMANDS = (
    Command("report FILE", EVERY, ("report", "FILE")),
    Command("report FOLDER", EVERY, ("report", "FOLDER")),
    Command("report FILE findings, json", EVERY, ("report", "FILE", "findings", "losses", "--format", "json")),
    Command("query", EVERY, ("query", "FILE", "--time-out", "10", "SELECT count(*) FROM kernel")),
    Command("query FOLDER", ("job", "recordings", "parts"), ("query", "FOLDER", "--time-out", "10", "SELECT count(*) FROM kernel")),
    Command("compare", ("job", "recordings", "history"), ("compare", "FILE", "FILE")),
    Command("whatif", ("job", "recordings"), ("whatif", "FILE")),
    Command("export", EVERY, ("export", "FORMAT", "FILE", "-o", "OUT")),
    Command("export FOLDER", ("job", "recordings", "parts"), ("export", "FORMAT", "FOLDER", "-o", "OUT")),
    Command("export html, sources", ("job", "recordings"), ("export", "html", "FILE", "--sources", "FOLDER", "-o", "OUT")),
    Command("scrub", EVERY, ("scrub", "FILE", "-o", "OUT")),
    Command("kernel-info", ("recordings",), ("kernel-info", "FILE")),
    Command("top, replay", ("recordings",), ("top", "--backend", "replay:FOLDER/series.csv", "--once"), places={"recordings": ("series.csv",)}),
    Command("ranks", ("job",), ("ranks", "FOLDER")),
    Command("ranks of flight recorders", ("job",), ("ranks", "FOLDER/flight"), places={"job": ("flight", "flight/*")}),
    Command("ranks of summaries", ("job",), ("ranks", "FOLDER/reduced", "--save", "OUT"), places={"job": ("reduced", "reduced/*")}),
    Command("ranks FILE", EVERY, ("ranks", "FILE", "FILE")),
    Command("ranks, cache", ("job",), ("ranks", "FOLDER", "--cache", "FOLDER/cache"), writes=CACHE, places={"job": ("cache", "cache/.*", "*")}),
    Command("ranks, timeline", ("job",), ("ranks", "view", "FOLDER", "--timeline", "0,1", "--no-open"), during=browse),
    Command("ranks, save", ("job",), ("ranks", "FOLDER", "--save", "OUT")),
    Command("ranks reduce", EVERY, ("ranks", "reduce", "FILE", "-o", "OUT")),
    Command("ranks view", ("job",), ("ranks", "view", "FOLDER", "--no-open"), during=browse),
    Command("ranks in Python", ("job",), ("-c", RANKS, "FOLDER", "OUT"), python=True),
    Command("ranks in Python, cache", ("job",), ("-c", RANKS, "FOLDER", "FOLDER/cache"), python=True, writes=CACHE, places={"job": ("cache", "cache/.*", "*")}),
    Command("open in Python", EVERY, ("-c", OPEN, "FILE"), python=True),
    Command("view", EVERY, ("view", "FILE", "--sources", "FOLDER", "--no-open"), during=browse),
    Command("view of a job", ("job",), ("view", "FOLDER/job.gpuprof", "--no-open"), during=browse, places={"job": ("*", "job.gpuprof")}),
    Command("history list", ("history",), ("history", "list"), places={"history": (f"{HISTORY}",)}),
    Command("history add", ("history",), ("history", "add", "FOLDER/run.json.gz", "--label", "l"), writes=(HISTORY,), follows=False, places={"history": (f"{HISTORY}",)}),
    Command("history check", ("history",), ("history", "check", "FOLDER/run.json.gz", "--label", "l"), places={"history": (f"{HISTORY}",)}),
    Command("history list --db", EVERY, ("history", "list", "--db", "FILE")),
    Command("record --merge", ("parts",), ("record", "--quiet", "--merge", "FOLDER", "-o", "OUT"), follows=False,
            writes=("*/beside-os_calls.gpuprof", "*/beside-logs.gpuprof", "*/*.oscalls", "*/os_calls.shared")),
    Command("bench compare", ("bench",), ("bench", "compare", "a", "b")),
    Command("bench compare FILE", EVERY, ("bench", "compare", "FILE", "FILE")),
    Command("tune status", ("investigation",), ("tune",), python=True, follows=False),
    Command("tune status, json", ("investigation",), ("tune", "status", "--format", "json"), python=True, follows=False),
    Command("tune next", ("investigation",), ("tune", "next"), python=True, follows=False),
    Command("tune report", ("investigation",), ("tune", "report"), python=True, follows=False, writes=("tune/report.md", "tune/report.html", "tune/timelines.html", "tune/.lock")),
    Command("tune again", ("investigation",), ("tune", "again"), python=True, follows=False, writes=TUNE),
    Command("tune trial", ("investigation",), ("tune", "trial", "a note"), python=True, follows=False, writes=TUNE),
    Command("tune trial --recording", ("investigation",), ("tune", "trial", "a note", "--recording", "other.json.gz"), python=True, follows=False, writes=TUNE),
    Command("tune accept", ("investigation",), ("tune", "accept", "1", "--because", "it is"), python=True, follows=False, writes=TUNE),
    Command("tune begin", ("investigation", "job"), ("tune", "begin", "--folder", "FOLDER", "--recording", "FILE"), python=True, writes=TUNE),
    Command("mcp", EVERY, ("mcp", "--root", "."), python=True, follows=False, during=converse),
)
