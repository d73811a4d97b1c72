"""Texts that tokenizers stumble over, as bytes. The same ones on every run."""

import random
import re

WORDS = [
    "the", "The", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "don't",
    "I'll", "we've", "they're", "it's", "I'm", "he'd", "IT'S", "WE'LL", "O'Reilly",
    "tokenizer", "internationalization", "Straße", "naïve", "façade",
    "Москва", "Ελλάδα", "עברית", "العربية", "हिन्दी", "ไทย", "日本語", "中文字符",
    "한국어", "ﬁne", "ſharp", "Ǆungla", "𝔘𝔫𝔦", "x²", "H₂O", "½", "٣٤٥", "Ⅷ", "①",
]

SPECIAL_TEXTS = [
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|begin_of_text|>",
    "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<unk>", "<s>", "</s>",
    "<pad>", "<0x0A>", "<unused7>", "[INST]", "<|im_start|", "<|im_<|im_end|>start|>",
    "<code>", "</code>", "<table>", "<gh_stars>",
]

NASTY = [
    "",
    "a",
    " ",
    "\n",
    "Hello, world!",
    "  two spaces in front",
    "two behind  ",
    "many          spaces           between",
    " " * 100,
    " " * 31 + "x",
    "\t",
    "\t\ttabs\tand\t\t\tmore\n",
    "a\r\nb\r\n\r\nc\r\r\n\n\rd",
    "\n\n\n\nfour newlines",
    "x\n\n  \n\ty \n z",
    "trailing newline\n",
    "trailing newlines \n \n\n",
    "\u00a0no-break\u00a0space\u2003em\u3000ideographic\u200bzero\u180emongolian\u0085nel",
    "\u2028line\u2029paragraph\u1680ogham\u202fnarrow\u205fmath",
    "\x0bvertical\x0cform\x1funit\x7fdelete\x00nul",
    "1234567890",
    "1 22 333 4444 55555 1,234,567.89 -3.14e-10 0x1F",
    "abc123def 4abc abc4 ４５６ ٣٤٥٦٧ ¾ Ⅻ ②",
    "don't I'll WE'VE they'Re it'S 'tis 'em ''s '' 's'd'm",
    "can’t won’t",
    "'\u017f 'ſ '\u212a",
    "e\u0301 n\u0303 o\u0308\u0323 Z̷̧̈́a̵͉͆l̷͎̈́g̶̢̈́ȏ̶",
    "i\u0307\u0323 \u0300leading combining",
    "👍 👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷 ❤️ ☺︎ 🤷🏾‍♀️",
    "emoji👍inside🎉🎉words",
    "日本語のテキスト、漢字かな混じり文。中文測試！한국어 텍스트?",
    "混合mixed文字text123数字",
    "\u3400\u4dbf\U00020000\U0002a6df\U00030000\U00031350\U000323af\U0002ebf0",
    "\U0001e030\U00010570\U00011f02\U0001e4d0\ua7d0\u0870\u1c89\ua7cb\U00010d4a",
    "\U0001fae8\U0001fa77\U0001f6dc\u20c1\U0001cc00\u0378\ufdd0\uffff\U0010ffff",
    "\ufeffbyte order mark\ufeff",
    "\u202eright to left\u202c \u200e\u200f\u2066\u2069",
    "שלום עולם! مرحبا بالعالم؟",
    "नमस्ते दुनिया। ตัวอย่างข้อความภาษาไทย",
    "Привет, мир! Ёлка—ель. №42",
    "ÀÉÎÕÜ àéîõü ßẞ ŒœÆæ Øø Þþ Ðð",
    "\u2581already\u2581visible\u2581\u2581spaces",
    "Ġalready Ġletters Ċ ĉ Ā",
    "def f(x):\n    if x > 0:\n\t\treturn x ** 2  # squared\n    return -x\n",
    "#include <vector>\nint main() { std::vector<int> v{1, 2, 3}; return v[0] != 1; }\n",
    '{"key": [1, 2.5, null, true], "nested": {"a": "b\\n"}}',
    "SELECT * FROM t WHERE a = 'b' AND c <> \"d\";-- comment",
    "<html><body class=\"x\">&nbsp;&lt;p&gt;</body></html>",
    "https://example.org/path?q=1&r=%20#frag user@example.org",
    "$100 €99.99 ¥1000 £5 ₿0.1 50% 3×4÷2±1 ≠ ∞ ∑∏∫ √2 ∂x/∂y",
    "!!!???...,,,;;;:::---___***///\\\\\\|||~~~```",
    "a.b.c a-b-c a_b_c a/b/c a\\b\\c CamelCaseWord snake_case_word",
    "a quagmire quagmire  quagmire §§ §§§ x §§",
    "ALLCAPS lowercase MiXeD",
    "a" * 1500,
    "ab" * 800,
    "=" * 1000,
    "é" * 700,
    "\n" * 200,
    "字" * 600,
    "1" * 500,
    "\t" * 65,
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "Lopadotemachoselachogaleokranioleipsanodrimhypotrimmatosilphio" * 8,
    "0123456789abcdef" * 64,
    " ".join(WORDS),
    "\n".join(WORDS),
]

