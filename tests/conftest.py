"""What all Python tests share: the program under test, the recordings, and one reading of each per session.

The program comes from GPUPROF_BIN, else from build/release, else build/dev. Tests fail, not skip, when there is none.
"""

import os
import shutil
import signal
import sys
import tarfile
import tempfile
import zlib
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
# Some tests use the helpers of a test of another topic.
TOPICS = [str(folder) for folder in sorted((TESTS / "python").iterdir()) if folder.is_dir() and not folder.name.startswith("__")]
sys.path[:0] = [str(TESTS), str(TESTS / "python"), str(TESTS.parent / "python"), *TOPICS]

from oracle.trace import read_trace  # noqa: E402  (needs the path above)
from program import Program  # noqa: E402
from synthetic import recording as synthetic_recording  # noqa: E402

FIXTURES = TESTS / "fixtures"
RECORDINGS = sorted(path for folder in ("kineto", "public") for path in (FIXTURES / folder).glob("*.json.*") if path.suffix in (".gz", ".zst"))


def unpacked(archive):
    """Return the files of an archive of recordings that are much alike, unpacked once."""
    folder = TESTS.parent / "build" / "unpacked" / f"{archive.name}-{zlib.crc32(archive.read_bytes()):08x}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        own = tempfile.mkdtemp(dir=folder.parent)
        with tarfile.open(archive) as members:
            members.extractall(own)
        try:
            os.rename(own, folder)
        except OSError:  # another process was faster
            shutil.rmtree(own)
    return sorted(folder.iterdir())


SEEDS = range(8)  # recordings made by synthetic.py, next to the real ones
WITH_TABLE = [p for p in RECORDINGS if p.with_name(p.name.split(".json.")[0] + ".key_averages.txt.xz").exists()]


# Where the fakes of CUPTI and the driver write what breaks their rules; one for each process that runs tests.
BREACHES = Path(tempfile.gettempdir()) / f"gpuprof-breaches-{os.getpid()}"

# Of tests/python: what times programs, or watches them against a clock. Beside others on two cores it would tell of those.
MEASURING = ("test_api", "test_bench", "test_decorator", "test_evaluate", "test_monitor", "test_profile", "test_record", "test_sampler",
             "test_sampling", "test_serve", "test_top")


def pytest_configure():
    """A run in the background of a shell ignores SIGINT, and the programs that tests interrupt would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["GPUPROF_FAKE_BREACHES"] = str(BREACHES)


class Breaches:
    """Rules of CUPTI and the driver that programs broke, as the fakes saw it (tests/fakes/cupti/contract.h)."""

    def take(self):
        """Return them, and forget them."""
        lines = BREACHES.read_text().splitlines() if BREACHES.exists() else []
        BREACHES.unlink(missing_ok=True)
        return lines


@pytest.fixture(autouse=True)
def breaches():
    """Every test with a fake expects none. One that provokes some takes them."""
    log = Breaches()
    yield log
    assert log.take() == []


def pytest_ignore_collect(collection_path, config):
    """With `-m measures`, or without those, half of the files have nothing to run; to import them would take seconds in each process."""
    wanted = {"measures": True, "not measures": False}.get(config.option.markexpr)
    if wanted is not None and collection_path.match("tests/python/*/test_*.py") and collection_path.name.startswith(MEASURING) != wanted:
        return True
    return None


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.name.startswith(MEASURING):
            item.add_marker("measures")


def short_name(recording):
    return f"seed-{recording}" if isinstance(recording, int) else recording.name.split(".json.")[0]


def recorded(name):
    """The recording of this name below tests/fixtures ("kineto/overlap"), whichever way it is compressed."""
    return next(path for ending in ("gz", "zst") if (path := FIXTURES / f"{name}.json.{ending}").exists())


def find_program():
    named = os.environ.get("GPUPROF_BIN")
    candidates = [Path(named)] if named else [TESTS.parent / "build" / preset / "gpu-profile" for preset in ("release", "dev")]
    for candidate in candidates:
        if candidate.is_file():
            return candidate.resolve()
    return None


@pytest.fixture(scope="session")
def program():
    path = find_program()
    if path is None:
        pytest.fail("no gpu-profile to test: build it (cmake --preset release && cmake --build --preset release) or set GPUPROF_BIN")
    return Program(path)


@pytest.fixture(scope="session")
def recordings():
    """Reads a recording once for all callers."""
    cache = {}

    def get(path):
        if path not in cache:
            cache[path] = read_trace(path)
        return cache[path]

    return get


@pytest.fixture(scope="session")
def reports(program):
    """Asks the program about a recording once: every analysis that has an oracle, all rows, all gaps."""
    cache = {}

    def get(path):
        if path not in cache:
            cache[path] = program.report(path, *program.COMPARED, "--gap-min-ns", "0")
        return cache[path]

    return get


@pytest.fixture(params=[*RECORDINGS, *SEEDS], ids=short_name, scope="session")
def recording(request, tmp_path_factory):
    if not isinstance(request.param, int):
        return request.param
    path = tmp_path_factory.getbasetemp() / f"seed-{request.param}.json"
    if not path.exists():
        path.write_bytes(synthetic_recording(request.param))
    return path


@pytest.fixture(params=WITH_TABLE, ids=short_name, scope="session")
def recording_with_table(request):
    return request.param
