"""Small real files of every kind that is read, made when a test asks for them."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def docx(path: Path, members: dict[str, bytes] | None = None) -> Path:
    """A Word file; `members` are further files within it, or others in the place of its own."""
    text = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{said}</w:t></w:r></w:p>'
        for style, said in (("Heading1", "Plan"), ("Normal", "The database is Postgres."), ("Heading2", "数据库"),
                            ("Normal", "默认数据库是西瓜。"))
    )  # fmt: skip
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/></w:style>' for n in (1, 2)
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{kind}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{kind}.styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
        "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{text}</w:body></w:document>',
        "docProps/core.xml": f'<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>The plan</dc:title><dc:creator>Ann</dc:creator></cp:coreProperties>",
    }
    return archive(path, {**{name: text.encode() for name, text in parts.items()}, **(members or {})})


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return path


def xlsx(path: Path) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    sheet.title = "Prices"
    for row in (("item", "price"), ("melon", 3), ("西瓜", 5)):
        sheet.append(row)
    book.create_sheet("Empty")
    book.save(path)
    return path


def pptx(path: Path) -> Path:
    from pptx import Presentation

    show = Presentation()
    for title, text in (("First", "We use Postgres."), ("Second", "默认数据库是西瓜。")):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, text
    show.core_properties.title = "The show"
    show.save(str(path))
    return path


def pdf(path: Path, *pages: str, title: str = "The report") -> Path:
    """A PDF with a line of text on each page."""
    pages = pages or ("The first page is about melons.", "The second page is about Postgres.", "The third is short.")
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{5 + 2 * n} 0 R' for n in range(len(pages)))}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title ({title}) /Author (Ann) >>",
    ]
    for number, said in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({said}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {6 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out, places = BytesIO(b"%PDF-1.4\n"), []
    out.seek(0, 2)
    for number, content in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{content}\nendobj\n".encode())
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write("".join(f"{place:010} 00000 n \n" for place in places).encode())
    out.write(f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    path.write_bytes(out.getvalue())
    return path


HTML = """<!doctype html><html><head><title>The page</title><meta name="author" content="Ann">
<meta name="description" content="About melons"><script>alert("no")</script></head>
<body><h1>Melons</h1><p>The database is <b>Postgres</b>.</p><h2>表</h2>
<table><tr><th>item</th><th>price</th></tr><tr><td>西瓜</td><td>5</td></tr></table></body></html>"""


def html(path: Path) -> Path:
    path.write_text(HTML, "utf-8")
    return path
