"""The command line of simtcc.py."""

from tools.lib.failed import Failed


class Options:
    """What is asked for. Options that are not our own are the compiler's: `flags`."""

    def __init__(self, arguments, usage):
        self.source = self.output = self.depfile = self.settings = self.refusals = None
        self.headers = "kernel"
        self.is_linked = self.only_rewrites = self.is_of_learner = False
        self.flags = []
        self.forced = []  # headers that come before the source
        places = {"-o": "output", "-MF": "depfile", "--settings": "settings", "--headers": "headers", "--refusals": "refusals"}
        remaining = iter(arguments)
        for argument in remaining:
            if argument in places:
                setattr(self, places[argument], next(remaining, None))
            elif argument == "-rdc=true":
                self.is_linked = True
            elif argument == "--learner":
                self.is_of_learner = True
            elif argument == "--rewrite":
                self.only_rewrites = True
            elif argument.startswith("-include"):
                self.forced.append(argument.removeprefix("-include"))
            elif argument.startswith("-"):
                self.flags.append(argument)
            elif self.source is None:
                self.source = argument
            else:
                raise Failed(f"simtcc.py: one source at a time, not {self.source} and {argument}")
        if not (self.source and self.output and (self.settings or self.only_rewrites)):
            raise Failed(usage)

    def is_exercise(self):
        """True for an answer; false for the course's own files and for a program of the learner's own."""
        return self.is_of_learner and self.headers == "kernel"

    def include_folders(self):
        return [flag[2:] for flag in self.flags if flag.startswith("-I")]

    def forced_flags(self):
        return [word for name in self.forced for word in ("-include", name)]
