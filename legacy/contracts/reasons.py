"""Why a row of the source cannot be stored as it is: one list of codes, each with what it means."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """The code under which a row is kept in the quarantine."""

    ORPHAN = "orphan"
    PARENT_QUARANTINED = "parent_quarantined"
    DUPLICATE = "duplicate"
    BAD_JSON = "bad_json"
    NOT_AN_OBJECT = "not_an_object"
    BAD_TIME = "bad_time"
    BAD_NUMBER = "bad_number"
    BAD_ID = "bad_id"
    BAD_ENCODING = "bad_encoding"
    NUL = "nul"
    MISSING_VALUE = "missing_value"
    TEXT_TOO_LONG = "text_too_long"
    UNKNOWN_TYPE = "unknown_type"
    UNKNOWN_STATUS = "unknown_status"
    KEY_GRAMMAR = "key_grammar"
    CONFIDENCE_RANGE = "confidence_range"
    UNKNOWN_SCOPE = "unknown_scope"
    FOREIGN_DOMAIN = "foreign_domain"
    BAD_DOMAIN = "bad_domain"
    NOT_STORABLE = "not_storable"
    BYTES_MISSING = "bytes_missing"
    BYTES_DIFFER = "bytes_differ"
    UNKNOWN_OPERATION = "unknown_operation"
    HOST_CLOSED = "host_closed"
    TOUCHED_HERE = "touched_here"
    TAKEN_AWAY = "taken_away"
    SHARED_ROW = "shared_row"
    MOVED_THERE = "moved_there"


REASONS: dict[Reason, str] = {
    Reason.ORPHAN: "What it belongs to is not in the source: a session, turn, item or document that is gone, or an "
    "entity that nothing mentions.",
    Reason.PARENT_QUARANTINED: "What it belongs to is in the quarantine; once that is mended, a later run stores both.",
    Reason.DUPLICATE: "Another row already holds the place that only one can have, such as a session's turn number.",
    Reason.BAD_JSON: "Its JSON cannot be read: broken, too deep, or a number that no computer number holds.",
    Reason.NOT_AN_OBJECT: "Its JSON is a list, text or number where an object is needed.",
    Reason.BAD_TIME: "A time that is no moment between the years 1 and 9999, such as `infinity`, or a span that ends "
    "before it begins.",
    Reason.BAD_NUMBER: "A number that is missing, no number, or outside what the column can mean.",
    Reason.BAD_ID: "An id that no call could name: empty, over 200 characters, or with white space around it or signs "
    "that nobody sees.",
    Reason.BAD_ENCODING: "Bytes that are no UTF-8, or half a surrogate pair.",
    Reason.NUL: "A text with the character NUL, which no database of ours can hold.",
    Reason.MISSING_VALUE: "A value that must be there is not.",
    Reason.TEXT_TOO_LONG: "A text over the limit that also holds for new ones.",
    Reason.UNKNOWN_TYPE: "A type of memory, reference or source that does not exist here.",
    Reason.UNKNOWN_STATUS: "A status that does not exist here.",
    Reason.KEY_GRAMMAR: "A memory key outside the grammar of its type.",
    Reason.CONFIDENCE_RANGE: "A confidence that is not between 0 and 1.",
    Reason.UNKNOWN_SCOPE: "It names a scope that is not in the source.",
    Reason.FOREIGN_DOMAIN: "It lies in another domain than its session or item.",
    Reason.BAD_DOMAIN: "A domain id that no call could name.",
    Reason.NOT_STORABLE: "The database refused it; the note says how.",
    Reason.BYTES_MISSING: "The stored file is not under --media-root; a later run with the files mends it.",
    Reason.BYTES_DIFFER: "The stored file has other bytes than its hash says.",
    Reason.UNKNOWN_OPERATION: "A media job for an operation that does not exist here.",
    Reason.HOST_CLOSED: "A media job that waits, for a file of a host that SMARTBRAIN_MEDIA_ALLOWED_HOSTS does not name: a worker "
    "would fail it for good. Name the host there, and a later run takes it.",
    Reason.TOUCHED_HERE: "It changed in the source after it was moved in, and what it became was changed here too: that stays.",
    Reason.TAKEN_AWAY: "It changed in the source after it was moved in, and what it became was taken away here: that stays so.",
    Reason.SHARED_ROW: "It changed in the source after it was moved in, but what it became is not its own: it was here before, "
    "or other rows of the source became it too.",
    Reason.MOVED_THERE: "In the source it belongs elsewhere by now or has another identity: it stays where it was moved in.",
}


class Quarantined(Exception):
    """A row that cannot be stored as it is: the reason, and a note for people."""

    def __init__(self, reason: Reason, note: str = "") -> None:
        super().__init__(note or REASONS[reason])
        self.reason = reason
        self.note = note


class TakenAway(Quarantined):
    """A row whose place was here and was taken away since. Its words may be among what was erased: none are kept."""

    def __init__(self, what: str) -> None:
        super().__init__(Reason.ORPHAN, f"{what} was taken away here")
