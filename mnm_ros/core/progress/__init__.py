# SPDX-License-Identifier: Apache-2.0

"""
How far it is and what has happened, as it is shown to people and passed on within the core.

Read ``activity`` (what is being done, as it is published), ``trust`` (how far a policy may be
trusted), ``events`` (what has happened) and ``prediction`` (how many steps are left);
``json_values`` reads what is published.
"""
