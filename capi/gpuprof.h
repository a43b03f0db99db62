/* The C interface of gpu-profile: libgpuprof.so.
 *
 * Conventions. Strings are UTF-8, zero-terminated. A structure starts with its size, so that old programs work with new
 * libraries. No function throws, prints, or installs a signal handler. Functions that can fail return 0 or one of the
 * program's exit codes (2 usage, 3 cannot read, 4 nothing captured, 5 not permitted, 6 internal);
 * gpuprof_last_error() returns the reason, per thread. Times are nanoseconds.
 *
 * Threads. A monitor may be used from any thread, and from several concurrently. In a child created by fork() the
 * parent's monitors are dead: every function returns an error and none hangs.
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

/* The one-line message of this thread's last failed call; "" without a failure. Valid until the thread's next call. */
GPUPROF_API const char* gpuprof_last_error(void);

/* The structures of options below as JSON, for languages that cannot read this header: {"bench": {"size", "options":
 * [{"field", "type": text, i32, i64, u64 or f64, "offset", "kind", "default", "parameter" and "flag": its names in
 * Python and on the command line or null, "stopping"}]}, "monitor": ...}. Kinds: core/schema/option_kind.h; times in
 * "default" are in seconds. Constant. */
GPUPROF_API const char* gpuprof_options_json(void);

/* A command as captures contain it: one line, with "***" for each secret. Valid until the thread's next call. NULL on
 * error. */
GPUPROF_API const char* gpuprof_command_text(const char* const* words, size_t count);

/* ---- Device sampling: is the GPU busy? ------------------------------------------------------------------------- */

typedef struct gpuprof_monitor gpuprof_monitor;

typedef struct gpuprof_monitor_options {
    size_t size;              /* sizeof(gpuprof_monitor_options) */
    const char* devices;      /* NULL = "0"; "all", or comma-separated numbers and UUIDs */
    const char* backend;      /* NULL = "auto"; nvml, smi, none, replay:FILE[@max] (@max: as fast as possible) */
    int64_t interval_ns;      /* 0 = 200 ms; at least 1 ms */
    int64_t warmup_ns;        /* excluded from the statistics at the start */
    uint64_t max_samples;     /* samples kept per device for percentiles and gpuprof_monitor_column; 0 = 65536 */
    int32_t strict;           /* 1: starting fails if nothing can be sampled; 0: it continues without samples */
    int32_t store_samples;    /* 1: keep all samples in order, up to max_samples; 0: keep a random subset */
    int64_t start_timeout_ns; /* maximum wait for the first sample when starting; 0 = 2 s, -1 = no wait */
    const char* capture;      /* NULL, or a capture file for all samples (`gpu-profile report FILE samples`) */
} gpuprof_monitor_options;

/* Creates a monitor without starting it. */
GPUPROF_API int gpuprof_monitor_open(const gpuprof_monitor_options* options, gpuprof_monitor** monitor);
/* Starts or restarts the monitor, with new statistics. Without `strict` a machine without a GPU is not an error: the
 * summary then has the duration, and a note with the reason. */
GPUPROF_API int gpuprof_monitor_start(gpuprof_monitor* monitor);
/* Takes the last sample and stops. Stopping twice, or before starting, is not an error. Returns within a second,
 * even if the driver hangs. */
GPUPROF_API int gpuprof_monitor_stop(gpuprof_monitor* monitor);
/* Frees it, stopping it first. NULL is allowed. */
GPUPROF_API void gpuprof_monitor_free(gpuprof_monitor* monitor);

/* The number of sampled devices; 0 without a GPU. */
GPUPROF_API size_t gpuprof_monitor_device_count(const gpuprof_monitor* monitor);
/* The summary of the index-th sampled device (0 also without a GPU) as one JSON object with the fields of
 * core/schema/summary_fields.def, null if not measured. A running monitor returns the summary so far. Valid until the
 * next call for this monitor. NULL on error. */
