"""What a notebook shows of a recording: the viewer's page in a frame, and pictures as SVG. A page or a picture is kept in the
notebook, so it is there after a restart and in exported notebooks (nbconvert), without the program."""

from __future__ import annotations

import os

__all__ = ["Page", "Picture", "page"]


class Page:
    """The viewer's page of a recording, in one HTML text. A notebook shows it in a frame."""

    def __init__(self, html: str, height: int) -> None:
        self.html = html
        self.height = height

    def _repr_html_(self) -> str:
        import html

        # The frame has an origin of its own: the page cannot reach the notebook. Its height is that of the frame.
        return (f'<iframe title="gpu-profile" sandbox="allow-scripts allow-downloads" style="width: 100%; height: {self.height}px; border: 1px solid #888" '
                f'srcdoc="{html.escape(self.html)}"></iframe>')

    def __repr__(self) -> str:
        return f"<gpu_profile.Page, {len(self.html) / 1e6:.1f} MB; save(path) writes it>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which opens in any browser."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)


class Picture:
    """A picture as SVG. A notebook shows it; `svg` is its text."""

    def __init__(self, svg: str, name: str) -> None:
        self.svg = svg
        self.name = name

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<gpu_profile.Picture {self.name}; save(path) writes it>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to an SVG file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


def page(paths: list[str], base: str | None, height: int) -> Page:
    """Return the page that `gpu-profile export html` writes. Raises Error with its exit code and message."""
    from .program import answer

    return Page(answer("export", "html", *paths, *(["--base", base] if base is not None else [])).decode(), height)
