# SPDX-License-Identifier: Apache-2.0

"""
What the node ``dashboard`` is made of: what it hears, what it may do, and its page.

Read ``page_subscriptions`` (or ``played_log``), ``looking_back``, ``commands``, ``page`` and
``web_server``; ``view/web`` makes what the page shows.
"""
