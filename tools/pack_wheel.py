#!/usr/bin/env python3
"""Packs a portable wheel: `pack_wheel.py PURE_WHEEL INSTALLED ARCH OUT_FOLDER`.

PURE_WHEEL is the Python package without compiled files; INSTALLED is the folder of `cmake --install` of a portable build. The
program becomes a real executable in the folder of commands (`.data/scripts`), which starts without Python, and the libraries
go into lib/gpu-profile next to it (`.data/data`), where program and package look for them. The same input gives the same
bytes: names are sorted, and times are SOURCE_DATE_EPOCH.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from wheel.wheelfile import WheelFile


def lay_out(folder, installed, tag):
    (metadata,) = folder.glob("*.dist-info")
    data = folder / metadata.name.replace(".dist-info", ".data")
    (data / "scripts").mkdir(parents=True)
    shutil.copy2(installed / "bin" / "gpu-profile", data / "scripts")
    shutil.copytree(installed / "lib" / "gpu-profile", data / "data" / "lib" / "gpu-profile")
    shutil.copytree(installed / "include", data / "data" / "include")
    (metadata / "licenses").mkdir(exist_ok=True)
    shutil.copy2(installed / "share" / "doc" / "gpu-profile" / "LICENSES", metadata / "licenses")
    (metadata / "entry_points.txt").unlink()  # the executable has this name
    (metadata / "RECORD").unlink()
    lines = (metadata / "WHEEL").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))]
    (metadata / "WHEEL").write_text("\n".join([*kept, "Root-Is-Purelib: false", f"Tag: {tag}", ""]), encoding="utf-8")
    for path in folder.rglob("*"):  # the umask of the building machine does not count
        path.chmod(0o755 if path.is_dir() or path.suffix == ".so" or path.parent.name == "scripts" else 0o644)


def main():
    pure, installed, architecture, out = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    name = "-".join(pure.name.split("-")[:2])
    tag = f"py3-none-manylinux_2_28_{architecture}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with WheelFile(pure) as wheel:
            wheel.extractall(folder)
        lay_out(folder, installed, tag)
        target = out / f"{name}-{tag}.whl"
        with WheelFile(target, "w") as wheel:
            wheel.write_files(folder)
    print(target)


if __name__ == "__main__":
    main()
