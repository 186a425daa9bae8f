"""Builds the course's web site, and the slides of its chapters, from the READMEs and common/docs.

The address where the site is published may be in COURSE_SITE. Needs Sphinx and MyST: common/tools/setup.sh --contributor installs them.
"""

import contextlib
import functools
import http.server
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.lib.checkout import TOP, seen_from_the_shell
from tools.lib.failed import Failed
from tools.site import slides

SYSTEM = "/usr/bin/python3"  # Debian's packages are for this one; another may come first on PATH


def python_with_sphinx():
    """The Python that has Sphinx and MyST: this one, or the system's; Failed without any."""
    for python in dict.fromkeys([sys.executable, SYSTEM]):
        if os.path.exists(python) and subprocess.run([python, "-c", "import myst_parser, sphinx.cmd.build"], capture_output=True).returncode == 0:
            return python
    raise Failed("no Sphinx with MyST: common/tools/setup.sh --contributor installs it")


def build(output):
    """Writes the site into a folder that is made anew; Failed if a page is wrong, and then the folder is as it was."""
    if output.exists() and not (output / "_static").is_dir() and any(output.iterdir()):
        raise Failed(f"{output} has files that are no site: name another folder, or empty it")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{output.name}-", dir=output.parent) as made:
        new, old = Path(made, "new"), Path(made, "old")
        done = subprocess.run([
            python_with_sphinx(), "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-c", str(Path(__file__).parent),
            "-d", str(Path(made, "doctrees")), str(TOP), str(new),
        ], env={**os.environ, "PYTHONPATH": str(TOP / "common")})  # fmt: skip
        if done.returncode != 0:
            raise Failed("the site is not built")
        slides.write_all(TOP, new / "slides", "../")
        if output.exists():
            output.rename(old)
        new.rename(output)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a line for each request."""

    def log_message(self, *_):
        pass


def serve(folder, port):
    """A server of the folder on this machine; `serve_forever` runs it."""
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Quiet, directory=str(folder)))


def build_and_show(output, build_folder, port):
    """Builds the site, in BUILD_FOLDER/site without an output, and says where it is; serves it if there is a port."""
    output = (output or build_folder / "site").resolve()
    build(output)
    print(f"site: {seen_from_the_shell(output / 'index.html')}")
    if port is not None:
        with serve(output, port) as server, contextlib.suppress(KeyboardInterrupt):
            print(f"http://127.0.0.1:{server.server_port} until Ctrl-C", flush=True)
            server.serve_forever()
