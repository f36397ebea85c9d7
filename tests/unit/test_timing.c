/*
 * test_timing.c - timed samples and the path of a real GPU, on the stand-in runtime: its clock is
 * the host's and it plays the runner's own kernels. Says nothing about speed.
 */
#include "runner_bench.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- timed samples, by the host's clock ---- */

static void a_cold_sample_is_checked_like_a_call(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "correct", N_LONG);
    for (unsigned i = 0; i < 3; i++) {
        const struct timing_request t = {
            .exponents = {(int)i}, .slab_step = i * 4096, .limit_s = 20};
        assert_int_equal(runner_time(b.runner, &b.casedef, &b.file, &t, &b.reply, &b.d), STATUS_OK);
        assert_clean(&b);
        assert_int_equal(wrong_elements(&b, b.reply.out[1], (int)i), 0);
        assert_true(b.reply.record.event_us > 0);
        assert_int_equal(b.reply.record.flags, RECORD_FLAG_NO_KIT);
    }
    end(&b);
}

static void a_hot_batch_hands_over_every_output(void **state)
{
    struct bench b = {0};
    const struct timing_request t = {
        .hot = true, .repeats = 9, .exponents = {1}, .exponents2 = {-2}, .limit_s = 20};

    (void)state;
    begin(&b, "correct", N);
    assert_int_equal(runner_time(b.runner, &b.casedef, &b.file, &t, &b.reply, &b.d), STATUS_OK);
    assert_clean(&b);
    assert_int_equal(b.reply.hot_copies, 10);
    for (unsigned j = 0; j < b.reply.hot_copies; j++)
        assert_int_equal(
            wrong_elements(&b, (const char *)b.reply.out_all[1] + j * b.reply.out_stride[1],
                           j % 2 == 0 ? 1 : -2),
            0);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], -2), 0);
    assert_int_equal(wrong_elements(&b, b.reply.out_early[1], 1), 0);
    end(&b);
}

/* More calls than output sets: the last calls survive, the very last one in the last set. */
static void a_long_hot_batch_hands_over_its_last_outputs(void **state)
{
    struct bench b = {0};
    const struct timing_request t = {
        .hot = true, .repeats = 100, .exponents = {1}, .exponents2 = {-2}, .limit_s = 60};

    (void)state;
    begin(&b, "correct", N_LONG);
    assert_int_equal(runner_time(b.runner, &b.casedef, &b.file, &t, &b.reply, &b.d), STATUS_OK);
    assert_clean(&b);
    assert_int_equal(b.reply.hot_copies, 22); /* of 2.8 MB each: 64 MiB */
    for (unsigned j = 0; j < b.reply.hot_copies; j++)
        assert_int_equal(
            wrong_elements(&b, (const char *)b.reply.out_all[1] + j * b.reply.out_stride[1],
                           j % 2 == 0 ? 1 : -2),
            0);
    end(&b);
}

static uint64_t digest_of(const struct bench *b, uint64_t key)
{
    float *want = malloc(b->n * sizeof *want);
    uint64_t digest;

    assert_non_null(want);
    for (uint64_t i = 0; i < b->n; i++)
        want[i] = 2.0f * b->input[i];
    digest = record_digest(RECORD_F32, want, 0, b->n, 0, key);
    free(want);
    return digest;
}

