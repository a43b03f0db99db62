// What each kind of Kineto event becomes, in the forms that PyTorch releases and vendors write it.
#include "io/importers/formats.h"

#include <fmt/format.h>

#include "tests/unit/importers/read_text.h"

namespace gpuprof::test {
namespace {

// The dump of a trace without the rows every trace of one host thread has.
std::string kineto_rows(std::string_view events, std::string_view header = "") {
    std::string all = dump(import_text(object_trace(events, header)));
    std::string rows;
    for (std::size_t at = 0; at < all.size();) {
        std::size_t line_end = all.find('\n', at);
        std::string line = all.substr(at, line_end - at);
        at = line_end + 1;
        if (!line.starts_with("process ") && !line.starts_with("thread ") && !line.starts_with("meta "))
            rows += line + "\n";
    }
    return rows;
}

TEST(Kineto, Operator) {
    EXPECT_EQ(
        kineto_rows(event(
            "cpu_op", "aten::mul",
            R"("External id": 5,"Record function id": 0, "Sequence number": 9, "Fwd thread id": 1, "Input Dims": [[2, 3], []],
                               "Input type": ["float", "Scalar"], "Input Strides": [[3, 1], []], "Concrete Inputs": ["", "2"], "Ev Idx": 0)")),
        "op start=1000 dur=2000 thread=7/8 name=aten::mul external_id=5 sequence=9 forward_thread=1 input_dims=[[2, "
        "3], []] "
        "input_types=[\"float\", \"Scalar\"] input_strides=[[3, 1], []] concrete_inputs=[\"\", \"2\"]\n");
    EXPECT_EQ(
        kineto_rows(event("cpu_op", "f", R"("Call stack": "a.py(1): f;b.py(2): g", "Module Hierarchy": "Net.layer")")),
        "op start=1000 dur=2000 thread=7/8 name=f call_stack=a.py(1): f;b.py(2): g module=Net.layer\n");
}

TEST(Kineto, RangesAndPython) {
    EXPECT_EQ(kineto_rows(event("user_annotation", "ProfilerStep#1", R"("External id": 3)")),
              "range start=1000 dur=2000 thread=7/8 name=ProfilerStep#1 domain=user_annotation external_id=3\n");
    EXPECT_EQ(kineto_rows(event("gpu_user_annotation", "step", R"("External id": 3)", "1", "2", "0", "7")),
              "device_range start=1000 dur=2000 device=0 stream=7 name=step external_id=3\n");
    EXPECT_EQ(kineto_rows(event("python_function", "a.py(1): f", R"("Python parent id": null, "Python id": 1)")),
              "python_call start=1000 dur=2000 thread=7/8 name=a.py(1): f python_id=1\n");
    EXPECT_EQ(kineto_rows(event("overhead", "Buffer Flush", "", "1", "2", "-1", "0")),
              "overhead start=1000 dur=2000 name=Buffer Flush\n");
    EXPECT_EQ(kineto_rows(event("overhead", "Buffer Flush")),
              "overhead start=1000 dur=2000 thread=7/8 name=Buffer Flush\n");
}

TEST(Kineto, Calls) {
    EXPECT_EQ(kineto_rows(
                  event("cuda_runtime", "cudaStreamSynchronize", R"("External id": 9,"cbid": 131, "correlation": 15)")),
              "api_call start=1000 dur=2000 thread=7/8 process=7 api=runtime name=cudaStreamSynchronize correlation=15 "
              "external_id=9\n");
    EXPECT_EQ(kineto_rows(event("cuda_driver", "cuStreamSynchronize", R"("correlation": 15)")),
              "api_call start=1000 dur=2000 thread=7/8 process=7 api=driver name=cuStreamSynchronize correlation=15\n");
    EXPECT_EQ(kineto_rows(event("cuda_runtime", "hipDeviceSynchronize", R"("correlation": 15)")),
              "api_call start=1000 dur=2000 thread=7/8 process=7 api=hip name=hipDeviceSynchronize correlation=15\n");
}

TEST(Kineto, Kernel) {
    std::string call = event("cuda_runtime", "cudaLaunchKernel", R"("correlation": 15)");
    std::string kernel = event(
        "kernel", "k<int>", R"("External id": 9, "queued": 0, "device": 1, "context": 2, "stream": 7, "correlation": 15,
        "registers per thread": 74, "shared memory": 20480, "blocks per SM": 0.36, "grid": [8, 1, 6], "block": [128, 2, 1],
        "graph id": 3, "graph node id": 4, "est. achieved occupancy %": 2)",
        "10.5", "0.001", "1", "7");
    EXPECT_EQ(kineto_rows(call + "," + kernel),
              "kernel start=10500 dur=1 process=7 device=1 context=2 stream=7 name=k<int> correlation=15 external_id=9 "
              "grid_x=8 grid_y=1 "
              "grid_z=6 block_x=128 block_y=2 block_z=1 registers=74 shared_bytes=20480 graph_id=3 graph_node_id=4\n"
              "api_call start=1000 dur=2000 thread=7/8 process=7 api=runtime name=cudaLaunchKernel correlation=15\n");
}

TEST(Kineto, DeviceAndStreamFallBackToPidAndTid) {
    EXPECT_NE(kineto_rows(
                  event("kernel", "k", R"("grid": [1, 1, 1], "graph id": 0, "graph node id": 0)", "1", "2", "3", "21"))
                  .find("kernel start=1000 dur=2000 device=3 stream=21 name=k grid_x=1 grid_y=1 grid_z=1\n"),
              std::string::npos);
}

// Who annotates graphs calls it "name", as others may call anything.
TEST(Kineto, OnlyNodesOfGraphsHaveTheNameOfAnAnnotation) {
    auto kernel = [](std::string_view graph, std::string_view start) {
        return event("kernel", "k", fmt::format(R"("grid": [1, 1, 1], "name": "forward"{})", graph), start, "2", "3",
                     "21");
    };
    constexpr std::string_view kNode = R"(, "graph id": 3, "graph node id": 4)";
    std::string rows = kineto_rows(kernel("", "1") + "," + kernel(kNode, "2") + "," + kernel("", "3"));
    std::vector<bool> named;
    for (std::size_t at = 0; (at = rows.find("kernel start", at)) != std::string::npos; ++at)
        named.push_back(rows.substr(at, rows.find('\n', at) - at).find("framework_op=forward") != std::string::npos);
    EXPECT_EQ(named, (std::vector<bool>{false, true, false}));
}

TEST(Kineto, CopiesAndFills) {
    std::string copies =
        event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", R"("device": 0, "stream": 7, "bytes": 4)") + "," +
        event("gpu_memset", "Memset (Device)", R"("device": 0, "stream": 7, "bytes": 8)") + "," +
        event("gpu_memcpy", "something else", R"("device": 0, "stream": 7, "bytes": 5, "kind": "DtoH")", "2");
    EXPECT_EQ(kineto_rows(copies),
              "memcpy start=1000 dur=2000 device=0 stream=7 kind=HtoD src=pageable dst=device bytes=4\n"
              "memcpy start=2000 dur=2000 device=0 stream=7 kind=DtoH bytes=5\n"
              "memset start=1000 dur=2000 device=0 stream=7 kind=device bytes=8\n"
              "loss kind=unmatched_launch count=3 place=3 device ops\n");
}

TEST(Kineto, RocmWritesSizeAndShapeOnTheCall) {
    // The copy stands before its call, and the ids are text.
    std::string events =
        event("gpu_memcpy", "Memcpy HtoD (Host -> Device)",
              R"("device": 2, "stream": 0, "correlation": 117, "kind": "HtoD")") +
        "," +
        event("cuda_runtime", "hipMemcpyWithStream",
              R"("stream": "0x0", "correlation": 117, "size": "2560", "kind": "1")") +
        "," +
        event("cuda_runtime", "hipLaunchKernel",
              R"("correlation": 118, "grid": [3, 1, 1], "block": [128, 1, 1], "shared memory": 64)") +
        "," + event("kernel", "k", R"("device": 2, "stream": 0, "correlation": 118, "kind": "Dispatch Kernel")");
    EXPECT_EQ(kineto_rows(events),
              "kernel start=1000 dur=2000 process=7 device=2 stream=0 name=k correlation=118 grid_x=3 grid_y=1 "
              "grid_z=1 block_x=128 "
              "block_y=1 block_z=1 shared_bytes=64\n"
              "memcpy start=1000 dur=2000 process=7 device=2 stream=0 kind=HtoD src=host dst=device bytes=2560 "
              "correlation=117\n"
              "api_call start=1000 dur=2000 thread=7/8 process=7 api=hip name=hipMemcpyWithStream correlation=117\n"
              "api_call start=1000 dur=2000 thread=7/8 process=7 api=hip name=hipLaunchKernel correlation=118\n");
}

TEST(Kineto, Synchronisation) {
    EXPECT_EQ(
        kineto_rows(
            event("cuda_sync", "Stream Wait Event",
                  R"("cuda_sync_kind": "Stream Wait Event", "stream": 7, "correlation": 15, "device": 0, "context": 1,
                               "wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 12, "wait_on_cuda_event_id": 3)")),
        "sync start=1000 dur=2000 device=0 context=1 stream=7 kind=Stream Wait Event correlation=15 wait_on_stream=20 "
        "wait_on_correlation=12\n");
}

TEST(Kineto, SynchronisationOfAWholeContextHasNoStream) {
    for (std::string_view none : {"4294967295", "-1"})
        EXPECT_EQ(
            kineto_rows(event(
                "cuda_sync", "Context Sync",
                fmt::format(
                    R"("cuda_sync_kind": "Context Sync", "stream": {}, "correlation": 15, "device": 0, "context": 1)",
                    none),
                "1", "2", "0", "-1")),
            "sync start=1000 dur=2000 device=0 context=1 kind=Context Sync correlation=15\n");
}

TEST(Kineto, MemoryEvents) {
    auto instant = [](std::string_view args) {
        return R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 8, "ts": 1, "args": {)" +
               std::string(args) + "}}";
    };
    EXPECT_EQ(
        kineto_rows(
            instant(R"("Total Reserved": 30, "Total Allocated": 20, "Bytes": -10, "Device Id": 0, "Device Type": 1,
                                 "Addr": 140382113366016)")),
        "memory_event time=1000 thread=7/8 device_type=1 device=0 address=140382113366016 bytes=-10 total_allocated=20 "
        "total_reserved=30\n");
    EXPECT_EQ(kineto_rows(instant(R"("Bytes": 10, "Device Id": -1, "Device Type": 0, "Addr": 18446744073709551615)")),
              "memory_event time=1000 thread=7/8 device_type=0 address=-1 bytes=10\n");
}

TEST(Kineto, AutogradArrowsInEitherOrder) {
    std::string flows =
        R"({"ph": "f", "id": 1, "pid": 7, "tid": 9, "ts": 5, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
           {"ph": "s", "id": 2, "pid": 7, "tid": 8, "ts": 2, "cat": "fwdbwd", "name": "fwdbwd"},
           {"ph": "s", "id": 1, "pid": 7, "tid": 8, "ts": 1, "cat": "fwdbwd", "name": "fwdbwd"},
           {"ph": "f", "id": 2, "pid": 7, "tid": 9, "ts": 4, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
           {"ph": "s", "id": 3, "pid": 7, "tid": 8, "ts": 1, "cat": "fwdbwd", "name": "fwdbwd"},
           {"ph": "s", "id": 9, "pid": 7, "tid": 8, "ts": 1, "cat": "ac2g", "name": "ac2g"},
           {"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 1, "cat": "async_cpu_to_gpu", "name": "async_gpu", "bp": "e"})";
    EXPECT_EQ(kineto_rows(flows),
              "flow kind=fwdbwd from_time=1000 from_thread=7/8 to_time=5000 to_thread=7/9\n"
              "flow kind=fwdbwd from_time=2000 from_thread=7/8 to_time=4000 to_thread=7/9\n"
              "loss kind=unmatched_flow count=1 place=t\n");
}

TEST(Kineto, NamesOfProcessesAndThreads) {
    std::string events =
        R"--({"name": "process_name", "ph": "M", "ts": 1, "pid": 7, "tid": 0, "args": {"name": "python3"}},
        {"name": "process_labels", "ph": "M", "ts": 1, "pid": 7, "tid": 0, "args": {"labels": "CPU"}},
        {"name": "process_name", "ph": "M", "ts": 1, "pid": 0, "tid": 0, "args": {"name": "python3"}},
        {"name": "thread_name", "ph": "M", "ts": 1, "pid": 0, "tid": 7, "args": {"name": "stream 7 "}},
        {"name": "thread_name", "ph": "M", "ts": 1, "pid": 7, "tid": 8, "args": {"name": "thread 8 (pt_autograd_0)"}},)--" +
        event("cpu_op", "f");
    EXPECT_EQ(dump(import_text(object_trace(events))),
              "process key=7 pid=7 name=python3\n"
              "thread key=7/8 process=7 tid=8 name=pt_autograd_0\n"
              "op start=1000 dur=2000 thread=7/8 name=f\n");
}

TEST(Kineto, HeaderBeforeOrAfterTheEvents) {
    std::string_view header =
        R"("schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"ranks": [0]}]},
        "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0,
        "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152,
        "numSms": 132, "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}],
        "with_stack": 1, "baseTimeNanoseconds": 1790857026000000000, "traceName": "a \"b\"")";
    std::string events = event("cpu_op", "f", "", "4357513462267.313", "0.5");
    std::string before = object_trace(events, header);
    std::string after = "{\"traceEvents\": [" + events + "], " + std::string(header) + "}";
    std::string expected =
        "process key=7 pid=7 rank=3 world_size=8\n"
        "thread key=7/8 process=7 tid=8\n"
        "device device=0 name=NVIDIA H200 vendor=nvidia memory_bytes=150109880320 cc_major=9 cc_minor=0 sms=132 "
        "warp_size=32 "
        "max_threads_per_block=1024 max_threads_per_sm=2048 registers_per_block=65536 registers_per_sm=65536 "
        "shared_bytes_per_block=49152 "
        "shared_bytes_per_block_optin=232448 shared_bytes_per_sm=233472\n"
        "op start=1795214539462267313 dur=500 thread=7/8 name=f\n"
        "meta key=schemaVersion value=1\n"
        "meta key=distributedInfo.backend value=nccl\n"
        "meta key=distributedInfo.rank value=3\n"
        "meta key=distributedInfo.world_size value=8\n"
        "meta key=distributedInfo.pg_config value=[{\"ranks\": [0]}]\n"
        "meta key=with_stack value=1\n"
        "meta key=baseTimeNanoseconds value=1790857026000000000\n"
        "meta key=traceName value=a \"b\"\n";
    EXPECT_EQ(dump(import_text(before)), expected);
    EXPECT_EQ(dump(import_text(after)), expected);
    EXPECT_EQ(import_text(before).origin().tool, "torch.profiler");
}

