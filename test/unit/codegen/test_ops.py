"""Each op that lowering may emit compiles for each element type, leaving no library call."""

import pytest
import snippets
from mlir import ir
from wave_mlir.compiler import codegen

FLOATS = ("f32", "f16", "bf16")


def compile_all(texts, target):
    """Code objects of many snippets; the name of the first that fails is in the error."""
    for name, text in texts.items():
        try:
            made = codegen.generate(ir.Module.parse(text), target=target, emit=("obj",))
        except Exception as error:
            raise AssertionError(f"{name}: {error}") from error
        assert "__oc" not in made.llvm_ir and made.obj[:4] == b"\x7fELF", name


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx90a", "gfx1201"])
def test_float_arithmetic(context, target):
    texts = {}
    for kind in (*FLOATS, "f64", "vector<4xf32>", "vector<2xf16>", "vector<8xbf16>"):
        for op in ("addf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"):
            texts[f"{op} {kind}"] = snippets.unary(f"%r = arith.{op} %x, %x : {kind}", kind)
        texts[f"fma {kind}"] = snippets.unary(f"%r = math.fma %x, %x, %x : {kind}", kind)
    compile_all(texts, target)


@pytest.mark.parametrize("kind", [*FLOATS, "vector<4xf32>", "vector<2xf16>"])
def test_elementary_functions(context, kind):
    functions = ["absf", "ceil", "floor", "round", "roundeven", "trunc", "exp", "exp2", "log", "log2", "log10"]
    functions += ["sqrt", "rsqrt", "sin", "cos"]
    texts = {f: snippets.unary(f"%r = math.{f} %x : {kind}", kind) for f in functions}
    texts["clampf"] = snippets.unary(f"%r = math.clampf %x to [%x, %x] : {kind}", kind)
    texts["copysign"] = snippets.unary(f"%r = math.copysign %x, %x : {kind}", kind)
    compile_all(texts, "gfx942")


@pytest.mark.parametrize("kind", ["i32", "i64", "i8", "vector<4xi32>", "vector<4xi8>"])
def test_integer_arithmetic(context, kind):
    ops = ["addi", "subi", "muli", "divui", "divsi", "remui", "remsi", "floordivsi", "ceildivsi", "ceildivui"]
    ops += ["minsi", "maxsi", "minui", "maxui"]
    texts = {
        op: snippets.unary(f"%r = arith.{op} %x, %x : {kind}", kind) for op in (*ops, "andi", "ori", "xori", "shrsi")
    }
    compile_all(texts, "gfx942")


@pytest.mark.parametrize(
    "target,flavors",
    [("gfx942", ("f8E4M3FNUZ", "f8E5M2FNUZ")), ("gfx950", ("f8E4M3FN", "f8E5M2")), ("gfx1201", ("f8E4M3FN",))],
)
def test_eight_bit_floats(context, target, flavors):
    texts = {}
    for f8 in flavors:
        for n in (0, 2, 3, 4, 8):

            def of(element, n=n):
                return f"vector<{n}x{element}>" if n else element

            for wide in ("f32", "f16"):
                widen, narrow = f"{of(f8)} to {of(wide)}", f"{of(wide)} to {of(f8)}"
                texts[f"extf {widen}"] = snippets.unary(f"%r = arith.extf %x : {widen}", of(f8), of(wide))
                texts[f"truncf {narrow}"] = snippets.unary(f"%r = arith.truncf %x : {narrow}", of(wide), of(f8))
            for op in ("addf", "mulf", "maximumf"):
                texts[f"{op} {of(f8)}"] = snippets.unary(f"%r = arith.{op} %x, %x : {of(f8)}", of(f8))
    compile_all(texts, target)


def test_conversions(context):
    texts = {}
    for source, op, result in [
        ("vector<4xf32>", "truncf", "vector<4xbf16>"),
        ("vector<4xbf16>", "extf", "vector<4xf32>"),
        ("vector<4xf32>", "truncf", "vector<4xf16>"),
        ("bf16", "fptosi", "i32"),
        ("i32", "sitofp", "bf16"),
        ("i8", "extsi", "i32"),
        ("f16", "fptoui", "i8"),
    ]:
        texts[f"{op} {source}"] = snippets.unary(f"%r = arith.{op} %x : {source} to {result}", source, result)
    compile_all(texts, "gfx942")


