"""Folders of text of any size, shard by shard.

In this room:

  shard_map  A function over every shard of a folder: locally or by dask
  shards     Shards of a corpus, read and written block by block
  texts      Plain text as documents, and documents as a token store on disk
"""
