// Fuzz target of histories. The first byte chooses: a file as it is, or a sound history into which the other bytes are written, each
// three of them one byte at one place. Any file gives runs or an error; reading does not change it; and a run that was added is there,
// with those before it, or the file is refused.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "compare/history.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"

namespace gpuprof::fuzz {
namespace {

using compare::History;
using compare::HistoryRun;

// A folder of this process's own, in memory where that is possible.
class Folder {
public:
    Folder() {
        for (const char* parent : {"/dev/shm", "/tmp"}) {
            path_ = std::string(parent) + "/gpuprof-fuzz-XXXXXX";
            if (mkdtemp(path_.data()) != nullptr) return;
        }
        promise(false, "there is a folder to write to");
    }
    ~Folder() {
        clear();
        rmdir(path_.c_str());
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file() const { return path_ + "/history.db"; }
    void clear() const {
        for (const char* ending : {"", "-journal", "-wal", "-shm"}) unlink((file() + ending).c_str());
    }

private:
    std::string path_;
};

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

HistoryRun some_run() {
    HistoryRun run;
    run.key = {"label", "machine", "hardware", "tool"};
    run.file = "trace.json";
    run.values[0] = 1.5;
    return run;
}

std::string sound_history(const Folder& folder) {
    folder.clear();
    Result<History> history = History::open_to_add(folder.file());
    promise(history.ok() && history->add(some_run()).ok() && history->add(some_run()).ok(), "a new history takes runs");
    return contents(folder.file());
}

std::string with_changes(std::string file, Choices& choices) {
    while (!choices.empty()) {
        std::size_t at = choices.two_bytes();
        file[at % file.size()] = static_cast<char>(choices.byte());
    }
    return file;
}

}  // namespace

void run_history(std::string_view bytes) {
    static const Folder folder;
    static const std::string sound = sound_history(folder);
    Choices choices(bytes);
    bool change = choices.byte() % 2 == 1;
    std::string before = change ? with_changes(sound, choices) : std::string(choices.rest());
    folder.clear();
    std::ofstream(folder.file(), std::ios::binary) << before;

    std::size_t known = 0;
    {
        Result<History> history = History::open_to_read(folder.file());
        if (history) {
            Result<std::vector<HistoryRun>> runs = history->runs("");
            if (runs) {
                known = runs->size();
                compare::comparable(*runs, some_run().key, 5);
                compare::history_table(*runs);
            }
        }
    }
    promise(contents(folder.file()) == before, "reading changes nothing");
    Result<History> history = History::open_to_add(folder.file());
    if (!history) return promise(contents(folder.file()) == before, "what is refused is not changed");
    Result<std::int64_t> added = history->add(some_run());
    if (!added) return;
    Result<std::vector<HistoryRun>> runs = history->runs("");
    promise(!runs || runs->size() == known + 1, "the run is there, and those before it");
}

}  // namespace gpuprof::fuzz
