"""The prompts of the reference values, as (name, text, control tokens are meant)."""

LONG = """\
A harbour at night is never quite still. Between the last ferry and the first fishing boat
there are perhaps three hours in which nothing is moved, and yet the water goes on lifting
the hulls an inch and letting them down again, the ropes complain, and somewhere a loose
halyard taps against its mast with the patience of a clock. Marten had been the night
watchman there for nineteen years. He knew each of the sounds by the berth that it came
from, and he could have told you, with his eyes closed, which way the wind stood and
whether the tide had turned.

On the evening of the eleventh he began his round as usual at a quarter past ten. He wrote
the time into the book, took the lamp from its hook, and walked out along the north mole.
Berths 1 to 14 were full; berth 15 was empty, because the Agnes had gone to the yard to
have her engine looked at; berths 16 to 22 belonged to the sailing club. At the end of the
mole he put the lamp down, as he always did, and counted the lights on the other side:
the green one at the head of the south mole, the two white ones of the pilot station, and
the long row of yellow ones along the promenade, of which every third had been switched
off to save money.

That night there was one light too many. It stood low over the water, a little to the left
of the pilot station, and it was neither white nor yellow but a colour for which he had no
name. He looked at it for some time. Then he did what he had never done in nineteen years:
he took a pencil from his pocket and wrote, in the margin of the book, a question mark.

"You should have called us at once," said the harbour master the next morning. "What else
is the telephone for?" She turned the page to the light of the window. "And what does this
mean: '22:41, it answered'?"

Marten said nothing. He was looking past her at the water, which was grey and flat, and at
the place where the light had been. He was trying to remember in what order the colours
had come, because he was quite sure that it mattered: first the one without a name, then
three short flashes of green, then a pause in which he could have counted to seven, and
then, slowly, as if somebody were turning a wheel, the whole row of them from left to
right. He had swung his lamp once, to the right. The light had moved once, to the right.
He had swung it twice to the left, and
"""

CODE = """\
import heapq


def dijkstra(graph: dict[str, dict[str, int]], start: str) -> dict[str, int]:
    \"\"\"Lengths of the shortest paths from `start` to every node it reaches.\"\"\"
    distances = {start: 0}
    queue = [(0, start)]
    while queue:
        distance, node = heapq.heappop(queue)
        if distance > distances[node]:
            continue
        for neighbour, weight in graph[node].items():
"""

UNICODE = "Grüße aus Zürich! 👋🏽 Сегодня хорошая погода. 今日はとても良い天気ですね。 नमस्ते 🇨🇭"

CHAT = ("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by "
        "Hugging Face<|im_end|>\n<|im_start|>user\nWhat is the capital of France, and "
        "what is it known for?<|im_end|>\n<|im_start|>assistant\n")

TURN = ("<start_of_turn>user\nWhat is the capital of France?<end_of_turn>\n"
        "<start_of_turn>model\n")


def prompts(chat: bool) -> list[tuple[str, str, bool]]:
    return [
        ("one token", "The", False),
        ("plain", "The meaning of life is", False),
        ("code", CODE, False),
        ("unicode", UNICODE, False),
        ("chat", CHAT if chat else TURN, True),
        ("numbers", "1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233,", False),
        ("json", '{"users": [{"id": 1, "name": "Ada", "langs": ["en", "fr"]}, {"id": 2,',
         False),
        ("list", "Ingredients for a simple bread:\n\n- 500 g flour\n- 350 g water\n-",
         False),
        ("repeat", "tick tock " * 20, False),
        ("long", LONG, False),
    ]
