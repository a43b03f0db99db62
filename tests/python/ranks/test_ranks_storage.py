"""`gpu_profile.ranks` with files in a storage that fsspec opens."""

import sys

import pytest
from job_engines import EXAMPLE, Now, cache, expected, tables  # noqa: F401

import gpu_profile
from gpu_profile.many_ranks.files import RankFile, without_credentials
from gpu_profile.many_ranks.reduction import copy_file


def test_urls_without_fsspec(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(gpu_profile.Error, match=r"cannot read s3://bucket/job: URLs need fsspec; run pip install 'gpu-profile\[ranks\]'"):
        gpu_profile.ranks("s3://key:secret@bucket/job?token=secret", cache=cache)


@pytest.mark.parametrize(("text", "shown"), [
    ("403 at 'https://me:pa@ss@host/a/b?sig=xyz', twice", "403 at 'https://host/a/b twice"),
    ("s3://bucket/a key@x.json", "s3://bucket/a key@x.json"),
    ("no address: a?b@c", "no address: a?b@c"),
])
def test_urls_are_shown_without_credentials(text, shown):
    assert without_credentials(text) == shown


@pytest.fixture
def memory():
    storage = pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory")
    for file in EXAMPLE.iterdir():
        storage.pipe(f"/job/{file.name}", file.read_bytes())
    yield storage
    storage.rm("/job", recursive=True)


@pytest.mark.parametrize("path", ["memory://job", "memory://job/", "memory://job/rank*.json.gz"])
def test_a_storage_gives_the_same_tables(expected, memory, cache, path):
    found = tables(gpu_profile.ranks(path, cache=cache))
    assert found["rank"]["file"] == [f"memory:///job/rank{rank:05}.json.gz" for rank in range(8)]
    assert {**found, "rank": None} == {**expected, "rank": None}
    engine = Now()
    gpu_profile.ranks(path, engine, cache=cache)
    assert engine.tasks == []


def test_a_storage_with_foreign_and_damaged_files(memory, cache):
    memory.pipe("/job/notes with spaces.txt", b"nothing")
    memory.pipe("/job/rank00009.json", b'{"traceEvents":')
    memory.pipe("/job/.hidden", b"nothing")
    found = gpu_profile.ranks("memory://job", cache=cache)
    assert found.report("losses").to_dict()["place"] == ["memory:///job/notes with spaces.txt"]
    assert found.losses.to_dict()["file"][-1] == "memory:///job/rank00009.json"
    assert "memory:///job/rank00009.json: " in found.losses.to_dict()["reason"][-1]
    assert len(found.rank(3).kernels) > 0
    memory.pipe("/job/rank00003.json.gz", b"another")
    with pytest.raises(gpu_profile.Error, match="7 bytes arrived, but .* were listed"):
        found.rank(3)


def test_a_file_that_changes_while_it_is_read(memory, tmp_path):
    file = RankFile("memory:///job/rank00000.json.gz", "memory://job", "/job/rank00000.json.gz", 7, "")
    with pytest.raises(gpu_profile.Error, match=r"cannot read memory:///job/rank00000.json.gz: \d+ bytes arrived, but 7 were listed"):
        copy_file(file, {}, str(tmp_path))
    outside = copy_file(file._replace(name="memory:///../../rank00000.json.gz", bytes=-1), {}, str(tmp_path))
    assert outside == "rank00000.json.gz"


def test_messages_of_a_storage_hide_credentials(memory, cache):
    import fsspec

    class Leaky(fsspec.AbstractFileSystem):
        protocol = "leaky"

        def info(self, path, **options):
            raise PermissionError(f"403 for leaky://{path}?sig=secret, which is {path}, with token-secret")

    fsspec.register_implementation("leaky", Leaky, clobber=True)
    with pytest.raises(gpu_profile.Error) as caught:
        gpu_profile.ranks("leaky://me:secret@host/job?sig=secret", cache=cache, storage_options={"client": {"token": "token-secret"}})
    assert caught.value.message.startswith("cannot read leaky://host/job: PermissionError: 403 for leaky://")
    assert "secret" not in caught.value.message
    with pytest.raises(gpu_profile.Error, match="cannot read nosuch://host/job: ValueError: Protocol not known: nosuch"):
        gpu_profile.ranks("nosuch://host/job", cache=cache)
