"""The page in JupyterLab: a person runs a cell, and uses the page in its output. Skips where JupyterLab is not installed."""

import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from conftest import ROOT

expect = pytest.importorskip("playwright.sync_api").expect

EXAMPLE = ROOT / "examples" / "input_bound.json.gz"
START = 120  # seconds
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(*cells):
    return {
        "cells": [{"cell_type": "code", "id": f"cell{i}", "execution_count": None, "metadata": {}, "outputs": [], "source": text} for i, text in enumerate(cells)],
        "metadata": {"kernelspec": KERNELSPEC},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@pytest.fixture
def lab(tmp_path):
    """Write a notebook, start JupyterLab in its folder, and return the address of the notebook."""
    if importlib.util.find_spec("jupyterlab") is None:
        pytest.skip("JupyterLab is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    cell = f"import gpu_profile\ntrace = gpu_profile.open({str(EXAMPLE)!r})\ntrace.view(height=600)"
    (tmp_path / "tour.ipynb").write_text(json.dumps(notebook(cell, "trace.timeline()")))
    folders = {name: str(tmp_path / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=secret", f"--ServerApp.root_dir={tmp_path}"]
    with open(tmp_path / "lab.log", "wb") as log:
        running = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, **folders}, stdout=log, stderr=log)
    try:
        until = time.monotonic() + START
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api").close()
                break
            except (urllib.error.URLError, ConnectionError):
                assert running.poll() is None and time.monotonic() < until, (tmp_path / "lab.log").read_text()
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/lab/tree/tour.ipynb?token=secret"
    finally:
        running.terminate()
        running.wait(30)


def test_a_cell_shows_the_page_and_the_page_works(new_page, lab):
    page = new_page()
    page.set_default_timeout(START * 1000)
    page.goto(lab)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.first.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    inside = page.frame_locator(".jp-OutputArea iframe[title=gpu-profile]")
    inside.locator(".verdict").wait_for()
    inside.get_by_role("button", name="Timeline", exact=True).click()
    inside.locator("canvas[data-complete]").wait_for()
    canvas = inside.locator(".lanes canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 40)
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 40)
    page.mouse.up()
    expect(inside.locator("section.measure")).to_contain_text("duration")
    expect(inside.locator(".range-drawer")).to_have_attribute("data-answered", re.compile(r"\d+-\d+"))
    cells.nth(1).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    cells.nth(1).locator(".jp-OutputArea svg, .jp-OutputArea img[src^='data:image/svg']").first.wait_for()
