"""Results of compare.py as tables in Markdown. A figure is the range over the repeats."""

NAMES = {"html": "gpu-profile, one file", "view": "gpu-profile view", "chrome": "speedscope, Chrome trace JSON", "speedscope": "speedscope, its own format"}

# Heading, unit, divisor, place in a result.
VIEWERS = [
    ("file", "MB", 1e6, ("file_bytes",)),
    ("export", "s", 1, ("export_s",)),
    ("first paint with data", "s", 1000, ("first_paint_ms",)),
    ("frame p50", "ms", 1, ("frame_ms", "p50")),
    ("frame p95", "ms", 1, ("frame_ms", "p95")),
    ("frame interval p95", "ms", 1, ("interval_ms", "p95")),
    ("tab with timeline", "MiB", 1, ("tab_mib", "timeline")),
    ("tab after use", "MiB", 1, ("tab_mib", "explored")),
]
ANSWERS = [
    ("first range", "ms", 1, ("range_answer_ms", "first")),
    ("other ranges, p50", "ms", 1, ("range_answer_ms", "next", "p50")),
    ("other ranges, max", "ms", 1, ("range_answer_ms", "next", "max")),
]
SERVED = [
    ("program start to printed address", "s", 1, ("address_s",)),
    ("program start to timeline on the page", "s", 1, ("usable_s",)),
    ("program start to recording prepared", "s", 1, ("prepared_s",)),
    ("CPU time of this", "s", 1, ("prepared_cpu_s",)),
    ("program start to first answer", "s", 1, ("answer_s",)),
    ("peak memory of the program until then", "MiB", 1, ("program_mib", "most_until_prepared")),
    ("memory of the program at the end", "MiB", 1, ("program_mib", "at_end")),
    ("opening the prepared page to first answer", "s", 1000, ("overview_ms",)),
    ("opening the prepared page to timeline with data", "s", 1000, ("first_paint_ms",)),
    ("blob request, p50", "ms", 1, ("request_ms", "p50")),
    ("blob request, p95", "ms", 1, ("request_ms", "p95")),
    ("blob request, max", "ms", 1, ("request_ms", "max")),
    ("reply, p50", "MB", 1e6, ("reply_bytes", "p50")),
    ("reply, max", "MB", 1e6, ("reply_bytes", "max")),
    ("tab with timeline", "MiB", 1, ("tab_mib", "timeline")),
    ("tab after ranges and frames", "MiB", 1, ("tab_mib", "explored")),
    ("tab after a search", "MiB", 1, ("tab_mib", "search")),
    ("tab after Tables, Charts and SQL", "MiB", 1, ("tab_mib", "pages")),
]


def figure(results, unit, divisor, place):
    values = [value / divisor for value in (at(result, place) for result in results) if value is not None]
    if not values:
        return ""
    low, high = written(min(values)), written(max(values))
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def at(result, place):
    for key in place:
        result = result.get(key) if isinstance(result, dict) else None
    return result


def written(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def row(cells):
    return f"| {' | '.join(cells)} |"


def print_tables(results):
    cases = list(dict.fromkeys((result["events"], result["viewer"]) for result in results))
    of = {case: [result for result in results if (result["events"], result["viewer"]) == case] for case in cases}
    print_viewers(of)
    print_rows([case for case in cases if case[1] in ("html", "view")], of, ANSWERS)
    for case in cases:
        if case[1] == "view":
            print_columns(case, of[case])
    loads = [result["load"] for result in results]
    print(f"Load of the machine: {min(loads)} to {max(loads)}.")


def print_viewers(of):
    print_rows([case for case, each in of.items() if "fails" not in each[0]], of, VIEWERS)
    for (events, viewer), each in of.items():
        if "fails" in each[0]:
            size = figure(each, "MB", 1e6, ("file_bytes",))
            print(f"{events:,} events, {NAMES[viewer]}: fails with {size}: {each[0]['fails']}\n")


def print_rows(cases, of, figures):
    print(row(["events", "viewer", *(heading for heading, *_ in figures)]))
    print("|---" * (len(figures) + 2) + "|")
    for events, viewer in cases:
        print(row([f"{events:,}", NAMES[viewer], *(figure(of[events, viewer], *rest) for _, *rest in figures)]))
    print()


def print_columns(case, results):
    print(row([f"{case[0]:,} events", ""]))
    print("|---|---|")
    for heading, *rest in SERVED:
        print(row([heading, figure(results, *rest)]))
    print()
