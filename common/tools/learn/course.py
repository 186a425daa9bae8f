#!/usr/bin/env python3
"""The learner's loop: see what is there, solve it, get unstuck.

`./course COMMAND --help` says more about each command, with an example. The exercises are those of the
build folder: --build, else $COURSE_BUILD, else build/, else the only build folder that there is.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # until main() can end without a traceback

import argparse  # noqa: E402
import errno  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.learn.answers import reset, show_diff  # noqa: E402
from tools.learn.build_folder import Course, nearest, one_of  # noqa: E402
from tools.learn.checking import INTERRUPTED, show_check  # noqa: E402
from tools.learn.exporting import OUTPUT, export  # noqa: E402
from tools.learn.finding import picture, show_hint, show_list, show_next  # noqa: E402
from tools.learn.running import SEEDS, Workplace, run, split_words  # noqa: E402
from tools.learn.scoring import score  # noqa: E402
from tools.learn.watching import watch  # noqa: E402
from tools.lib import terminal  # noqa: E402
from tools.lib.failed import Failed  # noqa: E402
from tools.run import reports  # noqa: E402
from tools.run.outcome import EXIT_CODES as CODES_OF_RUN  # noqa: E402

POLL_SECONDS = 0.4
NAME = "an exercise, a part of its name that matches no other, or its file"
BUILD = "the build folder (default: $COURSE_BUILD, else build)"
EXIT_CODES = """exit code: 0 done; 1 refused, or the check failed; 2 a name, an option or a build folder is wrong;
77 the check was skipped; 130 ended by Ctrl-C"""

EXIT_CODES_OF_RUN = "exit code:\n" + "\n".join(f"  {code:>13}  {meaning.replace('`', '')}" for code, _, meaning in CODES_OF_RUN)


def parser():
    """What can be typed: the parser, the names of the commands, and the options of run: {name: True if a value follows}."""
    form = argparse.RawDescriptionHelpFormatter
    build = argparse.ArgumentParser(add_help=False)
    build.add_argument("--build", metavar="DIR", help=BUILD, default=argparse.SUPPRESS)  # or the one before COMMAND
    main_parser = argparse.ArgumentParser("./course", description=__doc__, epilog=EXIT_CODES, formatter_class=form)
    main_parser.add_argument("--build", metavar="DIR", help=BUILD)
    commands = main_parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name, function, detail, example):
        one = commands.add_parser(
            name, parents=[build], help=function.__doc__.splitlines()[0], formatter_class=form,
            description=f"{name}: {function.__doc__.splitlines()[0]}\n\n{detail}",
            epilog="example:\n" + "".join(f"  {line}\n" for line in example.splitlines()),
        )
        one.set_defaults(function=function, place=Course)
        return one

    def exercise_command(*about):
        """A command on one exercise, which NAME says or leaves open."""
        one = command(*about)
        one.add_argument("name", metavar="NAME", nargs="?", help=NAME)
        return one

    command("list", show_list, (
        "First runs the checks that have no verdict yet on a file as it is now."
    ), "./course list\n./course list --build build-01")
    one = command("next", show_next, (
        "An exercise that you have begun comes before the others."
    ), "./course next\n./course next --fast\nEDITOR=vim ./course next --edit")
    one.add_argument("--edit", action="store_true", help="open the file in $EDITOR")
    one.add_argument("--fast", action="store_true", help="only the exercises that a chapter cannot do without")
    one = exercise_command("check", show_check, (
        "As `meson test -C build NAME`, without Meson's own lines. The exit code is the check's. A check ends 2 s after\n"
        "its first failure. With the number of a chapter: all of its exercises that you have begun."
    ), "./course check word_count\n./course check word\n./course check exercises/01-global-atomic/word_count.cuh\n./course check 03\n"
       "./course check word_count --seed 7")
    one.add_argument("--all", action="store_true", help="run all test cases after a failure, too")
    one.add_argument("--seed", metavar="SEED", type=natural, help="run only this schedule of the CPU device")
    one = exercise_command("hint", show_hint, (
        "They are those of chapters/NN-topic/hints/NAME.md. Each call shows one more."
    ), "./course hint word_count\n./course hint word_count --again")
    which = one.add_mutually_exclusive_group()
    which.add_argument("--again", action="store_true", help="those that were shown already")
    which.add_argument("--all", action="store_true", help="all of them at once")
    one = exercise_command("diff", show_diff, (
        "Asks first if the file as it is now has not passed its check."
    ), "./course diff word_count\n./course diff word_count --yes")
    one.add_argument("--yes", action="store_true", help="do not ask")
    one = exercise_command("watch", watch, (
        "Without NAME all exercises are watched, and the one that changes is checked. A save that\n"
        "changes nothing runs nothing; a save during a check ends it, and the check begins anew.\n"
        "At a terminal, keys are for the exercise that was checked last: h its next hint, d the difference to\n"
        "the solution, p a picture of what the lanes did, n the next exercise, s the solution, q the end.\n"
        "Ctrl-C ends it with exit code 130."
    ), "./course watch\n./course watch word_count")
    one.add_argument("--every", metavar="SECONDS", type=limit, default=POLL_SECONDS,
                     help="how often to look (default: %(default)s)")
    one = exercise_command("picture", picture, (
        "Runs the check on the CPU device, records what the lanes do, and writes an SVG and a page to\n"
        "step through into the build folder: common/tools/trace/picture.py --exercise NAME."
    ), "./course picture word_count\n./course picture word_count --open")
    one.add_argument("--open", action="store_true", help="show the page in the browser")
    one = exercise_command("reset", reset, (
        "The starter is the newest version in Git's history with a NOT_STARTED line. Hints start over."
    ), "./course reset word_count\n./course reset word_count --yes")
    one.add_argument("--yes", action="store_true", help="do not ask")
    one = exercise_command("score", score, (
        "Only challenges have a score (chapter 16). The first time it builds a program of its own. Without a GPU it\n"
        "counts, which is no time. Each score is kept in the build folder, with a plot."
    ), "./course score beat_sum\n./course score beat_sum --n 2^20")
    one.add_argument("--n", metavar="N", help="one size only: 1000000, 1e6 or 2^20")
    one = command("export", export, (
        "For a site that has the same task: GPU MODE's popcorn (submission.py) or LeetGPU (solution.cu).\n"
        "What the answer includes of the course becomes part of the file."
    ), "./course export beat_sum --for popcorn\n./course export beat_sum --for leetgpu --output solution.cu")
    one.add_argument("name", metavar="NAME", help=NAME)
    one.add_argument("--for", dest="site", choices=list(OUTPUT), required=True, help="the site")
    one.add_argument("--output", metavar="FILE", help="the file to write (default: in the build folder)")
    one = command("run", run, (
        "Any .cu file with a main(), from any folder: it is compiled into the build folder, and runs in yours, once per\n"
        "schedule until one has a finding. What comes after -- is for the program. Options of nvcc, clang and g++ are\n"
        "understood: -I, -D, -U, -include, -isystem, -l and -L have their effect, those that would change the program are\n"
        "named, and the rest makes no difference here.\n"
        "\n" + EXIT_CODES_OF_RUN
    ), "./course run race.cu\n./course run sum.cu util.cu -I include -D N=1000 --seeds 20 -- --verbose\n"
       "./course run --each src 'examples/**/*.cu' -p build --report sarif=findings.sarif\n"
       "./course run --each tests --with src --exclude 'src/main.cu' -I include")
    one.set_defaults(place=Workplace)
    one.add_argument("files", metavar="FILE", nargs="+", help=(
        "FILE.cu, and .cpp or .c files beside it: compiled, and linked; - is standard input"))
    which = one.add_mutually_exclusive_group()
    options = [
        one.add_argument("--each", action="store_true", help=(
            "each file is a program of its own; FILE may be a folder (all .cu files below it, without hidden and build folders) or a "
            "pattern such as 'src/**/*.cu'; a table at the end")),
        one.add_argument("--with", metavar="FILE", dest="parts", action="append", default=[], help=(
            "with --each: a .cu, .cpp or .c file, or all in a folder or of a pattern, is linked into each program, and is none itself; "
            "several times")),
        one.add_argument("--exclude", metavar="PATTERN", action="append", default=[], help=(
            "with --each: leave out the files whose path, as it is shown, matches, such as '*/old/*'; several times")),
        one.add_argument("--jobs", metavar="N", type=positive, help="with --each: so many programs at a time (default: cores)"),
        one.add_argument("--time-limit", metavar="SECONDS", type=limit,
                         help="the processor time of a program under one schedule (default: $COURSE_CPU_SECONDS, else 300)"),
        one.add_argument("--memory-limit", metavar="GIB", type=limit,
                         help="the memory that a program may hold (default: 3/4 of what is available, divided by the jobs of --each)"),
        one.add_argument("--baseline", metavar="FILE", help="findings in it are known, and do not count"),
        one.add_argument("--write-baseline", metavar="FILE", help="write all findings into it; none counts"),
        one.add_argument("-p", metavar="PLACE", dest="compile_commands",
                         help="a compile_commands.json or its folder: each file is compiled with the options of its entry"),
        which.add_argument("--seeds", metavar="N", type=positive, help=f"run schedules 0 to N - 1 (default: {SEEDS})"),
        which.add_argument("--schedule", metavar="SEED", type=natural, help="run only this schedule"),
        one.add_argument("--report", metavar="FORMAT[=FILE]", type=reports.asked, action="append", default=[], help=(
            "also for other programs: json, github (annotations), sarif or codequality (GitLab), to standard output, where the program's own "
            "output then is not, or to FILE; text=FILE: what is printed; several times")),
        one.add_argument("--count", action="store_true", help="a table of what each kernel asked of memory, in the first run"),
        one.add_argument("--trace", metavar="FILE", nargs="?", const="",
                         help="record what the lanes do in the first run, and draw it (default: into the build folder)"),
    ]
    own_options = {"-h": False, "--help": False, "--build": True}
    own_options.update({name: option.nargs is None for option in options for name in option.option_strings})
    return main_parser, list(commands.choices), own_options


def command_in(words, commands):
    """The command, which is the first word; "" without one. Raises Failed, with the commands that look like it, for another word."""
    words = iter(words)
    for word in words:
        if word == "--build":
            next(words, None)
        elif not word.startswith("-"):
            if word not in commands:
                near = nearest(word, commands)
                way_out = f"Did you mean {one_of(near)}?" if near else f"The commands are {', '.join(commands)}."
                raise Failed(f"There is no command {word}. {way_out}", 2)
            return word
    return ""


def limit(text):
    """A positive number of seconds or GiB."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value


