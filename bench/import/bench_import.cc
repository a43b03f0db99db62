// Compares reading a Kineto trace with other ways to read its JSON: `bench_import PROGRAM FILE [ROUNDS]`. Every
// contender runs in a separate process, to measure its own peak memory. The contenders take turns for ROUNDS rounds, so
// that other load affects them equally. The fastest round of each is shown.
//
//   plain FILE:  PROGRAM report FILE devices; a single-threaded simdjson on-demand walk; python3 json.load (files up to 1 GB)
//   gzip FILE:   PROGRAM report FILE devices; zlib inflate alone
//
// The walk touches every key and value of every event and is timed without loading the file; the program is timed with
// everything.

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct Measured {
    bool ok = false;
    double seconds = 0;      // of the timed part
    double cpu_seconds = 0;  // of the whole process
    double peak_mb = 0;
};

// Runs `work` in a child, which returns the seconds to count; a negative value is a failure.
Measured in_child(const std::function<double()>& work) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    pid_t child = fork();
    if (child == 0) {
        double seconds = work();
        ssize_t written = write(ends[1], &seconds, sizeof seconds);
        _exit(written == sizeof seconds && seconds >= 0 ? 0 : 1);
    }
    close(ends[1]);
    Measured result;
    bool answered = read(ends[0], &result.seconds, sizeof result.seconds) == sizeof result.seconds;
    close(ends[0]);
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    auto seconds_of = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    result.ok = answered && status == 0;
    result.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    result.peak_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
    return result;
}

// Runs a command and discards its output.
Measured run(std::vector<std::string> command) {
    Clock::time_point begin = Clock::now();
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        std::vector<char*> arguments;
        for (std::string& argument : command) arguments.push_back(argument.data());
        arguments.push_back(nullptr);
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    Measured result;
    result.seconds = seconds_since(begin);
    auto seconds_of = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    result.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    result.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    result.peak_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
    return result;
}

std::uint64_t touched = 0;

void walk(simdjson::ondemand::value value) {
    switch (value.type()) {
        case simdjson::ondemand::json_type::object:
            for (auto field : value.get_object()) {
                touched += static_cast<unsigned char>(*field.key().raw());
                walk(field.value());
            }
            break;
        case simdjson::ondemand::json_type::array:
            for (auto element : value.get_array()) walk(element.value());
            break;
        case simdjson::ondemand::json_type::string: touched += std::string_view(value.get_string()).size(); break;
        case simdjson::ondemand::json_type::number: touched += value.get_number().value().is_double() ? 1 : 2; break;
        case simdjson::ondemand::json_type::boolean: touched += bool(value.get_bool()) ? 1 : 2; break;
        case simdjson::ondemand::json_type::null: touched += value.is_null() ? 1 : 2; break;
    }
}

double simdjson_walk(const std::string& file) {
    try {
        simdjson::padded_string text = simdjson::padded_string::load(file);
        Clock::time_point begin = Clock::now();
        simdjson::ondemand::parser parser;
        auto document = parser.iterate(text);
        for (auto field : document.get_object()) {
            touched += static_cast<unsigned char>(*field.key().raw());
            walk(field.value());
        }
        return touched == 0 ? -1 : seconds_since(begin);
    } catch (const simdjson::simdjson_error& error) {
        fmt::print(stderr, "simdjson: {}\n", error.what());
        return -1;
    }
}

double inflate_all(const std::string& file) {
    Clock::time_point begin = Clock::now();
    gzFile in = gzopen(file.c_str(), "rb");
    if (in == nullptr) return -1;
    gzbuffer(in, 256 * 1024);
    std::vector<char> buffer(std::size_t{4} << 20);
    int got = 0;
    while ((got = gzread(in, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0)
        touched += static_cast<unsigned>(got);
    gzclose(in);
    return got < 0 ? -1 : seconds_since(begin);
}

struct Contender {
    std::string name;
    std::function<Measured()> measure;
    Measured best{};
};

double decompressed_bytes(const std::string& file) {
    double bytes = 0;
    gzFile in = gzopen(file.c_str(), "rb");
    std::vector<char> buffer(std::size_t{4} << 20);
    for (int got = 1; in != nullptr && (got = gzread(in, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0;)
        bytes += got;
    gzclose(in);
    return bytes;
}

bool is_gzip(const std::string& file) {
    int fd = open(file.c_str(), O_RDONLY);
    unsigned char magic[2] = {};
    bool gzip = fd >= 0 && read(fd, magic, 2) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
    close(fd);
    return gzip;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print(stderr, "usage: bench_import PROGRAM FILE [ROUNDS]\n");
        return 2;
    }
    std::string program = argv[1], file = argv[2];
    int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
    bool gzip = is_gzip(file);
    double bytes = decompressed_bytes(file);  // also reads plain files, and warms the file cache
    std::vector<Contender> contenders;
    contenders.push_back({"gpu-profile report FILE devices", [&] {
                              return run({program, "report", file, "devices"});
                          }});
    if (gzip) {
        contenders.push_back({"zlib inflate alone", [&] { return in_child([&] { return inflate_all(file); }); }});
    } else {
        // simdjson addresses a document with 32 bits.
        if (bytes < 4.2e9)
            contenders.push_back(
                {"simdjson on-demand walk", [&] { return in_child([&] { return simdjson_walk(file); }); }});
        if (bytes <= 1e9)
            contenders.push_back(
                {"python3 json.load", [&] {
                     return run({"python3", "-c", "import json,sys; json.load(open(sys.argv[1]))", file});
                 }});
    }
    for (int round = 0; round < rounds; ++round)
        for (Contender& contender : contenders) {
            if (round > 0 && contender.name.starts_with("python")) continue;
            Measured measured = contender.measure();
            if (measured.ok && (!contender.best.ok || measured.seconds < contender.best.seconds))
                contender.best = measured;
        }
    fmt::print("{}: {:.0f} MB of JSON{}\n", file, bytes / 1e6, gzip ? ", gzip" : "");
    fmt::print("{:<34} {:>9} {:>9} {:>9} {:>9}\n", "", "seconds", "MB/s", "CPU s", "peak MB");
    for (const Contender& contender : contenders) {
        const Measured& best = contender.best;
        if (!best.ok) fmt::print("{:<34} failed\n", contender.name);
        if (best.ok)
            fmt::print("{:<34} {:>9.3f} {:>9.0f} {:>9.2f} {:>9.0f}\n", contender.name, best.seconds,
                       bytes / 1e6 / best.seconds, best.cpu_seconds, best.peak_mb);
    }
    return 0;
}
