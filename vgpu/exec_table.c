/*
 * exec_table.c - the handler tables of all files and instruction sets in one place; picks by cpuid.
 * Invariant: every handler is in exactly one file's table; the level is asked of the CPU each time,
 * so nothing is kept but a test's override.
 */
#include "exec.h"

#include <stddef.h>

#define TABLES(isa)                                                                                \
    extern op_fn *const exec_alu_ops_##isa[OP_COUNT];                                              \
    extern op_fn *const exec_float_ops_##isa[OP_COUNT];                                            \
    extern op_fn *const exec_convert_ops_##isa[OP_COUNT];                                          \
    extern op_fn *const exec_mem_ops_##isa[OP_COUNT];                                              \
    extern op_fn *const exec_atomic_ops_##isa[OP_COUNT];                                           \
    extern op_fn *const exec_mma_ops_##isa[OP_COUNT];                                              \
    extern loop_fn *const exec_loops_##isa[LOOP_COUNT];
#define LIST(isa)                                                                                  \
    {                                                                                              \
        exec_alu_ops_##isa, exec_float_ops_##isa, exec_convert_ops_##isa, exec_mem_ops_##isa,      \
            exec_atomic_ops_##isa, exec_mma_ops_##isa                                              \
    }
TABLES(base)
#if defined(__x86_64__)
TABLES(v3)
TABLES(v4)
#endif
extern op_fn *const exec_sync_ops[OP_COUNT];
extern op_fn *const exec_call_ops[OP_COUNT];
extern op_fn *const exec_async_ops[OP_COUNT];

enum { HOT_TABLES = 6 };
static op_fn *const *const hot[][HOT_TABLES] = {
    LIST(base),
#if defined(__x86_64__)
    LIST(v3),
    LIST(v4),
#endif
};
static loop_fn *const *const loops[] = {
    exec_loops_base,
#if defined(__x86_64__)
    exec_loops_v3,
    exec_loops_v4,
#endif
};
static op_fn *const *const cold[] = {exec_sync_ops, exec_call_ops, exec_async_ops};

static const char *const names[OP_COUNT] = {
    [OP_NONE] = "none",
#define X(name) [OP_##name] = #name,
#include "handlers.def"
#undef X
};

/* 0 base, 1 v3, 2 v4 */
static int isa_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return v4 ? 2 : v3 ? 1 : 0;
#else
    return 0;
#endif
}

op_fn *exec_op_at(enum op_id id, int level)
{
    int have = isa_level();
    if (level < 0 || level > have)
        level = have;
    for (size_t i = 0; i < HOT_TABLES; i++) {
        if (hot[level][i][id])
            return hot[level][i][id];
    }
    for (size_t i = 0; i < sizeof cold / sizeof cold[0]; i++) {
        if (cold[i][id])
            return cold[i][id];
    }
    return NULL;
}

op_fn *exec_op(enum op_id id) { return exec_op_at(id, exec_isa_limit()); }

loop_fn *exec_loop(enum loop_kind kind)
{
    int have = isa_level(), level = exec_isa_limit();
    if (level < 0 || level > have)
        level = have;
    return loops[level][kind];
}

const char *exec_op_name(enum op_id id) { return names[id]; }

const char *exec_isa_name(void)
{
    static const char *const isa_names[] = {"base", "v3", "v4"};
    int have = isa_level(), level = exec_isa_limit();
    return isa_names[level < 0 || level > have ? have : level];
}