BINARY = [
    bytes(range(256)),
    bytes(reversed(range(256))),
    b"\xff\xfe\xfd",
    b"\x80\x81\xbf",
    b"ok \xc3\x28 bad",
    b"\xc0\x80 overlong nul \xc1\xbf",
    b"\xe0\x80\xaf \xf0\x80\x80\xaf",
    b"\xed\xa0\x80 \xed\xbf\xbf \xed\xa0\xbd\xed\xb8\x80 surrogates",
    b"cut off \xe6\x97",
    b"cut off \xf0\x9f\x91",
    b"\xe6\x97a \xf0\x9f\x91a \xc3",
    b"\xf8\x88\x80\x80\x80 \xfc\x84\x80\x80\x80\x80",
    b"caf\xe9 na\xefve latin-1",
    "é".encode()[:1] * 50,
    b"\x00" * 100,
    b"word\xffword 1\xff2 \xff\xff",
]


def beyond_unicode(text: bytes) -> bool:
    """Well-formed, yet above U+10FFFF: llama.cpp throws on these."""
    return re.search(rb"\xf4[\x90-\xbf][\x80-\xbf]{2}|[\xf5-\xf7][\x80-\xbf]{3}",
                     text) is not None


def random_text(chance: random.Random) -> bytes:
    parts = []
    for _ in range(chance.randint(1, 14)):
        kind = chance.randrange(9)
        if kind <= 1:
            parts.append(chance.choice(WORDS).encode())
        elif kind == 2:
            parts.append(chance.choice([" ", "  ", "\n", "\r\n", "\t", " \n", "   "])
                         .encode())
        elif kind == 3:
            parts.append(chance.choice(SPECIAL_TEXTS).encode())
        elif kind == 4:
            parts.append(bytes(chance.randrange(256)
                               for _ in range(chance.randint(1, 6))))
        elif kind == 5:
            parts.append(chr(chance.choice([
                chance.randrange(0x20, 0x7f), chance.randrange(0xa0, 0x2000),
                chance.randrange(0x2000, 0xd800), chance.randrange(0xe000, 0x10000),
                chance.randrange(0x1f000, 0x1fb00), chance.randrange(0x10000, 0x110000),
            ])).encode())
        elif kind == 6:
            parts.append(str(chance.randrange(10 ** chance.randint(1, 9))).encode())
        elif kind == 7:
            parts.append(chance.choice(".,;:!?'\"()[]{}<>|/\\-_=+*&^%$#@~`").encode() *
                         chance.randint(1, 4))
        else:
            parts.append(b" " + chance.choice(WORDS).encode())
    return b"".join(parts)


def texts() -> list[bytes]:
    chance = random.Random(20240711)
    some = [text.encode() for text in NASTY] + BINARY
    some += [text.encode() for text in SPECIAL_TEXTS]
    some.append(" ".join(SPECIAL_TEXTS).encode())
    some.append("".join(SPECIAL_TEXTS).encode())
    some += [random_text(chance) for _ in range(300)]
    return [text for text in some if not beyond_unicode(text)]
