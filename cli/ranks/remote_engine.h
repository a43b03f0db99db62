// The files of a job that others read: the Python package opens URLs and hands files to Dask and other executors
// (python/gpu_profile/many_ranks). This program decides what is read, where summaries are kept, what is tried again and what is
// said of it; the package does what it is told.
//
// Both write lines of JSON. What the package says, and what it is answered:
//
//   {"path": "/data/job"}                                        what the user named, in this order: a path of this machine,
//   {"name": "s3://job/rank3", "bytes": 340, "stamp": "time"}    or a file of a storage, whose size may be unknown (-1)
//   {"inputs": 2}                                                their number: these were all
//       {"number": 7, "input": 1, "name": NAME, "bytes": 340, "words": [WORD...], "summary": PATH}
//                                                                a file to read by `ranks reduce` with these words, and where to
//                                                                put its summary; "input" is the position of a file of a storage
//       {"seconds": 600}                                         these were all for now; the time that each may take
//   {"number": 7, "status": 6, "said": "out of memory", "free": 123}
//                                                                how its process ended (reader_process.h), after the summary was
//                                                                put there, and how much memory was free. An answer follows:
//       {"done": 1, "files": 8, "bytes": 340, "lost": 0}         how many files of the job are done, with these bytes,
//       {}                                                       or that the file is among the next ones to read
//   {"lost": "TimeoutError: ..."}                                the workers were lost, or
//   {"error": "cannot read ...", "code": 3}                      the job cannot be read: nothing follows
//
// The program closes its end when nothing is left to read. Files whose summaries are kept are done before the first one is read.
#pragma once

#include <string>
#include <vector>

#include "cli/ranks/job_of_files.h"
#include "core/base/files/temporary_file.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

// The conversation over two descriptors, which stay open.
Result<std::vector<ReducedFile>> reduce_elsewhere(int input, int output, const JobRequest& request,
                                                  JobProgress& progress);

// The same with the package in a process that is started for it. A code other than ok: Python has said what failed. Ends this
// process by a signal that arrived during the run, after removing the folder.
Result<ExitCode> reduce_with_python(const std::vector<std::string>& paths, const JobRequest& request,
                                    TemporaryFolder& folder, std::vector<ReducedFile>& files);

}  // namespace gpuprof::cli
