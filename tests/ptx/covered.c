/*
 * covered.c - which instruction forms the PTX tests execute. usage: covered FORMS.TSV FILE.ptx...
 * Fails when a row of ops.def that is executed (DONE) or an executed form that nvcc is known to
 * emit (FORMS.TSV) stands in no test; types of a row that no test uses are counted and named, as
 * some are types that the assembler refuses. Runs nothing: that the tests pass is their own
 * business. Invariant: only instructions that the front end accepted count.
 */
#include "opform.h"
#include "ptxtest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16384, TYPE_SETS = 4, FORM_SIZE = 128, LINE_SIZE = 512 };

struct seen {
    unsigned rows[PTX_FORM_COUNT];             /* instructions of each row */
    uint64_t types[PTX_FORM_COUNT][TYPE_SETS]; /* types met, a bit each, per place */
    char (*words)[FORM_SIZE];                  /* opcode words as written */
    unsigned word_count;
};

static bool has_word(const struct seen *s, const char *word)
{
    for (unsigned i = 0; i < s->word_count; i++)
        if (strcmp(s->words[i], word) == 0)
            return true;
    return false;
}

static bool add_word(struct seen *s, const char *text)
{
    char word[FORM_SIZE];
    size_t n;

    if (*text == '@') { /* the guard is no part of the form */
        text += strcspn(text, " \t");
        text += strspn(text, " \t");
    }
    n = strcspn(text, " \t;");
    if (n >= sizeof word)
        return true; /* longer than any form of the list */
    memcpy(word, text, n);
    word[n] = '\0';
    if (has_word(s, word))
        return true;
    if (s->word_count == WORDS_MAX)
        return false;
    memcpy(s->words[s->word_count++], word, sizeof word);
    return true;
}

static bool add_file(struct seen *s, const char *path)
{
    struct ptx_module *m = NULL;
    struct ptx_diag d;
    size_t len = 0;
    bool ok = true;
    char *text = ptxtest_slurp(path, &len);

    if (!text || !ptx_module_load(&m, text, len, &d)) {
        fprintf(stderr, "%s: cannot be read or parsed\n", path);
        free(text);
        return false;
    }
    for (uint32_t f = 0; f < m->func_count; f++)
        for (uint32_t i = 0; i < m->funcs[f].inst_count; i++) {
            const struct ptx_inst *in = &m->funcs[f].insts[i];
            if (in->form == PTX_FORM_NONE || in->refusal)
                continue;
            s->rows[in->form]++;
            for (unsigned t = 0; t < in->type_count && t < TYPE_SETS; t++)
                s->types[in->form][t] |= 1ull << in->types[t];
            ok = add_word(s, in->text) && ok;
        }
    ptx_module_free(m);
    free(text);
    return ok;
}

/* Rows without a test; *types: how many types of the others are in none. */
static unsigned check_rows(const struct seen *s, unsigned *types)
{
    unsigned missing = 0;

    *types = 0;
    for (int f = 1; f < PTX_FORM_COUNT; f++) {
        const struct op_form *row = op_form((enum ptx_form)f);
        if (row->state != OP_DONE)
            continue;
        if (s->rows[f] == 0) {
            fprintf(stderr, "no test: %s: %s\n", row->opcode, row->meaning);
            missing++;
            continue;
        }
        if (op_any_types(row))
            continue;
        for (unsigned t = 0; t < op_type_count(row) && t < TYPE_SETS; t++)
            for (int k = 1; k < PTX_TYPE_COUNT; k++)
                if ((row->types[t] & ~s->types[f][t]) >> k & 1) {
                    printf("note: %s as type %u is in no test: %s: %s\n",
                           ptx_type_text((enum ptx_type)k), t + 1, row->opcode, row->meaning);
                    (*types)++;
                }
    }
    return missing;
}

/* Executed forms of the list without a test; *count: how many the list has. */
static unsigned check_list(const struct seen *s, const char *path, unsigned *count)
{
    char line[LINE_SIZE], form[FORM_SIZE];
    unsigned missing = 0;
    FILE *f = fopen(path, "r");

    *count = 0;
    if (!f)
        return 0;
    while (fgets(line, sizeof line, f)) {
        struct op_word w;
        enum ptx_form row;
        if (line[0] == '#' || sscanf(line, "%127s", form) != 1)
            continue;
        op_split(&w, form, (uint32_t)strlen(form));
        row = op_match(&w, PTX_FORM_NONE);
        if (row == PTX_FORM_NONE || op_form(row)->state != OP_DONE)
            continue;
        (*count)++;
        if (!has_word(s, form)) {
            fprintf(stderr, "no test as nvcc writes it: %s\n", form);
            missing++;
        }
    }
    fclose(f);
    return missing;
}

int main(int argc, char **argv)
{
    static struct seen s;
    unsigned listed = 0, types = 0, missing;
    bool ok = true;

    if (argc < 3) {
        fprintf(stderr, "usage: covered FORMS.TSV FILE.ptx...\n");
        return 2;
    }
    s.words = calloc(WORDS_MAX, sizeof *s.words);
    for (int i = 2; s.words && i < argc; i++)
        ok = add_file(&s, argv[i]) && ok;
    if (!s.words)
        return 1;
    missing = check_rows(&s, &types) + check_list(&s, argv[1], &listed);
    printf("%d files, %u spellings of instructions, %u forms of the list; %u rows or forms and %u "
           "types of rows without a test\n",
           argc - 2, s.word_count, listed, missing, types);
    ok = ok && listed > 0 && missing == 0;
    free(s.words);
    return ok ? 0 : 1;
}
