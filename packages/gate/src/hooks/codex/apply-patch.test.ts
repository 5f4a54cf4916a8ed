import { describe, expect, test } from 'vitest';
import { patchOf, patchParts } from './apply-patch.ts';

const patch = (...lines: readonly string[]): string =>
  ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

const said = async (text: unknown): Promise<readonly string[]> =>
  (await patchParts(text, '/repo')).map(({ server, tool, args }) => {
    if (tool === 'unparsed') return 'unparsed';
    return `${server}/${tool} ${args['path'] ?? (args['paths'] as string[]).join(' ')}`;
  });

describe('a patch names its files', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['an added file', ['*** Add File: a.txt', '+hello'], ['files/write /repo/a.txt']],
    [
      'an edited file',
      ['*** Update File: a', '@@ f()', ' x', '-y', '+z', '*** End of File'],
      ['files/edit /repo/a'],
    ],
    ['a removed file', ['*** Delete File: /etc/a'], ['shell/rm /etc/a']],
    [
      'a moved file',
      ['*** Update File: a', '*** Move to: b/c', '@@', '-x', '+y'],
      [
        'files/edit /repo/a',
        'files/edit /repo/a',
        'files/write /repo/b/c',
        'shell/mv /repo/a /repo/b/c',
      ],
    ],
    [
      'several',
      ['*** Add File: a', '+', '*** Delete File: b'],
      ['files/write /repo/a', 'shell/rm /repo/b'],
    ],
    [
      'a header after spaces',
      ['*** Add File: a', '+x', '  *** Delete File: b'],
      ['files/write /repo/a', 'shell/rm /repo/b'],
    ],
    [
      'a context that looks like a header',
      ['*** Update File: a', ' *** Delete File: b', '+x'],
      ['files/edit /repo/a', 'shell/rm /repo/b'],
    ],
    [
      'an added line that looks like one',
      ['*** Add File: a', '+*** Delete File: b'],
      ['files/write /repo/a'],
    ],
    ['a way up', ['*** Add File: ../a', '+x'], ['files/write /a']],
  ])('%s', async (_, lines, parts) => expect(await said(patch(...lines))).toEqual(parts));
});

describe('a patch that cannot be read safely is unparsed', () => {
  test.each<[string, unknown]>([
    ['no text', 7],
    ['no patch', 'hello'],
    ['no end', '*** Begin Patch\n*** Add File: a\n+x'],
    ['no file', patch()],
    ['an unknown header', patch('*** Add File: a', '+x', '*** Copy File: b')],
    ['a line of no kind', patch('*** Add File: a', '+x', 'y')],
    ['a move of nothing', patch('*** Move to: b')],
    ['no path', patch('*** Delete File: ')],
    ['a home folder', patch('*** Delete File: ~/a')],
    ['a way out of a folder that may be a link', patch('*** Delete File: link/../a')],
    ['a hidden sign', patch('*** Delete File: a\u202eb')],
    ['a space of another kind', patch('*** Add File: a', '+x', ' \u0085*** Sweep: b')],
  ])('%s', async (_, text) => expect(await said(text)).toEqual(['unparsed']));
});

test('only a command that is nothing but a patch is one', () => {
  const text = patch('*** Add File: a', '+x');
  expect(patchOf(`apply_patch <<'EOF'\n${text}\nEOF\n`)).toBe(text);
  expect(patchOf(`applypatch <<"E"\n${text}\nE`)).toBe(text);
  for (const command of [
    `apply_patch <<EOF\n${text}\nEOF`,
    `cd x && apply_patch <<'EOF'\n${text}\nEOF`,
    `apply_patch <<'EOF'\n${text}\nEOF\nrm a`,
    `apply_patch <<'EOF'\n${text}\nEOF\nrm a <<'EOF'\nx\nEOF`,
    `apply_patch <<'EOF' > a\n${text}\nEOF`,
    `./apply_patch <<'EOF'\n${text}\nEOF`,
  ])
    expect(patchOf(command), command).toBeUndefined();
});
