"""The part of the package's metadata that depends on where the repository is: URLs, and a README that can be read elsewhere.

A provider of scikit-build-core (pyproject.toml). GitHub Actions say where the repository is (`GITHUB_REPOSITORY`, as OWNER/NAME);
a build without it has no URLs and the README as it is. Links and pictures then lead to the tag of this version. A source
distribution keeps the answer in its PKG-INFO, so that a wheel built from it says the same.
"""

import os
import posixpath
import re
from email.parser import HeaderParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOST = "https://github.com"
REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[\w.-]+", re.ASCII)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def repository():
    """OWNER/NAME, or None if nobody said it."""
    name = os.environ.get("GITHUB_REPOSITORY", "")
    if name and not REPOSITORY.fullmatch(name):
        raise ValueError(f"GITHUB_REPOSITORY is {name!r}, expected OWNER/NAME")
    if name or not (ROOT / "PKG-INFO").is_file():
        return name or None
    kept = HeaderParser().parsestr((ROOT / "PKG-INFO").read_text(encoding="utf-8"))
    found = [line.partition(", ")[2] for line in kept.get_all("Project-URL", []) if line.startswith("Repository, ")]
    return found[0].removeprefix(f"{HOST}/") if found else None


def urls(name, version):
    page = f"{HOST}/{name}"
    tag = f"{page}/blob/v{version}"
    return {"Homepage": page, "Repository": page, "Documentation": f"{tag}/docs/README.md", "Changelog": f"{tag}/CHANGELOG.md",
            "Issues": f"{page}/issues", "Security": f"{tag}/SECURITY.md"}


def readme(text, name, version):
    """A page of the top folder whose relative links and pictures are absolute; code stays."""

    def absolute(match):
        picture, label, target = match.groups()
        if not re.match(r"[a-z]+:|#", target):
            path = posixpath.normpath(target.partition("#")[0])
            kind = "raw" if picture else "tree" if (ROOT / path).is_dir() else "blob"
            target = f"{HOST}/{name}/{kind}/v{version}/{target}"
        return f"{picture}[{LINK.sub(absolute, label)}]({target})"

    pieces, at = [], 0
    for fence in FENCE.finditer(text):
        pieces += [LINK.sub(absolute, text[at:fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*pieces, LINK.sub(absolute, text[at:])])


def dynamic_metadata(_settings, project):
    name, version = repository(), project["version"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    author = {"name": "The gpu-profile maintainers"}
    if name:
        author["email"] = f"{name.partition('/')[0]}@users.noreply.github.com"  # GitHub's address of the account, which takes no mail
    return {"authors": [author], "urls": urls(name, version) if name else {},
            "readme": {"content-type": "text/markdown", "text": readme(text, name, version) if name else text}}
