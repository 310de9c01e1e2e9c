"""``umts emulate``: real programs over the modelled radio access network.

Three processes, so that nothing is left behind however one of them ends:

``command``   the user's: checks the input, starts the launcher, keeps the results.
``launcher``  leaves the host's namespaces and starts the emulator in the new ones.
``emulator``  process 1 there: devices, routes, programs, and the loop (``crates/emulate``).

The command holds the writing end of a pipe. When it is closed, the emulator ends, and with process 1 the
kernel ends all that ran in its namespace.
"""