def test_vector_ops(context):
    v4, v8 = "vector<4xf16>", "vector<8xf16>"
    texts = {
        "reduce": snippets.unary("%r = vector.reduction <add>, %x : vector<8xf32> into f32", "vector<8xf32>", "f32"),
        "reduce bf16": snippets.unary(
            "%r = vector.reduction <maximumf>, %x : vector<8xbf16> into bf16", "vector<8xbf16>", "bf16"
        ),
        "bitcast": snippets.unary(f"%r = vector.bitcast %x : {v4} to vector<2xi32>", v4, "vector<2xi32>"),
        "broadcast": snippets.unary(f"%r = vector.broadcast %x : f16 to {v4}", "f16", v4),
        "shuffle": snippets.unary(f"%r = vector.shuffle %x, %x [0, 4, 1, 5] : {v4}, {v4}", v4),
        "interleave": snippets.unary(f"%r = vector.interleave %x, %x : {v4} -> {v8}", v4, v8),
        "from_elements": snippets.unary("%r = vector.from_elements %x, %x, %x : vector<3xf16>", "f16", "vector<3xf16>"),
        "slices": snippets.unary(
            f"""%y = vector.extract_strided_slice %x {{offsets = [1], sizes = [2], strides = [1]}}
          : {v4} to vector<2xf16>
      %r = vector.insert_strided_slice %y, %x {{offsets = [2], strides = [1]}} : vector<2xf16> into {v4}""",
            v4,
        ),
        "extract, insert": snippets.unary(
            f"%e = vector.extract %x[%tid] : f16 from {v4}\n %r = vector.insert %e, %x[2] : f16 into {v4}", v4
        ),
    }
    compile_all(texts, "gfx942")


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "i8", "i1", "f8E4M3FNUZ", "f8E4M3FN"])
@pytest.mark.parametrize("space", ["global", "workgroup"])
def test_masked_accesses(context, element, space):
    kind = f"memref<?x{element}, #gpu.address_space<global>>"
    source = "%a"
    view = ""
    if space == "workgroup":
        kind, source = f"memref<64x{element}, #gpu.address_space<workgroup>>", "%v"
        view = f"%v = memref.view %lds[%c0][] : memref<1024xi8, #gpu.address_space<workgroup>> to {kind}"
    vector, mask = f"vector<4x{element}>", "vector<4xi1>"
    text = snippets.kernel(
        f"""
      {view}
      %m = vector.create_mask %tid : {mask}
      %z = vector.load {source}[%c0] : {kind}, {vector}
      %x = vector.maskedload {source}[%tid], %m, %z : {kind}, {mask}, {vector} into {vector}
      vector.maskedstore {source}[%c0], %m, %x : {kind}, {mask}, {vector}
""",
        {"a": (element, "readwrite")},
    )
    compile_all({element: text}, "gfx942")


@pytest.mark.parametrize("target", ["gfx942", "gfx1201"])
def test_lanes_barriers_and_ids(context, target):
    width = 32 if target == "gfx1201" else 64
    c = f"%k = arith.constant 1 : i32\n %w = arith.constant {width} : i32\n"
    texts = {
        f"shuffle {t}": snippets.unary(f"{c} %r, %v = gpu.shuffle xor %x, %k, %w : {t}", t)
        for t in ("f32", "f16", "i8", "f64")
    }
    texts |= {
        "dpp": snippets.unary("%r = amdgpu.dpp %x %x row_shr(1 : i32) : f32", "f32"),
        "swizzle": snippets.unary("%r = amdgpu.swizzle_bitmode %x 1 2 4 : f32", "f32"),
        "readfirstlane": snippets.unary("%r = rocdl.readfirstlane %x : i32", "i32"),
        "barriers": snippets.unary(
            'gpu.barrier\n amdgpu.lds_barrier\n llvm.fence syncscope("wavefront") acq_rel\n'
            "%r = arith.addf %x, %x : f32",
            "f32",
        ),
        "ids": snippets.unary(
            """%0 = gpu.lane_id
      %1 = gpu.subgroup_id : index
      %2 = gpu.block_id y
      %3 = arith.addi %0, %1 : index
      %4 = arith.addi %2, %3 : index
      %5 = arith.index_cast %4 : index to i32
      %r = arith.addi %x, %5 : i32""",
            "i32",
        ),
    }
    compile_all(texts, target)


def test_atomics(context):
    texts = {}
    for op, kinds in {
        "addf": FLOATS,
        "maximumf": ("f32",),
        "addi": ("i32", "i64"),
        "maxs": ("i32",),
        "minu": ("i32",),
    }.items():
        for t in kinds:
            memory = f"memref<?x{t}, #gpu.address_space<global>>"
            texts[f"{op} {t}"] = snippets.unary(f"%r = memref.atomic_rmw {op} %x, %o[%c0] : ({t}, {memory}) -> {t}", t)
    compile_all(texts, "gfx942")


def test_buffers_and_direct_copies(context):
    memory, lds = "memref<?xf32, #gpu.address_space<global>>", "memref<256xf32, #gpu.address_space<workgroup>>"
    fat = "memref<?xf32, #amdgpu.address_space<fat_raw_buffer>>"
    text = snippets.kernel(
        f"""
      %t = arith.index_cast %tid : index to i32
      %x = amdgpu.raw_buffer_load {{boundsCheck = true}} %a[%t] : {memory}, i32 -> vector<4xf32>
      amdgpu.raw_buffer_store {{boundsCheck = true}} %x -> %o[%t] : vector<4xf32> -> {memory}, i32
      %f = amdgpu.fat_raw_buffer_cast %a : {memory} to {fat}
      %v = memref.view %lds[%c0][] : memref<1024xi8, #gpu.address_space<workgroup>> to {lds}
      amdgpu.gather_to_lds %f[%tid], %v[%c0] : f32, {fat}, {lds}
""",
        {"a": ("f32", "read"), "o": ("f32", "write")},
    )
    made = codegen.generate(ir.Module.parse(text), emit=("isa",))
    assert "buffer_load_dwordx4" in made.isa and "buffer_store_dwordx4" in made.isa and " lds" in made.isa
    # 64 elements of 4 bytes: the descriptor's range is that of the memory, not a whole address space
    assert ", 0x100" in made.isa or "i64 256" in made.llvm_ir


@pytest.mark.parametrize("function", ["erf", "erfc", "asin", "acosh"])
def test_functions_without_an_expansion_are_refused(context, function):
    text = snippets.unary(f"%r = math.{function} %x : f32", "f32")
    with pytest.raises(codegen.CompileError, match=f"-:.*'math.{function}' on f32 has no instruction on gfx942"):
        codegen.generate(ir.Module.parse(text))
