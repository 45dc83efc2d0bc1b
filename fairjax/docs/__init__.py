"""Sources of the documentation site; `python -m fairjax.docs OUT` builds it."""
