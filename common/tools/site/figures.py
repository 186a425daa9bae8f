"""Plots and pictures of the pages that answer to a reader: an extension of Sphinx.

A plot is put into the page as it was drawn, and each of its marks says its value when a reader points at it or
reaches it with the Tab key; the values are those of the plot's description (measure/plots.py). Below a picture
of lanes that was recorded, a frame steps through the recording; it is recorded anew when the site is built, by
the programs of the build folder `course_build`. A picture whose program is not there, or cannot record, has no steps.
"""

import html
import os
import re
from pathlib import Path, PurePosixPath

from docutils import nodes
from tools.lib import chapter as metadata
from tools.lib.documents import gathered
from tools.lib.failed import Failed
from tools.measure import documents, plot_svg
from tools.trace import stepper
from tools.trace.run_recorded import recorded

USE = re.compile(r"<use ([^>]*)/>")
BAR = re.compile(r'<g id="patch_\d+"><path d="M ([^"]*)"[^>]*style="fill: (?!none)[^"]*stroke:[^>]*/></g>')
FRAME = '<div class="drawing wide">'  # on a narrow page a drawing keeps its size, and is scrolled
REACH = 11  # points around a mark that belong to it


# ---- plots ---------------------------------------------------------------------------------------


def values_of(description):
    """What each mark of a plot says, in the order in which they are drawn."""
    if description["kind"] == "ladder":
        rows = [row for group in description["groups"] for row in group["rows"]]
        ratios = description["ratios"].replace("× vendor", "of the vendor's speed").replace("times as fast", "as fast as the row it is compared with")
        return [
            f"{row['name']}: {row['time_text']} µs" + (f", {row['ratio']} {ratios}" if row["ratio"] else "") for row in rows
        ]
    if description["kind"] == "curves":
        texts = dict(zip(sorted({x for line in description["series"] for x, _ in line["points"]}), description["x_texts"]))
        return [
            f"{line['name']}, at {texts[x]}: {y:,.4g} {description['unit']}" for line in description["series"] for x, y in line["points"]
        ]
    return []


def with_values(svg, values):
    """The SVG whose first marks can be pointed at and reached with Tab, and say these values."""
    said = iter(values)

    def with_value(mark):
        value = next(said, None)
        if value is None:
            return mark[0]
        x, y = (re.search(rf'\b{key}="([^"]*)"', mark[1])[1] for key in "xy")
        text = html.escape(value)
        return f'<g class="value" tabindex="0" role="img" aria-label="{text}">{mark[0]}<circle cx="{x}" cy="{y}" r="{REACH}"/></g>'

    svg = USE.sub(with_value, svg)
    if (left := sum(1 for _ in said)) > 0:
        raise Failed(f"a plot has {left} marks fewer than values")
    return svg


