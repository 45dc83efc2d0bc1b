# The library: names and where each is; __init__.py loads them by this file.
from fairjax.api import Assessment as Assessment
from fairjax.api import Classifier as Classifier
from fairjax.api import Comparison as Comparison
from fairjax.api import Equalized as Equalized
from fairjax.api import UserError as UserError
from fairjax.api import WeightOptions as WeightOptions
from fairjax.api import assess as assess
from fairjax.api import compare as compare
from fairjax.api import diet as diet
from fairjax.api import load as load
from fairjax.api import score as score
from fairjax.api import swap as swap
from fairjax.api import thresholds as thresholds
from fairjax.api import weights as weights
from fairjax.models.example_norms import gradient_norms as gradient_norms
from fairjax.recipes.audit.library import AuditOptions as AuditOptions
from fairjax.recipes.audit.library import audit as audit
from fairjax.recipes.audit.trainer import AuditCallback as AuditCallback
from fairjax.recipes.benchmarks.library import benchmark as benchmark
from fairjax.recipes.estimator import FairClassifier as FairClassifier
from fairjax.recipes.perturbation.library import fairscore as fairscore
from fairjax.recipes.perturbation.library import perturb as perturb
from fairjax.recipes.writing.library import WriteOptions as WriteOptions
from fairjax.recipes.writing.library import write as write

__version__: str
