/*
 * runner_main.c - the program judge-runner: sets the process up and serves. Prints only when it is
 * started by hand; the judge never reads what it prints.
 */
#include "serve.h"
#include "watch.h"

#include "record.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    const struct rlimit no_core = {0, 0};

    /* The judge's end is ours; also when it is killed and cannot say so. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* lines survive a crash */
    if (argc == 2 && strcmp(argv[1], "serve") == 0)
        return serve();
    if (argc == 3 && strcmp(argv[1], "watch") == 0)
        return watch(argv[2]);
    fprintf(stderr, "judge-runner is started by judge; by hand: judge-runner watch DEVICE\n");
    return RECORD_EXIT_USAGE;
}
