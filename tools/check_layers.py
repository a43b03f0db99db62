#!/usr/bin/env python3
"""Checks every project include against LAYERS.

Project includes are written from the repository root (#include "core/model/trace.h"), so the folder is the layer. The
check fails for a dependency that LAYERS does not list, a source folder without a rule, a project include that does not
exist or is not written from the root, a cycle in LAYERS, and an include cycle above the commands, where a source file and its
header count as one. These rooms print nothing, so they may not include <iostream>. Dependencies between the program's languages
are not checked. The modules of the Python package need nothing but Python: others are those that a module is for, and it is imported
only where they are installed. ARCHITECTURE.md must have a line for each layer, or for a folder that contains it.
"""

import ast
import re
import sys
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (".h", ".cc", ".cu", ".def")
SILENT = ("core/", "io/", "analyze/", "ranks/", "present/")  # rooms of pure functions: they print nothing
UNDRAWN = {"tests", "bench"}
OTHER_LANGUAGES = {"python", "web"}
PYTHON_MODULES = {"IPython", "matplotlib", "pandas", "polars", "pyarrow", "pytest", "torch", "transformers", "typing_extensions"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


def read_layers(text):
    layers = {}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line:
            layer, allowed = line.split(":")
            layers[layer.strip()] = [] if allowed.strip() == "-" else allowed.split()
    return layers


def layer_of(path, layers):
    """The longest rule that covers a path, or None."""
    covering = [layer for layer in layers if path.startswith(layer + "/")]
    return max(covering, key=len, default=None)


def problems_of_file(path, text, layers):
    own = layer_of(path, layers)
    if own is None:
        yield f"{path}: its folder has no rule in LAYERS"
        return
    for match in INCLUDE.finditer(text):
        quote, target = match.groups()
        where = f"{path}:{text.count(chr(10), 0, match.start(2)) + 1}"
        if quote == "<":
            if own.startswith(SILENT) and target == "iostream":
                yield f"{where}: {own} prints nothing, so it may not include <iostream>"
            continue
        layer = layer_of(target, layers)
        if layer is None or not (ROOT / target).is_file():
            yield f'{where}: "{target}" is not a file of this project; write the path from the repository root'
        elif layer != own and not any(fnmatch(layer, allowed) for allowed in layers[own]):
            yield f"{where}: {own} may not include {layer} ({target}); LAYERS allows {' '.join(layers[own]) or 'nothing'}"


def cycle(layers):
    graph = {own: {o for o in layers if o != own and any(fnmatch(o, a) for a in allowed)} for own, allowed in layers.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return ["LAYERS: dependency cycle: " + " -> ".join(error.args[1])]
    return []


def unit_of(path):
    return path.rsplit(".", 1)[0]


def include_cycle(files):
    """Find a cycle of units. A unit is a header with its source file, so a cycle can exist although every file compiles."""
    graph = {}
    for path in files:
        own = path.relative_to(ROOT).as_posix()
        if not own.startswith(SILENT) or path.suffix == ".def":
            continue
        wanted = {unit_of(target) for quote, target in INCLUDE.findall(path.read_text()) if quote == '"' and target.endswith(".h")}
        graph.setdefault(unit_of(own), set()).update(wanted - {unit_of(own)})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return ["include cycle: " + " -> ".join(error.args[1])]
    return []


def check(layers):
    problems = cycle(layers)
    tops = sorted({layer.split("/")[0] for layer in layers})
    files = [p for top in tops for p in sorted((ROOT / top).rglob("*")) if p.suffix in SOURCES]
    problems += include_cycle(files)
    for path in files:
        problems += problems_of_file(path.relative_to(ROOT).as_posix(), path.read_text(), layers)
    return len(files), problems


def foreign_imports(path, text):
    """Imports of a Python module that neither the standard library nor PYTHON_MODULES has."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        else:
            continue
        for module in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - PYTHON_MODULES:
            yield f"{path}:{node.lineno}: imports {module}, which is not part of Python"


def drawn(block):
    """The folders of a drawing with a line that says what they know: a room, or a folder of the room above it, which is indented."""
    room = ""
    for line in block.splitlines():
        name = line.split(maxsplit=1)[0] if line.strip() else ""
        if name and not line.startswith(" "):
            room = name
        if " knows " in line and not line.startswith("   "):
            yield name if name == room else f"{room}/{name}"


def not_described(layers, page):
    """Layers without a line in the page's first code block, and lines there for layers that do not exist."""
    described = set(drawn(page.split("```")[1]))
    for layer in sorted(set(layers) - UNDRAWN):
        if not any(within(layer, folder) for folder in described):
            yield f"ARCHITECTURE.md: no line for the layer {layer}"
    for folder in sorted(described - OTHER_LANGUAGES):
        if not any(within(layer, folder) for layer in layers):
            yield f"ARCHITECTURE.md: {folder} is not a layer of LAYERS"


def within(layer, folder):
    return layer == folder or layer.startswith(folder + "/")


def main():
    layers = read_layers((ROOT / "LAYERS").read_text())
    count, problems = check(layers)
    for path in sorted((ROOT / "python" / "gpu_profile").glob("*.py")):
        problems += foreign_imports(path.relative_to(ROOT).as_posix(), path.read_text())
    problems += not_described(layers, (ROOT / "ARCHITECTURE.md").read_text())
    print("\n".join(problems) if problems else f"{count} sources follow LAYERS")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
