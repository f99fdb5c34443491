"""Kernels in Triton's language: a second source of machine code for the runner.

They are compiled in a virtual environment that has Triton (tools/foreign_kernels.py); nothing else imports this file.
Each is small and leans on one family of instructions. Arrays are row-major; lengths are in elements.
"""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def convert(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside).to(out.dtype.element_ty), mask=inside)


@triton.jit
def integers(x, y, quotient, remainder, bits, n, BLOCK: tl.constexpr):
    """Division, remainder and shifts of signed integers of any width; y has no zero."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=1)
    b = tl.load(y + at, mask=inside, other=1)
    tl.store(quotient + at, a // b, mask=inside)
    tl.store(remainder + at, a % b, mask=inside)
    tl.store(bits + at, ((a ^ b) & (a | 5)) * 3 + (a >> 2) - (b << 1), mask=inside)


@triton.jit
def elementary(x, out, n, BLOCK: tl.constexpr):
    """exp, log, sine, cosine, root, reciprocal root, erf, division of positive f32: out is [8, n]."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=1.0)
    tl.store(out + at, tl.exp(a), mask=inside)
    tl.store(out + n + at, tl.log(a), mask=inside)
    tl.store(out + 2 * n + at, tl.sin(a), mask=inside)
    tl.store(out + 3 * n + at, tl.cos(a), mask=inside)
    tl.store(out + 4 * n + at, tl.sqrt_rn(a), mask=inside)
    tl.store(out + 5 * n + at, tl.rsqrt(a), mask=inside)
    tl.store(out + 6 * n + at, tl.erf(a), mask=inside)
    tl.store(out + 7 * n + at, tl.div_rn(1.0, a + 2.0), mask=inside)


@triton.jit
def rounding(x, out, n, BLOCK: tl.constexpr):
    """floor, ceil, |x|, max with 1, 3x + 1 in one rounding: out is [5, n]; exact."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=0.0)
    tl.store(out + at, tl.floor(a), mask=inside)
    tl.store(out + n + at, tl.ceil(a), mask=inside)
    tl.store(out + 2 * n + at, tl.abs(a), mask=inside)
    tl.store(out + 3 * n + at, tl.maximum(a, 1.0), mask=inside)
    tl.store(out + 4 * n + at, tl.fma(a, 3.0, 1.0), mask=inside)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    a = tl.load(x + row * columns + at, mask=at < columns, other=float("-inf")).to(tl.float32)
    e = tl.exp(a - tl.max(a, axis=0))
    tl.store(out + row * columns + at, e / tl.sum(e, axis=0), mask=at < columns)


@triton.jit
def layernorm(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    a = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, a - tl.sum(a, axis=0) / columns, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    w = tl.load(weight + at, mask=inside, other=0.0)
    b = tl.load(bias + at, mask=inside, other=0.0)
    tl.store(out + row * columns + at, centred * scale * w + b, mask=inside)


@triton.jit
def reduce_rows(x, total, largest, where, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    a = tl.load(x + row * columns + at, mask=at < columns, other=0)
    tl.store(total + row, tl.sum(a, axis=0))
    tl.store(largest + row, tl.max(a, axis=0))
    tl.store(where + row, tl.argmax(a, axis=0))


@triton.jit
def reduce_columns(x, total, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Sums over the outer axis of a block: the partial sums cross waves through LDS."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(total + tl.arange(0, COLUMNS), tl.sum(tl.load(x + at), axis=0))


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * BLOCK
    tl.store(out + row + at, tl.cumsum(tl.load(x + row + at), axis=0))


@triton.jit
def sort(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * BLOCK
    tl.store(out + row + at, tl.sort(tl.load(x + row + at)))


@triton.jit
def transpose(x, out, rows, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns))
    inside = (c[:, None] < columns) & (r[None, :] < rows)
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(a), mask=inside)


@triton.jit
def histogram(x, counts, total, largest, n, BLOCK: tl.constexpr):
    """Atomics with and without a returned value; x is in [0, number of bins)."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=0)
    before = tl.atomic_add(counts + a, 1, mask=inside, sem="relaxed")
    tl.atomic_add(total + tl.zeros_like(at), a.to(tl.float32), mask=inside, sem="relaxed")
    tl.atomic_max(largest + tl.zeros_like(at), tl.where(before >= 0, a, -1), mask=inside)


