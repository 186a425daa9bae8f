"""Steps through a drawing: the figure of a page whose script (stepper.js) goes from row to row of the drawing itself.

Without a script the figure is the plain drawing. The site has such figures in its lessons (site/figures.py); page() is
a whole page for one run, with everything that it shows in the file.
"""

import html
import re
from pathlib import Path

from tools.lib.svg import escape
from tools.trace import picture_svg, recording, svg_style
from tools.trace.choosing import Choice, describe_launch, events_of, warps_of
from tools.trace.narrow import WIDTH as NARROW
from tools.trace.sentences import count

HERE = Path(__file__).parent
SCOPE = "lanes"  # the class of a drawing in a page
STEP = re.compile(r'<g class="step" data-at="([^"]*):(\d+)"')
ROWS_OF_A_DRAWING, ROWS_OF_A_PAGE = 200, 600  # some megabytes
AROUND = 2  # lines shown beside those of the steps where no function is found around them


# ---- a figure --------------------------------------------------------------------------------------


def functions_around(source, lines):
    """The numbers of the lines to show: the functions, from column 0 to a brace in column 0, that have one of `lines`."""
    shown = set()
    for line in lines:
        begin = next((k for k in range(line, 0, -1) if re.match(r"[A-Za-z_]", source[k - 1])), None) if line <= len(source) else None
        end = next((k for k in range(line, len(source) + 1) if source[k - 1].startswith("}")), None)
        if begin is None or end is None:
            shown.update(range(line - AROUND, line + AROUND + 1))
            continue
        while begin > 1 and re.match(r"template|\[\[|__", source[begin - 2]):
            begin -= 1
        shown.update(range(begin, end + 1))
    return sorted(line for line in shown if 1 <= line <= max(len(source), *lines))


def listing(svg):
    """The code of a drawing's steps, a line for each line of code; those with steps can be chosen."""
    lines_of = {}
    for file, line in STEP.findall(svg):
        lines_of.setdefault(html.unescape(file), set()).add(int(line))
    parts = []
    for file, lines in lines_of.items():
        source, last = recording.source_lines(file), None
        parts.append(f'<p class="soft">{escape(file)}</p>')
        for line in functions_around(source, lines):
            if last is not None and line > last + 1:
                parts.append('<p class="soft">…</p>')
            text = escape(source[line - 1]) if line <= len(source) else ""
            tag = "button" if line in lines else "div"
            parts.append(f'<{tag} class="line" data-at="{html.escape(file)}:{line}"><b>{line}</b> {text}</{tag}>')
            last = line
    return "\n".join(parts)


def inline(svg, name, alt):
    """A drawing's SVG for a page: its style is the page's (style()), its sentences are read step by step."""
    svg = re.sub(r'<title id="title">.*?</title>\n|<desc .*?</desc>\n|<style>.*?</style>\n', "", svg, flags=re.DOTALL)
    svg = svg.replace('id="hatch"', f'id="{name}-hatch"')
    return re.sub(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', lambda found: (
        f'<svg class="{SCOPE}" {found[1]} role="img" aria-label="{html.escape(alt)}" style="--hatch: url(#{name}-hatch)">'), svg, count=1)


def widths_of(svg):
    """The width of a drawing's coordinates, and the one that its SVG asks for."""
    head = re.search(r"<svg[^>]*>", svg)[0]
    return tuple(float(re.search(what, head)[1]) for what in (r'viewBox="\S+ \S+ ([\d.]+)', r'\bwidth="([\d.]+)'))


def size_of(svg):
    """The drawing is never enlarged: its width is at most the one that the SVG asks for, and on a narrow page not less
    than its coordinates have, or 620 pixels."""
    drawn, width = widths_of(svg)
    return f'style="--least: {min(drawn, width, 620):g}px; --most: {width:g}px"'


