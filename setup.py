"""Which packages there are; all else is in pyproject.toml."""

from setuptools import find_packages, setup

# Of folders beside fairjax/ too, which no pattern of pyproject.toml can name.
BESIDE = ['fairjax.configs', 'fairjax.launch']
setup(packages=[*find_packages(include=['fairjax*']), *BESIDE])
