"""A jitted matrix product in JAX, 200 times: multiply_jax.py [--profile FOLDER]; prints how many times.

With --profile, JAX's own profiler records the last hundred.
"""

import contextlib
import json
import sys

import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.PRNGKey(0), (1024, 1024))
product = jax.jit(lambda a: jnp.tanh(a @ a) * 0.01)
for _ in range(100):
    x = product(x)
x.block_until_ready()
profiled = sys.argv[1:2] == ["--profile"]
with jax.profiler.trace(sys.argv[2]) if profiled else contextlib.nullcontext():
    for _ in range(100):
        x = product(x)
    x.block_until_ready()
print(json.dumps({"launches": 200}))
