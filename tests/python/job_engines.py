"""What tests of `gpu_profile.ranks` share: the example, its tables, and engines that are made for tests."""

import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import gpu_profile

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ranks"
TABLES = ("stragglers", "ranks", "job_steps", "rank_collectives", "hosts", "rank", "losses")


def tables(found):
    return {name: found.table(name).to_dict() for name in TABLES}


@pytest.fixture(scope="session")
def expected(tmp_path_factory):
    """The tables by the program's own engine."""
    return tables(gpu_profile.ranks(EXAMPLE, cache=tmp_path_factory.mktemp("cache")))


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


class Now:
    """The least that is an engine: submit, and futures that have only a result."""

    def __init__(self, lost=(), program=None):
        self.lost, self.program, self.tasks = lost, program, []

    def submit(self, function, *arguments):
        if arguments:
            self.tasks.append([Path(file[0]).name for file in arguments[0]])
        return types.SimpleNamespace(result=lambda: self.run(function, arguments))

    def run(self, function, arguments):
        if arguments and any(file[0].endswith(self.lost) for file in arguments[0]):
            raise MemoryError("the worker is gone")
        if self.program is None:
            return function(*arguments)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GPUPROF_BIN", str(self.program))
            return function(*arguments)


def fake_distributed():
    """The part of `distributed` that is used, on threads: what runs here without it."""

    class Client:
        status = "running"

        def __init__(self, address, set_as_default, timeout):
            assert (address, set_as_default, timeout) == ("tcp://scheduler:8786", False, 10)
            self.pool = ThreadPoolExecutor(2)

        def scheduler_info(self):
            return {}

        def nthreads(self):
            return {"tcp://a": 1, "tcp://b": 1}

        def run(self, function, on_error):
            assert on_error == "return"  # of a worker; an error of one says nothing about the others
            return {worker: function() for worker in self.nthreads()}

        def submit(self, function, *arguments, pure):
            assert pure is False  # a lost file may be read again
            return self.pool.submit(function, *arguments)

        def close(self):
            self.pool.shutdown()

    return types.SimpleNamespace(Client=Client)