def natural(text):
    """A number from 0 on."""
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def positive(text):
    """A number from 1 on."""
    return natural(text) or natural("-1")


def set_shell_folder():
    """Makes PWD, which paths are shown relative to, the true folder of the learner's shell."""
    here = os.getcwd()
    if (Path(here) / "build.ninja").exists():  # Meson may have changed into it
        here = os.path.realpath(os.environ.get("PWD") or here)
    os.environ["PWD"] = here


def end(*_):
    """Ends the program as Ctrl-C does, when it is told to end."""
    sys.exit(1)


def main():
    terminal.prepare()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `./course list | head -1` is no error
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        command_line, commands, options_of_run = parser()
        if len(sys.argv) == 1:
            command_line.print_help()
            return 0
        words = sys.argv[1:]
        command = command_in(words, commands)
        of_compiler, of_program = [], []
        if command == "run":
            words, of_compiler, of_program = split_words(words, options_of_run)
        arguments = command_line.parse_args(words)
        arguments.compiler_words, arguments.program_arguments = of_compiler, of_program
        arguments.own_options = list(options_of_run)
        set_shell_folder()
        code = arguments.function(arguments.place(arguments.build), arguments)
        sys.stdout.flush()
        return code
    except Failed as refusal:
        print(refusal, file=sys.stderr)
        return refusal.exit_code
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename:
            raise
        sys.stdout = None  # which Python would try to write once more
        print(f"Standard output cannot be written: {error.strerror}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print(file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
