"""What FairFlow and MBCDA share: texts rewritten, repaired and compared."""
