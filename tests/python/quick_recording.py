"""Fixtures of the recording that `quick_script` makes: import `script` and `once` to use them."""

import pytest
from recordings_of_cupti import kernels_in, lines, quick_script


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    return quick_script(tmp_path_factory.mktemp("scripts"))


@pytest.fixture(scope="module")
def once():
    """Return how many kernels one turn of `script` has."""
    return len(kernels_in(lines()))
