"""`python -m gpu_profile.tuning`, started by `gpu-profile tune`."""

from __future__ import annotations

import json
import os
import shutil
import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ..errors import Error
from ..sanitize import printable_lines
from . import answers
from .change import Code, same_code
from .command import allowed, text_without_secrets
from .decision import decide, held
from .interruption import ignore_signals, interruptible
from .investigation import BY_DECISION, TIME, Investigation, inside, locked, measured, refuse_other_files, remove_folder
from .leftovers import removed_on_failure
from .tuning_options import UsageError, parse
from .own import keep_command, new_id
from .recordings import copied, half_width_pct, made
from .remedies import next_remedies
from .report import write_report
from .text import next_lines, status_lines, trial_lines

if TYPE_CHECKING:
    import argparse

__all__ = ["main"]

_USAGE, _INTERNAL, _INTERRUPTED = 2, 6, 130


def main(arguments: list[str] | None = None) -> int:
    """Do one step of an investigation, print its result, and return the exit code."""
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        actions = {"begin": _begin, "trial": _trial, "status": _status, "next": _next, "again": _again, "report": _report, "accept": _judge, "reject": _judge}
        with interruptible():
            for line in actions[options.action](options):
                print(printable_lines(line))
            sys.stdout.flush()
        return 0
    except UsageError as problem:
        return _say(str(problem), _USAGE)
    except Error as problem:
        return _say(problem.message.removeprefix("gpu-profile: "), problem.code or _INTERNAL)
    except KeyboardInterrupt:
        return _say("interrupted; the investigation is as it was before", _INTERRUPTED)
    except OSError as problem:
        return _say(f"{problem.filename or 'gpu-profile tune'}: {problem.strerror}", _INTERNAL)


def _begin(options: argparse.Namespace) -> list[str]:
    folder = options.folder
    if Investigation.exists(folder):
        raise UsageError(f'{folder} has an investigation already; add a trial with gpu-profile tune trial "NOTE", or choose another --folder')
    refuse_other_files(folder)
    with locked(folder):
        cwd = os.getcwd()
        command = options.words
        try:
            hidden = text_without_secrets(command) if command else None
            found = Investigation.begin(folder, id=new_id(), command=[] if hidden else command, command_text=hidden, cwd=cwd, cwd_from_folder=os.path.relpath(cwd, folder),
                                        record=options.record or "", repeat=options.repeat)
            baseline = _recorded(found, options, command, "baseline")
            paths = [os.path.join(folder, name) for name in baseline["recordings"]]
            widths = [answers.compared(paths[:1], [path])["new_ns"] for path in paths]
            noise = half_width_pct([each for each in widths if each])
            found.states.append({**baseline, "noise_pct": noise, **answers.first_answer(paths[0])})
            lines = [*status_lines(found), "", *_suggestions(found)]
            _save(found, command)
        except BaseException:
            remove_folder(folder)
            raise
        return lines


def _recorded(found: Investigation, options: argparse.Namespace, command: list[str], under: str) -> dict[str, Any]:
    """Record a state into the folder `under`: its recordings, code and time. Without a command, its recordings are given. What a killed
    attempt left is removed first."""
    place = inside(found.folder, under)
    document = found.document
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    code = Code(found.folder)
    at = None  # unknown of a recording that is given
    if command:
        at = datetime.now(timezone.utc).strftime(TIME)
        names = made(command, options.record or document["record"], options.repeat or document["repeat"], place, _progress)
    else:
        names = copied(options.recording, place)
    kept = code.kept(place)
    if kept is not None and kept["patch"] is not None:
        kept["patch"] = os.path.join(under, kept["patch"])
    return {"recordings": [os.path.join(under, name) for name in names], "recorded_at": at, "code": kept, "again": []}


def _command(found: Investigation, options: argparse.Namespace) -> list[str]:
    """The command to record; none if recordings are given."""
    document = found.document
    if options.recording:
        return []
    if not document["command"] and document["command_text"] is None:
        raise UsageError("the investigation began with recordings, so that it has no command to run; give --recording FILE")
    _refuse_other_cwd(found)
    return allowed(found, options.record or document["record"], options.yes)


def _save(found: Investigation, command: list[str]) -> None:
    """Save a step, which signals do not undo from here on, and keep the command that it ran."""
    ignore_signals()
    found.save()
    if command:
        try:
            keep_command(found, command)
        except OSError as problem:
            _progress(f"cannot keep the command: {problem.filename}: {problem.strerror}; trial and again will ask before they run it, and cannot run it if it contains a secret")


def _refuse_other_cwd(found: Investigation) -> None:
    """The command runs in the current directory, which must be that of the beginning; a project that was moved is."""
    began, now = found.document["cwd"], os.getcwd()
    if found.states and began != now and os.path.normpath(os.path.join(os.path.abspath(found.folder), found.document["cwd_from_folder"])) != now:
        raise UsageError(f"the command of this investigation ran in {began}, not in {now}; change to that directory")


