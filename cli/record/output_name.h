// Names of captures with variables: -o 'run/{job}/{host}-r{rank:05}.gpuprof'. Every process of a job can be given the same
// command, and each writes its own file. {NAME:0W} fills a number with zeros to W digits; {{ and }} are braces.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/schema/job_place.h"

namespace gpuprof::inline cli {

// The variables and their values; an empty value is unknown here.
using NameVariables = std::map<std::string, std::string>;
NameVariables name_variables(const JobPlace& place, const std::string& host);

bool has_variables(const std::string& name);

// The name with all variables replaced. Fails if a variable has no value here, or one that would lead to another folder.
Result<std::string> expand_name(const std::string& name, const NameVariables& variables);

// Holds a name from before the command runs until the capture replaces it, so that two processes with the same name
// cannot overwrite each other. A name that exists is refused. Missing folders are created.
class ReservedName {
public:
    static Result<ReservedName> reserve(const std::string& file);
    ReservedName(ReservedName&& other) noexcept : file_(std::exchange(other.file_, {})) {}
    ReservedName& operator=(ReservedName&&) = delete;
    // Removes the file if nothing was written to it.
    ~ReservedName();

private:
    explicit ReservedName(std::string file) : file_(std::move(file)) {}
    std::string file_;
};

}  // namespace gpuprof::cli