GPUPROF_API const char* gpuprof_monitor_summary_json(gpuprof_monitor* monitor, size_t index);
/* Formats such a summary object as readable text. Valid until the thread's next call. NULL if it is invalid. */
GPUPROF_API const char* gpuprof_summary_text(const char* summary_json);

/* The number of stored samples (with store_samples: all, up to max_samples). */
GPUPROF_API size_t gpuprof_monitor_sample_count(const gpuprof_monitor* monitor, size_t index);
/* Writes one column of the stored samples, in time order, to out[0..capacity) and returns their number. `field` is
 * "time_s" (seconds since monitoring started, warm-up included) or a field of core/schema/metrics.def ("util_gpu",
 * "power_w", ...); NaN if absent. Returns (size_t)-1 for an unknown field. */
GPUPROF_API size_t gpuprof_monitor_column(const gpuprof_monitor* monitor, size_t index, const char* field, double* out,
                                          size_t capacity);
/* The fields of metrics.def as JSON: [{"field","name","unit","doc"}, ...]. Constant. */
GPUPROF_API const char* gpuprof_metrics_json(void);

/* ---- Benchmarks and comparisons ----------------------------------------------------------------------------------
 * The method, and the basis of each JSON field: docs/how-it-works/benchmarking-method.md. Callbacks run on the thread that calls
 * gpuprof_bench_run; a bench must not be used by several threads concurrently. */

typedef struct gpuprof_bench gpuprof_bench;

/* Return 0 to continue. Any other value ends the run with an error that contains it. */
typedef int (*gpuprof_bench_function)(void* user);

/* The function under test. With CUDA events, `call` submits its work to the stream of the options, in the current
 * context, and need not wait for it; with the host's clock, it must return after the work is done. */
typedef struct gpuprof_bench_work {
    size_t size;                    /* sizeof(gpuprof_bench_work) */
    gpuprof_bench_function call;    /* runs the work once */
    gpuprof_bench_function prepare; /* NULL, or called before every call and not timed (for fresh
                                       inputs); a sample is then one call */
    void* user;                     /* passed to both functions */
    const char* name;               /* NULL = "work"; display name */
} gpuprof_bench_work;

typedef struct gpuprof_bench_options {
    size_t size;            /* sizeof(gpuprof_bench_options) */
    const char* timer;      /* NULL = "auto": "cuda" with a device, otherwise "host" with a note of the reason */
    int32_t device;         /* ordinal of the device whose primary context is used if no context is current */
    int32_t hot;            /* 0: overwrite the L2 cache before every sample (cold); 1: leave it unchanged */
    uint64_t stream;        /* a CUstream as an integer; 0 default, 1 legacy default, 2 per-thread default */
    int32_t graph;          /* 1: capture the calls into a CUDA graph and time its replays */
    int32_t no_blocking;    /* 1: no blocking kernel, so that times include launch gaps */
    int32_t keep_throttled; /* 1: keep samples taken at throttled clocks; 0: drop them if other samples are available */
    int32_t no_device_state; /* 1: do not query clocks, throttle reasons and energy (NVML) */
    int64_t batch;           /* calls per sample; 0: automatic (1 if cold or with `prepare`) */
    int64_t min_time_ns;     /* minimum sampling time; 0 = 200 ms, -1 = none */
    int64_t timeout_ns;      /* maximum sampling time; 0 = 15 s */
    int64_t min_samples;     /* 0 = 20 */
    int64_t max_samples;     /* 0 = 100000 */
    int64_t min_warmup_ns;   /* 0 = 25 ms, -1 = none; at least one warm-up call is always made */
    int64_t max_warmup_ns;   /* limit of the warm-up if times do not settle; 0 = 3 s */
    double precision;        /* stop when the 95 % interval of the median is within +- this share; 0 = 0.005 */
    const char*
        stop; /* NULL = "median" (the line above); "entropy": when more samples no longer add entropy; "samples":
                                at min_samples; "time": at min_time_ns */
    double bytes, flops; /* bytes and FLOP of one call, for bytes_per_s and flop_per_s; 0: unknown */
    const char*
        flops_as; /* NULL, or the arithmetic whose peak flop_per_s is compared with: fp64, fp64_tensor, fp32, tf32,
                             fp16, bf16, fp8, fp4, int8 */
} gpuprof_bench_options;

