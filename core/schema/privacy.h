// What a text column may hold, and so what `gpu-profile scrub` does with it. In every text that it keeps, names of files
// and addresses are replaced (core/model/privacy/recognised_names.h), and so are hosts and users that the recording names.
#pragma once

namespace gpuprof::inline schema {

enum class Privacy {
    term,       // a word of gpu-profile, of a library or of another tool: a kind, a unit, a CUDA function; kept
    numbers,    // shapes, ranks, hashes: kept if there is nothing else
    metric,     // a metric of a profile: the common ones are kept; those of the program are like ranges
    identity,   // the key of a process or thread: the host in it is renamed
    host,       // replaced; the same for `device` and `job`
    device,     //
    job,        //
    program,    // replaced, except well-known programs (python3); the same for `thread`
    thread,     //
    stack,      // frames with files and functions; python_call.name is one frame
    op,         // framework operators; the frameworks' own are kept
    range,      // names chosen by the program: kept unless requested; the same for `kernel`
    kernel,     //
    scope,      // a range, a kernel or a frame
    arguments,  // scalars as JSON; strings in them are removed
    fact,       // table meta: only keys that scrub knows are kept
    removed,    // command lines, places of losses: removed
};

}  // namespace gpuprof::schema
