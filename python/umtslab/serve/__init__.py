"""The page of a results folder: ``umts serve``.

``app`` has the addresses, ``guard`` decides which requests reach them, ``jobs`` runs work in
processes with limits, and ``uploads`` receives captures. Each other module collects the content of
one view. Nothing here computes a metric: numbers come from the core and from the modules below.
"""
