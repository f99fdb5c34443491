"""Kernels as operators of torch: checked by torch.library.opcheck, compiled by torch.compile, with derivatives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch._dynamo.testing
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from runtime_kernels import GLOBAL, ROWS, K, M, N, added, compiled_add, compiled_gemm, scaled
from wave_mlir.compiler.abi import AbiError
from wave_mlir.runtime import torch_op
from wave_mlir.runtime.torch_op import TorchOp
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile


def small(*shape: int, dtype: torch.dtype = torch.float16, seed: int = 0) -> torch.Tensor:
    """Integers whose sums of products are exact."""
    return torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.fixture(scope="module")
def gemm() -> TorchOp:
    return torch_op.register("wave_test::gemm", compiled_gemm(dynamic=(M, N, K)))


@pytest.fixture(scope="module")
def scale() -> TorchOp:
    options = WaveCompileOptions(dynamic_symbols=[M], target="gfx942")
    return torch_op.register("wave_test::scale", wave_compile(options, scaled()))


@pytest.fixture(autouse=True)
def fresh_graphs() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def test_schemas(gemm: TorchOp, scale: TorchOp) -> None:
    assert str(torch.ops.wave_test.gemm.default._schema) == "wave_test::gemm(Tensor a, Tensor b) -> Tensor"
    assert str(torch.ops.wave_test.gemm_out.default._schema).endswith("(Tensor a, Tensor b, Tensor(a0!) c) -> ()")
    assert str(torch.ops.wave_test.scale.default._schema).endswith("(Tensor a, float x, SymInt n) -> Tensor")


def test_results(gemm: TorchOp, scale: TorchOp) -> None:
    a, b = small(40, 24), small(33, 24, seed=1)
    want = a.float() @ b.float().T
    assert torch.equal(gemm(a, b), want)
    c = torch.full((40, 33), float("nan"))
    assert gemm.out(a, b, c) is None and torch.equal(c, want)
    x = small(100, dtype=torch.float32)
    assert torch.equal(scale(x, 2.0, 3), 2 * x + 3)


@pytest.mark.parametrize("name", ["functional", "in place", "scalars", "scalars in place"])
def test_opcheck(gemm: TorchOp, scale: TorchOp, name: str) -> None:
    a, b, x = small(40, 24), small(33, 24, seed=1), small(100, dtype=torch.float32)
    op, args = {
        "functional": (gemm.functional, (a, b)),
        "in place": (gemm.out, (a, b, torch.zeros(40, 33))),
        "scalars": (scale.functional, (x, 2.0, 3)),
        "scalars in place": (scale.out, (x, torch.zeros(100), 2.0, 3)),
    }[name]
    found = torch.library.opcheck(op, args)
    assert set(found.values()) == {"SUCCESS"} and len(found) == 4


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_torch_compile(gemm: TorchOp, backend: str) -> None:
    """One graph, without breaks; the kernel's result is used by other operations in it."""

    def layer(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(gemm(a + a, b)) + 1

    a, b = small(32, 16), small(32, 16, seed=1)
    compiled = torch.compile(layer, backend=backend, fullgraph=True)
    assert torch.equal(compiled(a, b), torch.relu((a + a).float() @ b.float().T) + 1)


def test_torch_compile_in_place_and_dynamic(gemm: TorchOp) -> None:
    def layer(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        gemm.out(a, b, c)
        return c * 2

    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True, dynamic=True)
    for m in (32, 48):
        a, b, c = small(m, 16), small(32, 16, seed=1), torch.zeros(m, 32)
        assert torch.equal(compiled(a, b, c), 2 * (a.float() @ b.float().T))
        assert torch.equal(c, a.float() @ b.float().T)


def test_a_kernel_called_in_a_compiled_function() -> None:
    """Not registered, it is called as it is, between two graphs."""
    made = compiled_add()

    def layer(a: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        a = a * 2
        made(a, c)
        return c + 1

    a, c = small(128, dtype=torch.float32), torch.zeros(128)
    graphs = torch._dynamo.testing.CompileCounter()
    assert torch.equal(torch.compile(layer, backend=graphs)(a, c), 2 * a + 2)
    assert graphs.frame_count == 2


def test_autograd() -> None:
    op = torch_op.register("wave_test::with_gradient", compiled_gemm(dynamic=(M, N, K)))

    def setup_context(ctx, inputs, output) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx, grad: torch.Tensor):
        a, b = ctx.saved_tensors
        grad = grad.half()
        return op(grad, b.T.contiguous()).half(), op(grad.T.contiguous(), a.T.contiguous()).half()

    op.register_autograd(backward, setup_context=setup_context)
    a, b = small(32, 16).requires_grad_(), small(48, 16, seed=1).requires_grad_()
    weights = small(32, 48, dtype=torch.float32, seed=2)
    (op(a, b) * weights).sum().backward()
    got = a.grad, b.grad
    a.grad = b.grad = None
    ((a.float() @ b.float().T) * weights).sum().backward()
    assert torch.equal(got[0], a.grad) and torch.equal(got[1], b.grad)
    assert set(torch.library.opcheck(op.functional, (a, b)).values()) == {"SUCCESS"}
    compiled = torch.compile(lambda x, y: op(x, y).sum(), backend="aot_eager", fullgraph=True)
    a.grad = None
    compiled(a, b).backward()
    assert torch.equal(a.grad, b.sum(0).expand(32, 16).half())


def test_no_derivative_is_an_error_of_torch(gemm: TorchOp) -> None:
    a, b = small(32, 16).requires_grad_(), small(32, 16)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        gemm(a, b).sum().backward()


def test_one_kernel_a_shape() -> None:
    """`specialize` compiles for the shapes of a call; fake tensors too."""
    kernel, sizes = added(), []

    def for_shape(a: torch.Tensor, c: torch.Tensor | None) -> CompiledKernel:
        sizes.append(int(a.shape[0]))
        return wave_compile(WaveCompileOptions(subs={M: int(a.shape[0])}, target="gfx942"), kernel)

    op = torch_op.register("wave_test::each_shape", for_shape(torch.empty(64), None), specialize=for_shape)
    for size in (64, 128):
        a = small(size, dtype=torch.float32)
        assert torch.equal(op(a), a + 1)
    a = torch.arange(96, dtype=torch.float32)
    assert torch.equal(torch.compile(op, backend="aot_eager", fullgraph=True)(a), a + 1)
    assert set(sizes) == {64, 128, 96}


def test_memories_that_are_read_and_written() -> None:
    """They are inputs of the functional operator, which leaves them as they are."""

    @tkw.wave(ROWS)
    def accumulate(a: tkl.Memory[M, GLOBAL, tkl.f32], c: tkl.Memory[M, GLOBAL, tkl.f32]):
        tkw.write(tkw.read(c) + tkw.read(a), c)

    made = wave_compile(WaveCompileOptions(subs={M: 64}, target="gfx942"), accumulate)
    op = torch_op.register("wave_test::accumulate", made)
    a, c = torch.ones(64), torch.arange(64, dtype=torch.float32)
    before = c.clone()
    assert torch.equal(op(a, c), before + 1) and torch.equal(c, before)
    op.out(a, c)
    assert torch.equal(c, before + 1)
    torch.library.opcheck(op.functional, (a, before)), torch.library.opcheck(op.out, (a, c))


def test_sizes_that_only_results_have() -> None:
    @tkw.wave(ROWS)
    def fill(c: tkl.Memory[M, GLOBAL, tkl.f32], x: tkl.f32):
        tkw.write(tkl.Register[M, tkl.f32](0.0) + tkw.broadcast(x, [M]), c)

    made = wave_compile(WaveCompileOptions(dynamic_symbols=[M], target="gfx942"), fill)
    op = torch_op.register("wave_test::fill", made)
    assert str(torch.ops.wave_test.fill.default._schema).endswith("(float x, SymInt M) -> Tensor")
    assert torch.equal(op(2.5, 70), torch.full((70,), 2.5))


def test_arguments_that_do_not_fit(gemm: TorchOp) -> None:
    with pytest.raises(AbiError, match="'b' has extent 8 in dim 1, but K is 16"):
        gemm(small(32, 16), small(32, 8))
