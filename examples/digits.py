"""Classifies handwritten digits with a compiled kernel that runs in the simulator.

    python examples/digits.py [--train N] [--test N] [--out DIR]

Each test image gets the label of its nearest neighbour among the training images. |x - y|^2 = |x|^2 + |y|^2 - 2 x.y,
and all x.y are one matrix product: examples/gemm.mlir, compiled for gfx942. The images are scikit-learn's 1797 of 8 x 8
pixels with the integers 0..16, so every product and sum is exact in f32 and must equal numpy's integers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mlir import ir
from sklearn.datasets import load_digits
from wave_mlir import report, sim
from wave_mlir.compiler import driver, forms, outputs

KERNEL = Path(__file__).with_name("gemm.mlir")
FORMS = forms.FORMS[: forms.FORMS.index("gpu") + 1]
SHADES = " .:-=+*#%@"


@dataclass(frozen=True)
class Digits:
    """Images as rows of 64 pixels (int64, 0..16) and their labels, apart for training and test."""

    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray


def load(train: int, test: int) -> Digits:
    """Shuffled images, `train` and `test` of them. Raises ValueError when there are not so many."""
    images, labels = load_digits(return_X_y=True)
    if min(train, test) < 1 or train + test > len(images):
        raise ValueError(f"want {train} + {test} images; there are {len(images)}, and each part needs one")
    order = np.random.default_rng(0).permutation(len(images))
    pixels, labels = images[order].astype(np.int64), labels[order]
    end = train + test
    return Digits(pixels[:train], labels[:train], pixels[train:end], labels[train:end])


def nearest(products: np.ndarray, digits: Digits) -> np.ndarray:
    """For each test image the number of the nearest training image; products[i, j] = test[i] . train[j], integers."""
    squares = (digits.train**2).sum(axis=1)  # |test[i]|^2 is the same for all j
    return np.argmin(squares - 2 * products, axis=1)


def main(argv: Sequence[str] | None = None) -> int:
    """Compile, run, compare, classify; returns 0 when the result is exactly numpy's."""
    parser = argparse.ArgumentParser(description="Classifies handwritten digits with a compiled kernel.")
    parser.add_argument("--train", type=int, default=1398, help="training images (default: 1398)")
    parser.add_argument("--test", type=int, default=399, help="test images (default: 399)")
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="folder to write (default: demo-out)")
    options = parser.parse_args(argv)
    try:
        digits = load(options.train, options.test)
    except ValueError as error:
        parser.error(str(error))
    m, n, k = len(digits.test), len(digits.train), digits.test.shape[1]
    print(f"Handwritten digits: {n} training and {m} test images of {k} pixels.")
    print(f"The kernel computes all {m} x {n} dot products, a GEMM in tiles of 64 x 64 x 32:")
    print(f"{m} = 64 * {m // 64} + {m % 64} and {n} = 64 * {n // 64} + {n % 64}, so tiles at the edges are cut.")
    compiled = driver.compile_file(KERNEL, symbols={"M": m, "N": n, "K": k}, keep=FORMS)
    machine_code = compiled.hsaco, compiled.isa
    show_forms(compiled)
    show_times(compiled.timings)
    print("\nThe machine code for gfx942\n")
    print(report.render_text(report.analyze(compiled.isa)).rstrip())
    save(options.out, compiled)
    products = simulate(compiled, digits)
    right = compare(products, digits)
    print(f"\nWritten: {options.out / 'digits.hsaco'} ({len(machine_code[0])} bytes), digits.hsaco.json, digits.s")
    return 0 if right else 1


def show_forms(compiled: driver.Compiled) -> None:
    """A table of operations and bytes of text in each form."""
    print("\nThe kernel, form by form\n")
    print("  form        operations  of these wave.*  bytes of text")
    for form in FORMS:
        text = compiled.ir(form)
        names = operation_names(driver.parse(text).operation)
        ours = sum(name.startswith("wave.") for name in names)
        print(f"  {form:<10}{len(names):>12}{ours:>17}{len(text):>15}")
    for stage in ("llvm", "isa", "hsaco"):
        print(f"  {stage:<10}{'':>12}{'':>17}{len(compiled.emit(stage)):>15}")


