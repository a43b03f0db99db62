#include "core/model/privacy/public_names.h"

#include <algorithm>

#include "core/base/text/ascii.h"
#include "core/base/text/word_list.h"

namespace gpuprof::inline model {
namespace {

// Names of programs and threads that reveal nothing about their owner.
constexpr std::string_view kPrograms =
    " python torchrun bash sh env node java julia pt_main_thread pt_data_worker MainThread ";
// Packages with publicly known files: the first folder or file below site-packages or of a relative path.
constexpr std::string_view kKnownPackages =
    " torch torchvision torchaudio triton jax jaxlib flax optax numpy tensorflow transformers accelerate deepspeed"
    " lightning pytorch_lightning cupy numba gpu_profile vllm asyncio concurrent importlib json logging"
    " multiprocessing ";
// The same, for single files.
constexpr std::string_view kModules =
    " contextlib functools threading pickle queue random runpy selectors socket subprocess ";
// Python's standard library.
constexpr std::string_view kStandardLibrary =
    " _collections_abc abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect "
    "builtins bz2"
    " cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall concurrent"
    " configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal"
    " difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput"
    " fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib"
    " heapq hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools json keyword linecache"
    " locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder multiprocessing netrc nis"
    " nntplib ntpath nturl2path numbers opcode operator optparse os pathlib pdb pickle pickletools pipes pkgutil"
    " platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data"
    " pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors"
    " shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile"
    " sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig"
    " syslog tabnanny tarfile telnetlib tempfile termios textwrap threading time timeit tkinter token tokenize"
    " tomllib trace traceback tracemalloc tty types typing unicodedata unittest urllib uu uuid venv warnings wave"
    " weakref webbrowser wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo ";
// How names of public libraries begin, and texts in place of a file.
constexpr std::string_view kLibraries[] = {
    "libcuda.",     "libcudart",       "libcudnn",      "libcublas",        "libcufft",
    "libcufile",    "libcurand",       "libcusolver",   "libcusparse",      "libcupti",
    "libcutensor",  "libcutlass",      "libnccl",       "libnvidia-",       "libnvrtc",
    "libnvJitLink", "libnvToolsExt",   "libnvjpeg",     "libc10.",          "libc10_cuda.",
    "libtorch.",    "libtorch_cpu.",   "libtorch_cuda", "libtorch_python.", "libtorch_global_deps.",
    "libpython2",   "libpython3",      "libc.",         "libc-2",           "libm.",
    "libm-2",       "libstdc++",       "libpthread",    "libdl.",           "libgcc_s",
    "ld-linux",     "libgomp",         "libomp.",       "libmkl_",          "libtriton.",
    "libamdhip64",  "libhsa-runtime64"};
constexpr std::string_view kPlaces =
    " [vdso] [unknown] [kernel] [kernel.kallsyms] [heap] [stack] <string> <stdin> <unknown> ";
// The flag says whether the text that follows is public too.
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
constexpr std::string_view kMetrics =
    " time count bytes space allocations flops flops8 flops16 flops32 flops64 cpu_time cpu wall samples"
    " alloc_space alloc_objects inuse_space inuse_objects contentions delay num_samples num_stalled_samples"
    " normalized_cycles cycles instructions ";
constexpr std::string_view kOrdinary =
    " root user users home admin administrator ubuntu debian centos fedora rocky ec2-user azureuser opc runner"
    " jovyan vscode coder docker container nobody guest default public shared share common local localhost"
    " localdomain host node server device driver runtime unknown nvidia amd cuda rocm nccl torch pytorch python"
    " jax triton conda miniconda anaconda aten nvtx void float double half bool char long const unsigned int"
    " kernel stream event range step train training trainer test eval model models data dataset datasets loader"
    " batch input output forward backward optimizer gradient parameter loss work worker workspace project projects"
    " code src repo build app job jobs run main dev prod tmp temp scratch storage default_pg global memory pinned"
    " pageable managed array gpu cpu rank time count active inactive warm base none ";

// "<frozen importlib._bootstrap>", "<ipython-input-1-0a1b>" and the like.
bool is_public_place(std::string_view text) {
    if (listed(kPlaces, text)) return true;
    if (!text.starts_with('<') || !text.ends_with('>')) return false;
    std::string_view inside = text.substr(1, text.size() - 2);
    for (std::string_view input : {std::string_view("ipython-input-"), std::string_view("eval_with_key")})
        if (inside.starts_with(input))
            return inside.substr(input.size()).find_first_not_of("0123456789abcdef-") == std::string_view::npos;
    if (!inside.starts_with("frozen ")) return false;
    std::string_view module = inside.substr(7);
    return listed(kStandardLibrary, module.substr(0, module.find('.')));
}

// Whether the first folder of a path, or its only file, is in a list of words.
bool is_below(std::string_view path, std::string_view folders, std::string_view files) {
    if (path.find_first_of(" \\:;()\"'") != path.npos || contains_any(path, {"..", "//"})) return false;
    std::size_t slash = path.find('/');
    if (slash != path.npos) return listed(folders, path.substr(0, slash));
    return path.ends_with(".py") && listed(files, path.substr(0, path.size() - 3));
}

}  // namespace

// "python3.11" is python.
bool is_public_program(std::string_view name) {
    while (!name.empty() && (is_digit(name.back()) || name.back() == '.')) name.remove_suffix(1);
    return listed(kPrograms, name);
}

std::string_view public_file(std::string_view path) {
    if (is_public_place(path)) return path;
    std::string_view name = path.substr(path.rfind('/') + 1);
    bool is_library = name.find(".so") != name.npos && name.find_first_of(" \\:;()\"'") == name.npos;
    for (std::string_view library : kLibraries)
        if (is_library && name.starts_with(library)) return name;
    for (std::string_view folder : {std::string_view("/site-packages/"), std::string_view("/dist-packages/")})
        if (std::size_t at = path.rfind(folder); at != path.npos) {
            path.remove_prefix(at + folder.size());
            return is_below(path, kKnownPackages, kKnownPackages) ? path : std::string_view();
        }
    if (std::size_t at = path.rfind("/lib/python3."); at != path.npos)
        if (std::size_t slash = path.find('/', at + 13); slash != path.npos) {
            path.remove_prefix(slash + 1);
            return is_below(path, kStandardLibrary, kStandardLibrary) ? path : std::string_view();
        }
    return is_below(path, kKnownPackages, kModules) ? path : std::string_view();
}

bool is_public_metric(std::string_view name) { return listed(kMetrics, name); }

std::size_t framework_part(std::string_view name) {
    for (const FrameworkName& known : kFrameworkNames)
        if (name.starts_with(known.begin)) return known.rest_is_public ? name.size() : known.begin.size();
    return 0;
}

bool is_ordinary_name(std::string_view name) {
    bool is_number = name.find_first_not_of("0123456789.") == name.npos;
    return name.size() < 3 || is_number || listed(kOrdinary, name);
}

}  // namespace gpuprof::model
