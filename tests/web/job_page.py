"""What tests read from the page of a job of many ranks."""

import json

SLOW = 5  # the rank with the slow GPU in the job `gpu`


def cell_box(page):
    """Return the box of the selected cell in the heat map, inside its border."""
    box = page.locator(".heat-cursor").bounding_box()
    return {"x": box["x"] + 2, "y": box["y"] + 2, "width": box["width"] - 4, "height": box["height"] - 4}


def colours_in(page, box):
    """Return the set of colours of the heat map inside a box of the page."""
    return {tuple(each) for each in page.evaluate("""(box) => {
      const canvas = document.querySelector('.heat canvas');
      const at = canvas.getBoundingClientRect();
      const data = canvas.getContext('2d').getImageData(box.x - at.x, box.y - at.y, box.width, box.height).data;
      return Array.from({length: data.length / 4}, (_, i) => [...data.slice(4 * i, 4 * i + 3)]);
    }""", box)}


def compute_of(program, capture):
    """Return compute in ns by rank and step, as the capture has it."""
    out = program.run("query", capture, "SELECT rank, step, compute_ns FROM rank_step", "--format", "json")
    assert out.status == 0, out.errors
    return {(rank, step): ns for rank, step, ns in json.loads(out.stdout)["tables"][0]["rows"]}


def readout(page):
    return page.locator("#heat-readout").inner_text()
