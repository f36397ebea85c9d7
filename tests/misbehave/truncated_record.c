/* truncated_record.c - sends the first bytes of a record. */
#include "double.h"

#include "record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void solve(const float *input, float *output, int n)
{
    struct record r;

    double_all(input, output, n);
    memset(&r, 0, sizeof r);
    r.format = RECORD_FORMAT;
    if (write(RECORD_FD_COMMANDS, &r, 40) < 0)
        exit(1);
}
