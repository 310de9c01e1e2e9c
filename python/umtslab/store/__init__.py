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
    ├── damaged/                    damaged items
    └── .staging/                   runs being written

A run is written under ``.staging``, its tables during the run, and renamed when it is complete, so
a store has complete runs only. The folders are authoritative: opening a store removes the files
that a killed process left in ``.staging`` and adds missing runs to the catalogue. Two equal runs
write equal run folders.

Every run has digests of its files; every row of the catalogue and every campaign has a digest of
itself (`seal`). A damaged item is reported and skipped. When the run is made again, the damaged one
is moved away. Nothing is deleted.
"""

from umtslab.store.damaged import DamagedStore
from umtslab.store.folder import OtherLayout, UnusablePath
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
    "UnusablePath",
    "open_store",
    "read_store",
]
