"""Which packages there are, folders of data too; all else: pyproject.toml."""

from setuptools import find_namespace_packages, setup

# Of folders beside fairjax/ too, which no pattern of pyproject.toml can name.
BESIDE = ['fairjax.configs', 'fairjax.launch']
FOUND = find_namespace_packages(include=['fairjax*'], exclude=['*__*'])
setup(packages=[*FOUND, *BESIDE])
