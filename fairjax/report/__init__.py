"""Results in; pages, tables, pictures and exports out."""
