"""The documentation as a site (tools/build_docs.sh builds it into build/site): it is whole, needs no other host, and its search works from files."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from waiting import reaches

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "path", "source", "wbr"}


class Page(HTMLParser):
    """Addresses that a page loads or leads to, its ids, and the text of its article outside code."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.links, self.ids, self.text, self.inside = [], [], set(), "", []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        if tag == "a":
            self.links.append(found.get("href", ""))
        elif "src" in found or tag == "link":
            self.loads.append(found.get("src") or found["href"])
        if tag not in VOID:
            self.inside.append(tag)

    def handle_endtag(self, tag):
        while tag in self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "article" in self.inside and not {"code", "pre", "script", "style"} & set(self.inside):
            self.text += data


@pytest.fixture(scope="module")
def pages():
    if not (SITE / ".built").exists():
        pytest.skip("there is no build/site; tools/build_docs.sh builds it")
    return {path: Page(path) for path in SITE.rglob("*.html") if path.name != "404.html"}


def test_every_page_of_the_documentation_is_there(pages):
    for path in (ROOT / "docs").rglob("*.md"):
        place = path.relative_to(ROOT / "docs").with_suffix(".html")
        place = place.with_name("index.html") if path.name == "README.md" else place
        assert SITE / place in pages
    for place in ("guides/tour", "reference/glossary", "how-it-works/architecture", "how-it-works/security", "source/capi/gpuprof.h"):
        assert SITE / f"{place}.html" in pages


def test_every_link_leads_to_a_file_and_a_heading_of_the_site(pages):
    wrong = []
    for path, page in pages.items():
        for link in page.links + page.loads:
            if re.match(r"[a-z]+:", link):
                continue
            file, _, fragment = link.partition("#")
            there = (path.parent / file.split("?")[0]).resolve() if file else path
            if not there.is_file() or (fragment and there in pages and fragment not in pages[there].ids | {"__tabbed"}):
                wrong.append(f"{path.relative_to(SITE)}: {link}")
    assert not wrong


def test_nothing_is_loaded_from_another_host(pages):
    assert [load for page in pages.values() for load in page.loads if re.match(r"(?:https?:)?//", load)] == []


def test_no_markdown_is_left(pages):
    """Python-Markdown takes less for a list or a table than GitHub does."""
    left = re.compile(r"^\s*\|.*\||\]\(|^ *[*-] \S|^```|\*\*", re.MULTILINE)
    found = {str(path.relative_to(SITE)): match[0] for path, page in pages.items() if (match := left.search(page.text))}
    assert found == {}


def test_the_index_of_the_search_knows_the_pages(pages):
    index = json.loads((SITE / "search" / "search_index.json").read_text())
    places = {entry["location"].split("#")[0] for entry in index["docs"]}
    assert {"index.html", "start/concepts.html", "reference/commands/report.html", "how-it-works/verdicts.html"} <= places
    assert not any(place.startswith("source/") for place in places)


def test_the_search_works_from_files(pages, new_page):
    page, wrong = new_page(offline=True), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: request.url.startswith(("file:", "data:", "about:")) or wrong.append(request.url))
    page.goto((SITE / "guides" / "recording.html").as_uri())
    page.click("input.md-search__input")
    page.keyboard.type("pageable memory")
    page.wait_for_selector(".md-search-result__item a")
    reaches(page.locator(".md-search-result__item").count, lambda count: count > 1)
    page.locator(".md-search-result__item a").first.click()
    reaches(lambda: page.url, lambda url: not url.split("?")[0].endswith("guides/recording.html"))
    page.wait_for_selector("article h1")
    assert wrong == []
