"""Studies that choose their own points: optimisation (`optimise`) and sensitivity (`sensitivity`).

Both read a study file (`file`), whose `[parameters]` have ranges instead of lists (`parameters`).
Their points run as campaigns, with the same seed and run numbers for all points. Runs in the store
are reused.
"""
