# SPDX-License-Identifier: Apache-2.0

"""The pages that users read, for the tests of what they name and show."""

from __future__ import annotations

import json
from pathlib import Path
import re

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / 'docs'


def _text(page: Path) -> str:
    """Return a page as Markdown; the code of a notebook in blocks."""
    text = page.read_text(encoding='utf-8')
    if page.suffix != '.ipynb':
        return text
    cells = ((cell['cell_type'], ''.join(cell['source'])) for cell in json.loads(text)['cells'])
    return '\n\n'.join(source if kind == 'markdown' else f'```python\n{source}\n```'
                       for kind, source in cells)


PAGES = {page: _text(page) for page in (
    ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted(DOCS.rglob('*.md')),
    *sorted(DOCS.rglob('*.ipynb'))) if page.parent.name != 'project'}


def blocks(page: Path, language: str = '') -> list[str]:
    """Return the blocks of code in a language, which may be a pattern."""
    found = re.findall(r'^ *```(.*?)\n(.*?)^ *```', PAGES[page], re.DOTALL | re.MULTILINE)
    return [code for kind, code in found if re.fullmatch(language, kind)]
