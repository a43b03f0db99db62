#!/usr/bin/env python3
"""Compares core/format/sass_metrics.h with CUPTI's headers: sizes, offsets and constants, by compiling assertions.

    tools/check_sass_layout.py FOLDER

FOLDER contains cupti_sass_metrics.h (in the wheel nvidia-cuda-cupti: nvidia/cu13/include). cuda.h is not needed.
"""

import sys

from cupti_layout import compare

# Our structure, theirs, and the fields as ours:theirs.
STRUCTURES = """
-Details CUpti_SassMetrics_MetricDetails id:metricId name:pMetricName doc:pMetricDescription
GetProperties CUpti_SassMetrics_GetProperties_Params chip:pChipName name:pMetricName metric:metric
-Config CUpti_SassMetrics_Config id:metricId granularity:outputGranularity
SetConfig CUpti_SassMetricsSetConfig_Params count:numOfMetricConfig configs:pConfigs device:deviceIndex
UnsetConfig CUpti_SassMetricsUnsetConfig_Params device:deviceIndex
Enable CUpti_SassMetricsEnable_Params context:ctx lazy:enableLazyPatching
Disable CUpti_SassMetricsDisable_Params context:ctx dropped:numOfDroppedRecords
GetDataProperties CUpti_SassMetricsGetDataProperties_Params context:ctx records:numOfPatchedInstructionRecords instances:numOfInstances
-Value CUpti_SassMetrics_InstanceValue metric:metricId value:value
-Record CUpti_SassMetrics_Data size:structSize reserved:pPriv cubin:cubinCrc function:functionIndex name:functionName offset:pcOffset values:pInstanceValues
FlushData CUpti_SassMetricsFlushData_Params context:ctx records:numOfPatchedInstructionRecords instances:numOfInstances data:pMetricsData
"""
CONSTANTS = """
kOfGpu CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU
"""

if __name__ == "__main__":
    sys.exit(compare(__doc__, "core/format/sass_metrics.h", "sass", "cupti_sass_metrics", STRUCTURES, CONSTANTS))
