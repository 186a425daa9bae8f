#!/usr/bin/env python3
"""Skips the test of a mistake that a GPU may let through, with the reason that its file gives.

    skip_test.py MISTAKE_FILE [PROGRAM]

The file has a line "// GPU: may slip through: REASON"; lines of the comment below belong to the reason.
"""

import re
import sys
from pathlib import Path

text = Path(sys.argv[1]).read_text(encoding="utf-8")
reason = re.search(r"^// GPU: may slip through: *(.+(?:\n// .+)*)$", text, re.MULTILINE)
if not reason:
    sys.exit(f"{sys.argv[1]}: no line '// GPU: may slip through: REASON'")
print(f"Skipped on a GPU: {reason.group(1)}".replace("\n//", ""))
sys.exit(77)
