# SPDX-License-Identifier: Apache-2.0

"""One package for pip (``pip install '.[ros]'``) and for colcon (``ament_python``)."""

from pathlib import Path
from xml.etree import ElementTree

from setuptools import find_packages, setup

MAINTAINER = ElementTree.parse('package.xml').getroot().find('maintainer')

NAME = 'mnm_ros'

# An executable is a file in executables/ and a module of the same name in mnm_ros/nodes/.
EXECUTABLES = sorted(path.name for path in Path('executables').iterdir())

# ROS 2 as wheels, for machines without a ROS 2 installation.
ROS_WHEELS = [
    'ros-jazzy-rclpy[fastrtps]==7.1.6',
    'ros-jazzy-diagnostic-msgs==5.3.6',
    'ros-jazzy-geometry-msgs==5.3.6',
    'ros-jazzy-lifecycle-msgs==2.0.3',
    'ros-jazzy-nav-msgs==5.3.6',
    'ros-jazzy-std-msgs==5.3.6',
    'ros-jazzy-std-srvs==5.3.6',
    'ros-jazzy-visualization-msgs==5.3.6',
]

# For gym_side; seen to work with 0.29.1 and 1.4.0.
GYM = ['gymnasium>=0.29,<2']
# For the test of the recipe of docs/reference/robot_side.md; seen to work with 3.2.0.
MINIGRID = ['minigrid>=2.3,<4']
# For words that a shell completes; seen to work with 3.7.2.
COMPLETION = ['argcomplete>=2']
# For mnm_ros export --format graphml.
GRAPHML = ['networkx>=2.4']
# For dashboard; seen to work with 3.18.0. Brings its web server and all that a browser loads.
DASHBOARD = ['nicegui>=3.4,<4']
# For the physics of diff_drive_sim; seen to work with 4.0.0, which Python 3.10 has not.
PHYSICS = ["mujoco>=4,<5; python_version >= '3.11'"]
# For benchmarks/... --cluster; seen to work with 2023.12.1 and 2026.8.0.
CLUSTER = ['distributed>=2023.12']
CHECKERS = [
    'import-linter>=2.15,<3', 'mypy==2.4.1', 'ruff==0.17.5', 'types-PyYAML>=6.0.12,<7']
# For mnm_ros export --format log-mcap.
BAGS = ['mcap-ros2-support>=0.6']
# For the pictures of maps that mnm_ros map reads.
MAP = ['pillow>=9']
REPORT = ['jinja2>=3', 'matplotlib>=3.5']
# For Recording and Study; seen to work with pandas 3.1.1.
STUDY = ['matplotlib>=3.5', 'pandas>=1.4']
# For Recording.to_minari; seen to work with 0.5.4.
MINARI = ['minari[hdf5]>=0.5.4; python_version >= "3.11"']
BENCHMARKS = ['matplotlib>=3.5', 'pillow>=9', 'rich>=12.3']
DOCS = ['furo>=2024.1.29', 'matplotlib>=3.5', 'myst-parser>=3', 'sphinx>=7.1']


def shared(folder: str, pattern: str) -> list:
    return [(f'share/{NAME}/{path.parent}', [str(path)])
            for path in sorted(Path(folder).rglob(pattern)) if path.is_file()]


setup(
    name=NAME,
    version='0.1.0',
    description='Autonomous exploration for navigating in changing controlled Markov processes',
    long_description=Path('README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    keywords=['ROS 2', 'autonomous exploration', 'reinforcement learning'],
    license='Apache-2.0',
    maintainer=MAINTAINER.text,
    maintainer_email=MAINTAINER.get('email'),
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    package_data={NAME: [
        'py.typed', 'page/*.css', 'page/*.js', 'trial/*.j2']},
    python_requires='>=3.10',
    install_requires=[
        'setuptools', 'numpy>=1.21', 'PyYAML>=5.4', 'rich>=11.2', 'scipy>=1.8',
        'transitions>=0.8.10', 'pytest>=6.2'],    # pytest for mnm_ros contract
    extras_require={
        'ros': ROS_WHEELS,
        'gym': GYM,
        'graphml': GRAPHML,
        'bags': BAGS,
        'completion': COMPLETION,
        'dashboard': DASHBOARD,
        'map': MAP,
        'minari': MINARI,
        'physics': PHYSICS,
        'report': REPORT,
        'study': STUDY,
        'test': ['pytest-xdist>=3.2,<4', 'py_trees>=2.2,<3',
                 'selenium>=4.15,<5', *CHECKERS, *BAGS, *BENCHMARKS, *CLUSTER, *DASHBOARD,
                 *COMPLETION, *DOCS, *GRAPHML, *GYM, *MAP, *MINARI, *MINIGRID, *PHYSICS,
                 *REPORT, *STUDY],
        'benchmarks': BENCHMARKS,
        'cluster': CLUSTER,
        'docs': DOCS,
        'mutants': ['cosmic-ray>=8.7,<9'],
    },
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        (f'lib/{NAME}', [f'executables/{name}' for name in EXECUTABLES]),
        *shared('config', '*'),
        *shared('examples', '*.py'),
        *shared('launch', '*.launch.py'),
    ],
    entry_points={'console_scripts': [
        f'{NAME} = {NAME}.command.main:main',
        *(f'{name} = {NAME}.nodes.{name}:main' for name in EXECUTABLES)]},
    zip_safe=True,
)
