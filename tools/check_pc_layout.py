#!/usr/bin/env python3
"""Compares core/format/pc_sampling.h with CUPTI's headers: sizes, offsets and constants, by compiling assertions.

    tools/check_pc_layout.py FOLDER

FOLDER contains cupti_pcsampling.h of CUPTI 12.4 or later (in the wheel nvidia-cuda-cupti: nvidia/cu13/include). cuda.h is not needed.
"""

import sys

from cupti_layout import compare

# Our structure, theirs, and the fields as ours:theirs.
STRUCTURES = """
-StallCount CUpti_PCSamplingStallReason reason:pcSamplingStallReasonIndex samples:samples
-PcRecord CUpti_PCSamplingPCData size:size cubin:cubinCrc offset:pcOffset function:functionIndex name:functionName count:stallReasonCount stalls:stallReason correlation:correlationId
-PcData CUpti_PCSamplingData size:size room:collectNumPcs total:totalSamples dropped:droppedSamples pcs:totalNumPcs remaining:remainingNumPcs range:rangeId records:pPcData others:nonUsrKernelsTotalSamples buffer_full:hardwareBufferFull
ContextParams CUpti_PCSamplingEnableParams context:ctx
ContextParams CUpti_PCSamplingDisableParams context:ctx
ContextParams CUpti_PCSamplingStartParams context:ctx
ContextParams CUpti_PCSamplingStopParams context:ctx
GetData CUpti_PCSamplingGetDataParams context:ctx data:pcSamplingData
GetReasonCount CUpti_PCSamplingGetNumStallReasonsParams context:ctx count:numStallReasons
GetReasons CUpti_PCSamplingGetStallReasonsParams context:ctx count:numStallReasons indices:stallReasonIndex names:stallReasons
-Setting CUpti_PCSamplingConfigurationInfo attribute:attributeType status:attributeStatus bytes:attributeData
Configure CUpti_PCSamplingConfigurationInfoParams context:ctx count:numAttributes settings:pPCSamplingConfigurationInfo
GetCubinCrc CUpti_GetCubinCrcParams bytes:cubinSize cubin:cubin crc:cubinCrc
"""
CONSTANTS = """
kContinuous CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS
kSerialized CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED
kNameBytes CUPTI_STALL_REASON_STRING_SIZE
"""

if __name__ == "__main__":
    sys.exit(compare(__doc__, "core/format/pc_sampling.h", "pcs", "cupti_pcsampling", STRUCTURES, CONSTANTS, size="Size", common=("size:size",)))
