"""compile_commands.json: how a project compiles its files (clang.llvm.org/docs/JSONCompilationDatabase.html)."""

import json
import os
import shlex
from pathlib import Path

from tools.lib.failed import Failed
from tools.run.compiler_options import CompilerOptions

NAME = "compile_commands.json"


class CompileCommands:
    """The entries of a file, or of the one in a folder."""

    def __init__(self, name):
        self.file = os.path.join(name, NAME) if os.path.isdir(name) else name
        self.of = {}  # the true path of a source: its entries
        try:
            entries = json.loads(Path(self.file).read_text(encoding="utf-8"))
            if not isinstance(entries, list):
                raise TypeError("it has no list of entries")
            for entry in entries:
                path = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
                self.of.setdefault(path, []).append(entry)
        except OSError as error:
            raise Failed(f"{self.file} cannot be read: {error.strerror}. CMake writes it with "
                         "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON.", 2) from error
        except (ValueError, KeyError, TypeError) as error:
            raise Failed(f"{self.file} is not in the format of {NAME}: {type(error).__name__}: {error}.", 2) from error

    def options_of(self, source):
        """The options that its entry has for a file, and what to say of them: lines."""
        options, entries = CompilerOptions(), self.of.get(os.path.realpath(source), [])
        if not entries:
            return options, [f"{self.file} has no entry of this file"]
        try:
            words = entries[0].get("arguments") or shlex.split(entries[0]["command"])
        except (ValueError, KeyError, TypeError) as error:
            raise Failed(f"{self.file} has no command for {source} that can be read: {type(error).__name__}: {error}.", 2) from error
        options.read(words[1:], entries[0]["directory"])
        remarks = [f"{option} of {self.file} {why}" for option, why in options.remarks.items()]
        remarks += [f"{option} of {self.file} is not known here, and has no effect" for option in options.unknown]
        if len({json.dumps(entry) for entry in entries}) > 1:
            remarks.append(f"{self.file} has {len(entries)} entries of this file: the first one is taken")
        return options, remarks
