/*
 * watch.h - the machine beside a benchmark: clocks, temperature, power, throttling, other
 * processes. Reads NVML only; never touches CUDA, so it disturbs no context. Invariant: one line a
 * tick, written whole.
 */
#ifndef HARNESS_RUNNER_WATCH_H
#define HARNESS_RUNNER_WATCH_H

/* `device` is an index in NVML's order (PCI bus). Prints, every 10 ms until stdin or stdout closes,
 *
 *     <CLOCK_MONOTONIC ns> <SM MHz> <memory MHz> <C> <mW> <throttle bits> <other processes>
 *
 * with -1 for what the device does not tell. First line: "nvml 1 <driver version>", or "none
 * <why>". Returns the exit code: 0, or 2 for a bad index. */
int watch(const char *device);

#endif
