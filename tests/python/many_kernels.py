"""Files of Nsight Compute with many kernels: the recorded kernels, repeated under numbered names."""

import csv
import gzip
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1] / "fixtures" / "ncu" / "kernels.raw.csv.gz"


def write_many_kernels(path, copies, names=None):
    """Write the recorded launches `copies` times, each copy with other names, and return the path.

    `names` maps functions to their new names.
    """
    with gzip.open(KERNELS, "rt", newline="") as file:
        head, units, *launches = csv.reader(file)
    name = head.index("Kernel Name")
    with path.open("w", newline="") as file:
        out = csv.writer(file, quoting=csv.QUOTE_ALL)
        out.writerows([head, units])
        for i in range(copies * len(launches)):
            copy, launch = divmod(i, len(launches))
            row = list(launches[launch])
            row[0] = str(i)
            function = row[name].split("(")[0]
            row[name] = (names or {}).get(function) or row[name].replace("(", f"_{copy}(", 1)
            out.writerow(row)
    return path