/* Opens the timer; NULL options mean defaults. Returns 3 if an explicitly requested timer is unavailable. */
GPUPROF_API int gpuprof_bench_open(const gpuprof_bench_options* options, gpuprof_bench** bench);
/* "cuda events" or "host". */
GPUPROF_API const char* gpuprof_bench_timer(const gpuprof_bench* bench);
/* Warms up, samples until a stopping rule applies, and stores the result. */
GPUPROF_API int gpuprof_bench_run(gpuprof_bench* bench, const gpuprof_bench_work* work);
/* The same for two functions with alternating samples, so that drift affects both; the baseline comes first. */
GPUPROF_API int gpuprof_bench_run_pair(gpuprof_bench* bench, const gpuprof_bench_work* baseline,
                                       const gpuprof_bench_work* candidate);
/* The last run as JSON: {"measurements": [one or two], "comparison": null or the object of gpuprof_bench_compare_json}.
 * Valid until the next call for this bench. NULL before the first run. */
GPUPROF_API const char* gpuprof_bench_json(gpuprof_bench* bench);
/* Writes the samples of one measurement (0: the first), ns per call in time order, to out[0..capacity) and returns
 * their number. Excludes samples dropped for throttling. */
GPUPROF_API size_t gpuprof_bench_samples(const gpuprof_bench* bench, size_t measurement, double* out, size_t capacity);
/* Free and total bytes of device memory, by the driver. Returns 4 with the host's timer, which has no device. */
GPUPROF_API int gpuprof_bench_memory(gpuprof_bench* bench, uint64_t* free_bytes, uint64_t* total_bytes);
/* Frees it. NULL is allowed. */
GPUPROF_API void gpuprof_bench_free(gpuprof_bench* bench);

/* A stopwatch on a stream: the device time of the work submitted between start and stop, for callers that run the work
 * and read the host's clock themselves. Opening loads the driver and touches no device (returns 3 without a driver).
 * Uses the current context of the calling thread. */
typedef struct gpuprof_stopwatch gpuprof_stopwatch;

typedef struct gpuprof_lap {
    size_t size;         /* sizeof(gpuprof_lap) */
    double device_ns;    /* from start to the end of the work on the stream, by the device's clock */
    double beyond_ns;    /* time that the device stayed busy afterwards, by the host's clock: work on other streams */
    double idle_wait_ns; /* the same wait on an idle device: the minimum of beyond_ns */
    int32_t held;        /* 1: the stream was blocked until stop, so that device_ns excludes launch gaps */
} gpuprof_lap;

GPUPROF_API int gpuprof_stopwatch_open(gpuprof_stopwatch** stopwatch);
/* Waits for the device and marks the start. `stream`: a CUstream as an integer. `hold` 1: blocks the stream until stop,
 * for at most 200 ms. */
GPUPROF_API int gpuprof_stopwatch_start(gpuprof_stopwatch* stopwatch, uint64_t stream, int32_t hold);
GPUPROF_API int gpuprof_stopwatch_stop(gpuprof_stopwatch* stopwatch);
/* Waits for the stream, then for the device. */
GPUPROF_API int gpuprof_stopwatch_read(gpuprof_stopwatch* stopwatch, gpuprof_lap* lap);
/* Frees it. NULL is allowed. */
GPUPROF_API void gpuprof_stopwatch_free(gpuprof_stopwatch* stopwatch);

/* The statistics of arbitrary samples: the object "statistics" of a measurement. Valid until the thread's next call. */
GPUPROF_API const char* gpuprof_bench_statistics_json(const double* samples, size_t count);
/* Two sets of samples: {"speedup", "speedup_low", "speedup_high", "level", "verdict", "reason", ...}; speedup =
 * baseline / candidate. `paired` 1: the i-th samples of both sides were taken together (counts must be equal); 2: by two
 * processes. 0: at different times. With 0 and 2 the interval includes what processes of the same code are assumed to
 * differ by.
 * `min_effect`: smaller relative changes count as none; 0 = 0.01. Valid until the thread's next call. */
