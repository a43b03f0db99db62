// What a text column reveals about people, machines and programs, and so what `gpu-profile scrub` does with it.
#pragma once

namespace gpuprof::inline schema {

enum class Privacy {
    open,       // a word of a closed list, a metric, a CUDA function, a shape: kept
    identity,   // the key of a process or thread: the host in it is renamed
    host,       // replaced; the same for `device`
    device,     //
    program,    // replaced, except well-known programs (python3); the same for `thread`
    thread,     //
    stack,      // frames with files and functions; python_call.name is one frame
    op,         // framework operators; the frameworks' own are kept
    range,      // names chosen by the program: kept unless requested; the same for `kernel`
    kernel,     //
    scope,      // a range or a kernel
    arguments,  // scalars as JSON; strings in them are removed
    fact,       // table meta: only keys that scrub knows are kept
    removed,    // command lines, places of losses: removed
};

}  // namespace gpuprof::schema
