#!/usr/bin/env python3
"""Compares core/format/range_profiler.h with CUPTI's headers: sizes, offsets and constants, by compiling assertions.

    tools/check_range_layout.py FOLDER

FOLDER contains cupti_range_profiler.h (in the wheel nvidia-cuda-cupti: nvidia/cu13/include). cuda.h is not needed.
"""

import sys

from cupti_layout import compare

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

if __name__ == "__main__":
    sys.exit(compare(__doc__, "core/format/range_profiler.h", "range", "cupti_range_profiler", STRUCTURES, CONSTANTS))
