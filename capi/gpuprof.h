/* The C interface of gpu-profile: libgpuprof.so.
 *
 * Conventions. Strings are UTF-8, zero-terminated. A structure begins with its size, so that old programs work with new
 * libraries. No function throws, prints, or installs a signal handler. Functions that can fail return 0 or a code of the
 * program's list of exit codes (2 usage, 3 cannot read, 4 nothing captured, 5 not permitted, 6 internal);
 * gpuprof_last_error() says why, per thread. Times are nanoseconds.
 *
 * Threads. A monitor may be used from any thread, also from two at once. In a child made by fork() the monitors of the
 * parent are dead: every function answers an error and nothing hangs.
 */
#ifndef GPUPROF_H
#define GPUPROF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUPROF_API __attribute__((visibility("default")))

/* "0.1.0". */
GPUPROF_API const char* gpuprof_version(void);

/* What the last failed call of this thread said: one line; "" when none failed. Valid until the thread's next call. */
GPUPROF_API const char* gpuprof_last_error(void);

/* ---- Device sampling: is the GPU busy? ------------------------------------------------------------------------- */

typedef struct gpuprof_monitor gpuprof_monitor;

typedef struct gpuprof_monitor_options {
    size_t size;              /* sizeof(gpuprof_monitor_options) */
    const char* devices;      /* NULL = "0"; "all", or numbers and UUIDs separated by commas */
    const char* backend;      /* NULL = "auto"; nvml, smi, none, replay:FILE[@max] (@max: all of it at once) */
    int64_t interval_ns;      /* 0 = 200 ms; at least 1 ms */
    int64_t warmup_ns;        /* left out of the statistics at the beginning */
    uint64_t max_samples;     /* samples kept per device for percentiles and gpuprof_monitor_column; 0 = 65536 */
    int32_t strict;           /* 1: starting fails where it would otherwise go on without samples */
    int32_t store_samples;    /* 1: keep every sample up to max_samples, in order; 0: a random choice is enough */
    int64_t start_timeout_ns; /* how long starting waits for the first sample; 0 = 2 s, -1 = not at all */
    const char* capture; /* NULL, or a file that gets every sample as a capture (`gpu-profile report FILE samples`) */
} gpuprof_monitor_options;

/* Makes a monitor; nothing runs yet. */
GPUPROF_API int gpuprof_monitor_open(const gpuprof_monitor_options* options, gpuprof_monitor** monitor);
/* Starts (or starts again: the statistics begin anew). Without `strict` a machine without a GPU is no error: the summary
 * then holds the duration and a note that says why there is nothing else. */
GPUPROF_API int gpuprof_monitor_start(gpuprof_monitor* monitor);
/* Takes the last sample and ends. Stopping twice, or what never ran, is not an error. Returns within a second, whatever
 * the driver does. */
GPUPROF_API int gpuprof_monitor_stop(gpuprof_monitor* monitor);
/* Frees it, stopping it first. NULL is allowed. */
GPUPROF_API void gpuprof_monitor_free(gpuprof_monitor* monitor);

/* Devices that were sampled; 0 without a GPU. */
GPUPROF_API size_t gpuprof_monitor_device_count(const gpuprof_monitor* monitor);
/* The summary of the index-th sampled device (0 also without a GPU) as one JSON object, the fields of
 * core/schema/summary_fields.def, null where not measured; while it runs: so far. Valid until the next call for this
 * monitor. NULL on error. */
GPUPROF_API const char* gpuprof_monitor_summary_json(gpuprof_monitor* monitor, size_t index);
/* A summary object of that form as readable text. Valid until the thread's next call. NULL when it cannot be read. */
GPUPROF_API const char* gpuprof_summary_text(const char* summary_json);

/* Samples that were kept, in order of time (all of them with store_samples up to max_samples). */
GPUPROF_API size_t gpuprof_monitor_sample_count(const gpuprof_monitor* monitor, size_t index);
/* Writes one column of them to out[0..capacity) and returns how many there are. `field` is "time_s" (seconds since
 * monitoring started, warm-up included) or a field of core/schema/metrics.def ("util_gpu", "power_w", ...); NaN where a
 * sample has no value. Returns (size_t)-1 for an unknown field. */
GPUPROF_API size_t gpuprof_monitor_column(const gpuprof_monitor* monitor, size_t index, const char* field, double* out,
                                          size_t capacity);
/* The fields of metrics.def as JSON: [{"field","name","unit","doc"}, ...]. Constant. */
GPUPROF_API const char* gpuprof_metrics_json(void);

#ifdef __cplusplus
}
#endif
#endif
