/*
 * cudart_answers.c - asks the CUDA runtime some hundreds of questions and prints each with its
 * answer: `cudaFree(inside) = 1`. Decides nothing: cudart_answers.py compares the answers of the
 * virtual GPU with those recorded from the real library. Invariant: public functions only; each
 * section runs in a process of its own, so that a fault ends one section; the first process never
 * starts the runtime.
 */
#include "cudart_answers.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct section *const groups[] = {answers_memory, answers_launch, answers_stream,
                                               answers_graph,  answers_device, answers_fault};

void answer(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

cudaKernel_t answers_kernel(const char *name)
{
    static cudaLibrary_t library;
    cudaKernel_t kernel = NULL;

    if (!library && cudaLibraryLoadData(&library, answers_ptx(), NULL, NULL, 0, NULL, NULL, 0) != 0)
        answer("the kernels were refused: %s", cudaGetErrorName(cudaPeekAtLastError()));
    if (cudaLibraryGetKernel(&kernel, library, name) != cudaSuccess)
        answer("no kernel %s", name);
    return kernel;
}

cudaError_t answers_run(const char *name, unsigned blocks, unsigned threads, size_t shared,
                        void **args)
{
    const dim3 grid = {blocks, 1, 1}, block = {threads, 1, 1};
    const void *kernel = answers_kernel(name);

    return cudaLaunchKernel(kernel, grid, block, args, shared, NULL);
}

static void run(const struct section *s)
{
    int status = 0;

    printf("# %s\n", s->name);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(STDOUT_FILENO, STDERR_FILENO); /* what the library says there is an answer, too */
        alarm(20);
        s->ask();
        fflush(stdout);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        printf("not run\n");
    else if (WIFSIGNALED(status))
        printf("ended by signal %d\n", WTERMSIG(status));
}

/* Runs every section, or those named. */
int main(int argc, char **argv)
{
    unsigned found = 0;

    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        for (const struct section *s = groups[i]; s->ask; s++) {
            bool wanted = argc < 2;
            for (int k = 1; k < argc; k++)
                wanted = wanted || strcmp(argv[k], s->name) == 0;
            if (!wanted)
                continue;
            run(s);
            found++;
        }
    }
    return found ? 0 : 1;
}
