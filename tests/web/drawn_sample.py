"""The document of a dozen events drawn in web/test/sample_documents.ts, on the timeline page: 100 us, one thread, one device."""

US = 1000


def timeline(visit, sample_page, fragment="", **options):
    page = visit(sample_page("drawn"), f"page=timeline{fragment and '&'}{fragment}", **options)
    page.wait_for_selector("canvas[data-complete]")
    return page
