"""Vectors of single texts: the verdict on a JSON text, and the pieces of a foreign line."""

from __future__ import annotations

from vector_parts import finding


def structure_texts() -> list[tuple[str, bytes, str]]:
    return [
        ("empty object", b"{}", "ok"),
        ("all kinds of value", b'{"a":[1,-0.5e+3,true,false,null,"x",{}]}', "ok"),
        ("JSON whitespace around and between", b' \t\r\n{ "a" :\t1 , "b" : [ ] }\r\n', "ok"),
        ("form feed is no whitespace", b'{"a":\x0c1}', "not_json"),
        ("no text", b"", "not_json"),
        ("whitespace alone", b" \t", "not_json"),
        ("a number", b"42", "not_object"),
        ("a string", b'"str"', "not_object"),
        ("an array", b'[1,{"type":"a"}]', "not_object"),
        ("null", b"null", "not_object"),
        ("NaN alone", b"NaN", "not_object"),
        ("NaN and infinities", b'{"a":NaN,"b":Infinity,"c":-Infinity}', "ok"),
        ("-NaN", b'{"a":-NaN}', "not_json"),
        ("nan", b'{"a":nan}', "not_json"),
        ("Infinity cut", b'{"a":Infinit}', "not_json"),
        ("duplicate keys", b'{"a":1,"a":2}', "ok"),
    ]


def string_texts() -> list[tuple[str, bytes, str]]:
    return [
        ("escaped key", b'{"\\u0061\\n":1}', "ok"),
        ("lone high surrogate escape", b'{"a":"\\ud83d"}', "ok"),
        ("lone low surrogate escape", b'{"a":"\\uDC00x"}', "ok"),
        ("two high surrogate escapes", b'{"a":"\\ud83d\\ud83d"}', "ok"),
        ("all escapes", b'{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\uABcd"}', "ok"),
        ("unknown escape", b'{"a":"\\x41"}', "not_json"),
        ("upper case U escape", b'{"a":"\\U0041"}', "not_json"),
        ("three hex digits", b'{"a":"\\u041"}', "not_json"),
        ("hex digits with a sign", b'{"a":"\\u+041"}', "not_json"),
        ("hex digits with an underscore", b'{"a":"\\u0_41"}', "not_json"),
        ("hex digits with 0x", b'{"a":"\\u0x41"}', "not_json"),
        ("backslash at the end", b'{"a":"\\', "not_json"),
        ("raw tab in a string", b'{"a":"\t"}', "not_json"),
        ("raw NUL in a string", b'{"a":"\0"}', "not_json"),
        ("raw NUL behind the object", b"{}\0", "not_json"),
        ("raw 0x1f in a string", b'{"a":"\x1f"}', "not_json"),
        ("raw DEL in a string", b'{"a":"\x7f"}', "ok"),
        ("U+2028 and U+0085 in a string", '{"a":"\u2028\u0085"}'.encode(), "ok"),
        ("no-break space as whitespace", '{"a":\u00a01}'.encode(), "not_json"),
        ("byte order mark before", b"\xef\xbb\xbf{}", "not_json"),
        ("byte order mark in a string", b'{"a":"\xef\xbb\xbf"}', "ok"),
    ]


def number_texts() -> list[tuple[str, bytes, str]]:
    return [
        ("zero", b'{"a":0}', "ok"),
        ("minus zero", b'{"a":-0}', "ok"),
        ("leading zero", b'{"a":01}', "not_json"),
        ("plus sign", b'{"a":+1}', "not_json"),
        ("minus alone", b'{"a":-}', "not_json"),
        ("dot without digits", b'{"a":1.}', "not_json"),
        ("dot first", b'{"a":.5}', "not_json"),
        ("exponent without digits", b'{"a":1e}', "not_json"),
        ("signed exponent without digits", b'{"a":1e-}', "not_json"),
        ("float too large", b'{"a":1e999}', "ok"),
        ("exponent on an integer", b'{"a":1E5}', "ok"),
        ("hex number", b'{"a":0x1}', "not_json"),
        ("underscore in a number", b'{"a":1_0}', "not_json"),
        ("fullwidth digit", '{"a":\uff11}'.encode(), "not_json"),
        ("4300 digits", b'{"a":' + b"7" * 4300 + b"}", "ok"),
        ("minus and 4300 digits", b'{"a":-' + b"7" * 4300 + b"}", "ok"),
        ("4301 digits", b'{"a":' + b"7" * 4301 + b"}", "not_json"),
        ("minus and 4301 digits", b'{"a":-' + b"7" * 4301 + b"}", "not_json"),
        ("4301 digits and a fraction", b'{"a":' + b"7" * 4301 + b".5}", "ok"),
        ("4301 digits and an exponent", b'{"a":' + b"7" * 4301 + b"e1}", "ok"),
        ("4301 digits at the top level", b"7" * 4301, "not_json"),
        ("4301 digits in a string", b'{"a":"' + b"7" * 4301 + b'"}', "ok"),
    ]


