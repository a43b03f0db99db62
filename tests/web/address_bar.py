"""The address of a page."""


def settled(page):
    """Return the address after the page has updated it. Waits by the page's clock, so that a busy machine delays
    both."""
    page.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 500)), 100))")
    return page.url
