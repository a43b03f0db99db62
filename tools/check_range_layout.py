#!/usr/bin/env python3
"""Compares core/format/range_profiler.h with CUPTI's headers: sizes, offsets and constants, by compiling assertions.

    tools/check_range_layout.py FOLDER

FOLDER contains cupti_range_profiler.h (in the wheel nvidia-cuda-cupti: nvidia/cu13/include). cuda.h is not needed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CXX = os.environ.get("CXX", "c++")

# Our structure, theirs, and the fields as ours:theirs.
STRUCTURES = """
GetAvailability CUpti_Profiler_GetCounterAvailability_Params context:ctx bytes:counterAvailabilityImageSize image:pCounterAvailabilityImage
EnableRanges CUpti_RangeProfiler_Enable_Params context:ctx object:pRangeProfilerObject
RangeParams CUpti_RangeProfiler_Disable_Params object:pRangeProfilerObject
RangeParams CUpti_RangeProfiler_Start_Params object:pRangeProfilerObject
RangeParams CUpti_RangeProfiler_PopRange_Params object:pRangeProfilerObject
StopRanges CUpti_RangeProfiler_Stop_Params object:pRangeProfilerObject pass:passIndex nesting_level:targetNestingLevel all_passes:isAllPassSubmitted
PushRange CUpti_RangeProfiler_PushRange_Params object:pRangeProfilerObject name:pRangeName
SetRangeConfig CUpti_RangeProfiler_SetConfig_Params object:pRangeProfilerObject config_bytes:configSize config:pConfig image_bytes:counterDataImageSize image:pCounterDataImage range:range replay:replayMode max_ranges:maxRangesPerPass nesting_levels:numNestingLevels min_nesting_level:minNestingLevel pass:passIndex target_nesting_level:targetNestingLevel
DecodeRanges CUpti_RangeProfiler_DecodeData_Params object:pRangeProfilerObject dropped:numOfRangeDropped
GetRangeDataSize CUpti_RangeProfiler_GetCounterDataSize_Params object:pRangeProfilerObject names:pMetricNames count:numMetrics max_ranges:maxNumOfRanges max_nodes:maxNumRangeTreeNodes bytes:counterDataSize
InitializeRangeImage CUpti_RangeProfiler_CounterDataImage_Initialize_Params object:pRangeProfilerObject bytes:counterDataSize image:pCounterData
GetRangeCount CUpti_RangeProfiler_GetCounterDataInfo_Params image:pCounterDataImage bytes:counterDataImageSize ranges:numTotalRanges
"""
CONSTANTS = """
kRangeProfiler CUPTI_PROFILER_TYPE_RANGE_PROFILER
kAutoRange CUPTI_AutoRange
kUserRange CUPTI_UserRange
kKernelReplay CUPTI_KernelReplay
kUserReplay CUPTI_UserReplay
"""
CUDA_H = "typedef struct CUctx_st* CUcontext;\ntypedef int CUdevice;\n"


def assertions():
    for line in STRUCTURES.strip().splitlines():
        ours, theirs, *fields = line.split()
        yield f"static_assert(sizeof(range::{ours}) == sizeof({theirs}));"
        yield f"static_assert(range::{ours}{{}}.size == {theirs}_STRUCT_SIZE);"
        for field in ["size:structSize", "reserved:pPriv", *fields]:
            our, their = field.split(":")
            yield f"static_assert(offsetof(range::{ours}, {our}) == offsetof({theirs}, {their}));"
            yield f"static_assert(sizeof(range::{ours}::{our}) == sizeof({theirs}::{their}));"
    for line in CONSTANTS.strip().splitlines():
        ours, theirs = line.split()
        yield f"static_assert(range::{ours} == static_cast<int>({theirs}));"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    headers = [name + ".h" for name in ("cupti_range_profiler", "cupti_profiler_host", "cupti_profiler_target", "cupti_target")]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "cuda.h").write_text(CUDA_H)
        includes = "".join(f"#include <{name}>\n" for name in ["cuda.h", *headers])
        source = Path(folder, "layout.cc")
        source.write_text(includes + '#include "core/format/range_profiler.h"\nnamespace range = gpuprof::range;\n' +
                          "\n".join(assertions()) + "\n")
        done = subprocess.run([CXX, "-std=c++20", "-fsyntax-only", f"-I{ROOT}", f"-I{folder}", f"-I{sys.argv[1]}", source],
                              check=False)
    print("core/format/range_profiler.h " + ("differs from" if done.returncode else "agrees with") + " CUPTI's headers")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
