"""Studies that choose their own points: which are best (`optimise`), and what matters (`sensitivity`).

Both read a study file (`file`), whose `[parameters]` have ranges instead of lists (`parameters`), and run
their points as campaigns: the same seed and numbers for all, runs taken from the store where it has them.
"""
