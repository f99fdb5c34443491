"""Kernels around one or a few ops, for tests."""

from __future__ import annotations


def kernel(
    body: str, args: dict[str, tuple[str, str]], *, block=(64, 1, 1), lds=1024, target="gfx942", name="k"
) -> str:
    """gpu-form text of a kernel with memories `args` (name -> (element type, access)) of 64 elements each.

    `%tid` is the thread id along x, `%lds` are `lds` bytes of workgroup memory, `%c0` is index 0.
    """
    signature = ", ".join(f"%{n}: memref<?x{t}, #gpu.address_space<global>>" for n, (t, _) in args.items())
    described = ", ".join(
        f'{{kind = "memory", name = "{n}", dtype = {t}, shape = [#wave.expr<64>], access = "{a}"}}'
        for n, (t, a) in args.items()
    )
    return f"""
module attributes {{wave.form = "gpu", wave.target = "{target}", gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @{name}({signature}) workgroup(%lds: memref<{lds}xi8, #gpu.address_space<workgroup>>)
        kernel attributes {{known_block_size = array<i32: {", ".join(map(str, block))}>, 
                           wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>],
                           wave.args = [{described}]}} {{
      %c0 = arith.constant 0 : index
      %tid = gpu.thread_id x
{body}
      gpu.return
    }}
  }}
}}
"""


def unary(op: str, source: str, result: str | None = None, **options) -> str:
    """A kernel that loads `%x : source`, runs `op` (which defines `%r : result`), and stores `%r`.

    Types are scalars or vectors of one dimension; each thread has its own element or vector.
    """
    result = result or source
    load, store = _access("load", source), _access("store", result)
    body = f"""
      {_index("i", source)}
      {_index("j", result)}
      %x = {load} %a[%i] : memref<?x{_element(source)}, #gpu.address_space<global>>{_suffix(source)}
      {op}
      {store} %r, %o[%j] : memref<?x{_element(result)}, #gpu.address_space<global>>{_suffix(result)}
"""
    return kernel(body, {"a": (_element(source), "read"), "o": (_element(result), "write")}, **options)


def _element(kind: str) -> str:
    return kind.removesuffix(">").split("x")[-1] if kind.startswith("vector<") else kind


def _index(name: str, kind: str) -> str:
    width = int(kind.removeprefix("vector<").split("x")[0]) if kind.startswith("vector<") else 1
    return f"%w{name} = arith.constant {width} : index\n      %{name} = arith.muli %tid, %w{name} : index"


def _access(op: str, kind: str) -> str:
    return f"vector.{op}" if kind.startswith("vector<") else f"memref.{op}"


def _suffix(kind: str) -> str:
    return f", {kind}" if kind.startswith("vector<") else ""
