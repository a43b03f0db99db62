"""`gpu_profile.ranks` on S3: a real client (s3fs) and moto's server on this machine, with a proxy between them that spoils answers."""

import json
import os
import sys

import boto3
import pytest
from faulty_proxy import FaultyProxy
from job_engines import EXAMPLE, Now, tables
from moto.server import ThreadedMotoServer

import gpu_profile
from gpu_profile.many_ranks.files import list_files

KEY, SECRET, TOKEN = "AKIAEXAMPLEKEY123", "example-secret-456", "example-token-789"
BUCKET = "traces"


@pytest.fixture(scope="module")
def server():
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    yield moto.get_host_and_port()
    moto.stop()


@pytest.fixture(scope="module")
def bucket(server):
    host, port = server
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
    client.create_bucket(Bucket=BUCKET)
    for file in EXAMPLE.iterdir():
        client.put_object(Bucket=BUCKET, Key=f"job/{file.name}", Body=file.read_bytes())
    return client


@pytest.fixture
def proxy(server):
    made = FaultyProxy(*server)
    yield made
    made.close()


@pytest.fixture
def options(proxy):
    return {"key": KEY, "secret": SECRET, "token": TOKEN, "use_listings_cache": False, "skip_instance_cache": True,
            "client_kwargs": {"endpoint_url": proxy.url, "region_name": "us-east-1"},
            "config_kwargs": {"retries": {"max_attempts": 1}, "connect_timeout": 5, "read_timeout": 5}}


