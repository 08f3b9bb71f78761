# mnm_ros on ROS 2: docker build -t mnm_ros . && docker run --rm -it --network host mnm_ros
# With nav2_msgs and bondpy: docker build --build-arg MNM_ROS_NAV2=true -t mnm_ros .
ARG ROS_DISTRO=jazzy
FROM ros:${ROS_DISTRO}-ros-base

ARG MNM_ROS_NAV2=
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /ws
COPY . src/mnm_ros
# What is of a version that the image pins is all that rosdep installs.
# hadolint ignore=DL3008
RUN apt-get update \
    && rosdep update --rosdistro "$ROS_DISTRO" \
    && rosdep install --from-paths src --ignore-src -y --dependency-types exec \
    && source "/opt/ros/$ROS_DISTRO/setup.bash" \
    && colcon build --packages-select mnm_ros \
    && rm -rf /var/lib/apt/lists/* build log

RUN printf '#!/bin/bash\nsource /ws/install/setup.bash\nexec "$@"\n' > /entry && chmod +x /entry
ENTRYPOINT ["/entry"]
CMD ["ros2", "launch", "mnm_ros", "explore.launch.py"]
