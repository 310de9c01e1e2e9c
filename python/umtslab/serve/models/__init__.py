"""Requests and answers of the page's addresses, one module for each view.

The page's TypeScript types are generated from the models, and the descriptions of the addresses from
their docstrings (`umtslab.serve.openapi`). Comments on the fields are only for readers of this code.

The server makes the texts of numbers and names, so that the page formats none of these. A number or
name often has a second field with its text: `share_pct` and `share_text`, `label` and `label_text`,
`length_s` and `length`, `value` and `text`.
"""
