"""Recordings in notebooks: the page in a frame, and pictures as SVG, in a notebook that a kernel executes."""

import html
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import gpu_profile
import pytest
from patience import HANGS_S
from view_document import Document

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "input_bound.json.gz"
SHAPES = ROOT / "tests" / "fixtures" / "kineto" / "transformer-stacks-shapes-memory.json.zst"
COUNTERS = ROOT / "tests" / "fixtures" / "ncu" / "kernels.raw.csv.gz"
SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    return [each.text for each in ElementTree.fromstring(picture.svg).iter(f"{SVG}text")]


def test_a_page_is_a_frame_with_the_exported_file(tmp_path):
    page = gpu_profile.open(EXAMPLE).view(height=500)
    shown = page._repr_html_()
    (source,) = re.findall(r'srcdoc="([^"]*)"', shown)
    assert html.unescape(source) == page.html and 'sandbox="allow-scripts' in shown and "allow-same-origin" not in shown and "500px" in shown
    assert Document.of_html(page.html).manifest["source"]["file"] == EXAMPLE.name
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page.html


def test_a_page_can_compare():
    page = gpu_profile.open(SHAPES).view(base=EXAMPLE)
    assert 'id="base-manifest"' in page.html


def test_the_timeline_has_all_work_at_its_time():
    trace = gpu_profile.open(EXAMPLE)
    picture = trace.timeline()
    boxes = [each for each in ElementTree.fromstring(picture.svg).iter(f"{SVG}rect") if each.get("fill-opacity")]
    scale = 960 / trace.window_ns
    kernels = trace.sql("SELECT start_ns, end_ns FROM kernel").to_dict()
    covered = {x for box in boxes if box.get("fill") == "#3574d4" for x in range(int(box.get("x")) - 150, int(box.get("x")) - 150 + int(box.get("width")))}
    wanted = {x for start, end in zip(kernels["start_ns"], kernels["end_ns"], strict=True) for x in range(int(start * scale), int(end * scale) + 1)}
    assert covered == wanted
    assert {"GPU 0, stream 7", "kernels", "copies", "fills", "ProfilerStep#0", "200 ms"} <= set(texts(picture))


@pytest.mark.parametrize(("recording", "kind", "sql"), [
    (SHAPES, "operators, modelled bytes", "SELECT count(*) FROM arithmetic WHERE flop_per_byte > 0 AND flop_per_s > 0"),
    (COUNTERS, "kernels, measured DRAM traffic", "SELECT count(*) FROM roofline WHERE level = 'DRAM' AND flop_per_byte > 0 AND flop_per_s > 0 AND peak_flop_per_s > 0 AND peak_bytes_per_s > 0"),
])
def test_the_roofline_has_a_point_of_each(recording, kind, sql):
    trace = gpu_profile.open(recording)
    picture = trace.roofline()
    (count,) = next(iter(trace.sql(sql).to_dict().values()))
    assert count > 0 and picture.svg.count("<circle") == count and picture.svg.count("<polyline") > 0
    assert f"arithmetic intensity in FLOP/byte; {kind}" in texts(picture)


def test_what_was_not_recorded_is_said():
    with pytest.raises(gpu_profile.Error, match="Operator shapes were not recorded"):
        gpu_profile.open(EXAMPLE).roofline()
    with pytest.raises(gpu_profile.Error, match="no device work was recorded"):
        gpu_profile.open(COUNTERS).timeline()


def test_a_kernel_shows_them(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    cells = [f"import gpu_profile\nt = gpu_profile.open({str(SHAPES)!r})", "t.view()", "t.timeline()", "t.roofline()"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=HANGS_S).execute()
    page, timeline, roofline = (cell.outputs[0]["data"] for cell in notebook.cells[1:])
    assert page["text/html"].startswith("<iframe") and page["text/plain"].startswith("<gpu_profile.Page")
    assert all(picture["image/svg+xml"].startswith("<svg") for picture in (timeline, roofline))
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    exported, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert "<iframe" in exported and len(re.findall(r"<svg|image/svg\+xml", exported)) >= 2
