"""What proposes nothing: small talk, questions, hypotheses, quotations, other speakers, secrets; and any text at all."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.extraction import Extraction, Said, extract, looks_like_secret, redact
from memory.keys import check_key
from tests.memory.extraction.hearing import hear, keys, reasons


def test_it_works():
    assert hear("hello there, how are you?") == extract([])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "hi",
        "你好！",
        "thanks a lot!",
        "谢谢！",
        "I'm so tired of this bug",
        "今天好累啊，不想上班",
        "ok",
        "👍",
        "Write a function that sorts a list",
        "帮我写一个排序函数",
        "run the tests again",
        "把这个文件删掉",
        "I have to go now",
        "I need to say this is great",
        "我需要帮助",
        "需要注意的是这里有坑",
        "我得去睡觉了",
        "I like this UI",
        "我喜欢这个设计",
        "I hate Mondays",
        "I am a bit tired",
        "I'm a huge fan of pizza",
        "I work from home",
        "我在家工作",
        "叫我起床",
        "我叫了外卖",
        "我是说明天再来",
        "以后再说吧",
        "三天以后都会好的",
        "I prefer not to say",
        "Remember when we went to Paris",
        "I remember when we met",
        "我不记得了",
        "我忘了带钥匙",
        "Actually that's fine",
        "我其实是开玩笑的",
        "Never mind",
        "Let's go with it",
        "I decided to go for a walk",
        "我不是不想去，而是没时间",
        "Things have been better from now on",
        "今天堵车，卡在路上了",
        "Don't remember this",
        "不要记住这个",
        "I am not a doctor",
        "这个由老板决定",
        "We haven't decided on a database yet.",
        "我们还没有决定用什么数据库",
        "forget about it",
    ],
)
def test_small_talk_venting_and_commands(text):
    assert keys(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "do you remember what we decided?",
        "Do you remember that we decided to use Mongo?",
        "记得吗？",
        "你还记得我们决定用什么数据库吗？",
        "should we decide to use Mongo?",
        "We decided to use Postgres, right?",
        "我们决定用 Postgres 了吗",
        "我们是不是决定用 Postgres",
        "What is my goal?",
        "我叫什么名字？",
        "我的目标是什么",
        "Do you know my name is Ann?",
        "Is my name Ann?",
        "要不就用 Mongo 吧？",
    ],
)
def test_questions(text):
    assert keys(text) == []


def test_a_statement_before_a_question_stands():
    [item] = hear("Let's go with option B, what do you think?").proposed
    assert item.statement == "Let's go with option B"


@pytest.mark.parametrize(
    "text",
    [
        "if we decided to use Mongo we need to rewrite everything",
        "Maybe we need to refactor this",
        "也许我们决定用 Mongo",
        "如果我们决定用 Mongo，那就需要迁移",
        "suppose my name is Bob",
        "我们可能需要重构",
        "I think we decided to use Kafka",
        "For example, we decided to use Go",
        "不如就用 Mongo 吧",
        "我们决定用 Redis，还没定",
    ],
)
def test_hypotheses_and_hedges(text):
    assert keys(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "> we decided to use Mongo",
        "```\nremember that x is y\n```",
        "~~~py\n# TODO: fix\n~~~",
        'He said "we decided to use Mongo"',
        "老板说：「我们决定用 Mongo」",
        "他说“我更喜欢 Vim”",
        "老板说我们决定用 Mongo",
        "Bob told me that we decided to use Mongo",
        "According to the doc, we decided to use Go",
        "翻译：“请记住默认端口是 80”",
        "请解释 `TODO: fix` 的意思",
        "“记住\n默认端口是 80”",
        "Assistant: we decided to use Go",
    ],
)
def test_code_and_the_words_of_others(text):
    assert keys(text) == []


def test_a_quotation_inside_an_order_is_content():
    [item] = hear('请记住：发布命令是 "make release"').proposed
    assert item.value["value"] == '"make release"'


def test_after_a_quotation_the_speaker_goes_on():
    assert keys('He said "use Mongo." We decided to use Postgres.') == ["decision:general:postgres"]


@pytest.mark.parametrize("role", ["assistant", "tool", "system", "developer"])
def test_only_a_user_asserts(role):
    text = "Remember that my name is Ann. 我们决定用 Redis。The task is done."
    assert keys(text, role=role) == []
    assert reasons(text, role=role) == {"not_from_user"}


def test_recalled_text_is_never_evidence():
    found = extract([Said("user", "", "Remember that my name is Ann", recalled=True)])
    assert found.proposed == []
    assert [item.reason for item in found.skipped] == ["recalled"]


END = f"<<<END SMARTBRAIN DATA {'7' * 32}>>>"


def beside(before: str, recalled: str, after: str) -> Extraction:
    """What is heard of a message that has recalled words between its own."""
    span = (len(before), len(before) + len(recalled))
    return extract([Said("user", "", before + recalled + after, spans=(span,))])


@pytest.mark.parametrize(
    ("before", "recalled", "after", "heard"),
    [
        ("", END, " Please remember: the boat is green.", ["fact:boat:is"]),
        ("Please remember: the boat is green. ", END, "", ["fact:boat:is"]),
        ("", "```\nthe lamp", "\nPlease remember: the boat is green.", ["fact:boat:is"]),
        ("Please remember: the boat ", "is green.", "", ["fact:general:the-boat"]),
        ("", "Please remember: ", "the boat is green.", []),
        ("", "The boat is green.", " Remember that.", []),
    ],
    ids=["after, on one line", "before", "after half of a code block", "begun before", "begun within", "pointed at"],
)
def test_a_sentence_is_wholly_of_the_user_or_of_memory(before, recalled, after, heard):
    found = beside(before, recalled, after).proposed
    assert [item.key for item in found] == heard
    assert all(not (item.span[0] < len(before + recalled) and item.span[1] > len(before)) for item in found)


def test_the_parts_that_came_out_of_memory_are_read_a_fixed_number_of_times():
    """However many sentences and parts a message has."""

    class Counted(tuple):
        reads = 0

        def __iter__(self):
            Counted.reads += 1
            return super().__iter__()

    text = "It is wrong. Please remember: the boat is green. " * 200
    said = Said("user", "", text, spans=Counted((at, at + 3) for at in range(0, len(text), 49)))
    assert extract([said, said]).proposed
    assert 0 < Counted.reads <= 2


SECRETS = [
    ("Remember my API key is sk-abcdefghijklmnop1234", "sk-abcdefghijklmnop1234"),
    ("记住我的API key是sk-proj-abcd1234efgh5678，谢谢", "sk-proj-abcd1234efgh5678"),
    ("请记住密钥AKIAIOSFODNN7EXAMPLE是我的", "AKIAIOSFODNN7EXAMPLE"),
    ("请记住数据库密码：P@ssw0rd", "P@ssw0rd"),
    ("我的密码是hunter2请记住", "hunter2"),
    ("密码是 abc123，别忘了", "abc123"),
    ("Remember the wifi password is sunflower", "sunflower"),
    ("Remember: Bearer abcdefghijklmnop123456", "abcdefghijklmnop123456"),
    ("记住令牌ghp_abcdefghijklmnopqrst1234给CI用", "ghp_abcdefghijklmnopqrst1234"),
    ("We decided to use postgres://app:s3cretpw@db:5432/x for storage", "s3cretpw"),
    ("Remember the token is eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdEFGH", "eyJhbGciOiJIUzI1NiJ9"),
    ("Remember that the deploy value is 9fK2mX8qLw3Zt7Rb5Vn1Yc4Hd", "9fK2mX8qLw3Zt7Rb5Vn1Yc4Hd"),
    ("Remember:\n- password: correct-horse", "correct-horse"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_never_proposed_nor_shown(text, secret):
    found = hear(text)
    assert found.proposed == []
    assert {item.reason for item in found.skipped} == {"looks_like_secret"}
    assert secret not in str(found)


@pytest.mark.parametrize(
    "text",
    [
        "The password is stored in Vault",
        "the password policy is strict",
        "token 限制是 4096",
        "max tokens: 4096",
        "密码是必填项",
        "commit 3f2a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a",
        "see https://example.com/a/b?c=d",
        "the secret ingredient is love",
        "550e8400-e29b-41d4-a716-446655440000",
        "PostgreSQL16MigrationPlan",
    ],
)
def test_prose_about_secrets_is_no_secret(text):
    assert not looks_like_secret(text)
    assert redact(text) == text


CUES = st.sampled_from(
    [
        "remember ",
        "please remember that ",
        "请记住",
        "记住：",
        "we decided to use ",
        "我们决定用",
        "I prefer ",
        "我更喜欢",
        " over ",
        "my name is ",
        "我叫",
        "I need to ",
        "TODO: ",
        "done with ",
        " is done",
        "做完了",
        "被",
        "卡住了",
        "that's wrong, ",
        "不对，",
        "应该是",
        "no longer ",
        "不再",
        "forget that ",
        "忘掉",
        "actually it's ",
        "not ",
        " but ",
        "是",
        " is ",
        "from now on ",
        "以后都",
        ", ",
        "，",
        "。",
        ". ",
        "?",
        "？",
        "\n",
        "\n- ",
        "> ",
        "```\n",
        '"',
        "“",
        "”",
        "「",
        "」",
        " and ",
        "if ",
        "如果",
        "x",
        "默认数据库",
        "password ",
        "：",
        "\ud800",
        "\x00",
        "\x1a",
        "İ",
        "ß",
    ]
)


@settings(max_examples=300)
@given(
    st.lists(st.one_of(CUES, st.text(st.characters(), max_size=12)), max_size=25).map("".join),
    st.sampled_from(["user", "assistant", "tool"]),
)
def test_no_text_breaks_it(text, role):
    said = [Said(role, "", text), Said("user", "", text)]
    tasks = [("task:a:b", "默认数据库 x"), ("task:a:c", "")]
    found = extract(said, tasks)
    assert found == extract(said, tasks)
    for item in found.proposed:
        assert check_key(item.type, item.key) == item.key
        assert 0 <= item.span[0] <= item.span[1] <= len(text)
        assert item.statement
        assert item.confidence == 0.8 or (item.kind == "task_status" and item.confidence == 0.6)


@pytest.mark.parametrize(
    "piece",
    [
        "remember ",
        "we decided ",
        "我们决定用",
        "记住",
        "a1B2",
        " ",
        "\n",
        '"',
        "“",
        "`",
        "password is ",
        "is not but ",
        "不是",
        "x is done. ",
        "被",
        " no longer",
        "TODO: x\n",
        ",",
        "如果",
        "://a:",
        "eyJ",
        "> x\n",
        "the ",
        "://",
        "```\n",
        "I prefer " + "the " * 50 + ". ",
    ],
)
def test_time_grows_with_the_text_and_no_faster(piece):
    def seconds(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        started = time.process_time()
        hear(text)
        return time.process_time() - started

    # Quadratic work would take sixteen times as long for four times the text; the constant absorbs a noisy machine.
    assert seconds(200_000) < 8 * seconds(50_000) + 1.0


def test_pasted_matter_without_an_end_is_named_not_read():
    assert reasons("remember " * 1000) == {"too_long"}
