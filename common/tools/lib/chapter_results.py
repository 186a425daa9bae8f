"""The files of a chapter's results, and the devices that they come from.

chapters/NN-topic/results/SLUG.json are the times of a ladder, SLUG-profile.json, SLUG-sectors.json and
SLUG-verdicts.json what ncu, the counts of sectors and the tests said. Each names its "device"; SLUG is made of
that name. Tables and plots show the reference device: the one that chapters/measured.toml names, or the only
one that there is. The best rungs of the devices that it names as `beside` are shown beside those of the reference.
common/docs/schemas.md describes what is in the files.
"""

import json
import re
import tomllib
from pathlib import Path

from tools.lib.checkout import TOP
from tools.lib.failed import Failed

TIMES, PROFILE, SECTORS, VERDICTS = "", "profile", "sectors", "verdicts"
SCHEMAS = {TIMES: "course.ladder", PROFILE: "course.profile", SECTORS: "course.sectors", VERDICTS: "course.verdicts"}
VERSION = 1
CPU = "CPU device"
REFERENCE = Path("chapters") / "measured.toml"


def slug(device):
    """A device's name as file names have it: "NVIDIA A100-SXM4" is a100-sxm4."""
    words = re.findall(r"[a-z0-9]+", device.lower())
    return "-".join(word for word in words if word != "nvidia")


def short_name(device):
    """What tables call a device: "NVIDIA H100 80GB HBM3" is H100."""
    return device.removeprefix("NVIDIA ").partition(" ")[0]


def file_name(device, kind=TIMES):
    """The name of the file with a device's results of this kind."""
    return f"{slug(device)}-{kind}.json" if kind else f"{slug(device)}.json"


def file_of(chapter, device, kind=TIMES):
    """The file with a chapter's results; it need not exist."""
    return chapter / "results" / file_name(device, kind)


def kind_of(file):
    """Which kind of results a file has, by its name."""
    return next((kind for kind in (PROFILE, SECTORS, VERDICTS) if file.stem.endswith(f"-{kind}")), TIMES)


def read(file):
    """The results in a file; Failed if they are of another kind or device than its name says."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Failed(f"{file}: {error}") from error
    schema = SCHEMAS[kind_of(file)]
    if not isinstance(content, dict) or (content.get("schema"), content.get("version")) != (schema, VERSION):
        raise Failed(f"{file}: has no \"schema\": \"{schema}\", \"version\": {VERSION}")
    if file.name != file_name(content["device"], kind_of(file)):
        raise Failed(f"{file}: is of {content['device']}, and should be named {file_name(content['device'], kind_of(file))}")
    return content


def by_device(chapter, kind=TIMES):
    """{device: results} of all devices that the chapter has results of this kind of."""
    files = sorted(file for file in (chapter / "results").glob("*.json") if kind_of(file) == kind)
    return {content["device"]: content for content in map(read, files)}


def chapters_of(top=TOP):
    """The folders of all chapters, in their order."""
    return sorted(folder for folder in (top / "chapters").glob("[0-9][0-9]-*") if folder.is_dir())


def measured(top):
    """What chapters/measured.toml says; {} without the file."""
    file = top / REFERENCE
    if not file.exists():
        return {}
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
        return {"reference": found["reference"], "beside": found.get("beside", []), "shown": found.get("shown", []), "way": found.get("way")}
    except (KeyError, tomllib.TOMLDecodeError) as error:
        raise Failed(f"{file}: needs a line reference = \"the name of a device\" ({error})") from error


def of_gpu(chapter, kind=TIMES):
    """The chapter's results on the reference GPU, or on the only one; None if it has not been measured."""
    found = {device: results for device, results in by_device(chapter, kind).items() if device != CPU}
    reference = measured(chapter.parents[1]).get("reference")
    if reference in found:
        return found[reference]
    if len(found) > 1:
        raise Failed(
            f"{chapter}: results of {', '.join(found)}, and {REFERENCE} names {reference or 'none of them'}: "
            "which of them do tables and plots show?"
        )
    return next(iter(found.values()), None)


def beside(top):
    """The devices whose best rungs are shown beside those of the reference, in their order."""
    return measured(top).get("beside", [])


def of_device(chapter, device):
    """The chapter's times on a device; None if it has not been measured on it."""
    return by_device(chapter).get(device)


def of_machine(chapter, machine):
    """The times of a [[machine]] that the chapter's chapter.toml names."""
    device = machine["device"]
    found = of_device(chapter, device)
    if found is None:
        raise Failed(f"{chapter / 'chapter.toml'}: 'machine' names {device}, but {file_of(chapter, device)} is missing")
    return found


def of_cpu(chapter, kind):
    """The chapter's results on the CPU device, or None."""
    return by_device(chapter, kind).get(CPU)
