/** The portfolio of advisories by the command: made up ones, and the Go vulnerability database. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dataPath, hasData } from '../../../tests/data.ts';
import { runCommand, startCommand } from '../../../tests/support/process/command.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-disclosure-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const STORE = 'sqlite:./d.db';
const assize = (...args: string[]) => runCommand(folder, STORE, ...args);

const sound = {
  id: 'GO-1',
  aliases: ['CVE-2026-1000'],
  affected: [{ module: 'github.com/acme/parser', fixed: ['1.2.0'] }],
  credits: ['Ann'],
  references: [{ type: 'FIX', url: 'https://github.com/acme/parser/commit/1' }],
  review_status: 'REVIEWED',
};

/** Writes the advisories into a folder of their own. @returns the arguments of the command */
function portfolio(...advisories: unknown[]): string[] {
  writeFileSync(
    join(folder, 'advisories.jsonl'),
    advisories.map((one) => JSON.stringify(one)).join('\n'),
  );
  return ['assize-experiments', 'adjudicate', 'disclosure', '--data', '.'];
}

test('lists each refused advisory with its invariant, and the totals', async () => {
  const args = portfolio(
    sound,
    { ...sound, id: 'GO-2' },
    { ...sound, id: 'GO-3', aliases: [], credits: [] },
  );
  const { code, out } = await assize(...args);
  expect(code).toBe(0);
  const lines = out.split('\n').map((line) => line.trimEnd().replace(/ {2,}/g, ' | '));
  expect(lines.slice(0, -2)).toEqual([
    'advisory | phase | refused | by | message',
    'GO-2 | EMBARGOED | observe_cve | CVE_ATTRIBUTION_UNIQUENESS | /cves/GO-1/assigned/CVE-2026-1000 and /cves/GO-2/assigned/CVE-2026-1000 have the same value, which must be unique',
    'GO-3 | EMBARGOED | execute_disclosure | DISCLOSURE_COMPLETENESS | /records/GO-3: the record has no attribution',
    '',
    '3 advisories: 1 disclosed, 2 refused; 37 proposals on 91 days, 35 of them committed',
    ' | 1 | CVE_ATTRIBUTION_UNIQUENESS',
    ' | 1 | DISCLOSURE_COMPLETENESS',
  ]);
  expect(lines.at(-2)).toMatch(/^38 entries in the store, all verified, in \d+\.\d s$/);

  const again = await assize(...args, '--json', '--limit', '1');
  expect(JSON.parse(again.out)).toMatchObject({
    advisories: 1,
    disclosed: 1,
    entries: 54,
    verified: true,
  });
  expect((await assize('verify', '--deep')).code).toBe(0);
});

test('begins no table where nothing was refused', async () => {
  expect((await assize(...portfolio(sound))).out).toMatch(/^1 advisory: 1 disclosed, 0 refused;/);
});

test.each<[string, () => string[], RegExp]>([
  [
    'no folder',
    () => ['assize-experiments', 'adjudicate', 'disclosure', '--data', 'none'],
    /none.advisories\.jsonl cannot be read/,
  ],
  ['an empty file', () => portfolio(), /has no advisories/],
  ['a malformed advisory', () => portfolio(sound, { ...sound, id: 'a/b' }), /line 2, \/id: /],
  ['an advisory twice', () => portfolio(sound, sound), /has the advisory GO-1 twice/],
  ...(
    [
      ['--runs', 'r'],
      ['--tasks', 't'],
      ['--expected', 'e'],
      ['--no-invariants'],
      ['--escalations', 'approve'],
    ] as const
  ).map((given): [string, () => string[], RegExp] => [
    `what it does not take: ${given[0]}`,
    () => [...portfolio(sound), ...given],
    new RegExp(
      `adjudicate disclosure does not accept ${given[0]}. Its options are --data, --limit\\.`,
    ),
  ]),
])('%s is refused before the store is there', async (_, args, saying) => {
  const { code, out, err } = await assize(...args());
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(saying);
  expect(existsSync(join(folder, 'd.db'))).toBe(false);
});

test('Ctrl-C stops between two days and leaves a ledger that verifies', async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => ({ ...sound, id: `GO-${i}`, aliases: [] }));
  const child = startCommand(folder, STORE, ...portfolio(...many));
  let err = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    // It says how far it is when a day is over. A second signal would not wait.
    if (/adjudicating/.test(err) && !child.killed) child.kill('SIGINT');
  });
  const [code] = await once(child, 'close');
  expect({ code, err }).toEqual({
    code: 130,
    err: expect.stringMatching(/^assize: Stopped by SIGINT/m),
  });
  expect((await assize('verify')).code).toBe(0);
});

describe.skipIf(!hasData('go-vulndb'))(
  'the Go vulnerability database (go-vulndb, absent without ASSIZE_DATA)',
  () => {
    test('comes out as the README of the domain says', async () => {
      const args = [
        'assize-experiments',
        'adjudicate',
        'disclosure',
        '--data',
        dataPath('go-vulndb'),
      ];
      const { code, out } = await assize(...args);
      expect(code).toBe(0);
      expect(out).toContain(
        '781 advisories: 307 disclosed, 474 refused; 11527 proposals on 263 days, 11053 of them committed\n   424  DISCLOSURE_COMPLETENESS\n    50  PATCH_BEFORE_DISCLOSURE\n11528 entries in the store, all verified',
      );
    });
  },
);
