# SPDX-License-Identifier: Apache-2.0

from enum import Flag

class SignalHandlerOptions(Flag):
    NO = ...
