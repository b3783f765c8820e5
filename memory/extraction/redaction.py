"""Finding secrets in text, whatever script stands next to them, and blotting them out."""

from __future__ import annotations

import re

BLOT = "[redacted]"

# `\b` does not fire between a Han character and a letter, so every edge is an ASCII look-around.
_EDGE = r"(?<![A-Za-z0-9])"
_KNOWN = (
    r"(?:sk|pk|rk)[-_](?:[A-Za-z0-9]{1,12}[-_]){0,3}[A-Za-z0-9_-]{12,200}",
    r"gh[pousr]_[A-Za-z0-9]{16,255}",
    r"github_pat_[A-Za-z0-9_]{16,255}",
    r"glpat-[A-Za-z0-9_-]{16,100}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,200}",
    r"(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{12,20}",
    r"AIza[0-9A-Za-z_-]{30,45}",
    r"ya29\.[0-9A-Za-z_-]{20,300}",
    r"(?:hf|npm|dop_v1|shpat|r8|gsk|tvly|pypi)[_-][A-Za-z0-9_-]{16,200}",
    r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}",
    r"LTAI[A-Za-z0-9]{12,30}",
    r"eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]{4,2000})?",
    r"[Bb]earer\s{1,3}[A-Za-z0-9._~+/=-]{12,2000}",
)
_PATTERNS = [
    re.compile(_EDGE + "(?:" + "|".join(_KNOWN) + ")"),
    re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----"),
    re.compile(r"(?<=://)[^\s:/@]{1,100}:[^\s/@]{1,200}(?=@)"),
]

_WORD = (
    r"(?:pass(?:word|wd|phrase|code)|(?<![A-Za-z])pwd|(?<![A-Za-z])pin(?: code| number)?(?![A-Za-z])|"
    r"(?:api|access|secret|private|signing|encryption|license|ssh|auth|account)[ _-]?(?:key|token|secret)|"
    r"(?:client|app|shared|webhook)[ _-]?secret|(?<![A-Za-z])secret(?![A-Za-z])|(?<![A-Za-z])token(?![A-Za-z])|"
    r"credentials?|密\s?码|密\s?碼|口令|密钥|密鑰|秘钥|秘鑰|令牌|金钥|金鑰|私钥|私鑰|验证码|驗證碼|暗号|暗號)"
)
_LINK = (
    r"(?:\s{0,3}(?:for|to|of|on|的)\s{1,3}[^\s,;:=]{1,40}(?:\s{1,3}[^\s,;:=]{1,40})?)?\s{0,3}"
    r"(?P<link>[:=：＝]|(?<![A-Za-z])(?:is|was|equals)(?![A-Za-z])|->|=>|是|为|為|叫|设为|設為|改成|改为|改為|就是)"
    r"[\s:：=\"'`“‘「是]{0,6}(?P<value>[^\s,，。;；、\"'`”’」！!？?]{2,200})"
)
_NAMED = re.compile(_WORD + _LINK, re.IGNORECASE)
_BARE = re.compile(_WORD + r"\s{1,3}(?P<value>(?=[^\s]{0,40}[0-9])(?=[^\s]{0,40}[A-Za-z])[!-~]{6,200})", re.IGNORECASE)
_BARE_ZH = re.compile(
    r"(?:密\s?码|密\s?碼|口令|密钥|密鑰|秘钥|令牌|私钥|私鑰|验证码|驗證碼)\s{1,3}(?P<value>(?=[!-~]{0,40}[0-9])[!-~]{4,200})"
)
_HARMLESS = re.compile(
    r"(?:required|stored|saved|kept|wrong|right|optional|expired?|expiring|hashed|salted|invalid|valid|needed|in?correct|"
    r"weak|strong|empty|secret|missing|set|reset|unknown|the|an?|in|on|at|by|not|no|never|always|managed|rotated|"
    r"encrypted|too|very|only|case|also|now|still|being|been|checked|sent|shared|different|same|changed|used|"
    r"deprecated|disabled|enabled|blank|null|none|todo|tbd|what|where|how|safe|unsafe|leaked|valid|one|our|your|my|"
    r"up|out|long|short|per|counted|limited|part|there|here|supposed|going|done|ok|okay|fine)(?![A-Za-z0-9])"
    r"|(?:必[填须須]|可选|可選|加密|保存|存[放在储儲]|放在|需要|错|錯|强制|什么|什麼|多少|哈希|由|从|從|在|不|过期|過期|"
    r"空|用来|用來|一[个個种種]|很|太|每|我们|我們|敏感|重要|怎)",
    re.IGNORECASE,
)
_LONG = re.compile(r"(?<![A-Za-z0-9_./:-])[A-Za-z0-9_+=-]{20,4000}")
_HEX = re.compile(r"(?<![A-Za-z0-9-])[0-9a-fA-F]{32,4000}(?![A-Za-z0-9-])")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DIGEST_WORD = re.compile(
    r"(?:commit|sha-?\d{0,3}|md5|hash|digest|checksum|uuid|revision|提交|哈希|摘要|校验和)[^A-Za-z0-9]{0,6}$",
    re.IGNORECASE,
)
_TURNS = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])")


def secret_spans(text: str) -> list[tuple[int, int]]:
    """Where the text shows a password, key or token; may overlap."""
    spans = [match.span() for pattern in _PATTERNS for match in pattern.finditer(text)]
    spans += [match.span("value") for match in _NAMED.finditer(text) if _is_given(match)]
    spans += [match.span("value") for pattern in (_BARE, _BARE_ZH) for match in pattern.finditer(text)]
    spans += [match.span() for match in _LONG.finditer(text) if _is_random(match.group())]
    spans += [match.span() for match in _HEX.finditer(text) if not _is_digest(text, match.start())]
    return sorted(spans)


def looks_like_secret(text: str) -> bool:
    """Whether the text holds anything that must not be remembered."""
    return bool(secret_spans(text))


def redact(text: str) -> str:
    """The text with each secret replaced by a blot."""
    out: list[str] = []
    done = 0
    for start, end in secret_spans(text):
        if end <= done:
            continue
        out += [text[done : max(start, done)], BLOT]
        done = end
    return "".join([*out, text[done:]])


def _is_given(match: re.Match[str]) -> bool:
    """Whether what follows "password is" is a password and not prose about passwords."""
    value = match["value"]
    if _HARMLESS.match(value):
        return False
    word = match.group().lower()
    if word.startswith(("token", "secret", "credential", "pin")) or "token" in word[:14]:
        # A token count, a secret ingredient: only what cannot be a word or a small number.
        return len(value) >= 4 and any(char.isdigit() for char in value) and (not value.isdigit() or "pin" in word)
    return True


def _is_random(token: str) -> bool:
    if _HEX.fullmatch(token) or _UUID.fullmatch(token):
        return False
    digits = sum(char.isdigit() for char in token)
    return (
        digits >= 3 and any(char.isalpha() for char in token) and len(_TURNS.findall(token)) >= max(6, len(token) // 5)
    )


def _is_digest(text: str, start: int) -> bool:
    return bool(_DIGEST_WORD.search(text[max(0, start - 24) : start]))
