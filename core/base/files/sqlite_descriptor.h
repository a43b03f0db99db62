// An SQLite database opened by its descriptor, "/proc/self/fd/N", for files that have no name. SQLite's own VFS
// resolves links first and refuses to open links; neither works without a name. This VFS reads and writes the
// descriptor, for one connection at a time and without locks or journals. Temporary files, which have no name either,
// are left to SQLite.
#pragma once

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gpuprof::inline base {

struct SqliteDescriptor {
    sqlite3_file base;
    int fd;  // belongs to the caller that opened the database and closes it later

    static int fd_of(sqlite3_file* file) { return reinterpret_cast<SqliteDescriptor*>(file)->fd; }

    static int read(sqlite3_file* file, void* into, int size, sqlite3_int64 at) {
        auto* bytes = static_cast<char*>(into);
        for (int done = 0; done < size;) {
            ssize_t got = pread(fd_of(file), bytes + done, static_cast<std::size_t>(size - done), at + done);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return SQLITE_IOERR_READ;
            if (got == 0) {
                std::memset(bytes + done, 0, static_cast<std::size_t>(size - done));  // required by SQLite
                return SQLITE_IOERR_SHORT_READ;
            }
            done += static_cast<int>(got);
        }
        return SQLITE_OK;
    }
    static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
        const auto* bytes = static_cast<const char*>(from);
        for (int done = 0; done < size;) {
            ssize_t wrote = pwrite(fd_of(file), bytes + done, static_cast<std::size_t>(size - done), at + done);
            if (wrote < 0 && errno == EINTR) continue;
            if (wrote <= 0) return errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
            done += static_cast<int>(wrote);
        }
        return SQLITE_OK;
    }
    static int truncate(sqlite3_file* file, sqlite3_int64 size) {
        return ftruncate(fd_of(file), size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
    }
    static int size(sqlite3_file* file, sqlite3_int64* size) {
        struct stat status {};
        if (fstat(fd_of(file), &status) != 0) return SQLITE_IOERR_FSTAT;
        *size = status.st_size;
        return SQLITE_OK;
    }

    static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_out) {
        sqlite3_vfs* usual = sqlite3_vfs_find(nullptr);
        if (name == nullptr) return usual->xOpen(usual, name, file, flags, flags_out);
        if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
        static const sqlite3_io_methods kMethods = {
            .iVersion = 1,
            .xClose = [](sqlite3_file*) { return SQLITE_OK; },
            .xRead = read,
            .xWrite = write,
            .xTruncate = truncate,
            .xSync = [](sqlite3_file*, int) { return SQLITE_OK; },
            .xFileSize = size,
            .xLock = [](sqlite3_file*, int) { return SQLITE_OK; },
            .xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; },
            .xCheckReservedLock =
                [](sqlite3_file*, int* locked) {
                    *locked = 0;
                    return SQLITE_OK;
                },
            .xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; },
            .xSectorSize = [](sqlite3_file*) { return 4096; },
            .xDeviceCharacteristics = [](sqlite3_file*) { return 0; },
            .xShmMap = nullptr,
            .xShmLock = nullptr,
            .xShmBarrier = nullptr,
            .xShmUnmap = nullptr,
            .xFetch = nullptr,
            .xUnfetch = nullptr,
        };
        auto* mine = reinterpret_cast<SqliteDescriptor*>(file);
        const char* number = std::strrchr(name, '/');
        mine->fd = number == nullptr ? -1 : std::atoi(number + 1);
        mine->base.pMethods = &kMethods;
        if (flags_out != nullptr) *flags_out = flags;
        return mine->fd >= 0 ? SQLITE_OK : SQLITE_CANTOPEN;
    }
};

// Name of the VFS, for sqlite3_open_v2. Registered once per process, as SQLite requires. The descriptor must stay open
// as long as the connection.
inline const char* sqlite_by_descriptor() {
    static const char* const name = [] {
        static sqlite3_vfs layer = *sqlite3_vfs_find(nullptr);
        layer.pNext = nullptr;
        layer.zName = "gpu-profile-descriptor";
        layer.szOsFile = std::max<int>(layer.szOsFile, sizeof(SqliteDescriptor));
        layer.xOpen = SqliteDescriptor::open;
        // There is nothing next to the file: journals, which name files to be removed, are never looked for.
        layer.xAccess = [](sqlite3_vfs*, const char*, int, int* found) {
            *found = 0;
            return SQLITE_OK;
        };
        layer.xDelete = [](sqlite3_vfs*, const char*, int) { return SQLITE_IOERR_DELETE; };
        layer.xFullPathname = [](sqlite3_vfs*, const char* path, int size, char* out) {
            return std::snprintf(out, static_cast<std::size_t>(size), "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
        };
        sqlite3_vfs_register(&layer, 0);
        return layer.zName;
    }();
    return name;
}

}  // namespace gpuprof::base
