"""Some tests need a package of the system's, such as python3-selenium, and another python3 may come first on PATH."""

import os
import sys

SYSTEM = "/usr/bin/python3"


def again_if_missing(module):
    """Runs this test anew with the system's python3, if `module` is None and that python3 is another one."""
    if module is None and os.path.exists(SYSTEM) and not os.path.samefile(sys.executable, SYSTEM):
        os.execv(SYSTEM, [SYSTEM, *sys.orig_argv[1:]])
