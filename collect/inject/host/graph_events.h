// Where the nodes of CUDA graphs come from: each creation of a node with the stack of the thread that captured it, each copy
// into an executable graph, and the dependencies between nodes, from CUPTI's callbacks about resources. They come while a
// graph is made, and none while it is launched. Events are kept until the process ends, because every part of a recording
// needs those of all graphs, and graphs are often captured before the window opens.
//
// Like launch_stacks.h, this part allocates on the program's threads.
#pragma once

#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/spool/spool_file.h"

namespace gpuprof::inject {

// Whether a callback of the resource domain is about graphs.
constexpr bool is_about_graphs(std::uint32_t cbid) noexcept { return (cbid >= 9 && cbid <= 20) || cbid == 22; }

// Asks for the callbacks. Not with --graph graph, because records then have no nodes.
void watch_graph_nodes(const Cupti& cupti, void* subscriber) noexcept;
// A callback of CUPTI's resource domain about graphs, on a thread of the program.
void on_graph_resource(const Cupti& cupti, std::uint32_t cbid, const void* about) noexcept;

// What is new since the last call, or everything for a new file. Spool thread only.
void write_graph_nodes(SpoolFile& file, bool new_file) noexcept;
// Events that were not kept, because too many came before.
std::uint64_t lost_graph_events() noexcept;
// In a forked child: its parent's graphs are not its own.
void forget_graph_nodes() noexcept;

}  // namespace gpuprof::inject
