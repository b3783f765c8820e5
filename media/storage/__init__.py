"""Where bytes are kept, each content once: under its SHA-256 and under no other name."""

from __future__ import annotations

from kernel.conf import conf
from media.storage.contents import Measured, Store, Stored, StoredFile, measure
from media.storage.local import LocalStore
from media.storage.s3 import Bucket, S3Store

__all__ = ["Bucket", "LocalStore", "Measured", "S3Store", "Store", "Stored", "StoredFile", "measure", "store"]


def store() -> Store:
    """The store that the operator's settings name: a bucket where one is set, else a folder under DATA_DIR."""
    given = conf()
    if not given.media_s3_bucket:
        return LocalStore(given.data_dir / "media")
    return S3Store.of(
        Bucket(
            name=given.media_s3_bucket,
            prefix=given.media_s3_prefix,
            endpoint=given.media_s3_endpoint,
            region=given.media_s3_region,
            access_key=given.media_s3_access_key,
            secret_key=given.media_s3_secret_key,
        )
    )
