"""The compiler of the CPU device: an object file from a CUDA source, as nvcc makes one.

    simtcc.py --settings simtcc.json FILE.cu -o FILE.o [-MF DEPFILE] [--headers NAME] [-rdc=true]
                 [--learner] [--refusals FILE] [-Idir ...] [-Dname ...] [-includeHEADER ...]
    simtcc.py --rewrite FILE.cu -o FILE.cpp [-MF DEPFILE] [-rdc=true] [-Idir ...]   only what the rewriter makes of it
    simtcc.py --find COMPILER CXX...      which compiler `meson setup` should take; "" for COMPILER: the best one

It is started as `python3 common build.simtcc`. It rewrites what is not C++ (rewriter/) into FILE.cu.cpp beside the object,
and compiles that so that every load and store of a kernel calls the checker in common/simt. Link the object with the
libraries `simt` and `course`.

`meson setup` writes the settings: which compiler, and where the headers are. Options that do not depend on the CPU
device, such as the C++ standard, warnings and folders of other libraries, are those that Meson takes for
kernel_flags.cpp. Headers that nearly every file includes are read once, as a precompiled header, which is made
when a file needs it and it is not there or one of its headers has changed. NAME says which of the settings' headers:
"kernel" for the course's own kernels, the default, or "program" for a program of the reader's own (./course run), in which
what CUDA 12 has and CUDA 13 has not is a warning.
-rdc=true, as for nvcc: other files may declare the constants of this one as extern. --learner: a learner has written what is
compiled, and clang's CUDA front end reads it, too (compiler/front_end.py); a check of an exercise that has not been begun is
not compiled (compiler/not_begun.py). --refusals: where to write, as JSON, [{file, line, text}] of the errors of a source that
only needs what the CPU device does not have; an empty list for any other source.
"""

import json
import os
import sys
from pathlib import Path

from build.compiler import depfile
from build.compiler.casts import casts_pointers
from build.compiler.choosing import find_compiler
from build.compiler.command_line import Options
from build.compiler.compiling import compile_file
from build.compiler.flags import FLAGS_OF_CASTS, Compiler
from build.compiler.front_end import FrontEnd
from build.compiler.messages import cuda_in_c, refusals_in
from build.compiler.not_begun import TEXT, exercise_not_begun
from build.compiler.precompiled_header import PrecompiledHeader
from build.rewriter.source import Unsupported
from build.rewriter.translation import rewrite
from tools.lib.failed import Failed


def compile_source(options):
    """Rewrites and compiles the source; writes the depfile. Plain C++ and C (no .cu) are not rewritten, and know
    nothing of CUDA but what they include."""
    compiler = Compiler(options.settings, options.headers)
    if exercise := exercise_not_begun(options):
        return [exercise, *compile_not_begun(compiler, options)]
    if not (options.is_of_learner and compiler.family == "clang" and compiler.is_precompiled):
        return compile_with(compiler, options)
    with FrontEnd(compiler, options) as front_end:
        try:
            files = compile_with(compiler, options)
        except Unsupported:  # the rewriter has said why
            raise
        except Failed as failure:
            raise Failed(front_end.first_refused() or str(failure), failure.exit_code) from failure
        if refused := front_end.refused(files):
            os.unlink(options.output)
            raise Failed(refused)
    return files


def compile_not_begun(compiler, options):
    """What says no more than that the exercise has not been begun; the line NOT_STARTED gone, all is compiled."""
    text = options.output.removesuffix(".o") + ".cpp"
    with open(text, "w", encoding="utf-8") as file:
        file.write(TEXT)
    of_compiler = options.depfile or options.output + ".d"
    files = compile_file([*compiler.command(is_cuda=False), "-c", text, "-o", options.output], of_compiler)
    return [options.settings, options.source, *(file for file in files if file != text)]


def compile_with(compiler, options):
    files = [options.settings]
    text = options.source
    is_cuda, is_c = options.source.endswith(".cu"), options.source.endswith(".c")
    command = compiler.command(is_cuda, is_c)
    if is_cuda and compiler.is_precompiled:
        header = PrecompiledHeader(compiler, options.headers)
        header.make()
        command += header.how_to_use
    if is_cuda:
        stem = options.output.removesuffix(".o")
        text = stem + ("" if stem.endswith(".cu") else ".cu") + ".cpp"
        rewritten = rewrite(options.source, text, options.include_folders() + compiler.include_folders, options.is_linked,
                            options.forced, options.is_exercise())
        files += rewritten
        if casts_pointers(rewritten, compiler.include_folders):
            command += FLAGS_OF_CASTS
        command += ["-include", "cuda_runtime.h"]  # as nvcc does
    else:
        command += options.forced_flags()
    command += ["-iquote", os.path.dirname(options.source) or ".", *options.flags]
    of_compiler = options.depfile or options.output + ".d"
    try:
        files += compile_file([*command, "-c", text, "-o", options.output], of_compiler)
    except Failed as failure:
        raise Failed((is_c and cuda_in_c(text)) or str(failure), failure.exit_code) from failure
    if options.depfile:
        return [file for file in files if not is_cuda or os.path.normpath(file) != os.path.normpath(text)]
    os.unlink(of_compiler)
    return files


def write_refusals(options, said):
    """For ./course run, which tells them apart from other errors."""
    if options.refusals:
        Path(options.refusals).write_text(json.dumps(refusals_in(said)), encoding="utf-8")


def main(arguments):
    """The exit code."""
    try:
        if arguments[:1] == ["--find"]:
            print(find_compiler(arguments[1], arguments[2:]))
            return 0
        options = Options(arguments, __doc__)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return failure.exit_code
    try:
        write_refusals(options, "")  # those of the run before are no longer true
        if options.only_rewrites:
            files = rewrite(options.source, options.output, options.include_folders(), options.is_linked, options.forced,
                            options.is_exercise())
        else:
            files = compile_source(options)
        if options.depfile:
            depfile.write(options.depfile, options.output, [*files, *depfile.own_files()])
    except Failed as failure:
        write_refusals(options, str(failure))
        if str(failure):
            print(failure, file=sys.stderr)
        return failure.exit_code
    except OSError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
