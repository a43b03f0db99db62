"""Chromium on pages of the viewer. Pages come from documents drawn by hand (web/test/sample_documents.ts); the viewer is
built once per session. Without node, its packages or Chromium the tests skip with the reason.

Every page is opened from a file, without network; a request to anywhere, or an error in the page or on its console,
fails the test that opened it. `GPUPROF_SLOW_PAGES=6` slows the pages' CPU down by that factor, which finds reads
that do not wait for the page (waiting.py).
"""

import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from waiting import LIMIT, reaches

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for tests.ranks
WEB = ROOT / "web"
SERVED = ROOT / "tests" / "fixtures" / "kineto" / "transformer-stacks-shapes-memory.json.zst"
SLOWDOWN = float(os.environ.get("GPUPROF_SLOW_PAGES", "1"))
SIZE = {"width": 1280, "height": 720}


def find_chromium():
    """Return the path of Chromium. The headless shell comes first: it draws pages alike, without the windows that the browser keeps around
    each page, whose processes take a third of the tests' time."""
    named = os.environ.get("GPUPROF_CHROMIUM")
    found = [named] if named else [shutil.which(name) for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")]
    return next((path for path in found if path), None)


@pytest.fixture(scope="session")
def viewer_built():
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if not (WEB / "node_modules").is_dir():
        pytest.skip("the viewer's packages are not installed: npm ci in web/")
    subprocess.run(["node", "build.mjs"], cwd=WEB, check=True)


@pytest.fixture(scope="session")
def browser():
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("Chromium is not installed")
    api = pytest.importorskip("playwright.sync_api")
    api.expect.set_options(timeout=LIMIT * 1000)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def context_of(browser):
    """Return the browser context with the given options. Contexts of a worker are shared: for a new one Chromium starts processes, which
    takes longer than most tests."""
    contexts = {}

    def context_of(options):
        key = repr(sorted(options.items()))
        if key not in contexts:
            contexts[key] = browser.new_context(**options)
        return contexts[key]

    return context_of


@pytest.fixture
def new_page(context_of):
    """Open an empty page with options of its browser context; what it stores ends with the test."""
    pages = []

    def new_page(**options):
        context = context_of({"viewport": SIZE, **options})
        page = context.new_page()
        pages.append(page)
        if SLOWDOWN != 1:
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
        return page

    yield new_page
    for context in {page.context for page in pages}:
        for page in context.pages:
            if page.url.startswith(("file:", "http:")):
                page.evaluate("localStorage.clear()")
            page.close()


@pytest.fixture(scope="session")
def sample_page(viewer_built, tmp_path_factory):
    """Return the path of a page with a generated document, by the document's name."""
    folder = tmp_path_factory.mktemp("pages")

    def make(name):
        path = folder / f"{name}.html"
        if not path.exists():
            subprocess.run(["node", "test/make_page.mjs", name, path], cwd=WEB, check=True)
        return path

    return make


@pytest.fixture(scope="session")
def exported(program, tmp_path_factory):
    """Write the page of a recording, once."""
    folder = tmp_path_factory.mktemp("exported")

    def export(recording, *options):
        words = [str(word) for word in (recording, *options)]  # files of tests in folders of their own have the same names
        out = folder / f"{zlib.crc32(' '.join(words).encode()):08x}_{'_'.join(Path(word).name for word in words)}.html"
        if not out.exists():
            result = program.run("export", "html", recording, *options, "-o", out)
            if result.status == 2:
                pytest.skip("this program does not write pages")
            assert result.status == 0, result.errors
        return out

    return export


@pytest.fixture
def served(program):
    """Return the address that `view`, or another command, prints for its arguments; it serves until the end of the test."""
    running = []

    def serve(*arguments, command=("view",)):
        started = subprocess.Popen([program.path, *command, "--no-open", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        running.append(started)
        found = re.search(r"http://127\.0\.0\.1:\d+/#\S+", started.stdout.readline().decode())
        if found is None:
            pytest.skip("this program does not serve pages")
        return found[0]

    yield serve
    for started in running:
        started.terminate()
        started.wait(10)


@pytest.fixture
def address(served):
    return served(SERVED)


@pytest.fixture
def is_accessible(viewer_built):
    """Check a page with axe-core: no violation of its rules, in the other theme of the system none of those about colours."""
    script = WEB / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        pytest.skip("axe-core is not installed: npm ci in web/")

    def violations(page, **options):
        found = page.evaluate("(options) => axe.run(document, {resultTypes: ['violations'], ...options})", options)["violations"]
        return [(each["id"], each["nodes"][0]["html"]) for each in found]

    def check(page):
        if not page.evaluate("'axe' in window"):  # half a megabyte
            page.evaluate(script.read_text())
        assert violations(page) == []
        is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        page.emulate_media(color_scheme="light" if is_dark else "dark")
        reaches(lambda: violations(page, runOnly=["color-contrast", "link-in-text-block"]), [])
        page.emulate_media(color_scheme="dark" if is_dark else "light")

    return check


@pytest.fixture
def visit(new_page):
    """Open a file, at a fragment if given. Errors of the page fail the test, except `expected`."""
    wrong = []

    def visit(path, fragment="", expected="(?!)", **options):
        refused = re.compile(expected)
        page = new_page(offline=True, **options)
        page.on("console", lambda line: line.type == "error" and not refused.search(line.text) and wrong.append(line.text))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(("file:", "blob:", "data:")) or wrong.append(request.url))
        page.goto(f"{path.resolve().as_uri()}{fragment and '#'}{fragment}")
        page.wait_for_selector("header.bar")
        return page

    yield visit
    assert wrong == []


@pytest.fixture(scope="session")
def jobs(program, tmp_path_factory):
    """Return the folder of a generated job and the capture of its summaries, made once."""
    from tests.ranks import generate

    folder, made = tmp_path_factory.mktemp("jobs"), {}

    def job(name, *options, rename=None, ranks=()):
        key = (name, options, rename, tuple(ranks))
        if key not in made:
            files = folder / f"job{len(made)}"
            assert generate.main([name, str(files), "--seed", "1", "--level", "1", *options]) == 0
            for path in files.glob("rank*") if rename else ():
                path.rename(files / rename.format(path.name))
            capture = folder / f"{files.name}.gpuprof"
            subprocess.run([program.path, "ranks", files, *ranks, "--cache", folder / "cache", "--save", capture], check=True, capture_output=True, timeout=120)
            made[key] = files, capture
        return made[key]

    return job


@pytest.fixture
def page_of(visit, exported, jobs):
    def open_page(name, *options, fragment="", job=None, **browser):
        page = visit(exported(jobs(name, *options, **(job or {}))[1]), fragment, **browser)
        page.wait_for_selector(".heat canvas[data-complete]")
        return page

    return open_page
