/*
 * serve.c - takes commands, serves them, answers with a sealed record. Knows no expected value and
 * reads no file but the bytes it is given. Invariant: an answer leaves only after every step of its
 * command is done and its output bytes are in shared memory.
 */
#include "serve.h"

#include "elements.h"
#include "session.h"
#include "timing.h"
#include "xalloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PROBE_BYTES 65536u

uint64_t session_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* ---- the channel ---- */

/* The channel or the shared memory is gone: nothing can be reported any more but this code, and no
 * interposed _exit shall change it. */
static _Noreturn void lost(void)
{
    for (;;)
        syscall(SYS_exit_group, RECORD_EXIT_CHANNEL);
}

static void send_message(const void *message, size_t size)
{
    ssize_t sent;

    do
        sent = send(RECORD_FD_COMMANDS, message, size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent != (ssize_t)size)
        lost();
}

/* The next command and the descriptor that came with it (-1 if none). False: the parent is gone. */
static bool receive_command(struct command *c, int *fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = {c, sizeof *c};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof control.bytes};
    ssize_t got;

    *fd = -1;
    do
        got = recvmsg(RECORD_FD_COMMANDS, &msg, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    if (got < 0)
        lost();
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&msg); h != NULL; h = CMSG_NXTHDR(&msg, h))
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
            memcpy(fd, CMSG_DATA(h), sizeof *fd);
    if ((msg.msg_flags & MSG_TRUNC) != 0 || command_check(c, (size_t)got) != NULL)
        lost();
    return true;
}

static void shared_pin(struct session *s, bool on)
{
    /* Pinned pages let the device write outputs at full speed; without, the copies are slower. */
    if (s->backend != RECORD_GPU || s->shared == NULL || s->lib.cudaHostRegister == NULL ||
        s->lib.cudaHostUnregister == NULL)
        return;
    if (on)
        s->lib.cudaHostRegister(s->shared, s->shared_size, cudaHostRegisterDefault);
    else
        s->lib.cudaHostUnregister(s->shared);
    s->lib.cudaGetLastError();
}

static void shared_map(struct session *s, size_t size)
{
    struct stat st;

    if (size == s->shared_size)
        return;
    if (fstat(RECORD_FD_SHARED, &st) != 0 || st.st_size < (off_t)size ||
        (s->shared != NULL &&
         (st.st_ino != s->shared_file.st_ino || st.st_dev != s->shared_file.st_dev)))
        lost();
    fault_page(NULL);
    if (s->shared != NULL) {
        shared_pin(s, false);
        munmap(s->shared, s->shared_size);
    }
    /* Populated now: page faults must not fall into the time of a call. */
    s->shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, RECORD_FD_SHARED, 0);
    if (s->shared == MAP_FAILED)
        lost();
    madvise(s->shared, size, MADV_DONTFORK); /* a forked copy must not write outputs later */
    s->shared_size = size;
    s->shared_file = st;
    shared_pin(s, true);
    fault_page((struct record_fault *)(void *)s->shared);
}