/* A large output that must be equal stays where it is; its elements come when asked for. */
static void digest_sample(struct bench *b, uint64_t key)
{
    const struct timing_request t = {
        .exponents = {3}, .slab_step = 512, .digest_key = key, .limit_s = 20};
    const struct timing_request hot = {.hot = true,
                                       .repeats = 6,
                                       .exponents = {1},
                                       .exponents2 = {-2},
                                       .digest_key = key,
                                       .limit_s = 20};
    uint64_t got;

    assert_int_equal(runner_time(b->runner, &b->casedef, &b->file, &t, &b->reply, &b->d),
                     STATUS_OK);
    assert_clean(b);
    assert_null(b->reply.out[1]);
    memcpy(&got, b->reply.digest[1], sizeof got);
    assert_int_equal(got, digest_of(b, key));
    assert_int_equal(runner_outputs(b->runner, &b->reply, &b->d), STATUS_OK);
    assert_done(b);
    assert_int_equal(wrong_elements(b, b->reply.out[1], 3), 0);
    assert_int_equal(runner_time(b->runner, &b->casedef, &b->file, &hot, &b->reply, &b->d),
                     STATUS_OK);
    assert_clean(b);
    assert_int_equal(b->reply.hot_copies, 6);
    for (unsigned j = 0; j < 6; j++) {
        memcpy(&got, b->reply.digest[1] + j * b->reply.digest_stride, sizeof got);
        assert_int_equal(got, digest_of(b, key));
    }
    assert_int_equal(runner_outputs(b->runner, &b->reply, &b->d), STATUS_INTERNAL);
}

static void large_exact_outputs_come_as_digests(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "correct", N_LONG);
    digest_sample(&b, 77);
    end(&b);
}

static void allocations_in_timed_calls_are_flagged(void **state)
{
    struct bench b = {0};
    const struct timing_request t = {.limit_s = 20};

    (void)state;
    begin(&b, "leak", N);
    assert_int_equal(runner_time(b.runner, &b.casedef, &b.file, &t, &b.reply, &b.d), STATUS_OK);
    assert_done(&b);
    assert_int_equal(b.reply.record.flags, RECORD_FLAG_ALLOCATES | RECORD_FLAG_NO_KIT);
    end(&b);
}

static void graph_sample(struct bench *b, int exponent)
{
    const struct timing_request t = {.graph = true, .exponents = {exponent}, .limit_s = 20};

    assert_int_equal(runner_time(b->runner, &b->casedef, &b->file, &t, &b->reply, &b->d),
                     STATUS_OK);
}

/* Captured once; the replays see new contents in the same buffers. Halves, as this one copies. */
static void a_graph_is_replayed_on_new_contents(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "copy_on_stream", N);
    for (int exponent = 0; exponent < 3; exponent++) {
        graph_sample(&b, exponent);
        assert_clean(&b);
        assert_int_equal(wrong_elements(&b, b.reply.out[1], exponent - 1), 0);
        assert_int_equal(b.reply.record.flags, RECORD_FLAG_NO_KIT);
    }
    end(&b);
}

/* It does nothing that a stream would hold: the graph is empty and the output stays unwritten. */
static void work_outside_a_stream_does_not_get_into_a_graph(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "correct", N);
    graph_sample(&b, 0);
    assert_done(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), N);
    end(&b);
}

static void a_stale_graph_writes_to_the_first_buffers_only(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "stale_graph", N);
    call(&b, (struct call_request){.letter = 'A'});
    assert_int_equal(wrong_elements(&b, b.reply.out[1], -1), 0);
    call(&b, (struct call_request){.letter = 'B', .address_set = 1, .poison_kind = 1});
    assert_done(&b);
    assert_int_equal(bits_of(b.reply.out[1], 0), 0x7f61a5a5u);
    end(&b);
}

/* ---- the path of a real GPU: kit, pristine copies, pinned memory, flush ---- */

static struct runner_config gpu_config(void)
{
    struct runner_config rc = config_of(NULL);

    rc.backend = BACKEND_GPU; /* on the stand-in, which plays the runner's kernels */
    return rc;
}

static void begin_gpu(struct bench *b, const char *name, uint64_t n)
{
    begin_with(b, name, n, gpu_config());
}

static void large_inputs_are_made_on_the_device(void **state)
{
    struct bench b = {0};

    (void)state;
    begin_gpu(&b, "correct", N_LONG);
    call(&b, (struct call_request){.letter = 'A', .exponents = {4}});
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 4), 0);
    call(&b, (struct call_request){
                 .letter = 'B', .address_set = 1, .poison_kind = 1, .reread_previous = true});
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    assert_int_equal(wrong_elements(&b, b.reply.out_previous[1], 4), 0);
    case_make(&b, N_LONG + 5); /* another file: its own pristine copy */
    b.casedef = casedef_of(N_LONG + 5, 2);
    call(&b, (struct call_request){.letter = 'A', .exponents = {-1}});
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], -1), 0);
    end(&b);
}

