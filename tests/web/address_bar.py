"""What the address of a page says."""


def settled(page):
    """The address when the page has written into it what it shows. Waits by the page's own clock, so that a busy machine delays both."""
    page.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 500)), 100))")
    return page.url
