"""The page of a results folder: ``umts serve``.

``app`` has the addresses, ``guard`` decides which requests reach them, ``jobs`` runs work in
processes with limits, and ``uploads`` receives captures. Each other module collects the content of
one view. No module of this package computes a metric: the numbers come from the core, from
``umtslab.page`` and from ``umtslab.why``.
"""
