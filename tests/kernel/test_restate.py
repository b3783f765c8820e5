"""What counts as the same statement, and what never does (field report A3)."""

from __future__ import annotations

import pytest

from kernel.restate import restates


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The default database is Postgres.", "default database: postgres!"),
        ("The user really prefers dark mode", "User prefers dark mode."),
        ("请记住：默认数据库是 Postgres", "默认数据库是Postgres。"),
        ("默认的数据库是 Postgres", "默认数据库是 Postgres"),
        ("ＡＢＣ is 12", "abc is １２"),
        ("Please note that Bob's port is 80", "bob’s port is 80"),
        ("A server is down. A disk is full.", "The server is down; a disk is full"),
        ("", ""),
    ],
)
def test_it_works(first, second):
    assert restates(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The suite has 37 snapshots", "The suite has 15 snapshots"),
        ("It costs 3.5 dollars", "It costs 35 dollars"),
        ("It costs $5", "It costs 5%"),
        ("The offset is -5", "The offset is 5"),
        ("The area is 10²", "The area is 102"),
        ("三个副本", "两个副本"),
        ("The server is on", "The server is not on"),
        ("Alice can deploy", "Alice cannot deploy"),
        ("Alice is here", "Alice isn't here"),
        ("我喜欢深色", "我不喜欢深色"),
        ("没有测试", "有测试"),
        ("The release is on Monday", "The release is on Friday"),
        ("Due 2026-12-01", "Due 2026-12-02"),
        ("截止十二月一日", "截止十二月二日"),
        ("Alice is the lead", "Alice was the lead"),
        ("Alice manages Bob", "Bob manages Alice"),
        ("My laptop is red", "Your laptop is red"),
        ("The default database is Postgres", "The default database is MySQL"),
        ("Written in C", "Written in C++"),
        ("x < 5", "x > 5"),
        ("做了部署", "做部署"),
        ("The default is on.", "The default is on?"),
        ("The shop has a customer in Berlin", "The shop is a customer in Berlin"),
        ("Plan A is approved", "The plan is approved"),
        ("Open at 9 am", "Open at 9"),
        ("Bob has left", "Bob left"),
        ("moved from Paris to Rome", "moved to Paris from Rome"),
    ],
)
def test_a_changed_fact_is_another_statement(first, second):
    assert not restates(first, second)
    assert not restates(second, first)
