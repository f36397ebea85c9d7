/*
 * account.c - wrappers of the runtime functions that allocate, free, launch, reset or set limits.
 * Decides nothing but the refusal of memory beyond the limit and of a device reset. Invariant: live
 * is the sum of the sizes in the table; every access holds the lock.
 *
 * The one mutable object of file scope in the runner: the runtime API passes no handle.
 */
#include "account.h"

#include "xalloc.h"

#include <pthread.h>
#include <string.h>

/* Names with two leading underscores and the per-thread twins of a function are reached by name:
 * they are in no public header for C. */
extern cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                      size_t shared, cudaStream_t stream);
extern cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                           size_t shared, cudaStream_t stream);
extern cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args,
                                         size_t shared, cudaStream_t stream);
extern cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func,
                                            void **args);
extern cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *func, dim3 grid, dim3 block,
                                                    void **args, size_t shared,
                                                    cudaStream_t stream);
extern cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t graph, cudaStream_t stream);
extern cudaError_t cudaMallocAsync_ptsz(void **ptr, size_t size, cudaStream_t stream);
extern cudaError_t cudaFreeAsync_ptsz(void *ptr, cudaStream_t stream);
extern cudaError_t cudaMallocFromPoolAsync_ptsz(void **ptr, size_t size, cudaMemPool_t pool,
                                                cudaStream_t stream);

#define TWINS(X)                                                                                   \
    X(__cudaLaunchKernel)                                                                          \
    X(__cudaLaunchKernel_ptsz)                                                                     \
    X(cudaLaunchKernel_ptsz)                                                                       \
    X(cudaLaunchKernelExC_ptsz)                                                                    \
    X(cudaLaunchCooperativeKernel_ptsz)                                                            \
    X(cudaGraphLaunch_ptsz)                                                                        \
    X(cudaMallocAsync_ptsz)                                                                        \
    X(cudaFreeAsync_ptsz)                                                                          \
    X(cudaMallocFromPoolAsync_ptsz)

struct entry {
    void *ptr; /* NULL = free slot */
    uint64_t size;
};

static struct {
    pthread_mutex_t lock;
    const struct cudalib *lib;
    struct {
#define X(name) __typeof__(name) *name;
        TWINS(X)
#undef X
    } twins;              /* looked up once: a launch must not pay for dlsym */
    cudaStream_t capture; /* NULL outside a capture */
    uint64_t limit;
    struct account_counts counts;
    struct fault_range ours[RECORD_MAX_PARAMS];
    unsigned ours_count;
    struct entry *table; /* open addressing, linear probing; power of two */
    size_t capacity, used;
} account = {.lock = PTHREAD_MUTEX_INITIALIZER};

