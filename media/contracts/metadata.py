"""What is known of a document beside its text: one shape for every kind of media."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field, JsonValue, SerializerFunctionWrapHandler, model_serializer

from kernel.contracts import Contract
from media.contracts.kinds import MediaType

CONTENT = 4000  # characters of the text that stand in the metadata
RESERVED = frozenset(
    {
        "schema_version", "media_type", "media", "semantic", "content", "title", "principal", "owner", "content_hash",
        "storage_uri", "file_name", "file_size", "file_type", "file_path",
    }
)  # fmt: skip


class _Sparse(Contract):
    """What is not known is left out."""

    @model_serializer(mode="wrap")
    def _known(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in dump(self).items() if value is not None}


class Gps(Contract):
    """A place on Earth, in degrees."""

    lat: float = Field(ge=-90, le=90, description="Degrees north of the equator.")
    lon: float = Field(ge=-180, le=180, description="Degrees east of Greenwich.")


class Exif(_Sparse):
    """What the camera noted; `{}` where it noted nothing."""

    datetime: str | None = Field(default=None, description="When the picture was taken, as far as it says.")
    camera_model: str | None = Field(default=None, description="Camera.")
    gps: Gps | None = Field(default=None, description="Where the picture was taken.")


class MediaFacts(Contract):
    """Technical facts of any kind of media; null where they do not apply or are not known."""

    format: str | None = Field(default=None, description="Real format, such as `jpeg` or `pdf`.")
    width: int | None = Field(default=None, description="Pixels of an image or video.")
    height: int | None = Field(default=None, description="Pixels of an image or video.")
    dpi: int | None = Field(default=None, description="Resolution of an image.")
    color_mode: str | None = Field(default=None, description="Colours of an image, such as `RGB`.")
    orientation: str | None = Field(default=None, description="`landscape`, `portrait` or `square`.")
    exif: Exif = Field(default=Exif(), description="What the camera noted; `{}` where it noted nothing.")
    duration_ms: int | None = Field(default=None, description="Length of sound or video in milliseconds.")
    bitrate_bps: int | None = Field(default=None, description="Bits a second of sound or video.")
    sample_rate_hz: int | None = Field(default=None, description="Samples a second of sound.")
    channels: int | None = Field(default=None, description="Channels of sound.")
    codec: str | None = Field(default=None, description="Encoding of sound or video, such as `h264`.")
    fps: float | None = Field(default=None, description="Pictures a second of a video.")
    audio_codec: str | None = Field(default=None, description="Encoding of the sound in a video.")
    frame_count: int | None = Field(
        default=None, description="Pictures that follow each other in a file, such as those of a moving GIF."
    )


class Semantic(Contract):
    """What a document shows or says, in words."""

    description: str | None = Field(default=None, description="The whole in words; null where nobody gave any.")
    captions: list[str] = Field(default=[], description="Descriptions of a picture, sentences of sound or video.")
    tags: list[str] = Field(default=[], description="The caller's tags.")


class DocumentMetadata(Contract):
    """What is known of a document beside its text. The caller's own members stand beside ours; the title is only the
    document's title."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)

    schema_version: int = Field(default=1, description="Version of this shape.")
    media_type: MediaType = Field(description="What the document is.")
    media: MediaFacts = Field(default=MediaFacts(), description="Technical facts.")
    semantic: Semantic = Field(default=Semantic(), description="What it shows or says.")
    content: str = Field(default="", description="The beginning of its text; the whole stands in its sections.")
    file_name: str = Field(default="", description="Name of the file, without any folder; empty for inline text.")
    file_size: int = Field(default=0, description="Bytes.")
    file_type: str = Field(default="", description="MIME type that the content shows.")
