"""A page as one file of HTML: no network, no script, readable in light and dark, and on paper."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

from .blocks import Block, Code, Heading, Items, Paragraph, Picture, Table

# Nothing may be loaded from anywhere: pictures are data, and the style stands in the page.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --dim: #5c5c5c; --line: #d0d0d0; --band: #f4f4f2;
  --good: #00694d; --bad: #a63c00; --warn: #7a5200; --link: #00568a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #161718; --dim: #a3a3a3; --line: #3d3f41; --band: #202224;
    --good: #4fc9a0; --bad: #ff9a5c; --warn: #e6b84d; --link: #7cc4f0; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .75rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
p { margin: .35rem 0; overflow-wrap: anywhere; }
a { color: var(--link); }
nav ul { list-style: none; margin: 1rem 0; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
ul { margin: .4rem 0; padding-left: 1.25rem; }
li { overflow-wrap: anywhere; }
.strong { font-weight: 600; }
.dim { color: var(--dim); } .good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.scroll { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .25rem; }
th, td { padding: .15rem .9rem .15rem 0; text-align: left; vertical-align: top; font-weight: 400; }
tbody th { min-width: 8.5rem; }
thead th { border-bottom: 1px solid var(--line); vertical-align: bottom; font-weight: 600; }
.right { text-align: right; }
pre { background: var(--band); padding: .6rem .8rem; overflow-x: auto; font-size: .8rem; }
figure { margin: 1rem 0; }
img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
@media print { :root { color-scheme: light; --ink: #000; --paper: #fff; --dim: #444; --line: #bbb; --band: #f4f4f2;
    --good: #00694d; --bad: #a63c00; --warn: #7a5200; --link: #000; }
  body { font-size: 10pt; } main { max-width: none; padding: 0; } nav { display: none; }
  .scroll { overflow: visible; } figure, tr, pre { break-inside: avoid; } h2, h3 { break-after: avoid; } }
"""


def html(title: str, blocks: Sequence[Block]) -> str:
    """Return a whole document."""
    body = "\n".join(_block(block) for block in blocks)
    # The page's own heading first, then where to find what.
    first, rest = body.split("\n", 1) if blocks and isinstance(blocks[0], Heading) else ("", body)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
{first}
{_contents(blocks)}
{rest}
</main>
</body>
</html>
"""


def _contents(blocks: Iterable[Block]) -> str:
    links = [
        f'<li><a href="#{escape(block.anchor)}">{escape(block.text)}</a></li>'
        for block in blocks
        if isinstance(block, Heading) and block.anchor
    ]
    return f'<nav aria-label="Contents"><ul>{"".join(links)}</ul></nav>' if links else ""


def _class(*names: str) -> str:
    given = " ".join(name for name in names if name)
    return f' class="{given}"' if given else ""


def _lines(text: str) -> str:
    return "<br>".join(escape(line) for line in text.split("\n"))


def _block(block: Block) -> str:
    match block:
        case Heading(level, text, anchor):
            name = f' id="{escape(anchor)}"' if anchor else ""
            return f"<h{level}{name}>{escape(text)}</h{level}>"
        case Paragraph(text, strong, tone):
            return f"<p{_class('strong' if strong else '', tone)}>{escape(text)}</p>"
        case Items(items):
            return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
        case Code(text):
            return f'<pre tabindex="0"><code>{escape(text)}</code></pre>'
        case Picture():
            return _picture(block)
        case Table():
            return _table(block)


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.png).decode("ascii")
    return f'<figure><img src="data:image/png;base64,{data}" alt="{escape(picture.alt)}"></figure>'


def _table(table: Table) -> str:
    right = [at in table.right for at in range(len(table.rows[0]) if table.rows else len(table.header))]
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    heads = "".join(
        f'<th scope="col"{_class("right" if right[at] else "")}>{escape(head)}</th>'
        for at, head in enumerate(table.header)
    )
    rows = "".join(
        f"<tr{_class('dim' if number in table.dim else '')}>{_cells(row, right)}</tr>"
        for number, row in enumerate(table.rows)
    )
    head = f"<thead><tr>{heads}</tr></thead>" if heads else ""
    name = escape(table.caption) or "table"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        f"<table>{caption}{head}<tbody>{rows}</tbody></table></div>"
    )


def _cells(row: Sequence[str], right: Sequence[bool]) -> str:
    first = f'<th scope="row"{_class("right" if right[0] else "")}>{_lines(row[0])}</th>' if row else ""
    others = (f"<td{_class('right' if right[at] else '')}>{_lines(row[at])}</td>" for at in range(1, len(row)))
    return first + "".join(others)
