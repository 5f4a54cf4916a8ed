/**
 * A changed proof bundle is refused by the program and by verifiers/python/verify.py. They share
 * only the page of the format.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { zipSync } from 'fflate';
import { afterAll, describe, expect, test } from 'vitest';
import { type BundleScope, verifyBundle } from '#bundle';
import { hashText } from '#canon';
import type { LedgerStore, LogStore } from '#ledger';
import { formatVerifierKey, type VerifierKey } from '#merkle';
import { amendmentCases } from '../support/ledger/amendment-cases.ts';
import { approvalCases } from '../support/ledger/approval-cases.ts';
import { beliefCases } from '../support/ledger/belief-cases.ts';
import {
  bundleLedgers,
  bundleOf,
  signedCheckpoint,
  sorted,
  type Texts,
  textsOf,
  WITNESS,
  zipOf,
} from '../support/ledger/bundle-ledgers.ts';
import { erasureCases, type Ledger } from '../support/ledger/erasure-cases.ts';
import { haltCases } from '../support/ledger/halt-cases.ts';
import { keyCases } from '../support/ledger/key-cases.ts';
import { LOG, STRANGER, WITNESSES } from '../support/ledger/merkle-fixtures.ts';
import { revocationCases } from '../support/ledger/revocation-cases.ts';
import { ChainWriter, commitMembers, rootMembers } from '../support/ledger/rows.ts';
import { settlementCases } from '../support/ledger/settlement-cases.ts';
import { hasPython, PythonVerifier } from '../support/process/python-verifier.ts';
import { someOf } from '../support/some-of.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-bundles-'));
const file = join(folder, 'bundle.zip');
const python = new PythonVerifier();
afterAll(() => {
  python.end();
  rmSync(folder, { recursive: true });
});

interface Trust {
  readonly logKey?: VerifierKey;
  readonly witnesses?: readonly VerifierKey[];
}

/** The codes of both verifiers: `valid`, or why not. */
async function codesOf(
  zip: Uint8Array,
  { logKey = LOG, witnesses = [] }: Trust = {},
): Promise<[string, string]> {
  const verdict = await verifyBundle(zip, { logKey, witnesses });
  const ours = verdict.valid ? 'valid' : verdict.fault.code;
  if (!hasPython) return [ours, ours];
  writeFileSync(file, zip);
  const keys = [
    '--log-key',
    formatVerifierKey(logKey),
    ...witnesses.flatMap((key) => ['--witness', formatVerifierKey(key)]),
  ];
  const { out, err } = await python.verify(file, '--json', ...keys);
  const said = JSON.parse(out === '' ? `"${err}"` : out);
  return [ours, said.valid === true ? 'valid' : said.code];
}

async function expectCode(zip: Uint8Array, code: string, trust?: Trust): Promise<void> {
  expect(await codesOf(zip, trust)).toEqual([code, code]);
}

/** The changes that a verifier accepts, or for which the verifiers differ about the acceptance. */
async function accepted(
  changes: readonly (readonly [what: string, zip: Uint8Array])[],
): Promise<string[]> {
  const found: string[] = [];
  for (const [what, zip] of changes) {
    const codes = await codesOf(zip);
    if (codes.includes('valid') || codes.includes('undefined')) found.push(`${what}: ${codes}`);
  }
  return found;
}

const LEDGERS = await bundleLedgers();
const ALL = {
  kind: 'period',
  from: '2000-01-01T00:00:00.000000Z',
  to: '2100-01-01T00:00:00.000000Z',
} as const;

function ledger(name: string): Promise<LedgerStore & LogStore> {
  return LEDGERS.find((one) => one.name === name)!.make();
}

async function textsOver(name: string, scope: BundleScope = ALL): Promise<Texts> {
  return textsOf((await bundleOf(await ledger(name), scope, { script: 'print(1)\n' })).zip);
}

