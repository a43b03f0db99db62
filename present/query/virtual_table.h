// A relation of a catalogue as an SQLite virtual table: read-only, eponymous (no CREATE needed), without copies.
#pragma once

#include "present/query/catalogue.h"

struct sqlite3;

namespace gpuprof::inline query {

// Registers every relation with the connection. The catalogue must outlive the connection.
Status add_virtual_tables(sqlite3* database, Catalogue& catalogue);

}  // namespace gpuprof::query