GPUPROF_API const char* gpuprof_bench_compare_json(const double* baseline, size_t baseline_count,
                                                   const double* candidate, size_t candidate_count, int32_t paired,
                                                   double min_effect);

/* ---- Recordings: tables, analyses and SQL as Arrow streams --------------------------------------------------------
 * An open recording may be used from any thread. Tables and the arrays of their streams remain valid after the
 * recording is freed. Times count from the start of the recording. */

typedef struct gpuprof_trace gpuprof_trace;
struct ArrowArrayStream; /* of the Arrow C stream interface */

/* Reads recordings of any supported tool, or folders of them; several are the processes of one job. Returns 3 if none
 * is readable. */
GPUPROF_API int gpuprof_trace_open(const char* const* paths, size_t count, gpuprof_trace** trace);
/* NULL is allowed. */
GPUPROF_API void gpuprof_trace_free(gpuprof_trace* trace);
/* The contents: {"file", "importer", "tool", "window_ns", "time_origin_ns", "tables": [{"name", "doc", "analysis": null
 * or its name, "aliases"}]}. Valid until the trace is freed. */
GPUPROF_API const char* gpuprof_trace_json(const gpuprof_trace* trace);

typedef struct gpuprof_table gpuprof_table;

/* Opens a table or an analysis by its SQL name. */
GPUPROF_API int gpuprof_trace_table(gpuprof_trace* trace, const char* name, gpuprof_table** table);
/* Opens the result of one SQL statement (docs/reference/commands/query.md). More than `max_rows` rows are an error (0: no limit).
 * `time_out_s` 0: no limit. Statements on one recording run one at a time. */
GPUPROF_API int gpuprof_trace_sql(gpuprof_trace* trace, const char* sql, uint64_t max_rows, double time_out_s,
                                  gpuprof_table** table);
/* Cancels the statement running on another thread, which then returns an error. */
GPUPROF_API void gpuprof_trace_interrupt(gpuprof_trace* trace);

/* {"rows", "columns": [{"name", "type", "unit", "doc"}]}; type: integer, real, text or boolean. Valid until the table
 * is freed. */
GPUPROF_API const char* gpuprof_table_json(const gpuprof_table* table);
/* Exports the table as a stream of one batch; may be called repeatedly. Columns of recordings are not copied. */
GPUPROF_API int gpuprof_table_stream(gpuprof_table* table, struct ArrowArrayStream* out);
/* Frees it; its streams and arrays remain valid. NULL is allowed. */
GPUPROF_API void gpuprof_table_free(gpuprof_table* table);

/* ---- Triggers: record a part of a job that runs under `gpu-profile record --standby -o FOLDER` ------------------- */

typedef struct gpuprof_trigger_options {
    size_t size;       /* sizeof(gpuprof_trigger_options) */
    int64_t at_ns;     /* when all ranks start, CLOCK_REALTIME; 0: in 2 s, on a network file system in 10 s */
    int64_t length_ns; /* 0 = 5 s, with steps 60 s; at most 600 s */
    int64_t steps;     /* whole steps that all ranks have in common; 0: by time alone */
    const char* ranks; /* NULL = all; such as "0,8-15" */
    int64_t
        last_ns; /* capture this long until now instead, of a job recorded with --keep-last; excludes the first three; 0: not */
} gpuprof_trigger_options;

/* Writes a request into the folder and returns at once; the captures appear in FOLDER/tNUMBER (four digits). `options` and `number`
 * may be NULL. Fails with 4 if nobody is in standby there, and with 5 if another trigger is in progress. */
GPUPROF_API int gpuprof_trigger(const char* folder, const gpuprof_trigger_options* options, int64_t* number);
/* Ends the one in progress; 4 if there is none. */
GPUPROF_API int gpuprof_trigger_stop(const char* folder);

#ifdef __cplusplus
}
#endif
#endif