@triton.jit
def ticket(state, order, n):
    """A lock by compare-and-swap around a counter that is read and written; one element a program."""
    while tl.atomic_cas(state, 0, 1, sem="acq_rel") == 1:
        pass
    count = tl.load(state + 1, volatile=True)
    tl.store(state + 1, count + 1)
    tl.atomic_xchg(state, 0, sem="release")
    tl.store(order + tl.program_id(0), count)


@triton.jit
def matmul(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           GROUP: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """c = a @ b, any strides; programs go GROUP rows of blocks at a time."""
    rows = tl.cdiv(M, BM)
    columns = tl.cdiv(N, BN)
    program = tl.program_id(0)
    first = program // (GROUP * columns) * GROUP
    height = tl.minimum(rows - first, GROUP)
    m = (first + program % (GROUP * columns) % height) * BM + tl.arange(0, BM)
    n = (program % (GROUP * columns) // height) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    at_a = a + (m % M)[:, None] * sam + k[None, :] * sak
    at_b = b + k[:, None] * sbk + (n % N)[None, :] * sbn
    total = tl.zeros((BM, BN), ACC)
    for done in range(0, K, BK):
        left = tl.load(at_a, mask=k[None, :] < K - done, other=0.0)
        right = tl.load(at_b, mask=k[:, None] < K - done, other=0.0)
        total = tl.dot(left, right, total, out_dtype=ACC)
        at_a += BK * sak
        at_b += BK * sbk
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * scm + n[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def matmul_scaled(a, b, scales_a, scales_b, c, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  FORMAT: tl.constexpr, PACK: tl.constexpr):  # fmt: skip
    """Block-scaled product: a [M, K/PACK], b [K/PACK, N] in FORMAT, one e8m0 scale each 32 elements of K."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK // PACK)
    s = tl.arange(0, BK // 32)
    total = tl.zeros((BM, BN), tl.float32)
    for done in range(0, K, BK):
        left = tl.load(a + m[:, None] * (K // PACK) + done // PACK + k[None, :])
        right = tl.load(b + (done // PACK + k)[:, None] * N + n[None, :])
        sa = tl.load(scales_a + m[:, None] * (K // 32) + done // 32 + s[None, :])
        sb = tl.load(scales_b + n[:, None] * (K // 32) + done // 32 + s[None, :])
        total = tl.dot_scaled(left, sa, FORMAT, right, sb, FORMAT, total)
    tl.store(c + m[:, None] * N + n[None, :], total)


@triton.jit
def attention(q, k, v, out, length, scale, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
              CAUSAL: tl.constexpr):  # fmt: skip
    """Flash attention forward: q, k, v, out are [heads, length, HEAD]; the running maximum is in powers of two."""
    head = tl.program_id(1) * length * HEAD
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, HEAD)
    queries = tl.load(q + head + m[:, None] * HEAD + d[None, :], mask=m[:, None] < length, other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, HEAD), tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BM, length) if CAUSAL else length
    for start in range(0, end, BN):
        n = start + tl.arange(0, BN)
        keys = tl.load(k + head + n[None, :] * HEAD + d[:, None], mask=n[None, :] < length, other=0.0)
        scores = tl.dot(queries, keys) * (scale * 1.4426950408889634)
        seen = n[None, :] < length
        if CAUSAL:
            seen = seen & (n[None, :] <= m[:, None])
        scores = tl.where(seen, scores, float("-inf"))
        higher = tl.maximum(top, tl.max(scores, axis=1))
        p = tl.exp2(scores - higher[:, None])
        decay = tl.exp2(top - higher)
        values = tl.load(v + head + n[:, None] * HEAD + d[None, :], mask=n[:, None] < length, other=0.0)
        weight = weight * decay + tl.sum(p, axis=1)
        total = tl.dot(p.to(values.dtype), values, total * decay[:, None])
        top = higher
    result = (total / weight[:, None]).to(out.dtype.element_ty)
    tl.store(out + head + m[:, None] * HEAD + d[None, :], result, mask=m[:, None] < length)


@triton.jit
def gather(x, where, out, rows, columns, n, BLOCK: tl.constexpr):
    """out[i, :] = x[where[i], :] with 64-bit indices; rows that are out of range give -1."""
    i = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    row = tl.load(where + i)
    known = (row >= 0) & (row < rows)
    a = tl.load(x + row * columns + at, mask=known & (at < columns), other=-1)
    tl.store(out + i * columns + at, a, mask=at < columns)


@triton.jit
def wide_integers(x, y, high, counted, packed, n, BLOCK: tl.constexpr):
    """High half of products of u32, numbers of set bits, and a mix of comparisons and selections."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=0).to(tl.uint32, bitcast=True)
    b = tl.load(y + at, mask=inside, other=0).to(tl.uint32, bitcast=True)
    tl.store(high + at, tl.umulhi(a, b).to(tl.int32, bitcast=True), mask=inside)
    bits = a & 0x55555555
    bits = (bits & 0x33333333) + ((bits >> 2) & 0x33333333)
    tl.store(counted + at, ((bits * 0x11111111) >> 28).to(tl.int32), mask=inside)
    smaller, larger = tl.minimum(a, b), tl.maximum(a, b)
    chosen = tl.where((a ^ b) & 1 == 1, larger - smaller, (smaller << 16) | (larger >> 16))
    tl.store(packed + at, chosen.to(tl.int32, bitcast=True), mask=inside)


@triton.jit
def halves(x, y, total, smallest, order, n, BLOCK: tl.constexpr):
    """Arithmetic, minimum and comparison of a 16-bit type in its own precision."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=0.0)
    b = tl.load(y + at, mask=inside, other=0.0)
    tl.store(total + at, a * b + a - b, mask=inside)
    tl.store(smallest + at, tl.minimum(tl.abs(a), b), mask=inside)
    tl.store(order + at, (a < b).to(tl.int8) + 2 * (a >= -b).to(tl.int8), mask=inside)


@triton.jit
def interleave(x, y, out, BLOCK: tl.constexpr):
    """Pairs (x, y) side by side, then in reverse."""
    at = tl.arange(0, BLOCK)
    pairs = tl.interleave(tl.load(x + at), tl.load(y + at))
    tl.store(out + tl.arange(0, 2 * BLOCK), tl.flip(pairs))


@triton.jit
def _longest(a, b, c, d):
    return tl.maximum(c, a + b * 0), b + d


@triton.jit
def running_maximum(x, out, count, BLOCK: tl.constexpr):
    """A scan of two values at once with a function of its own."""
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * BLOCK
    largest, ones = tl.associative_scan((tl.load(x + row + at), tl.full((BLOCK,), 1, tl.int32)), 0, _longest)
    tl.store(out + row + at, largest)
    tl.store(count + row + at, ones)


@triton.jit
def accumulate(x, total, n, BLOCK: tl.constexpr):
    """Atomic additions of any type to one of 16 places."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(total + at % 16, a, mask=at < n, sem="relaxed")


@triton.jit
def persistent(a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    """relu(a @ b + bias) with tiles dealt out to a fixed number of programs; sizes are multiples of the tile."""
    columns = N // BN
    for tile in range(tl.program_id(0), M // BM * columns, PROGRAMS):
        m = tile // columns * BM + tl.arange(0, BM)
        n = tile % columns * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for done in range(0, K, BK):
            k = done + tl.arange(0, BK)
            total = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]), total)
        total = tl.maximum(total + tl.load(bias + n)[None, :], 0.0)
        tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty))


@triton.jit
def split_k(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Each program of the second grid axis adds its part of K with atomics; b is [N, K]."""
    m, n, k = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN), tl.program_id(1) * BK + tl.arange(0, BK)
    left = tl.load(a + m[:, None] * K + k[None, :])
    right = tl.load(b + n[None, :] * K + k[:, None])
    tl.atomic_add(c + m[:, None] * N + n[None, :], tl.dot(left, right), sem="relaxed")


@triton.jit
def batched(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Three-dimensional dot: c[i] = a[i] @ b[i] for all of a block of 4 at once."""
    i = tl.arange(0, 4)[:, None, None]
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((4, BM, BN), tl.float32)
    for done in range(0, K, BK):
        left = tl.load(a + i * M * K + m[None, :, None] * K + (done + k)[None, None, :])
        right = tl.load(b + i * K * N + (done + k)[None, :, None] * N + n[None, None, :])
        total += tl.dot(left, right)
    tl.store(c + i * M * N + m[None, :, None] * N + n[None, None, :], total)
