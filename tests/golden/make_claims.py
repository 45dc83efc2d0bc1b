"""python tests/golden/make_claims.py: the table of CLAIMS.md.

It is made of the kept runs of configs/claims/results.
"""

import pathlib

from fairjax import recipes
from fairjax.report import claims

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLAIMS = ROOT / 'fairjax/report/CLAIMS.md'
KEPT = [str(ROOT / 'configs/claims/results')]


def page() -> str:
  before = CLAIMS.read_text('utf-8').partition('| paper |')[0]
  return before + claims.markdown(KEPT, recipes.PAPERS)


if __name__ == '__main__':
  CLAIMS.write_text(page(), 'utf-8')
