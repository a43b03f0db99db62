"""The pictures of a job in use: the heat map zooms and moves, and the matrix of hosts says what the table of links says."""

import json
import re

import pytest
from job_page import SLOW, cell_box, colours_in, compute_of, readout
from waiting import reaches, settled

expect = pytest.importorskip("playwright.sync_api").expect


def shown_part(page):
    return page.get_by_role("group", name="Part of the heat map").get_by_role("status").inner_text()


def tip_at(page, x, y):
    """Return rank, step and value of the tip at a point of the page."""
    page.mouse.move(x, y)
    lines = page.locator(".heat .tooltip").locator("strong, span")
    texts = reaches(lines.all_inner_texts, lambda found: len(found) == 3)
    return int(re.match(r"rank (\d+)", texts[0])[1]), int(re.match(r"step (\d+)", texts[1])[1]), texts[2]


def middle_of(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def cells_at(page):
    """Return a function from a row and a column of the heat map that shows all 8 ranks and 20 steps to its middle."""
    box, left = cell_box(page), page.locator(".heat canvas").bounding_box()
    rank, step, _ = tip_at(page, *middle_of(box))
    x, y = middle_of(box)
    assert box["y"] - left["y"] == pytest.approx(rank * box["height"], abs=1)
    return lambda row, column: (x + (column + 10 - step) * box["width"], y + (row - rank) * box["height"])


def test_keys_zoom_and_move_the_heat_map(page_of):
    page = page_of("gpu", fragment=f"rank={SLOW}&jobstep=14&cells=compute")
    assert shown_part(page) == "8 ranks, 20 steps"
    canvas, wide, colours, said = page.locator(".heat canvas"), cell_box(page), colours_in(page, cell_box(page)), readout(page)
    canvas.press("+")
    reaches(lambda: shown_part(page), "4 of 8 ranks; steps 12 to 21")
    assert readout(page) == said
    assert cell_box(page)["width"] > wide["width"]
    assert colours_in(page, cell_box(page)) == colours  # the scale is that of all cells
    assert "heat=3-7,2-12" in settled(page)
    canvas.press("Shift+ArrowRight")
    canvas.press("Shift+ArrowDown")
    reaches(lambda: shown_part(page), "4 of 8 ranks; steps 15 to 24")
    canvas.press("d")
    reaches(lambda: readout(page), f"{said} (outside the part shown)")
    expect(page.locator(".heat-cursor")).to_have_count(0)
    canvas.press("ArrowUp")  # a selected cell is shown
    reaches(lambda: readout(page), lambda text: text.startswith(f"rank {SLOW - 1}") and "outside" not in text)
    for _ in range(3):
        canvas.press("ArrowDown")
    reaches(lambda: readout(page), lambda text: text.startswith("rank 7") and "outside" not in text)
    assert "heat=4-8," in settled(page)
    canvas.press("0")
    reaches(lambda: shown_part(page), "8 ranks, 20 steps")
    assert "heat=" not in settled(page)


def test_the_pointer_zooms_and_moves_the_heat_map(page_of):
    page = page_of("gpu", fragment=f"rank={SLOW}&jobstep=14")
    at = cells_at(page)
    page.mouse.move(*at(1, 3))
    page.mouse.down()
    page.mouse.move(*at(4, 6))
    page.mouse.move(*at(6, 12))
    expect(page.locator(".heat-box")).to_be_visible()
    page.mouse.up()
    reaches(lambda: shown_part(page), "6 of 8 ranks; steps 13 to 22")
    expect(page.locator(".heat-box")).to_have_count(0)
    assert readout(page).startswith(f"rank {SLOW} ") or readout(page).startswith(f"rank {SLOW},")  # no click
    x, y = middle_of(cell_box(page))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 20, y)
    page.mouse.move(x - 2 * cell_box(page)["width"], y)
    page.mouse.up()
    reaches(lambda: shown_part(page), lambda text: "steps 13 to" not in text)
    here = tip_at(page, x, y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -120)
    page.keyboard.up("Control")
    reaches(lambda: shown_part(page), lambda text: not text.startswith("6 of"))
    page.mouse.move(x + 1, y)
    assert tip_at(page, x, y)[:2] == here[:2]
    part = shown_part(page)
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Shift")
    reaches(lambda: shown_part(page), lambda text: text != part and text.startswith(part.split(";")[0]))


