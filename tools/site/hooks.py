"""MkDocs hooks (mkdocs.yml) that add files from outside docs/ to the site, because pages link to them.

PAGES are top-level pages that the site shows. The notebook becomes a page with its outputs. Every other linked file of the
repository becomes a page with its text below `source/`. A link to a folder leads to its README.md, or becomes plain text.
"""

import json
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
# Path in the repository: path in the site.
PAGES = {
    "README.md": "README.md",
    "GLOSSARY.md": "reference/glossary.md",
    "ARCHITECTURE.md": "how-it-works/architecture.md",
    "CONTRIBUTING.md": "how-it-works/contributing.md",
    "SECURITY.md": "how-it-works/security.md",
    "docs/guides/tour.ipynb": "guides/tour.md",
}
ASSETS = {f"tools/site/{name}": f"site/{name}" for name in ("site.css", "iframe-worker.js")}
LANGUAGES = {".h": "cpp", ".cc": "cpp", ".cu": "cpp", ".c": "c", ".py": "python", ".sh": "sh", ".def": "cpp"}
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)([^)\s]*)(?=\))")
LIST = re.compile(r"^(?:[*-] |\d+\. )")


def target_of(page, link):
    """The path in the repository to which a relative link of a page leads, or None."""
    if re.match(r"[a-z]+:", link):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def place_of(path):
    """The place of a repository file in the site; None for a folder without a README.md."""
    if (ROOT / path).is_dir():
        readme = f"{path}/README.md"
        return place_of(readme) if (ROOT / readme).exists() else None
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}" if path.endswith(".md") else f"source/{path}.md"


def without_code(markdown):
    return FENCE.sub("", markdown)


def outside_links(page, markdown):
    """Files outside docs/ to which a page links."""
    for match in LINK.finditer(without_code(markdown)):
        path = target_of(page, match[1])
        if path and (ROOT / path).is_dir():
            path += "/README.md"
        if path and (ROOT / path).is_file() and not path.startswith("docs/") and path not in PAGES:
            yield path


def as_markdown(path):
    """A file of the repository as a page."""
    text = (ROOT / path).read_text()
    if path.endswith(".md"):
        return text
    if path.endswith(".ipynb"):
        return "\n\n".join(cell_parts(json.loads(text)))
    return f"---\nsearch: {{exclude: true}}\n---\n# {path}\n\n````{LANGUAGES.get(Path(path).suffix, 'text')}\n{text}````\n"


def cell_parts(notebook):
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            yield source
            continue
        yield f"```python\n{source}\n```"
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                yield f"![output](data:image/png;base64,{''.join(data['image/png']).strip()})"
                continue
            text = "".join(output.get("text", data.get("text/plain", []))).rstrip("\n")
            yield f"```text\n{text}\n```"


def on_files(files, config):
    """Add the pages from outside docs/."""
    sources = {file.src_uri: f"docs/{file.src_uri}" for file in files.documentation_pages()}
    for path, place in PAGES.items():
        if place not in sources:
            sources[place] = path
    waiting = list(sources.items())
    while waiting:
        place, path = waiting.pop()
        if not (ROOT / path).exists():
            continue
        if path.endswith(".md"):
            new = [(place_of(found), found) for found in outside_links(path, (ROOT / path).read_text())]
            waiting += [pair for pair in new if pair[0] not in sources]
            sources.update(new)
        if not path.startswith("docs/") or path.endswith(".ipynb"):
            inclusion = InclusionLevel.INCLUDED if path in PAGES else InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, place, content=as_markdown(path), inclusion=inclusion))
    for path, place in ASSETS.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        files.remove(notebook)
    config["repository_paths"] = sources
    return files


def in_site(match, page, place):
    path = target_of(page, match[1])
    there = place_of(path) if path else None
    if not there:
        return match[0]
    return posixpath.relpath(there, posixpath.dirname(place) or ".") + match[2]


def on_page_markdown(markdown, page, config, files):
    """Rewrite links for the site, and put the empty line before each list that Python-Markdown needs."""
    place = page.file.src_uri
    path = config["repository_paths"].get(place)
    if place.startswith("source/"):
        page.meta["search"] = {"exclude": True}
    if path is None or not path.endswith(".md"):
        return markdown
    pieces, at = [], 0
    for fence in [*FENCE.finditer(markdown), None]:
        end = fence.start() if fence else len(markdown)
        text = re.sub(r"\[([^\]]*)\]\(([^)\s]+/?)\)", lambda found: folder_link(found, path), markdown[at:end])
        pieces.append(spaced(LINK.sub(lambda match: in_site(match, path, place), text)))
        pieces.append(fence[0] if fence else "")
        at = fence.end() if fence else end
    return "".join(pieces)


def folder_link(found, page):
    """Replace a link to a folder that is not in the site by its text."""
    path = target_of(page, found[2].split("#")[0]) if not found[2].startswith("#") else None
    return found[1] if path and (ROOT / path).is_dir() and place_of(path) is None else found[0]


def spaced(markdown):
    lines = markdown.split("\n")
    out = []
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else ""
        begins = LIST.match(line) and before.strip() and not LIST.match(before) and not before.startswith(" ")
        if begins:
            out.append("")
        out.append(line)
    return "\n".join(out)
