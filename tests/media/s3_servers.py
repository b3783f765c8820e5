"""A real S3 server in a process of its own, on free ports of this machine and with a folder that goes with it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from media.storage import Bucket

NAME, REGION = "media", "us-east-1"
ACCESS_KEY, SECRET_KEY = "tests", "secret-of-tests"
START_SECONDS = 90
_GRPC = 10_000  # seaweedfs takes the port so far above each of its own as well


@dataclass(frozen=True)
class Server:
    """Where a running server listens."""

    endpoint: str

    def bucket(self, prefix: str) -> Bucket:
        """The server's bucket, at that prefix. There is only one: each takes a share of the server's volumes."""
        return Bucket(NAME, prefix, self.endpoint, REGION, ACCESS_KEY, SECRET_KEY)


@contextmanager
def running_server() -> Iterator[Server]:
    """seaweedfs, told to look for no others: that way it is up within four seconds."""
    master, volume, filer, s3 = free_ports(4)
    with TemporaryDirectory(prefix="weed-") as folder:
        rights = {"name": "tests", "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]}
        identity = {"identities": [{**rights, "actions": ["Admin", "Read", "Write", "List"]}]}
        settings = Path(folder) / "s3.json"
        settings.write_text(json.dumps(identity), "utf-8")
        (Path(folder) / "data").mkdir()
        given = {
            "ip": "127.0.0.1", "dir": f"{folder}/data", "volume.max": 16, "master.volumeSizeLimitMB": 64,
            "master.port": master, "volume.port": volume, "filer.port": filer, "s3.port": s3, "s3.config": settings,
            "filer.localSocket": f"{folder}/filer.sock", "master.electionTimeout": "1s",
            "master.heartbeatInterval": "200ms", "master.telemetry": "false",
        }  # fmt: skip
        weed = str(Path(sys.executable).parent / "weed")
        options = [f"-{name}={value}" for name, value in given.items()]
        with _running([weed, f"-logdir={folder}", "server", "-filer", "-s3", *options]) as process:
            yield _ready(Server(f"http://127.0.0.1:{s3}"), process)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, nor on those so far above that seaweedfs takes."""
    found: list[int] = []
    while len(found) < count:
        with ExitStack() as stack:
            low = stack.enter_context(socket.socket())
            low.bind(("127.0.0.1", 0))
            port = low.getsockname()[1] - _GRPC
            try:
                high = stack.enter_context(socket.socket())
                high.bind(("127.0.0.1", port))
            except OSError:
                continue
            if port not in found:
                found.append(port)
    return found


@contextmanager
def _running(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "COV_CORE", "COVERAGE"))
    }
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean
    )
    try:
        yield process
    finally:
        process.kill()  # it has nothing to put in order: its folder goes too
        process.wait()


def _ready(server: Server, process: subprocess.Popen[bytes]) -> Server:
    """The server once it takes a write."""
    until, client = time.monotonic() + START_SECONDS, _client(server.endpoint)
    while True:
        try:
            client.create_bucket(Bucket=NAME)
            client.put_object(Bucket=NAME, Key="ready", Body=b"ready")
        except (BotoCoreError, ClientError) as exc:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the S3 server of the tests did not start") from exc
            time.sleep(0.1)
        else:
            return server


def _client(endpoint: str):
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        region_name=REGION,
        config=Config(retries={"max_attempts": 1}, connect_timeout=1, read_timeout=5, s3={"addressing_style": "path"}),
    )
