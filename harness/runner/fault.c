/*
 * fault.c - see fault.h. A signal handler receives no context of ours, hence the one object of file
 * scope; it is written between calls only.
 */
#include "fault.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_SIZE 65536
/* How far beyond the end of the stack an access still counts as its overflow (large arrays), and
 * how far before it: the kernel keeps a gap there. */
#define STACK_REACH ((uintptr_t)256 << 20)
#define STACK_SLACK ((uintptr_t)2 << 20)

static struct {
    struct record_fault *page;
    uint64_t sequence;
    uint32_t phase;
    uintptr_t stack_end; /* lowest address that the stack of the first thread may grow to */
    struct fault_range ranges[RECORD_MAX_PARAMS];
    unsigned count;
    _Alignas(64) unsigned char stack[STACK_SIZE];
} fault;

static void note(int signo, siginfo_t *info, void *context)
{
    const uintptr_t address = (uintptr_t)info->si_addr;
    struct record_fault *page = fault.page;

    (void)context;
    if (page != NULL && fault.phase != 0) {
        page->address = address;
        page->inside_call = fault.phase;
        page->param = 0;
        page->below_stack =
            address < fault.stack_end + STACK_SLACK && address + STACK_REACH > fault.stack_end;
        for (unsigned i = 0; i < fault.count; i++)
            if (address >= fault.ranges[i].begin && address < fault.ranges[i].end) {
                page->param = i + 1;
                page->byte_offset = (int64_t)(address - fault.ranges[i].begin);
            }
        page->signo = (uint32_t)signo;
        page->sequence = fault.sequence;
    }
    /* SA_RESETHAND restored the default action: the same fault, or this raise, ends the process. */
    raise(signo);
}

bool fault_open(struct record_fault *page)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    stack_t stack = {.ss_sp = fault.stack, .ss_size = sizeof fault.stack};
    struct sigaction action;
    struct rlimit limit;

    fault.page = page;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < (uintptr_t)&stack)
        fault.stack_end = (uintptr_t)&stack - limit.rlim_cur;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    if (sigaltstack(&stack, NULL) != 0)
        return false;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], &action, NULL) != 0)
            return false;
    return true;
}

void fault_page(struct record_fault *page) { fault.page = page; }

void fault_enter(uint64_t sequence, uint32_t phase, const struct fault_range *ranges,
                 unsigned count)
{
    fault.sequence = sequence;
    fault.count = count;
    if (count != 0)
        memcpy(fault.ranges, ranges, count * sizeof *ranges);
    fault.phase = phase;
}