def operation_names(op: ir.Operation) -> list[str]:
    """Names of the operations inside `op`."""
    names: list[str] = []
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                names += [inner.operation.name, *operation_names(inner.operation)]
    return names


def show_times(timings: dict[str, float]) -> None:
    """A table of milliseconds by pass and by step of code generation; sums over stages are left out."""
    print("\nTime of each pass and of each step to machine code\n")
    steps = {name: seconds for name, seconds in timings.items() if "-to-" not in name or name.startswith("wave-")}
    for name, seconds in steps.items():
        print(f"  {name:<26}{seconds * 1000:>8.1f} ms")
    print(f"  {'together':<26}{sum(steps.values()) * 1000:>8.1f} ms")


def save(folder: Path, compiled: driver.Compiled) -> None:
    """Write the code object, the JSON that says how to launch it, and the assembly."""
    folder.mkdir(parents=True, exist_ok=True)
    outputs.write_atomically(
        {
            folder / "digits.hsaco": compiled.hsaco,
            folder / "digits.hsaco.json": outputs.kernels_json(compiled.kernels),
            folder / "digits.s": compiled.isa,
        }
    )


def simulate(compiled: driver.Compiled, digits: Digits) -> np.ndarray:
    """The dot products (f32, test x train) from the simulator, run in two orders of the waves."""
    print("\nThe simulator\n")
    a, b = digits.test.astype(np.float16), digits.train.astype(np.float16)
    results = []
    for order in ("forward", "reverse"):
        c = np.full((len(a), len(b)), np.nan, np.float32)
        run = sim.run(compiled.module, [a, b, c], order=order)
        results.append(c)
        print(
            f"  waves in {order} order: {run.counts['workgroups']} workgroups, {run.counts['waves']} waves, "
            f"{run.ops} operations in {run.seconds:.2f} s"
        )
    print(f"  no fault found by the checks {', '.join(sim.CHECKS)}")
    same = np.array_equal(*results, equal_nan=True)
    print(f"  the two results are {'the same' if same else 'DIFFERENT'} bit for bit")
    return results[0] if same else np.full_like(results[0], np.nan)


def compare(products: np.ndarray, digits: Digits) -> bool:
    """Print errors against numpy's integers, accuracy and one example; true when all is equal."""
    wanted = digits.test @ digits.train.T
    error = np.abs(products - wanted).max()
    print("\nThe result\n")
    print(f"  greatest error of a dot product against numpy: {error:g} (products up to {wanted.max()})")
    if error != 0:  # NaN too
        print("  the kernel's result is wrong: labels would mean nothing", file=sys.stderr)
        return False
    found = nearest(products.astype(np.int64), digits)
    labels = digits.train_labels[found]
    right = labels == digits.test_labels
    same = np.array_equal(found, nearest(wanted, digits))
    print(f"  accuracy: {right.sum()} of {right.size} test images, {100 * right.mean():.2f} %")
    print(f"  nearest neighbours {'the same as' if same else 'DIFFERENT from'} numpy's")
    print(f"\n  A test image, a {digits.test_labels[0]}, and its nearest neighbour, a {labels[0]}:\n")
    for left, right_row in zip(picture(digits.test[0]), picture(digits.train[found[0]]), strict=True):
        print(f"    {left}    {right_row}")
    return same


def picture(pixels: np.ndarray) -> list[str]:
    """The rows of an image, two characters a pixel."""
    return ["".join(SHADES[p * (len(SHADES) - 1) // 16] * 2 for p in row) for row in pixels.reshape(8, 8)]


if __name__ == "__main__":
    sys.exit(main())
