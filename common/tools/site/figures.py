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
from tools.measure import documents, plot_svg
from tools.site import plot_rows
from tools.trace import stepper

USE = re.compile(r"<use ([^>]*)/>")  # a point
BAR = re.compile(r'<path d="M ([^"]*)"[^>]*style="fill: (?!none)[^"]*stroke:[^>]*/>')
FRAME = '<div class="drawing wide">'  # on a narrow page a drawing keeps its size, and is scrolled
REACH = 11  # points around a mark that belong to it


# ---- plots ---------------------------------------------------------------------------------------


def values_of(description):
    """What each mark of a plot says, in the order in which they are drawn."""
    if description["kind"] == "ladder":
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


def middle_of(mark):
    """(x, y) of a point, or the middle of a bar."""
    if mark.re is USE:
        return tuple(re.search(rf'\b{key}="([^"]*)"', mark[1])[1] for key in "xy")
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", mark[1])]
    return tuple(f"{(min(part) + max(part)) / 2:g}" for part in (numbers[::2], numbers[1::2]))


def with_values(svg, values, marks=USE):
    """The SVG whose first marks can be pointed at and reached with Tab, and say these values."""
    said = iter(values)

    def with_value(mark):
        value = next(said, None)
        if value is None:
            return mark[0]
        x, y = middle_of(mark)
        text = html.escape(value)
        return f'<g class="value" tabindex="0" role="img" aria-label="{text}">{mark[0]}<circle cx="{x}" cy="{y}" r="{REACH}"/></g>'

    svg = marks.sub(with_value, svg)
    if (left := sum(1 for _ in said)) > 0:
        raise Failed(f"a plot has {left} marks fewer than values")
    return svg


def inline(svg, name, description):
    """A plot's SVG for a page: without an XML head, with ids of its own, and the colours left to colours.css."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\n?|<style>@media.*?</style>\n?", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="|url\(#|xlink:href="#', lambda found: f"{found[0]}{name}-", svg)
    finding = re.search(r"<title>(.*?)</title>", svg)[1]
    svg = svg.replace(f"<title>{finding}</title>", "", 1)  # else it covers the values
    svg = re.sub(r"<svg[^>]*?(viewBox=\"[^\"]*\")[^>]*>", rf'<svg class="plot" \1 role="group" aria-label="{finding}">', svg, count=1)
    return with_values(with_raised_exponents(svg), values_of(description), BAR if description["kind"] == "ratios" else USE)


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


def pictures_of(top):
    """The files of the drawings of what lanes did."""
    return {
        chapter.folder / "pictures" / entry["output"]
        for chapter in metadata.load_all(top) for entry in chapter.pictures if "kernel" in entry
    }  # fmt: skip


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
            svg = inline(file.read_text(encoding="utf-8"), file.stem, app.plots[file])
            new = [nodes.raw("", f"{FRAME}{svg}</div>{plot_rows.of(app.plots[file])}", format="html")]
        elif file.suffix == ".svg":
            svg = file.read_text(encoding="utf-8")
            if file in app.lane_pictures:
                new = [nodes.raw("", stepper.figure(svg, file.stem, alt, file.stem), format="html")]
            else:
                frame = FRAME.replace(">", f" {stepper.size_of(svg)}>")
                new = [nodes.raw("", frame, format="html"), node.deepcopy(), nodes.raw("", "</div>", format="html")]
        else:
            continue
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