def broken_texts() -> list[tuple[str, bytes, str]]:
    return [
        ("trailing comma in an object", b'{"a":1,}', "not_json"),
        ("trailing comma in an array", b'{"a":[1,]}', "not_json"),
        ("key without quotes", b"{a:1}", "not_json"),
        ("single quotes", b"{'a':1}", "not_json"),
        ("key that is a number", b"{1:1}", "not_json"),
        ("no colon", b'{"a" 1}', "not_json"),
        ("no value", b'{"a":}', "not_json"),
        ("no comma", b'{"a":1 "b":2}', "not_json"),
        ("crossed brackets", b'{"a":[1}]', "not_json"),
        ("two objects", b"{}{}", "not_json"),
        ("unclosed object", b'{"a":1', "not_json"),
        ("unclosed array", b'{"a":[1', "not_json"),
        ("unclosed string", b'{"a":"b', "not_json"),
        ("a comment", b'{"a":1}//x', "not_json"),
        ("literal cut", b'{"a":tru}', "not_json"),
        ("literal in capitals", b'{"a":True}', "not_json"),
    ]


def utf8_texts() -> list[tuple[str, bytes, str]]:
    return [
        ("byte 0xff in a string", b'{"a":"\xff"}', "not_utf8"),
        ("raw surrogate", b'{"a":"\xed\xa0\xbd"}', "not_utf8"),
        ("raw surrogate pair", b'{"a":"\xed\xa0\xbd\xed\xb8\x80"}', "not_utf8"),
        ("last code point before the surrogates", b'{"a":"\xed\x9f\xbf"}', "ok"),
        ("overlong slash", b'{"a":"\xc0\xaf"}', "not_utf8"),
        ("overlong of three bytes", b'{"a":"\xe0\x80\xaf"}', "not_utf8"),
        ("overlong of four bytes", b'{"a":"\xf0\x80\x80\xaf"}', "not_utf8"),
        ("U+10FFFF", b'{"a":"\xf4\x8f\xbf\xbf"}', "ok"),
        ("U+110000", b'{"a":"\xf4\x90\x80\x80"}', "not_utf8"),
        ("sequence cut by a quote", b'{"a":"\xe7\x95"}', "not_utf8"),
        ("sequence cut by the end", b'{"a":"\xe7\x95', "not_utf8"),
        ("continuation alone", b'{"a":"\x80"}', "not_utf8"),
        ("bad UTF-8 behind a syntax error", b"{]\xff", "not_utf8"),
        ("bad UTF-8 behind depth 201", b'{"a":' + b"[" * 200 + b"\xff", "not_utf8"),
    ]


