#!/usr/bin/env python3
"""Builds the course's web site, and the slides of its chapters, from the READMEs and common/docs.

    build_site.py [OUTPUT] [--build build] [--all-steps] [--preview [PORT]]

OUTPUT is BUILD/site unless given. Programs of the build folder record the pictures that a reader can step through:
without the program a picture is shown without its steps, or, with --all-steps, the site fails. --preview then serves
the site at http://127.0.0.1:8000 until Ctrl-C. The address where the site is published may be in COURSE_SITE.

Needs Sphinx and MyST: common/tools/setup.sh --contributor installs them. Exit code: 0, or 1 with what is wrong: a
link or an anchor that leads nowhere is.
"""

import argparse
import functools
import http.server
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.lib.checkout import TOP, seen_from_the_shell  # noqa: E402
from tools.lib.failed import Failed  # noqa: E402
from tools.site import slides  # noqa: E402

SYSTEM = "/usr/bin/python3"  # Debian's packages are for this one; another may come first on PATH


def python_with_sphinx():
    """The Python that has Sphinx and MyST: this one, or the system's; Failed without any."""
    for python in dict.fromkeys([sys.executable, SYSTEM]):
        if os.path.exists(python) and subprocess.run([python, "-c", "import myst_parser, sphinx.cmd.build"], capture_output=True).returncode == 0:
            return python
    raise Failed("no Sphinx with MyST: common/tools/setup.sh --contributor installs it")


def build(output, build_folder, all_steps):
    """Writes the site into a folder that is made anew; Failed if a page is wrong."""
    if output.exists() and not (output / "_static").is_dir() and any(output.iterdir()):
        raise Failed(f"{output} has files that are no site: name another folder, or empty it")
    shutil.rmtree(output, ignore_errors=True)
    doctrees = output.parent / f"{output.name}-doctrees"
    done = subprocess.run([
        python_with_sphinx(), "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-c", str(Path(__file__).parent),
        "-d", str(doctrees), "-D", f"course_build={build_folder}", "-D", f"course_all_steps={int(all_steps)}", str(TOP), str(output),
    ])  # fmt: skip
    shutil.rmtree(doctrees, ignore_errors=True)
    if done.returncode != 0:
        raise Failed("the site is not built")
    slides.write_all(TOP, output / "slides")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a line for each request."""

    def log_message(self, *_):
        pass


def serve(folder, port):
    """A server of the folder on this machine; `serve_forever` runs it."""
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Quiet, directory=str(folder)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", nargs="?", type=Path, metavar="OUTPUT")
    parser.add_argument("--build", type=Path, default=TOP / "build", metavar="FOLDER", help="a build for the CPU device")
    parser.add_argument("--all-steps", action="store_true", help="fail if a picture's program is not built")
    parser.add_argument("--preview", nargs="?", type=int, const=8000, metavar="PORT", help="serve the site when it is built")
    options = parser.parse_args()
    output = (options.output or options.build / "site").resolve()
    try:
        build(output, options.build.resolve(), options.all_steps)
        print(f"site: {seen_from_the_shell(output / 'index.html')}")
        if options.preview is not None:
            with serve(output, options.preview) as server:
                print(f"http://127.0.0.1:{server.server_port} until Ctrl-C", flush=True)
                server.serve_forever()
    except Failed as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
