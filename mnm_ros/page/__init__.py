# SPDX-License-Identifier: Apache-2.0

"""
The page in a browser, of the node ``dashboard`` and of ``mnm_ros map``.

Read ``page_subscriptions`` (or ``played_log``), ``looking_back``, ``commands``, ``page`` and
``web_server``; ``view/web`` makes what the page shows.
"""
