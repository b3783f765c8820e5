"""Reading a multipart/form-data body: one file, kept on disk while it is measured, and short text fields."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation, TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadhandler import FileUploadHandler
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from rest_framework.request import Request

from kernel.conf import conf
from kernel.errors import InvalidInputError, TooLargeError
from kernel.wire import was_cut


@dataclass(frozen=True, slots=True)
class Form:
    """What a form holds: its text fields by name, and its file with the name that the client gave it."""

    fields: dict[str, str]
    path: Path | None
    name: str


@contextmanager
def read_form(request: Request) -> Iterator[Form]:
    """The form of a request; its file is there while the block lasts.

    Raises TooLargeError by what really arrives, whatever the headers say, and InvalidInputError for what is no form.
    """
    with TemporaryDirectory(prefix="smartbrain-") as folder:
        handler = _OneFile(Path(folder) / "upload", conf().media_max_bytes)
        meta = {**request.META, "CONTENT_LENGTH": "1"}  # what is read ends by itself; the header may say anything
        try:
            fields, _ = MultiPartParser(meta, request, [handler]).parse()
        except (MultiPartParserError, TooManyFieldsSent, TooManyFilesSent) as exc:
            raise InvalidInputError(f"The body is no form that can be read: {exc}") from exc
        except RequestDataTooBig as exc:
            raise TooLargeError("The text fields of the form are too long: only `file` may be large.") from exc
        except SuspiciousOperation as exc:
            raise InvalidInputError("The body is no form that can be read.") from exc
        if was_cut(request):
            raise TooLargeError(f"The file is over {conf().media_max_bytes} bytes.")
        if any(len(values) > 1 for _, values in fields.lists()):
            raise InvalidInputError("A field of the form is there twice.")
        yield Form({name: str(value) for name, value in fields.items()}, handler.kept, handler.name)


class _OneFile(FileUploadHandler):
    """Writes the one file of a form to disk and counts its bytes on the way."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__()
        self.path = path
        self.most = most
        self.kept: Path | None = None
        self.name = ""
        self.size = 0
        self.out: Any = None

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        """A file begins."""
        super().new_file(field_name, file_name, *args, **kwargs)
        if field_name != "file" or self.kept is not None:
            raise InvalidInputError("Send one file, in the field `file`.")
        self.kept, self.name = self.path, file_name
        self.out = self.path.open("wb")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Some of it arrives. Raises TooLargeError once it is too much."""
        self.size += len(raw_data)
        if self.size > self.most:
            self.out.close()
            raise TooLargeError(f"The file is over {self.most} bytes.")
        self.out.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        """It is all there."""
        self.out.close()

    def upload_interrupted(self) -> None:
        """The client went away."""
        if self.out is not None:
            self.out.close()
