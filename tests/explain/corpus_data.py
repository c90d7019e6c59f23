"""What the tables corpus_*.py share."""

OWN = None  # expected of a program that fails by its own logic: no answer at all
GOOD = "good"  # expected of a program that ends well, or whose exit status is an answer


class Answered:
    """Expected of a program whose exit status is no failure but an answer, in these words."""

    def __init__(self, words):
        self.words = words
