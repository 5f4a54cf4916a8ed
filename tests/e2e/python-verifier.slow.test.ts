/**
 * verifiers/python/verify.py shares only the reference with this program, and returns the same
 * verdicts.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashText } from '#canon';
import { exportLines, importLines } from '#export';
import { type BlobRow, type Fault, integrateLog, logHead } from '#ledger';
import { verifyStore } from '#runtime';
import { openSqlite } from '#stores';
import { blobLine } from '../../packages/assize/src/ledger/entry/export-lines.ts';
import { amendmentCases } from '../support/ledger/amendment-cases.ts';
import { approvalCases } from '../support/ledger/approval-cases.ts';
import { beliefCases } from '../support/ledger/belief-cases.ts';
import { desk } from '../support/ledger/desk.ts';
import {
  erasureCases,
  faultsByName,
  type Ledger,
  linesOf,
  readable,
  verdictsOf,
} from '../support/ledger/erasure-cases.ts';
import { haltCases } from '../support/ledger/halt-cases.ts';
import { importedStore, inheritedCases } from '../support/ledger/inherited-cases.ts';
import { keyCases } from '../support/ledger/key-cases.ts';
import { revocationCases } from '../support/ledger/revocation-cases.ts';
import {
  ChainWriter,
  commitMembers,
  everyKind,
  keysOf,
  rootMembers,
  salted,
} from '../support/ledger/rows.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { settlementCases } from '../support/ledger/settlement-cases.ts';
import { hasPython, PythonVerifier } from '../support/process/python-verifier.ts';
import { ledgerWithEffects } from '../support/tools/ledger-with-effects.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'assize-python-'));
const python = new PythonVerifier();
const verifier = join(root, 'verifiers/python/verify.py');

beforeAll(() => {
  execFileSync(process.execPath, [
    join(root, 'packages/cli/src/main.ts'),
    'demo',
    '--store',
    `sqlite:${folder}/demo.db`,
  ]);
});
afterAll(() => {
  python.end();
  rmSync(folder, { recursive: true });
});

async function verdict(text: string, ...options: string[]): Promise<{ code: number; said: any }> {
  const file = join(folder, 'e.jsonl');
  writeFileSync(file, text);
  const { code, out } = await python.verify(file, '--json', ...options);
  return { code, said: out === '' ? undefined : JSON.parse(out) };
}

type Found = Pick<Fault, 'trajectory_id' | 'seq' | 'code' | 'rule'>;

function placeAndCode({ trajectory_id, seq, code }: Found): string {
  return `${trajectory_id} ${seq} ${code}`;
}

function withRule(found: Found): string {
  return `${placeAndCode(found)} ${found.rule ?? 'no rule'}`;
}

/** The faults that `verify` finds in a store, in order. */
async function faultsIn(store: MemoryStore): Promise<string[]> {
  const reports = await verifyStore(store);
  return reports.flatMap(({ fault }) => (fault === undefined ? [] : [withRule(fault)])).sort();
}

