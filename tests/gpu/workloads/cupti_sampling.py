"""May a process that traces kernels also sample warps? cupti_sampling.py v1|v2 LIBCUPTI

Subscribes by the interface, enables CONCURRENT_KERNEL, and enables PC sampling in a context. Prints CUPTI's answer to each call as JSON;
0 is success, 14 and 39 say that the interfaces do not mix. Nothing of gpu-profile takes part.
"""

import ctypes
import json
import sys

CONCURRENT_KERNEL = 10


class SubscriberParams(ctypes.Structure):  # of CUPTI 13.2 on; before, the last field is missing
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("old_name", ctypes.c_void_p), ("old_size", ctypes.c_size_t), ("several", ctypes.c_uint64)]


FIRST_WITH_SEVERAL = 130200


class ContextParams(ctypes.Structure):  # CUpti_PCSamplingEnableParams and ...DisableParams
    _fields_ = [("size", ctypes.c_size_t), ("private", ctypes.c_void_p), ("context", ctypes.c_void_p)]


Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
called = Callback(lambda *_: None)


def main():
    interface, library = sys.argv[1:]
    cuda, cupti = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(library)
    context, subscriber, version = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint32()
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
    said = {"cuptiGetVersion": cupti.cuptiGetVersion(ctypes.byref(version)), "version": version.value}
    if interface == "v1":
        said["cuptiSubscribe"] = cupti.cuptiSubscribe(ctypes.byref(subscriber), called, None)
        said["cuptiActivityEnable"] = cupti.cuptiActivityEnable(CONCURRENT_KERNEL)
    elif not hasattr(cupti, "cuptiActivityEnable_v2"):
        return print(json.dumps({**said, "cuptiSubscribe_v2": "absent"}))
    else:
        name = ctypes.create_string_buffer(64)
        size = SubscriberParams.several.offset if version.value < FIRST_WITH_SEVERAL else ctypes.sizeof(SubscriberParams)
        params = SubscriberParams(size, b"sampling check", ctypes.addressof(name), len(name), 1)
        said["cuptiSubscribe_v2"] = cupti.cuptiSubscribe_v2(ctypes.byref(subscriber), called, None, ctypes.byref(params))
        said["cuptiActivityEnable_v2"] = cupti.cuptiActivityEnable_v2(subscriber, CONCURRENT_KERNEL, None)
    sampling = ContextParams(ctypes.sizeof(ContextParams), None, context)
    said["cuptiPCSamplingEnable"] = cupti.cuptiPCSamplingEnable(ctypes.byref(sampling))
    if said["cuptiPCSamplingEnable"] == 0:
        said["cuptiPCSamplingDisable"] = cupti.cuptiPCSamplingDisable(ctypes.byref(sampling))
    print(json.dumps(said))


if __name__ == "__main__":
    main()
