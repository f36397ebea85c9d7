"""Row tests of atomics, loads and stores."""

from rowkit import BITS, HALVES, INTS64, test

# ---- atomics: each thread has its own word, so that old and new value can be told; global memory is that of the first operand ----
MEM = {"b16": "b16", "f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}


def atomic(op, t, operands="{b}"):
    """Old and new value of an atom in global and in shared memory, and what red leaves."""
    kind = {"f16x2": "b32", "bf16x2": "b32"}.get(t, t)
    mem = MEM.get(t, t)
    hint = ".noftz" if t in HALVES or t.endswith("x2") else ""
    result = [
        (kind, f"atom.global.{op}{hint}.{t} {{d}}, [%q30], {operands};"),
        (kind, f"ld.global.{mem} {{d}}, [%q30];"),
        (
            kind,
            f"st.shared.{mem} [%w29], {{a}}; atom.shared.{op}{hint}.{t} {{d}}, [%w29], {operands};",
        ),
        (kind, f"ld.shared.{mem} {{d}}, [%w29];"),
    ]
    if op not in ("exch", "cas"):
        result.append(
            (
                kind,
                f"st.global.{mem} [%q30], {{a}}; red.global.{op}{hint}.{t} [%q30], {operands}; ld.global.{mem} {{d}}, [%q30];",
            )
        )
    return kind, result


for op, types in {
    "add": ["u32", "s32", "u64", "f32", "f64", "f16", "f16x2", "bf16", "bf16x2"],
    "min": INTS64,
    "max": INTS64,
    "inc": ["u32"],
    "dec": ["u32"],
    "and": ["b32", "b64"],
    "or": ["b32", "b64"],
    "xor": ["b32", "b64"],
    "exch": ["b32", "b64"],
}.items():
    for t in types:
        kind, results = atomic(op, t)
        test("atomic", f"{op}_{t}", [kind, kind], *results)
for t in BITS:
    kind, results = atomic("cas", t, "{b}, {c}")
    results[0] = (
        kind,
        f"@{{e}} mov.{t} {{b}}, {{a}}; " + results[0][1],
    )  # every second compare succeeds
    test("atomic", f"cas_{t}", [t, t, t, "pred"], *results)
test(
    "atomic",
    "generic",
    ["b32", "b32"],
    ("b32", "atom.add.noftz.bf16x2 {d}, [%q30], {b};"),
    ("b32", "atom.add.noftz.f16x2 {d}, [%q30], {b};"),
    ("u32", "atom.max.u32 {d}, [%q30], {b};"),
    ("b32", "atom.acq_rel.gpu.xor.b32 {d}, [%q30], {b};"),
    ("u32", "red.relaxed.cta.add.u32 [%q30], {b}; ld.u32 {d}, [%q30];"),
)
test(
    "atomic",
    "vector_f32",
    ["f64", "f64"],
    (
        "f64",
        "{{ .reg .f32 x, y, u, v; mov.b64 {{x, y}}, {b}; atom.global.add.v2.f32 {{u, v}}, [%q30], {{x, y}}; mov.b64 {d}, {{u, v}}; }}",
    ),
    ("f64", "ld.global.f64 {d}, [%q30];"),
    (
        "f64",
        "{{ .reg .f32 x, y; mov.b64 {{x, y}}, {b}; red.global.add.v2.f32 [%q30], {{x, y}}; }} ld.global.f64 {d}, [%q30];",
    ),
)
for t in HALVES:
    test(
        "atomic",
        f"vector_{t}",
        ["b32", "b32"],
        *[
            (
                "b32",
                "{{ .reg .b16 x, y, u, v; mov.b32 {{x, y}}, {b}; "
                + f"atom.global.{op}.noftz.v2.{t} {{{{u, v}}}}, [%q30], {{{{x, y}}}}; mov.b32 {{d}}, {{{{u, v}}}}; }}}}",
            )
            for op in ("add", "min", "max")
        ],
        (
            "b32",
            f"{{{{ .reg .b16 x, y; mov.b32 {{{{x, y}}}}, {{b}}; red.global.max.noftz.v2.{t} [%q30], {{{{x, y}}}}; }}}} ld.global.b32 {{d}}, [%q30];",
        ),
    )
    test(
        "atomic",
        f"vector_{t}x2",
        ["b64", "b64"],
        *[
            (
                "b64",
                "{{ .reg .b32 x, y, u, v; mov.b64 {{x, y}}, {b}; "
                + f"atom.global.{op}.noftz.v2.{t}x2 {{{{u, v}}}}, [%q30], {{{{x, y}}}}; mov.b64 {{d}}, {{{{u, v}}}}; }}}}",
            )
            for op in ("add", "max")
        ],
        ("b64", "ld.global.b64 {d}, [%q30];"),
    )


# ---- loads and stores ----
ELEMENT = {
    "f32": ("f", 4),
    "f64": ("e", 8),
    "b8": ("h", 1),
    "u8": ("h", 1),
    "s8": ("h", 1),
    "b16": ("h", 2),
    "u16": ("h", 2),
    "s16": ("h", 2),
    "b32": ("w", 4),
    "u32": ("w", 4),
    "s32": ("w", 4),
    "b64": ("q", 8),
    "u64": ("q", 8),
    "s64": ("q", 8),
}
PLACE = {"shared": "%w29", "local": "%q57"}


def shape(form):
    """Space, register names, text of the operand and size of one element of a load or store."""
    parts = form.split(".")
    letter, size = ELEMENT[parts[-1]]
    count = next((int(p[1:]) for p in parts if p in ("v2", "v4")), 1)
    regs = [f"%{letter}{(52 if letter == 'q' else 20) + i}" for i in range(count)]
    text = "{{" + ", ".join(regs) + "}}" if count > 1 else regs[0]
    return next((p for p in parts if p in PLACE), "global"), regs, text, size


def fold(regs):
    """All elements in one number that depends on their order."""
    widen = {
        "f": "mov.b32 %w37, {}; cvt.u64.u32 %q51, %w37;",
        "w": "cvt.u64.u32 %q51, {};",
        "h": "cvt.u64.u16 %q51, {};",
        "q": "mov.b64 %q51, {};",
        "e": "mov.b64 %q51, {};",
    }
    return "mov.b64 {d}, 0; " + " ".join(
        widen[x[1]].format(x) + " mad.lo.u64 {d}, {d}, 31, %q51;" for x in regs
    )


def load(form):
    """Own row and its neighbours of the same aligned vector; shared and local memory are filled with words made from the row first."""
    space, regs, text, size = shape(form)
    if space == "global":
        return (
            "b64",
            f"and.b64 %q50, %q30, -{len(regs) * size}; {form} {text}, [%q50]; {fold(regs)}",
        )
    at = PLACE[space]
    fill = " ".join(
        f"add.u32 %w36, %w36, 0x9e3779b9; st.{space}.b32 [{at}+{4 * i}], %w36;" for i in range(4)
    )
    return ("b64", f"cvt.u32.u64 %w36, {{a}}; {fill} {form} {text}, [{at}]; {fold(regs)}")


def store(form):
    """Numbers made from the row, read back as words. A vector that covers several rows is stored by the first of them."""
    space, regs, text, size = shape(form)
    make = "mov.b64 %q51, {a}; " + " ".join(
        {
            "f": f"cvt.u32.u64 %w37, %q51; mov.b32 {x}, %w37;",
            "w": f"cvt.u32.u64 {x}, %q51;",
            "h": f"cvt.u16.u64 {x}, %q51;",
            "q": f"mov.b64 {x}, %q51;",
            "e": f"mov.b64 {x}, %q51;",
        }[x[1]]
        + " add.u64 %q51, %q51, 0x123456789;"
        for x in regs
    )
    if space == "global":
        rows = max(len(regs) * size // 8, 1)
        return (
            "b64",
            f"{make} and.b32 %w36, %w33, {rows - 1}; setp.eq.u32 %p20, %w36, 0; @%p20 {form} [%q30], {text}; bar.warp.sync -1; "
            "ld.global.b64 {d}, [%q30]; bar.warp.sync -1;",
        )
    at = PLACE[space]
    clear = " ".join(f"st.{space}.b64 [{at}+{8 * i}], 0;" for i in range(2))
    return (
        "b64",
        f"{make} {clear} {form} [{at}], {text}; ld.{space}.b64 {{d}}, [{at}]; ld.{space}.b64 %q51, [{at}+8]; mad.lo.u64 {{d}}, %q51, 31, {{d}};",
    )


def moves(name, how, forms):
    for i in range(0, len(forms), 10):
        test(
            "memory",
            f"{name}_{i // 10 + 1}" if len(forms) > 10 else name,
            ["b64"],
            *[how(f) for f in forms[i : i + 10]],
        )


moves(
    "load_global",
    load,
    [
        f"ld.global.{f}"
        for f in (
            "nc.f32",
            "nc.u32",
            "v4.u32",
            "cs.v4.s32",
            "cs.f32",
            "s32",
            "nc.v4.f32",
            "nc.v2.u64",
            "cs.b16",
            "nc.v4.u32",
            "nc.u64",
            "v2.u32",
            "nc.u8",
            "v2.f32",
            "cg.b32",
            "cg.v4.s32",
            "cs.v4.f32",
            "b8",
            "s16",
            "lu.s8",
        )
    ]
    + [
        "ld.f32",
        "ld.relaxed.gpu.v2.u32",
        "ld.relaxed.gpu.v2.u64",
        "ldu.global.f32",
        "ldu.global.v4.u32",
        "ldu.b64",
    ],
)
moves(
    "store_global",
    store,
    [
        f"st.global.{f}"
        for f in (
            "u16",
            "v4.f32",
            "cs.f32",
            "v4.u32",
            "u64",
            "cs.v4.s32",
            "v2.u32",
            "v2.f32",
            "v2.u64",
            "cg.v4.s32",
            "cs.b16",
            "b8",
            "s16",
            "wt.s8",
        )
    ]
    + ["st.relaxed.gpu.v2.u32", "st.relaxed.gpu.v2.u64"],
)
moves(
    "load_shared",
    load,
    [
        f"ld.shared.{f}"
        for f in (
            "v4.f32",
            "u16",
            "u64",
            "v2.u32",
            "v2.f32",
            "s32",
            "f64",
            "s8",
            "v2.f64",
            "v2.u64",
        )
    ],
)
moves(
    "store_shared",
    store,
    [f"st.shared.{f}" for f in ("v4.u32", "v4.f32", "f64", "v2.u32", "v2.f64", "v2.u64")],
)
moves("load_local", load, [f"ld.local.{f}" for f in ("u64", "v4.f32", "s8", "b16")])
moves("store_local", store, [f"st.local.{f}" for f in ("f32", "u64", "v2.u64", "u8")])
test(
    "move",
    "types",
    ["b64"],
    ("u16", "{{ .reg .b16 t; cvt.u16.u64 t, {a}; mov.u16 {d}, t; }}"),
    ("b16", "{{ .reg .b16 t; cvt.u16.u64 t, {a}; mov.b16 {d}, t; }}"),
    ("s16", "{{ .reg .b16 t; cvt.u16.u64 t, {a}; mov.s16 {d}, t; }}"),
    ("s32", "{{ .reg .b32 t; cvt.u32.u64 t, {a}; mov.s32 {d}, t; }}"),
    ("s64", "mov.s64 {d}, {a};"),
    ("f64", "{{ .reg .f64 t; mov.b64 t, {a}; mov.f64 {d}, t; }}"),
)
