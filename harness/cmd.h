/*
 * cmd.h - what the commands share: the context, common options, targets, output.
 * Each cmd_<name>.c holds one command and nothing that another needs. argp lives in cmd_*.c only.
 * Invariant: a command returns a status with a filled diag, or STATUS_OK with *exit_code set.
 */
#ifndef HARNESS_CMD_H
#define HARNESS_CMD_H

#include "backend.h"
#include "config.h"
#include "results.h"
#include "suite.h"
#include "term.h"
#include "textbuf.h"
#include <argp.h>

/* Exit codes of `judge`. */
enum exit_code {
    EXIT_EXPECTED = 0,
    EXIT_UNEXPECTED = 1,
    EXIT_USAGE = 2,
    EXIT_INTERNAL = 3,
    EXIT_NOTHING = 77,
    EXIT_INTERRUPTED = 130
};

/* The program's context: first argument of everything in cmd_*.c. */
struct judge {
    struct arena arena; /* lives as long as the command */
    struct config cfg;
    struct term term;
    const volatile sig_atomic_t *stop; /* set by SIGINT and SIGTERM */
    bool no_colour;                    /* NO_COLOR in the environment */
    bool require_gpu;                  /* WARPJUDGE_REQUIRE_GPU=1 or --require-gpu */
};

/* Options that several commands take. */
struct common_options {
    const char *case_glob;   /* NULL = all */
    const char *const *tags; /* NULL = the command's default */
    unsigned tag_count;
    uint64_t seed;
    bool seed_given;
    double time_limit_s; /* 0 = the problem's */
    const char *keep_dir, *json_path;
    enum term_colour colour;
    bool quiet, verbose;
    const char *const *args; /* positional arguments, NULL-terminated */
    unsigned arg_count;
};

/* Keys of common options; commands number their own from OPT_OWN on. */
enum {
    OPT_BACKEND = 0x100,
    OPT_DEVICE,
    OPT_CASE,
    OPT_SEED,
    OPT_TIME_LIMIT,
    OPT_KEEP,
    OPT_JSON,
    OPT_COLOUR,
    OPT_REQUIRE_GPU,
    OPT_TAG,
    OPT_HELP,
    OPT_OWN = 0x200
};

/* One command's options: argp's table, and where its own values go. `own` gets keys >= OPT_OWN and
 * short letters that are not common; returns false (diag filled) for a bad value. */
struct cmd_syntax {
    const char *name;                  /* "run" */
    const char *args;                  /* "P[/S] [FILE.cu]..." */
    const char *doc;                   /* what it does; "\v" before the examples, as argp has it */
    const struct argp_option *options; /* own and common ones; {0} ends */
    enum status (*own)(struct judge *j, void *values, int key, const char *arg, struct diag *d);
    void *values;
};

/* Parses. *help_shown: --help was asked for and printed, the command has nothing more to do. */
enum status cmd_parse(struct judge *j, const struct cmd_syntax *syntax, int argc, char **argv,
                      struct common_options *out, bool *help_shown, struct diag *d) MUST_CHECK;

/* Rows of common options for the tables of the commands. */
#define CMD_OPT_BACKEND                                                                            \
    {"backend", OPT_BACKEND, "NAME", 0, "auto, gpu or vgpu (default auto)", 0},                    \
        {"device", OPT_DEVICE, "N", 0, "number of the GPU", 0},                                    \
    {                                                                                              \
        "require-gpu", OPT_REQUIRE_GPU, 0, 0, "having no GPU is an error, not a skip", 0           \
    }
#define CMD_OPT_CASES                                                                              \
    {"case", OPT_CASE, "GLOB", 0, "only cases whose name matches", 0},                             \
    {                                                                                              \
        "tag", OPT_TAG, "TAG", 0, "only with this tag: site, edge, stress, perf, curve", 0         \
    }
#define CMD_OPT_RUN                                                                                \
    {"seed", OPT_SEED, "HEX", 0, "seed of the changing exponents (printed by each run)", 0},       \
        {"jobs", 'j', "N", 0, "processes that judge (default: all cores; on a GPU 4 at most)", 0}, \
    {                                                                                              \
        "time-limit", OPT_TIME_LIMIT, "S", 0, "seconds a call may take", 0                         \
    }