TEST(Kineto, ProfilerSpanIsAFactNotAnEvent) {
    std::string events =
        event("cpu_op", "f") +
        R"--(,{"ph": "X", "cat": "Trace", "ts": 0.5, "dur": 100, "pid": "Spans", "tid": "PyTorch Profiler",
        "name": "PyTorch Profiler (0)", "args": {"Op count": 0}},
        {"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g", "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": 0.5},
        {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 200})--";
    Trace trace = import_text(object_trace(events, R"("baseTimeNanoseconds": 1000000)"));
    EXPECT_EQ(trace.meta("profiler_span_start_ns"), "1000500");
    EXPECT_EQ(trace.meta("profiler_span_dur_ns"), "100000");
    EXPECT_EQ(trace.window().start, 1001000);
    EXPECT_EQ(trace.window().end, 1003000);
    EXPECT_EQ(trace.tables().loss.rows, 0u);
}

TEST(Kineto, VendorsOfDevices) {
    auto vendor = [](std::string_view name) {
        Trace trace =
            import_text(object_trace("", R"("deviceProperties": [{"id": 0, "name": ")" + std::string(name) + R"("}])"));
        return std::string(trace.text(trace.tables().device.vendor.value_or(0, kNoString)));
    };
    EXPECT_EQ(vendor("AMD Radeon Graphics"), "amd");
    EXPECT_EQ(vendor("AMD Instinct MI300X"), "amd");
    EXPECT_EQ(vendor("Tesla V100-SXM2-16GB"), "nvidia");
    EXPECT_EQ(vendor("A100-SXM4-40GB"), "nvidia");
    EXPECT_EQ(vendor("Something New"), "");
}