def figure(svg, name, alt, address=""):
    """The HTML of a drawing that can be stepped through: step 7 has the address #NAME-step=7, or #step=7 without a name there."""
    address = f"{address}-step" if address else "step"
    narrow = " narrow" if widths_of(svg)[0] <= NARROW else ""
    return (
        f'<figure class="steps{narrow}" id="{html.escape(name)}" data-address="{html.escape(address)}">\n'
        f'<div class="drawing wide" {size_of(svg)}>\n{inline(svg, name, alt)}</div>\n'
        f'<div class="code" role="group" aria-label="Code" hidden>\n{listing(svg)}\n</div>\n</figure>\n'
    )


def style():
    """The style sheet of figures, in pages that have the colours --page, --panel, --line, --ink, --soft, --link and --mark."""
    return svg_style.sheet_for(SCOPE) + (HERE / "stepper.css").read_text(encoding="utf-8")


def script():
    """What makes the figures of a page step."""
    return (HERE / "stepper.js").read_text(encoding="utf-8")


# ---- a page for one run ----------------------------------------------------------------------------


def warps_to_draw(launch):
    """The (block, warp) pairs of a launch that have events; one if it was stopped before anything was recorded."""
    return warps_of(launch) or ([(0, 0)] if launch["findings"] else [])


def choices_of_page(trace, chosen):
    """(the Choices that a page has room for, how many it has not): first the chosen one, the other warps of its launch, other launches."""
    numbers = sorted(range(len(trace["launches"])), key=lambda number: number != chosen.launch)
    wanted = [chosen] + [
        Choice(number, block, warp, "") for number in numbers for block, warp in warps_to_draw(trace["launches"][number])
        if (number, block, warp) != (chosen.launch, chosen.block, chosen.warp)
    ]  # fmt: skip
    kept, room = [], ROWS_OF_A_PAGE
    for choice in wanted:
        rows = min(len(events_of(trace["launches"][choice.launch], choice.block, choice.warp)), ROWS_OF_A_DRAWING)
        if rows <= room or not kept:
            kept.append(choice)
            room -= rows
    return kept, len(wanted) - len(kept)


def label_of(trace, choice):
    """A drawing as the page's list names it."""
    launch = trace["launches"][choice.launch]
    finding = ", with a finding" if launch["findings"] else ""
    test = f"; test: {launch['test']}" if launch.get("test") else ""
    return f"launch {choice.launch + 1}, {describe_launch(launch)}{finding}: block {choice.block}, warp {choice.warp}{test}"


def about(trace, left_out):
    """What the page does not have of a run."""
    return "; ".join(filter(None, [
        left_out and f"{count(left_out, 'more warp')} of this run: the options --launch, --block and --warp choose one",
        trace.get("launches_left_out") and f"{count(trace['launches_left_out'], 'later launch')} not recorded: the trace was full",
    ]))  # fmt: skip


def page(trace, choice):
    """The HTML of a page that steps through a run, and opens at `choice`."""
    choices, left_out = choices_of_page(trace, choice)
    figures, options = [], []
    for shown in sorted(choices):
        is_first = shown[:3] == choice[:3]
        name = f"launch-{shown.launch + 1}-block-{shown.block}-warp-{shown.warp}"
        label = label_of(trace, shown)
        svg = picture_svg.draw(trace, shown, rows=(1, ROWS_OF_A_DRAWING), whole=True)
        figures.append(figure(svg, name, label, "" if is_first else name))
        options.append(f'<option value="{name}"{" selected" if is_first else ""}>{escape(label)}</option>')
    parts = {
        "TITLE": escape(f"{trace['program']}: {describe_launch(trace['launches'][choice.launch])}"),
        "PROGRAM": escape(trace["program"]),
        "ABOUT": escape(about(trace, left_out)),
        "OPTIONS": "\n".join(options),
        "FIGURES": "".join(figures),
        "STYLE": style().rstrip(),
        "SCRIPT": script().rstrip(),
    }
    template = (HERE / "stepper.html").read_text(encoding="utf-8")
    return re.sub(f"@({'|'.join(parts)})@", lambda found: parts[found[1]], template)
