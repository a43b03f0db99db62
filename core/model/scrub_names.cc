#include "core/model/scrub_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/base/ascii.h"
#include "core/schema/debug_env.h"

namespace gpuprof::inline model {
namespace {

using Words = std::span<const std::string_view>;

// Names of programs and threads that reveal nothing about their owner.
constexpr std::string_view kPublicPrograms[] = {
    "python", "torchrun",       "bash",           "sh",        "env", "node", "java",
    "julia",  "pt_main_thread", "pt_data_worker", "MainThread"};
// Packages with publicly known files: the first folder or file below site-packages or of a relative path.
constexpr std::string_view kPublicPackages[] = {"torch",
                                                "torchvision",
                                                "torchaudio",
                                                "triton",
                                                "jax",
                                                "jaxlib",
                                                "flax",
                                                "optax",
                                                "numpy",
                                                "tensorflow",
                                                "transformers",
                                                "accelerate",
                                                "deepspeed",
                                                "lightning",
                                                "pytorch_lightning",
                                                "cupy",
                                                "numba",
                                                "gpu_profile",
                                                "vllm",
                                                "asyncio",
                                                "concurrent",
                                                "contextlib",
                                                "functools",
                                                "importlib",
                                                "json",
                                                "logging",
                                                "threading",
                                                "pickle",
                                                "multiprocessing",
                                                "queue",
                                                "random",
                                                "runpy",
                                                "selectors",
                                                "socket",
                                                "subprocess"};
constexpr std::string_view kPublicLibraries[] = {
    "libcuda", "libcu", "libc10",     "libtorch", "libpython", "libc.",   "libc-",   "libm.", "libstdc++",
    "libnccl", "libnv", "libpthread", "ld-linux", "[vdso]",    "[kernel", "libgomp", "libmkl"};
// Names given by frameworks, not programs; the flag says whether the text that follows is public too.
struct FrameworkName {
    std::string_view begin;
    bool rest_is_public;
};
constexpr FrameworkName kFrameworkNames[] = {{"aten::", true},
                                             {"prims::", true},
                                             {"c10d::", true},
                                             {"c10::", true},
                                             {"nccl:", true},
                                             {"torch::autograd::", true},
                                             {"ProfilerStep#", true},
                                             {"enumerate(DataLoader)#", true},
                                             {"Optimizer.step#", false},
                                             {"Optimizer.zero_grad#", false},
                                             {"autograd::engine::evaluate_function: ", false},
                                             {"DistributedDataParallel.forward", true},
                                             {"record_param_comms", true}};

// "python3.11" is python.
bool is_public_program(std::string_view name) {
    while (!name.empty() && (is_digit(name.back()) || name.back() == '.')) name.remove_suffix(1);
    return std::find(std::begin(kPublicPrograms), std::end(kPublicPrograms), name) != std::end(kPublicPrograms);
}
bool begins_with_any(std::string_view text, Words beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view each) { return text.starts_with(each); });
}
bool all_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

std::string_view base(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view extension(std::string_view path) {
    std::string_view name = base(path);
    std::size_t point = name.rfind('.');
    bool short_one = point != std::string_view::npos && point > 0 && name.size() - point <= 5;
    return short_one ? name.substr(point) : std::string_view();
}

// The publicly known part of a path; "" for a file of the program's own.
std::string_view public_part(std::string_view path) {
    if (path.starts_with('<')) return path;  // <string>, <frozen importlib._bootstrap>
    if (begins_with_any(base(path), kPublicLibraries)) return base(path);
    for (std::string_view folder : {std::string_view("/site-packages/"), std::string_view("/dist-packages/")})
        if (std::size_t at = path.rfind(folder); at != std::string_view::npos) path = path.substr(at + folder.size());
    if (std::size_t at = path.rfind("/lib/python3."); at != std::string_view::npos)
        if (std::size_t slash = path.find('/', at + 13); slash != std::string_view::npos) return path.substr(slash + 1);
    std::string_view package = path.substr(0, path.find_first_of("/."));
    bool known =
        std::find(std::begin(kPublicPackages), std::end(kPublicPackages), package) != std::end(kPublicPackages);
    return known ? path : std::string_view();
}

bool is_constant(std::string_view text) {
    for (std::string_view word : {"True", "False", "None", "true", "false", "null", "inf", "-inf", "nan"})
        if (text == word) return true;
    return text.empty();
}

// A number, a list of them, or a constant.
bool is_plain_argument(std::string_view text) {
    return is_constant(text) || text.find_first_not_of("0123456789+-.eE, []()") == std::string_view::npos;
}

// Scalars as JSON without the strings among them: of each word, quoted or not, only the plain values.
std::string plain_arguments(std::string_view json) {
    constexpr std::string_view kBetween = "[]{}:, ";
    std::string out;
    for (std::size_t i = 0; i < json.size();) {
        std::size_t end = i + 1;
        if (json[i] == '"') {
            while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
            std::string_view text = json.substr(i + 1, std::min(end, json.size()) - i - 1);
            out += fmt::format("\"{}\"", is_plain_argument(text) ? text : "");
            ++end;
        } else if (kBetween.find(json[i]) != std::string_view::npos) {
            out += json[i];
        } else {
            end = std::min(json.find_first_of("[]{}:, \"", i), json.size());
            if (is_plain_argument(json.substr(i, end - i))) out += json.substr(i, end - i);
        }
        i = end;
    }
    return out;
}

}  // namespace