def _trial(options: argparse.Namespace) -> list[str]:
    with locked(options.folder):
        found = Investigation.load(options.folder)
        command = _command(found, options)
        base, number = found.current, len(found.states)
        before = found.recordings(base)
        prediction = answers.predicted(before[0], options.change) if options.change else None
        evaluation = None
        if options.evaluate:
            evaluation = answers.evaluated(options.evaluate_baseline, options.evaluate, options.inputs, options.max_memory_mb)
        under = os.path.join("trials", str(number))
        with removed_on_failure(inside(found.folder, under)):
            state = _recorded(found, options, command, under)
            compared = answers.compared(before, [os.path.join(found.folder, name) for name in state["recordings"]])
            decision = decide(compared, evaluation, options.max_memory_mb)
            found.states.append({
                **state, "note": options.words[0], "base": base, "same_code": same_code(found.code(base), state["code"]), "changes": options.change,
                "prediction": prediction, "compared": compared, "held": held(prediction, compared), "evaluation": evaluation,
                "max_memory_mb": options.max_memory_mb, "decision": decision.word, "because": decision.because,
            })
            _total(found)
            _save(found, command)
        return trial_lines(found, number)


def _again(options: argparse.Namespace) -> list[str]:
    """Measure what is kept anew: another draw of the noise, on the machine as it is now."""
    with locked(options.folder):
        found = Investigation.load(options.folder)
        command = _command(found, options)
        number = found.current
        state = found.states[number]
        before = found.recordings(number if number == 0 else state["base"])
        under = os.path.join("baseline" if number == 0 else os.path.join("trials", str(number)), f"again-{len(state['again']) + 1}")
        with removed_on_failure(inside(found.folder, under)):
            new = _recorded(found, options, command, under)
            compared = answers.compared(before, [os.path.join(found.folder, name) for name in new["recordings"]])
            state["again"].append({"recordings": new["recordings"], "recorded_at": new["recorded_at"], "code": new["code"],
                                   "same_code": same_code(state["code"], new["code"]), "compared": compared})
            if number > 0 and not state["because"].startswith(BY_DECISION):
                decision = decide(compared, state["evaluation"], state["max_memory_mb"])
                state["decision"] = decision.word
                state["because"] = f"measured again: {decision.because} (at first: {state['compared']['lead'][0]})"
                state["held"] = held(state["prediction"], compared)
            _total(found)
            _save(found, command)
        return status_lines(found) if number == 0 else trial_lines(found, number)


def _total(found: Investigation) -> None:
    """What all that was kept gives together."""
    kept = found.current
    try:
        found.document["total"] = answers.compared(found.recordings(0), found.recordings(kept)) if kept > 0 else None
    except Error as problem:  # a decision needs no recordings
        found.document["total"] = {"lead": [f"unknown: {problem.message.removeprefix('gpu-profile: ')}"]}


def _judge(options: argparse.Namespace) -> list[str]:
    with locked(options.folder):
        found = Investigation.load(options.folder)
        number = int(options.words[0])
        trial = found.trial(number)
        later = [n for n, each in enumerate(found.trials, 1) if each["base"] == number]
        if options.action == "reject" and later:
            raise UsageError(f"trial {number} cannot be rejected: trial {later[0]} was compared with it")
        trial["decision"] = "accepted" if options.action == "accept" else "rejected"
        trial["because"] = f"{BY_DECISION}: {options.because} (measured: {measured(trial)['lead'][0]})"
        _total(found)
        _save(found, [])
        return trial_lines(found, number)


def _status(options: argparse.Namespace) -> list[str]:
    found = Investigation.load(options.folder)
    return [json.dumps({**found.document, "chance_pct": found.chance_pct}, indent=1)] if options.format == "json" else status_lines(found)


def _next(options: argparse.Namespace) -> list[str]:
    found = Investigation.load(options.folder)
    if options.format == "json":
        return [json.dumps(_remedies(found), indent=1)]
    return _suggestions(found)


def _remedies(found: Investigation) -> list[dict[str, Any]]:
    recording = found.recordings(found.current)[0]
    return next_remedies(answers.findings(recording), answers.predictions(recording), _tried(found))


def _tried(found: Investigation) -> list[str]:
    return [change for trial in found.trials for change in trial["changes"]]


def _suggestions(found: Investigation) -> list[str]:
    basis = "the baseline" if found.current == 0 else f"trial {found.current}"
    return next_lines(_remedies(found), _tried(found), basis)


def _report(options: argparse.Namespace) -> list[str]:
    with locked(options.folder):
        return [f"wrote {path}" for path in write_report(Investigation.load(options.folder))]


def _progress(text: str) -> None:
    print(f"gpu-profile: {text}", file=sys.stderr, flush=True)


def _say(text: str, status: int) -> int:
    print(f"gpu-profile: {printable_lines(text)}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
