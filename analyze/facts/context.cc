#include "analyze/facts/context.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "analyze/facts/facts.h"
#include "analyze/facts/steps/iterations.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inline facts {
namespace {

// Names are interned and few, but repeat often in a column, so each is inspected once.
template <class Table, class Visit>
void each_name(const Trace& trace, const Table& table, Visit&& visit) {
    std::vector<bool> seen(trace.strings().size());
    for (Row row = 0; row < table.rows; ++row) {
        if (!table.name.has(row) || seen[index_of(table.name[row])]) continue;
        seen[index_of(table.name[row])] = true;
        visit(trace.text(table.name[row]));
    }
}

// Kernels that nvc and nvc++ generate for an OpenACC or OpenMP loop end in the line number and `_gpu`: `main_17_gpu`;
// Clang's begin with `__omp_offloading_`.
bool names_directives(std::string_view name) {
    if (name.starts_with("__omp_offloading_") || name.starts_with("nvkernel_")) return true;
    if (!name.ends_with("_gpu")) return false;
    name.remove_suffix(4);
    std::size_t digits = name.find_last_not_of("0123456789");
    return digits != name.npos && digits + 1 < name.size() && name[digits] == '_';
}

Framework framework_of(const Trace& trace, bool& directives) {
    bool torch = trace.origin().recorder_of_work() == "torch.profiler", jax = false, tensorflow = false,
         tensorrt = false;
    each_name(trace, trace.op(), [&](std::string_view name) {
        torch = torch || name.starts_with("aten::");
        tensorflow = tensorflow || name.starts_with("tf_");
    });
    each_name(trace, trace.kernel(), [&](std::string_view name) {
        torch =
            torch || contains_any(name, {"at::native", "at_native", "c10::", "triton_poi_fused", "triton_red_fused"});
        tensorflow = tensorflow || contains_any(name, {"tensorflow::", "EigenMetaKernel"});
        tensorrt = tensorrt || contains_any(name, {"trt_", "nvinfer", "__myl_"});
        directives = directives || names_directives(name);
    });
    each_name(trace, trace.range(), [&](std::string_view name) {
        tensorrt = tensorrt || contains_any(name, {"ExecutionContext::enqueue", "TensorRT"});
        jax = jax || contains_any(name, {"PjitFunction", "jit(", "XlaModule", "PjRt"});
        torch = torch || contains_any(name, {"aten::", "torch."});
    });
    if (torch) return Framework::pytorch;
    if (tensorrt) return Framework::tensorrt;
    if (jax) return Framework::jax;
    return tensorflow ? Framework::tensorflow : Framework::none;
}

// GTX 16xx devices report 7.5 but have no tensor cores.
void add_devices(const Trace& trace, Context& context) {
    const DeviceTable& devices = trace.tables().device;
    for (Row row = 0; row < devices.rows; ++row) {
        std::string_view name = trace.text(devices.name.value_or(row, kNoString));
        if (trace.text(devices.vendor.value_or(row, kNoString)) == "amd") context.amd = true;
        if (!devices.cc_major.has(row) || devices.cc_major[row] <= 0) continue;
        int capability =
            10 * std::min(devices.cc_major[row], 1000) + std::clamp(devices.cc_minor.value_or(row, 0), 0, 9);
        bool first = context.capability == 0;
        context.capability = first ? capability : std::min(context.capability, capability);
        context.tensor_cores = (first || context.tensor_cores) && capability >= 70 && name.find("GTX") == name.npos;
    }
    if (context.amd) {
        context.capability = 0;
        context.tensor_cores = false;
    }
    context.tf32 = context.bf16 = context.capability >= 80;
}

bool runs_python(const Trace& trace) {
    const ProcessTable& processes = trace.tables().process;
    for (Row row = 0; row < processes.rows; ++row)
        if (trace.text(processes.name.value_or(row, kNoString)).find("python") != std::string_view::npos) return true;
    return trace.tables().python_call.rows > 0;
}

}  // namespace

Context Context::make(const Facts& facts) {
    Context context;
    context.server = !facts.get<Iterations>().all.empty();
    context.framework = framework_of(facts.trace(), context.directives);
    // PyTorch and TensorFlow programs can be in C++, but rarely without the framework's own recorder; TensorRT programs
    // mostly are.
    context.python = runs_python(facts.trace()) || context.framework == Framework::pytorch ||
                     context.framework == Framework::jax || context.framework == Framework::tensorflow;
    add_devices(facts.trace(), context);
    return context;
}

}  // namespace gpuprof::facts
