"""Every interval and p: shares, means, differences, gaps, clusters."""
