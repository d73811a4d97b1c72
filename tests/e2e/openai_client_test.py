"""What the official client of the OpenAI API makes of Perigee."""

import sys
import unittest

from served_cluster import SKIP, Cluster, arguments, main

try:
    import openai
except ImportError:
    print("skipped: no openai client here; tools/test.sh installs it")
    sys.exit(SKIP)

ASKED = [{"role": "user", "content": "Name the capital of France in one sentence."}]
STAGES = (
    "parse tokenize admission placement queue fetch prefill handoff flush transfer "
    "decode_queue decode transit"
).split()


class WithClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(*arguments())
        cls.client = openai.OpenAI(
            base_url=cls.cluster.url + "/v1", api_key="none", max_retries=0
        )
        cls.model = cls.client.models.list().data[0].id

    @classmethod
    def tearDownClass(cls):
        code, said = cls.cluster.close()
        assert code == 0, said
        assert "[error]" not in said and "[critical]" not in said, said

    def chat(self, **more):
        wish = {"model": self.model, "messages": ASKED, "temperature": 0, "max_tokens": 12}
        return self.client.chat.completions.create(**{**wish, **more})

    def complete(self, **more):
        wish = {"model": self.model, "prompt": "One, two, three,", "temperature": 0}
        return self.client.completions.create(**{**wish, **more})

    def refused(self, code, make, kind=openai.BadRequestError):
        with self.assertRaises(kind) as caught:
            make()
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    # -- models -------------------------------------------------------------------

    def test_the_model_is_listed_and_found(self):
        self.assertEqual(self.client.models.retrieve(self.model).id, self.model)
        self.refused(
            "model_not_found",
            lambda: self.client.models.retrieve("other"),
            openai.NotFoundError,
        )
        self.refused(
            "model_not_found", lambda: self.chat(model="other"), openai.NotFoundError
        )

    # -- chats --------------------------------------------------------------------

    def test_a_chat_is_answered(self):
        got = self.chat(max_tokens=30)
        self.assertIn("Paris", got.choices[0].message.content)
        self.assertEqual(got.choices[0].message.role, "assistant")
        self.assertEqual(got.choices[0].finish_reason, "stop")
        self.assertEqual(
            got.usage.total_tokens, got.usage.prompt_tokens + got.usage.completion_tokens
        )

    def test_a_stream_says_what_the_whole_answer_says(self):
        whole = self.chat()
        chunks = list(self.chat(stream=True, stream_options={"include_usage": True}))
        text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual(chunks[-1].choices, [])
        self.assertEqual(
            chunks[-1].usage.completion_tokens, whole.usage.completion_tokens
        )
        self.assertEqual(
            chunks[-2].choices[0].finish_reason, whole.choices[0].finish_reason
        )

    def test_timings_add_up(self):
        for got in (self.chat(), self.chat(max_tokens=1)):
            times = got.model_extra["timings"]
            parts = sum(times[stage + "_ms"] for stage in STAGES)
            self.assertAlmostEqual(parts, times["total_ms"], places=4)
            self.assertGreater(times["prefill_ms"], 0)
            self.assertGreater(times["ttft_ms"], times["prefill_ms"])

    def test_the_next_turn_finds_its_beginning_cached(self):
        long = "Remember these words: " + " ".join(f"word{i}" for i in range(60)) + "."
        talk = [{"role": "user", "content": long}]
        known = self.cluster.metric("perigee_conductor_index_keys")
        first = self.chat(messages=talk)
        # A shard tells what it has stored ten times a second, and the answer takes less.
        blocks = first.usage.prompt_tokens // 2 // 16
        self.assertTrue(self.cluster.wait_until(
            lambda: self.cluster.metric("perigee_conductor_index_keys") > known + blocks))
        talk += [
            {"role": "assistant", "content": first.choices[0].message.content},
            {"role": "user", "content": "Again."},
        ]
        second = self.chat(messages=talk)
        cached = second.usage.prompt_tokens_details.cached_tokens
        self.assertGreater(cached, first.usage.prompt_tokens // 2)
        again = self.chat(messages=talk)
        self.assertEqual(
            again.choices[0].message.content, second.choices[0].message.content
        )
        salted = self.chat(messages=talk, extra_body={"cache_salt": "mine"})
        self.assertEqual(salted.usage.prompt_tokens_details.cached_tokens, 0)
        self.assertEqual(
            salted.choices[0].message.content, second.choices[0].message.content
        )

    def test_a_seed_gives_the_same_answer_again(self):
        def say(seed):
            got = self.chat(seed=seed, temperature=1.5, max_tokens=20)
            return got.choices[0].message.content

        self.assertEqual(say(7), say(7))
        self.assertNotEqual(say(7), say(8))

    def test_several_answers_differ_and_come_in_order(self):
        got = self.chat(n=3, temperature=1.5, seed=1)
        self.assertEqual([c.index for c in got.choices], [0, 1, 2])
        self.assertEqual(len({c.message.content for c in got.choices}), 3)

    def test_logprobs_of_a_chat(self):
        got = self.chat(logprobs=True, top_logprobs=3)
        scores = got.choices[0].logprobs.content
        self.assertEqual(len(scores), got.usage.completion_tokens)
        self.assertEqual(
            "".join(s.token for s in scores), got.choices[0].message.content
        )
        for one in scores:
            self.assertEqual(len(one.top_logprobs), 3)
            self.assertEqual(one.top_logprobs[0].token, one.token)  # greedy
            self.assertLessEqual(one.logprob, 0)

    def test_a_stop_string_ends_the_answer_before_it(self):
        whole = self.chat(max_tokens=30).choices[0].message.content
        stop = whole[10:14]
        for stream in (False, True):
            got = self.chat(max_tokens=30, stop=[stop], stream=stream)
            if stream:
                chunks = list(got)
                text = "".join(c.choices[0].delta.content or "" for c in chunks)
                reason = chunks[-1].choices[0].finish_reason
            else:
                text = got.choices[0].message.content
                reason = got.choices[0].finish_reason
            self.assertEqual(text, whole[: whole.index(stop)])
            self.assertEqual(reason, "stop")

    def test_a_bias_forbids_a_token(self):
        first = self.chat(logprobs=True).choices[0].logprobs.content[0].token
        _, _, ids = self.cluster.call("/tokenize", {"prompt": first})
        got = self.chat(logit_bias={str(ids["tokens"][0]): -100})
        self.assertFalse(got.choices[0].message.content.startswith(first))

    # -- completions --------------------------------------------------------------

    def test_a_completion_of_text_and_of_token_ids_is_the_same(self):
        text = self.complete(max_tokens=8)
        _, _, ids = self.cluster.call("/tokenize", {"prompt": "One, two, three,"})
        tokens = self.complete(prompt=ids["tokens"], max_tokens=8)
        self.assertIn("four", text.choices[0].text)
        self.assertEqual(text.choices[0].text, tokens.choices[0].text)
        _, _, back = self.cluster.call("/detokenize", {"tokens": ids["tokens"]})
        self.assertEqual(back["prompt"], "One, two, three,")

    def test_a_list_of_prompts_is_answered_one_by_one(self):
        alone = self.complete(max_tokens=6).choices[0].text
        got = self.complete(prompt=["One, two, three,", "A, B, C,"], max_tokens=6)
        self.assertEqual(len(got.choices), 2)
        self.assertEqual(got.choices[0].text, alone)

    def test_echo_brings_the_prompt_with_its_logprobs(self):
        got = self.complete(echo=True, logprobs=1, max_tokens=2)
        self.assertTrue(got.choices[0].text.startswith("One, two, three,"))
        scores = got.choices[0].logprobs
        self.assertIsNone(scores.token_logprobs[0])
        self.assertTrue(all(s <= 0 for s in scores.token_logprobs[1:]))
        self.assertEqual("".join(scores.tokens), got.choices[0].text)
        self.assertEqual(
            len(scores.tokens), got.usage.prompt_tokens + got.usage.completion_tokens
        )
        alone = self.complete(echo=True, logprobs=1, max_tokens=0)
        self.assertEqual(alone.choices[0].text, "One, two, three,")
        self.assertEqual(
            alone.choices[0].logprobs.token_logprobs,
            scores.token_logprobs[: len(alone.choices[0].logprobs.token_logprobs)],
        )

    def test_ignoring_the_end_and_a_shortest_answer(self):
        got = self.chat(max_tokens=40, extra_body={"ignore_eos": True})
        self.assertEqual(got.usage.completion_tokens, 40)
        self.assertEqual(got.choices[0].finish_reason, "length")
        least = self.chat(max_tokens=40, extra_body={"min_tokens": 35})
        self.assertGreaterEqual(least.usage.completion_tokens, 35)

    # -- lengths ------------------------------------------------------------------

    def test_max_tokens_of_every_size(self):
        nothing = self.complete(max_tokens=0)
        self.assertEqual(nothing.choices[0].text, "")
        self.assertEqual(nothing.choices[0].finish_reason, "length")
        self.assertEqual(nothing.usage.completion_tokens, 0)
        one = self.complete(max_tokens=1)
        self.assertEqual(one.usage.completion_tokens, 1)
        absent = self.complete()
        self.assertEqual(absent.usage.completion_tokens, 16)
        prompt = [1000] * 1000
        ignoring = {"ignore_eos": True}
        exact = self.complete(prompt=prompt, max_tokens=24, extra_body=ignoring)
        self.assertEqual(exact.usage.completion_tokens, 24)  # the context is 1024
        self.refused(
            "context_length_exceeded",
            lambda: self.complete(prompt=prompt, max_tokens=25),
        )
        self.refused("context_length_exceeded", lambda: self.complete(prompt=[1] * 1025))
        rest = self.chat(
            messages=[{"role": "user", "content": "x " * 990}],
            max_tokens=openai.omit,
            extra_body=ignoring,
        )
        self.assertEqual(rest.usage.total_tokens, 1024)

    # -- what is wrong ------------------------------------------------------------

    def test_bad_parameters_are_refused_by_name(self):
        wrong = self.refused("invalid_value", lambda: self.chat(temperature=-1))
        self.assertEqual(wrong.param, "temperature")
        self.refused("invalid_value", lambda: self.chat(max_tokens=-1))
        self.refused("invalid_type", lambda: self.chat(top_p="high"))
        self.refused(
            "unsupported_parameter",
            lambda: self.chat(
                tools=[{"type": "function", "function": {"name": "f"}}]
            ),
        )
        self.refused(
            "unknown_parameter", lambda: self.chat(extra_body={"tempreature": 1})
        )
        image = [{"type": "image_url", "image_url": {"url": "data:,"}}]
        wrong = self.refused(
            "unsupported_parameter",
            lambda: self.chat(messages=[{"role": "user", "content": image}]),
        )
        self.assertEqual(wrong.param, "messages[0].content[0].type")

    def test_an_objective_that_cannot_be_met_is_refused_with_when_to_come_again(self):
        wrong = self.refused(
            "rejected_prefill",
            lambda: self.chat(extra_headers={"x-slo-ttft-ms": "0.001"}),
            openai.RateLimitError,
        )
        self.assertGreaterEqual(int(wrong.response.headers["retry-after"]), 1)
        self.assertEqual(
            wrong.response.headers["x-request-dropped-reason"], "rejected_prefill"
        )

    # -- going early --------------------------------------------------------------

    def test_a_stream_that_is_closed_is_cancelled(self):
        name = "perigee_gateway_withdrawn_total"
        before = self.cluster.metric(name)
        stream = self.chat(
            max_tokens=900, stream=True, extra_body={"ignore_eos": True}
        )
        next(iter(stream))
        stream.close()
        self.assertTrue(self.cluster.wait_for_metric(name, before + 1))
        self.assertTrue(self.cluster.wait_for_metric("vllm:num_requests_running", 0))
        self.assertTrue(self.cluster.wait_for_metric("perigee_gateway_cancelling", 0))
        self.assertTrue(self.cluster.wait_for_metric("perigee_decode_blocks_used", 0))

    def test_a_request_id_comes_back(self):
        got = self.client.chat.completions.with_raw_response.create(
            model=self.model,
            messages=ASKED,
            max_tokens=1,
            extra_headers={"x-request-id": "my-own-id"},
        )
        self.assertEqual(got.headers["x-request-id"], "my-own-id")
        self.assertEqual(got.parse().id, "chatcmpl-my-own-id")


if __name__ == "__main__":
    main()
