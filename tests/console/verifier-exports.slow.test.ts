/** The page's verifier of exports: honest ledgers, forged ones, and exports with one change. */

import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type EntryRow, integrateLog, logHead } from '#ledger';
import { readZip } from '../../console/verify/bundle/read-zip.ts';
import { verify } from '../../console/verify/bundle/verify.ts';
import { hexOf } from '../../console/verify/bytes/text.ts';
import { verifyExport } from '../../console/verify/export/verify-export.ts';
import { amendmentCases } from '../support/ledger/amendment-cases.ts';
import { approvalCases } from '../support/ledger/approval-cases.ts';
import { beliefCases } from '../support/ledger/belief-cases.ts';
import { bundleLedgers, bundleOf } from '../support/ledger/bundle-ledgers.ts';
import { erasureCases } from '../support/ledger/erasure-cases.ts';
import { exportOf, piecesOf } from '../support/ledger/exports.ts';
import { haltCases } from '../support/ledger/halt-cases.ts';
import { importedStore } from '../support/ledger/inherited-cases.ts';
import { keyCases } from '../support/ledger/key-cases.ts';
import { revocationCases } from '../support/ledger/revocation-cases.ts';
import { settlementCases } from '../support/ledger/settlement-cases.ts';

const ALWAYS = {
  kind: 'period',
  from: '0001-01-01T00:00:00.000000Z',
  to: '9998-01-01T00:00:00.000000Z',
} as const;

async function textOf(store: MemoryStore): Promise<string> {
  await integrateLog(store);
  return exportOf(store);
}

