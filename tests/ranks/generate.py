#!/usr/bin/env python3
"""Writes the files of a named job and the truth about it.

    python3 -m tests.ranks.generate JOB OUT [--seed N] [options]
    python3 -m tests.ranks.generate --list

OUT gets one file per rank and truth.json. RANKS is a list such as 0,5,8-11.
"""

import argparse
import sys
from dataclasses import replace

from . import public
from .folder import NAMES, Damage, write_job, write_nsys
from .jobs import named, second
from .kineto import Options


def ranks_of(text):
    """0,5,8-11 -> (0, 5, 8, 9, 10, 11)"""
    found = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


def pairs_of(text):
    """3:5,4:6 -> {3: 5, 4: 6}"""
    return {int(a): int(b) for a, b in (part.split(":") for part in filter(None, text.split(",")))}


# Jobs that are about their files: name -> (description, job, damage).
DAMAGED = {
    "cut": ("16 ranks: 2 and 9 are cut, 5 is missing, 7 is there twice, 11 is empty, 13 recorded other steps", "clean-16",
            Damage(cut=(2, 9), missing=(5,), twice=(7,), empty=(11,), shifted={13: (4, 20)})),
    "foreign": ("8 ranks and, in the same folder, 4 ranks of another job", "gpu", Damage()),
}


def described():
    lines = {name: text for name, (text, _) in named().items()} | {name: text for name, (text, *_) in DAMAGED.items()}
    lines |= {name: f"{ranks} GPUs, public recording of ByteDance" for name, ranks in (("ST", 8), ("AR", 64), ("SE", 128))}
    return "".join(f"{name:12} {text}\n" for name, text in lines.items())


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="tests.ranks.generate", description=__doc__.splitlines()[0])
    parser.add_argument("job", nargs="?")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--list", action="store_true", help="list the named jobs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=("kineto", "nsys"), default="kineto", help="kineto (torch.profiler, JSON.gz) or nsys (SQLite)")
    parser.add_argument("--steps", type=int, help="number of steps (default: the job's)")
    parser.add_argument("--level", type=int, default=6, help="of gzip: 1 is three times as fast and makes larger files")
    parser.add_argument("--names", choices=sorted(NAMES), default="rank", help="file names with the rank, the host, both, or neither")
    parser.add_argument("--ranks", type=ranks_of, metavar="RANKS", help="write only these files")
    parser.add_argument("--no-seq", action="store_true", help="older PyTorch: no sequence numbers and operation ids")
    parser.add_argument("--no-metadata", action="store_true", help="oldest PyTorch: collectives without metadata")
    parser.add_argument("--no-distributed", action="store_true", help="no distributedInfo: only file names have the rank")
    parser.add_argument("--host-names", action="store_true", help="host_name in the files")
    parser.add_argument("--no-flows", action="store_true", help="no arrows from launches to kernels")
    parser.add_argument("--no-operators", action="store_true", help="no operators of kernels: smaller files")
    parser.add_argument("--shared-names", action="store_true", help="groups of one kind share one name")
    parser.add_argument("--undescribed", action="store_true", help="no description of groups")
    parser.add_argument("--graphs", action="store_true", help="kernels, and collectives within a layer, are replayed from CUDA graphs")
    parser.add_argument("--batched", action="store_true", help="transfers between stages by batch_isend_irecv")
    parser.add_argument("--lost", type=float, default=0, metavar="PCT", help="part of the device events that is lost")
    parser.add_argument("--missing", type=ranks_of, default=(), metavar="RANKS")
    parser.add_argument("--cut", type=ranks_of, default=(), metavar="RANKS", help="the compressed file ends in the middle")
    parser.add_argument("--empty", type=ranks_of, default=(), metavar="RANKS")
    parser.add_argument("--twice", type=ranks_of, default=(), metavar="RANKS", help="a second copy under another name")
    parser.add_argument("--claims", type=pairs_of, default={}, metavar="RANK:OTHER,...", help="the file of RANK gives itself another rank")
    parser.add_argument("--shifted", type=pairs_of, default={}, metavar="RANK:STEPS,...", help="RANK misses its first STEPS steps")
    return parser, parser.parse_args(arguments)


def main(arguments=None):
    parser, args = parsed(arguments)
    if args.list:
        sys.stdout.write(described())
        return 0
    if not args.out:
        parser.error("JOB and OUT are required")
    if args.job in public.SIZES:
        public.write_job(public.load(args.job, args.steps), args.out, args.level)
        return 0
    base, damage = (DAMAGED[args.job][1:] if args.job in DAMAGED else (args.job, Damage()))
    if base not in named():
        parser.error(f"unknown job {args.job!r}; --list shows the jobs")
    job = named()[base][1](args.job)
    if args.steps:
        job = replace(job, steps=args.steps)
    job = replace(job, batched=args.batched)
    if args.format == "nsys":
        write_nsys(job, args.seed, args.out)
        return 0
    options = Options(seq=not args.no_seq, collectives=not args.no_metadata, flows=not args.no_flows, operators=not args.no_operators, lost=args.lost / 100, graphs=args.graphs,
                      shared_names=args.shared_names, distributed=not args.no_distributed, host_name=args.host_names, described=not args.undescribed)
    shifted = damage.shifted | {rank: (steps, job.steps) for rank, steps in args.shifted.items()}
    damage = Damage(missing=damage.missing + args.missing, cut=damage.cut + args.cut, empty=damage.empty + args.empty, twice=damage.twice + args.twice,
                    claims=damage.claims | args.claims, shifted=shifted)
    write_job(job, args.seed, args.out, options, damage, args.names, args.ranks, level=args.level)
    if args.job == "foreign":
        write_job(second("second"), args.seed + 1, args.out, options, names="plain", told="truth-second.json", level=args.level)
    return 0


if __name__ == "__main__":
    sys.exit(main())
