# SPDX-License-Identifier: Apache-2.0

from rclpy.qos import QoSProfile

class TopicEndpointInfo:
    node_name: str
    node_namespace: str
    topic_type: str
    qos_profile: QoSProfile
    endpoint_gid: list[int]
