"""What benchmarks share: files and forms, statistics, rows of results."""
