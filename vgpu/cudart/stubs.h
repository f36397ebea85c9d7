/*
 * stubs.h - what a refused function does. Includes no CUDA header: stubs.c defines the functions
 * that those declare, without arguments.
 */
#ifndef VGPU_CUDART_STUBS_H
#define VGPU_CUDART_STUBS_H

/* Warns, remembers the error for cudaGetLastError, returns cudaErrorNotSupported. */
int api_refused(const char *name);

#endif
