"""Plots and pictures of the pages that answer to a reader: an extension of Sphinx.

A plot is put into the page as it was drawn, and each of its marks says its value when a reader points at it or
reaches it with the Tab key; the values are those of the plot's description (measure/plots.py). A phone shows
lines of text instead (plot_rows.py). A picture that was
recorded is put into the page, too, with a script that steps through it (trace/stepper.py).
"""

import html
import os
import re
from pathlib import Path

from docutils import nodes
from tools.lib import chapter as metadata
from tools.lib.documents import gathered
from tools.lib.failed import Failed
from tools.lib.numbers_html import with_raised_exponents
from tools.measure import documents, plot_svg, way
from tools.site import plot_rows
from tools.trace import stepper, svg_style

USE = re.compile(r"<use ([^>]*)/>")  # a point
BAR = re.compile(r'<path d="M ([^"]*)"[^>]*style="fill: (?!none)[^"]*stroke:[^>]*/>')
RECT = re.compile(r'<rect ([^>]*)class="(?:rung|better)"/>')  # a bar of the way
MARKS = {"ladder": USE, "curves": USE, "ratios": BAR, "way": RECT}
FRAME = '<div class="drawing wide">'  # on a narrow page a drawing keeps its size, and is scrolled
REACH = 11  # points around a mark that belong to it


# ---- plots ---------------------------------------------------------------------------------------


def values_of(description):
    """What each mark of a plot says, in the order in which they are drawn."""
    if description["kind"] in ("ladder", "way"):
        rows = [row for group in description["groups"] for row in group["rows"]]
        names = [group["line_name"] for group in description["groups"] for _ in group["rows"]]
        return [
            f"{row['name']}: {row['time_text']} µs" + (f", {row['ratio']} against {name}" if row["ratio"] else "")
            for row, name in zip(rows, names)
        ]
    if description["kind"] == "ratios":
        return [f"{row['name']}: {row['ratio_text']} against {row['against']}" for row in description["rows"]]
    if description["kind"] == "curves":
        texts = dict(zip(sorted({x for line in description["series"] for x, _ in line["points"]}), description["x_texts"]))
        return [
            f"{line['name']}, at {texts[x]}: {y:,.4g} {description['unit']}" for line in description["series"] for x, y in line["points"]
        ]
    return []


def place_of(mark):
    """(x, y) of a point, the middle of a bar, or where a bar of the way ends."""
    if mark.re is USE:
        return tuple(re.search(rf'\b{key}="([^"]*)"', mark[1])[1] for key in "xy")
    if mark.re is RECT:
        x, y, width, height = (float(re.search(rf'\b{key}="([^"]*)"', mark[1])[1]) for key in ("x", "y", "width", "height"))
        return f"{x + width:g}", f"{y + height / 2:g}"
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", mark[1])]
    return tuple(f"{(min(part) + max(part)) / 2:g}" for part in (numbers[::2], numbers[1::2]))


def with_values(svg, values, marks=USE):
    """The SVG whose first marks can be pointed at and reached with Tab, and say these values."""
    said = iter(values)

    def with_value(mark):
        value = next(said, None)
        if value is None:
            return mark[0]
        x, y = place_of(mark)
        text = html.escape(value)
        return f'<g class="value" tabindex="0" role="img" aria-label="{text}">{mark[0]}<circle cx="{x}" cy="{y}" r="{REACH}"/></g>'

    svg = marks.sub(with_value, svg)
    if (left := sum(1 for _ in said)) > 0:
        raise Failed(f"a plot has {left} marks fewer than values")
    return svg


def inline(svg, name, description, alt):
    """A plot's SVG for a page: without an XML head, with ids of its own, and the colours left to colours.css. `alt` says what the page
    says of it, where the plot itself has no finding."""
    svg = svg[svg.index("<svg") :]
    # Its title would cover the values.
    svg = re.sub(r"<metadata>.*?</metadata>\n?|<style>.*?</style>\n?|<title.*?</title>\n?|<desc.*?</desc>\n?", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="|url\(#|xlink:href="#', lambda found: f"{found[0]}{name}-", svg)
    kind, label = description["kind"], html.escape(description.get("finding", alt))
    svg = re.sub(r"<svg[^>]*?(viewBox=\"[^\"]*\")[^>]*>", lambda found: (
        f'<svg class="plot" data-kind="{kind}" {found[1]} role="group" aria-label="{label}">'), svg, count=1)
    return with_values(with_raised_exponents(svg), values_of(description), MARKS[kind])


def colours():
    """colours.css: what matplotlib writes for light pages, and what dark ones show instead; the style of the way."""
    return "".join(
        f'svg.plot [style*="{what}: {light}"] {{ {what}: light-dark({light}, {dark}) !important }}\n'
        for light, dark in plot_svg.DARK.items() for what in ("fill", "stroke")
    ) + svg_style.in_page(*way.rules(), 'svg[data-kind="way"]')  # fmt: skip


def plots_of(top):
    """{file: description} of all plots of the course, and of the way."""
    found, problems = gathered(documents.of_checkout(top))
    if problems:
        raise Failed("\n".join(problems))
    return {document.file: document.description for document in found if isinstance(document, (documents.Plot, documents.WayDrawing))}


# ---- pictures ------------------------------------------------------------------------------------


def pictures_of(top):
    """The files of the drawings of what lanes did."""
    return {
        chapter.folder / "pictures" / entry["output"]
        for chapter in metadata.load_all(top) for entry in chapter.pictures if "kernel" in entry
    }  # fmt: skip


# ---- pages ---------------------------------------------------------------------------------------


def frame_of(svg):
    """The frame of a drawing that says its size."""
    return FRAME.replace(">", f" {stepper.size_of(svg)}>")


def replace_images(app, doctree):
    """Plots go into the page; pictures get their steps."""
    folder = Path(app.srcdir, app.env.docname).parent
    for node in list(doctree.findall(nodes.image)):
        paragraph = node.parent
        if not isinstance(paragraph, nodes.paragraph) or len(paragraph) > 1:
            continue  # a badge
        file = Path(os.path.normpath(folder / node["uri"]))
        alt = node.get("alt", "")
        if file.suffix != ".svg":
            continue
        svg = file.read_text(encoding="utf-8")
        if file in app.plots:
            plot = app.plots[file]
            frame = frame_of(svg) if plot["kind"] == "way" else FRAME
            new = [nodes.raw("", f"{frame}{inline(svg, file.stem, plot, alt)}</div>{plot_rows.of(plot)}", format="html")]
        elif file in app.lane_pictures:
            new = [nodes.raw("", stepper.figure(svg, file.stem, alt, file.stem), format="html")]
        else:
            new = [nodes.raw("", frame_of(svg), format="html"), node.deepcopy(), nodes.raw("", "</div>", format="html")]
        paragraph.parent.replace(paragraph, new)  # a block may not be inside <p>


def prepare(app):
    top = Path(app.srcdir)
    app.plots, app.lane_pictures = plots_of(top), pictures_of(top)


def finish(app, error):
    """Writes the style sheets and the script that are made, or are also those of pages for one run."""
    if error is None:
        for name, text in (("colours.css", colours()), ("stepper.css", stepper.style()), ("stepper.js", stepper.script())):
            Path(app.outdir, "_static", name).write_text(text, encoding="utf-8")


def setup(app):
    app.connect("builder-inited", prepare)
    app.connect("doctree-read", replace_images, priority=400)  # before Sphinx gathers the images that are left
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": False}