void account_open(const struct cudalib *lib, uint64_t limit_bytes)
{
    pthread_mutex_lock(&account.lock);
    account.lib = lib;
    account.limit = limit_bytes;
#define X(name)                                                                                    \
    do {                                                                                           \
        void *found_ = cudalib_symbol(lib, #name);                                                 \
        memcpy(&account.twins.name, &found_, sizeof found_);                                       \
    } while (0);
    TWINS(X)
#undef X
    pthread_mutex_unlock(&account.lock);
}

void account_begin(const struct fault_range *ours, unsigned count)
{
    pthread_mutex_lock(&account.lock);
    account.counts =
        (struct account_counts){.live = account.counts.live, .peak = account.counts.live};
    account.ours_count = count < RECORD_MAX_PARAMS ? count : RECORD_MAX_PARAMS;
    if (account.ours_count != 0)
        memcpy(account.ours, ours, account.ours_count * sizeof *ours);
    pthread_mutex_unlock(&account.lock);
}

struct account_counts account_read(void)
{
    struct account_counts counts;

    pthread_mutex_lock(&account.lock);
    counts = account.counts;
    pthread_mutex_unlock(&account.lock);
    return counts;
}

void account_capture(cudaStream_t stream)
{
    pthread_mutex_lock(&account.lock);
    account.capture = stream;
    pthread_mutex_unlock(&account.lock);
}

/* ---- the table ---- */

static size_t home_of(const void *ptr, size_t capacity)
{
    const uint64_t key = (uint64_t)(uintptr_t)ptr >> 8; /* allocations are 256-byte aligned */

    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (capacity - 1);
}

static void table_put(struct entry *table, size_t capacity, struct entry e)
{
    size_t i = home_of(e.ptr, capacity);

    while (table[i].ptr != NULL)
        i = (i + 1) & (capacity - 1);
    table[i] = e;
}

static bool table_reserve(void)
{
    const size_t capacity = account.capacity == 0 ? 256 : account.capacity * 2;
    struct entry *table;

    if (account.used * 2 < account.capacity)
        return true;
    table = xalloc_array(capacity, sizeof *table);
    if (table == NULL)
        return false;
    for (size_t i = 0; i < account.capacity; i++)
        if (account.table[i].ptr != NULL)
            table_put(table, capacity, account.table[i]);
    xfree(account.table);
    account.table = table;
    account.capacity = capacity;
    return true;
}

/* Takes `ptr` out and returns its size, 0 when it is unknown. Moves later entries of the chain
 * back, so that no marks of deleted entries pile up. */
static uint64_t table_take(const void *ptr)
{
    const size_t mask = account.capacity - 1;
    uint64_t size;
    size_t i, j;

    if (account.capacity == 0 || ptr == NULL)
        return 0;
    for (i = home_of(ptr, account.capacity); account.table[i].ptr != ptr; i = (i + 1) & mask)
        if (account.table[i].ptr == NULL)
            return 0;
    size = account.table[i].size;
    for (j = (i + 1) & mask; account.table[j].ptr != NULL; j = (j + 1) & mask) {
        const size_t home = home_of(account.table[j].ptr, account.capacity);
        if (((j - home) & mask) >= ((j - i) & mask)) {
            account.table[i] = account.table[j];
            i = j;
        }
    }
    account.table[i] = (struct entry){0};
    account.used--;
    return size;
}

/* ---- counting ---- */

/* Asks for `size` bytes of allowance. The bytes are booked at once, so that two threads cannot both
 * pass below the limit; charge_settle books the pointer or gives them back. */
static bool charge_begin(uint64_t size)
{
    bool fine;

    pthread_mutex_lock(&account.lock);
    account.counts.calls++;
    fine = account.limit == 0 ||
           (size <= account.limit && account.counts.live <= account.limit - size);
    if (fine) {
        account.counts.live += size;
        if (account.counts.live > account.counts.peak)
            account.counts.peak = account.counts.live;
    } else if (account.counts.refused++ == 0) {
        account.counts.refused_size = size;
    }
    pthread_mutex_unlock(&account.lock);
    return fine;
}

static void charge_settle(void *ptr, uint64_t size, bool succeeded)
{
    pthread_mutex_lock(&account.lock);
    if (succeeded && ptr != NULL && table_reserve()) {
        table_put(account.table, account.capacity, (struct entry){ptr, size});
        account.used++;
    } else {
        account.counts.live -= size;
    }
    pthread_mutex_unlock(&account.lock);
}

/* Whether `ptr` is one of the judge's buffers; counts the attempt. */
static bool free_refused(const void *ptr)
{
    const uintptr_t address = (uintptr_t)ptr;
    bool refused = false;

    pthread_mutex_lock(&account.lock);
    for (unsigned i = 0; i < account.ours_count && ptr != NULL; i++)
        refused = refused || address == account.ours[i].begin ||
                  (address > account.ours[i].begin && address < account.ours[i].end);
    account.counts.foreign_frees += refused;
    pthread_mutex_unlock(&account.lock);
    return refused;
}

/* Before the free is forwarded: afterwards another thread may get the same address. */
static uint64_t charge_take(void *ptr)
{
    uint64_t size;

    pthread_mutex_lock(&account.lock);
    size = table_take(ptr);
    account.counts.live -= size;
    pthread_mutex_unlock(&account.lock);
    return size;
}

static void charge_restore(void *ptr, uint64_t size, bool freed)
{
    if (freed || size == 0)
        return;
    pthread_mutex_lock(&account.lock);
    account.counts.live += size;
    pthread_mutex_unlock(&account.lock);
    charge_settle(ptr, size, true);
}

static void count_launch(void)
{
    pthread_mutex_lock(&account.lock);
    account.counts.launches++;
    pthread_mutex_unlock(&account.lock);
}

static void count_host(void)
{
    pthread_mutex_lock(&account.lock);
    account.counts.host_allocs++;
    pthread_mutex_unlock(&account.lock);
}

/* ---- forwarding ---- */

/* The function behind a wrapper; NULL before account_open or where the library lacks it. */
#define FORWARD(field) (account.lib == NULL ? NULL : account.lib->field)
#define NEED(function)                                                                             \
    do {                                                                                           \
        if ((function) == NULL)                                                                    \
            return account.lib == NULL ? cudaErrorInitializationError : cudaErrorNotSupported;     \
    } while (0)
/* The body of an allocating wrapper; `call` yields the error, *slot the pointer afterwards. */
#define ALLOCATE(slot, bytes, call)                                                                \
    do {                                                                                           \
        const uint64_t bytes_ = (bytes);                                                           \
        cudaError_t error_;                                                                        \
        if (!charge_begin(bytes_))                                                                 \
            return cudaErrorMemoryAllocation;                                                      \
        error_ = (call);                                                                           \
        charge_settle(error_ == cudaSuccess ? *(slot) : NULL, bytes_, error_ == cudaSuccess);      \
        return error_;                                                                             \
    } while (0)
#define RELEASE(ptr, call)                                                                         \
    do {                                                                                           \
        if (free_refused(ptr))                                                                     \
            return cudaErrorInvalidValue;                                                          \
        const uint64_t size_ = charge_take(ptr);                                                   \
        const cudaError_t error_ = (call);                                                         \
        charge_restore(ptr, size_, error_ == cudaSuccess);                                         \
        return error_;                                                                             \
    } while (0)

/* The stream that a call on `stream` really uses. */
static cudaStream_t routed(cudaStream_t stream)
{
    const bool is_default =
        stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread;

    return account.capture != NULL && is_default ? account.capture : stream;
}

/* ---- memory ---- */

cudaError_t cudaMalloc(void **ptr, size_t size)
{
    NEED(FORWARD(cudaMalloc));
    ALLOCATE(ptr, size, account.lib->cudaMalloc(ptr, size));
}

cudaError_t cudaMallocManaged(void **ptr, size_t size, unsigned int flags)
{
    NEED(FORWARD(cudaMallocManaged));
    ALLOCATE(ptr, size, account.lib->cudaMallocManaged(ptr, size, flags));
}

cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
    /* Rows are padded to at most 512 bytes on every device so far. */
    const uint64_t row = ((uint64_t)width + 511) / 512 * 512;

    NEED(FORWARD(cudaMallocPitch));
    ALLOCATE(ptr, height != 0 && row > UINT64_MAX / height ? UINT64_MAX : row * height,
             account.lib->cudaMallocPitch(ptr, pitch, width, height));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    const uint64_t row = ((uint64_t)extent.width + 511) / 512 * 512;
    const uint64_t rows = (uint64_t)extent.height * extent.depth;

    NEED(FORWARD(cudaMalloc3D));
    ALLOCATE(&out->ptr, rows != 0 && row > UINT64_MAX / rows ? UINT64_MAX : row * rows,
             account.lib->cudaMalloc3D(out, extent));
}

