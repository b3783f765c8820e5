"""How documents, stored bytes and jobs do: figures of one domain, and the doctor's checks of all of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from django.db.models import Count, Sum

from governance.hooks import Checked
from kernel.conf import conf
from kernel.errors import TooLargeError, UnavailableError
from media.contracts.kinds import DocumentState, JobStatus
from media.converting.process import let_through
from media.converting.slots import check_folder
from media.models import MediaJob, MediaObject, MediaObjectReference, SourceDocument, SourceSection
from media.selectors.indexed import lost_sections, misplaced_entries
from media.selectors.jobs import due_jobs, stale_jobs
from media.storage import store

_LATE = timedelta(minutes=15)  # after which a job that nobody began waits for a worker that is not there


def figures_of(domain_id: str, now: datetime) -> Mapping[str, int]:
    """What one domain holds. Bytes are counted once, however many of its documents have them."""
    documents = SourceDocument.objects.filter(domain_id=domain_id)
    sections = SourceSection.objects.filter(domain_id=domain_id)
    jobs = MediaJob.objects.filter(domain_id=domain_id)
    by_state = dict(documents.order_by().values_list("state").annotate(n=Count("pk")))
    by_status = dict(jobs.order_by().values_list("status").annotate(n=Count("pk")))
    held = MediaObjectReference.objects.filter(domain_id=domain_id).values("media_object")
    return {
        "documents": sum(by_state.values()),
        **{f"documents_{state.value}": by_state.get(state.value, 0) for state in DocumentState},
        "sections": sections.count(),
        "lost_sections": lost_sections().filter(domain_id=domain_id).count(),
        "stored_bytes": MediaObject.objects.filter(pk__in=held).aggregate(total=Sum("byte_size"))["total"] or 0,
        "jobs": sum(by_status.values()),
        **{f"jobs_{status.value}": by_status.get(status.value, 0) for status in JobStatus},
        "jobs_stuck": jobs.filter(pk__in=stale_jobs(now).values("pk")).count(),
    }


def check_store(now: datetime) -> Checked:
    """Whether bytes can be stored, read and removed: random ones, so that they are nobody's."""
    kept = store()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "probe"
        path.write_bytes(os.urandom(32))
        stored = kept.put(path)
        size = kept.size(stored.content_hash)
        kept.delete(stored.content_hash)
    if size != stored.byte_size:
        return Checked("Bytes that were stored came back otherwise.", "Run `manage.py check_media --deep`.")
    return Checked("Bytes can be stored, read and removed.")


def check_index(now: datetime) -> Checked:
    """Whether every section is found, and nothing that is gone."""
    lost, gone = lost_sections().count(), misplaced_entries().count()
    if lost or gone:
        advice = "Run `manage.py rebuild_index` for each domain; `manage.py check_media` names the sections."
        return Checked(f"{lost} sections are not in the index, and {gone} entries stand where none should.", advice)
    return Checked("Index and sections agree.")


def check_jobs(now: datetime) -> Checked:
    """Whether jobs are begun when they are due, and go on once they are begun."""
    waiting, stuck = due_jobs(now - _LATE).count(), stale_jobs(now).count()
    if waiting or stuck:
        advice = "Start a worker (`manage.py qcluster` or `manage.py media_worker`): it takes both up again."
        return Checked(
            f"{waiting} jobs are due for over 15 minutes, and {stuck} were left by workers that died.", advice
        )
    return Checked("No job is stuck.")


def check_parsers(now: datetime) -> Checked:
    """Whether files can be read one beside the other, and the kernel refuses the process that reads a strange file what
    no parser needs."""
    try:
        check_folder()
    except UnavailableError as exc:
        return Checked(exc.message, "Set it right, or give another data folder with `DATA_DIR`.")
    try:
        through = let_through(conf().media_convert_memory)
    except TooLargeError:
        advice = (
            "See what slows new processes down or kills them on this machine, such as a limit of a container's memory."
        )
        return Checked("The process that reads files was started and did not end by itself.", advice)
    if through is None:
        advice = "Give it more memory with `SMARTBRAIN_MEDIA_CONVERT_MEMORY`, or see what ends new processes on this machine."
        return Checked("The process that reads files does not run.", advice)
    if through:
        advice = (
            "Run it on Linux (x86-64 or ARM64) with a kernel that takes filters of system calls (seccomp). Until then let it "
            "run as a user of its own in a container without network, or read no files that strangers bring."
        )
        return Checked(f"A strange file that took over the process that reads it could {', '.join(through)}.", advice)
    return Checked("The process that reads files can start nothing, reach no network and change no file.")
