"""Sphinx's settings for the site; `site/build.py` runs it over pages whose commands have been run."""

from __future__ import annotations

from typing import Any

project = "rexmit"
copyright = "the rexmit authors; MIT licence"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
myst_enable_extensions = ["attrs_inline", "colon_fence"]
# Links to headings are GitHub's.
myst_heading_anchors = 4
html_theme = "furo"
html_title = "rexmit"
html_static_path = ["static"]
html_show_sphinx = False
html_copy_source = False
html_css_files = ["site.css"]
# Names between single quotes of docstrings are code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": False}
copybutton_prompt_text = "$ "


def setup(app: Any) -> None:
    """Docstrings are plain text; pages can be used without a mouse."""
    app.connect("autodoc-process-docstring", _docstring)
    # After the theme's own, which makes the list.
    app.connect("html-page-context", _reachable, priority=900)


def _reachable(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """ARIA asks for the level of a heading, and the keyboard has to reach whatever scrolls by itself."""
    listed = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = listed.replace('role="heading"', 'role="heading" aria-level="2"')
    body = context.get("body") or ""
    body = body.replace("<pre>", '<pre tabindex="0">')
    context["body"] = body.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')


def _docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Text keeps its stars and bars; a paragraph with lines further in is shown as it stands."""
    made: list[str] = []
    for paragraph in "\n".join(lines).split("\n\n"):
        given = paragraph.splitlines()
        if any(line.startswith(" ") for line in given):
            made += ["::", "", *(f"    {line}" for line in given), ""]
        else:
            made += [*(line.replace("|", "\\|").replace("*", "\\*") for line in given), ""]
    lines[:] = made
