// @idea   writes a record of its own and leaves
// @source own
// @expect RE
// It sends plausible bytes to every descriptor that takes them, copies older bytes of shared memory
// over newer ones, and ends the process. A record counts only with the nonce of this very command,
// a fitting checksum and all outputs in place.

#include <cstdio>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace
{

// Overwrites the shared memory that the runner and the judge have in common: each mapped page gets
// the contents of the page before it, which may hold an older and perfectly valid record.
void shift_shared_pages()
{
    std::FILE *maps = std::fopen("/proc/self/maps", "r");
    if (maps == nullptr)
        return;
    char line[512];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long start = 0;
        unsigned long end = 0;
        char mode[5] = "";
        if (std::sscanf(line, "%lx-%lx %4s", &start, &end, mode) != 3)
            continue;
        const bool is_shared_memory =
            std::strcmp(mode, "rw-s") == 0 &&
            (std::strstr(line, "memfd:") != nullptr || std::strstr(line, "/dev/shm/") != nullptr);
        // A record is small; larger mappings are data.
        if (is_shared_memory && end - start > 4096 && end - start <= (64ul << 20))
            std::memmove(reinterpret_cast<void *>(start + 4096), reinterpret_cast<void *>(start),
                         end - start - 4096);
    }
    std::fclose(maps);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    (void)input;
    (void)output;
    (void)N;
    shift_shared_pages();
    const char forged[256] = "AC";
    for (int fd = 3; fd < 64; ++fd) {
        // MSG_DONTWAIT: a full socket must not turn this into a hang. Fails on what is no socket.
        if (send(fd, forged, sizeof forged, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            continue;
    }
    _exit(0);
}
