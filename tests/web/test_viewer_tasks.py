"""What docs/guides/viewer-tasks.md says of this viewer is counted here: each task is done by mouse and by keyboard, the page must show the
answer, and the number of actions must be the one in the table. With `GPUPROF_TASK_PICTURES=FOLDER` the pages are also kept as pictures, in
three widths and both themes.
"""

import os
import re
from pathlib import Path

import pytest
from test_tidy import BROKEN, PHONE
from viewer_tasks import ROOT, TASKS, Hands

PICTURES = os.environ.get("GPUPROF_TASK_PICTURES")
SIZES = {1440: 900, 1920: 1080, 390: 1600}
THEMES = ("light", "dark")


def counted(number):
    """What the table says of a task: actions by mouse and by keyboard."""
    page = (ROOT / "docs/guides/viewer-tasks.md").read_text()
    cells = re.search(rf"^\| {number} \|.*", page, re.MULTILINE)[0].split("|")
    return [int(re.match(r"\D*(\d+)", cell)[1]) for cell in cells[3:5]]


@pytest.fixture
def opened(visit, exported, served, new_page):
    """Open the page of a task, as a file or from the program."""

    def open_page(task, **options):
        if not task.is_served:
            return visit(exported(task.recording, *task.options), **options)
        page = new_page(**options)
        page.goto(served(task.recording, *task.options))
        page.wait_for_selector("header.bar")
        return page

    return open_page


def done(task, page, program, way):
    """Do a task and check its answer; return the number of actions."""
    page.locator("main :is(h1, h2)").first.wait_for()
    hands = Hands(page, program)
    if task.before:
        task.before(hands)
    hands.actions = task.commands
    getattr(task, way)(hands)
    task.check(page, program)
    return hands.actions


WAYS = [(task, way) for task in TASKS for way in ("mouse", "keys")[: 1 + (task.keys is not task.mouse)]]  # what needs no hands is done once


@pytest.mark.parametrize(("task", "way"), WAYS, ids=lambda given: given if isinstance(given, str) else str(given.number))
def test_a_task_takes_as_many_actions_as_the_table_says(opened, program, task, way):
    said = counted(task.number)
    assert done(task, opened(task), program, way) == said[way == "keys"]
    assert task.keys is not task.mouse or said[0] == said[1]


# What is right of the window, unless it can be scrolled to or ends with an ellipsis; and parts of the page that scroll sideways.
CUT = """() => [...document.querySelectorAll("main *, header *")].filter((each) => {
  if (!each.checkVisibility() || each.closest("svg, .lanes, .spoken") || each.getBoundingClientRect().right <= innerWidth + 1) return false;
  for (let up = each; up !== document.body; up = up.parentElement)
    if (up.getBoundingClientRect().right <= innerWidth + 1) {
      const { overflowX, textOverflow } = getComputedStyle(up);
      if (/auto|scroll/.test(overflowX) || textOverflow === "ellipsis" || up.matches(".name-text, .treemap, .flame")) return false;
    }
  return true;
}).map((each) => each.outerHTML.slice(0, 120))"""
SCROLLED = """() => [...document.querySelectorAll("main, aside, section, article")].filter((each) =>
  each.scrollWidth > each.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(each).overflowX)).map((each) => each.className)"""


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.number))
def test_on_a_phone_nothing_of_the_answer_is_cut(opened, program, task):
    page = opened(task, viewport=PHONE)
    done(task, page, program, "mouse")
    assert page.evaluate(CUT) == page.evaluate(SCROLLED) == page.evaluate(BROKEN) == []


if PICTURES:

    @pytest.mark.parametrize("theme", THEMES)
    @pytest.mark.parametrize("width", SIZES)
    @pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.number))
    def test_a_picture_is_kept(opened, program, task, width, theme):
        page = opened(task, viewport={"width": width, "height": SIZES[width]}, color_scheme=theme)
        done(task, page, program, "mouse")
        page.wait_for_timeout(700)
        page.screenshot(path=Path(PICTURES) / f"{task.number:02}-{width}-{theme}.png")
