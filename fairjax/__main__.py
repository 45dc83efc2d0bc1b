"""`python -m fairjax COMMAND …`: the console script."""

from fairjax.main import command

command()
