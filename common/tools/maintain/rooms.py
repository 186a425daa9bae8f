"""The rooms of the tools are built in layers: a module imports from its own room and from those below, never sideways or up."""

import ast

# From the bottom to the top; rooms of one layer do not know each other. common/tools/__init__.py says what each has.
LAYERS = (
    ("lib",), ("build",), ("check", "trace", "verdicts"), ("run",), ("learn", "measure", "teach"), ("site",), ("maintain",),
    ("tests",),
)
LEVELS = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}


def room_of(module):
    """The room of a module such as tools.lib.rows; build for common/build; None for a module from elsewhere."""
    parts = module.split(".")
    return "build" if parts[0] == "build" else parts[1] if parts[0] == "tools" and len(parts) > 1 else None


def imported(text):
    """(line, module) of all imports of a source, those in functions too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "tools" else [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names)


def wrong_imports(common):
    """A line for each import that does not go downward, and for each room that no layer names."""
    problems = []
    for file in sorted([*(common / "tools").glob("*/**/*.py"), *(common / "build").rglob("*.py")]):
        name = file.relative_to(common).as_posix()
        room = room_of(name.removesuffix(".py").replace("/", "."))
        if room not in LEVELS:
            problems.append(f"common/{name}: its room {room} is in no layer of common/tools/maintain/rooms.py")
            continue
        for line, module in imported(file.read_text(encoding="utf-8")):
            other = room_of(module)
            if other is not None and other != room and LEVELS.get(other, len(LAYERS)) >= LEVELS[room]:
                problems.append(f"common/{name}:{line}: {room} imports {module}, whose room is not in a layer below")
    return problems