void ScrubNames::number() {
    for (auto& [kind, names] : numbers_) {
        std::size_t next = 1;
        for (auto& [name, number] : names) number = next++;
    }
    numbered_ = true;
}

std::string ScrubNames::replaced(std::string_view kind, std::string_view name, std::string_view ending) {
    if (!numbered_) {
        numbers_[std::string(kind)].try_emplace(std::string(name), 0);
        return {};
    }
    const auto& names = numbers_.find(kind)->second;
    std::size_t digits = std::to_string(names.size()).size();
    return fmt::format("{}-{:0{}}{}", kind, names.find(name)->second, digits, ending);
}

// "HOST:PID/TID" keeps its form with another host; other keys are numbers after a file name, or only numbers.
std::string ScrubNames::identity(std::string_view text) {
    const auto& hosts = numbers_["host"];
    for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1))
        if (hosts.contains(text.substr(0, colon)))
            return replaced("host", text.substr(0, colon)) + std::string(text.substr(colon));
    std::size_t tail = text.size();
    for (std::size_t i = text.size(); i > 0; --i) {
        if (is_digit(text[i - 1])) continue;
        bool between = std::string_view(":/ ").find(text[i - 1]) != std::string_view::npos && i < text.size();
        if (!between || !is_digit(text[i])) break;
        tail = i - 1;
    }
    std::string_view head = text.substr(0, tail);
    if (head.empty() || all_digits(head)) return std::string(text);
    return replaced("process", head) + std::string(text.substr(tail));
}

std::string ScrubNames::file(std::string_view path) {
    std::string_view open = public_part(path);
    return open.empty() ? replaced("file", path, extension(path)) : std::string(open);
}

std::string ScrubNames::function(std::string_view name) {
    bool builtin = name.starts_with('<');  // <built-in method run>, <module>
    return options_.ranges && !builtin ? replaced("function", name) : std::string(name);
}

// "file(line): function" from Kineto, "function (file:line)", "symbol (module)", or only a name.
std::string ScrubNames::frame(std::string_view text) {
    if (std::size_t colon = text.find("): "); colon != std::string_view::npos) {
        std::size_t open = text.rfind('(', colon);
        if (open != std::string_view::npos && all_digits(text.substr(open + 1, colon - open - 1))) {
            std::string_view path = text.substr(0, open), name = text.substr(colon + 3);
            std::string shown = public_part(path).empty() ? function(name) : std::string(name);
            return fmt::format("{}{}{}", file(path), text.substr(open, colon + 3 - open), shown);
        }
    }
    std::size_t open = text.rfind(" (");
    if (open == std::string_view::npos || !text.ends_with(')')) return function(text);
    std::string_view place = text.substr(open + 2, text.size() - open - 3), name = text.substr(0, open);
    std::size_t colon = place.rfind(':');
    bool line = colon != std::string_view::npos && all_digits(place.substr(colon + 1));
    std::string_view path = line ? place.substr(0, colon) : place;
    std::string shown = public_part(path).empty() ? function(name) : std::string(name);
    return fmt::format("{} ({}{})", shown, file(path), line ? place.substr(colon) : "");
}

std::string ScrubNames::frames(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at <= text.size();) {
        std::size_t end = std::min(text.find(';', at), text.size());
        if (at > 0) out += ';';
        out += frame(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

std::string ScrubNames::range(std::string_view name) {
    // Logs of libraries contain addresses of hosts and paths.
    if (std::string_view head = debug_env::head_of_log_line(name); !head.empty()) return std::string(head) + "***";
    if (!options_.ranges || name.empty()) return std::string(name);
    for (const FrameworkName& known : kFrameworkNames) {
        if (!name.starts_with(known.begin)) continue;
        if (known.rest_is_public || name.size() == known.begin.size()) return std::string(name);
        return std::string(known.begin) + range(name.substr(known.begin.size()));
    }
    return replaced("range", name);
}

std::string ScrubNames::scrub(Privacy privacy, std::string_view text) {
    if (text.empty()) return {};
    switch (privacy) {
        case Privacy::identity: return identity(text);
        case Privacy::host: return replaced("host", text);
        case Privacy::device: return replaced("device", text);
        case Privacy::program:
        case Privacy::thread: {
            std::string_view name = base(text.substr(0, text.find(' ')));
            std::string_view kind = privacy == Privacy::program ? "program" : "thread";
            return is_public_program(name) ? std::string(name) : replaced(kind, text);
        }
        case Privacy::stack: return frames(text);
        case Privacy::op:
        case Privacy::range: return range(text);
        case Privacy::kernel: return options_.kernels ? replaced("kernel", text) : std::string(text);
        case Privacy::scope: return options_.kernels || options_.ranges ? replaced("scope", text) : std::string(text);
        case Privacy::arguments: return plain_arguments(text);
        case Privacy::open:
        case Privacy::fact:
        case Privacy::removed: break;
    }
    return std::string(text);
}

}  // namespace gpuprof::model
