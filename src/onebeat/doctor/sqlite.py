"""What is wrong with an SQLite file. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from onebeat.doctor.finding import Facts, Finding, Level

_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "ceph", "glusterfs")


def is_file_askable(facts: Facts) -> bool:
    """Whether the store in a file can be asked about its fleet without making or changing anything."""
    if not facts["there"] or facts["check"] != "ok" or not facts["writable"]:
        return False
    return bool(facts["journal"] == "wal" and facts["schema_version"] == facts["newest_version"])


def diagnose_sqlite(facts: Facts) -> Iterator[Finding]:
    """Of the one machine that has the file."""
    library = f"SQLite {facts['library']}"
    if facts["old_library"]:
        yield Finding(Level.ERROR, "library", library, "use a Python with a newer one: see the requirements")
    else:
        yield Finding(Level.OK, "library", library)
    if facts["filesystem"] in _NETWORK:
        advice = "it is for the processes of one machine: move the file to its own disk, or use PostgreSQL"
        yield Finding(Level.ERROR, "file system", f"{facts['filesystem']}, a network's", advice)
    if not facts["writable"]:
        advice = "give this user write access to the file and its folder"
        yield Finding(Level.ERROR, "permissions", "the file or its folder cannot be written here", advice)
    if not facts["there"]:
        advice = "is its name right? the first replica makes it, or: onebeat migrate"
        yield Finding(Level.WARNING, "file", "there is none of this name", advice)
    elif facts["check"] != "ok":
        advice = "restore it from a backup while no replica runs"
        yield Finding(Level.ERROR, "file", f"it is damaged: {facts['check']}", advice)
    else:
        yield from _file(facts)


def _file(facts: Facts) -> Iterator[Finding]:
    version, newest = facts["schema_version"], facts["newest_version"]
    yield Finding(Level.OK, "file", f"{facts['size']:,} bytes, sound")
    if version > newest:
        what = f"schema version {version}, newer than {newest}, the newest this release knows"
        yield Finding(Level.ERROR, "tables", what, "upgrade onebeat here")
    elif version < newest:
        advice = "the first replica brings it up to date, or: onebeat migrate"
        yield Finding(Level.WARNING, "tables", f"schema version {version}, older than {newest}", advice)
    elif facts["journal"] != "wal":
        advice = "the next replica switches it to wal, unless the file lies on a network file system"
        yield Finding(Level.WARNING, "journal", f"{facts['journal']}, not wal", advice)