async function storeOf(entries: readonly EntryRow[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.commit({ entries, blobs: [] });
  return store;
}

async function faultsIn(text: string, ...sizes: readonly number[]) {
  return (await verifyExport(piecesOf(text, ...sizes))).findings.faults;
}

test('every honest ledger is valid, in pieces of any size', { timeout: 60_000 }, async () => {
  for (const { name, make } of await bundleLedgers()) {
    const store = await make();
    const text = await textOf(store);
    const { findings, content } = await verifyExport(piecesOf(text, 1, 7, 4_096));
    expect([name, findings.faults]).toEqual([name, []]);
    const { size, root } = await logHead(store);
    expect(content?.leaves.size).toBe(size);
    expect(hexOf(content!.leaves.root())).toBe(hexOf(root));
    expect(content?.trajectories).toBe((await store.trajectories()).length);
    expect(findings.countOf('entries')).toBe(size);
    expect(findings.countOf('rules')).toBe(size);
  }
});

test('a fault in a bundle of all entries is a fault in the export', {
  timeout: 60_000,
}, async () => {
  const written = [...approvalCases(), ...amendmentCases(), ...erasureCases(), ...beliefCases()];
  const cases = [
    ...written.map(({ name, ledger }) => ({ name, make: () => importedStore(ledger) })),
    ...keyCases.map(({ name, rows }) => ({ name, make: () => storeOf(rows) })),
    ...[...haltCases, ...revocationCases, ...settlementCases],
  ];
  const unseen: unknown[] = [];
  let forged = 0;
  for (const { name, make } of cases) {
    const store = await make().catch(() => undefined);
    const made = store && (await bundleOf(store, ALWAYS).catch(() => undefined));
    if (store === undefined || made === undefined) continue;
    const inBundle = (await verify(readZip(made.zip))).findings.faults;
    const inExport = await faultsIn(await exportOf(store));
    if (inBundle.length > 0) forged += 1;
    if (inBundle.length > 0 && inExport.length === 0) unseen.push({ name, inBundle });
  }
  expect(unseen).toEqual([]);
  expect(forged).toBeGreaterThan(50);
});

describe('an export with one change', () => {
  let effects: string;
  let every: string;
  let erased: string;
  beforeAll(async () => {
    const made = await bundleLedgers();
    const exported = async (name: string) =>
      textOf(await made.find((one) => one.name === name)!.make());
    [effects, every, erased] = await Promise.all([
      exported('effects'),
      exported('every kind'),
      exported('all erased'),
    ]);
  });

  const isEntry = (line: string) => line.startsWith('{"id"');
  const isBlob = (line: string) => line.startsWith('{"blob"');
  const ONE =
    '{"blob":1,"hash":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"}';

  const withLines = (text: string, change: (lines: string[]) => readonly string[]): string =>
    `${change(text.trimEnd().split('\n')).join('\n')}\n`;
  const without = (text: string, isGone: (line: string, n: number) => boolean): string =>
    withLines(text, (lines) => {
      const at = lines.findIndex(isGone);
      expect(at).toBeGreaterThan(-1);
      return lines.filter((_line, n) => n !== at);
    });

  type Case = readonly [what: string, change: () => string, code: string, reason: RegExp];
  const cases: readonly Case[] = [
    ['no bytes', () => '', 'bad_export', /^The export has no last line, so its end is missing\.$/],
    [
      'another format',
      () => every.replace('export/v1', 'export/v2'),
      'bad_export',
      /^Line 1 of the export is not/,
    ],
    [
      'a second header',
      () => withLines(every, ([head, ...rest]) => [head!, head!, ...rest]),
      'bad_export',
      /header/,
    ],
    [
      'no last line',
      () => withLines(every, (lines) => lines.slice(0, -1)),
      'bad_export',
      /its end is missing/,
    ],
    ['a line after the last', () => `${every}${ONE}\n`, 'bad_export', /stands after the end/],
    ['no newline at the end', () => every.slice(0, -1), 'bad_export', /has no newline/],
    [
      'a line that is not canonical',
      () => every.replace('{"id":', '{ "id":'),
      'bad_export',
      /not in its canonical form/,
    ],
    [
      'a line that is not JSON',
      () => withLines(every, ([head, ...rest]) => [head!, '{', ...rest]),
      'bad_export',
      /is not JSON/,
    ],
    [
      'a line of another form',
      () => withLines(every, ([h, ...rest]) => [h!, '{"x":1}', ...rest]),
      'bad_export',
      /not a line of the format/,
    ],
    [
      'another number of entries',
      () => every.replace(/"entries":(\d+)/, '"entries":1$1'),
      'bad_export',
      /^The last line counts 1\d+ entries/,
    ],
    [
      'another root',
      () =>
        every.replace(/"root":"./, (all) => `${all.slice(0, -1)}${all.endsWith('0') ? '1' : '0'}`),
      'bad_export',
      /do not have the root/,
    ],
    [
      'an argument of an entry',
      () => effects.replace('"plain"', '"plaim"'),
      'bad_entry',
      /does not hash to its name|does not hash to its id/,
    ],
    [
      'a member of an entry',
      () => effects.replace('"detail":"no"', '"detail":"on"'),
      'bad_entry',
      /^Its text does not hash to its id\.$/,
    ],
    [
      'a member of no form',
      () => effects.replace('"kind":"commit"', '"kind":"comment"'),
      'bad_entry',
      /none of the seven kinds/,
    ],
    [
      'a value and its name',
      () => every.replace(/\{"blob":(.*),"hash"/, '{"blob":[$1],"hash"'),
      'bad_entry',
      /does not hash to its name/,
    ],
    ['a value is missing', () => without(effects, isBlob), 'bad_entry', /does not stand before it/],
    [
      'a value too much',
      () => withLines(effects, ([head, ...rest]) => [head!, ONE, ...rest]),
      'bad_entry',
      /does not need there/,
    ],
    [
      'a value twice',
      () =>
        withLines(every, (lines) =>
          lines.flatMap((line) => (isBlob(line) ? [line, line] : [line])),
        ),
      'bad_entry',
      /does not need there/,
    ],
    [
      'a value at the end',
      () => withLines(effects, (lines) => [...lines.slice(0, -1), ONE, lines.at(-1)!]),
      'bad_export',
      /belongs to no entry/,
    ],
    [
      'an entry is missing',
      () => without(effects, (line) => isEntry(line) && line.includes('"seq":4')),
      'context_missing',
      /^The entry before it is missing\.$/,
    ],
    [
      'the first entry is missing',
      () => without(effects, isEntry),
      'context_missing',
      /first entry of its trajectory is missing/,
    ],
    [
      'the last entry is missing',
      () => withLines(effects, (lines) => [...lines.slice(0, -2), lines.at(-1)!]),
      'bad_export',
      /^The last line counts/,
    ],
    [
      'an entry twice',
      () =>
        withLines(every, (lines) =>
          lines.flatMap((line) => (isEntry(line) ? [line, line] : [line])),
        ),
      'bad_entry',
      /greater number/,
    ],
    [
      'an erasure by another entry',
      () =>
        erased.replace(/"by":"./, (all) => `${all.slice(0, -1)}${all.endsWith('0') ? '1' : '0'}`),
      'context_missing',
      /^The entry that erased the value .* is missing\.$/,
    ],
    [
      'an erasure of another value',
      () =>
        erased.replace(
          /"erased":"./,
          (all) => `${all.slice(0, -1)}${all.endsWith('0') ? '1' : '0'}`,
        ),
      'bad_entry',
      /It did not erase the value/,
    ],
  ];
  test.each(cases)('%s', async (_, change, code, reason) => {
    const text = change();
    expect([effects, every, erased]).not.toContain(text);
    expect(await faultsIn(text, 1_000)).toContainEqual(
      expect.objectContaining({ code, reason: expect.stringMatching(reason) }),
    );
  });

  test('a fault of an entry has its trajectory and its number', async () => {
    const [fault] = await faultsIn(effects.replace('"detail":"no"', '"detail":"on"'));
    const { payload } = JSON.parse(
      effects.split('\n').find((line) => line.includes('"detail":"no"'))!,
    );
    expect(fault?.place).toBe(`${payload.trajectory_id}@${payload.seq}`);
  });

  test('bytes that are not UTF-8 are named by their line', async () => {
    const bytes = new TextEncoder().encode(every);
    bytes[bytes.indexOf(0x0a) + 3] = 0xff;
    const one = async function* () {
      yield bytes;
    };
    const { findings } = await verifyExport(one());
    expect(findings.faults).toEqual([
      { code: 'bad_export', reason: 'Line 2 of the export is not UTF-8.' },
    ]);
  });

  test('a changed character anywhere is noticed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.constantFrom('a', '0', '"', '}', '\n'), async (n, char) => {
        const at = n % every.length;
        fc.pre(every[at] !== char);
        expect(await faultsIn(`${every.slice(0, at)}${char}${every.slice(at + 1)}`)).not.toEqual(
          [],
        );
      }),
      { numRuns: 60 },
    );
  });
});

test('a file of many faults ends the reading', async () => {
  const blob = (n: number) => `{"blob":${n},"hash":"${'a'.repeat(64)}"}\n`;
  const lines = Array.from({ length: 3_000 }, (_, n) => blob(n)).join('');
  const faults = await faultsIn(`{"format":"assize/export/v1"}\n${lines}`, 1_000);
  expect(faults.length).toBeLessThan(1_005);
  expect(faults.at(-1)?.reason).toBe('There are more than 1000 faults. The rest was not read.');
});
