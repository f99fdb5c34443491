"""The few calls of HIP that a launch needs, through ctypes on libamdhip64."""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ENVIRONMENT = "WAVE_HIP_LIBRARY"
"""Environment variable that names the HIP runtime to load."""

_NAMES = ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6")
# How hipModuleLaunchKernel takes a buffer of arguments (hip_runtime_api.h).
_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 3

# Error codes of HIP whose cause is most often this -> what to do.
_ADVICE = {
    2: "free memory on the GPU",
    100: "there is no GPU that HIP can use; look at ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES",
    101: "the tensors are on a device that HIP does not see; look at HIP_VISIBLE_DEVICES",
    209: "the code object is for another GPU; compile with target=get_default_arch()",
    700: "a kernel on this stream accessed memory out of bounds, this one or an earlier one; the simulator finds where",
    719: "a kernel on this stream failed, this one or an earlier one; the simulator finds where",
}


class HipError(RuntimeError):
    """A call of HIP failed. code: of hipError_t, -1 when the library is missing; call: the function."""

    def __init__(self, message: str, code: int = -1, call: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.call = call


@dataclass(frozen=True)
class Function:
    """A loaded kernel. handle: hipFunction_t; device: the GPU it is loaded on."""

    handle: int
    device: int
    name: str


class Hip:
    """One HIP runtime library."""

    def __init__(self, path: str) -> None:
        try:
            self._lib = ctypes.CDLL(path)
        except OSError as error:
            raise HipError(f"the HIP runtime {path} cannot be loaded: {error}") from None
        self.path = path
        self._declare()

    def _declare(self) -> None:
        signatures = {
            "hipGetDevice": [POINTER(c_int)],
            "hipSetDevice": [c_int],
            "hipModuleLoadData": [POINTER(c_void_p), c_char_p],
            "hipModuleUnload": [c_void_p],
            "hipModuleGetFunction": [POINTER(c_void_p), c_void_p, c_char_p],
            "hipModuleLaunchKernel": [c_void_p, *[c_uint] * 7, c_void_p, c_void_p, c_void_p],
            "hipGetErrorName": [c_int],
            "hipGetErrorString": [c_int],
        }
        for name, arguments in signatures.items():
            try:
                function = getattr(self._lib, name)
            except AttributeError:
                raise HipError(f"{self.path} has no {name}; it is no HIP runtime") from None
            function.argtypes = arguments
            function.restype = c_char_p if name.startswith("hipGetError") else c_int

    def _check(self, call: str, code: int, what: str) -> None:
        if code == 0:
            return
        name = (self._lib.hipGetErrorName(code) or b"").decode() or f"error {code}"
        text = (self._lib.hipGetErrorString(code) or b"").decode()
        advice = f"; {_ADVICE[code]}" if code in _ADVICE else ""
        raise HipError(f"{what}: {call} failed with {name} ({text}){advice}", code, call)

    def load(self, image: bytes, name: str, device: int, target: str) -> Function:
        """The kernel `name` of a code object, loaded on a device. It stays loaded as long as the result lives."""
        what = f"kernel '{name}' (for {target})"
        before = self._enter(device, what)
        try:
            module, function = c_void_p(), c_void_p()
            self._check("hipModuleLoadData", self._lib.hipModuleLoadData(byref(module), image), what)
            code = self._lib.hipModuleGetFunction(byref(function), module, name.encode())
            self._check("hipModuleGetFunction", code, what)
        finally:
            self._leave(device, before)
        made = Function(function.value or 0, device, name)
        # At the end of the process the runtime may be gone before us, and frees everything itself.
        weakref.finalize(made, self._lib.hipModuleUnload, module).atexit = False
        return made

    def launch(
        self,
        function: Function,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        kernargs: bytes,
        stream: int,
    ) -> None:
        """Put a launch on a stream. grid: workgroups; block: threads. LDS is in the code object: none is added."""
        size = c_size_t(len(kernargs))
        extra = (c_void_p * 5)(
            _BUFFER_POINTER, ctypes.cast(c_char_p(kernargs), c_void_p), _BUFFER_SIZE, ctypes.addressof(size), _END
        )
        what = f"kernel '{function.name}'"
        before = self._enter(function.device, what)
        try:
            code = self._lib.hipModuleLaunchKernel(function.handle, *grid, *block, 0, stream, None, extra)
            self._check("hipModuleLaunchKernel", code, what)
        finally:
            self._leave(function.device, before)

    def _enter(self, device: int, what: str) -> int:
        """Make a device the current one; gives the one before."""
        before = c_int()
        self._check("hipGetDevice", self._lib.hipGetDevice(byref(before)), what)
        if before.value != device:
            self._check("hipSetDevice", self._lib.hipSetDevice(device), what)
        return before.value

    def _leave(self, device: int, before: int) -> None:
        if before != device:
            self._lib.hipSetDevice(before)


def _candidates() -> Iterator[str]:
    """Libraries to try: the environment's, else torch's own when a torch for ROCm is loaded, else the system's."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        yield named
        return
    torch = sys.modules.get("torch")
    if torch is not None and getattr(torch.version, "hip", None):
        yield from (str(p) for p in sorted(Path(str(torch.__file__)).parent.glob("lib/libamdhip64.so*")))
    root = os.environ.get("ROCM_PATH")
    if root:
        yield str(Path(root, "lib", _NAMES[0]))
    yield from _NAMES


def runtime() -> Hip:
    """The HIP runtime of this process. Raises HipError."""
    return _runtime(tuple(_candidates()))


@lru_cache(maxsize=4)
def _runtime(candidates: tuple[str, ...]) -> Hip:
    failures = []
    for path in candidates:
        try:
            return Hip(path)
        except HipError as error:
            failures.append(str(error))
    raise HipError(f"{failures[0]}; install ROCm, or name its libamdhip64.so in {ENVIRONMENT}")
