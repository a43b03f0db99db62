// One run of this program with other arguments, and what it said.
#pragma once

#include <string>
#include <vector>

namespace gpuprof::inline cli {

struct ChildEnd {
    bool ok = false;
    int status = -1;      // of its exit; -1 if it was killed or could not be started
    int signal = 0;       // that ended it, other than that of the time limit
    std::string problem;  // its last line on standard error, or what ended it
};

// Standard output and input are /dev/null. After `seconds` the child is killed.
ChildEnd run_child(const std::string& program, const std::vector<std::string>& arguments, double seconds);

}  // namespace gpuprof::cli
