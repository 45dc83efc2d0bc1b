"""Published and made data sets, and templates of test sets."""
