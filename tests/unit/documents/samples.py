"""Small sample files of each kind."""

import io
import zipfile
from collections.abc import Mapping, Sequence

from openpyxl import Workbook
from pptx import Presentation

SCANNED = "72 72 400 600 re f"
"""Drawing instructions for a black rectangle, which counts as a scan because it has no text."""

CONTENT_TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/word/document.xml" ContentType=
"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
</Types>"""
RELATIONSHIPS = """<?xml version="1.0" encoding="UTF-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Target="word/document.xml"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>
</Relationships>"""
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def archive(parts: Mapping[str, str | bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a ZIP archive with these parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def docx(title: str, paragraphs: Sequence[str], *, more: Mapping[str, bytes] | None = None) -> bytes:
    """Return a Word document with a heading and paragraphs."""
    heading = f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>{title}</w:t></w:r></w:p>'
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    document = (
        f'<?xml version="1.0"?><w:document xmlns:w="{WORD}"><w:body>{heading}{body}</w:body></w:document>'
    )
    styles = (
        f'<?xml version="1.0"?><w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" w:styleId="Heading1">'
        '<w:name w:val="heading 1"/></w:style></w:styles>'
    )
    links = RELATIONSHIPS.replace("word/document.xml", "styles.xml").replace('officeDocument"', 'styles"')
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": RELATIONSHIPS,
        "word/document.xml": document,
        "word/styles.xml": styles,
        "word/_rels/document.xml.rels": links,
    }
    return archive({**parts, **(more or {})})


def pptx(title: str, text: str) -> bytes:
    """Return a presentation with one slide that has a title and a text."""
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = title
    slide.placeholders[1].text = text
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def xlsx(sheets: Mapping[str, Sequence[Sequence[object]]]) -> bytes:
    """Return a workbook with these rows on each sheet."""
    book = Workbook(write_only=True)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def epub(title: str, chapters: Sequence[str]) -> bytes:
    """Return an e-book with one file per chapter."""
    container = (
        '<?xml version="1.0"?>'
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    items = "".join(
        f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    html = '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Chapter {}</h1><p>{}</p></body></html>'
    bodies = {f"OEBPS/c{n}.xhtml": html.format(n, text) for n, text in enumerate(chapters)}
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/content.opf": package,
            **bodies,
        }
    )


STAMP = "Scanned with a telephone"
"""The only text on a page that is otherwise a scan."""

FULL_PAGE_IMAGE = "q 612 0 0 792 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID 0 EI Q"


def pdf(pages: Sequence[str | None], *, encrypted: bool = False) -> bytes:
    """Return a PDF with these texts on its pages.

    An empty text makes a scanned page, `STAMP` a scanned page with a stamp, and None a blank page.
    """
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        lines = "".join(f"({line}) Tj T* " for line in (text or "").splitlines())
        drawn = f"BT /F1 12 Tf 14 TL 72 720 Td {lines}ET" if text else ""
        drawn = SCANNED if text == "" else drawn
        drawn = f"{FULL_PAGE_IMAGE} {drawn}" if text == STAMP else drawn
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(drawn.encode('cp1252'))} >>\nstream\n{drawn}\nendstream")
    trailer = f"/Size {len(objects) + 1} /Root 1 0 R"
    if encrypted:
        key, own = "00" * 32, "11" * 16
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>")
        trailer = f"/Size {len(objects) + 1} /Root 1 0 R /Encrypt {len(objects)} 0 R /ID [<{own}> <{own}>]"
    out = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode("cp1252")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    return out + f"trailer\n<< {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
