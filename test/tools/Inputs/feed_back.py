"""Run wave-opt on a file with the pass pipeline that another file holds: feed_back.py PIPELINE-FILE MLIR-FILE."""

import sys
from pathlib import Path

from wave_mlir.tools.wave_opt import main

sys.exit(main(["wave-opt", f"--pass-pipeline={Path(sys.argv[1]).read_text().strip()}", sys.argv[2]]))