cudaError_t cudaMallocAsync(void **ptr, size_t size, cudaStream_t stream)
{
    NEED(FORWARD(cudaMallocAsync));
    ALLOCATE(ptr, size, account.lib->cudaMallocAsync(ptr, size, routed(stream)));
}

cudaError_t cudaMallocAsync_ptsz(void **ptr, size_t size, cudaStream_t stream)
{
    NEED(account.twins.cudaMallocAsync_ptsz);
    ALLOCATE(ptr, size, account.twins.cudaMallocAsync_ptsz(ptr, size, routed(stream)));
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    NEED(FORWARD(cudaMallocFromPoolAsync));
    ALLOCATE(ptr, size, account.lib->cudaMallocFromPoolAsync(ptr, size, pool, routed(stream)));
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void **ptr, size_t size, cudaMemPool_t pool,
                                         cudaStream_t stream)
{
    NEED(account.twins.cudaMallocFromPoolAsync_ptsz);
    ALLOCATE(ptr, size,
             account.twins.cudaMallocFromPoolAsync_ptsz(ptr, size, pool, routed(stream)));
}

cudaError_t cudaFree(void *ptr)
{
    NEED(FORWARD(cudaFree));
    RELEASE(ptr, account.lib->cudaFree(ptr));
}

cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
    NEED(FORWARD(cudaFreeAsync));
    RELEASE(ptr, account.lib->cudaFreeAsync(ptr, routed(stream)));
}

