"""``umts emulate``: real programs over the modelled radio access network.

Three processes, so that nothing is left behind however one of them ends:

``command``   the user's process: checks the input, starts the launcher, and waits.
``launcher``  leaves the host's namespaces and starts the emulator in the new ones.
``emulator``  process 1 there: devices, routes, programs, the event loop (``crates/emulate``), and
              storing the results.

The user's process holds the writing end of a pipe. When this end is closed, the emulator ends, and
with process 1 the kernel ends all that ran in its namespace.

In the other modules, *the command* is the program of the first UE: ``umts emulate … -- COMMAND``.
"""
