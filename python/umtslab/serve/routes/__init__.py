"""The addresses of the page, one module for each area. `umtslab.serve.app` puts them together.

Each module has a function that adds its routes to the application. A route only finds the object of
its address and calls the module of the view, such as `umtslab.serve.home`.
"""
