// A relation of a catalogue as a virtual table of SQLite: read-only, there without being created, nothing copied.
#pragma once

#include "core/query/catalogue.h"

struct sqlite3;

namespace gpuprof {

// Makes every relation known to the connection, which the catalogue must outlive.
Status add_virtual_tables(sqlite3* database, Catalogue& catalogue);

}  // namespace gpuprof
