"""Sizes, colours and style rules of a picture; they follow the reader's light or dark scheme."""

import colorsys
import re

from tools.lib.svg import one_line
from tools.trace.recording import WARP

WIDTH = 900
PITCH = 26  # from lane to lane, and from sector to sector
LEFT = 58  # where lane 0 begins
RIGHT = LEFT + WARP * PITCH
MARGIN = 10
CELL = 18  # height of a lane's cell
VALUE_LINE = 10  # height of a further line in a cell
FLOW = 26  # height of the lines between lanes and memory
MONO_CHAR, SANS_CHAR, SMALL_CHAR = 7.3, 6.7, 5.6  # width of a character, on the wide side: 12 px, 9.5 px

STYLE = """
svg { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif; }
.page { fill: #ffffff; stroke: #d0d7de; }
text { fill: #1f2328; }
.soft { fill: #59636e; }
.small { font-size: 9.5px; }
.tiny { font-size: 8.5px; }
.mono, .value { font-family: ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", Consolas, monospace; }
.value { font-size: 9.5px; text-anchor: middle; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.strong { font-weight: 600; }
.head { font-size: 14px; font-weight: 600; }
.rule { stroke: #d0d7de; }
.cell { fill-opacity: 0.34; stroke-width: 1; }
.idle { fill: url(#hatch); stroke: #afb8c1; }
.hatch { stroke: #afb8c1; stroke-width: 1.2; }
.gone { fill: #818b98; }
.box { fill: none; stroke: #818b98; }
.many { fill: #59636e; stroke: none; }
.full { stroke-width: 0; }
.flow { stroke-width: 1.3; }
.own { fill: none; stroke: #818b98; stroke-dasharray: 2 2; }
.bar { fill: #59636e; }
.on-bar { fill: #ffffff; font-weight: 600; }
.part-bar { fill: none; stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 5 3; }
.finding { fill: #ffebe9; stroke: #cf222e; stroke-width: 1.5; }
.finding-text { fill: #a40e26; font-weight: 600; }
.mark { fill: #cf222e; }
"""
DARK = """
.page { fill: #0d1117; stroke: #3d444d; }
text { fill: #f0f6fc; }
.soft { fill: #a2abb5; }
.rule { stroke: #3d444d; }
.idle { stroke: #565d66; }
.hatch { stroke: #565d66; }
.gone { fill: #7d8590; }
.box { stroke: #7d8590; }
.many { fill: #a2abb5; }
.own { stroke: #7d8590; }
.bar { fill: #a2abb5; }
.on-bar { fill: #0d1117; }
.part-bar { stroke: #a2abb5; }
.finding { fill: #3a1518; stroke: #f85149; }
.finding-text { fill: #ff9492; }
.mark { fill: #f85149; }
"""


HATCH = (
    '<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path d="M0 0V5" class="hatch"/></pattern></defs>'
)


def lane_colours():
    """A colour for each lane, from blue over green and orange to violet, readable on light and on dark."""
    colours = []
    for lane in range(WARP):
        hue = (215 - lane * 290 / (WARP - 1)) % 360
        red, green, blue = colorsys.hls_to_rgb(hue / 360, 0.47, 0.62)
        colours.append(f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}")
    return colours


def lane_rules():
    """The colours of lanes, and of the lines between them."""
    lanes = " ".join(f".L{lane} {{ fill: {colour}; stroke: {colour}; }}" for lane, colour in enumerate(lane_colours()))
    return f"{lanes} .flow {{ fill: none; }}"


def style_element():
    """The <style> of a picture, on three lines: the rules, the lanes' colours, and what a dark page changes."""
    dark = f"@media (prefers-color-scheme: dark) {{ {one_line(DARK)} }}"
    return f"<style>{one_line(STYLE)}\n{lane_rules()}\n{dark}</style>"


def declarations(rules):
    """[(selector, {property: value})] of style rules, in their order."""
    return [
        (selector.strip(), dict(re.findall(r"([\w-]+): ([^;]*);", body)))
        for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", rules) for selector in selectors.split(",")
    ]  # fmt: skip


def in_page(style, dark, svg):
    """The style rules of a drawing for one that is an element of a page, in the page's own scheme; the selector `svg` chooses it."""
    dark, rules = dict(declarations(dark)), []
    for selector, body in declarations(style):
        changed = dark.get(selector, {})
        selector = svg if selector == "svg" else f"{svg} {selector}"
        texts = [f"{what}: {f'light-dark({value}, {changed[what]})' if what in changed else value}" for what, value in body.items()]
        rules.append(f"{selector} {{ {'; '.join(texts)} }}\n")
    return "".join(rules)


def sheet_for(scope):
    """The style rules for pictures that are elements of a page, of class `scope`."""
    return in_page(STYLE + lane_rules(), DARK, f"svg.{scope}").replace("url(#hatch)", "var(--hatch)")
