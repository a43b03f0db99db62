"""Where tracks are on the screen, and what their tooltips say."""

from waiting import reaches


def place(page, track, share):
    """Return the point on the canvas at a share of its width, in a track's first row."""
    row = page.locator("li.name", has=page.get_by_text(track, exact=True)).first.bounding_box()
    canvas = page.locator(".lanes canvas").bounding_box()
    return canvas["x"] + share * canvas["width"], row["y"] + 9


def tip_at(page, track, share):
    """Return the lines of the tooltip at a point of a track."""
    page.mouse.move(*place(page, track, share))
    return reaches(lambda: page.locator(".tooltip").locator("strong, span").all_inner_texts(), lambda lines: len(lines) > 1)