def test_a_zoomed_heat_map_is_part_of_the_history(page_of):
    page = page_of("gpu", fragment=f"rank={SLOW}&jobstep=14")
    tools = page.get_by_role("group", name="Part of the heat map")
    expect(tools.get_by_role("button", name="Zoom out")).to_be_disabled()
    tools.get_by_role("button", name="Zoom in").click()
    reaches(lambda: shown_part(page), "4 of 8 ranks; steps 12 to 21")
    tools.get_by_role("button", name="Zoom in").click()
    reaches(lambda: shown_part(page), "4 of 8 ranks; steps 13 to 17")
    address, part = settled(page), shown_part(page)
    page.go_back()
    reaches(lambda: shown_part(page), "4 of 8 ranks; steps 12 to 21")
    page.go_back()
    reaches(lambda: shown_part(page), "8 ranks, 20 steps")
    page.go_forward()
    page.go_forward()
    reaches(lambda: shown_part(page), part)
    page.reload()
    page.wait_for_selector(".heat canvas[data-complete]")
    assert (settled(page), shown_part(page)) == (address, part)
    tools.get_by_role("button", name="Show all").click()
    reaches(lambda: shown_part(page), "8 ranks, 20 steps")


def test_cells_of_a_zoomed_heat_map_are_those_of_their_ranks(page_of, jobs, program):
    page = page_of("gpu", fragment=f"rank={SLOW}&jobstep=14&cells=compute&rows=price&heat=0-4,3-7")
    values = compute_of(program, jobs("gpu")[1])
    reaches(lambda: shown_part(page), "4 of 8 ranks, places 1 to 4 in this order; steps 13 to 16")
    box = page.locator(".heat canvas").bounding_box()
    x, y = middle_of(cell_box(page))
    width, height = cell_box(page)["width"], cell_box(page)["height"]
    seen = set()
    for row in range(4):
        for column in range(4):
            left = x - round((x - box["x"] - 92) // width) * width + column * width
            rank, step, text = tip_at(page, left, box["y"] + (row + 0.5) * height)
            assert float(re.search(r"([\d.]+) ms", text)[1]) == pytest.approx(values[rank, step] / 1e6, rel=0.005)
            seen.add((rank, step))
    assert len(seen) == 16 and {step for _, step in seen} == {13, 14, 15, 16} and SLOW in {rank for rank, _ in seen}
    page.locator(".heat select").nth(1).select_option("rank")  # other neighbours: all ranks, the same steps
    reaches(lambda: shown_part(page), "8 of 8 ranks; steps 13 to 16")


def test_transfers_between_hosts_are_those_of_the_table(page_of, jobs, program):
    page = page_of("link")
    out = program.run("ranks", jobs("link")[1], "links", "--format", "json")
    links = next(table for table in json.loads(out.stdout)["tables"] if table["name"] == "links")
    columns = [column["name"] for column in links["columns"]]
    worst = dict(zip(columns, links["rows"][0], strict=True))
    section = page.get_by_role("region", name="Transfers between hosts")
    said = section.get_by_role("status")
    expect(said).to_contain_text(f"{worst['ratio']:.2f} × the time of equal transfers")
    expect(said).to_contain_text(f"of ranks {worst['ranks']}")
    first = said.inner_text()
    canvas = section.locator("canvas")
    canvas.press("ArrowRight")
    reaches(said.inner_text, lambda text: text != first)
    canvas.press("Home")
    for _ in range(2):
        canvas.press("PageUp")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 92 + 4, box["y"] + 4)
    expect(section.locator(".tooltip")).to_contain_text("within ")
    canvas.press("ArrowRight")
    expect(said).to_contain_text("host of ranks 0-1 and host of ranks 2-3, ")
    section.get_by_role("button", name="Show the group in the table").click()
    expect(page.locator("header nav [aria-current=page]")).to_have_text("Tables")
    expect(page.locator("section.table h1, section.table h2").first).to_contain_text("links")
    page.go_back()
    expect(section).to_be_visible()


def test_links_are_shown_only_when_in_question(page_of):
    page = page_of("gpu")
    expect(page.get_by_role("region", name="Transfers between hosts")).to_have_count(0)
