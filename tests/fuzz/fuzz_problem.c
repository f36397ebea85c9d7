/*
 * fuzz_problem.c - a hostile problem.json and MANIFEST.json, separated by a line "%%".
 * The first 64 zeros of the manifest are replaced by the hash of the problem.json, or no mutation
 * would ever get past the hash check. Property: an accepted pair obeys its limits; a refusal has a
 * place.
 */
#include "problem.h"
#include "sha256.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATOR "\n%%\n"
#define ZEROS     "0000000000000000000000000000000000000000000000000000000000000000"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_case(const struct problem *p, const struct casedef *c)
{
    assert(c->name[0] != '\0' && !strchr(c->name, '/') && c->tags[0]);
    for (unsigned i = 0; i < p->param_count; i++) {
        uint64_t count = 1;

        for (unsigned k = 0; k < c->rank[i]; k++)
            count *= c->shape[i][k];
        assert(p->params[i].scalar ? c->rank[i] == 0 : count == c->count[i]);
        assert(c->count[i] <= 1ull << 40);
    }
    for (unsigned g = 0; g < p->group_count; g++)
        assert(c->exp_lo[g] <= 0 && c->exp_hi[g] >= 0 && c->exp_hi[g] - c->exp_lo[g] <= 32);
    assert(!strstr(c->in.path, "..") || strstr(c->name, ".."));
    assert(c->in.path[0] != '/' && strlen(c->in.sha256) == 64);
}

static void check_accepted(const struct problem *p)
{
    assert(p->param_count >= 1 && p->param_count <= PROBLEM_MAX_PARAMS);
    assert(p->group_count <= PROBLEM_MAX_GROUPS);
    assert(p->case_count >= 1 && p->rule_count >= 1);
    assert(strncmp(p->prototype, "extern \"C\" void solve(", 22) == 0);
    for (unsigned i = 0; i < p->case_count; i++)
        check_case(p, &p->cases[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    const char *cut = memmem(data, size, SEPARATOR, strlen(SEPARATOR));
    const size_t spec_len = cut ? (size_t)(cut - (const char *)data) : size;
    const size_t rest = cut ? size - spec_len - strlen(SEPARATOR) : 0;
    char *manifest = malloc(rest ? rest : 1), *zeros;
    char sha[65], text[2048];
    const struct problem_text spec = {"problem.json", (const char *)data, spec_len};
    const struct problem_text m = {"MANIFEST.json", manifest, rest};
    struct problem p;
    struct diag d;

    assert(manifest);
    if (rest)
        memcpy(manifest, cut + strlen(SEPARATOR), rest);
    sha256_hex(sha, data, spec_len);
    zeros = memmem(manifest, rest, ZEROS, 64);
    if (zeros)
        memcpy(zeros, sha, 64);
    if (problem_parse(&p, &a, "p", &spec, &m, &d) == STATUS_OK)
        check_accepted(&p);
    else {
        assert(d.status == STATUS_BAD_DATA && d.text[0] != '\0' && d.note_count > 0);
        assert(diag_format(&d, text, sizeof text) == strlen(text));
    }
    free(manifest);
    arena_fini(&a);
    return 0;
}