TEST(Kineto, BareArrayAndFirstSchema) {
    std::string events = event("Operator", "aten::add") + ",\n" +
                         event("Runtime", "cudaLaunchKernel", R"("correlation": 2)") + ",\n" +
                         event("Kernel", "k", R"("device": 0, "stream": 7, "correlation": 2, "grid": [1, 1, 1])");
    for (std::string_view text :
         {"[" + events + "]", "\xEF\xBB\xBF \n[" + events + "]\n", "[" + events, "[" + events + ",]"}) {
        Trace trace = import_text(text);
        EXPECT_EQ(trace.op().rows, 1u);
        EXPECT_EQ(trace.api_call().rows, 1u);
        EXPECT_EQ(trace.kernel().rows, 1u);
        EXPECT_EQ(trace.tables().loss.rows, 0u);
        EXPECT_EQ(trace.links().kernel_launch[0], 0u);
    }
}

TEST(Kineto, KeysInAnyOrderAndTwice) {
    std::string odd =
        R"({"args":{"External id":1,"External id":2},"dur":3,"tid":8,"name":"old","ts":1,"pid":7,"cat":"cpu_op","extra":{"a":[1]},"name":"new","ph":"X"})";
    EXPECT_EQ(kineto_rows(event("cpu_op", "f") + "," + odd + "," + event("cpu_op", "g", R"("ph": 5, "name": "inner")")),
              "op start=1000 dur=3000 thread=7/8 name=new external_id=2\n"
              "op start=1000 dur=2000 thread=7/8 name=f\n"
              "op start=1000 dur=2000 thread=7/8 name=g\n");
}