static void changed_inputs_are_found_on_the_device(void **state)
{
    struct bench b = {0};

    (void)state;
    begin_gpu(&b, "scribble_input", N_LONG);
    call(&b, (struct call_request){.letter = 'A', .exponents = {2}});
    assert_done(&b);
    assert_int_equal(b.reply.record.params[0].input_changed, 1);
    assert_int_equal(b.reply.record.params[0].input_first, N_LONG / 2);
    end(&b);
}

static void cold_samples_run_behind_a_flush(void **state)
{
    struct bench b = {0};
    struct timing_request t = {.exponents = {3}, .slab_step = 512, .limit_s = 20};

    (void)state;
    begin_gpu(&b, "correct", N_LONG);
    for (unsigned i = 0; i < 2; i++, t.dirty_flush = true) {
        assert_int_equal(runner_time(b.runner, &b.casedef, &b.file, &t, &b.reply, &b.d), STATUS_OK);
        assert_clean(&b);
        assert_int_equal(b.reply.record.flags, 0);
        assert_int_equal(wrong_elements(&b, b.reply.out[1], 3), 0);
    }
    end(&b);
}

static void digests_are_made_on_the_device(void **state)
{
    struct bench b = {0};

    (void)state;
    begin_gpu(&b, "correct", N_LONG);
    digest_sample(&b, 0xfedcba9876543211u);
    end(&b);
}

static void ceilings_are_measured(void **state)
{
    struct bench b = {0};
    struct device_facts facts;

    (void)state;
    begin_gpu(&b, "correct", N);
    assert_int_equal(runner_facts(b.runner, &facts, true, &b.d), STATUS_OK);
    assert_true(facts.copy_tbs > 0 && facts.e0_us > 0);
    assert_false(facts.is_virtual);
    end(&b);
    begin(&b, "correct", N);
    assert_int_equal(runner_facts(b.runner, &facts, true, &b.d), STATUS_INTERNAL);
    assert_string_equal(b.d.text, "device not usable: ceilings need a real GPU");
    end(&b);
}

/* The PTX text of the runner's kernels, executed: vgpu passes for a GPU, and the self-test of the
 * kit scales, compares, writes, copies and reads with all of vgpu's checks on. */
static void the_kits_text_does_what_it_says(void **state)
{
    struct runner_config rc = config_of(NULL);
    struct device_facts facts;
    struct diag d = {0};

    (void)state;
    rc.cudart_path = TEST_BUILD "/vgpu/libcudart.so.13";
    if (access(rc.cudart_path, R_OK) != 0) {
        print_message("vgpu is not built: the text is not executed\n");
        skip();
    }
    rc.backend = BACKEND_GPU;
    if (runner_probe(&rc, &facts, &d) != STATUS_OK)
        fail_msg("%s", d.text);
    assert_non_null(strstr(facts.name, "virtual GPU"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cold_sample_is_checked_like_a_call),
        cmocka_unit_test(a_hot_batch_hands_over_every_output),
        cmocka_unit_test(a_long_hot_batch_hands_over_its_last_outputs),
        cmocka_unit_test(large_exact_outputs_come_as_digests),
        cmocka_unit_test(allocations_in_timed_calls_are_flagged),
        cmocka_unit_test(a_graph_is_replayed_on_new_contents),
        cmocka_unit_test(work_outside_a_stream_does_not_get_into_a_graph),
        cmocka_unit_test(a_stale_graph_writes_to_the_first_buffers_only),
        cmocka_unit_test(large_inputs_are_made_on_the_device),
        cmocka_unit_test(changed_inputs_are_found_on_the_device),
        cmocka_unit_test(cold_samples_run_behind_a_flush),
        cmocka_unit_test(digests_are_made_on_the_device),
        cmocka_unit_test(ceilings_are_measured),
        cmocka_unit_test(the_kits_text_does_what_it_says),
    };

    return cmocka_run_group_tests_name("timing", tests, NULL, NULL);
}
