#!/usr/bin/env python3
"""Writes the software bill of materials of a portable build as CycloneDX JSON: `write_sbom.py VERSION OUT_FILE`.

It lists what is linked, from cmake/portable/sources.txt, and the package of the viewer, with versions, licences and hashes of
the sources. The compiler's runtime libraries are listed with the compiler's version.
"""

import json
import os
import re
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]


def licence(identifier):
    return DisjunctiveLicense(name=identifier) if identifier.startswith("LicenseRef-") else DisjunctiveLicense(id=identifier)


def component(name, version, identifier, sha256=None, purl=None):
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if sha256 else []
    return Component(type=ComponentType.LIBRARY, name=name, version=version, licenses=[licence(identifier)], hashes=hashes,
                     purl=purl or PackageURL("generic", name=name, version=version), bom_ref=f"{name}@{version}")


def linked():
    for line in (ROOT / "cmake/portable/sources.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, version, sha256, identifier, _ = line.split()
        yield component(name, version, identifier, sha256)
    requirements = (ROOT / "cmake/portable/requirements.txt").read_text(encoding="utf-8")
    compiler = re.search(r"ziglang==(\S+)", requirements)[1]
    for name in ("libcxx", "libcxxabi", "libunwind"):
        yield component(name, f"of ziglang {compiler}", "LicenseRef-Apache-2.0-with-LLVM-exception")
    preact = json.loads((ROOT / "web/package.json").read_text(encoding="utf-8"))["dependencies"]["preact"]
    yield component("preact", preact, "MIT", purl=PackageURL("npm", name="preact", version=preact))


def main():
    version, out = sys.argv[1:]
    made = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), timezone.utc)  # the same input gives the same bytes
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"gpu-profile {version} {made.isoformat()}"))
    bom.metadata.timestamp = made
    bom.metadata.component = Component(type=ComponentType.APPLICATION, name="gpu-profile", version=version, licenses=[licence("Apache-2.0")],
                                       bom_ref=f"gpu-profile@{version}")
    bom.components.update(linked())
    bom.register_dependency(bom.metadata.component, bom.components)
    Path(out).write_text(JsonV1Dot6(bom).output_as_string(indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
