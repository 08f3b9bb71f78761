# SPDX-License-Identifier: Apache-2.0

"""A program that gets a Ctrl-C while it takes in a message, inside of rclpy."""

from __future__ import annotations

import os
import signal

from mnm_ros import messages
from mnm_ros.subscriptions import Listener
from std_msgs.msg import String


def main() -> None:
    taken: list[str] = []

    def take(message: String) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        taken.append(message.data)

    with Listener() as listener:
        said = listener.publisher(String, 'said', messages.STEP)
        listener.hear(String, 'said', messages.STEP, take)
        try:
            while True:
                said.publish(String(data='hello'))
                listener.listen(0.05)
        except KeyboardInterrupt:
            print('interrupted after', *taken)


if __name__ == '__main__':
    main()