TEST(Kineto, UnknownKindsAreCounted) {
    Trace trace = import_text(
        object_trace(event("cpu_op", "f") + "," + event("mtia_insight", "g") +
                     R"(,{"ph": "C", "name": "util", "pid": "GPU 0 Counters", "ts": 1, "args": {"x": 1}})"));
    EXPECT_EQ(losses(trace, "unknown_event"), 2);
    EXPECT_EQ(trace.tables().loss.rows, 1u);
    std::string_view place = trace.text(trace.tables().loss.place[0]);
    EXPECT_TRUE(place.ends_with(": mtia_insight (1), phase C (1)")) << place;
}

TEST(Kineto, WhatIsNoTrace) {
    EXPECT_NE(import_error("").message.find("empty"), std::string::npos);
    for (std::string_view text : {"hello", "{\"a\": 1}", "[1, 2, 3]", "[]",
                                  "\x7F"
                                  "ELF",
                                  "<html>", "{", "null"}) {
        Error error = import_error(text);
        EXPECT_EQ(error.code, ExitCode::unreadable) << text;
        EXPECT_TRUE(error.message.starts_with("cannot read t: unknown format")) << error.message;
        EXPECT_EQ(error.message.find('\n'), std::string::npos);
    }
    EXPECT_EQ(import_error(R"({"names": ["traceEvents", 1]})").code, ExitCode::unreadable);
    EXPECT_EQ(import_error(R"({"traceEvents": 5})").code, ExitCode::unreadable);
    Error foreign = import_error(object_trace(R"({"ph": "X", "name": "xla", "pid": 1, "tid": 1, "ts": 1, "dur": 1})"));
    EXPECT_EQ(foreign.code, ExitCode::unreadable);
    EXPECT_TRUE(foreign.message.starts_with("cannot read t: not a GPU trace")) << foreign.message;
}

