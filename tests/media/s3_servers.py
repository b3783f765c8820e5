"""A real S3 server in a process of its own, on free ports of this machine and with a folder that goes with it."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
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
START_SECONDS = 180
_GRPC = 10_000  # seaweedfs takes the port so far above each of its own as well
_PORTS = range(11_000, 22_000)  # both below those that the system gives to whoever connects somewhere
_ATTEMPTS = 3


@dataclass(frozen=True)
class Server:
    """Where a running server listens."""

    endpoint: str

    def bucket(self, prefix: str) -> Bucket:
        """The server's bucket, at that prefix. There is only one: each takes a share of the server's volumes."""
        return Bucket(NAME, prefix, self.endpoint, REGION, ACCESS_KEY, SECRET_KEY)


@contextmanager
def running_server() -> Iterator[Server]:
    """seaweedfs, told to look for no others: that way it is up within four seconds. Where another process took one of its
    ports in the meantime it ends at once, and is begun again on others."""
    for attempt in range(1, _ATTEMPTS + 1):
        with TemporaryDirectory(prefix="weed-") as folder:
            server, process = _started(Path(folder))
            try:
                if _is_ready(server, process):
                    yield server
                    return
            finally:
                process.kill()  # it has nothing to put in order: its folder goes too
                process.wait()
            if attempt == _ATTEMPTS:
                log = (Path(folder) / "output").read_text("utf-8", "replace")[-2000:]
                raise RuntimeError(f"the S3 server of the tests did not start:\n{log}")


def _started(folder: Path) -> tuple[Server, subprocess.Popen[bytes]]:
    master, volume, filer, s3 = free_ports(4)
    rights = {"name": "tests", "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]}
    identity = {"identities": [{**rights, "actions": ["Admin", "Read", "Write", "List"]}]}
    settings = folder / "s3.json"
    settings.write_text(json.dumps(identity), "utf-8")
    (folder / "data").mkdir()
    given = {
        "ip": "127.0.0.1", "dir": f"{folder}/data", "volume.max": 16, "master.volumeSizeLimitMB": 64,
        "master.port": master, "volume.port": volume, "filer.port": filer, "s3.port": s3, "s3.config": settings,
        "filer.localSocket": f"{folder}/filer.sock", "master.electionTimeout": "1s",
        "master.heartbeatInterval": "200ms", "master.telemetry": "false", "s3.port.iceberg": 0, "s3.port.lance": 0,
    }  # fmt: skip
    weed = str(Path(sys.executable).parent / "weed")
    options = [f"-{name}={value}" for name, value in given.items()]
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "COV_CORE", "COVERAGE"))
    }
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [weed, f"-logdir={folder}", "server", "-filer", "-s3", *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=clean,
        )
    return Server(f"http://127.0.0.1:{s3}"), process


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, nor on those so far above that seaweedfs takes."""
    found: list[int] = []
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        with ExitStack() as stack:
            try:
                for taken in (port, port + _GRPC):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", taken))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            break
    return found


def _is_ready(server: Server, process: subprocess.Popen[bytes]) -> bool:
    """Whether it takes a write in time; False once it has ended."""
    until, client = time.monotonic() + START_SECONDS, _client(server.endpoint)
    while process.poll() is None and time.monotonic() < until:
        try:
            client.create_bucket(Bucket=NAME)
            client.put_object(Bucket=NAME, Key="ready", Body=b"ready")
        except (BotoCoreError, ClientError):
            time.sleep(0.1)
        else:
            return True
    return False


def _client(endpoint: str):
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        region_name=REGION,
        config=Config(
            retries={"max_attempts": 1}, connect_timeout=10, read_timeout=30, s3={"addressing_style": "path"}
        ),
    )
