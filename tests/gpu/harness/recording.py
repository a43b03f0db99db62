"""gpu-profile as used by checks: record a command, read the capture. Answers are those of `report --format json`."""

import json


TABLES = ("kernels", "memcpy", "memset", "api", "memory", "samples", "stacks", "losses")  # what checks look at


class Capture:
    """A capture, asked once for all tables that checks look at."""

    def __init__(self, case, path, done):
        self.case, self.path, self.done = case, path, done  # done: of the recorded command
        self._answer = None

    def report(self, *analyses):
        """The answer of `report`; {} and a failure of the check when there is none."""
        done = self.case.run([self.case.machine.program, "report", self.path, *analyses, "--whole", "--format", "json", "--limit", "0"])
        self.case.expect(done.ok, f"report {self.path.name}: {done.why()}")
        return json.loads(done.out) if done.ok else {}

    @property
    def answer(self):
        if self._answer is None:
            self._answer = self.report(*TABLES) if self.path.exists() else {}
        return self._answer

    def rows(self, name):
        """The rows of a table as dictionaries."""
        for table in self.answer.get("tables", ()):
            if table["name"] == name:
                names = [column["name"] for column in table["columns"]]
                return [dict(zip(names, row)) for row in table["rows"]]
        return []

    def trust(self):
        """What the first line says of the recording."""
        return "; ".join(each.get("text", str(each)) if isinstance(each, dict) else str(each) for each in self.answer.get("trust", ()))

    def totals(self):
        """{kind: (count, ns)} of device work."""
        kinds = {"kernel": "kernels", "memcpy": "memcpy", "memset": "memset"}
        rows = {kind: self.rows(table) for kind, table in kinds.items()}
        return {kind: (sum(row["count"] for row in found), sum(row["total_ns"] for row in found)) for kind, found in rows.items()}

    def kernels(self, containing=""):
        return sum(row["count"] for row in self.rows("kernels") if containing in row["name"])

    def lost(self):
        """{kind: count} of the losses of data."""
        found = {}
        for row in self.rows("losses"):
            if row["severity"] == "data":
                found[row["kind"]] = found.get(row["kind"], 0) + row["count"]
        return found


def record(case, command, *options, name="run", keep=True, env=None, limit_s=None):
    """Records a command; a capture that was not made is a failure of the check, with what was said."""
    path = case.folder / f"{name}.gpuprof"
    sampling = () if "--sample" in options else ("--sample", "0")
    done = case.run([case.machine.program, "record", "--quiet", "--force", "-o", path, *sampling, *options, "--", *command], limit_s, _with_cupti(case, command, env))
    case.expect(done.ok, f"{name}: {done.why()}")
    case.expect(path.exists(), f"{name}: no capture was written")
    if path.exists() and keep:
        case.evidence(path)
    return Capture(case, path, done)


def _with_cupti(case, command, env):
    """A CUDA program has no Python packages: it is told where libcupti is."""
    variables = dict(env or {})
    if str(command[0]).startswith(str(case.machine.programs)) and case.machine.cupti():
        variables.setdefault("GPUPROF_CUPTI", case.machine.cupti())
    return variables


def last_json(done):
    """The last line of a program's output that is JSON, as an object; else {}."""
    for line in reversed(done.out.splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except ValueError:
                pass
    return {}


def storm(case, *arguments):
    """The CUDA program, with what it is to do."""
    return [case.machine.programs / "storm", *arguments]


def workload(case, name, *arguments):
    """A program of workloads/, run by the Python that has the frameworks."""
    return [case.machine.python, case.machine.workloads / name, *arguments]
