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

/* The structures of options below as JSON, for languages that cannot read this header: {"bench": {"size", "options": [{"field",
 * "type": text, i32, i64, u64 or f64, "offset", "kind", "default", "parameter" and "flag": its names in Python and on the command
 * line or null, "stopping"}]}, "monitor": ...}. Kinds: core/schema/option_kind.h; times of "default" are seconds. Constant. */
GPUPROF_API const char* gpuprof_options_json(void);

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

/* ---- Benchmarks: how long does it take, and did it help? --------------------------------------------------------
 * The method, and what each field of the JSON rests on: docs/how-it-works/benchmarking-method.md. Everything is called on the thread
 * that calls gpuprof_bench_run; one bench is used by one thread at a time. */

typedef struct gpuprof_bench gpuprof_bench;

/* 0: go on. Anything else ends the run with an error that names the number. */
typedef int (*gpuprof_bench_function)(void* user);

/* The function under test. With CUDA events `call` puts its work on the stream of the options, in the context that is
 * current, and need not wait for it; with the host's clock it returns when the work is done. */
typedef struct gpuprof_bench_work {
    size_t size;                    /* sizeof(gpuprof_bench_work) */
    gpuprof_bench_function call;    /* the work, once */
    gpuprof_bench_function prepare; /* NULL, or called before every call and outside of its time (fresh inputs, say); a
                                       sample is then one call */
    void* user;                     /* what both are given */
    const char* name;               /* NULL = "work"; for people */
} gpuprof_bench_work;

typedef struct gpuprof_bench_options {
    size_t size;             /* sizeof(gpuprof_bench_options) */
    const char* timer;       /* NULL = "auto": "cuda" where there is a device, else "host" with a note that says why */
    int32_t device;          /* ordinal whose primary context is taken when no context is current */
    int32_t hot;             /* 0: the L2 cache is overwritten before every sample (cold); 1: it is left as it is */
    uint64_t stream;         /* a CUstream as an integer; 0 default, 1 legacy default, 2 default of the thread */
    int32_t graph;           /* 1: capture the calls into a CUDA graph and time its replays */
    int32_t no_blocking;     /* 1: no blocking kernel, so that gaps between launches are in the times */
    int32_t keep_throttled;  /* 1: samples taken while clocks were held down count; 0: they are left out where others
                                can be had */
    int32_t no_device_state; /* 1: no clocks, throttle reasons and energy by NVML */
    int64_t batch;           /* calls per sample; 0: found out (1 when cold or with `prepare`) */
    int64_t min_time_ns;     /* of sampling; 0 = 200 ms, -1 = none */
    int64_t timeout_ns;      /* of sampling; 0 = 15 s */
    int64_t min_samples;     /* 0 = 20 */
    int64_t max_samples;     /* 0 = 100000 */
    int64_t min_warmup_ns;   /* 0 = 25 ms, -1 = none: at least one call is always made and not counted */
    int64_t max_warmup_ns;   /* the warm-up ends here even if times have not settled; 0 = 3 s */
    double precision;        /* stop when the 95 % interval of the median is within +- this share; 0 = 0.005 */
    const char*
        stop; /* NULL = "median" (the line above); "entropy": when more samples no longer add entropy; "samples":
                                at min_samples; "time": at min_time_ns */
    double bytes, flops; /* moved and done by one call, for bytes_per_s and flop_per_s; 0: not known */
    const char*
        flops_as; /* NULL, or the arithmetic whose peak flop_per_s is held against: fp64, fp64_tensor, fp32, tf32,
                             fp16, bf16, fp8, fp4, int8 */
} gpuprof_bench_options;

/* Opens the timer; NULL options are all defaults. 3: a timer was asked for by name and cannot be had. */
GPUPROF_API int gpuprof_bench_open(const gpuprof_bench_options* options, gpuprof_bench** bench);
/* "cuda events" or "host". */
GPUPROF_API const char* gpuprof_bench_timer(const gpuprof_bench* bench);
/* Warms up, samples until a rule says stop, and keeps the result. */
GPUPROF_API int gpuprof_bench_run(gpuprof_bench* bench, const gpuprof_bench_work* work);
/* The same for two, their samples taken in turn, so that drift meets both; first the baseline. */
GPUPROF_API int gpuprof_bench_run_pair(gpuprof_bench* bench, const gpuprof_bench_work* baseline,
                                       const gpuprof_bench_work* candidate);
/* The last run as JSON: {"measurements": [one or two], "comparison": null or the object of gpuprof_bench_compare_json}.
 * Valid until the next call for this bench. NULL when nothing ran. */
GPUPROF_API const char* gpuprof_bench_json(gpuprof_bench* bench);
/* Writes the samples of one measurement (0: the first), ns per call in order of time, to out[0..capacity) and returns how many
 * there are. Those left out for throttling are not among them. */
