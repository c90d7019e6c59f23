"""What the files causes_*.py are made with: for each cause a program that fails so; the answer must name the cause first,
and what to do about it."""

import os

from harness import Skipped, all_words

TESTS = []

# A library, and a program that needs it.
LIBRARY = 'int answer(void) { return 42; }'
USER = 'int answer(void); int main(void) { return answer() - 42; }'


def cause(rule, *words, status=None):
    """A test that returns the command to explain, or a dictionary for Place.explain. `rule`: the cause that has to come
    first; `words`: in the answer."""
    def wrap(function):
        def test(place):
            more = function(place)
            if not isinstance(more, dict):
                more = {'command': more}
            command = more.pop('command')
            answer, ended = place.explain(*command, **more)
            rules = [one['rule'] for one in answer['answers']]
            assert rules and rules[0] in rule.split('|'), f'{rules} instead of {rule}: {answer}'
            text = all_words(answer['answers'][0])
            for word in words:
                word = word.replace('FOLDER', str(place.folder))
                assert word in text, f'no {word!r} in {answer["answers"][0]}'
            assert answer['answers'][0]['remedy'], 'no remedy'
            if status is not None:
                assert ended == status, f'exit status {ended} instead of {status}'
        test.__name__ = function.__name__
        TESTS.append(test)
        return test
    return wrap


def uncaught(error, status=None):
    """A test that returns the command of a program that an error ends which it does not catch: nothing else is to blame,
    and its own words are not repeated; `error`: which one, and where."""
    def wrap(function):
        def test(place):
            answer, ended = place.explain(*function(place))
            assert not answer['answers'] and answer['uncaught'] == error, answer
            assert status is None or ended == status, f'exit status {ended} instead of {status}'
        test.__name__ = function.__name__
        TESTS.append(test)
        return test
    return wrap


NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']


def as_nobody(place, command):
    """The program, not the tracer, is an ordinary user; it keeps no capability."""
    if os.geteuid() != 0:
        raise Skipped('needs root to become another user')
    return [*NOBODY, '--inh-caps=-all', *command]
