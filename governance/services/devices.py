"""Second factors: a person's authenticator, kept by django-otp in a table of its own, and their recovery codes."""

from __future__ import annotations

import math
import re
import secrets
from base64 import b32encode
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from django.db import transaction
from django.utils import timezone
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex

from governance.models.recovery import RecoveryCode, RecoveryDevice, hash_code
from kernel.errors import InvalidInputError, QuotaExceededError

if TYPE_CHECKING:
    from django.contrib.auth.models import User

ISSUER = "SmartBrain"
RECOVERY_CODES = 10
DIGITS = 6
_RECOVERY = re.compile(r"[a-z2-7]{16}")


def has_device(user: User) -> bool:
    """Whether the person has set up a second factor."""
    return bool(TOTPDevice.objects.filter(user=user, confirmed=True).exists())


def authenticator(user: User) -> Any:
    """The person's authenticator; None where there is none."""
    return TOTPDevice.objects.filter(user=user, confirmed=True).first()


def new_key() -> str:
    """A fresh secret for an authenticator, 40 hexadecimal digits."""
    return str(random_hex(20))


def address_of(user: User, key: str) -> str:
    """The `otpauth://` address that an authenticator reads from a QR code."""
    label = quote(f"{ISSUER}:{user.get_username()}")
    return f"otpauth://totp/{label}?{urlencode({'secret': secret_of(key), 'issuer': ISSUER, 'digits': DIGITS})}"


def secret_of(key: str) -> str:
    """The secret as people type it: base 32."""
    return b32encode(bytes.fromhex(key)).decode("ascii")


def enrol(user: User, key: str, code: str) -> list[str]:
    """Set up the authenticator that has this key, once it shows a right code; its recovery codes, shown this once.

    An authenticator from before gives way. Raises InvalidInputError for a wrong code.
    """
    totp = TOTP(bytes.fromhex(key))
    totp.time = timezone.now().timestamp()
    digits = _digits(code)
    if not (digits.isdecimal() and len(digits) == DIGITS) or not totp.verify(int(digits), tolerance=1):
        raise _wrong()
    with transaction.atomic():
        forget(user)
        TOTPDevice.objects.create(user=user, name="authenticator", key=key, confirmed=True, last_t=totp.t())
        return renew_codes(user)


def renew_codes(user: User) -> list[str]:
    """Ten new recovery codes in the place of all earlier ones; each works once, and nobody can show them again."""
    with transaction.atomic():
        holder, _ = RecoveryDevice.objects.get_or_create(user=user, name="recovery codes")
        holder.codes.all().delete()
        codes = [b32encode(secrets.token_bytes(10)).decode("ascii").lower() for _ in range(RECOVERY_CODES)]
        RecoveryCode.objects.bulk_create([RecoveryCode(device=holder, hash=hash_code(code)) for code in codes])
    return ["-".join(re.findall("....", code)) for code in codes]


def codes_left(user: User) -> int:
    """How many recovery codes are unused."""
    return int(RecoveryCode.objects.filter(device__user=user).count())


def verify(user: User, code: str) -> Any:
    """The device that accepts the code: six digits are the authenticator's, anything else is a recovery code.

    Raises InvalidInputError for a wrong code, QuotaExceededError while wrong ones before make it wait.
    """
    given = _digits(code)
    kind = TOTPDevice if len(given) == DIGITS and given.isdigit() else RecoveryDevice
    given = given.replace("-", "").lower()
    if kind is RecoveryDevice and not _RECOVERY.fullmatch(given):
        raise _wrong()
    with transaction.atomic():
        device = kind.objects.select_for_update().filter(user=user, confirmed=True).first()
        allowed, why = device.verify_is_allowed() if device else (True, None)
        accepted = device is not None and allowed and device.verify_token(given)
    if accepted:
        return device
    if not allowed and why is not None:
        wait = max(1, math.ceil((why["locked_until"] - timezone.now()).total_seconds()))
        raise QuotaExceededError(f"Too many wrong codes: try again in {wait} seconds.", retry_after=wait)
    raise _wrong()


def forget(user: User) -> list[str]:
    """Take away the person's authenticator and recovery codes; what was there."""
    gone = []
    for kind, what in ((TOTPDevice, "authenticator"), (RecoveryDevice, "recovery codes")):
        if kind.objects.filter(user=user).delete()[0]:
            gone.append(what)
    return gone


def _digits(code: str) -> str:
    """The code without the spaces that people type into it."""
    return "".join(code.split())


def _wrong() -> InvalidInputError:
    return InvalidInputError(
        "This code is not right. Give the code that your authenticator shows now, or an unused recovery code."
    )
