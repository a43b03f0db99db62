// Importers for AMD's databases: rocpd (rocprofv3, rocprof-sys), whose tables are called rocpd_NAME_GUID, a set of them for
// each process that was merged into the file, below views of the plain names; its predecessor of rocmProfileData
// (.rpd), whose tables have the plain names; and the analysis of rocprof-compute. Views are not evaluated. The environment of processes, which rocpd stores, is not
// read. Times are ns of the system's boot clock and stay as they are.
// Formats: ROCm/rocm-systems, projects/rocprofiler-sdk/source/share/rocprofiler-sdk-rocpd; ROCm/rocmProfileData, rpd_tracer.
#include <fmt/format.h>

#include "io/importers/formats.h"
#include "io/importers/rocpd/rocpd_reader.h"
#include "io/importers/source/memory_limit.h"

namespace gpuprof::inline importers {
namespace {

constexpr std::string_view kMetadata = "rocpd_metadata_";

// What follows rocpd_NAME in the tables of each recording.
std::vector<std::string> guids_of(const Database& database) {
    std::vector<std::string> guids;
    for (auto at = database.tables().lower_bound(std::string(kMetadata));
         at != database.tables().end() && at->first.starts_with(kMetadata); ++at)
        guids.push_back(at->first.substr(kMetadata.size() - 1));
    return guids;
}

bool is_compute(const Database& database) { return database.has("compute_kernel") && database.has("compute_dispatch"); }

}  // namespace

// The tables of a database are known only once it is open; their definitions are near its beginning.
int sniff_rocpd(std::string_view head) {
    auto has = [head](std::string_view table) { return head.find(table) != head.npos; };
    return is_sqlite(head) && (has("rocpd_metadata") || has("rocpd_op") || has("compute_workload")) ? 60 : 0;
}

bool is_rocpd(const Database& database) {
    return !guids_of(database).empty() || (database.has("rocpd_op") && database.has("rocpd_string")) ||
           is_compute(database);
}

Status read_rocpd(const Database& database, Source& source, TraceBuilder& builder) {
    Batch batch;
    skip_unselected(batch.tables, builder.selected());
    std::vector<std::string> guids = guids_of(database);
    HostPlaces places(batch);
    rocpd::GpuNumbers gpus;
    for (const std::string& guid : guids)
        if (Status read = rocpd::Reader(database, batch, places, gpus, guid).read(source.name()); !read) return read;
    bool analysis = guids.empty() && is_compute(database);
    if (analysis)
        rocpd::read_compute(database, batch);
    else if (guids.empty())
        rocpd::read_rpd(database, batch);
    if (database.over_memory()) return MemoryLimit(source).error();
    if (database.truncated()) batch.lose(Loss::truncated, source.name());
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    batch.tables.close();
    builder.set_tool(analysis ? "rocprof-compute" : guids.empty() ? "rocmProfileData" : "rocprofv3");
    builder.append(std::move(batch));
    return {};
}

Status import_rocpd(Source& source, TraceBuilder& builder) {
    Result<Database> database = Database::open(source);
    if (!database.ok()) return database.error();
    return import_database(*database, source, builder);
}

}  // namespace gpuprof::importers
