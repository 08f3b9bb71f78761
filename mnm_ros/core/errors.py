# SPDX-License-Identifier: Apache-2.0

"""
The errors of the package; each is one that Python has, too, but where nothing there fits.

    MnmError
      InvalidValueError (ValueError)      an argument, an option or an entry is not allowed
        ParameterError                    a parameter of a node
        MessageError                      a message of another node
        FileError                         a file that somebody has written: its name and the line
      InvalidTypeError (TypeError)        what a robot or a part from elsewhere has returned
      UnknownStateError (KeyError)        a state has no policy
      ProtocolError (RuntimeError)        a robot side answers what was not asked
      CheckpointError (ValueError)        a checkpoint or a transition log cannot be used
        OtherCheckpointError              it is for something else than what is asked for
      SnapshotError (ValueError)          an object cannot be kept, or what was kept does not fit
      LaunchError (RuntimeError)          a launch file cannot start what is asked for
      ExportError (ValueError)            something cannot be written in a format
      NoAnswerError                       a node is not there, or does not answer
      MissingPackageError (ImportError)   what is asked for needs a package that is not installed

Their texts say what was found, what was expected, and where.
"""

from __future__ import annotations


def how_to_install(extra: str, *others: str) -> str:
    """
    Return what is to be typed for an extra of ``setup.py``, for the texts of errors.

    The package is on no registry, where somebody else could take its name.

    :param others: ways to get the same.
    """
    return ', or '.join((f"in the clone of mnm_ros, pip install -e '.[{extra}]'", *others))


class MnmError(Exception):
    """Something of this package went wrong; the text is a sentence for people."""


class InvalidValueError(MnmError, ValueError):
    """A value is not allowed; the text names it and says what was found and expected."""


class ParameterError(InvalidValueError):
    """A parameter has a value that is not allowed."""


class MessageError(InvalidValueError):
    """A message does not have the layout it should have."""


class FileError(InvalidValueError):
    """A file cannot be used; the text names the file, the line and what was expected."""


class InvalidTypeError(MnmError, TypeError):
    """A robot or a part from elsewhere has returned something of the wrong type."""


class UnknownStateError(MnmError, KeyError):
    """A state has no policy; the text names it and those that have one."""

    def __str__(self) -> str:
        return str(self.args[0])    # a KeyError would put it in quotes


class ProtocolError(MnmError, RuntimeError):
    """A robot side answers, or is asked, while nothing is to be answered, or something else is."""


class CheckpointError(MnmError, ValueError):
    """A file cannot be used; the text names it and says why."""


class OtherCheckpointError(CheckpointError):
    """A file is for something else than what is asked for."""


class SnapshotError(MnmError, ValueError):
    """Something has no snapshot, or a snapshot does not fit; the text says what."""


class LaunchError(MnmError, RuntimeError):
    """A launch file cannot start what is asked for."""


class ExportError(MnmError, ValueError):
    """Something cannot be written in a format; the text says why and what to do."""


class NoAnswerError(MnmError):
    """Nothing was there, or nothing answered; the text is a sentence for people."""


class MissingPackageError(MnmError, ImportError):
    """Something needs a package that is not installed; the text names both."""
