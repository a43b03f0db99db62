#include "tests/fakes/cupti/pm_series.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace fake_cupti {
namespace {

[[noreturn]] void refuse(const std::string& what) {
    std::fprintf(stderr, "fake libcupti: %s in GPUPROF_FAKE_PM; see tests/fakes/cupti/pm_series.h\n", what.c_str());
    std::abort();
}

void read_csv(const std::string& path, PmSeries& series) {
    std::ifstream file(path);
    std::string line, cell;
    if (!std::getline(file, line)) refuse("no file " + path);
    std::istringstream names(line);
    while (std::getline(names, cell, ',')) series.columns.emplace(cell, series.columns.size());
    while (std::getline(file, line)) {
        std::istringstream cells(line);
        std::vector<double> row;
        while (std::getline(cells, cell, ',')) row.push_back(std::strtod(cell.c_str(), nullptr));
        if (row.size() == series.columns.size()) series.rows.push_back(std::move(row));
    }
    if (series.rows.empty()) refuse("no samples in " + path);
}

void take_word(const std::string& word, PmSeries& series) {
    std::size_t equals = word.find('=');
    if (equals == std::string::npos) refuse("'" + word + "'");
    std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    auto number = std::strtoull(value.c_str(), nullptr, 10);
    if (key == "series")
        read_csv(value, series);
    else if (key == "log")
        series.log = value;
    else if (key == "chip")
        series.chip = value;
    else if (key == "per_pass")
        series.per_pass = number;
    else if (key == "by_time")
        series.by_time = value != "no";
    else if (key == "config")
        series.config = number;
    else if (key == "oom")
        series.oom = number;
    else if (key == "lap")
        series.lap = number, series.lap_length = std::strtoull(value.substr(value.find(':') + 1).c_str(), nullptr, 10);
    else if (key == "evaluate_us")
        series.evaluate_us = static_cast<unsigned>(number);
    else
        refuse("'" + word + "'");
}

}  // namespace

const PmSeries& pm_series() {
    static const PmSeries& series = *[] {
        auto* made = new PmSeries;
        const char* named = std::getenv("GPUPROF_FAKE_PM");
        std::istringstream words(named ? named : "");
        for (std::string word; words >> word;) take_word(word, *made);
        if (made->rows.empty()) refuse("no series");
        return made;
    }();
    return series;
}

}  // namespace fake_cupti
