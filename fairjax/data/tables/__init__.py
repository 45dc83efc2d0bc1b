"""Tables from people's files: columns, labels, groups, splits."""
