#include "cli/view/private_names.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "analyze/facts/kernels/source_texts.h"

namespace gpuprof::inline cli {
namespace {

// Folders at the top, such as /tmp, reveal nothing.
void add_folder(PrivateNames& names, const std::filesystem::path& folder) {
    std::string text = folder.lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    if (text.starts_with('/') && std::count(text.begin(), text.end(), '/') > 1) names.folders.push_back(text);
}

}  // namespace

PrivateNames private_names(std::span<const std::string> files, const std::string& sources) {
    PrivateNames names;
    if (!sources.empty()) {
        add_folder(names, std::filesystem::absolute(sources));
        names.place = [texts = SourceTexts(sources)](std::string_view path) { return texts.place(path); };
    }
    std::error_code unknown;
    if (const char* home = std::getenv("HOME")) add_folder(names, home);
    add_folder(names, std::filesystem::current_path(unknown));
    for (const std::string& file : files)
        if (!file.empty()) add_folder(names, std::filesystem::absolute(file, unknown).parent_path());
    if (const passwd* user = getpwuid(getuid()); user != nullptr) {
        add_folder(names, user->pw_dir);
        if (std::string name = user->pw_name; name != "root" && !name.empty()) names.users.push_back(name);
    }
    return names;
}

}  // namespace gpuprof::cli