def inline(svg, name, values):
    """A plot's SVG for a page: without an XML head, with ids of its own, and the colours left to colours.css."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\n?|<style>@media.*?</style>\n?", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="|url\(#|xlink:href="#', lambda found: f"{found[0]}{name}-", svg)
    finding = re.search(r"<title>(.*?)</title>", svg)[1]
    svg = svg.replace(f"<title>{finding}</title>", "", 1)  # else it covers the values
    svg = re.sub(r"<svg[^>]*?(viewBox=\"[^\"]*\")[^>]*>", rf'<svg class="plot" \1 role="group" aria-label="{finding}">', svg, count=1)
    return with_values(svg, values)


def colours():
    """colours.css: what matplotlib writes for light pages, and what dark ones show instead."""
    return "".join(
        f'svg.plot [style*="{what}: {light}"] {{ {what}: light-dark({light}, {dark}) !important }}\n'
        for light, dark in plot_svg.DARK.items() for what in ("fill", "stroke")
    )  # fmt: skip


def plots_of(top):
    """{file: description} of all plots of the course."""
    found, problems = gathered(documents.of_checkout(top))
    if problems:
        raise Failed("\n".join(problems))
    return {document.file: document.description for document in found if isinstance(document, documents.Plot)}


# ---- pictures ------------------------------------------------------------------------------------


def frame_of(svg):
    """The frame of a drawing, which is never enlarged: its width is at most the one that the SVG asks for, and on a
    narrow page not less than its coordinates have, or 620 pixels."""
    head = re.search(r"<svg[^>]*>", svg)[0]
    drawn, width = (float(re.search(what, head)[1]) for what in (r'viewBox="\S+ \S+ ([\d.]+)', r'\bwidth="([\d.]+)'))
    return FRAME.replace(">", f' style="--least: {min(drawn, width, 620):g}px; --most: {width:g}px">')


def pictures_of(top):
    """{file: (its [[picture]], chapter)} of the drawings of what lanes did."""
    return {
        chapter.folder / "pictures" / entry["output"]: (entry, chapter)
        for chapter in metadata.load_all(top) for entry in chapter.pictures if "kernel" in entry
    }  # fmt: skip


def steps_of(app, file):
    """Where the page with a picture's steps is, seen from the site's top; None if it cannot be recorded."""
    entry, chapter = app.lane_pictures[file]
    try:
        trace, choice = recorded(entry, chapter.folder, Path(app.config.course_build))
    except Failed:
        if app.config.course_all_steps:
            raise
        app.without_steps.append(file.relative_to(app.srcdir).as_posix())
        return None
    name = file.relative_to(app.srcdir).with_suffix(".html")
    target = Path(app.outdir, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(stepper.page(trace, choice), encoding="utf-8")
    return name.as_posix()


def steps(uri, alt):
    """The frame with the steps, which is loaded when it is opened."""
    return (
        '<details class="steps"><summary>Step through it</summary>'
        f'<iframe loading="lazy" src="{uri}" title="{html.escape(f"Steps: {alt}")}"></iframe>'
        f'<p><a href="{uri}">The steps on a page of their own</a></p></details>'
    )


# ---- pages ---------------------------------------------------------------------------------------


def replace_images(app, doctree):
    """Plots go into the page; pictures get their steps."""
    folder = Path(app.srcdir, app.env.docname).parent
    for node in list(doctree.findall(nodes.image)):
        paragraph = node.parent
        if not isinstance(paragraph, nodes.paragraph) or len(paragraph) > 1:
            continue  # a badge
        file = Path(os.path.normpath(folder / node["uri"]))
        alt = node.get("alt", "")
        if file in app.plots:
            svg = inline(file.read_text(encoding="utf-8"), file.stem, values_of(app.plots[file]))
            new = [nodes.raw("", f"{FRAME}{svg}</div>", format="html")]
        elif file.suffix == ".svg":
            new = [nodes.raw("", frame_of(file.read_text(encoding="utf-8")), format="html"), node.deepcopy(), nodes.raw("", "</div>", format="html")]
            if file in app.lane_pictures:
                if file not in app.steps:
                    app.steps[file] = steps_of(app, file)
                if app.steps[file]:
                    uri = os.path.relpath(app.steps[file], PurePosixPath(app.env.docname).parent)
                    new.append(nodes.raw("", steps(uri, alt), format="html"))
        else:
            continue
        paragraph.parent.replace(paragraph, new)  # a block may not be inside <p>


def prepare(app):
    top = Path(app.srcdir)
    app.plots, app.lane_pictures = plots_of(top), pictures_of(top)
    app.steps, app.without_steps = {}, []


def finish(app, error):
    """Writes colours.css; says what is left out."""
    if error is None:
        Path(app.outdir, "_static", "colours.css").write_text(colours(), encoding="utf-8")
        if app.without_steps:
            print(f"{len(app.without_steps)} pictures have no steps, as {app.config.course_build} does not have their programs")


def setup(app):
    app.add_config_value("course_build", "build", "env")
    app.add_config_value("course_all_steps", False, "env")
    app.connect("builder-inited", prepare)
    app.connect("doctree-read", replace_images, priority=400)  # before Sphinx gathers the images that are left
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
