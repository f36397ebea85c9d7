#!/usr/bin/env python3
"""Writes the row tests of tests/ptx: one .ptx per instruction form, operands read from memory.

The operands come from vgpu/tool/ptxtest.c; what a GPU answers is kept in the .gold file beside the
.ptx (tests/ptx/record.c). Run it after a change of a table in rows_*.py; the files are committed.
"""

import os

import rowkit
import rows_convert  # noqa: F401  each import adds its tests to rowkit.TESTS
import rows_float  # noqa: F401
import rows_integer  # noqa: F401
import rows_memory  # noqa: F401
import rows_other  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))


def main() -> None:
    for area, name, inputs, results, bound in rowkit.TESTS:
        os.makedirs(os.path.join(HERE, area), exist_ok=True)
        with open(os.path.join(HERE, area, name + ".ptx"), "w", encoding="utf-8") as out:
            out.write(rowkit.render(inputs, results, bound, "//! launch rows"))
    print(len(rowkit.TESTS), "tests")


if __name__ == "__main__":
    main()
