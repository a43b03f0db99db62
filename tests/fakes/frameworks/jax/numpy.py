"""See the package."""

import time

import launches


class Array:
    __module__ = "jaxlib.xla_extension"
    dtype, shape, nbytes = "float32", (1,), 4

    def __matmul__(self, other):
        launches.launch()
        return Array()

    def __mul__(self, other):
        return self

    def block_until_ready(self):
        time.sleep(1e-3)
        return self


def ones(_shape):
    return Array()


zeros = ones


def tanh(array):
    return array
