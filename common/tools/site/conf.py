"""Sphinx's settings for the course's web site. `common/dev site` runs Sphinx with this folder as its configuration.

The pages are the Markdown files of the repository as they are. pages.py finds them and makes the navigation,
source_pages.py shows the source files that they link to, figures.py makes plots and pictures answer to a reader,
exercise_cards.py makes cards, typesetting.py what Markdown cannot say, search_index.py finds sections, feed.py lists changes, share_cards.py
draws what a shared link shows.
"""

from tools.lib import repository
from tools.lib.checkout import TOP
from tools.site import pages

project = pages.title_of(TOP / "README.md").partition(":")[0]
language = "en"
extensions = ["myst_parser", *(f"tools.site.{name}" for name in ("pages", "source_pages", "figures", "exercise_cards", "typesetting", "search_index", "feed", "share_cards"))]
root_doc = "README"
source_suffix = {".md": "markdown"}
include_patterns = pages.PATTERNS
exclude_patterns = [*pages.NO_PAGES, *pages.build_folders(TOP)]

myst_heading_anchors = 6  # [text](page.md#heading), with the anchors of GitHub
# An exercise's own steps may begin two levels below its heading.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
smartquotes = False  # texts as they are written
highlight_language = "text"  # of a code block that names none

html_theme = "theme"
html_theme_path = ["."]
html_title = project
html_show_sourcelink = False
html_copy_source = False
html_use_index = False
html_domain_indices = False
html_additional_pages = pages.search_pages(TOP)
html_favicon = "theme/static/favicon.svg"
# The address where it is published, for search engines, shared links and the feed.
html_baseurl = repository.site(TOP)
