"""What "an embedder" means; each model's test subclasses this with one fixture."""

import numpy as np

from memorix.embedders.base import Embedder

TEXTS = [
    "The gateway listens on port 8443.",
    "x",
    "def get_user_by_id(id): return users[id]  # ERR_QUOTA_0x80",
    "A long sentence about many things, " * 40,
    "端口是 8443。",
]


class EmbedderContract:
    def test_rows_have_the_shape_of_the_card_and_length_one(self, embedder: Embedder) -> None:
        rows = embedder.embed(TEXTS)

        assert rows.shape == (len(TEXTS), embedder.card.dim)
        assert rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)

    def test_rows_come_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        forward, backward = embedder.embed(TEXTS), embedder.embed(TEXTS[::-1])

        assert np.allclose(forward, backward[::-1], atol=1e-4)

    def test_a_text_has_one_vector_whatever_it_is_embedded_with(self, embedder: Embedder) -> None:
        together = embedder.embed(TEXTS)

        for text, row in zip(TEXTS, together, strict=True):
            assert embedder.embed([text])[0] @ row > 0.9999

    def test_no_text_gives_no_row(self, embedder: Embedder) -> None:
        assert embedder.embed([]).shape == (0, embedder.card.dim)

    def test_a_question_is_one_row(self, embedder: Embedder) -> None:
        row = embedder.embed_query("which port")

        assert row.shape == (embedder.card.dim,)
        assert abs(float(np.linalg.norm(row)) - 1) < 1e-4
