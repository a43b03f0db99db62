"""The container image: the same bytes twice, and the program works in it, as its user and without a place to write."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples/input_bound.json.gz"

pytestmark = pytest.mark.skipif(not Path("/etc/debian_version").exists() or not shutil.which("readelf"),
                                reason="an image takes glibc from Debian or Ubuntu, and readelf says what is needed")


def written(program, folder, name):
    """An image of the program under test, laid out as `cmake --install` does."""
    installed = folder / "installed"
    if not installed.exists():
        (installed / "bin").mkdir(parents=True)
        (installed / "lib/gpu-profile").mkdir(parents=True)
        shutil.copy2(program.path, installed / "bin/gpu-profile")
        for library in program.path.parent.glob("libgpuprof*.so"):
            shutil.copy2(library, installed / "lib/gpu-profile")
    subprocess.run([sys.executable, ROOT / "packaging/image.py", installed, folder / name], check=True, capture_output=True)
    return folder / name


@pytest.fixture(scope="module")
def image(program, tmp_path_factory):
    if program.path.parent.name in ("asan", "tsan"):
        pytest.skip("the image has no sanitizer's runtime")
    return written(program, tmp_path_factory.mktemp("image"), "image.tar")


def test_the_same_bytes_twice_and_what_is_in_it(image, program):
    again = written(program, image.parent, "again.tar")
    assert hashlib.sha256(image.read_bytes()).digest() == hashlib.sha256(again.read_bytes()).digest()
    with tarfile.open(image) as tar:
        blob = lambda about: tar.extractfile(f"blobs/sha256/{about['digest'].removeprefix('sha256:')}").read()  # noqa: E731
        (described,) = json.load(tar.extractfile("index.json"))["manifests"]
        manifest = json.loads(blob(described))
        config = json.loads(blob(manifest["config"]))["config"]
        for about in (described, manifest["config"], *manifest["layers"]):
            assert (len(blob(about)), f"sha256:{hashlib.sha256(blob(about)).hexdigest()}") == (about["size"], about["digest"])
    assert config["User"] == "65532:65532" and config["Healthcheck"]["Test"][1] == config["Entrypoint"][0]


@pytest.mark.skipif(os.geteuid() != 0, reason="a chroot needs root")
def test_in_a_chroot_as_its_user_that_may_write_nothing(image, tmp_path):
    root = tmp_path / "root"
    with tarfile.open(image) as tar:
        (layer,) = [name for name in tar.getnames() if name.startswith("blobs/") and tar.getmember(name).size > 1 << 20]
        with tarfile.open(fileobj=tar.extractfile(layer), mode="r:gz") as files:
            files.extractall(root)
    (root / "tmp").chmod(0o555)
    shutil.copy(EXAMPLE, root / "example.json.gz")
    enter = 'mount -t proc proc "$0/proc" && exec chroot --userspec=65532:65532 "$0" /usr/bin/gpu-profile "$@"'
    inside = ["unshare", "--mount", "sh", "-c", enter, root]
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespaces here")
    for folder in tmp_path, *list(tmp_path.parents)[:2]:
        folder.chmod(0o755)
    said = subprocess.run([*inside, "report", "/example.json.gz"], capture_output=True, text=True, check=False)
    assert said.returncode == 0 and said.stdout.startswith("input-bound"), said
    said = subprocess.run([*inside, "record", "-o", "/tmp/x.gpuprof", "--", "/usr/bin/gpu-profile", "--version"], capture_output=True, text=True, check=False)
    assert said.returncode == 5 and "/tmp" in said.stderr, said
    (root / "recordings").mkdir()
    os.chown(root / "recordings", 65532, 65532)
    subprocess.run([*inside, "record", "-o", "/recordings/x.gpuprof", "--", "/usr/bin/gpu-profile", "report", "/example.json.gz"], check=True, capture_output=True)
    said = subprocess.run([*inside, "report", "/recordings/x.gpuprof"], capture_output=True, text=True, check=True)
    assert "gpu-profile record" in said.stdout


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("buildah"), reason="buildah is not installed, or not root")
def test_buildah_runs_it(image, tmp_path):
    buildah = ["buildah", "--storage-driver", "vfs", "--root", tmp_path / "root", "--runroot", tmp_path / "run"]

    def run(*words):
        return subprocess.run([*buildah, *words], check=True, capture_output=True, text=True).stdout

    container = run("from", f"oci-archive:{image}").strip()
    run("copy", container, EXAMPLE, "/example.json.gz")
    inside = ["run", "--isolation", "chroot", container, "--", "/usr/bin/gpu-profile"]
    assert run(*inside, "report", "/example.json.gz").startswith("input-bound")
    run(*inside, "record", "-o", "/tmp/x.gpuprof", "--", "/usr/bin/gpu-profile", "report", "/example.json.gz")
    assert "gpu-profile record" in run(*inside, "report", "/tmp/x.gpuprof")
    run("rm", container)


@pytest.mark.skipif(not shutil.which("skopeo"), reason="skopeo is not installed")
def test_skopeo_reads_and_converts_it(image, tmp_path):
    said = json.loads(subprocess.run(["skopeo", "inspect", f"oci-archive:{image}"], check=True, capture_output=True, text=True).stdout)
    assert said["Labels"]["org.opencontainers.image.licenses"] == "Apache-2.0"
    subprocess.run(["skopeo", "--tmpdir", tmp_path, "copy", f"oci-archive:{image}", f"docker-archive:{tmp_path}/docker.tar:gpu-profile:test"], check=True, capture_output=True)
    assert (tmp_path / "docker.tar").stat().st_size > 1 << 20
