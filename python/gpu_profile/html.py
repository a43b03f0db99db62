"""Small HTML tables for `_repr_html_` in notebooks. All text is escaped; there is no style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["table", "preformatted"]


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with one header row; None becomes an empty cell."""
    head = "".join(f"<th>{_escaped(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def preformatted(text: str) -> str:
    return f"<pre>{_escaped(text)}</pre>"


def _escaped(cell: object) -> str:
    import html

    if cell is None:
        return ""
    return html.escape(f"{cell:.4g}" if isinstance(cell, float) else str(cell))