describe.each(['every kind', 'settlements', 'effects', 'all erased', 'a branch under a later key'])(
  'of a ledger with %s',
  (name) => {
    test('attack 68: a proof bundle with a changed byte in any file: refused', async () => {
      const texts = await textsOver(name);
      const changes = Object.entries(texts).flatMap(([at, text]) =>
        [0, text.length >> 1, text.length - 1].flatMap((place) => {
          const byte = text[place] === 'a' ? 'b' : 'a';
          const changed = { ...texts, [at]: text.slice(0, place) + byte + text.slice(place + 1) };
          const isUnchecked = at === 'README.txt' || at === 'verify.py' || at === 'manifest.json';
          const listed = isUnchecked ? [] : ([[`${at} ${place}, listed`, zipOf(changed)]] as const);
          return [[`${at} ${place}`, zipOf(changed, false)] as const, ...listed];
        }),
      );
      expect(await accepted(someOf(changes))).toEqual([]);
    });

    test('a missing file is refused', async () => {
      const texts = await textsOver(name);
      const without = (at: string): Texts =>
        Object.fromEntries(Object.entries(texts).filter(([one]) => one !== at));
      const names = Object.keys(texts);
      const changes = names.flatMap((at) => {
        const isOptional = at === 'verify.py' || at === 'manifest.json';
        const listed = isOptional ? [] : ([[`${at}, listed`, zipOf(without(at))]] as const);
        return [[at, zipOf(without(at), false)] as const, ...listed];
      });
      expect(await accepted(someOf(changes))).toEqual([]);
    });

    test.each(['manifest.json', 'keys.json', 'records.json'])(
      'a changed member of %s is refused',
      async (at) => {
        const texts = await textsOver(name);
        const { files: _, ...value } = JSON.parse(texts[at]!);
        const changes = changesOf(value).map(
          ([what, changed]) =>
            [
              what,
              zipOf({
                ...texts,
                [at]: `${JSON.stringify(sorted({ ...changed, ...(_ && { files: _ }) }))}\n`,
              }),
            ] as const,
        );
        expect(await accepted(someOf(changes))).toEqual([]);
      },
    );

    test('a line that is left out, repeated, moved or changed is refused', async () => {
      const texts = await textsOver(name);
      const lines = texts['entries.jsonl']!.trimEnd().split('\n');
      const withLines = (changed: readonly string[]) =>
        zipOf({ ...texts, 'entries.jsonl': `${changed.join('\n')}\n` });
      const changes = lines.flatMap((line, i) => [
        [`without ${i}`, withLines(lines.toSpliced(i, 1))] as const,
        [`twice ${i}`, withLines(lines.toSpliced(i, 0, line))] as const,
        ...(i === 0
          ? []
          : [[`moved ${i}`, withLines(lines.toSpliced(i - 1, 2, line, lines[i - 1]!))] as const]),
        ...someOf(changesOf(JSON.parse(line))).map(
          ([what, changed]) =>
            [`${i} ${what}`, withLines(lines.with(i, JSON.stringify(sorted(changed))))] as const,
        ),
      ]);
      expect(await accepted(someOf(changes))).toEqual([]);
    });

    test('a forged entry with its own id is refused', async () => {
      const texts = await textsOver(name);
      const lines = texts['entries.jsonl']!.trimEnd().split('\n');
      const at = lines.findLastIndex((line) => line.startsWith('{"id"'));
      const { index, payload, id } = JSON.parse(lines[at]!);
      const { signature: _, ...unsigned } = payload;
      const forged = JSON.stringify(sorted({ ...unsigned, at: '2026-03-24T00:00:00.000000Z' }));
      const line = `{"id":"${hashText(forged)}","index":${index},"payload":${forged}}`;
      const changed = Object.fromEntries(
        Object.entries({ ...texts, 'entries.jsonl': `${lines.with(at, line).join('\n')}\n` }).map(
          ([one, text]) => [
            one.replace(id, hashText(forged)),
            text.replaceAll(id, hashText(forged)),
          ],
        ),
      );
      expect(await accepted([['forged', zipOf(changed)]])).toEqual([]);
    });

    test('swapped proofs, and the proof of another checkpoint, are refused', async () => {
      const store = await ledger(name);
      const texts = textsOf((await bundleOf(store, ALL)).zip);
      const [one, other] = Object.keys(texts).filter((at) => at.startsWith('proofs/')) as [
        string,
        string,
      ];
      await expectCode(
        zipOf({ ...texts, [one]: texts[other]!, [other]: texts[one]! }),
        'not_logged',
      );
      const unwitnessed = textsOf(
        (await bundleOf(store, ALL, { checkpoint: await signedCheckpoint(store, false) })).zip,
      );
      await expectCode(zipOf({ ...texts, [one]: unwitnessed[one]! }), 'not_logged');
      const extra = texts[one]!.replace('\nindex ', '\nextra eHg=\nindex ');
      await expectCode(zipOf({ ...texts, [one]: extra }), 'bad_form');
    });

    test('the keys of another log, or of a witness that did not cosign, refuse it', async () => {
      const { zip } = await bundleOf(await ledger(name), ALL);
      await expectCode(zip, 'valid', { witnesses: [WITNESS] });
      await expectCode(zip, 'other_key', { logKey: STRANGER });
      await expectCode(zip, 'not_witnessed', { witnesses: [WITNESSES[1]!] });
    });
  },
);

