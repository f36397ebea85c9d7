/*
 * vg_arena.h - bump allocator of the virtual GPU: one per module, launch, device. Can be told to
 * fail the n-th allocation for tests.
 */
#ifndef VGPU_VG_ARENA_H
#define VGPU_VG_ARENA_H
#include <stddef.h>
struct vg_chunk;
struct vg_arena {
    struct vg_chunk *head;
};
void *vg_alloc(struct vg_arena *a,
               size_t size); /* zeroed, 64-byte aligned; NULL when out of memory */
void *vg_array(struct vg_arena *a, size_t count, size_t size); /* checked product */
char *vg_strndup(struct vg_arena *a, const char *s, size_t n);
char *vg_printf(struct vg_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void vg_arena_free(struct vg_arena *a); /* accepts the empty value */
void vg_fail_nth(long n); /* tests only: the n-th following allocation fails; <= 0 switches off */
#endif