async function* fromList(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

const exported = (): string =>
  execFileSync(
    process.execPath,
    [join(root, 'packages/cli/src/main.ts'), 'export', '--store', `sqlite:${folder}/demo.db`],
    {
      encoding: 'utf8',
    },
  );

describe.skipIf(!hasPython)('with python3', () => {
  test('the example of the reference is valid', async () => {
    const page = readFileSync(join(root, 'docs/reference/ledger.md'), 'utf8');
    const example = /```json\n(\{"format"[\s\S]*?)```/.exec(page)?.[1] as string;
    const { code, said } = await verdict(example);
    expect({ code, said }).toMatchObject({
      code: 0,
      said: { valid: true, entries: 3, findings: [] },
    });
    expect(said.not_checked.join()).toContain('Ed25519');
  });

  test.each(revocationCases)('revocations: $name', async ({ make, faults }) => {
    const store = await make();
    await integrateLog(store);
    let text = '';
    for await (const line of exportLines(store)) text += line;
    const { said } = await verdict(text);
    expect(said.findings.map(placeAndCode)).toEqual(faults);
    expect(said.findings.map(withRule).sort()).toEqual(await faultsIn(store));
  });

  test('a folder without an archive is refused with what to pass', () => {
    const { status, stdout, stderr } = spawnSync('python3', ['-B', verifier, folder], {
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(
      'is a folder without files of an archive. Pass the folder of an archive,',
    );
  });

  describe('an archive', () => {
    /** Archives all but the last entries of the store at the path. */
    async function archiveOf(path: string, keep: number) {
      const place = mkdtempSync(join(folder, 'archive-'));
      const store = await openSqlite({ path, archive: `file:${place}` });
      await integrateLog(store);
      const head = await logHead(store);
      await store.archiveEntries({ checkpoint: { origin: 'test', ...head }, keep, level: 1 });
      await store.close();
      return { place, root: Buffer.from(head.root).toString('hex'), size: head.size };
    }

    async function storeOf({ rows, blobs, erased }: Ledger): Promise<string> {
      const path = join(mkdtempSync(join(folder, 'store-')), 'ledger.db');
      const store = await openSqlite({ path });
      await store.commit({ entries: rows, blobs, erased });
      await store.close();
      return path;
    }

    const verified = async (place: string, ...options: string[]) => {
      const { code, out } = await python.verify(place, '--json', ...options);
      return { code, said: JSON.parse(out) };
    };

    const whole = erasureCases().filter(
      ({ verdict, ledger }) => verdict === 'valid' && ledger.erased.length > 0,
    );

    test.each(whole)('is valid with and without its last entries: $name', async ({ ledger }) => {
      for (const keep of [0, 2]) {
        const { place } = await archiveOf(await storeOf(ledger), keep);
        const entries = (ledger.rows.length - keep) & ~1;
        expect(await verified(place)).toMatchObject({
          code: 0,
          said: { valid: true, entries, findings: [] },
        });
      }
    });

    test('is compared with a checkpoint, and a flipped byte is named', async () => {
      const path = join(mkdtempSync(join(folder, 'store-')), 'demo.db');
      copyFileSync(join(folder, 'demo.db'), path);
      const { place, root, size } = await archiveOf(path, 0);
      const at = (hex: string): string[] => ['--size', String(size), '--root', hex];
      expect(await verified(place, ...at(root))).toMatchObject({
        code: 0,
        said: { entries: size, root },
      });
      const wrong = await verified(place, ...at('0'.repeat(64)));
      expect(wrong).toMatchObject({ code: 1, said: { findings: [{ code: 'bad_checkpoint' }] } });
      const later = await verified(place, '--size', String(size + 1));
      expect(later.said.findings).toMatchObject([
        { detail: expect.stringContaining(`archive has ${size} entries`) },
      ]);
      for (const name of readdirSync(place).filter((each) => each.endsWith('.gz'))) {
        const bytes = readFileSync(join(place, name));
        const changed = Buffer.from(bytes);
        changed[changed.length >> 1]! ^= 1;
        writeFileSync(join(place, name), changed);
        const { code, said } = await verified(place);
        expect({ code, details: said.findings.map(({ detail }: any) => detail) }).toMatchObject({
          code: 1,
          details: [expect.stringContaining(name)],
        });
        writeFileSync(join(place, name), bytes);
      }
      const [first] = readdirSync(place).filter((each) => each.includes('-entries-'));
      rmSync(join(place, first!));
      expect((await verified(place)).said.findings).toMatchObject([
        { detail: 'segment 0 has no file of entries' },
      ]);
    });
  });

  describe('ends its reading at a limit', () => {
    const limited = (text: string, ...options: string[]) => {
      const { status, stdout } = spawnSync('python3', ['-B', verifier, '-', '--json', ...options], {
        input: text,
      });
      const { findings } = JSON.parse(stdout.toString());
      return { status, findings: findings.map(({ line, detail }: any) => `${line} ${detail}`) };
    };
    const header = '{"format":"assize/export/v1"}\n';
    const blob = (text: string): string =>
      blobLine({ hash: hashText(`"${text}"`), text: `"${text}"` });

    test.each([
      ['blob', `{"blob":"${'a'.repeat(200_000)}`],
      ['entry', `{"id":"${'a'.repeat(200_000)}`],
    ])('in a line of a %s, before the line ends', (_, line) => {
      const findings = ['2 the line has more than 100000 bytes; the rest is not read'];
      expect(limited(`${header}${line}`, '--max-line', '100000')).toEqual({ status: 1, findings });
    });

    test('in a line of no kind', () => {
      const findings = ['2 the line has more than 1048576 bytes; the rest is not read'];
      expect(limited(`${header}${'a'.repeat(1_200_000)}`)).toEqual({ status: 1, findings });
    });

    test('in the blobs before one entry, before the next is parsed', () => {
      const lines = header + blob('b'.repeat(70_000)) + blob('c'.repeat(70_000));
      const findings = [
        '3 the blobs before one entry have more than 100000 bytes; the rest is not read',
      ];
      expect(limited(lines, '--max-blobs', '100000')).toEqual({ status: 1, findings });
      // The second line passes the limit already by its length, so its text need not be JSON.
      const unread = `${header}${blob('b'.repeat(70_000))}{"blob":${'x'.repeat(70_000)}\n`;
      expect(limited(unread, '--max-blobs', '100000')).toEqual({ status: 1, findings });
    });

    test('in the whole export', () => {
      const findings = ['2 the export has more than 1000 bytes; the rest is not read'];
      expect(limited(header + blob('b'.repeat(2_000)), '--max-bytes', '1000')).toEqual({
        status: 1,
        findings,
      });
    });

    test('a long line within the limits is read as before, from a pipe too', () => {
      const text = linesOf({ rows: [], blobs: [], erased: [] });
      const lines = text.split('\n');
      const spoilt = [lines[0], blob('b'.repeat(300_000)).trimEnd(), ...lines.slice(1)].join('\n');
      expect(limited(spoilt).findings).toEqual([
        expect.stringMatching(/^2 the blob .* before the trailer$/),
      ]);
    });
  });

  test.each(keyCases)('signatures: $name', async ({ rows, named = [], faults }) => {
    const options = named.flatMap((key) => ['--entry-key', key]);
    const { said } = await verdict(linesOf({ rows, blobs: [], erased: [] }), ...options);
    expect(said.findings.map(withRule).sort()).toEqual(faults);
  });

  test.each(haltCases)('halts: $name', async ({ make, faults }) => {
    const store = await make();
    await integrateLog(store);
    let text = '';
    for await (const line of exportLines(store)) text += line;
    const { said } = await verdict(text);
    expect(said.findings.map(placeAndCode)).toEqual(faults);
    expect(said.findings.map(withRule).sort()).toEqual(await faultsIn(store));
  });

  test.each(settlementCases)('effects: $name', async ({ make, faults }) => {
    const store = await make();
    await integrateLog(store);
    let text = '';
    for await (const line of exportLines(store)) text += line;
    const { said } = await verdict(text);
    expect(said.findings.map(placeAndCode)).toEqual(faults);
    expect(said.findings.map(withRule).sort()).toEqual(await faultsIn(store));
  });

  test.each(inheritedCases())('first entries of branches: $name', async ({ ledger }) => {
    const { said } = await verdict(linesOf(ledger));
    expect(said.findings.map(withRule).sort()).toEqual(await faultsIn(await importedStore(ledger)));
  });

  test('a ledger of all kinds is valid, with the root of its log', async () => {
    const { rows, blobs } = everyKind(keysOf(1));
    const store = new MemoryStore();
    for (const row of rows) await store.commit({ entries: [row], blobs });
    await integrateLog(store);
    let text = '';
    for await (const line of exportLines(store)) text += line;
    const head = await logHead(store);
    const hex = Buffer.from(head.root).toString('hex');
    expect(await verdict(text, '--root', hex, '--size', String(head.size))).toMatchObject({
      code: 0,
      said: { valid: true, root: hex, entries: rows.length },
    });
    expect(await verdict(text, '--root', '0'.repeat(64))).toMatchObject({ code: 1 });
  });

  test('tool effects are valid, and are reported missing if left out', async () => {
    const { store } = await ledgerWithEffects();
    await integrateLog(store);
    const lines: string[] = [];
    for await (const line of exportLines(store)) lines.push(line);
    expect(await verdict(lines.join(''))).toMatchObject({
      code: 0,
      said: { valid: true, findings: [] },
    });
    const without = lines.filter((line) => !line.includes('irreversible.buffered'));
    expect(without.length).toBe(lines.length - 4);
    expect(await verdict(without.join(''))).toMatchObject({ code: 1 });
  });

  test('a proposal refused by its precondition is valid', async () => {
    const store = new MemoryStore();
    const writ = writFor('agent');
    const trajectory = await runtimeOver(store, [desk]).create(desk, {
      trajectoryId: 't',
      writs: [writ],
    });
    const ifUnchanged = { since: trajectory.head, paths: ['/data'] };
    await trajectory.propose(intent('keep', { value: 1 }, writ));
    const refused = await trajectory.propose(
      intent('keep', { value: 2 }, writ, { precondition: ifUnchanged }),
    );
    expect(refused).toMatchObject({ reason: 'conflict' });
    await integrateLog(store);
    let text = '';
    for await (const line of exportLines(store)) text += line;
    expect(await verdict(text)).toMatchObject({
      code: 0,
      said: { valid: true, entries: 3, findings: [] },
    });
  });

  test('blobs out of their entry’s order of first use are refused by both', async () => {
    const blobs: BlobRow[] = [];
    const [one, other] = [salted('one', blobs), salted('other', blobs)];
    const writer = new ChainWriter('t');
    writer.add('root', rootMembers());
    const observed = [one, other, one].map((value, i) => ({ name: `${i}`, value }));
    writer.add('commit', commitMembers([], { observations: observed }));
    const lines = linesOf({ rows: writer.rows, blobs, erased: [] }).trimEnd().split('\n');
    const at = lines.findIndex((line) => line.startsWith('{"blob"'));
    const swapped = lines.with(at, lines[at + 1]!).with(at + 1, lines[at]!);
    const both = async (given: readonly string[]): Promise<unknown[]> => {
      const ours = importLines(new MemoryStore(), fromList(given)).then(
        () => 0,
        () => 1,
      );
      return [await ours, (await verdict(`${given.join('\n')}\n`)).code];
    };
    expect([await both(lines), await both(swapped)]).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  test('as a program it exits with 0 if valid, 1 if not, and 2 if not an export', () => {
    const program = (text: string): number | null => {
      const file = join(folder, 'p.jsonl');
      writeFileSync(file, text);
      return spawnSync('python3', [join(root, 'verifiers/python/verify.py'), file]).status;
    };
    const text = exported();
    expect(program(text)).toBe(0);
    expect(program(text.replace('"seq":3', '"seq":4'))).toBe(1);
    expect(program('{}\n')).toBe(2);
  });

  test('the demo is valid, and every change in it is found', async () => {
    const text = exported();
    expect(await verdict(text)).toMatchObject({ code: 0, said: { valid: true, entries: 28 } });
    const bytes = Buffer.from(text);
    const file = join(folder, 'c.jsonl');
    for (let at = 40; at < bytes.length; at += 997) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ 1;
      writeFileSync(file, changed);
      expect([at, (await python.verify(file)).code]).toEqual([at, 1]);
    }
    const lines = text.split('\n');
    expect(await verdict([...lines.slice(0, 5), ...lines.slice(6)].join('\n'))).toMatchObject({
      code: 1,
    });
  });

  describe.each([
    ['with sensitive and erased values', erasureCases()],
    ['with decisions of several people', approvalCases()],
    ['with amended proposals', amendmentCases()],
    ['with beliefs', beliefCases()],
  ])('of ledgers %s', (_what, cases) => {
    test.each(cases)('$name: $verdict', async ({ ledger, verdict: expected }) => {
      const ours = await verdictsOf(ledger);
      expect(Object.values(ours).find((one) => one !== 'valid') ?? 'valid').toBe(expected);
      const faults = Object.entries(await faultsByName(ledger));
      const { said } = await verdict(linesOf(ledger));
      const theirFaults = faults.map(([name]) => {
        const first = said.findings.find((finding: any) => finding.trajectory_id === name);
        return [name, first === undefined ? 'valid' : withRule(first)];
      });
      expect({ findings: said.findings, faults: Object.fromEntries(theirFaults) }).toMatchObject({
        faults: Object.fromEntries(
          faults.map(([name, fault]) => [name, fault ? withRule(fault) : 'valid']),
        ),
      });
      expect(said.valid).toBe(
        Object.values(ours).every((one) => one === 'valid') && (await readable(ledger)),
      );
    });
  });
});

describe.skipIf(!hasPython)('a bundle of every documented scope', () => {
  const page = readFileSync(join(root, 'docs/guide/proof-bundles.md'), 'utf8');
  const scopes = [...page.matchAll(/^assize bundle (--.*) --out (\w+\.zip)$/gm)].map(
    ([, scope, out]) => ({
      scope,
      out,
    }),
  );

  const assize = (...args: string[]) =>
    execFileSync(process.execPath, [
      join(root, 'packages/cli/src/main.ts'),
      ...args,
      '--store',
      `sqlite:${folder}/demo.db`,
    ]);
  let key = '';
  beforeAll(() => {
    assize('keys', 'new', 'example.com/ledger');
    assize('checkpoint');
    key = readFileSync(join(folder, 'demo.db.vkey'), 'utf8').trim();
  });

  test('the guide has four scopes', () => expect(scopes).toHaveLength(4));

  test.each(scopes)('$scope', async ({ scope = '', out = '' }) => {
    const file = join(folder, out);
    assize('bundle', ...scope.split(' '), '--out', file);
    const { code, out: said, err } = await python.verify(file, '--json', '--log-key', key);
    expect([code, JSON.parse(said).valid, err]).toEqual([0, true, '']);
  });
});
