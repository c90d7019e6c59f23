#!/usr/bin/python3
"""The page of --format=html in headless Chromium: check_page.py TRACER

A script at the end of a copy of the page uses every view and leaves what it found in an attribute, which Chromium prints
with the document. TRACER_SCREENSHOTS=FOLDER keeps pictures of three widths, light and dark.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LIMIT = 100  # seconds for one start of Chromium
HOSTILE = '''
import os
for name in (b'</script><script>window.broken=1</script>', b'<img src=x onerror="window.broken=1">', b'"quoted\\'', b'\\xff\\xfe', b'a\\nb'):
    try: os.stat(b'missing ' + name)
    except OSError: pass
'''
MANY = 'import os\nfor i in range(100000): os.getppid()\n'
PROBE = '''
<script>
addEventListener('error', (event) => { window.failure = event.message; });
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const press = (where, key) => where.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
const text = (selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent);
(async () => {
  while (!document.documentElement.dataset.ready && !document.documentElement.dataset.failed) await wait(20);
  const seen = { ready: Number(document.documentElement.dataset.ready), failed: document.documentElement.dataset.failed };
  seen.title = document.title;
  seen.nav = text('nav a');
  seen.verdict = text('.verdict');
  seen.processes = text('.tree li');
  seen.names = text('#counts tbody td:first-child');
  document.querySelector('#counts th button').click();
  seen.sorted = text('#counts tbody td:first-child');
  seen.files = text('#files tbody tr');
  seen.images = document.querySelectorAll('img').length;
  seen.overflow = document.documentElement.scrollWidth - innerWidth;
  const canvas = document.querySelector('canvas');
  const range = () => document.getElementById('from').textContent;
  const before = range();
  press(canvas, '+');
  seen.zoomed = range() !== before;
  press(canvas, '0');
  seen.whole = range() === before;
  seen.flames = text('.flame button');
  const list = document.querySelector('.list');
  press(list, 'ArrowDown');
  seen.first = text('.details dd')[0];
  press(list, 'End');
  seen.last = text('.details dd')[0];
  const evidence = document.querySelector('.answer pre button');
  if (evidence) {
    evidence.click();
    seen.evidence = text('.details').join();
  }
  press(document.body, '/');
  const input = document.querySelector('input');
  seen.focused = document.activeElement === input;
  seen.filtered = {};
  for (const filter of FILTERS) {
    input.value = filter;
    input.dispatchEvent(new Event('input'));
    await wait(250);
    seen.filtered[filter] = [text('#calls .tools span')[0], text('.list .row span:nth-child(3)')];
  }
  seen.broken = window.broken || window.failure || null;
  document.documentElement.dataset.seen = JSON.stringify(seen);
})();
</script>
'''


def expect(true, what, *facts):
    if not true:
        sys.exit(f'{what}: ' + ', '.join(map(repr, facts)))


def chromium(browser, folder, *arguments):
    return subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', f'--user-data-dir={folder}/profile',
                           *arguments], timeout=LIMIT, capture_output=True, text=True, errors='replace')


def look(browser, folder, page, width, filters=()):
    probed = folder / 'probed.html'
    probed.write_text(page.read_text() + PROBE.replace('FILTERS', json.dumps(list(filters))))
    # Time in the page runs ahead while nothing is computed, and waits for what is.
    ran = chromium(browser, folder, '--virtual-time-budget=20000', f'--window-size={width},1200', '--dump-dom', f'file://{probed}')
    found = re.search(r'data-seen="([^"]*)"', ran.stdout)
    if not found:
        sys.exit(f'the page did not finish: {ran.stderr[-2000:]}\n{ran.stdout[:300]}')
    seen = json.loads(html.unescape(found.group(1)))
    expect(not seen.get('failed') and not seen['broken'], 'the page failed', seen.get('failed'), seen['broken'])
    expect(seen['overflow'] <= 0, f'the page is wider than {width} pixels', seen['overflow'])
    expect(seen['zoomed'] and seen['whole'] and seen['focused'], 'keys do nothing', seen['zoomed'], seen['whole'], seen['focused'])
    return seen


def pictures(browser, folder, page, name):
    into = os.environ.get('TRACER_SCREENSHOTS')
    for width, scheme, color in ((420, 1, 'light'), (820, 0, 'dark'), (1400, 1, 'light'), (1400, 0, 'dark')) if into else ():
        chromium(browser, folder, '--virtual-time-budget=5000', f'--window-size={width},2400', f'--blink-settings=preferredColorScheme={scheme}',
                 f'--screenshot={into}/{name}-{width}-{color}.png', f'file://{page}')


def main():
    tracer = pathlib.Path(sys.argv[1]).resolve()
    browser = shutil.which('chromium')
    if browser is None:
        print('skipped: there is no Chromium (Debian: chromium)')
        sys.exit(SKIPPED)
    os.environ['LC_ALL'] = 'C.UTF-8'
    with tempfile.TemporaryDirectory(prefix='tracer-page-') as name:
        folder = pathlib.Path(name)
        page = folder / 'page.html'

        def trace(*command):
            subprocess.run([tracer, '--format=html', '-o', page, *command], timeout=LIMIT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        trace('-k', '/bin/sh', '-c', '/bin/ls / | /usr/bin/head -2; /bin/cat "/missing file"')
        for width in (420, 820, 1400):
            seen = look(browser, folder, page, width, ['errno==ENOENT path=="/missing file"', 'call==execve', 'nothing-has-this', 'color==red'])
            expect(len(seen['nav']) == 8, 'views are missing', seen['nav'])
            expect('/missing file' in seen['verdict'][0], 'the verdict does not name the file', seen['verdict'])
            expect(len(seen['processes']) == 4 and 'head -2' in ''.join(seen['processes']), 'processes are missing', seen['processes'])
            expect(seen['sorted'] == sorted(seen['names'], key=str.casefold) or len(set(seen['sorted'])) == len(seen['sorted']), 'the table is not sorted', seen['sorted'])
            expect(any('/missing file' in line and 'ENOENT' in line for line in seen['files']), 'the file is missing', seen['files'])
            expect(any('execve' in frame for frame in seen['flames']) or len(seen['flames']) > 3, 'there are no stacks', seen['flames'])
            expect(seen['first'] == 'execve' and seen['last'] == 'exit_group', 'the list has another order', seen['first'], seen['last'])
            expect('/missing file' in seen.get('evidence', ''), 'the evidence leads nowhere', seen.get('evidence', ''))
            filtered = seen['filtered']
            expect(filtered['errno==ENOENT path=="/missing file"'][1][0].startswith('openat(AT_FDCWD'), 'the filter finds something else', filtered)
            expect(len(filtered['call==execve'][1]) == 4, 'there are not four execve', filtered)
            expect(filtered['nothing-has-this'][1] == [], 'a filter finds something', filtered)
            expect("'color' is none of" in filtered['color==red'][0], 'a wrong filter is accepted', filtered)
        pictures(browser, folder, page, 'shell')

        trace(sys.executable, '-S', '-c', HOSTILE)
        seen = look(browser, folder, page, 1400, ['missing'])
        expect(seen['images'] == 0, 'a name became an image')
        expect(any('</script>' in line for line in seen['filtered']['missing'][1]), 'the name is not shown', seen['filtered'])

        trace(sys.executable, '-S', '-c', MANY)
        seen = look(browser, folder, page, 1400, ['dur>0ns call==getppid'])
        expect(seen['filtered']['dur>0ns call==getppid'][0].startswith('100,000 of'), 'calls are missing', seen['filtered'])
        print(f'100,000 calls: {seen["ready"]} ms until every view is there, {page.stat().st_size} bytes')
        pictures(browser, folder, page, 'many')


main()
