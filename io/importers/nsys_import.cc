// Importer for the SQLite databases that `nsys export --type sqlite` writes, schema 2.x to 3.x. A missing table was not
// collected; tables have no index and are read in one pass each, in file order. Times are ns since the start of the
// session and become ns of UTC by TARGET_INFO_SESSION_START_TIME. Environment variables and program output, which these
// files also contain, are not imported.
// Format: https://docs.nvidia.com/nsight-systems/UserGuide, "SQLite Schema Reference".
#include "io/importers/formats.h"

#include <fmt/format.h>

#include "io/importers/foreign_file.h"
#include "io/importers/nsys/nsys_reader.h"
#include "io/importers/source/memory_limit.h"

namespace gpuprof::inline importers {

// The tables of a database are known only once it is open.
int sniff_nsys(std::string_view head) { return is_sqlite(head) ? 50 : 0; }

Status import_nsys(Source& source, TraceBuilder& builder) {
    Result<Database> database = Database::open(source);
    if (!database.ok()) return database.error();
    return import_database(*database, source, builder);
}

// By the tables that it has, whatever its beginning looked like.
Status import_database(const Database& database, Source& source, TraceBuilder& builder) {
    if (database.has("StringIds") || database.has("META_DATA_EXPORT") || database.computed().contains("StringIds"))
        return read_nsys(database, source, builder);
    if (is_rocpd(database)) return read_rocpd(database, source, builder);
    return Error{ExitCode::unreadable, fmt::format("cannot read {}: not an Nsight Systems database but {}",
                                                   source.name(), foreign_database(database))};
}

Status read_nsys(const Database& database, Source& source, TraceBuilder& builder) {
    Batch batch;
    skip_unselected(batch.tables, builder.selected());
    nsys::Reader reader(database, batch);
    reader.read();
    if (database.over_memory()) return MemoryLimit(source).error();
    if (std::string view = reader.computed_table(); !view.empty())
        return Error{
            ExitCode::unreadable,
            fmt::format("cannot read {}: {} is a view or a virtual table, and views from foreign files are not "
                        "evaluated; export the report again with nsys",
                        source.name(), view)};
    if (database.truncated()) batch.lose(Loss::truncated, source.name());
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    batch.tables.close();
    builder.set_tool(reader.recorder());
    if (reader.session_start()) builder.set_time_base(*reader.session_start());
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