def depth_texts() -> list[tuple[str, bytes, str]]:
    return [
        ("depth 200 of arrays in an object", b'{"a":' + b"[" * 199 + b"]" * 199 + b"}", "ok"),
        ("depth 201", b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", "too_deep"),
        ("depth 200 of objects", b'{"a":' * 199 + b"{}" + b"}" * 199, "ok"),
        ("depth 201 of objects", b'{"a":' * 200 + b"{}" + b"}" * 200, "too_deep"),
        ("depth 200 of arrays alone", b"[" * 200 + b"]" * 200, "not_object"),
        ("depth 201 of arrays alone", b"[" * 201 + b"]" * 201, "too_deep"),
        ("depth 20000, unclosed", b'{"a":' + b"[" * 20000, "too_deep"),
        ("a syntax error before depth 201", b"{]" + b"[" * 300, "not_json"),
        ("a syntax error behind depth 201", b"[" * 201 + b"}", "too_deep"),
        ("201 brackets side by side", b'{"a":[' + b"[]," * 200 + b"0]}", "ok"),
        ("brackets inside a string", b'{"a":"' + b"[" * 500 + b'"}', "ok"),
    ]


def verdicts() -> list[dict]:
    table = [
        *structure_texts(),
        *string_texts(),
        *number_texts(),
        *broken_texts(),
        *utf8_texts(),
        *depth_texts(),
    ]
    return [{"name": name, "hex": text.hex(), "verdict": verdict} for name, text, verdict in table]


def line_rows() -> list[tuple[str, bytes, list, list]]:
    """(name, line, findings, objects): whole lines, NULs, blanks and the verdicts."""
    a = b'{"type":"a"}'  # 12 bytes
    bad = b'{"a":\xff}'  # 7 bytes
    deep = b"[" * 201
    nested = b'{"a":' * 201 + b"1" + b"}" * 201  # 1,207 bytes; the innermost object completes
    return [
        ("whole object", a + b"\n", [], [[0, 13]]),
        ("whole object without type", b"{}\n", [], [[0, 3]]),
        ("whole object with carriage return", a + b"\r\n", [], [[0, 14]]),
        ("whole object between spaces", b"  " + a + b" \n", [], [[0, 16]]),
        ("unterminated object", a, [finding("unterminated", 0, 12)], [[0, 12]]),
        ("empty line", b"\n", [finding("blank", 0, 1)], []),
        ("white line", b" \t\r\n", [finding("blank", 0, 4)], []),
        ("white line without newline", b"  ", [finding("blank", 0, 2)], []),
        ("NULs alone", b"\0" * 4 + b"\n", [finding("nul", 0, 4)], []),
        ("NULs alone, unterminated", b"\0" * 4, [finding("nul", 0, 4)], []),
        ("NULs around a space", b"\0\0 \0\n", [finding("nul", 0, 2), finding("nul", 3, 1)], []),
        ("NULs behind a space", b" \0\0\n", [finding("nul", 1, 2)], []),
        ("NULs before a space", b"\0\0 \n", [finding("nul", 0, 2)], []),
        ("NULs before an object", b"\0\0" + a + b"\n", [finding("nul", 0, 2)], [[2, 13]]),
        ("NULs behind an object", a + b"\0\0\0\n", [finding("nul", 12, 3)], [[0, 12]]),
        (
            "NULs around an object",
            b"\0" + a + b"\0\0\n",
            [finding("nul", 0, 1), finding("nul", 13, 2)],
            [[1, 12]],
        ),
        ("unterminated, NULs behind", a + b"\0\0", [finding("nul", 12, 2)], [[0, 12]]),
        (
            "unterminated, NULs before",
            b"\0\0" + a,
            [finding("nul", 0, 2), finding("unterminated", 2, 12)],
            [[2, 12]],
        ),
        ("NUL inside", a + b"\0" + a + b"\n", [finding("glued", 0, 26)], [[0, 12], [13, 12]]),
        ("torn", a[:-1], [finding("torn", 0, 11)], []),
        ("torn before NULs", a[:-1] + b"\0\0", [finding("torn", 0, 11), finding("nul", 11, 2)], []),
        ("torn inside a multi-byte character", b'{"a":"\xe7\x95', [finding("torn", 0, 8)], []),
        ("torn scalar", b"42", [finding("torn", 0, 2)], []),
        ("torn too deep", deep, [finding("torn", 0, 201)], []),
        ("not_json", b'{"a":1\n', [finding("not_json", 0, 7)], []),
        ("not_utf8", bad + b"\n", [finding("not_utf8", 0, 8)], []),
        ("not_object", b"[1,2]\n", [finding("not_object", 0, 6)], []),
        ("too_deep", deep + b"\n", [finding("too_deep", 0, 202)], []),
        ("too_deep, no type inside", nested + b"\n", [finding("too_deep", 0, 1208)], []),
        ("byte order mark", b"\xef\xbb\xbf" + a + b"\n", [finding("glued", 0, 16)], [[3, 12]]),
    ]


def glued_rows() -> list[tuple[str, bytes, list, list]]:
    """(name, line, findings, objects): what the piece rule proves, and what it must not."""
    a, b = b'{"type":"a"}', b'{"type":"bb"}'  # 12 and 13 bytes
    plain = b'{"x":1}'  # 7 bytes, no type
    long_float = b'{"type":"a","n":' + b"7" * 4301 + b".25e-7}"  # 4,324 bytes
    deepest = b'{"type":"a","a":' + b"[" * 199 + b"]" * 199 + b"}"  # 415 bytes

    def glued(name: str, text: bytes, *pieces: tuple[int, int]) -> tuple:
        kind = "glued" if pieces else "not_json"
        return name, text + b"\n", [finding(kind, 0, len(text) + 1)], [list(p) for p in pieces]

    return [
        glued("two objects", a + b, (0, 12), (12, 13)),
        glued("two objects without type", plain + plain, (0, 7), (7, 7)),
        glued("two objects, a space between", a + b" " + b, (0, 12), (13, 13)),
        glued("object, then a stub", a + b'{"type":"x', (0, 12)),
        glued("object, then garbage", a + b"xyz", (0, 12)),
        glued("stub, then an object with type", b'{"k":"v' + b'"' + a, (8, 12)),
        glued("stub, then an object without type", b'{"k":"v"' + plain),
        glued("stub, objects without and with type", b'{"k":"v"' + plain + a, (15, 12)),
        glued("type that is no string", b'{"k":1' + b'{"type":5}'),
        glued("type in a nested object only", b'{"k":1' + b'{"a":{"type":"a"}}'),
        glued("duplicate type, the last a string", b'{"k":1{"type":1,"type":"a"}', (6, 21)),
        glued("duplicate type, the last a number", b'{"k":1{"type":"a","type":1}'),
        glued("type spelt with escapes", b'{"k":1{"t\\u0079pe":"a"}', (6, 17)),
        glued("escape that is not the word type", b'{"k":1{"t\\u0078pe":"a"}'),
        glued("garbage, then an object with type", b"xyz" + a, (3, 12)),
        glued("garbage, then an object without type", b"xyz" + plain),
        glued("accepted piece mends the stretch", b"x" + a + plain, (1, 12), (13, 7)),
        glued("refused piece does not", b"x" + plain + plain + a, (15, 12)),
        glued("unclosed stub swallows an object", b'{"a":' + a),
        glued("object inside an open string", b'{"a":"text ' + a[:9] + b"}"),
        glued("object nested in an array of a stub", b'{"a":[' + a + b","),
        glued("object nested in a cut array", b'{"a":[' + a + a, (18, 12)),
        glued("record where a key is expected", b'{"a":1,' + a, (7, 12)),
        glued("record where a colon is expected", b'{"a"' + a, (4, 12)),
        glued("record inside a literal", b'{"a":tru' + a, (8, 12)),
        glued("record inside a number's fraction", b'{"a":1.' + a, (7, 12)),
        glued("record inside an exponent", b'{"a":1e+' + a, (8, 12)),
        glued("record behind a minus", b'{"a":-' + a, (6, 12)),
        glued("record inside -Infinity", b'{"a":-Inf' + a, (9, 12)),
        glued("record inside an escape", b'{"a":"\\u12' + a, (10, 12)),
        glued("record behind a backslash", b'{"a":"\\' + a, (7, 12)),
        glued("leading zero", b'{"a":01,"b":' + a, (12, 12)),
        glued("too many digits", b'{"a":' + b"7" * 4301 + b"," + a, (4307, 12)),
        glued("many digits and a fraction", b"x" + long_float, (1, 4324)),
        glued("control byte in a string", b'{"a":"\x01' + a, (7, 12)),
        glued("a stop looks back to the last brace", b'{"a":"x{"y' + a + b"]", (10, 12)),
        glued("string of the stub closed by the record", b'{"a":"x' + a + b'"q"}', (7, 12)),
        glued("depth 201", b'{"a":' + b"[" * 200 + a, (205, 12)),
        glued("depth 200 is a whole piece", b"x" + deepest, (1, 415)),
        glued("closing brackets crossed", b'{"a":[1}' + a, (8, 12)),
        glued("comma between objects", a + b"," + b, (0, 12), (13, 13)),
        glued("array around an object without type", plain[:-1] + b"]" + plain),
    ]


def lines() -> list[dict]:
    a = b'{"type":"a"}'
    utf8 = [
        ("sequence cut by a record", b'{"a":"\xe7\x95' + a, [[8, 12]]),
        ("sequence cut after its first byte", b'{"a":"\xf0' + a, [[7, 12]]),
        ("raw surrogate before a record", b'{"a":"\xed\xa0\xbd' + a, [[9, 12]]),
        ("overlong before a record", b'{"a":"\xc0\xaf' + a, [[8, 12]]),
        ("bad byte in the second of two objects", a + b'{"type":"\xff"}', [[0, 12]]),
    ]
    rows = [*line_rows(), *glued_rows()]
    rows += [(n, t + b"\n", [finding("glued", 0, len(t) + 1)], pieces) for n, t, pieces in utf8]
    rows += [
        (
            "array around an object with type",
            b"[" + a + b"]\n",
            [finding("glued", 0, 15)],
            [[1, 12]],
        ),
        ("unterminated glued", a + a, [finding("glued", 0, 24)], [[0, 12], [12, 12]]),
        ("unterminated object and stub", a + a[:5], [finding("glued", 0, 17)], [[0, 12]]),
        (
            "NULs around a glued line",
            b"\0" + a + a + b"\0\n",
            [finding("nul", 0, 1), finding("glued", 1, 24), finding("nul", 25, 1)],
            [[1, 12], [13, 12]],
        ),
    ]
    return [
        {
            "name": name,
            "hex": line.hex(),
            "last": not line.endswith(b"\n"),
            "findings": findings,
            "objects": objects,
        }
        for name, line, findings, objects in rows
    ]
