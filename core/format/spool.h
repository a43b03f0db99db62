// The raw chunks of a spool file, which the injected library appends while a program runs, without joining or decoding
// anything. A spool is a capture file: it has the same frame, any prefix is valid, and several may follow each other.
// Each starts with a process chunk. Numbers are little-endian and unaligned; text is UTF-8 as given by the program.
//
//   spool_process   { key text, value text }...        facts of the process: pid, host, command, rank, ...
//   spool_activity  u32 n  { u32 kind  u32 bytes } x n  records    one buffer of CUPTI activity records, unchanged, and
//                                                       the record length of each kind in it
//   spool_names     { u8 space  u64 id  text }...       the meaning of an id in all later chunks; may be redefined
//   spool_nvtx      u32 tid  event...                   one thread's annotations in order (struct HostEvent, then text),
//                                                       and among them its calls about streams (struct StreamCall) and the
//                                                       stacks of its launches
//   spool_clock     i64 realtime  i64 monotonic  u64 cupti   simultaneous readings; cupti is 0 if it has no clock
//   spool_refused   text                               what could not be enabled, as a sentence
//   spool_lost      { u8 reason  u64 count }...         counts so far; the last ones of a part are valid
//   spool_windows   { i64 opened  i64 closed }...       when the capture window was open, by CLOCK_REALTIME; closed
//                                                       is 0 while it is open; repeated with both times afterwards
//   spool_facts     { key text, value text }...         facts of the recording that may change; the last ones are valid
//   spool_graph_nodes  u64 n  struct GraphNodeEvent...  what happened to nodes of CUDA graphs, from the n-th event of the process
//                                                       on; a later part has all of them again
//   spool_steps     struct StepsSeen  struct StepSeries x series  struct KeptStep x kept   steps seen so far, and which of
//                                                       them are kept; the last one of a process is valid
//
// A process that keeps only some of its steps (--keep-slow) writes many parts and deletes those that no kept step needs.
// The fact `part` of its spool_process chunks counts them from 0, and `first_part` is the same in all of them. Parts with
// consecutive numbers continue each other.
//
// Of kernel counters, in a file of their own per process (core/format/counter_plan.h):
//   spool_counter_note   struct CounterLaunch  name text   a launch or range is about to be measured
//   spool_counter_image  struct CounterImage  image        what was measured; without one the process ended in between
//   spool_counter_skips  { u8 reason  u64 count  name text }...   not measured so far, with the first name of each reason;
//                                                       the last ones are valid
//   spool_counter_hung   u64 number  u64 ns             a measurement that did not end in that time
//
// Of instructions, in a file of their own per process: warp samples (CUPTI's PC sampling) and SASS metrics:
//   spool_cubin          struct CubinKey  cubin         a loaded module; each one once
//   spool_stall_reasons  { u32 index  name text }...    what the indices of later reads of this file mean
//   spool_stall_read     struct StallRead  { u64 cubin  u64 offset  u32 correlation  name text  u32 n  { u32 index  u32 samples } x n }...
//                                                       what CUPTI had at one time; all reads add up
//   spool_stall_failure  struct StallFailure            CUPTI refused a call
//   spool_sass_counts    struct SassCounts  { name text  unit text } x metrics  { u64 cubin  u64 offset  name text  u64 x metrics }...
//                                                       counters of the instructions of one launch
//
// text is a u32 length and that many bytes.
#pragma once

#include <cstdint>

