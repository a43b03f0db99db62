#!/usr/bin/env python3
"""Writes a container image as an OCI archive, without Docker: `image.py INSTALLED OUT.tar [--system FOLDER]`.

INSTALLED is the folder of `cmake --install`, or the unpacked tarball of tools/build_portable. The image has one layer: the program, its
libraries, and of FOLDER (default /, a Debian or Ubuntu of the program's architecture) glibc with the libraries that are needed, because
NVML and CUPTI are loaded at run time. It has no shell, runs as user 65532, and writes nothing, so its root may be read-only. The same
input gives the same bytes: names are sorted, and times are SOURCE_DATE_EPOCH. `readelf` says what a file needs.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import struct
import subprocess
import tarfile
import tomllib
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MACHINES = {62: ("amd64", "x86_64-linux-gnu"), 183: ("arm64", "aarch64-linux-gnu")}
GLIBC = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1")  # what NVML and CUPTI need
TIME = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))


def needed(file):
    text = subprocess.run(["readelf", "--dynamic", "--program-headers", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text), re.findall(r"interpreter: /(.+)\]", text)


def libraries(files, system, triplet):
    """Path in the image: file, of all libraries that the files need, and of the program's loader."""
    found, waiting, ours = {}, list(files), {file.name for file in files}
    for name in GLIBC:
        waiting.append(place(name, system, triplet))
        found[f"lib/{triplet}/{name}"] = waiting[-1]
    while waiting:
        names, interpreters = needed(waiting.pop())
        found.update({path: (system / path).resolve() for path in interpreters})
        for name in names:
            path = f"lib/{triplet}/{name}"
            if path not in found and name not in ours and not name.startswith("ld-linux"):
                found[path] = place(name, system, triplet)
                waiting.append(found[path])
    return found


def place(name, system, triplet):
    for folder in (f"lib/{triplet}", f"usr/lib/{triplet}", "lib64"):
        if (system / folder / name).exists():
            return (system / folder / name).resolve()
    raise SystemExit(f"image.py: {name} is not in {system}; it must be a Debian or Ubuntu of the program's architecture, with what it needs")


def layer(installed, system):
    """(architecture, uncompressed layer)."""
    program = installed / "bin" / "gpu-profile"
    architecture, triplet = MACHINES[struct.unpack_from("<H", program.read_bytes(), 18)[0]]
    files = {f"usr/{path.relative_to(installed)}": path for part in ("bin", "lib") for path in (installed / part).rglob("*") if path.is_file()}
    files.update(libraries([path for path in files.values() if path.suffix == ".so" or path == program], system, triplet))
    files.update({f"usr/share/doc/gpu-profile/{path.name}": path for path in [ROOT / "LICENSE", *(installed / "share/doc/gpu-profile").glob("LICENSES")]})
    if (terms := system / "usr/share/doc/libc6/copyright").exists():
        files["usr/share/doc/libc6/copyright"] = terms
    folders = {str(parent) for path in files for parent in list(Path(path).parents)[:-1]} | {"dev", "proc", "sys", "tmp"}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(folders | set(files)):
            entry = tarfile.TarInfo(path)
            entry.mtime = TIME
            if path in folders:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if path == "tmp" else 0o755
                tar.addfile(entry)
                continue
            content = files[path].read_bytes()
            entry.size, entry.mode = len(content), 0o755 if content[:4] == b"\x7fELF" else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return architecture, packed.getvalue()


def configuration(architecture, content):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    created = datetime.fromtimestamp(TIME, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {"title": project["name"], "version": project["version"], "description": project["description"], "licenses": project["license"], "created": created}
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        labels["source"] = f"https://github.com/{repository}"
    labels = {f"org.opencontainers.image.{name}": text for name, text in labels.items()}
    config = {"User": "65532:65532", "WorkingDir": "/tmp", "Entrypoint": ["/usr/bin/gpu-profile"], "Cmd": ["--help"], "Labels": labels,
              "Env": ["PATH=/usr/bin", "NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"],
              # Whether a device answers, as /healthz of `serve` does; orchestrators ask that.
              "Healthcheck": {"Test": ["CMD", "/usr/bin/gpu-profile", "top", "--once", "--format", "json"], "Interval": 60_000_000_000, "Timeout": 20_000_000_000}}
    return labels, {"architecture": architecture, "os": "linux", "created": created, "config": config,
                    "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(content).hexdigest()}"]},
                    "history": [{"created": created, "created_by": "packaging/image.py"}]}


def archive(installed, system):
    architecture, content = layer(installed, system)
    labels, config = configuration(architecture, content)
    files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}

    def add(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": add("config.v1+json", json.dumps(config).encode()),
                "layers": [add("layer.v1.tar+gzip", gzip.compress(content, 6, mtime=0))], "annotations": labels}
    described = add("manifest.v1+json", json.dumps(manifest).encode())
    described["annotations"] = {"org.opencontainers.image.ref.name": labels["org.opencontainers.image.version"]}
    described["platform"] = {"architecture": architecture, "os": "linux"}
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [described]}).encode()
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("installed", type=Path, metavar="INSTALLED")
    parser.add_argument("out", type=Path, metavar="OUT.tar")
    parser.add_argument("--system", type=Path, default=Path("/"), metavar="FOLDER")
    options = parser.parse_args()
    with tarfile.open(options.out, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted(archive(options.installed, options.system).items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(data), TIME, 0o644
            tar.addfile(entry, io.BytesIO(data))
    print(f"{options.out}: {options.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
