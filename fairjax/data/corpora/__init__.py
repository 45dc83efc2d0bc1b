"""Folders of text of any size, shard by shard."""
