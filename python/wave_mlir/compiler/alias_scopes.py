"""Alias scopes that keep LLVM from waiting for all direct copies to LDS at each access to LDS.

The compiler has put its own waits and barriers between a copy and what reads it. LLVM does not see that: before an LDS
access that may alias a copy in flight it waits for all copies. So copies get a scope, and accesses to LDS say that they
are not in it. Fences keep the order between copies and accesses that barriers make.
"""

from __future__ import annotations

from mlir import ir

COPY = "rocdl.raw.ptr.buffer.load.lds"
_ACCESSES = ("llvm.load", "llvm.store", "llvm.atomicrmw")
_SHARED = "!llvm.ptr<3>"


def separate_copies(function: ir.Operation) -> None:
    """Give the copies of an `llvm.func` a scope, and its LDS accesses the promise to be outside of it."""
    copies: list[ir.Operation] = []
    accesses: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name == COPY:
            copies.append(op.operation)
        elif name in _ACCESSES and str(op.operands[1 if name == "llvm.store" else 0].type) == _SHARED:
            accesses.append(op.operation)
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    if not copies:
        return
    name = ir.StringAttr(function.attributes["sym_name"]).value
    domain = f'#llvm.alias_scope_domain<id = "{name}.lds", description = "LDS of {name}">'
    scope = f'#llvm.alias_scope<id = "{name}.copies", domain = {domain}, description = "direct copies">'
    scopes = ir.ArrayAttr.get([ir.Attribute.parse(scope)])
    for op in copies:
        op.attributes["alias_scopes"] = scopes
    for op in accesses:
        op.attributes["noalias_scopes"] = scopes
