# SPDX-License-Identifier: Apache-2.0

"""
Lets Sphinx read notebooks: text, code, and what the code has printed and drawn.

A notebook is shown as it was saved; nothing is run. ``myst-nb`` does far more, but brings
Jupyter with it.
"""

from __future__ import annotations

import json
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser

Cell = dict[str, Any]


def page(notebook: str) -> str:
    """Return a notebook as Markdown."""
    parts: list[str] = []
    for cell in json.loads(notebook)['cells']:
        text = ''.join(cell['source'])
        if cell['cell_type'] == 'code':
            parts += [_block(text, 'python'), *_outputs(cell)]
        else:
            parts.append(text)
    return '\n\n'.join(parts) + '\n'


def _outputs(cell: Cell) -> list[str]:
    parts = []
    for output in cell['outputs']:
        data = output.get('data', {})
        if 'image/png' in data:
            parts.append(f'![what the code above draws]({_uri(data["image/png"])})')
        else:
            parts.append(_block(''.join(output.get('text', data.get('text/plain', ''))), 'text'))
    return parts


def _block(text: str, language: str) -> str:
    return f'```{language}\n{text.rstrip()}\n```'


def _uri(picture: str | list[str]) -> str:
    return 'data:image/png;base64,' + ''.join(''.join(picture).split())


class NotebookParser(MystParser):
    """Reads ``.ipynb``."""

    supported = ('notebook',)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        super().parse(page(inputstring), document)


def setup(app: Any) -> dict[str, bool]:
    app.add_source_suffix('.ipynb', 'notebook')
    app.add_source_parser(NotebookParser)
    return {'parallel_read_safe': True}
