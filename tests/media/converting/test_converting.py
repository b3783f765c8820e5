"""Reading documents as Markdown."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.utils import get_column_letter

from kernel.errors import DomainError, InvalidInputError, TooLargeError
from media.converting import Converted, Limits, can_read, to_markdown
from tests.media import files

LIMITS = Limits(seconds=300)


def read(path: Path, limits: Limits = LIMITS) -> Converted:
    return to_markdown(path, path.suffix, limits)


def text_file(path: Path, raw: bytes) -> Path:
    path.write_bytes(raw)
    return path


def test_it_works(tmp_path):
    found = read(text_file(tmp_path / "a.md", "# 标题\r\n\r\nText.\r\n".encode()))
    assert (found.text, found.language, found.warnings, found.pages) == ("# 标题\n\nText.\n", "zh", (), ())


def test_a_word_file(tmp_path):
    found = read(files.docx(tmp_path / "a.docx"))
    assert "# Plan" in found.text
    assert "## 数据库" in found.text
    assert (found.title, found.author) == ("The plan", "Ann")


def test_a_spreadsheet(tmp_path):
    found = read(files.xlsx(tmp_path / "a.xlsx"))
    assert "## Prices" in found.text
    assert "| 西瓜 | 5 |" in found.text


def sheet(path, cells: dict[str, object]):
    """A workbook of one sheet with these cells."""
    book = Workbook()
    for place, value in cells.items():
        book.active[place] = value
    book.save(path)
    return path


def test_a_sheet_is_the_rows_and_columns_that_hold_something(tmp_path):
    cells = {"C2": "item", "F2": "day | night", "C1048576": "melon", "XFD9": date(2026, 1, 2)}
    found = read(sheet(tmp_path / "a.xlsx", cells), Limits(seconds=300))
    assert found.text == (
        "## Sheet\n| item | day \\| night |  |\n| --- | --- | --- |\n|  |  | 2026-01-02 |\n| melon |  |  |\n"
    )


def test_a_sheet_whose_table_would_be_too_large_is_refused(tmp_path):
    path = sheet(tmp_path / "a.xlsx", {f"{get_column_letter(n)}{n}": n for n in range(1, 150)})
    with pytest.raises(TooLargeError, match="149 rows and 149 columns"):
        read(path, Limits(seconds=300, chars=20_000))


def test_a_sheet_with_a_row_beyond_the_last_is_damaged(tmp_path):
    with zipfile.ZipFile(files.xlsx(tmp_path / "a.xlsx")) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["xl/worksheets/sheet1.xml"] = members["xl/worksheets/sheet1.xml"].replace(
        b'<row r="3"', b'<row r="99999999"'
    )
    with pytest.raises(InvalidInputError, match="damaged"):
        read(files.archive(tmp_path / "b.xlsx", members), Limits(seconds=300))


def test_a_presentation_knows_its_slides(tmp_path):
    found = read(files.pptx(tmp_path / "a.pptx"))
    assert len(found.pages) == 2
    assert "西瓜" in found.text[found.pages[1] :]
    assert "Postgres" in found.text[: found.pages[1]]
    assert found.title == "The show"


def test_a_pdf_knows_its_pages(tmp_path):
    found = read(files.pdf(tmp_path / "a.pdf"))
    assert len(found.pages) == 3
    first, second = found.text[: found.pages[1]], found.text[found.pages[1] : found.pages[2]]
    assert "melons" in first
    assert "Postgres" in second
    assert (found.title, found.author) == ("The report", "Ann")


def test_a_page(tmp_path):
    found = read(files.html(tmp_path / "a.html"))
    assert "# Melons" in found.text
    assert "| 西瓜 | 5 |" in found.text
    assert "alert" not in found.text
    assert (found.title, found.author, found.description) == ("The page", "Ann", "About melons")


def test_a_page_in_another_encoding(tmp_path):
    words = "默认数据库是西瓜，而不是苹果。我们明天再讨论这个问题。" * 5
    found = read(text_file(tmp_path / "a.html", f"<html><body><p>{words}</p></body></html>".encode("gb18030")))
    assert words in found.text
    assert found.warnings == ("encoding_guessed:gb18030",)


def test_a_table_of_values(tmp_path):
    found = read(text_file(tmp_path / "a.csv", 'item;note\nmelon;"a | b\nc"\n\n西瓜;\n'.encode()))
    assert found.text == "| item | note |\n| --- | --- |\n| melon | a \\| b c |\n| 西瓜 |  |\n"


@pytest.mark.parametrize(("raw", "kept"), [('{"a":[1,"```"]}', '"```"'), ('{"a": nonsense', '{"a": nonsense')])
def test_json_is_kept_as_code(tmp_path, raw, kept):
    text = read(text_file(tmp_path / "a.json", raw.encode())).text
    assert kept in text
    mark = text.split("json")[0]
    assert set(mark) == {"`"}
    assert text.rstrip().endswith(mark)


WORDS = "默认数据库是西瓜，而不是苹果。我们明天再讨论这个问题。" * 5


@pytest.mark.parametrize(
    ("raw", "text", "warnings"),
    [
        ("\ufeffWords".encode(), "Words", ()),
        ("西瓜".encode("utf-16"), "西瓜", ()),
        ("西瓜".encode("utf-32"), "西瓜", ()),
        ("Melon".encode("utf-16-le"), "Melon", ()),
        ("Melon".encode("utf-16-be"), "Melon", ()),
        (WORDS.encode("gb18030"), WORDS, ("encoding_guessed:gb18030",)),
        (b"a\x00b", "ab", ("nul_characters_removed",)),
        (b"", "", ("no_text_found",)),
        (b" \n ", " \n ", ("no_text_found",)),
    ],
)
def test_the_encoding_of_a_text(tmp_path, raw, text, warnings):
    found = read(text_file(tmp_path / "a.txt", raw))
    assert (found.text, found.warnings) == (text, warnings)


@pytest.mark.parametrize("raw", [b"caf\xe9 \x81\xff", bytes(range(256)), b"\xff\xfea", b"\xed\xa0\x80"])
def test_any_bytes_become_a_text_that_can_be_kept(tmp_path, raw):
    text = read(text_file(tmp_path / "a.txt", raw)).text
    text.encode("utf-8")
    assert "\x00" not in text


def test_front_matter_names_title_and_author(tmp_path):
    found = read(text_file(tmp_path / "a.md", b'---\ntitle: "The plan"\nauthor: Ann\ntags:\n  - x\n---\n\n# H\n'))
    assert (found.title, found.author) == ("The plan", "Ann")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Hello", "en"),
        ("", "en"),
        ("今天很好 and more", "zh"),
        ("これは本です", "ja"),
        ("안녕하세요 세계", "ko"),
        ("日本の本です", "ja"),
    ],
)
def test_the_language_follows_the_script(tmp_path, text, language):
    assert read(text_file(tmp_path / "a.txt", text.encode())).language == language


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("a.doc", "format_not_read:doc:save_it_as_docx"),
        ("a.zip", "format_not_read:zip"),
        ("a", "format_not_read:unknown"),
    ],
)
def test_what_is_not_read_says_so(tmp_path, name, warning):
    assert not can_read(Path(name).suffix)
    found = read(text_file(tmp_path / name, b"PK"))
    assert (found.text, found.warnings) == ("", (warning,))


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx", "a.pdf"])
@pytest.mark.parametrize("raw", [b"", b"nonsense" * 100, b"PK\x03\x04" + b"\x00" * 100, b"%PDF-1.7\n%%EOF"])
def test_a_damaged_file_is_refused(tmp_path, name, raw):
    with pytest.raises(InvalidInputError, match=r"damaged"):
        read(text_file(tmp_path / name, raw))


def test_an_archive_without_a_document_is_refused(tmp_path):
    with pytest.raises(InvalidInputError):
        read(files.archive(tmp_path / "a.docx", {"hello.txt": b"hi"}))


def test_a_bomb_is_refused_before_it_is_opened(tmp_path):
    bomb = files.docx(tmp_path / "a.docx", {"word/media/image1.png": b"\x00" * 60_000_000})
    with pytest.raises(TooLargeError, match="unfolds to more"):
        read(bomb)
    with pytest.raises(TooLargeError, match="unfolds to more"):
        read(files.archive(tmp_path / "b.docx", {f"{n}.xml": b"" for n in range(20_001)}))


def test_files_within_a_file_are_not_opened(tmp_path):
    inner = files.archive(tmp_path / "inner.zip", {"secret.txt": b"quokka"}).read_bytes()
    found = read(files.docx(tmp_path / "a.docx", {"word/embeddings/inner.zip": inner}))
    assert found.warnings == ("embedded_files_not_read:1",)
    assert "quokka" not in found.text


def test_entities_that_multiply_are_not_followed(tmp_path):
    entities = '<!ENTITY a0 "quokka">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    body = "<w:p><w:r><w:t>&a9;</w:t></w:r></w:p>"
    path = files.docx(tmp_path / "a.docx")
    xml = f'<!DOCTYPE x [{entities}]><w:document xmlns:w="{files.WORD}"><w:body>{body}</w:body></w:document>'
    with pytest.raises(DomainError):
        read(files.docx(path, {"word/document.xml": xml.encode()}), Limits(seconds=10))


@pytest.mark.parametrize("uri", ["file:///etc/passwd", "http://127.0.0.1:9/x.png"])
def test_what_a_file_links_to_is_not_read(tmp_path, uri):
    xml = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{uri}">]><w:document xmlns:w="{files.WORD}"><w:body><w:p><w:r><w:t>Hello &e;</w:t></w:r></w:p></w:body></w:document>'
    path = files.docx(tmp_path / "a.docx", {"word/document.xml": xml.encode()})
    with suppress(InvalidInputError):
        assert "root:" not in read(path).text


def test_too_many_pages_are_refused(tmp_path):
    with pytest.raises(TooLargeError, match="3 pages; 2 at most"):
        read(files.pdf(tmp_path / "a.pdf"), Limits(seconds=300, pages=2))
    with pytest.raises(TooLargeError, match="2 slides; 1 at most"):
        read(files.pptx(tmp_path / "a.pptx"), Limits(seconds=300, pages=1))


def test_a_text_that_is_too_long_is_refused(tmp_path):
    for path in (text_file(tmp_path / "a.txt", b"x" * 101), files.html(tmp_path / "a.html")):
        with pytest.raises(TooLargeError, match="100 at most"):
            read(path, Limits(seconds=300, chars=100))


def test_what_takes_too_long_is_stopped(tmp_path):
    with pytest.raises(TooLargeError, match="longer than"):
        read(files.pptx(tmp_path / "a.pptx"), Limits(seconds=0.05))
    assert not [each for each in Path("/proc").glob("[0-9]*") if str(tmp_path).encode() in _command(each)]


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def test_what_takes_too_much_memory_is_refused(tmp_path):
    with pytest.raises((TooLargeError, InvalidInputError)):
        read(files.pdf(tmp_path / "a.pdf"), Limits(seconds=300, memory=45_000_000))
