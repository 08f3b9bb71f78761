# SPDX-License-Identifier: Apache-2.0

"""
The pages in order, for Sphinx: ``index.md`` says which there are, and under which heading.

The pages are written for a code host, where nothing but Markdown is understood. So the table of
contents is made of the links on the first page, and files outside of this folder that pages link
to become pages (those in Markdown or reStructuredText) or downloads.
"""

from __future__ import annotations

from pathlib import Path
import re
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COPIES = 'project'
"""The folder in which files from outside become pages; Sphinx reads nothing outside of its own."""
PAGES = ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.rst', 'QUALITY_DECLARATION.md', 'SECURITY.md')


def contents(index: str) -> str:
    """Return the tables of contents of the sections of the first page, which links to all."""
    tables, seen = [], set[str]()
    for section in re.split(r'^## ', index, flags=re.MULTILINE)[1:]:
        caption, _, text = section.partition('\n')
        names = dict.fromkeys(name for name in re.findall(r'\]\(([^)\s#]+)\)', text)
                              if '://' not in name and name not in seen)
        seen.update(names)
        tables.append('\n'.join([
            '```{toctree}', ':hidden:', f':caption: {caption}', '', *names, '```', '']))
    return '\n'.join(tables)


def inside(text: str) -> str:
    """Return a page of this folder with its links to the pages from outside."""
    for page in PAGES:
        text = re.sub(rf'\]\(((?:\.\./)*)\.\./{page}', rf'](\1{COPIES}/{page}', text)
    return text


def outside(text: str) -> str:
    """Return a page from the root of the project with its links as seen from this folder."""
    text = re.sub(r'\]\(docs/', '](../', text)
    return re.sub(r'\]\((examples/|config/|launch/|CITATION)', r'](../../\1', text)


def copy(app: Any) -> None:
    folder = Path(app.srcdir) / COPIES
    folder.mkdir(exist_ok=True)
    for page in PAGES:
        text = outside((ROOT / page).read_text(encoding='utf-8'))
        target = folder / page
        if not target.exists() or target.read_text(encoding='utf-8') != text:
            target.write_text(text, encoding='utf-8')


def read(app: Any, docname: str, source: list[str]) -> None:
    if docname.startswith(f'{COPIES}/'):
        return
    source[0] = inside(source[0])
    if docname == app.config.root_doc:
        source[0] += '\n' + contents(source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect('builder-inited', copy)
    app.connect('source-read', read)
    return {'parallel_read_safe': True}
