/*
 * alloc_fault.h - makes the n-th allocation of the code under test fail.
 * Overrides the weak xalloc_refuses() of xalloc.c for the whole test program.
 */
#ifndef TESTS_UNIT_ALLOC_FAULT_H
#define TESTS_UNIT_ALLOC_FAULT_H

/* From now on the n-th allocation (1 = the next) fails once; 0 = none fails. Resets the count. */
void alloc_fault_set(unsigned long n);
/* Allocations asked for since alloc_fault_set. */
unsigned long alloc_fault_count(void);

#endif