static void file_map(struct session *s, int fd)
{
    struct stat st;

    if ((s->command.flags & COMMAND_FLAG_NEW_FILE) == 0) {
        if (s->file.size != s->command.file_size && s->command.file_size != 0)
            lost(); /* ranges were checked against a file that is not here */
        return;
    }
    if (s->file.data != NULL)
        munmap((void *)(uintptr_t)s->file.data, s->file.size); /* drops const: ours to unmap */
    s->file.data = NULL;
    if (fd < 0 || fstat(fd, &st) != 0 || (uint64_t)st.st_size != s->command.file_size)
        lost();
    void *map = mmap(NULL, s->command.file_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        lost();
    s->file.data = map;
    s->file.size = s->command.file_size;
    s->file.generation++;
}

static void answer(struct session *s, bool with_facts)
{
    struct {
        struct record record;
        struct record_facts facts;
    } message;
    struct record_span spans[RECORD_MAX_PARAMS];
    unsigned count = 0;
    const bool outputs = (s->command.op == COMMAND_CALL || s->command.op == COMMAND_TIME ||
                          s->command.op == COMMAND_OUTPUTS) &&
                         (s->record.status == RECORD_OK || s->record.status == RECORD_MEMORY_LIMIT);

    for (uint32_t i = 0; outputs && i < s->command.param_count; i++) {
        const struct command_param *p = &s->command.params[i];
        if (!p->scalar && p->dir != RECORD_IN)
            spans[count++] = (struct record_span){s->shared + p->slot, record_slot_size(p)};
    }
    record_seal(&s->record, s->command.sequence, s->command.nonce, spans, count);
    message.record = s->record;
    message.facts = s->facts;
    send_message(&message, with_facts ? sizeof message : sizeof message.record);
}

/* Waits until the parent has started its clock. */
static void await_go(uint64_t nonce)
{
    uint64_t got = 0;
    ssize_t size;

    do
        size = recv(RECORD_FD_COMMANDS, &got, sizeof got, 0);
    while (size < 0 && errno == EINTR);
    if (size != (ssize_t)sizeof got || got != nonce)
        lost();
}

void session_notice(struct session *s, enum record_status status)
{
    struct record notice = {.status = status};

    record_seal(&notice, s->command.sequence, s->command.nonce, NULL, 0);
    send_message(&notice, sizeof notice);
    if (status == RECORD_PREPARED)
        await_go(s->command.nonce);
}

/* ---- start ---- */

static bool fail(struct session *s, enum record_status status, const char *text)
{
    s->record.status = status;
    if (s->record.text[0] == '\0')
        snprintf(s->record.text, sizeof s->record.text, "%s", text);
    return false;
}

/* cudalib_ok with the record's text. */
static bool ok(struct session *s, cudaError_t e, const char *call)
{
    if (cudalib_ok(&s->lib, e, call, s->record.text, sizeof s->record.text))
        return true;
    return fail(s, RECORD_SETUP_FAILED, call);
}

static void read_driver(char *out, size_t size, int version)
{
    /* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.124.06  ..." */
    char text[256] = "";
    const int fd = open("/proc/driver/nvidia/version", O_RDONLY | O_CLOEXEC);

    snprintf(out, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    if (fd < 0)
        return;
    const ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return;
    for (char *save = NULL, *word = strtok_r(text, " \n", &save); word != NULL;
         word = strtok_r(NULL, " \n", &save))
        if (word[0] >= '1' && word[0] <= '9' && strchr(word, '.') != NULL) {
            snprintf(out, size, "%s", word);
            return;
        }
}

static double attribute(struct session *s, enum cudaDeviceAttr a)
{
    int v = 0;

    if (s->lib.cudaDeviceGetAttribute(&v, a, (int)s->command.device) != cudaSuccess) {
        s->lib.cudaGetLastError();
        return 0;
    }
    return v;
}

static bool facts_fill(struct session *s)
{
    struct record_facts *f = &s->facts;
    struct cudaDeviceProp prop;
    int driver = 0, runtime = 0;

    memset(&prop, 0, sizeof prop);
    if (!ok(s, s->lib.cudaGetDeviceProperties(&prop, (int)s->command.device),
            "cudaGetDeviceProperties") ||
        !ok(s, s->lib.cudaDriverGetVersion(&driver), "cudaDriverGetVersion") ||
        !ok(s, s->lib.cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion"))
        return false;
    snprintf(f->name, sizeof f->name, "%.127s", prop.name);
    read_driver(f->driver, sizeof f->driver, driver);
    snprintf(f->runtime, sizeof f->runtime, "%d.%d", runtime / 1000, runtime % 1000 / 10);
    f->major = (uint32_t)prop.major;
    f->minor = (uint32_t)prop.minor;
    /* From 9.0 on the architecture-specific target exists, and vgpu is such a one. */
    snprintf(f->arch, sizeof f->arch, "%d%d%s", prop.major, prop.minor, prop.major >= 9 ? "a" : "");
    f->sm_count = (uint32_t)prop.multiProcessorCount;
    f->l2_bytes = (uint32_t)prop.l2CacheSize;
    f->memory_bytes = prop.totalGlobalMem;
    f->clock_mhz = attribute(s, cudaDevAttrClockRate) / 1e3;
    f->memory_clock_mhz = attribute(s, cudaDevAttrMemoryClockRate) / 1e3;
    f->bus_bits = attribute(s, cudaDevAttrGlobalMemoryBusWidth);
    f->is_virtual = s->backend != RECORD_GPU;
    return true;
}

static bool device_choose(struct session *s)
{
    int count = 0;
    const cudaError_t e = s->lib.cudaGetDeviceCount(&count);

    if (e != cudaSuccess || count <= (int)s->command.device) {
        /* No driver, no device, driver too old: nothing can run here. */
        if (cudalib_ok(&s->lib, e, "cudaGetDeviceCount", s->record.text, sizeof s->record.text))
            snprintf(s->record.text, sizeof s->record.text, "device %u asked for, %d present",
                     s->command.device, count);
        return fail(s, RECORD_UNSUPPORTED, "no device");
    }
    return ok(s, s->lib.cudaSetDevice((int)s->command.device), "cudaSetDevice") &&
           ok(s, s->lib.cudaFree(NULL), "cudaFree(NULL), which makes the context") &&
           ok(s, s->lib.cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

static void serve_start(struct session *s)
{
    const struct command *c = &s->command;
    char *text = s->record.text;
    const size_t size = sizeof s->record.text;

    s->backend = c->backend;
    s->profiler_range = (c->flags & COMMAND_FLAG_RANGE) != 0;
    if (!cudalib_open(&s->lib, c->path, text, size)) {
        fail(s, RECORD_SETUP_FAILED, "cudalib_open");
        return;
    }
    if (!device_choose(s) || !facts_fill(s))
        return;
    if (c->backend == RECORD_GPU) {
        s->has_kit = kit_open(&s->kit, &s->lib, s->facts.sm_count, text, size);
        if (!s->has_kit) {
            fail(s, RECORD_SETUP_FAILED, "kit_open");
            return;
        }
    }
    s->facts.has_kit = s->has_kit;
    if (!guard_open(&s->guard, &s->lib, s->has_kit ? &s->kit : NULL,
                    (c->flags & COMMAND_FLAG_EXACT) != 0, (c->flags & COMMAND_FLAG_NO_POISON) != 0,
                    c->backend == RECORD_GPU, text, size)) {
        fail(s, RECORD_SETUP_FAILED, "guard_open");
        return;
    }
    account_open(&s->lib, c->memory_limit);
    libraries_news(&s->libraries, NULL, s->record.new_library, sizeof s->record.new_library);
    memset(s->record.new_library, 0, sizeof s->record.new_library);
}

/* ---- load ---- */

static void end_forked_copy(const struct session *s)
{
    if (getpid() != s->pid)
        _exit(0);
}

static void serve_load(struct session *s)
{
    void *handle, *symbol;

    if (s->lib.handle == NULL || s->solve != NULL) {
        fail(s, RECORD_SETUP_FAILED, "a load out of order");
        return;
    }
    account_begin(NULL, 0);
    fault_enter(s->command.sequence, 2, NULL, 0);
    handle = dlopen(s->command.path, RTLD_NOW | RTLD_LOCAL);
    fault_enter(s->command.sequence, 0, NULL, 0);
    end_forked_copy(s);
    if (handle == NULL) {
        const char *why = dlerror();
        fail(s, RECORD_LOAD_FAILED, why == NULL ? "dlopen failed" : why);
        return;
    }
    symbol = dlsym(handle, "solve");
    if (symbol == NULL) {
        fail(s, RECORD_NO_SOLVE, "no function named solve");
        return;
    }
    memcpy(&s->solve, &symbol, sizeof symbol); /* POSIX: it holds a function pointer */
    libraries_news(&s->libraries, s->command.path, s->record.new_library,
                   sizeof s->record.new_library);
    s->lib.cudaGetLastError();
    session_account(s);
    fflush(NULL);
}

/* ---- call ---- */

static enum error_class class_of(const struct session *s, int code)
{
    switch (code) {
    case cudaSuccess:
        return ERROR_NONE;
    case 209: /* no kernel image: on vgpu, an instruction form that it refuses */
        return s->backend == RECORD_VGPU ? ERROR_REFUSED : ERROR_LAUNCH;
    case 702: /* launch timeout: on vgpu, the instruction budget */
        return s->backend == RECORD_VGPU ? ERROR_BUDGET : ERROR_STICKY;
    case 9:   /* invalid configuration */
    case 98:  /* invalid device function */
    case 218: /* invalid PTX */
    case 222: /* unsupported PTX version */
    case 701: /* out of resources */
    case 720: /* cooperative launch too large */
        return ERROR_LAUNCH;
    case 214: /* uncorrectable ECC error */
    case 700: /* illegal address */
    case 709: /* context destroyed */
    case 710: /* assert */
    case 714: /* hardware stack error */
    case 715: /* illegal instruction */
    case 716: /* misaligned address */
    case 717: /* invalid address space */
    case 718: /* invalid program counter */
    case 719: /* launch failure */
    case 721: /* tensor memory leak */
    case 999: /* unknown */
        return ERROR_STICKY;
    default:
        return ERROR_OTHER;
    }
}

void session_errors(struct session *s)
{
    struct record *r = &s->record;
    const int codes[] = {r->error_after_return, r->error_sync, r->error_copy};
    int worst = 0;

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (worst == 0)
            worst = codes[i];
        /* A lost context outranks an earlier, harmless code; vgpu's two own classes stay. */
        if (class_of(s, codes[i]) == ERROR_STICKY && class_of(s, worst) != ERROR_REFUSED &&
            class_of(s, worst) != ERROR_BUDGET && class_of(s, worst) != ERROR_STICKY)
            worst = codes[i];
    }
    r->error_class = (uint32_t)class_of(s, worst);
    memset(r->error_name, 0, sizeof r->error_name);
    if (worst != 0)
        snprintf(r->error_name, sizeof r->error_name, "%s",
                 s->lib.cudaGetErrorName((cudaError_t)worst));
}

static void blame(struct session *s, uint32_t flag, cudaError_t e, const char *text)
{
    s->record.flags |= flag;
    if (s->record.error_class == ERROR_NONE) {
        s->record.error_class = ERROR_OTHER;
        s->record.error_after_return = (int32_t)e; /* what the refused call answered */
        snprintf(s->record.error_name, sizeof s->record.error_name, "%s",
                 s->lib.cudaGetErrorName(e));
    }
    if (s->record.text[0] == '\0')
        snprintf(s->record.text, sizeof s->record.text, "%s", text);
}

void session_account(struct session *s)
{
    const struct account_counts a = account_read();
    struct record *r = &s->record;

    r->alloc_live = a.live;
    r->alloc_peak = a.peak;
    r->alloc_calls = a.calls;
    r->alloc_refused = a.refused;
    r->launches = a.launches;
    r->host_allocs = a.host_allocs;
    if (a.reset)
        blame(s, RECORD_FLAG_RESET, cudaErrorNotPermitted, "the solution called cudaDeviceReset");
    if (a.foreign_frees != 0)
        blame(s, RECORD_FLAG_FOREIGN_FREE, cudaErrorInvalidValue,
              "the solution freed a buffer that belongs to the caller");
    if (a.refused != 0 && r->status == RECORD_OK) {
        r->status = RECORD_MEMORY_LIMIT;
        snprintf(r->text, sizeof r->text,
                 "asked for %.1f MiB with %.1f MiB in use, beyond the allowance; what earlier "
                 "calls did not free counts",
                 (double)a.refused_size / 1048576.0, (double)a.live / 1048576.0);
    }
}

void session_solve(struct session *s, void *const pointers[RECORD_MAX_PARAMS])
{
    callabi_solve(&s->abi, s->solve, s->command.params, pointers);
    end_forked_copy(s);
}

/* Outputs that could not be read must not look like those of an earlier call. */
static void outputs_void(struct session *s)
{
    for (uint32_t i = 0; i < s->command.param_count; i++) {
        const struct command_param *p = &s->command.params[i];
        if (!p->scalar && p->dir != RECORD_IN)
            elements_fill(s->shared + p->slot, p->count * record_type_size(p->type),
                          (enum record_type)p->type,
                          record_poison((enum record_type)p->type, s->command.poison_kind));
    }
}

static void call_solution(struct session *s)
{
    struct record *r = &s->record;
    void *pointers[RECORD_MAX_PARAMS];
    struct fault_range ranges[RECORD_MAX_PARAMS];
    const unsigned set = s->command.address_set;
    uint64_t t0, t1, t2, t3;

    guard_pointers(&s->guard, set, pointers, ranges);
    account_begin(ranges, s->command.param_count);
    s->lib.cudaGetLastError();
    session_notice(s, RECORD_PREPARED);
    fault_enter(s->command.sequence, 1, ranges, s->command.param_count);
    if (s->profiler_range && s->lib.cudaProfilerStart != NULL)
        s->lib.cudaProfilerStart();
    t0 = session_now_ns();
    session_solve(s, pointers);
    t1 = session_now_ns();
    r->error_after_return = (int32_t)s->lib.cudaPeekAtLastError();
    r->error_copy =
        (int32_t)guard_outputs(&s->guard, &s->command, set, s->shared, GUARD_SLOT_EARLY);
    t2 = session_now_ns();
    r->error_sync = (int32_t)s->lib.cudaDeviceSynchronize();
    t3 = session_now_ns();
    if (s->profiler_range && s->lib.cudaProfilerStop != NULL)
        s->lib.cudaProfilerStop();
    fault_enter(s->command.sequence, 0, NULL, 0);
    r->wall_ns = (t1 - t0) + (t3 - t2);
    session_notice(s, RECORD_RETURNED);
}

static void serve_call(struct session *s)
{
    struct record *r = &s->record;
    const struct command *c = &s->command;
    const char *wrong = callabi_prepare(&s->abi, c->params, c->param_count);
    cudaError_t e;

    if (s->solve == NULL || wrong != NULL) {
        fail(s, RECORD_SETUP_FAILED, wrong != NULL ? wrong : "a call without a solution");
        return;
    }
    if (!guard_prepare(&s->guard, c, &s->file, r->text, sizeof r->text) ||
        !ok(s, s->lib.cudaDeviceSynchronize(), "cudaDeviceSynchronize before the call")) {
        /* An error that stays, where nothing but copies of ours should run: a thread or stream of
         * an earlier call went on. cudaGetLastError forgets even such an error; the next call that
         * reaches the device returns it again. */
        (void)s->lib.cudaGetLastError();
        r->status = s->calls > 0 && s->lib.cudaDeviceSynchronize() != cudaSuccess
                        ? RECORD_LEFT_WORK
                        : RECORD_SETUP_FAILED;
        return;
    }
    s->calls++;
    call_solution(s);
    e = guard_outputs(&s->guard, c, c->address_set, s->shared, GUARD_SLOT_LATE);
    if (e == cudaSuccess && (c->flags & COMMAND_FLAG_REREAD) != 0) {
        if (guard_holds(&s->guard, c, c->address_set ^ 1u))
            e = guard_outputs(&s->guard, c, c->address_set ^ 1u, s->shared, GUARD_SLOT_PREVIOUS);
        else
            fail(s, RECORD_SETUP_FAILED, "no earlier call of this case in the other address set");
    }
    if (e != cudaSuccess)
        outputs_void(s);
    else if (!guard_verify(&s->guard, c, c->address_set, &s->file, s->shared, true, r->params,
                           r->text, sizeof r->text))
        e = cudaErrorUnknown;
    if (r->error_copy == 0)
        r->error_copy = (int32_t)e;
    s->lib.cudaGetLastError();
    session_errors(s);
    session_account(s);
    libraries_news(&s->libraries, NULL, r->new_library, sizeof r->new_library);
    fflush(NULL);
}

/* ---- facts, probe ---- */

/* Allocates, writes, copies inside the device, reads back and compares; on a GPU the kit's
 * self-test has launched kernels before. */
static void serve_probe(struct session *s)
{
    static const unsigned char salt = 0x3d;
    unsigned char bytes[4096];
    unsigned char *device = NULL;
    bool same = true;

    if (!ok(s, s->lib.cudaMalloc((void **)&device, PROBE_BYTES), "cudaMalloc"))
        return;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + salt);
    if (!ok(s, s->lib.cudaMemset(device, 0, PROBE_BYTES), "cudaMemset") ||
        !ok(s, s->lib.cudaMemcpy(device, bytes, sizeof bytes, cudaMemcpyHostToDevice),
            "cudaMemcpy to the device") ||
        !ok(s,
            s->lib.cudaMemcpy(device + PROBE_BYTES / 2, device, sizeof bytes,
                              cudaMemcpyDeviceToDevice),
            "cudaMemcpy on the device"))
        return;
    memset(bytes, 0, sizeof bytes);
    if (!ok(s,
            s->lib.cudaMemcpy(bytes, device + PROBE_BYTES / 2, sizeof bytes,
                              cudaMemcpyDeviceToHost),
            "cudaMemcpy from the device") ||
        !ok(s, s->lib.cudaDeviceSynchronize(), "cudaDeviceSynchronize") ||
        !ok(s, s->lib.cudaFree(device), "cudaFree"))
        return;
    for (size_t i = 0; i < sizeof bytes; i++)
        same = same && bytes[i] == (unsigned char)(i * 7 + salt);
    if (!same)
        fail(s, RECORD_SETUP_FAILED, "device memory does not hold what was written to it");
}

static void serve_facts(struct session *s)
{
    if ((s->command.flags & COMMAND_FLAG_CEILINGS) != 0)
        timing_ceilings(s);
}

/* ---- the loop ---- */

static void serve_one(struct session *s)
{
    memset(&s->record, 0, sizeof s->record);
    switch ((enum command_op)s->command.op) {
    case COMMAND_START:
        serve_start(s);
        break;
    case COMMAND_LOAD:
        serve_load(s);
        break;
    case COMMAND_CALL:
        serve_call(s);
        break;
    case COMMAND_TIME:
        timing_sample(s);
        break;
    case COMMAND_FACTS:
        serve_facts(s);
        break;
    case COMMAND_PROBE:
        serve_probe(s);
        break;
    case COMMAND_OUTPUTS:
        timing_outputs(s);
        break;
    case COMMAND_BYE:
        return;
    }
    if (s->lib.vgpu_flush != NULL) {
        const unsigned long long found = s->lib.vgpu_flush();

        if (found != s->found)
            s->record.flags |= RECORD_FLAG_FINDINGS;
        s->found = found;
    }
    answer(s, s->command.op == COMMAND_START || s->command.op == COMMAND_FACTS ||
                  s->command.op == COMMAND_PROBE);
}

int serve(void)
{
    struct session *s = xalloc(sizeof *s);
    int fd;

    if (s == NULL || !fault_open(NULL))
        return RECORD_EXIT_CHANNEL;
    s->pid = getpid();
    while (receive_command(&s->command, &fd)) {
        shared_map(s, s->command.shared_size);
        file_map(s, fd);
        if (fd >= 0)
            close(fd);
        if (s->command.op == COMMAND_BYE)
            break;
        serve_one(s);
    }
    return 0;
}
