"""What a row test is made of: types of operands, the list of tests, the text of a kernel.

Each kernel runs one thread per row: it loads the operands, executes the form (one line per result)
and stores the results, so that nothing folds. The tables are in rows_*.py.
"""

REGS = {
    "s8": ("h", "b16", "s8"),
    "u8": ("h", "b16", "u8"),
    "b16": ("h", "b16", "b16"),
    "s16": ("h", "b16", "b16"),
    "u16": ("h", "b16", "b16"),
    "f16": ("h", "b16", "b16"),
    "bf16": ("h", "b16", "b16"),
    "b32": ("w", "b32", "b32"),
    "s32": ("w", "b32", "b32"),
    "u32": ("w", "b32", "b32"),
    "shift": ("w", "b32", "b32"),
    "f32": ("f", "f32", "f32"),
    "unit": ("f", "f32", "f32"),
    "b64": ("q", "b64", "b64"),
    "s64": ("q", "b64", "b64"),
    "u64": ("q", "b64", "b64"),
    "f64": ("e", "f64", "f64"),
    "pred": ("p", "pred", None),
}
SIZE = {
    "s8": 1,
    "u8": 1,
    "b16": 2,
    "s16": 2,
    "u16": 2,
    "f16": 2,
    "bf16": 2,
    "b64": 8,
    "s64": 8,
    "u64": 8,
    "f64": 8,
}

TESTS = []


def test(area, name, inputs, *results, bound=None):
    """Adds a file: inputs are types; each result is (type, code) where {d} is the result and {a} {b} {c} {e} are the inputs."""
    TESTS.append((area, name, inputs, results, bound))


def each(area, name, inputs, result, code, types, bound=None):
    """The same code for several types {t}; 't' among the inputs or as result means that type."""
    for t in types:
        test(
            area,
            f"{name}_{t}",
            [t if i == "t" else i for i in inputs],
            *[
                (t if r == "t" else r, c.replace("{t}", t))
                for r, c in zip(
                    [result] if isinstance(result, str) else result,
                    [code] if isinstance(code, str) else code,
                )
            ],
            bound=bound,
        )


INTS = ["u16", "s16", "u32", "s32", "u64", "s64"]
INTS32 = ["u32", "s32"]
INTS64 = ["u32", "s32", "u64", "s64"]
BITS = ["b16", "b32", "b64"]
HALVES = ["f16", "bf16"]


def render(inputs, results, bound, launch):
    names = "abceghi"
    lines = [
        f"//! rows {' '.join(inputs)} -> {' '.join(t if t != 'pred' else 'pred' for t, _ in results)}",
        launch,
    ]
    if bound:
        lines.append(f"//! {bound}")
    params = [f".param .u64 p{i}" for i in range(len(inputs) + len(results))] + [
        ".param .u32 count"
    ]
    local = any("%q57" in code for _, code in results)
    shared = any("%w29" in code for _, code in results)
    lines += (
        [".version 9.0", ".target sm_90a", ".address_size 64"]
        + ([".shared .align 16 .b8 cell[2048];"] if shared else [])
        + [
            f".visible .entry rows({', '.join(params)})",
            "{",
            "    .reg .pred %p<40>;",
            "    .reg .b16 %h<40>;",
            "    .reg .b32 %w<40>;",
            "    .reg .f32 %f<40>;",
            "    .reg .b64 %q<60>;",
            "    .reg .f64 %e<40>;",
            "    mov.u32 %w30, %ctaid.x;",
            "    mov.u32 %w31, %ntid.x;",
            "    mov.u32 %w32, %tid.x;",
            "    mad.lo.u32 %w33, %w30, %w31, %w32;",
            *(["    .local .align 16 .b8 depot[16];", "    mov.u64 %q57, depot;"] if local else []),
            *(
                ["    mov.u32 %w29, cell;", "    mad.lo.u32 %w29, %w32, 16, %w29;"]
                if shared
                else []
            ),
            "    ld.param.u32 %w34, [count];",
            "    setp.ge.u32 %p30, %w33, %w34;",
            "    @%p30 bra done;",
        ]
    )
    regs = {}
    for i, t in enumerate(inputs):
        letter, kind, how = REGS[t]
        reg = f"%{letter}{i}"
        regs[names[i]] = reg
        lines += [
            f"    ld.param.u64 %q{20 + i}, [p{i}];",
            f"    mad.wide.u32 %q{30 + i}, %w33, {SIZE.get(t, 4)}, %q{20 + i};",
        ]
        if t == "pred":
            lines += [
                f"    ld.global.u32 %w{20 + i}, [%q{30 + i}];",
                f"    setp.ne.u32 {reg}, %w{20 + i}, 0;",
            ]
        else:
            lines.append(f"    ld.global.{how} {reg}, [%q{30 + i}];")
    for i, (t, code) in enumerate(results):
        regs["d"] = f"%{REGS[t][0]}{8 + i}"
        lines.append("    " + code.format(**regs))
    for i, (t, _) in enumerate(results):
        letter, kind, how = REGS[t]
        n = len(inputs) + i
        lines += [
            f"    ld.param.u64 %q40, [p{n}];",
            f"    mad.wide.u32 %q41, %w33, {SIZE.get(t, 4)}, %q40;",
        ]
        if t == "pred":
            lines += [f"    selp.u32 %w35, 1, 0, %p{8 + i};", "    st.global.u32 [%q41], %w35;"]
        else:
            lines.append(f"    st.global.{how} [%q41], %{letter}{8 + i};")
    return "\n".join(lines + ["done:", "    ret;", "}", ""])
