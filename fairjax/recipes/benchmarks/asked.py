"""Who is asked: word vectors, or the model of a folder as it reads texts."""

import pathlib

from fairjax.config import Config, Mesh
from fairjax.core import artefacts
from fairjax.models.reading import judge as judges
from fairjax.models.reading import word_judge
from fairjax.stages import audited
from fairjax.train import mesh


def load(model: str, config: Config) -> judges.Judge | word_judge.WordJudge:
  """The judge of a table of vectors, or of a folder.

  A classifier that a blind run of ours exported reads blind texts.
  """
  if word_judge.is_table(model):
    return word_judge.WordJudge(model, {})
  placement = mesh.placement(mesh.make(Mesh(), 1))
  judge = judges.load(model, config, placement)
  reads, files = audited.reader(pathlib.Path(model).expanduser())
  if reads is None:
    return judge
  content = artefacts.fingerprint([artefacts.content(file) for file in files])
  return judge._replace(reads=(reads, content))
