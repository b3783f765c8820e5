"""Predicates of relations: whether a subject has one object of it at a time."""

from __future__ import annotations

import re

from kernel.text import fold
from memory.conflicts.claims import ONE

_SINGLE = frozenset(
    """
    lives in|lives at|works in|located in|headquartered in|headquarters|ceo|cto|parent company|native language|mother tongue|nationality|timezone|time zone|language|license|licence|title|role|job title|team lead|lead|project lead|primary email|primary contact|primary key|plays for|studies at|employer|residence|home city|current city|city|country|gender|blood type|eye color|hair color|favorite color|favourite colour|favorite food|default branch|main language|default language|scheduled for|scheduled on|takes place on|starts on|ends on|released on|expires on|located at|parent|reports|居住地|出生地|职位|职务|工作于|工作在|毕业于|部署于|托管于|隶属于|汇报给|上级|总部|总部位于|现任|时区|语言|许可证|located in|based in|works at|works for|employed by|reports to|managed by|led by|owned by|hosted on|deployed on|
    deployed to|runs on|stored in|written in|born in|born on|married to|spouse|manager|owner|boss|capital|capital of|
    birthday|version|status|default|name|email|phone|address|age|height|port|deadline|due|due on|price|costs|is|equals|
    has status|has version|has port|has owner|has manager|has name|has default|maintained by|assigned to|current version|
    住在|居住在|位于|就职于|任职于|属于|负责人|经理|老板|部署在|运行在|存储在|出生于|版本|状态|默认|默认为|名字|邮箱|电话|地址|端口|截止日期|价格|是|为
    """.replace("\n", "").replace("    ", "").split("|")
)  # fmt: skip


def plain_predicate(predicate: str) -> str:
    """The form in which predicates are compared: folded, `lives_in` and `Lives In` alike."""
    return " ".join(re.sub(r"[-_\s]+", " ", fold(predicate)).split())


def is_single(predicate: str) -> bool:
    """Whether a predicate, such as `lives_in` or `住在`, takes one object at a time; of those not known it is not."""
    plain = plain_predicate(predicate)
    return plain in _SINGLE or any(form.fullmatch(plain) for name, form in ONE if name != "is")
