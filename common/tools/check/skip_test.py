"""Skips the test of a mistake that a GPU may let through, with the reason that its file gives.

    python3 common tools.check.skip_test MISTAKE.diff [PROGRAM]

Writes the result into the file that COURSE_RESULT names, if there is one.
"""

import os
import sys
from pathlib import Path

from build import variants
from tools.lib import result

file = Path(sys.argv[1])
reason = variants.parse(file.read_text(encoding="utf-8"), str(file)).slips
if not reason:
    sys.exit(f"{file}: no line '{variants.SLIPS} REASON'")
print(f"Skipped on a GPU: {reason}")
if os.environ.get("COURSE_RESULT"):
    result.write(os.environ["COURSE_RESULT"], result.new(result.SKIPPED, reason))
sys.exit(77)
