# SPDX-License-Identifier: Apache-2.0

"""The settings with which Sphinx makes a site of this folder: ``scripts/docs``."""

from configparser import ConfigParser
from importlib.util import find_spec
from pathlib import Path
import sys

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE / 'site')]    # the package, and the extensions below

from mnm_ros import __version__  # noqa: E402

project = 'mnm_ros'
author = 'mnm_ros maintainers'
copyright = f'2026, {author}'    # noqa: A001
release = version = __version__

extensions = ['myst_parser', 'sphinx.ext.autodoc', 'arrangement', 'notebook', 'state_diagrams']
exclude_patterns = ['site']
myst_heading_anchors = 4
myst_fence_as_directive = ['mermaid']
highlight_language = 'text'

# The reference of the Python API is made without ROS, with or without one at hand.
contracts = ConfigParser()
contracts.read(ROOT / 'setup.cfg', encoding='utf-8')
autodoc_mock_imports = contracts['importlinter:contract:ros']['protected_modules'].split()
autodoc_member_order = 'bysource'
autodoc_typehints = 'signature'
autodoc_default_options = {'members': True}
python_use_unqualified_type_names = True

html_theme = 'furo' if find_spec('furo') else 'alabaster'
html_title = f'mnm_ros {release}'
html_copy_source = False
