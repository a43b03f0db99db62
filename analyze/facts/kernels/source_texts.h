// Lines of source files on this machine, to show beside counters. Reads only below the folder that the option `sources`
// names, and nothing without it: a recording comes from elsewhere, and the paths in it must not make a report repeat
// files of this machine. Regular files up to 4 MiB, each once.
//
// A recorded path outside the folder is looked up by its end: with /opt/project, /build/project/src/a.cu is
// /opt/project/src/a.cu, because that is the longest end that exists there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline facts {

class SourceTexts {
public:
    // `folder` "": finds nothing.
    explicit SourceTexts(std::string folder) : folder_(std::move(folder)) {}

    // The line (from 1) of a recorded file, without spaces around it; absent if the file or the line does not exist.
    std::optional<std::string_view> line(std::string_view file, std::int64_t number);
    // Where a recorded file is below the folder, as a relative path; "" if it is not there.
    std::string place(std::string_view file) const;
    // Existing files that could not be read, each with the reason.
    const std::vector<std::string>& unreadable() const { return unreadable_; }

private:
    const std::vector<std::string>& lines_of(std::string_view file);

    std::string folder_;
    std::map<std::string, std::vector<std::string>, std::less<>> files_;  // by recorded path; empty if not found
    std::vector<std::string> unreadable_;
};

}  // namespace gpuprof::facts