cudaError_t cudaFreeAsync_ptsz(void *ptr, cudaStream_t stream)
{
    NEED(account.twins.cudaFreeAsync_ptsz);
    RELEASE(ptr, account.twins.cudaFreeAsync_ptsz(ptr, routed(stream)));
}

cudaError_t cudaHostAlloc(void **ptr, size_t size, unsigned int flags)
{
    NEED(FORWARD(cudaHostAlloc));
    count_host();
    return account.lib->cudaHostAlloc(ptr, size, flags);
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    NEED(FORWARD(cudaMallocHost));
    count_host();
    return account.lib->cudaMallocHost(ptr, size);
}

cudaError_t cudaMemsetAsync(void *ptr, int value, size_t size, cudaStream_t stream)
{
    NEED(FORWARD(cudaMemsetAsync));
    return account.lib->cudaMemsetAsync(ptr, value, size, routed(stream));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    NEED(FORWARD(cudaMemcpyAsync));
    return account.lib->cudaMemcpyAsync(dst, src, size, kind, routed(stream));
}

/* ---- launches ---- */

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream)
{
    NEED(FORWARD(cudaLaunchKernel));
    count_launch();
    return account.lib->cudaLaunchKernel(func, grid, block, args, shared, routed(stream));
}

cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args,
                                  size_t shared, cudaStream_t stream)
{
    NEED(account.twins.cudaLaunchKernel_ptsz);
    count_launch();
    return account.twins.cudaLaunchKernel_ptsz(func, grid, block, args, shared, routed(stream));
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream)
{
    NEED(account.twins.__cudaLaunchKernel);
    count_launch();
    return account.twins.__cudaLaunchKernel(kernel, grid, block, args, shared, routed(stream));
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t stream)
{
    NEED(account.twins.__cudaLaunchKernel_ptsz);
    count_launch();
    return account.twins.__cudaLaunchKernel_ptsz(kernel, grid, block, args, shared, routed(stream));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    NEED(FORWARD(cudaLaunchKernelExC));
    count_launch();
    if (config != NULL && account.capture != NULL) {
        cudaLaunchConfig_t moved = *config;
        moved.stream = routed(config->stream);
        return account.lib->cudaLaunchKernelExC(&moved, func, args);
    }
    return account.lib->cudaLaunchKernelExC(config, func, args);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func,
                                     void **args)
{
    NEED(account.twins.cudaLaunchKernelExC_ptsz);
    count_launch();
    return account.twins.cudaLaunchKernelExC_ptsz(config, func, args);
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream)
{
    NEED(FORWARD(cudaLaunchCooperativeKernel));
    count_launch();
    return account.lib->cudaLaunchCooperativeKernel(func, grid, block, args, shared,
                                                    routed(stream));
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args,
                                             size_t shared, cudaStream_t stream)
{
    NEED(account.twins.cudaLaunchCooperativeKernel_ptsz);
    count_launch();
    return account.twins.cudaLaunchCooperativeKernel_ptsz(func, grid, block, args, shared,
                                                          routed(stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    NEED(FORWARD(cudaGraphLaunch));
    count_launch();
    return account.lib->cudaGraphLaunch(graph, routed(stream));
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t graph, cudaStream_t stream)
{
    NEED(account.twins.cudaGraphLaunch_ptsz);
    count_launch();
    return account.twins.cudaGraphLaunch_ptsz(graph, routed(stream));
}

/* ---- the context ---- */

cudaError_t cudaDeviceReset(void)
{
    /* Would free the judge's own buffers: refused, and reported. */
    pthread_mutex_lock(&account.lock);
    account.counts.reset = true;
    pthread_mutex_unlock(&account.lock);
    return cudaErrorNotPermitted;
}