#define CMD_OPT_OUTPUT                                                                             \
    {"json", OPT_JSON, "FILE", 0, "write the results as JSON; - is standard output", 0},           \
        {"color", OPT_COLOUR, "WHEN", 0, "always, never or auto", 0},                              \
        {"quiet", 'q', 0, 0, "print only what is not as expected", 0},                             \
    {                                                                                              \
        "verbose", 'v', 0, 0, "every case, registers, warnings", 0                                 \
    }
#define CMD_OPT_HELP                                                                               \
    {                                                                                              \
        "help", OPT_HELP, 0, 0, "this text", -1                                                    \
    }

/* Solutions that a target names. */
struct target {
    const struct problem *problem;
    const struct solution *const *solutions; /* pointers into the arena */
    unsigned solution_count;
};

enum target_scope {
    SCOPE_JUDGED, /* P alone means accepted ones and baselines */
    SCOPE_ALL     /* and rejects */
};

/* Targets of the positional arguments: "P", "P/S" (S may be a glob, or the folder rejects or
 * baselines), "P FILE.cu ...". None: all problems. Solutions of one problem are joined. */
enum status cmd_targets(struct judge *j, const struct common_options *o, enum target_scope scope,
                        const struct target **out, unsigned *count, struct diag *d) MUST_CHECK;
/* Whether --case and --tag match anything in the targets, before a device is looked for. */
enum status cmd_check_cases(struct judge *j, const struct common_options *o,
                            const struct target *targets, unsigned count,
                            struct diag *d) MUST_CHECK;
/* One problem by name, with a suggestion where it does not exist. */
enum status cmd_problem(struct judge *j, const char *name, const struct problem **out,
                        struct diag *d) MUST_CHECK;

/* Fills judge, commit, backend, device, seed and start of a run. */
enum status cmd_context(struct judge *j, const struct backend_choice *b, uint64_t seed,
                        struct run_context *out, struct diag *d) MUST_CHECK;
/* The seed of --seed, else one from the operating system. */
enum status cmd_seed(const struct common_options *o, uint64_t *out, struct diag *d) MUST_CHECK;
/* Prints to stdout; failures (a closed pipe, a full disk) are STATUS_IO. */
enum status cmd_print(const struct textbuf *b, struct diag *d) MUST_CHECK;
/* Writes to a file, as a whole or not at all. */
enum status cmd_write_text(const struct textbuf *b, const char *path, struct diag *d) MUST_CHECK;
/* Results as JSON to a file or, for "-", to stdout. */
enum status cmd_write_json(const struct results *r, const char *path, struct diag *d) MUST_CHECK;
/* Exit code of finished results (judge.md sections 1 and 11). */
int cmd_exit_code(const struct judge *j, const struct solution_result *r, unsigned count);
bool cmd_stopped(const struct judge *j);
const char *cmd_version(void);

/* Judges the targets, prints as it goes (unless o->json_path is "-"), stores. Used by run, bench
 * and the program without arguments. */
struct cmd_judge_options {
    const struct common_options *common;
    struct judging_options judging;   /* cfg, backend, seed and limits are filled in */
    bool headline;                    /* print the head line of each problem */
    bool keep;                        /* store in build/results */
    bool tune;                        /* every combination of @tune constants */
    bool silent_json;                 /* the caller writes --json itself */
    const struct expectation *expect; /* --expect: replaces every solution's tag; may be NULL */
};
enum status cmd_judge_targets(struct judge *j, const struct cmd_judge_options *o,
                              const struct backend_choice *backend, const struct target *targets,
                              unsigned target_count, struct results *out,
                              struct diag *d) MUST_CHECK;

/* The commands: commands.def. */
#define X(name, args, does)                                                                        \
    enum status cmd_##name(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d) \
        MUST_CHECK;
#include "commands.def"
/* The program without arguments: judges everything, times it on a GPU, prints the boards. */
enum status cmd_everything(struct judge *j, int argc, char **argv, int *exit_code,
                           struct diag *d) MUST_CHECK;

#endif
