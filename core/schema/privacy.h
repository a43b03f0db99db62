// What the texts of a column tell of people, machines and programs, and so what `gpu-profile scrub` does with them.
#pragma once

namespace gpuprof {

enum class Privacy {
    open,       // a word of a closed list, a metric, a function of CUDA, a shape: kept
    identity,   // the key of a process or thread: the host in it gets another name
    host,       // replaced, as devices are
    device,     //
    program,    // replaced, except for programs that everyone has (python3); threads likewise
    thread,     //
    stack,      // frames with files, and functions; python_call.name is one frame
    op,         // framework operators; those of frameworks themselves are kept
    range,      // names in the program: kept unless asked for
    kernel,     //
    scope,      // a range or a kernel
    arguments,  // scalars as JSON; texts among them are removed
    fact,       // of table meta: only keys that scrub knows are kept
    removed,    // command lines, places of losses: nothing is kept
};

}  // namespace gpuprof
