"""`python -m fairjax COMMAND …`: the console script."""

from fairjax.main import command

if __name__ == '__main__':
  command()