namespace gpuprof::inline format::spool {

// The kind of ids that a spool_names entry names.
enum class NameSpace : std::uint8_t {
    pointer = 0,      // a string's address in the program (kernel names)
    runtime_api = 1,  // a callback id
    driver_api = 2,
};

// Why records are missing.
enum class Lost : std::uint8_t {
    cupti_dropped = 0,  // CUPTI had no buffer to write to
    nvtx_full = 1,      // a thread annotated, or called about streams, faster than the library could write
    too_long = 2,       // text was cut
    unwritten = 3,      // could not be written: disk full, too large, no memory
    kept_buffers = 4,   // buffers of records that CUPTI did not return at the end
    late_windows = 5,   // openings of the window that the program did not wait for: its first work may be missing
    many_stacks = 6,    // launches without their stack, because too many different ones came before
    many_nodes = 7,     // events of graph nodes, because too many came before
};

enum class HostEventOp : std::uint8_t {
    push,
    pop,
    start,
    end,
    mark,
    string_name,    // `range` is the handle of a registered string, the text its value
    domain_name,    // `range` is a domain's handle
    thread_name,    // `range` is a thread id of the system
    category_name,  // `range` is a category of `domain`
    stream_name,    // `range` is a stream's id, `domain` its context's
    // Of the next event: `range` is the payload's bits, `text` the category, `detail` the payload's type.
    attributes,
    reset,        // recording paused at `time`: everything open on this thread ended there
    stream_call,  // struct StreamCall
    // `range` is the id of a stack, the text what it consists of: Python's frames as in stack_sample, and after a line feed the
    // native ones, innermost first, one per line: the path of a file, "+0x" and the return address as the file's own symbol
    // table counts. The path is omitted if it is that of the line before, and empty for code that is in no file.
    stack_name,
    launch_stack,  // a call began: `domain` is its correlation id, `range` the id of its stack
    step,          // with --aggregate: a step of thread `domain` began at `time` and took `range` ns of CLOCK_MONOTONIC
};
// Where an event's text is.
enum class TextKind : std::uint8_t { none, inline_text, registered };

// One annotation. `range` links the end to the start. `text` is the length of the text that follows, or the handle of a
// registered string. Events are padded to 8 bytes. Anything shorter than an event, or with time 0, is padding.
struct HostEvent {
    std::uint32_t bytes;  // of the whole event, text and padding included
    HostEventOp op;
    TextKind text_kind;
    std::uint16_t detail;  // of attributes: nvtxPayloadType_t; otherwise 0
    std::uint64_t time;    // CLOCK_REALTIME, ns
    std::uint64_t domain;  // handle; 0 is the default domain
    std::uint64_t range;
    std::uint64_t text;
};
static_assert(sizeof(HostEvent) == 40);

// What a call about streams does.
enum class StreamCallKind : std::uint8_t {
    record_event,   // cudaEventRecord: the event marks the work of the stream so far
    wait_event,     // cudaStreamWaitEvent: later work of the stream waits for the event
    sync_event,     // cudaEventSynchronize: the thread waits for the event
    sync_stream,    // cudaStreamSynchronize: the thread waits for the stream
    begin_capture,  // cudaStreamBeginCapture: what follows goes into a graph and is not executed
    end_capture,    // cudaStreamEndCapture
};

// One call that returned without an error. It begins like an HostEvent, so that readers which do not know it skip it.
struct StreamCall {
    static constexpr std::uint32_t kNoStream = ~std::uint32_t{0};

    std::uint32_t bytes;
    HostEventOp op;  // stream_call
    StreamCallKind kind;
    std::uint16_t unused;
    std::uint64_t time, end;    // CLOCK_REALTIME, ns
    std::uint64_t event;        // handle; 0: the call has none
    std::uint32_t stream;       // CUPTI's id; kNoStream: the call has none, or CUPTI does not know it
    std::uint32_t context;      // CUPTI's id
    std::uint32_t correlation;  // of the call
    std::uint32_t padding;
};
static_assert(sizeof(StreamCall) == 48);

enum class GraphNodeOp : std::uint8_t {
    created,     // the node was captured, or added by a call
    made_whole,  // created while an executable graph was made of a graph: `cloned` follows
    cloned,      // the node is a copy of `other`: cudaGraphInstantiate, cudaGraphClone
    updated,     // an executable graph's node now does what `other` does: cudaGraphExecUpdate
    linked,      // one of the nodes depends on the other; which one, the header of CUPTI leaves open
    unlinked,
};

struct GraphNodeEvent {
    std::uint64_t time;         // CLOCK_REALTIME, ns
    std::uint64_t node, other;  // CUPTI's ids, unique in the process while the nodes exist
    std::uint64_t stack;        // id of the stack on which it was created, as in stack_name; 0: not recorded
    std::uint32_t thread;       // of the system
    std::uint32_t graph;        // CUPTI's id; 0: unknown
    GraphNodeOp op;
    std::uint8_t type;  // CUgraphNodeType
    std::uint8_t unused[6];
};
static_assert(sizeof(GraphNodeEvent) == 48);

// What --keep-slow and --trigger saw and kept. Times are CLOCK_REALTIME, durations CLOCK_MONOTONIC, both in ns.
struct StepsSeen {
    std::int64_t since;      // everything from here on is in the parts; 0: the process ended, and only kept steps are
    std::int64_t reported;   // when this was written
    std::int64_t keep;       // steps to keep at most
    std::int64_t trigger;    // in millionths of the median of earlier steps; 0: none
    std::int64_t warm_up;    // steps of each thread that come first
    std::uint64_t fired;     // steps that took longer than the trigger allows
    std::uint64_t nested;    // steps that began within a step of the same thread; they are not counted as steps
    std::uint64_t unjudged;  // steps that ended too fast, on too many threads, or outside the recording
    std::uint64_t stuck;     // times at which no new part could be created
    std::uint32_t series, kept;
};
static_assert(sizeof(StepsSeen) == 80);

// The steps of one thread.
struct StepSeries {
    std::uint64_t ended;           // number of the last one that ended, from 1
    std::uint64_t slowest;         // number of the slowest step after the warm-up, from 1; 0: none
    std::int64_t slowest_ns;       // its duration
    std::int64_t slowest_median;   // median of the steps before it; 0: unknown
    std::int64_t first_median;     // of the first steps after the warm-up; 0: unknown
    std::int64_t last_median;      // of the last steps; 0: unknown
    std::int64_t longest_between;  // time from the end of a step to the beginning of the next one
    std::int64_t open_since;       // begin of the step in progress; 0: none
    std::uint32_t thread;
    std::uint32_t open_is_mark;  // 1: it began with a mark, and ends with the next one
};
static_assert(sizeof(StepSeries) == 72);

struct KeptStep {
    static constexpr std::uint32_t kWarmUp = 1, kMark = 2, kUnfinished = 4;

