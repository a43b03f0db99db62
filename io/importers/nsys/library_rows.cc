// Part of the nsys importer: calls of libraries and language runtimes, each a table of its own in the file, as ranges whose
// domain names the library. Calls of MPI are also communication: with message and peer, as rows of `collective`.
// Tables: "SQLite Schema Reference" of the Analysis Guide, as of schema 3.28.
#include <fmt/format.h>

#include "core/base/text/ascii.h"
#include "io/importers/nsys/nsys_reader.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::nsys {
namespace {

struct Library {
    const char *table, *domain, *name;
    // Its rows last from a request to its completion, whatever the thread does at the same time.
    bool in_background = false;
};
constexpr Library kLibraries[] = {
    {"CUPTI_ACTIVITY_KIND_OPENACC_DATA", "OpenACC", "nameId"},
    {"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", "OpenACC", "nameId"},
    {"CUPTI_ACTIVITY_KIND_OPENACC_OTHER", "OpenACC", "nameId"},
    {"CUBLAS_EVENTS", "cuBLAS", "nameId"},
    {"CUDNN_EVENTS", "cuDNN", "nameId"},
    {"CUDA_HOST_CALLBACK", "CUDA host functions", "nameId"},
    {"UCP_SUBMIT_EVENTS", "UCX", "textId"},
    {"UCP_PROGRESS_EVENTS", "UCX", "textId", true},
    {"UCP_EVENTS", "UCX", "textId"},
    {"MPI_START_WAIT_EVENTS", "MPI", "textId"},
    {"MPI_OTHER_EVENTS", "MPI", "textId"},
};

// The communication of a call by its name: MPI_Iallreduce is "allreduce". Calls that only begin it, or that return when the
// library has copied the message, say nothing of how long it took.
struct MpiCall {
    std::string name;
    bool timed;
};
MpiCall mpi_call(std::string_view text) {
    std::string name;
    for (char c : text.substr(text.starts_with("PMPI_") ? 5 : 4)) name += to_lower(c);
    for (std::string_view end : {"_init", "_c"})
        if (name.ends_with(end)) name.resize(name.size() - end.size());
    bool begins = name.size() > 2 && name[0] == 'i' && name != "init" && !name.starts_with("intercomm");
    if (begins) name.erase(0, 1);
    bool buffered = name == "send" || name == "bsend" || name == "rsend";
    for (std::string_view kind : {"bsend", "rsend", "ssend"})
        if (name == kind) name = "send";
    if (name == "mrecv") name = "recv";
    return {name, !begins && !buffered && text.find("_init") == text.npos};
}

// The bytes of these are the message; of others, it depends on the number of ranks, which the file does not have.
bool size_is_message(std::string_view name) {
    for (std::string_view kind : {"allreduce", "reduce", "bcast", "send", "recv", "sendrecv"})
        if (name == kind) return true;
    return false;
}

}  // namespace

std::optional<Row> Reader::library_range(Scan& rows, const char* domain, StringId name, Scan::Field start,
                                         Scan::Field end, Scan::Field thread) {
    RangeTable& table = batch_.tables.range;
    auto row = span_row(table, rows, start, end);
    if (!row) return row;
    if (auto global = rows.integer(thread)) table.thread.set(*row, host(*global).thread);
    set_known(table.name, *row, name);
    table.domain.set(*row, batch_.intern(domain));
    return row;
}

void Reader::read_libraries() {
    std::vector<Library> libraries(std::begin(kLibraries), std::end(kLibraries));
    for (const auto& [table, columns] : database_.tables())
        if (table.starts_with("OPENMP_EVENT_KIND_")) libraries.push_back({table.c_str(), "OpenMP", "nameId"});
    RangeTable& table = batch_.tables.range;
    for (const Library& library : libraries) {
        Scan rows = scan(library.table);
        auto start = rows.column("start"), end = rows.column("end"), name = rows.column(library.name),
             thread = rows.column(library.in_background ? "" : "globalTid"), file = rows.column("srcFile"),
             line = rows.column("lineNo"), function = rows.column("funcName");
        Scan::Field bytes = rows.column("bytes");
        if (!bytes) bytes = rows.column("packedSize");
        while (rows.next()) {
            StringId called = string(rows.integer(name));
            std::string_view source = text(rows.integer(file));
            if (called != kNoString && !source.empty())
                called = frame(rows.integer(name), fmt::format("{}:{}", source, rows.integer(line).value_or(0)));
            auto row = library_range(rows, library.domain, called, start, end, thread);
            if (!row) continue;
            set_known(table.category, *row, string(rows.integer(function)));
            if (auto size = rows.integer(bytes)) table.payload.set(*row, static_cast<double>(*size));
        }
    }
}

