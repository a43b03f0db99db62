// For tests of importers: imports text, and prints a trace so that two can be compared.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "io/importers/importer.h"
#include "tests/unit/loss_count.h"

namespace gpuprof::test {

// Imports `bytes` as a file named "t"; a failed import is an empty trace and a failure of the test.
Trace import_text(std::string_view bytes);
// The error of importing `bytes`; ok is a failure of the test.
Error import_error(std::string_view bytes);

// {"traceEvents": [events]} with `header` members before it.
std::string object_trace(std::string_view events, std::string_view header = "");
// One complete event: name, category, pid, tid, ts, dur and the inside of args.
std::string event(std::string_view category, std::string_view name, std::string_view args = "",
                  std::string_view ts = "1.000", std::string_view dur = "2.000", std::string_view pid = "7",
                  std::string_view tid = "8");

// Every table, row and present value as text. With `losses` false, without the table of losses.
std::string dump(const Trace& trace, bool losses = true);

std::string loss_place(const Trace& trace, std::string_view kind);

// The bytes of a file of tests/fixtures, decompressed.
std::string fixture(const std::string& name);

// gzip of `text`, one member.
std::string gzip(std::string_view text);

}  // namespace gpuprof::test