    std::uint64_t number;  // in its series, from 1
    std::int64_t since;    // begin of the step before, if it directly precedes this one; else `begin`
    std::int64_t begin, end;
    std::int64_t duration;
    std::int64_t median;   // of the steps before it; 0: unknown
    std::int64_t missing;  // of its beginning, which the parts no longer have
    std::uint32_t thread;
    std::uint32_t flags;
};
static_assert(sizeof(KeptStep) == 64);

// One measurement, written before it begins.
struct CounterLaunch {
    static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

    std::uint64_t number;                                // from 1, per process
    std::uint64_t occurrence;                            // earlier launches of this name
    std::uint64_t time;                                  // CLOCK_REALTIME, ns
    std::uint32_t range;                                 // 1: a range, whose name follows; 0: a kernel
    std::uint32_t device, context, stream, correlation;  // CUPTI's ids; kUnknown: not known
    std::uint32_t grid[3], block[3];
    std::uint32_t dynamic_shared_bytes;
    std::uint32_t cluster;  // blocks per cluster; 0: none
    std::uint32_t padding;
};
static_assert(sizeof(CounterLaunch) == 80);

struct CounterImage {
    std::uint64_t number;   // of its CounterLaunch
    std::uint64_t hash;     // image_hash() of the bytes that follow
    std::uint64_t took_ns;  // from before the measurement to after it
    std::uint32_t code;     // CUPTI's result; if not 0, no image follows
    std::uint32_t dropped;  // ranges that had no room
    char function[48];      // of CUPTI, that returned the code
};
static_assert(sizeof(CounterImage) == 80);

// Why a wanted launch was not measured.
enum class CounterSkip : std::uint8_t {
    device_collective,  // NCCL, NVSHMEM: kernels of several GPUs wait for each other
    multi_device,       // a cooperative launch on several GPUs
    capture,            // the launch went into a graph
    graph,              // a launch of a whole graph
    budget,             // the time for measurements was used up
    busy,               // another thread was measuring
    failed,             // CUPTI refused
    other_chip,         // the plan is for another GPU
    ended,              // after a refusal that holds for all launches
    kinds               // the number of reasons
};

struct CubinKey {
    std::uint64_t crc;    // cuptiGetCubinCrc(), by which samples name it
    std::uint64_t hash;   // image_hash() of its bytes
    std::uint64_t bytes;  // its size; no bytes follow if it was too large, or too many had been written before
};

struct StallRead {
    std::uint64_t span;                      // from 1: the time from one start of sampling to the next stop
    std::uint64_t samples, dropped, others;  // of the span, as CUPTI counts them; others: of kernels without records
    std::uint32_t device, period;            // samples are 2^period cycles apart
    std::uint32_t buffer_full;               // 1: the GPU's buffer overflowed
    std::uint32_t unread;                    // 1: records were left in CUPTI
};
static_assert(sizeof(StallRead) == 48);

struct SassCounts {
    std::uint32_t device, metrics;
};
static_assert(sizeof(SassCounts) == 8);

struct StallFailure {
    std::uint32_t device, code;
    char function[48];  // of CUPTI, or of a setting that it refused
};
static_assert(sizeof(StallFailure) == 56);

}  // namespace gpuprof::format::spool
