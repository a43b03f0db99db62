"""axe-core finds nothing on any page, in both themes: each page of recordings of every kind, opened by its button; the
timeline also with a selected event and with a measured range."""

from pathlib import Path

import pytest
from waiting import reaches, settled, wait_for_details

expect = pytest.importorskip("playwright.sync_api").expect

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
PAIR = FIXTURES / "nsys/mfu_2gpu_after.sqlite.zst", "--base", FIXTURES / "nsys/mfu_2gpu_before.sqlite.zst"
ONE = ["Overview", "Timeline", "Steps", "Tables", "Charts", "SQL"]
NO_STEPS = [name for name in ONE if name != "Steps"]

RECORDINGS = {
    "steps": ((FIXTURES / "kineto/input_bound.json.gz",), ONE),
    "stacks and memory": ((FIXTURES / "kineto/transformer-stacks-shapes-memory.json.zst",), ONE),
    "two devices": ((FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst",), ONE),
    "samples of devices": ((FIXTURES / "nvidia-smi/h200-580.csv",), NO_STEPS),
    "memory account": ((FIXTURES / "memory/account",), ONE),
    "memory snapshot": ((FIXTURES / "memory/growth.snapshot.pickle.gz",), NO_STEPS),
    "counters": ((FIXTURES / "ncu/kernels.raw.csv.gz",), ["Overview", "Kernels", "Tables", "SQL"]),
    "source lines": ((FIXTURES / "instructions/samples.gpuprof",), ["Overview", "Kernels", "Tables", "SQL"]),
    "server": ((ROOT / "examples/serving/rank0.trace.json.gz",), [*ONE[:2], "Phases", *ONE[2:]]),
    "pair": (PAIR, ["Comparison", *ONE]),
}


def checked_pages(page, is_accessible):
    """Open each page by its button and check it; return their names."""
    buttons = page.get_by_role("navigation", name="Pages").get_by_role("button")
    names = buttons.all_inner_texts()
    for name in names:
        buttons.get_by_text(name, exact=True).click()
        expect(page.locator("header nav [aria-current=page]")).to_have_text(name)
        settled(page)
        expect(page.get_by_text("Reading", exact=False).locator("visible=true").filter(has_text="…")).to_have_count(0)
        is_accessible(page)
        assert page.evaluate("document.getAnimations().length") == 0  # nothing moves by itself, whatever the system asks for
    return names


@pytest.mark.parametrize("kind", RECORDINGS)
def test_every_page_is_accessible(visit, exported, is_accessible, kind):
    arguments, pages = RECORDINGS[kind]
    assert checked_pages(visit(exported(*arguments)), is_accessible) == pages


def test_pages_of_a_job_are_accessible(visit, exported, program, is_accessible, tmp_path):
    job = tmp_path / "job.gpuprof"
    assert program.run("ranks", ROOT / "examples/ranks", "--save", job).status == 0
    page = visit(exported(job))
    assert checked_pages(page, is_accessible) == ["Job", "Tables", "SQL"]


def test_the_timeline_of_a_phone_is_accessible(visit, exported, is_accessible):
    page = visit(exported(RECORDINGS["stacks and memory"][0][0]), "page=timeline", viewport={"width": 390, "height": 844})
    page.wait_for_selector("canvas[data-complete]")
    panel = page.locator("aside.panel")
    reaches(lambda: panel.evaluate("(panel) => panel.scrollHeight > panel.clientHeight"), True)
    is_accessible(page)


def test_the_timeline_in_use_is_accessible(visit, exported, is_accessible):
    page = visit(exported(RECORDINGS["stacks and memory"][0][0]), "page=timeline")
    canvas = page.locator(".lanes canvas")
    page.wait_for_selector("canvas[data-complete]")
    canvas.press("ArrowRight")  # from a cold start
    wait_for_details(page)
    is_accessible(page)
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 40)
    page.mouse.move(box["x"] + 500, box["y"] + 40)
    page.mouse.up()
    page.wait_for_selector("section.measure table[data-device]")
    settled(page)
    is_accessible(page)
