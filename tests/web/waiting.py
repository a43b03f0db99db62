"""Reads of a page that may still be changing. After a click, a key or a change of the address the page answers when it
has read what it needs; a read that does not wait (`all_inner_texts`, `count`, `all`, `evaluate`, ...) may come before
that. Such reads go through `reaches`, or through playwright's `expect`, which waits as long."""

import re
import time

LIMIT = 30  # seconds; also of `expect` (conftest.py)
PAUSE = 0.05  # seconds between two reads


def reaches(read, wanted):
    """Read until the value is `wanted`, or until `wanted(value)` is true, and return it; fail with the last value.

    A read that fails because something is not there yet counts as one that is not `wanted`.
    """
    until = time.monotonic() + LIMIT
    fits = wanted if callable(wanted) else lambda value: value == wanted
    while True:
        is_last = time.monotonic() > until
        try:
            value = read()
            if fits(value):
                return value
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            if is_last:
                raise
        else:
            assert not is_last, f"after {LIMIT} s the page still shows {value!r}" + ("" if callable(wanted) else f" instead of {wanted!r}")
        time.sleep(PAUSE)


def settled(page):
    """Return the address after the page has updated it. Waits by the page's clock, so that a busy machine delays
    both."""
    page.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 500)), 100))")
    return page.url


def window(page):
    """Return begin and end of the timeline's window from the settled address, in ns."""
    found = re.search(r"[#&]t=(-?\d+)-(-?\d+)", settled(page))
    return int(found[1]), int(found[2])


def wait_for_details(page):
    """Wait for all fields of the selected event; before them the panel shows its times alone."""
    page.wait_for_selector("section.details td[title]", state="attached")
