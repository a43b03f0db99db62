"""Part 1: energy of a recording, by class of work, and compared with what the samples themselves say."""

from checks.sampling import busy
from harness.check import Checks
from harness.recording import record

CHECKS = Checks("part1")


def table(answer, name):
    """The rows of one table of a report, as dictionaries."""
    found = next((each for each in answer.get("tables", ()) if each["name"] == name), {"columns": [], "rows": []})
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row)) for row in found["rows"]]


@CHECKS.add("energy of a recording: joules of the device between its lowest and highest power, with an uncertainty below 20 %, and of its work")
def energy_of_steps(case):
    capture = record(case, busy(case, 30), "--sample", "0.1")
    answer = capture.report("energy", "step_energy")
    rows, steps = table(answer, "energy"), table(answer, "step_energy")
    whole = [row for row in rows if row["class"] == "device"]
    if not case.expect(whole, f"no row of the device: {answer.get('tables')}"):
        return
    for row in whole:
        case.expect((row["energy_j"] is None) == bool(row["because"]), f"neither energy nor a reason: {row}")
    known = [row for row in steps if row["energy_j"] is not None]
    work = [f"{row['name']} {row['mean_w']:.0f} W +- {100 * row['uncertainty_j'] / row['energy_j']:.0f} %" if row["energy_j"] else f"{row['name']}: {row['because']}"
            for row in rows if row["class"] == "work"]
    case.measured(f"device {whole[0]['energy_j']} J +- {whole[0]['uncertainty_j']} J by {whole[0]['basis']} ({whole[0]['because']}); {len(known)} of {len(steps)} steps have an energy; {'; '.join(work)[:600]}",
                  energy_j=whole[0]["energy_j"], uncertainty_j=whole[0]["uncertainty_j"])
    if case.machine.small:
        return
    power = next((row for row in capture.rows("samples") if row["metric"] == "power"), None)
    if not case.expect(power and whole[0]["energy_j"] is not None, "no energy of a GPU that was kept busy for 30 s"):
        return
    case.expect(power["min"] * 0.9 <= whole[0]["mean_w"] <= power["max"] * 1.1, f"mean {whole[0]['mean_w']:.0f} W, samples {power['min']} to {power['max']} W")
    case.expect(whole[0]["uncertainty_j"] < 0.2 * whole[0]["energy_j"], f"uncertainty of 30 s: {whole[0]['uncertainty_j']:.0f} J of {whole[0]['energy_j']:.0f} J")