TEST(Kineto, AChromeTraceOfAnotherKindIsNoGpuTrace) {
    std::string events;
    for (int i = 0; i < 3; ++i) events += event(i == 0 ? "optimizer" : "forward-compute", "f") + ",";
    Error error = import_error(
        object_trace(events + R"({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "rank 0"}},)" +
                     R"({"ph": "s", "id": 1, "name": "a", "cat": "a", "pid": 1, "tid": 1, "ts": 1})"));
    EXPECT_EQ(error.code, ExitCode::unreadable);
    EXPECT_NE(error.message.find("not a GPU trace"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("3 events"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("forward-compute (2), optimizer (1)"), std::string::npos) << error.message;
}

TEST(Kineto, EmptyTraceIsATrace) {
    Trace trace = import_text("{\"traceEvents\": []}");
    EXPECT_EQ(trace.window().length(), 0);
    EXPECT_EQ(trace.tables().loss.rows, 0u);
}

TEST(Kineto, SeveralProcessesKeepTheirDeviceWork) {
    std::string events = event("cuda_runtime", "cudaLaunchKernel", R"("correlation": 1)", "1", "2", "7", "7") + "," +
                         event("cuda_runtime", "cudaLaunchKernel", R"("correlation": 2)", "1", "2", "9", "9") + "," +
                         event("cuda_runtime", "cudaLaunchKernel", R"("correlation": 3)", "1", "2", "7", "7") + "," +
                         event("cuda_runtime", "cudaLaunchKernel", R"("correlation": 3)", "1", "2", "9", "9");
    for (int id = 1; id <= 3; ++id)
        events += "," + event("kernel", "k", R"("grid": [1, 1, 1], "correlation": )" + std::to_string(id),
                              std::to_string(id), "1", "0", "7");
    Trace trace = import_text(object_trace(events));
    EXPECT_EQ(trace.text(trace.kernel().process[0]), "7");
    EXPECT_EQ(trace.text(trace.kernel().process[1]), "9");
    EXPECT_FALSE(trace.kernel().process.has(2));  // both have a call 3
    EXPECT_EQ(losses(trace, "unmatched_launch"), 1);
}

}  // namespace
}  // namespace gpuprof::test
