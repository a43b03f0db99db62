// Triggers of jobs in standby from C (collect/launch/run_folder.h).
#include "capi/gpuprof.h"
#include "capi/guard.h"
#include "collect/launch/run_folder.h"

using namespace gpuprof;
using capi::guarded;

namespace {

Error no_folder() { return {ExitCode::usage, "folder must not be NULL"}; }

}  // namespace

int gpuprof_trigger(const char* folder, const gpuprof_trigger_options* options, int64_t* number) {
    return guarded([&]() -> Status {
        if (folder == nullptr) return no_folder();
        launch::TriggerWish wish;
        if (options != nullptr) {
            if (options->size < sizeof(gpuprof_trigger_options))
                return Error{ExitCode::usage, "gpuprof_trigger_options.size is not set"};
            wish = {.open = options->at_ns,
                    .seconds_ns = options->length_ns,
                    .steps = options->steps,
                    .last_ns = options->last_ns};
            if (options->ranks != nullptr) wish.ranks = options->ranks;
        }
        Result<control::Request> request = launch::request_trigger(folder, wish);
        if (!request.ok()) return request.error();
        if (number != nullptr) *number = request->number;
        return {};
    });
}

int gpuprof_trigger_stop(const char* folder) {
    return guarded([&]() -> Status {
        if (folder == nullptr) return no_folder();
        Result<control::Request> request = launch::request_stop(folder);
        return request.ok() ? Status() : request.error();
    });
}
