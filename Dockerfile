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

# Of what the page needs Debian has too little: it is installed beside, in the pinned versions.
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-pip \
    && PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir --no-deps \
        --ignore-installed --require-hashes -r src/mnm_ros/requirements/page.txt \
    && rm -rf /var/lib/apt/lists/*

RUN printf '#!/bin/bash\nsource /ws/install/setup.bash\nexec "$@"\n' > /entry && chmod +x /entry
ENTRYPOINT ["/entry"]
CMD ["ros2", "launch", "mnm_ros", "explore.launch.py"]
