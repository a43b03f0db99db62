"""An investigation as lines for a terminal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from .investigation import TIME, Investigation, measured
from .recordings import WANTED_PCT

__all__ = ["again_lines", "chance_text", "evaluation_text", "memory_text", "name_of", "next_lines", "noise_text", "prediction_text", "status_lines", "trial_lines"]


def noise_text(baseline: dict[str, Any]) -> str:
    count, noise = len(baseline["recordings"]), baseline["noise_pct"]
    if noise is None:
        return f"noise between runs: unknown with {count} recording{'' if count == 1 else 's'}"
    above = "" if noise <= WANTED_PCT else f"; smaller changes than this cannot be shown, so use more steps or --repeat {2 * count}"
    return f"noise between runs: the mean of {count} recordings is known to ±{noise:.1f} %{above}"


def prediction_text(found: dict[str, Any]) -> str:
    if found["gain_pct"] is None:
        return f"{found['change']}: no gain predicted"
    interval = "" if found["gain_low_pct"] is None else f" ({found['gain_low_pct']:.1f} to {found['gain_high_pct']:.1f} %)"
    return f"{found['change']}: predicted gain {found['gain_pct']:.1f} % of a recorded step{interval}, {found['confidence']}; assumes {found['assumes']}"


def name_of(state: int) -> str:
    return "the baseline" if state == 0 else f"trial {state}"


def trial_lines(found: Investigation, number: int) -> list[str]:
    trial = found.states[number]
    compared = measured(trial)
    lines = [f"trial {number}: {trial['decision']}: {trial['note']}", f"  {trial['because']}"]
    lines.append(f"  compared with {name_of(trial['base'])}: {compared['lead'][0]}")
    if trial["prediction"] is not None:
        lines.append(f"  {prediction_text(trial['prediction'])}")
        if trial["held"] is not None and compared["change_pct"] is not None:
            lines.append(f"  measured gain {-compared['change_pct']:.1f} %: {trial['held']}")
    memory = memory_text(compared)
    if memory is not None:
        lines.append(f"  {memory}")
    if trial["evaluation"] is not None:
        lines.append(f"  evaluation: {evaluation_text(trial['evaluation'])}")
    return lines + [f"  ! {text}" for text in [*compared["warnings"], *_doubts(found, trial)]]


def memory_text(compared: dict[str, Any]) -> str | None:
    """The peak of device memory before and after, if both were recorded and differ."""
    before, after = compared.get("base_peak_bytes"), compared["peak_bytes"]
    if not before or after is None or before == after:
        return None
    return f"peak device memory {before / 1e6:.1f} MB -> {after / 1e6:.1f} MB ({100 * (after / before - 1):+.1f} %)"


def evaluation_text(evaluation: dict[str, Any]) -> str:
    return evaluation["problem"] or "equal results, constraints hold"


def _doubts(found: Investigation, trial: dict[str, Any]) -> list[str]:
    base = found.states[trial["base"]]
    doubts = [f"{trial['code']['note']}"] if trial["code"] is not None and trial["code"]["note"] else []
    if trial["same_code"]:
        doubts.append(f"git shows no difference from the code of {name_of(trial['base'])}: the change must be in untracked files, data or the environment")
    hours = _hours_between(base["again"][-1] if base["again"] else base, trial)
    if hours is not None and hours >= 1 and not trial["again"]:
        doubts.append(f"recorded {hours:.0f} h after {name_of(trial['base'])}: what changed on the machine in that time looks like an effect of the trial")
    return doubts


def _hours_between(one: dict[str, Any], other: dict[str, Any]) -> float | None:
    if one["recorded_at"] is None or other["recorded_at"] is None:
        return None
    first, second = (datetime.strptime(each["recorded_at"], TIME) for each in (one, other))
    return (second - first).total_seconds() / 3600


def again_lines(baseline: dict[str, Any]) -> list[str]:
    lines = []
    for each in baseline["again"]:
        lines.append(f"measured again{'' if each['recorded_at'] is None else ' at ' + each['recorded_at']}: {each['compared']['lead'][0]}; later trials are compared with this measurement")
        if each["compared"]["verdict"] in ("faster", "slower"):
            lines.append("! the machine changed, or the code: earlier trials may be wrong by as much")
    return lines


def chance_text(found: Investigation) -> str | None:
    """What many looks at noise do."""
    count = len(found.trials)
    if count < 2:
        return None
    text = f"{count} trials: if none of them changed anything, one would still be accepted with a probability of {found.chance_pct:.1f} %"
    fresh = [n for n, trial in enumerate(found.trials, 1) if trial["decision"] == "accepted" and not trial["again"]]
    return text if not fresh else f"{text}; trial {fresh[-1]} was chosen by the measurement that shows its gain, which is therefore a little too large: gpu-profile tune again measures it anew"


def status_lines(found: Investigation) -> list[str]:
    baseline = found.states[0]
    lines = [f"baseline: {baseline['verdict'] or 'no verdict'}: {baseline['because']}", f"  {noise_text(baseline)}"]
    lines += [f"  {text}" for text in [*(f"! {text}" for text in baseline["warnings"]), *again_lines(baseline)]]
    for number in range(1, len(found.states)):
        lines += trial_lines(found, number)
    if found.current > 0:
        lines.append(f"kept: {', '.join(f'trial {n}' for n, trial in enumerate(found.trials, 1) if trial['decision'] == 'accepted')}")
    total = found.document["total"]
    if total is not None:
        lines.append(f"from the baseline to trial {found.current}: {total['lead'][0]}")
    chance = chance_text(found)
    return lines if chance is None else [*lines, chance]


def next_lines(remedies: list[dict[str, Any]], tried: list[str], basis: str) -> list[str]:
    """`remedies`: of next_remedies, the most promising first."""
    if not remedies:
        return [f"nothing left to try: no finding and no prediction of {basis}" + (f", apart from what was tried: {', '.join(tried)}" if tried else "")]
    lines = [f"from {basis}:"]
    for number, each in enumerate(remedies, 1):
        lines.append(f"{number}. {each['title']}")
        if each["prediction"] is not None:
            lines.append(f"   {prediction_text(each['prediction'])}")
        if each["remedy"]:
            lines.append(f"   {each['remedy']}")
    best = next((each["prediction"]["change"] for each in remedies if each["prediction"]), None)
    change = "" if best is None else f" --change {best}"
    return [*lines, f'then: gpu-profile tune trial "NOTE"{change}']