@pytest.fixture(autouse=True)
def no_own_credentials(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def read(folder, options, cache, engine=None):
    return gpu_profile.ranks(f"s3://{BUCKET}/{folder}", engine or Now(), cache=cache, storage_options=options)


def no_secret(*texts):
    for text in texts:
        for secret in (KEY, SECRET, TOKEN):
            assert secret not in text


def no_secret_below(folder):
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                content = file.read()
            no_secret(name)
            assert not any(secret.encode() in content for secret in (KEY, SECRET, TOKEN)), name


def test_a_job_on_s3_has_the_same_tables(bucket, expected, options, cache):
    found = read("job/", options, cache)
    assert found.table("rank").to_dict()["file"] == [f"s3://{BUCKET}/job/rank{rank:05}.json.gz" for rank in range(8)]
    assert {**tables(found), "rank": None} == {**expected, "rank": None}
    assert len(found.rank(3).kernels) > 0
    no_secret_below(cache)
    with open(found.path, "rb") as job:
        assert KEY.encode() not in job.read()


def test_eleven_hundred_keys_are_listed(bucket, options, proxy):
    for number in range(1_100):
        bucket.put_object(Bucket=BUCKET, Key=f"many/rank{number:05}.json", Body=b"x")
    found = list_files(f"s3://{BUCKET}/many", options)
    assert [file.name for file in found] == [f"s3://{BUCKET}/many/rank{rank:05}.json" for rank in range(1_100)]
    assert all(file.bytes == 1 and file.stamp for file in found)
    assert sum("list-type=2" in path and "many/" in path for path in proxy.served) >= 2  # pages of 1,000


def test_keys_with_spaces(bucket, options, cache):
    for rank in (0, 1):
        body = (EXAMPLE / f"rank{rank:05}.json.gz").read_bytes()
        bucket.put_object(Bucket=BUCKET, Key=f"a job/trace of rank {rank} + notes #1.json.gz", Body=body)
    found = read("a job", options, cache)
    assert found.table("rank").to_dict()["file"][:2] == [f"s3://{BUCKET}/a job/trace of rank {rank} + notes #1.json.gz" for rank in (0, 1)]
    assert found.report("ranks").to_dict()["status"] == ["whole"] * 2 + ["missing"] * 6


def test_a_forbidden_folder_is_one_line(options, proxy, cache, bucket):
    proxy.faults["traces"] = "forbidden"
    with pytest.raises(gpu_profile.Error) as caught:
        read("job/", options, cache)
    assert caught.value.message.startswith("cannot read s3://traces/job/: PermissionError: ")
    assert "\n" not in caught.value.message
    no_secret(caught.value.message)


def test_forbidden_and_broken_files_cost_their_ranks(bucket, options, proxy, cache):
    proxy.faults.update({"rank00003": "forbidden", "rank00006": "broken"})
    found = read("job/", options, cache)
    lost = found.losses.to_dict()
    assert list(zip(lost["rank"], lost["status"])) == [(3, "unreadable"), (6, "unreadable")]
    assert lost["reason"][0].startswith("cannot read s3://traces/job/rank00003.json.gz: PermissionError: ")
    assert lost["reason"][1].startswith("cannot read s3://traces/job/rank00006.json.gz: ")
    no_secret(*lost["reason"])
    no_secret_below(cache)
    proxy.faults.clear()
    again = Now()
    assert read("job/", options, cache, again).losses.to_dict()["rank"] == []
    assert sorted(name for task in again.tasks for name in task) == ["rank00003.json.gz", "rank00006.json.gz"]


def test_a_changed_key_is_read_again(bucket, options, cache):
    first = (EXAMPLE / "rank00002.json.gz").read_bytes()
    bucket.put_object(Bucket=BUCKET, Key="changing/rank00002.json.gz", Body=first)
    bucket.put_object(Bucket=BUCKET, Key="changing/rank00001.json.gz", Body=(EXAMPLE / "rank00001.json.gz").read_bytes())
    read("changing", options, cache)
    engine = Now()
    read("changing", options, cache, engine)
    assert engine.tasks == []
    changed = bytearray(first)
    changed[4] ^= 1  # the time in the header of gzip: the same size and content, another ETag
    bucket.put_object(Bucket=BUCKET, Key="changing/rank00002.json.gz", Body=bytes(changed))
    read("changing", options, cache, engine)
    assert engine.tasks == [["rank00002.json.gz"]]


def test_the_command_on_s3(bucket, program, options, proxy, cache, own_python, tmp_path):
    storage = [f"--storage={word}" for word in (
        f"key={KEY}", f"secret={SECRET}", f"token={TOKEN}", f"client_kwargs.endpoint_url={proxy.url}", "client_kwargs.region_name=us-east-1",
        "config_kwargs.retries.max_attempts=1")]
    done = program.run("ranks", f"s3://{BUCKET}/job/", "ranks", *storage, "--cache", cache, "--save", tmp_path / "job.gpuprof", "--format", "json")
    assert done.status == 0, done.errors
    own = program.run("ranks", EXAMPLE, "ranks", "--cache", tmp_path / "own", "--format", "json")
    assert json.loads(done.stdout)["tables"] == json.loads(own.stdout)["tables"]
    no_secret(done.stdout.decode(), done.stderr.decode())
    proxy.faults["rank00003"] = "forbidden"
    fails = program.run("ranks", f"s3://{BUCKET}/job/", *storage, "--cache", tmp_path / "other", "--fail-on", "lost>0", "--format", "json")
    assert fails.status == 1
    assert fails.errors == ["gpu-profile: --fail-on lost>0: 1 of 8 ranks have no whole recording"]
    proxy.faults["traces"] = "forbidden"
    refused = program.run("ranks", f"s3://{BUCKET}/job/", *storage, "--cache", cache)
    assert refused.status == 3
    (line,) = refused.errors
    assert line.startswith("gpu-profile: cannot read s3://traces/job/: PermissionError")
    no_secret(line, fails.stdout.decode())
    no_secret_below(cache)
    no_secret_below(tmp_path)


def test_what_the_command_says_without_its_packages(program, tmp_path, monkeypatch):
    for value, said in (("/no/such/python", "ranks needs Python, but '/no/such/python' cannot be started"),
                        (str(tmp_path / "python"), "cannot import the Python package gpu_profile")):
        (tmp_path / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -c "import sys; sys.modules[\'gpu_profile\'] = None; exec(sys.argv[1])" "$2" "" "$@"\n')
        (tmp_path / "python").chmod(0o755)
        monkeypatch.setenv("GPUPROF_PYTHON", value)
        refused = program.run("ranks", "s3://bucket/job/")
        assert refused.status == 6
        assert len(refused.errors) == 1
        assert said in refused.errors[0]
    monkeypatch.setenv("GPUPROF_PYTHON", sys.executable)
    for pair in ("anon", "=x", "a..b=1"):
        wrong = program.run("ranks", "s3://bucket/job/", "--storage", pair)
        assert (wrong.status, len(wrong.errors)) == (2, 1)
