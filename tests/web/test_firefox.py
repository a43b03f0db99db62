"""The page in Firefox: that what Chromium shows (the other tests) is there and nothing is refused. Firefox is found as
`firefox-esr` or `firefox`, or named by GPUPROF_FIREFOX.
"""

import os
import shutil
from pathlib import Path

import pytest
from marionette import Firefox

RECORDING = Path(__file__).resolve().parents[1] / "fixtures" / "kineto" / "transformer-stacks-shapes-memory.json.zst"
US = 1000

OPEN = "[...document.querySelectorAll('nav button')].find((button) => button.textContent === arguments[0]).click()"
# The number of colours of a canvas, from every fourth pixel.
COLOURS = """
const canvas = document.querySelector('.lanes canvas');
const words = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
return new Set(words.filter((_, i) => i % 4 === 0)).size;"""
# The position of a time within the 100 us of `drawn`, in a track's first row, and its colour.
PLACE = """
const [name, time] = arguments;
const row = [...document.querySelectorAll('li.name')].find((each) => each.querySelector('.text').textContent === name).getBoundingClientRect();
const canvas = document.querySelector('.lanes canvas');
const box = canvas.getBoundingClientRect();
const [x, y] = [box.x + time / 1e5 * box.width, row.y + 9];
const scale = canvas.width / box.width;
return [x, y, [...canvas.getContext('2d').getImageData((x - box.x) * scale, (y - box.y) * scale, 1, 1).data].slice(0, 3)];"""


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    named = os.environ.get("GPUPROF_FIREFOX")
    program = named or shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("Firefox is not installed")
    firefox = Firefox(program, tmp_path_factory.mktemp("profile"))
    yield firefox
    firefox.close()


@pytest.fixture
def firefox(started):
    """Errors of a page fail the test."""
    started.errors()
    yield started
    assert started.errors() == []


def visit(firefox, address):
    firefox.call("WebDriver:Navigate", url="about:blank")  # a fragment alone would not load the page again
    firefox.call("WebDriver:Navigate", url=address)
    firefox.wait("document.querySelector('header.bar')")


def timeline(firefox):
    firefox.run(OPEN, "Timeline")
    firefox.wait("document.querySelector('canvas[data-complete]')")


def test_the_timeline_is_drawn_and_can_be_clicked(firefox, sample_page):
    visit(firefox, sample_page("drawn").as_uri())
    timeline(firefox)
    white = [255, 255, 255]
    assert [firefox.run(PLACE, "busy", time * US)[2] != white for time in (10, 30, 45, 55, 75, 95)] == [False, True, False, True, False, True]
    x, y, _ = firefox.run(PLACE, "stream 7", 55 * US)
    firefox.click(x, y)
    firefox.wait("document.querySelector('section.details .full')?.textContent === 'relu'")
    firefox.type("/gemm")
    firefox.wait("document.querySelector('.search [role=status]').textContent === '2 events, 1 name'")


def test_hostile_names_are_text(firefox, sample_page):
    visit(firefox, sample_page("hostile").as_uri())
    timeline(firefox)
    assert firefox.run("return document.title") != "owned"


def test_every_page_of_a_recording(firefox, exported):
    visit(firefox, exported(RECORDING).as_uri())
    firefox.wait("document.querySelector('.verdict')")
    timeline(firefox)
    assert firefox.run(COLOURS) > 50
    firefox.run(OPEN, "Tables")
    firefox.wait("document.querySelectorAll('.grid [role=row]').length > 5")
    firefox.run(OPEN, "Charts")
    firefox.wait("document.querySelectorAll('.treemap button').length > 20")


def test_a_served_recording(firefox, address):
    visit(firefox, address)
    timeline(firefox)
    assert firefox.run(COLOURS) > 50
    assert address.split("#")[1] not in firefox.run("return location.href")
    firefox.wait("location.hash.includes('page=timeline')")
    firefox.call("WebDriver:Refresh")
    firefox.wait("document.querySelector('canvas[data-complete]')")
