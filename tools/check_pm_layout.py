#!/usr/bin/env python3
"""Compares collect/pm/abi.h with CUPTI's own headers: sizes, offsets and constants, by compiling assertions.

check_pm_layout.py FOLDER: the folder of cupti_pmsampling.h (the wheel nvidia-cuda-cupti, nvidia/cu13/include). CUDA's own
cuda.h is not needed; the few of its names that these headers use are declared here. The headers of CUPTI 12.8 and 13.0 agree;
in 12.6 the structure of cuptiPmSamplingSetConfig ends before `append`, which collect/pm/session.cc knows.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CXX = os.environ.get("CXX", "c++")

# Our structure, theirs, and our fields in their order.
STRUCTURES = """
ProfilerInitialize CUpti_Profiler_Initialize_Params
GetChipName CUpti_Device_GetChipName_Params device:deviceIndex chip:pChipName
GetCounterAvailability CUpti_PmSampling_GetCounterAvailability_Params device:deviceIndex bytes:counterAvailabilityImageSize image:pCounterAvailabilityImage
HostInitialize CUpti_Profiler_Host_Initialize_Params type:profilerType chip:pChipName availability:pCounterAvailabilityImage host:pHostObject
HostDeinitialize CUpti_Profiler_Host_Deinitialize_Params host:pHostObject
HostAddMetrics CUpti_Profiler_Host_ConfigAddMetrics_Params host:pHostObject names:ppMetricNames count:numMetrics
HostGetConfigSize CUpti_Profiler_Host_GetConfigImageSize_Params host:pHostObject bytes:configImageSize
HostGetConfig CUpti_Profiler_Host_GetConfigImage_Params host:pHostObject bytes:configImageSize image:pConfigImage
HostGetPasses CUpti_Profiler_Host_GetNumOfPasses_Params bytes:configImageSize image:pConfigImage passes:numOfPasses
HostEvaluate CUpti_Profiler_Host_EvaluateToGpuValues_Params host:pHostObject image:pCounterDataImage bytes:counterDataImageSize sample:rangeIndex names:ppMetricNames count:numMetrics values:pMetricValues
Enable CUpti_PmSampling_Enable_Params device:deviceIndex object:pPmSamplingObject
ObjectParams CUpti_PmSampling_Disable_Params object:pPmSamplingObject
ObjectParams CUpti_PmSampling_Start_Params object:pPmSamplingObject
ObjectParams CUpti_PmSampling_Stop_Params object:pPmSamplingObject
SetConfig CUpti_PmSampling_SetConfig_Params object:pPmSamplingObject bytes:configSize image:pConfig hardware_buffer:hardwareBufferSize interval:samplingInterval trigger:triggerMode append:hwBufferAppendMode
GetCounterDataSize CUpti_PmSampling_GetCounterDataSize_Params object:pPmSamplingObject names:pMetricNames count:numMetrics max_samples:maxSamples bytes:counterDataSize
InitializeImage CUpti_PmSampling_CounterDataImage_Initialize_Params object:pPmSamplingObject bytes:counterDataSize image:pCounterData
DecodeData CUpti_PmSampling_DecodeData_Params object:pPmSamplingObject image:pCounterDataImage bytes:counterDataImageSize reason:decodeStopReason overflow:overflow
GetCounterDataFacts CUpti_PmSampling_GetCounterDataInfo_Params image:pCounterDataImage bytes:counterDataImageSize total:numTotalSamples populated:numPopulatedSamples completed:numCompletedSamples
GetSampleTimes CUpti_PmSampling_CounterData_GetSampleInfo_Params object:pPmSamplingObject image:pCounterDataImage bytes:counterDataImageSize sample:sampleIndex start:startTimestamp end:endTimestamp
"""
CONSTANTS = """
kSuccess CUPTI_SUCCESS
kInvalidParameter CUPTI_ERROR_INVALID_PARAMETER
kOutOfMemory CUPTI_ERROR_OUT_OF_MEMORY
kHardwareBusy CUPTI_ERROR_HARDWARE_BUSY
kNotSupported CUPTI_ERROR_NOT_SUPPORTED
kInsufficientPrivileges CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
kPmSampling CUPTI_PROFILER_TYPE_PM_SAMPLING
kSysclkInterval CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL
kTimeInterval CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL
kKeepOldest CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST
kKeepLatest CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST
kEndOfRecords CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS
"""
CUDA_H = "typedef struct CUctx_st* CUcontext;\ntypedef int CUdevice;\n"


def assertions():
    for line in STRUCTURES.strip().splitlines():
        ours, theirs, *fields = line.split()
        yield f"static_assert(sizeof(pm::{ours}) == sizeof({theirs}));"
        yield f"static_assert(pm::{ours}{{}}.size == {theirs}_STRUCT_SIZE);"
        for field in ["size:structSize", "reserved:pPriv", *fields]:
            our, their = field.split(":")
            yield f"static_assert(offsetof(pm::{ours}, {our}) == offsetof({theirs}, {their}));"
            yield f"static_assert(sizeof(pm::{ours}::{our}) == sizeof({theirs}::{their}));"
    for line in CONSTANTS.strip().splitlines():
        ours, theirs = line.split()
        yield f"static_assert(pm::{ours} == static_cast<int>({theirs}));"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    headers = [name + ".h" for name in ("cupti_pmsampling", "cupti_profiler_host", "cupti_profiler_target", "cupti_target")]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "cuda.h").write_text(CUDA_H)
        includes = "".join(f"#include <{name}>\n" for name in ["cuda.h", *headers])
        source = Path(folder, "layout.cc")
        source.write_text(includes + '#include "collect/pm/abi.h"\nnamespace pm = gpuprof::pm;\n' + "\n".join(assertions()) + "\n")
        done = subprocess.run([CXX, "-std=c++20", "-fsyntax-only", f"-I{ROOT}", f"-I{folder}", f"-I{sys.argv[1]}", source],
                              check=False)
    print("collect/pm/abi.h differs from CUPTI's headers" if done.returncode else "collect/pm/abi.h is as CUPTI's headers say")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