test('the checkpoint of another log of the same entries is refused', async () => {
  const texts = await textsOver('every kind');
  const foreign = texts['checkpoint']!.replace('log.example/ledger\n', 'log.example/other\n');
  const changed = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      text.replace(texts['checkpoint']!, () => foreign),
    ]),
  );
  await expectCode(zipOf(changed), 'bad_checkpoint');
});

test('an entry inside of a period that is left out everywhere is missed', async () => {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0 }));
  for (let n = 0; n < 3; n++)
    writer.add('commit', commitMembers([{ op: 'replace', path: '/n', value: n }]));
  const store = new MemoryStore();
  await store.commit({ entries: writer.rows, blobs: [] });
  const texts = textsOf((await bundleOf(store, ALL)).zip);
  const without = (seq: number): Uint8Array => {
    const { id } = writer.rows[seq]!;
    const { [`proofs/${id}.tlog-proof`]: _, ...others } = texts;
    const manifest = JSON.parse(texts['manifest.json']!);
    const in_scope = manifest.in_scope.filter((one: string) => one !== id);
    const lines = texts['entries.jsonl']!.split('\n').filter(
      (line) => !line.startsWith(`{"id":"${id}"`),
    );
    const changed = `${JSON.stringify(sorted({ ...manifest, in_scope, entries: 3 }))}\n`;
    return zipOf({ ...others, 'entries.jsonl': lines.join('\n'), 'manifest.json': changed });
  };
  await expectCode(without(2), 'scope_differs');
  // The page says so: at the end of a period an entry can be left out.
  await expectCode(without(3), 'valid');
});

describe('an entry of the context that is left out is missed:', () => {
  /** The bundle without an entry, and without the values that stand before it. */
  async function without(name: string, scope: BundleScope, id: string): Promise<Uint8Array> {
    const texts = await textsOver(name, scope);
    const lines = texts['entries.jsonl']!.split('\n');
    const at = lines.findIndex((line) => line.startsWith(`{"id":"${id}"`));
    const first = lines.slice(0, at).findLastIndex((line) => line.startsWith('{"id"')) + 1;
    const left = lines.toSpliced(first, at + 1 - first);
    const manifest = JSON.parse(texts['manifest.json']!);
    const changed = { ...manifest, entries: manifest.entries - 1 };
    const { [`proofs/${id}.tlog-proof`]: proof, ...others } = texts;
    expect(proof).toBeDefined();
    return zipOf({
      ...others,
      'entries.jsonl': left.join('\n'),
      'manifest.json': `${JSON.stringify(sorted(changed))}\n`,
    });
  }

  test.each([
    ['first', 'effects', (p: any) => p.seq === 3, (p: any) => p.seq === 0],
    [
      'resolved',
      'three approvals, and work goes on',
      (p: any) => p.counselor !== undefined,
      (p: any) => p.approvals,
    ],
    [
      'start',
      'every kind',
      (p: any) => p.child_head !== undefined,
      (p: any) => p.begins !== undefined,
    ],
  ])('%s', async (_, name, isScope, isMissing) => {
    const store = await ledger(name);
    const rows = (
      await Promise.all(
        (await store.trajectories()).map((info) => store.entries(info.trajectory_id)),
      )
    ).flat();
    const find = (is: (p: any) => unknown): string =>
      rows.find(({ payload }) => is(JSON.parse(payload)))!.id;
    await expectCode(
      await without(name, { kind: 'entry', entry: find(isScope) }, find(isMissing)),
      'context_missing',
    );
  });
});

