"""What code generation promises beside correct code: attributes, ABI, determinism, debug info, clear errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import snippets
from mlir import ir
from wave_mlir.compiler import codegen

HERE = Path(__file__).parent


def compile_text(text, **options):
    return codegen.generate(ir.Module.parse(text), **options)


def test_function_attributes(context, gemm_text):
    made = compile_text(gemm_text, emit=("isa",))
    assert '"amdgpu-flat-work-group-size"="256,256"' in made.llvm_ir and '"amdgpu-agpr-alloc"="0"' in made.llvm_ir
    assert '"uniform-work-group-size"="true"' in made.llvm_ir
    assert "ptr addrspace(1) noundef readonly %0" in made.llvm_ir and "noundef writeonly %2" in made.llvm_ir
    assert "v_accvgpr" not in made.isa and "v_mfma_f32_16x16x16_f16 v[" in made.isa
    assert "global [8192 x i8] undef, align 16" in made.llvm_ir
    assert made.obj == b"" and made.hsaco == b""


def test_kernel_arguments_match_the_abi(context, gemm_text):
    made = compile_text(gemm_text, emit=("isa",))
    (kernel,) = made.kernels
    offsets = [int(line.split()[-1]) for line in made.isa.splitlines() if ".offset:" in line]
    sizes = [int(line.split()[-1]) for line in made.isa.splitlines() if ".size:" in line and "segment" not in line]
    assert tuple(offsets[: len(kernel.args)]) == kernel.offsets()
    assert sizes[:4] == [a.kernarg_bytes for a in kernel.args] == [8, 8, 8, 4]
    assert ".group_segment_fixed_size: 8192" in made.isa and kernel.lds_bytes == 8192


def test_module_is_left_as_it_is(context, gemm_text):
    module = ir.Module.parse(gemm_text)
    before = str(module)
    codegen.generate(module, emit=())
    assert str(module) == before


def test_stages_on_demand(context, gemm_text):
    made = codegen.Generation(ir.Module.parse(gemm_text))
    assert "object" not in made.timings
    assert made.hsaco[:4] == b"\x7fELF" and made.hsaco is made.hsaco
    assert "assembly" not in made.timings
    assert made.obj == compile_text(gemm_text).obj


@pytest.mark.parametrize("debug", [False, True])
def test_same_bytes_whatever_hash_seed_and_folder(gemm_text, tmp_path, debug):
    script = (
        "import sys; from mlir import ir; import wave_mlir.dialect\n"
        "from wave_mlir.compiler import codegen\n"
        "c = ir.Context(); c.allow_unregistered_dialects = True\n"
        f"made = codegen.generate(ir.Module.parseFile(sys.argv[1], c), debug={debug})\n"
        "sys.stdout.buffer.write(made.hsaco + made.isa.encode() + made.llvm_ir.encode())"
    )
    results = []
    for seed, folder in (("1", "a"), ("2", "b/c")):
        path = tmp_path / folder / "gemm.mlir"
        path.parent.mkdir(parents=True)
        path.write_text(gemm_text)
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", script, str(path)]
        results.append(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    assert results[0] == results[1]
    assert (b"gemm.mlir" in results[0]) == debug and str(tmp_path).encode() not in results[0]


def test_line_tables_under_debug_only(context, gemm_text):
    assert ".loc" not in compile_text(gemm_text, emit=("isa",)).isa
    assert ".loc" in compile_text(gemm_text, emit=("isa",), debug=True).isa


def test_optimised_for_another_target(context, gemm_text):
    made = compile_text(gemm_text, target="gfx950", emit=("isa",))
    assert "gfx950" in made.isa and made.kernels[0].target == "gfx950"


def test_unknown_stage_and_target(context, gemm_text):
    with pytest.raises(codegen.CompileError, match="unknown stage 'elf'"):
        compile_text(gemm_text, emit=("elf",))
    with pytest.raises(codegen.CompileError, match="unknown target 'gfx943'.*did you mean gfx942"):
        compile_text(gemm_text, target="gfx943")
    with pytest.raises(codegen.CompileError, match="no target: set wave.target"):
        compile_text(gemm_text.replace('wave.target = "gfx942", ', ""))


def test_limits_are_checked_before_llvm(context, gemm_text):
    with pytest.raises(
        codegen.CompileError, match="-:5:5: error: kernel 'gemm' needs 70000 bytes of LDS; gfx942 has 65536"
    ):
        compile_text(gemm_text.replace("8192xi8", "70000xi8"))
    with pytest.raises(codegen.CompileError, match="a block of 1024 x 2 x 1 = 2048 threads; gfx942 allows 1024"):
        compile_text(gemm_text.replace("i32: 128, 2, 1", "i32: 1024, 2, 1"))


def test_form_is_checked(context, gemm_text):
    with pytest.raises(codegen.CompileError, match="lane"):
        compile_text(gemm_text.replace('wave.form = "gpu"', 'wave.form = "lane"'))


def test_no_kernel(context):
    with pytest.raises(codegen.CompileError, match="no gpu.func with 'kernel'"):
        compile_text('module attributes {wave.form = "gpu", wave.target = "gfx942"} { gpu.module @m { } }')


def test_abi_error_is_located(context, gemm_text):
    with pytest.raises(codegen.CompileError, match="-:5:5: error: kernel 'gemm' lacks wave.grid"):
        compile_text(gemm_text.replace("wave.grid = [#wave.expr<M ceildiv 64>, #wave.expr<2>, #wave.expr<1>],", ""))


def test_op_without_lowering_is_located(context):
    text = snippets.unary("%r = arith.addf %x, %x : f8E4M3FN", "f8E4M3FN")  # OCP on a FNUZ target
    with pytest.raises(codegen.CompileError, match=r"-:\d+:\d+: error: 'arith.extf' on .* no lowering"):
        compile_text(text)


def test_instruction_of_another_target_is_an_error(context):
    text = snippets.unary("%r, %s = rocdl.permlane32.swap %x, %x, false, false : (i32, i32) -> <(i32, i32)>", "i32")
    text = text.replace("%r, %s = rocdl", "%p = rocdl").replace(
        "-> <(i32, i32)>", "-> <(i32, i32)>\n %r = llvm.extractvalue %p[0] : !llvm.struct<(i32, i32)>"
    )
    with pytest.raises(codegen.CompileError, match="LLVM cannot compile this for gfx90a"):
        compile_text(text, target="gfx90a")


def test_two_gpu_modules_share_a_code_object(context):
    one = snippets.unary("%r = arith.addf %x, %x : f32", "f32", name="first")
    two = snippets.unary("%r = arith.mulf %x, %x : f32", "f32", name="second").replace("gpu.module @m", "gpu.module @n")
    start, inner = one.index("gpu.module"), two[two.index("gpu.module") : two.rindex("}")]
    both = one[:start] + inner + one[start:]
    made = compile_text(both, emit=("isa",))
    assert [k.name for k in made.kernels] == ["second", "first"]
    assert "first.kd" in made.isa and "second.kd" in made.isa
    with pytest.raises(codegen.CompileError, match="two gpu.modules define 'first'"):
        compile_text(both.replace("@second", "@first"))
