// The importers of the list (importer.cc): how sure each is that bytes are its own, and how it reads them. The top of
// each file describes the format and names its specification.
#pragma once

#include <string_view>

#include "core/model/build/trace_builder.h"
#include "io/importers/source/source.h"

namespace gpuprof::inline importers {

int sniff_capture(std::string_view head);
Status import_capture(Source& source, TraceBuilder& builder);
// What `record` has recorded itself: names of native functions are looked up in the files that ran, which the recording names. No other
// reader opens those.
Status import_own_capture(Source& source, TraceBuilder& builder);

int sniff_kineto(std::string_view head);
Status import_kineto(Source& source, TraceBuilder& builder);

int sniff_nsys(std::string_view head);
Status import_nsys(Source& source, TraceBuilder& builder);

// SQLite databases: those of all tools begin alike, so any of their importers takes what the tables say.
class Database;
Status import_database(const Database& database, Source& source, TraceBuilder& builder);
Status read_nsys(const Database& database, Source& source, TraceBuilder& builder);
bool is_rocpd(const Database& database);
Status read_rocpd(const Database& database, Source& source, TraceBuilder& builder);

int sniff_rocpd(std::string_view head);
Status import_rocpd(Source& source, TraceBuilder& builder);

int sniff_rocprof_json(std::string_view head);
Status import_rocprof_json(Source& source, TraceBuilder& builder);

int sniff_nsys_stats(std::string_view head);
Status import_nsys_stats(Source& source, TraceBuilder& builder);

int sniff_ncu(std::string_view head);
Status import_ncu(Source& source, TraceBuilder& builder);

int sniff_smi(std::string_view head);
Status import_smi(Source& source, TraceBuilder& builder);

int sniff_torch_snapshot(std::string_view head);
Status import_torch_snapshot(Source& source, TraceBuilder& builder);

int sniff_torch_timeline(std::string_view head);
Status import_torch_timeline(Source& source, TraceBuilder& builder);

int sniff_flight_recorder(std::string_view head);
Status import_flight_recorder(Source& source, TraceBuilder& builder);

int sniff_nccl_inspector(std::string_view head);
Status import_nccl_inspector(Source& source, TraceBuilder& builder);

int sniff_xplane(std::string_view head);
Status import_xplane(Source& source, TraceBuilder& builder);

int sniff_xprof_json(std::string_view head);
Status import_xprof_json(Source& source, TraceBuilder& builder);

int sniff_proton(std::string_view head);
Status import_proton(Source& source, TraceBuilder& builder);

int sniff_proton_scopes(std::string_view head);
Status import_proton_scopes(Source& source, TraceBuilder& builder);

int sniff_torch_rows(std::string_view head);
Status import_torch_rows(Source& source, TraceBuilder& builder);

int sniff_wprof(std::string_view head);
Status import_wprof(Source& source, TraceBuilder& builder);

int sniff_perfetto(std::string_view head);
Status import_perfetto(Source& source, TraceBuilder& builder);

int sniff_pprof(std::string_view head);
Status import_pprof(Source& source, TraceBuilder& builder);

int sniff_series(std::string_view head);
Status import_series(Source& source, TraceBuilder& builder);

}  // namespace gpuprof::importers