GPUPROF_API size_t gpuprof_bench_samples(const gpuprof_bench* bench, size_t measurement, double* out, size_t capacity);
/* Free and total bytes of device memory now, by the driver. 4 with the host's timer, which has no device. */
GPUPROF_API int gpuprof_bench_memory(gpuprof_bench* bench, uint64_t* free_bytes, uint64_t* total_bytes);
/* Frees it. NULL is allowed. */
GPUPROF_API void gpuprof_bench_free(gpuprof_bench* bench);

/* A stopwatch on a stream: the device's own time of what is put there between start and stop, for callers that run the work
 * themselves and hold a clock of their own beside it. Opening loads the driver and touches no device (3: there is none). The
 * context is the one that is current on the calling thread. */
typedef struct gpuprof_stopwatch gpuprof_stopwatch;

typedef struct gpuprof_lap {
    size_t size;         /* sizeof(gpuprof_lap) */
    double device_ns;    /* from start to the end of what was put on the stream, by the device's clock */
    double beyond_ns;    /* how long the device was still busy after that, by the host's: work on other streams */
    double idle_wait_ns; /* the same wait when the device was idle: what beyond_ns is at the least */
    int32_t held;        /* 1: the stream was held until stop, so that gaps between launches are not in device_ns */
} gpuprof_lap;

GPUPROF_API int gpuprof_stopwatch_open(gpuprof_stopwatch** stopwatch);
/* Waits for the device and marks the begin. `stream`: a CUstream as an integer. `hold` 1: the stream waits for stop, at most
 * 200 ms. */
GPUPROF_API int gpuprof_stopwatch_start(gpuprof_stopwatch* stopwatch, uint64_t stream, int32_t hold);
GPUPROF_API int gpuprof_stopwatch_stop(gpuprof_stopwatch* stopwatch);
/* Waits for the stream, then for the device. */
GPUPROF_API int gpuprof_stopwatch_read(gpuprof_stopwatch* stopwatch, gpuprof_lap* lap);
/* Frees it. NULL is allowed. */
GPUPROF_API void gpuprof_stopwatch_free(gpuprof_stopwatch* stopwatch);

/* The statistics of samples from anywhere: the object "statistics" of a measurement. Valid until the thread's next call. */
GPUPROF_API const char* gpuprof_bench_statistics_json(const double* samples, size_t count);
/* Two sets of samples: {"speedup", "speedup_low", "speedup_high", "level", "verdict", "reason", ...}; speedup = baseline /
 * candidate. `paired` 1: the i-th of one was taken beside the i-th of the other (counts must agree). `min_effect`: changes
 * below this share count as none; 0 = 0.01. Valid until the thread's next call. */
GPUPROF_API const char* gpuprof_bench_compare_json(const double* baseline, size_t baseline_count,
                                                   const double* candidate, size_t candidate_count, int32_t paired,
                                                   double min_effect);

/* ---- Recordings: tables, analyses and SQL as Arrow streams --------------------------------------------------------
 * An opened recording may be used from any thread. Tables and what their streams hand out live on
 * after the recording was freed. Times count from the start of the recording. */

typedef struct gpuprof_trace gpuprof_trace;
struct ArrowArrayStream; /* of the Arrow C stream interface */

/* Reads recordings of any supported tools, or folders of them; several are the processes of one job. 3: none can be read. */
GPUPROF_API int gpuprof_trace_open(const char* const* paths, size_t count, gpuprof_trace** trace);
/* NULL is allowed. */
GPUPROF_API void gpuprof_trace_free(gpuprof_trace* trace);
/* What there is: {"file", "importer", "tool", "window_ns", "time_origin_ns", "tables": [{"name", "doc", "analysis": null or its
 * name, "aliases"}]}. Valid until the trace is freed. */
GPUPROF_API const char* gpuprof_trace_json(const gpuprof_trace* trace);

typedef struct gpuprof_table gpuprof_table;

/* A table or an analysis, by the name that SQL has for it. */
GPUPROF_API int gpuprof_trace_table(gpuprof_trace* trace, const char* name, gpuprof_table** table);
/* The answer to one statement (docs/reference/commands/query.md). `max_rows` 0: all; more rows than that are an error. `time_out_s` 0: none.
 * Statements of one recording take turns. */
GPUPROF_API int gpuprof_trace_sql(gpuprof_trace* trace, const char* sql, uint64_t max_rows, double time_out_s,
                                  gpuprof_table** table);
/* Ends the statement that runs on another thread, with an error there. */
GPUPROF_API void gpuprof_trace_interrupt(gpuprof_trace* trace);

/* {"rows", "columns": [{"name", "type", "unit", "doc"}]}; type: integer, real, text or boolean. Valid until the table is freed. */
GPUPROF_API const char* gpuprof_table_json(const gpuprof_table* table);
/* The table as a stream of one batch, as often as it is asked for. Columns of recordings are not copied. */
GPUPROF_API int gpuprof_table_stream(gpuprof_table* table, struct ArrowArrayStream* out);
/* Frees it; streams and arrays that it gave live on. NULL is allowed. */
GPUPROF_API void gpuprof_table_free(gpuprof_table* table);

#ifdef __cplusplus
}
#endif
#endif
