"""Results on disk: a folder per run, and a catalogue of them all.

::

    results/
    ├── catalogue.sqlite            each run's parameters, version, metrics, and the command that remakes it
    ├── campaigns/NAME.json         which runs belong to which point of a campaign
    ├── runs/KEY/
    │   ├── run.json                scenario, seed, run, code version; digests of all files
    │   ├── scenario.toml           the whole scenario, defaults included
    │   ├── metrics.json            name: value
    │   ├── connections.parquet     one row per TCP connection
    │   ├── series/KIND.parquet     with --series
    │   └── captures/POINT.pcapng   with --pcap
    ├── damaged/                    what was found not to be as it was written
    └── .staging/                   runs being written

A run is written under ``.staging``, its tables while it goes on, and renamed when whole, so it is there whole
or not at all. The folders are the truth: opening a store removes what a killed process left in ``.staging``
and catalogues whole runs that it had not. A run folder holds nothing that two equal runs would write
differently.

Every run has digests of its files, every row of the catalogue and every campaign one of itself (`seal`). What
is not as it was written is told of and left out; making the run again sets the damaged one aside. Nothing is
deleted.
"""

from umtslab.store.damaged import DamagedStore
from umtslab.store.folder import OtherLayout
from umtslab.store.reader import RunNotFound, StoreReader, read_store
from umtslab.store.seal import Damage, Damaged
from umtslab.store.store import Store, open_store

__all__ = [
    "Damage",
    "Damaged",
    "DamagedStore",
    "OtherLayout",
    "RunNotFound",
    "Store",
    "StoreReader",
    "open_store",
    "read_store",
]
