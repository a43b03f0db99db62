// The requests of the page below /sql:
//     GET  /sql/schema     tables, columns, functions, and the limits of a query
//     POST /sql            the body is SQL: 202 and {"query": N}; 409 while another query is running
//     GET  /sql/N          {"state": running, cancelling, cancelled, failed or done, ...}
//     POST /sql/N/cancel   204
// A POST has the type application/sql, which forms of other pages cannot send.
#pragma once

#include <memory>

#include "cli/view/content.h"

namespace gpuprof::inline cli {

// `trace` must outlive the pages.
std::unique_ptr<SqlPages> make_sql_pages(const Trace& trace);

}  // namespace gpuprof::cli
