"""The index that follows the notes: `base` is the contract, `sqlite` the one backend so far.

`schema` holds the tables, `vectors` the two ways to find the nearest vectors, `filters` the SQL
of a filter.
"""
