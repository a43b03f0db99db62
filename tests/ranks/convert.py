#!/usr/bin/env python3
"""Packs the public Parquet files of ByteDance-Seed/StragglerAnalysis (folder `data` there) into tests/fixtures/ranks.

    python3 -m tests.ranks.convert DATA OUT      needs pyarrow, which nothing else here does

The values are unchanged. Rows are sorted, columns narrowed, and the bytes of float columns transposed, so that xz stores a job in less than half of its
Parquet. `public.load` reads the result with numpy alone.
"""

import io
import json
import lzma
import sys
from pathlib import Path

import numpy as np

COLUMNS = {"step": np.int32, "rank": np.int16, "dp_rank": np.int8, "stage": np.int8, "start_ts": np.float32, "duration": np.float32, "seq_id": np.int16}
FLOATS = ("start_ts", "duration")
KEPT_STEPS = {"AR": 8, "SE": 6}  # evenly chosen of 44 and 43, as `public.load` does; of ST all


def pack(columns, steps=None):
    if steps:
        numbers = np.unique(columns["step"])
        kept = np.isin(columns["step"], numbers[np.linspace(0, len(numbers) - 1, steps).round().astype(int)])
        columns = {name: values[kept] for name, values in columns.items()}
    names, codes = np.unique(columns["optype"].astype(str), return_inverse=True)
    order = np.lexsort((columns["start_ts"], codes, columns["rank"], columns["step"]))
    out = {"optypes": names, "optype": codes.astype(np.int8)[order]}
    for name, kind in COLUMNS.items():
        values = columns[name].astype(kind)
        assert (values == columns[name]).all(), f"{name} does not fit {kind}"
        out[name] = np.ascontiguousarray(values[order].view(np.uint8).reshape(-1, 4).T) if name in FLOATS else values[order]
    archive = io.BytesIO()
    np.savez(archive, **out)
    return lzma.compress(archive.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def main(data, out):
    import pyarrow.parquet

    for job in ("ST", "AR", "SE"):
        table = pyarrow.parquet.read_table(Path(data) / f"trace-{job}.parquet")
        columns = {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}
        (Path(out) / f"{job}.npz.xz").write_bytes(pack(columns, KEPT_STEPS.get(job)))
        result = json.loads((Path(data) / f"result-{job}.json").read_text())
        (Path(out) / f"{job}.result.json.xz").write_bytes(lzma.compress(json.dumps(result).encode(), preset=9))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
