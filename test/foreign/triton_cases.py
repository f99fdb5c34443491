"""The cases: which kernel, which types, tiles and options, which inputs, which result."""

from __future__ import annotations

from case import Argument, Array, Case, Number, output


def constants(**values: int | str | bool) -> dict[str, Argument]:
    """Arguments that the compiler knows."""
    return {name: Number("constexpr", value, True) for name, value in values.items()}


def integers(**values: int) -> dict[str, Argument]:
    """Arguments of type i32."""
    return {name: Number("i32", value) for name, value in values.items()}


def elementwise() -> list[Case]:
    """Vector additions and integer arithmetic of several widths, lengths and block sizes."""
    cases = []
    for dtype, n, block, warps, buffers in (
        ("f32", 1000, 256, 4, True),
        ("f16", 2049, 1024, 4, False),
        ("bf16", 4096, 512, 1, True),
        ("f64", 700, 256, 2, False),
        ("i8", 4100, 2048, 4, True),
        ("i16", 999, 512, 8, True),
        ("i32", 640, 128, 1, False),
        ("i64", 513, 256, 4, True),
    ):
        args = {"x": Array(dtype, (n,)), "y": Array(dtype, (n,)), "out": output(dtype, (n,), "x + y")}
        args |= integers(n=n) | constants(BLOCK=block)
        cases.append(Case(f"add-{dtype}", "add", args, (-(-n // block), 1, 1), warps, buffers=buffers))
    for dtype, high in (("i16", 3000), ("i32", 10**9), ("i64", 10**15)):
        n, names = 500, ("quotient", "remainder", "bits")
        x, y = Array(dtype, (n,), low=-high, high=high), Array(dtype, (n,), low=1, high=high // 7)
        results = (
            "torch.div(x, y, rounding_mode='trunc')",
            "torch.fmod(x, y)",
            "((x ^ y) & (x | 5)) * 3 + (x >> 2) - (y << 1)",
        )
        args = {"x": x, "y": y} | {a: output(dtype, (n,), e) for a, e in zip(names, results, strict=True)}
        args |= integers(n=n) | constants(BLOCK=256)
        cases.append(Case(f"integers-{dtype}", "integers", args, (2, 1, 1), aligned=False))
    return cases


def functions() -> list[Case]:
    """Elementary functions and roundings of f32."""
    n = 512
    results = "torch.stack([x.exp(), x.log(), x.sin(), x.cos(), x.sqrt(), x.rsqrt(), x.erf(), 1 / (x + 2)])"
    args = {"x": Array("f32", (n,), "uniform", 0.01, 20)}
    args |= {"out": output("f32", (8, n), results, 3e-6, 3e-7)} | integers(n=n) | constants(BLOCK=256)
    exact = "torch.stack([x.floor(), x.ceil(), x.abs(), x.clamp(min=1), (x.double() * 3 + 1).float()])"
    rounding = {"x": Array("f32", (n,), "normal", high=100), "out": output("f32", (5, n), exact)}
    rounding |= integers(n=n) | constants(BLOCK=256)
    return [
        Case("elementary", "elementary", args, (2, 1, 1)),
        Case("rounding", "rounding", rounding, (2, 1, 1)),
    ]


CONVERSIONS = (
    ("f32", "f16"),
    ("f32", "bf16"),
    ("f16", "f32"),
    ("bf16", "f16"),
    ("f32", "f8e4m3fnuz"),
    ("f32", "f8e5m2fnuz"),
    ("f8e4m3fnuz", "f32"),
    ("f8e4m3fn", "f16"),
    ("f16", "f8e4m3fn"),
    ("f32", "f8e5m2"),
    ("f8e5m2", "f16"),
    ("f32", "i32"),
    ("i32", "f32"),
    ("i8", "f16"),
    ("f64", "f32"),
    ("f32", "f64"),
    ("i64", "f32"),
)


def conversions() -> list[Case]:
    """Conversions, one a pair of types, of values that the narrower type rounds."""
    native = {"f8e4m3fnuz": ("gfx942",), "f8e5m2fnuz": ("gfx942",), "f8e4m3fn": ("gfx950",), "f8e5m2": ("gfx950",)}
    n, torch_name = 1024, {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i32": "int32"}
    cases = []
    for source, result in CONVERSIONS:
        whole = source.startswith("i")
        x = Array(source, (n,), low=-120, high=120) if whole else Array(source, (n,), "normal", high=20)
        expected = f"x.to(torch.{torch_name.get(result) or 'float8_' + result[2:]})"
        args = {"x": x, "out": output(result, (n,), expected)} | integers(n=n) | constants(BLOCK=512)
        targets = native.get(source) or native.get(result) or ("gfx942", "gfx950")
        cases.append(Case(f"convert-{source}-{result}", "convert", args, (2, 1, 1), targets=targets))
    return cases


def rows() -> list[Case]:
    """Softmax, layer normalisation, reductions, scans, sorts, a transposition, atomics."""
    cases = []
    for dtype, columns, block, warps in (("f32", 200, 256, 1), ("f16", 1000, 1024, 4), ("bf16", 1500, 2048, 8)):
        tolerance = {"f32": 5e-6, "f16": 1e-3, "bf16": 8e-3}[dtype]
        x = Array(dtype, (5, columns), "normal", high=3)
        result = output(dtype, (5, columns), "x.double().softmax(1)", tolerance, 1e-7)
        args = {"x": x, "out": result} | integers(columns=columns) | constants(BLOCK=block)
        cases.append(Case(f"softmax-{dtype}", "softmax", args, (5, 1, 1), warps))
        args = {"x": x, "weight": Array("f32", (columns,)), "bias": Array("f32", (columns,))}
        expected = "F.layer_norm(x.double(), (x.shape[1],), weight.double(), bias.double(), 1e-5)"
        args["out"] = output(dtype, (5, columns), expected, max(tolerance, 1e-5), 4e-6)
        args |= integers(columns=columns) | {"eps": Number("f32", 1e-5)} | constants(BLOCK=block)
        cases.append(Case(f"layernorm-{dtype}", "layernorm", args, (5, 1, 1), warps))
    for dtype, columns, block, warps in (("f32", 900, 1024, 4), ("i32", 250, 256, 1), ("i64", 500, 512, 2)):
        args = {"x": Array(dtype, (3, columns), low=1, high=400), "total": output(dtype, (3,), "x.sum(1)")}
        args |= {
            "largest": output(dtype, (3,), "x.amax(1)"),
            "where": output("i32", (3,), "torch.from_numpy(x.numpy().argmax(1))"),
        }
        args |= integers(columns=columns) | constants(BLOCK=block)
        cases.append(Case(f"reduce-{dtype}", "reduce_rows", args, (3, 1, 1), warps))
    args = {"x": Array("f32", (64, 128)), "total": output("f32", (128,), "x.sum(0)")}
    cases.append(Case("reduce-columns", "reduce_columns", args | constants(ROWS=64, COLUMNS=128), warps=8))
    for dtype in ("f32", "i32", "f16"):
        args = {"x": Array(dtype, (2, 512)), "out": output(dtype, (2, 512), "x.cumsum(1)")}
        cases.append(Case(f"scan-{dtype}", "scan", args | constants(BLOCK=512), (2, 1, 1)))
    args = {"x": Array("i32", (2, 256), low=-1000, high=1000), "out": output("i32", (2, 256), "x.sort(1).values")}
    cases.append(Case("sort", "sort", args | constants(BLOCK=256), (2, 1, 1), warps=2))
    for dtype, block in (("f16", 64), ("f32", 32), ("i8", 64)):
        args = {"x": Array(dtype, (70, 100)), "out": output(dtype, (100, 70), "x.T")}
        args |= integers(rows=70, columns=100) | constants(BLOCK=block)
        cases.append(Case(f"transpose-{dtype}", "transpose", args, (-(-70 // block), -(-100 // block), 1)))
    n = 1000
    args = {"x": Array("i32", (n,), low=0, high=37)}
    args |= {"counts": Array("i32", (37,), "zero", expected="torch.bincount(x, minlength=37)")}
    args |= {"total": Array("f32", (1,), "zero", expected="x.sum().float().reshape(1)")}
    args |= {"largest": Array("i32", (1,), "zero", expected="x.max().reshape(1)")}
    cases.append(Case("histogram", "histogram", args | integers(n=n) | constants(BLOCK=256), (4, 1, 1)))
    args = {"state": Array("i32", (2,), "zero", expected="torch.tensor([0, 6])")}
    args["order"] = output("i32", (6,), "torch.arange(6)")
    cases.append(Case("ticket", "ticket", args | integers(n=6), (6, 1, 1), warps=1))
    return cases


# a and b, c, M, N, K, (BM, BN, BK), warps, stages, b transposed in memory
MATMULS = (
    ("f16", "f32", 128, 128, 128, (64, 64, 32), 4, 1, False),
    ("f16", "f16", 128, 128, 192, (128, 128, 64), 4, 2, True),
    ("f16", "f32", 100, 90, 70, (32, 32, 32), 1, 2, False),
    ("f16", "f32", 256, 128, 256, (128, 64, 64), 8, 3, False),
    ("f16", "f32", 48, 64, 512, (16, 16, 64), 2, 2, True),
    ("bf16", "f32", 128, 128, 128, (64, 64, 64), 4, 2, False),
    ("bf16", "bf16", 128, 256, 96, (64, 128, 32), 4, 2, True),
    ("i8", "i32", 128, 128, 256, (64, 64, 64), 4, 2, True),
    ("i8", "i32", 64, 96, 128, (32, 32, 64), 2, 1, False),
    ("f32", "f32", 64, 64, 64, (32, 32, 16), 4, 2, False),
    ("f64", "f64", 32, 32, 32, (16, 16, 16), 1, 1, False),
    ("f8e4m3fnuz", "f32", 128, 128, 128, (64, 64, 64), 4, 2, True),
    ("f8e5m2fnuz", "f32", 64, 64, 128, (32, 32, 64), 2, 1, False),
    ("f8e4m3fn", "f32", 128, 128, 256, (64, 64, 128), 4, 2, True),
    ("f8e5m2", "f16", 64, 64, 128, (32, 32, 128), 2, 2, False),
)


def matmuls() -> list[Case]:
    """Products with several types, tiles, numbers of waves and pipeline stages; exact, as all inputs are integers."""
    cases = []
    for dtype, result, m, n, k, (bm, bn, bk), warps, stages, transposed in MATMULS:
        b = Array(dtype, (n, k) if transposed else (k, n))
        wide = "long" if dtype == "i8" else "double"
        expected = f"a.{wide}() @ {'b.T' if transposed else 'b'}.{wide}()"
        args: dict[str, Argument] = {"a": Array(dtype, (m, k)), "b": b, "c": output(result, (m, n), expected)}
        strides = {"sbk": 1, "sbn": k} if transposed else {"sbk": n, "sbn": 1}
        args |= integers(M=m, N=n, K=k, sam=k, sak=1, **strides, scm=n)
        accumulator = {"i8": "int32", "f64": "float64"}.get(dtype, "float32")
        args |= constants(BM=bm, BN=bn, BK=bk, GROUP=2, ACC=accumulator)
        targets = ("gfx942", "gfx950")
        if dtype.startswith("f8"):
            targets = ("gfx942",) if dtype.endswith("fnuz") else ("gfx950",)
        form = f"{bm}x{bn}x{bk}-w{warps}-s{stages}{'-t' if transposed else ''}"
        grid = (-(-m // bm) * -(-n // bn), 1, 1)
        cases.append(Case(f"matmul-{dtype}-{form}", "matmul", args, grid, warps, stages, targets=targets))
    return cases


def scaled() -> list[Case]:
    """Block-scaled products (gfx950): f8 and f4 with e8m0 scales of 1/4 to 4; exact."""
    cases = []
    m, n, k = 64, 64, 256
    for form, pack, decode in (("e4m3", 1, "{}"), ("e2m1", 2, "f4({})")):
        kind = ("f8e4m3fn", "integers", -3, 4) if pack == 1 else ("u8", "bytes", 0, 256)
        scale = "2.0 ** ({}.double() - 127).repeat_interleave(32, 1)"
        left = f"({decode.format('a')}.double() * {scale.format('scales_a')})"
        right = f"({decode.format('b.T.contiguous()')}.double() * {scale.format('scales_b')})"
        args: dict[str, Argument] = {"a": Array(kind[0], (m, k // pack), *kind[1:])}
        args |= {"b": Array(kind[0], (k // pack, n), *kind[1:])}
        args |= {s: Array("u8", (m, k // 32), "bytes", 125, 130) for s in ("scales_a", "scales_b")}
        args |= {"c": output("f32", (m, n), f"{left} @ {right}.T")}
        args |= integers(K=k, N=n) | constants(BM=32, BN=32, BK=128, FORMAT=form, PACK=pack)
        cases.append(Case(f"matmul-scaled-{form}", "matmul_scaled", args, (2, 2, 1), targets=("gfx950",)))
    return cases


def attentions() -> list[Case]:
    """Flash attention, causal and not, against torch in f64."""
    cases = []
    for dtype, length, head, bm, bn, warps, stages, causal in (
        ("f16", 128, 64, 64, 32, 4, 1, False),
        ("f16", 160, 64, 64, 64, 4, 2, True),
        ("bf16", 100, 32, 32, 32, 2, 2, False),
        ("bf16", 128, 128, 64, 32, 4, 2, True),
    ):
        shape = (2, length, head)
        inputs = "q.double(), k.double(), v.double()"
        expected = f"F.scaled_dot_product_attention({inputs}, is_causal={causal}, scale=0.125)"
        tolerance = {"f16": 2e-3, "bf16": 1.6e-2}[dtype]
        args: dict[str, Argument] = {a: Array(dtype, shape, "normal", high=1) for a in "qkv"}
        args |= {"out": output(dtype, shape, expected, tolerance, tolerance)} | integers(length=length)
        args |= {"scale": Number("f32", 0.125)} | constants(HEAD=head, BM=bm, BN=bn, CAUSAL=causal)
        name = f"attention-{dtype}-{head}-{bm}x{bn}-w{warps}-s{stages}{'-causal' if causal else ''}"
        cases.append(Case(name, "attention", args, (-(-length // bm), 2, 1), warps, stages))
    return cases


def tuned() -> list[Case]:
    """A product with options that change which instructions are chosen and how they are ordered."""
    cases = []
    m, n, k = 128, 128, 256
    for name, options, warps, stages in (
        ("16x16", {"matrix_instr_nonkdim": 16}, 4, 2),
        ("16x16-kpack", {"matrix_instr_nonkdim": 16, "kpack": 2}, 4, 2),
        ("kpack", {"kpack": 2}, 8, 2),
        ("four-stages", {}, 4, 4),
        ("two-waves-a-simd", {"waves_per_eu": 2}, 8, 3),
        ("prefetch", {"schedule_hint": "local-prefetch"}, 4, 2),
    ):
        args: dict[str, Argument] = {"a": Array("f16", (m, k)), "b": Array("f16", (k, n))}
        args |= {"c": output("f32", (m, n), "a.double() @ b.double()")}
        args |= integers(M=m, N=n, K=k, sam=k, sak=1, sbk=n, sbn=1, scm=n)
        args |= constants(BM=64, BN=64, BK=64, GROUP=1, ACC="float32")
        if name == "kpack":
            args["c"] = output("f16", (m, n), "a.double() @ b.double()")
        cases.append(Case(f"matmul-tuned-{name}", "matmul", args, (4, 1, 1), warps, stages, options=dict(options)))
    return cases


def products() -> list[Case]:
    """Other ways to organise products: persistent programs, split K, batches; all exact."""
    cases = []
    args: dict[str, Argument] = {"a": Array("bf16", (128, 96)), "b": Array("bf16", (96, 192))}
    args |= {"bias": Array("f32", (192,)), "c": output("f32", (128, 192), "(a.double() @ b.double() + bias).relu()")}
    args |= integers(M=128, N=192, K=96) | constants(BM=64, BN=64, BK=32, PROGRAMS=2)
    cases.append(Case("persistent", "persistent", args, (2, 1, 1)))
    args = {"a": Array("f16", (32, 256)), "b": Array("f16", (64, 256))}
    args |= {"c": Array("f32", (32, 64), "integers", 0, 5, expected="c + a.double() @ b.double().T")}
    args |= integers(N=64, K=256) | constants(BM=32, BN=32, BK=64)
    cases.append(Case("split-k", "split_k", args, (2, 4, 1), warps=2))
    args = {"a": Array("f16", (4, 32, 64)), "b": Array("f16", (4, 64, 32))}
    args |= {"c": output("f32", (4, 32, 32), "a.double() @ b.double()")}
    args |= integers(M=32, N=32, K=64) | constants(BM=32, BN=32, BK=32)
    cases.append(Case("batched", "batched", args))
    return cases


def others() -> list[Case]:
    """Gathers, wide integers, arithmetic in 16 bits, scans of pairs, atomics of every type."""
    n = 600
    args: dict[str, Argument] = {"x": Array("f32", (50, 90)), "where": Array("i64", (20,), low=-5, high=55)}
    known = "torch.where(((where >= 0) & (where < 50))[:, None], x[where.clamp(0, 49)], -1.0)"
    args |= {"out": output("f32", (20, 90), known)} | integers(rows=50, columns=90, n=20) | constants(BLOCK=128)
    cases = [Case("gather", "gather", args, (20, 1, 1), warps=2, buffers=False)]
    args = {name: Array("i32", (n,), low=-(2**31), high=2**31) for name in "xy"}
    a, b = (f"({name}.long() & 0xFFFFFFFF)" for name in "xy")
    bits = f"sum(({a} >> (2 * i)) & 1 for i in range(16))"
    low, high = f"torch.minimum({a}, {b})", f"torch.maximum({a}, {b})"
    chosen = f"torch.where(({a} ^ {b}) & 1 == 1, {high} - {low}, ({low} << 16) | ({high} >> 16))"
    product = f"(({a} >> 16) * {b} + ((({a} & 0xFFFF) * {b}) >> 16)) >> 16"
    args |= {"high": output("i32", (n,), product), "counted": output("i32", (n,), bits)}
    args |= {"packed": output("i32", (n,), chosen)} | integers(n=n) | constants(BLOCK=256)
    cases.append(Case("wide-integers", "wide_integers", args, (3, 1, 1)))
    for dtype in ("f16", "bf16"):
        args = {name: Array(dtype, (n,), low=-8, high=9) for name in "xy"}
        args |= {
            "total": output(dtype, (n,), "x * y + x - y"),
            "smallest": output(dtype, (n,), "torch.minimum(x.abs(), y)"),
        }
        args |= {"order": output("i8", (n,), "(x < y).char() + 2 * (x >= -y).char()")}
        cases.append(Case(f"halves-{dtype}", "halves", args | integers(n=n) | constants(BLOCK=256), (3, 1, 1)))
    for dtype in ("f16", "i32"):
        args = {name: Array(dtype, (256,)) for name in "xy"}
        args |= {"out": output(dtype, (512,), "torch.stack([x, y], 1).flatten().flip(0)")} | constants(BLOCK=256)
        cases.append(Case(f"interleave-{dtype}", "interleave", args))
    args = {"x": Array("i32", (3, 512), low=-1000, high=1000), "out": output("i32", (3, 512), "x.cummax(1).values")}
    args |= {"count": output("i32", (3, 512), "torch.arange(1, 513).expand(3, 512)")} | constants(BLOCK=512)
    cases.append(Case("running-maximum", "running_maximum", args, (3, 1, 1)))
    for dtype in ("f32", "f64", "f16", "bf16", "i32", "i64"):
        sums = "total.double() + F.pad(x.double(), (0, 8)).reshape(-1, 16).sum(0)"
        args = {"x": Array(dtype, (n,)), "total": Array(dtype, (16,), expected=sums)}
        args |= integers(n=n) | constants(BLOCK=256)
        cases.append(Case(f"accumulate-{dtype}", "accumulate", args, (3, 1, 1)))
    return cases


def all_cases() -> list[Case]:
    """Every case, names unique."""
    plain = [*elementwise(), *functions(), *conversions(), *rows(), *others()]
    return [*plain, *matmuls(), *tuned(), *products(), *scaled(), *attentions()]
