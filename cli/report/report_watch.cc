#include "cli/report/report_watch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "core/base/files/names_in.h"

namespace gpuprof::inline cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kFileCheckInterval{250};

std::string stamp(const std::string& file) {
    struct stat now {};
    if (stat(file.c_str(), &now) != 0) return file + " missing";
    return fmt::format("{} {} {} {}.{:09}", file, now.st_ino, now.st_size, now.st_mtim.tv_sec, now.st_mtim.tv_nsec);
}

}  // namespace

std::vector<std::string> file_stamps(std::span<const std::string> files) {
    std::vector<std::string> stamps;
    for (const std::string& file : files) {
        std::error_code failed;
        stamps.push_back(stamp(file));
        if (!fs::is_directory(file, failed)) continue;
        for (const std::string& name : names_in(file)) stamps.push_back(stamp((fs::path(file) / name).string()));
    }
    std::sort(stamps.begin(), stamps.end());
    return stamps;
}

void show_on_change(std::span<const std::string> files, const std::function<bool()>& show) {
    std::vector<std::string> shown;
    while (true) {
        std::vector<std::string> before = file_stamps(files);
        if (before != shown) {
            // A file that is still being written changes again soon; the first answer does not wait for that.
            if (!shown.empty()) std::this_thread::sleep_for(kFileCheckInterval);
            if (!shown.empty() && file_stamps(files) != before) continue;
            if (!show()) return;
            shown = std::move(before);
        }
        std::this_thread::sleep_for(kFileCheckInterval);
    }
}

}  // namespace gpuprof::cli