describe('a bundle of a forged ledger gets one verdict:', () => {
  const stored = (cases: readonly { name: string; ledger: Ledger }[]) =>
    cases.map(({ name, ledger }) => ({ name, make: () => storeOf(ledger) }));
  const groups = {
    approvals: stored(approvalCases()),
    amendments: stored(amendmentCases()),
    beliefs: stored(beliefCases()),
    erasures: stored(erasureCases()),
    halts: haltCases,
    revocations: revocationCases,
    settlements: settlementCases,
    keys: keyCases.map(({ name, rows }) => ({
      name,
      make: () => storeOf({ rows, blobs: [], erased: [] }),
    })),
  };

  test.each(Object.entries(groups))('%s', async (_, all) => {
    const different: string[] = [];
    const met = new Set<boolean>();
    for (const { name, make } of someOf<{ name: string; make(): Promise<LedgerStore & LogStore> }>(
      all,
    )) {
      const made = await bundleOf(await make(), ALL).catch(() => undefined);
      if (made === undefined) continue;
      const [ours, theirs] = await codesOf(made.zip);
      met.add(ours === 'valid');
      if (ours !== theirs) different.push(`${name}: ${ours}, ${theirs}`);
    }
    expect(different).toEqual([]);
    expect(met.size).toBeGreaterThan(0);
  });

  async function storeOf({ rows, blobs, erased }: Ledger): Promise<MemoryStore> {
    const store = new MemoryStore();
    await store.commit({ entries: rows, blobs, erased });
    return store;
  }
});

test('a text that would make the page too long for memory: too large', async () => {
  const options = {
    script: '<'.repeat(95_000_000),
    page: '<script type="application/json" id="bundle"></script>',
  };
  const made = bundleOf(await ledger('every kind'), ALL, options);
  await expect(made).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('Narrow its scope to a shorter'),
  });
});

describe('a zip is refused', () => {
  test.each([
    ['of an invalid form', new Uint8Array([80, 75, 3, 4, 1, 2, 3])],
    ['that is empty', new Uint8Array()],
    ['with a folder', zipSync({ 'proofs/': new Uint8Array() })],
    ['with a path out of it', zipSync({ '../manifest.json': new Uint8Array([123, 125, 10]) })],
  ])('%s', async (_, zip) => expectCode(zip, 'bad_zip'));

  test('with a file twice', async () => {
    const zip = Buffer.from(
      zipSync({ 'keys.json': Buffer.from('{}\n'), 'verify.py': Buffer.from('{}\n') }, { level: 0 }),
    );
    for (let at = zip.indexOf('verify.py'); at >= 0; at = zip.indexOf('verify.py'))
      zip.write('keys.json', at);
    await expectCode(zip, 'bad_zip');
  });

  test('that claims more bytes than a bundle may have', async () => {
    const zip = Buffer.from(zipSync({ 'verify.html': Buffer.alloc(1_000) }));
    const central = zip.lastIndexOf(Buffer.from([80, 75, 1, 2]));
    zip.writeUInt32LE(300_000_000, central + 24);
    await expectCode(zip, 'bad_zip');
  });
});

/** A JSON value with one change, at each place in it. */
function changesOf(value: any, at = ''): [string, any][] {
  if (Array.isArray(value)) {
    const inner = value.flatMap((item, i) =>
      changesOf(item, `${at}/${i}`).map(
        ([what, changed]) => [what, value.with(i, changed)] as [string, any],
      ),
    );
    return [
      ...value.map((_, i) => [`${at}/${i} removed`, value.toSpliced(i, 1)] as [string, any]),
      ...inner,
    ];
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, item]) => {
      const { [name]: _, ...others } = value;
      const inner = changesOf(item, `${at}/${name}`).map(
        ([what, changed]) => [what, { ...value, [name]: changed }] as [string, any],
      );
      return [[`${at}/${name} removed`, others] as [string, any], ...inner];
    });
  if (typeof value === 'number') return [[`${at} + 1`, value + 1]];
  if (typeof value === 'string') return [[`${at} longer`, `${value}x`]];
  return [[`${at} other`, value === null ? 'x' : null]];
}
