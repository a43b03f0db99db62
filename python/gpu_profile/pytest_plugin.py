"""The pytest plugin: tests that fail if they became slower or need more memory than in earlier runs.

Does nothing without `--gpu-profile-history FILE`. The judge is `gpu-profile history`; a verdict that the noise does not allow is
said and is no failure. Loaded with every pytest where the package is installed, so it imports nothing at the start.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .regression import Regression

__all__ = ["gpu_regression"]

_PROPERTY = "gpu_profile"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gpu-profile", "performance regressions")
    group.addoption("--gpu-profile-history", metavar="FILE", help="judge tests that use the fixture gpu_regression by this history (created if necessary)")
    group.addoption("--gpu-profile-add", choices=("baseline", "always", "never"), default="baseline",
                    help="when a run that passed is added to the history: until it has five comparable runs (baseline, the default), always, or never")
    group.addoption("--gpu-profile-machine", metavar="NAME", help="machine name in the history, if the host name changes between runs")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu_regression(*conditions, label=None): conditions of the fixture gpu_regression, such as 'step_p50>5%', and the label in the history (default: the test's id)")
    history = config.getoption("--gpu-profile-history")
    if history is not None:  # workers of pytest-xdist start with these options
        config.option.gpu_profile_history = os.path.abspath(history)


@pytest.fixture
def gpu_regression(request: pytest.FixtureRequest, tmp_path: Any) -> Regression:
    """Judge this test by earlier runs: `for _ in gpu_regression.steps(30): ...`, `gpu_regression.record([...])`, or
    `gpu_regression.check(FILE)`. Skips without --gpu-profile-history."""
    config = request.config
    history = config.getoption("--gpu-profile-history")
    if history is None:
        pytest.skip("performance is judged only with --gpu-profile-history FILE")
    from .regression import Regression

    mark = request.node.get_closest_marker("gpu_regression")
    label = None if mark is None else mark.kwargs.get("label")
    return Regression(
        history=history,
        label=label or request.node.nodeid,
        conditions=() if mark is None else mark.args,
        machine=config.getoption("--gpu-profile-machine"),
        add=config.getoption("--gpu-profile-add"),
        folder=str(tmp_path),
        say=lambda text: request.node.user_properties.append((_PROPERTY, text)),
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was found, also in workers of pytest-xdist; failures have their own text."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports if getattr(report, "when", None) == "call"]
    lines = [f"{report.nodeid}: {text}" for report in reports for name, text in report.user_properties if name == _PROPERTY]
    if lines:
        terminalreporter.section("gpu-profile")
        for line in lines:
            terminalreporter.write_line(line)
