"""mlir-tblgen's generated modules import their helpers from the package they are in."""

import sys

from mlir.dialects import _ods_common

sys.modules[__name__] = _ods_common
