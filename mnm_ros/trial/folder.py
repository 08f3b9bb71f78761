# SPDX-License-Identifier: Apache-2.0

"""The folder of a trial: parameters that keep everything in it, and the times of the starts."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from mnm_ros.checkpoint.whole_files import regular, write_whole
from mnm_ros.located_yaml import WithExponents
import yaml

STARTS = 'starts.txt'
"""The file in the folder of a trial that has the time of each launch, a line each."""


def prepare(params_file: str, folder: str, now: datetime) -> Path:
    """
    Make or go on with a folder; return its ``params.yaml``, made from a file of parameters.

    :param params_file: of the explorer; '' for none.
    :param folder: '' for a new one in ``mnm_trials`` in the home folder.
    :raises OSError: if the file cannot be read or the folder cannot be written.
    :raises ValueError: if the file is no file of parameters.
    """
    path = Path(folder or f'~/mnm_trials/{now:%Y-%m-%d_%H-%M-%S}').expanduser().resolve()
    given = Path(params_file).expanduser()
    text = regular(given).read_text(encoding='utf-8') if params_file else ''
    kept = keeping(text, path)
    path.mkdir(parents=True, exist_ok=True)
    parameters = write_whole(path / 'params.yaml', kept)
    (path / STARTS).touch()
    with regular(path / STARTS).open('a', encoding='utf-8') as file:
        file.write(f'{now:%Y-%m-%d %H:%M:%S}\n')
    return parameters


def keeping(text: str, folder: Path) -> str:
    """Return parameters, as YAML, that also make the explorer keep everything in the folder."""
    try:
        tree = yaml.load(text, Loader=WithExponents) or {}
    except yaml.YAMLError as error:
        raise ValueError(f'no YAML: {" ".join(str(error).split())}') from None
    if not isinstance(tree, dict):
        raise ValueError(f'{type(tree).__name__}, expected parameters by the names of nodes')
    kept: dict[str, Any] = {'checkpoint_dir': str(folder), 'transition_log': True}
    _without(tree, kept)
    entry = tree['/**/explorer'] = tree.get('/**/explorer') or {}
    entry['ros__parameters'] = {**(entry.get('ros__parameters') or {}), **kept}
    # Strings are quoted: ROS would read a name like n as false.
    return yaml.dump(tree, Dumper=_Quoting, sort_keys=False)


class _Quoting(yaml.SafeDumper):
    """Writes every string in quotes."""


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar(
    'tag:yaml.org,2002:str', text, style='"'))


def _without(tree: dict[str, Any], names: dict[str, Any]) -> None:
    """Remove parameters from all entries, any of which might overrule the values of the trial."""
    for key, value in tree.items():
        if key == 'ros__parameters' and isinstance(value, dict):
            for name in names:
                value.pop(name, None)
        elif isinstance(value, dict):
            _without(value, names)