// When graphs and their executables were made: the number in `kernel.graph_id` is that of the graph.
void Reader::read_graph_marks() {
    Scan rows = scan("CUDA_GRAPH_EVENTS");
    auto start = rows.column("start"), end = rows.column("end"), thread = rows.column("globalTid"),
         graph = rows.column("graphId"), original = rows.column("originalGraphId"),
         executable = rows.column("graphExecId");
    while (rows.next()) {
        auto id = rows.integer(graph), from = rows.integer(original), made = rows.integer(executable);
        if (!id && !made) continue;
        std::string name = id ? fmt::format("CUDA graph {}", *id) : "CUDA graph";
        if (made)
            name += fmt::format(" instantiated as {}", *made);
        else if (from && *from > 0)
            name += fmt::format(" cloned from {}", *from);
        else
            name += " created";
        (void)library_range(rows, "CUDA graphs", batch_.intern(name), start, end, thread);
    }
}

void Reader::read_mpi() {
    Scan ranks = scan("MPI_RANKS");
    auto of = ranks.column("globalTid"), number = ranks.column("rank");
    ProcessTable& processes = batch_.tables.process;
    std::map<std::int64_t, std::int64_t> by_pid;
    while (ranks.next())
        if (auto global = ranks.integer(of), rank = ranks.integer(number); global && rank) {
            (void)process(*global);
            by_pid[pid_of(*global)] = *rank;
        }
    for (Row row = 0; row < processes.rows; ++row)
        if (auto rank = by_pid.find(processes.pid[row]); rank != by_pid.end()) processes.rank.set(row, rank->second);

    CollectiveTable& table = batch_.tables.collective;
    for (const char* source : {"MPI_COLLECTIVES_EVENTS", "MPI_P2P_EVENTS"}) {
        Scan rows = scan(source);
        auto start = rows.column("start"), end = rows.column("end"), thread = rows.column("globalTid"),
             name = rows.column("textId"), size = rows.column("size"), received = rows.column("recvSize"),
             peer = rows.column("remoteRank"), root = rows.column("rootRank"), communicator = rows.column("commUid"),
             handle = rows.column("commHandle");
        while (rows.next()) {
            std::string_view called = text(rows.integer(name));
            auto range = library_range(rows, "MPI", string(rows.integer(name)), start, end, thread);
            auto bytes = rows.integer(size), back = rows.integer(received);
            if (!range) continue;
            if (bytes) batch_.tables.range.payload.set(*range, static_cast<double>(*bytes));
            if (!called.starts_with("MPI_") && !called.starts_with("PMPI_")) continue;
            MpiCall call = mpi_call(called);
            Row row = table.add();
            if (auto global = rows.integer(thread)) table.process.set(row, process(*global));
            table.name.set(row, batch_.intern(call.name));
            table.type.set(row, batch_.intern("Byte"));
            bool receives = call.name == "recv";
            if (bytes && *bytes >= 0 && size_is_message(call.name))
                (receives ? table.out_elements : table.in_elements).set(row, *bytes);
            if (back && *back >= 0 && call.name == "sendrecv") table.out_elements.set(row, *back);
            auto id = rows.integer(communicator);
            if (!id) id = rows.integer(handle);
            if (id)
                table.communicator.set(row, batch_.intern(fmt::format("{:#018x}", static_cast<std::uint64_t>(*id))));
            if (auto rank = rows.narrow(peer); rank && *rank >= 0)
                (receives ? table.src_rank : table.dst_rank).set(row, *rank);
            bool to_root = call.name == "reduce" || call.name.starts_with("gather");
            if (auto rank = rows.narrow(root); rank && *rank >= 0)
                if (to_root || call.name == "bcast" || call.name.starts_with("scatter"))
                    (to_root ? table.dst_rank : table.src_rank).set(row, *rank);
            TimeNs from = batch_.tables.range.start[*range];
            table.created_time.set(row, from);
            if (!call.timed || !rows.integer(end)) continue;
            table.started_time.set(row, from);
            table.ended_time.set(row, *rows.integer(end));
            table.exec_time.set(row, span_between(from, *rows.integer(end)));
        }
    }
}

}  // namespace gpuprof::importers::nsys
