/** verifiers/python/verify.py shares nothing with this program but the reference, and comes to the same verdicts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportLines, integrateLog, logHead } from '#ledger';
import { MemoryStore } from '#stores';
import { approvalCases } from '../support/approval-cases.ts';
import { beliefCases } from '../support/belief-cases.ts';
import { ledgerWithEffects } from '../support/effects-ledger.ts';
import { erasureCases, linesOf, readable, verdictsOf } from '../support/erasure-cases.ts';
import { faultsOf, inheritedCases } from '../support/inherited-cases.ts';
import { everyKind, keysOf } from '../support/ledger-rows.ts';
import { desk } from '../support/ledger-runtime.ts';
import { revocationCases } from '../support/revocation-cases.ts';
import { intent, runtimeOver, writFor } from '../support/runtime.ts';
import { settlementCases } from '../support/settlement-cases.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'assize-python-'));
const python = spawnSync('python3', ['--version']).status === 0;

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'src/cli/main.ts'), 'demo', '--store', `sqlite:${folder}/demo.db`]);
});
afterAll(() => rmSync(folder, { recursive: true }));

function verdict(text: string, ...options: string[]): { code: number | null; said: any } {
  const file = join(folder, 'e.jsonl');
  writeFileSync(file, text);
  const { status, stdout } = spawnSync(
    'python3',
    [join(root, 'verifiers/python/verify.py'), file, '--json', ...options],
    { encoding: 'utf8' },
  );
  return { code: status, said: stdout === '' ? undefined : JSON.parse(stdout) };
}

const exported = (): string =>
  execFileSync(process.execPath, [join(root, 'src/cli/main.ts'), 'export', '--store', `sqlite:${folder}/demo.db`], {
    encoding: 'utf8',
  });

describe.skipIf(!python)('with python3', () => {
  test('the example of the reference is valid', () => {
    const page = readFileSync(join(root, 'docs/reference/ledger.md'), 'utf8');
    const example = /```json\n(\{"format"[\s\S]*?)```/.exec(page)?.[1] as string;
    const { code, said } = verdict(example);
    expect({ code, said }).toMatchObject({ code: 0, said: { valid: true, entries: 3, findings: [] } });
    expect(said.not_checked.join()).toContain('Ed25519');
  });

  test.each(revocationCases)('revocations: $name', async ({ make, faults }) => {
    const store = await make();
    await integrateLog(store);
    let text = '';
    for await (const line of exportLines(store)) text += line;
    const { said } = verdict(text);
    const found = said.findings.map(({ trajectory_id, seq, code }: any) => `${trajectory_id} ${seq} ${code}`);
    expect(found).toEqual(faults);
  });

  test.each(settlementCases)('effects: $name', async ({ make, faults }) => {
    const store = await make();
    await integrateLog(store);
    let text = '';
    for await (const line of exportLines(store)) text += line;
    const { said } = verdict(text);
    const found = said.findings.map(({ trajectory_id, seq, code }: any) => `${trajectory_id} ${seq} ${code}`);
    expect(found).toEqual(faults);
  });

  test.each(inheritedCases())('what branches begin with: $name', async ({ ledger }) => {
    const { said } = verdict(linesOf(ledger));
    const found = said.findings.map(({ trajectory_id, seq, code }: any) => `${trajectory_id} ${seq} ${code}`);
    expect(found.sort()).toEqual(await faultsOf(ledger));
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
    expect(verdict(text, '--root', hex, '--size', String(head.size))).toMatchObject({
      code: 0,
      said: { valid: true, root: hex, entries: rows.length },
    });
    expect(verdict(text, '--root', '0'.repeat(64))).toMatchObject({ code: 1 });
  });

  test('what tools did is valid, and is missed where what they did is left out', async () => {
    const { store } = await ledgerWithEffects();
    await integrateLog(store);
    const lines: string[] = [];
    for await (const line of exportLines(store)) lines.push(line);
    expect(verdict(lines.join(''))).toMatchObject({ code: 0, said: { valid: true, findings: [] } });
    const without = lines.filter((line) => !line.includes('irreversible.buffered'));
    expect(without.length).toBe(lines.length - 4);
    expect(verdict(without.join(''))).toMatchObject({ code: 1 });
  });

  test('a proposal that was refused for what had changed is valid', async () => {
    const store = new MemoryStore();
    const writ = writFor('agent');
    const trajectory = await runtimeOver(store, [desk]).create(desk, { trajectoryId: 't', writs: [writ] });
    const ifUnchanged = { since: trajectory.head, places: ['/data'] };
    await trajectory.propose(intent('keep', { value: 1 }, writ));
    const refused = await trajectory.propose(intent('keep', { value: 2 }, writ, { ifUnchanged }));
    expect(refused).toMatchObject({ reason: 'conflict' });
    await integrateLog(store);
    let text = '';
    for await (const line of exportLines(store)) text += line;
    expect(verdict(text)).toMatchObject({ code: 0, said: { valid: true, entries: 3, findings: [] } });
  });

  test('the demo is valid, and whatever is changed in it is found', () => {
    const text = exported();
    expect(verdict(text)).toMatchObject({ code: 0, said: { valid: true, entries: 21 } });
    const bytes = Buffer.from(text);
    for (let at = 40; at < bytes.length; at += 997) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ 1;
      writeFileSync(join(folder, 'c.jsonl'), changed);
      const { status } = spawnSync('python3', [join(root, 'verifiers/python/verify.py'), join(folder, 'c.jsonl')]);
      expect([at, status]).toEqual([at, 1]);
    }
    const lines = text.split('\n');
    expect(verdict([...lines.slice(0, 5), ...lines.slice(6)].join('\n'))).toMatchObject({ code: 1 });
  });

  describe.each([
    ['with sensitive and erased values', erasureCases()],
    ['with decisions of several people', approvalCases()],
    ['with beliefs', beliefCases()],
  ])('of ledgers %s', (what, cases) => {
    let theirs: any[];

    // One process for all: it takes longer to start than to verify.
    beforeAll(() => {
      const files = cases.map(({ ledger }, i) => {
        const file = join(folder, `${what}-${i}.jsonl`);
        writeFileSync(file, linesOf(ledger));
        return file;
      });
      const script =
        'import sys, verify\nfor file in sys.argv[1:]:\n    verify.main([file, "--json"])\n    print(chr(0), end="")';
      const { stdout, stderr } = spawnSync('python3', ['-B', '-c', script, ...files], {
        encoding: 'utf8',
        cwd: join(root, 'verifiers/python'),
      });
      expect(stderr).toBe('');
      theirs = stdout
        .split('\0')
        .slice(0, -1)
        .map((text) => JSON.parse(text));
    });

    test.each(cases.map((one, i) => ({ ...one, i })))('$name: $verdict', async ({ ledger, verdict: expected, i }) => {
      const ours = await verdictsOf(ledger);
      expect(Object.values(ours).find((one) => one !== 'valid') ?? 'valid').toBe(expected);
      const said = theirs[i];
      const theirVerdicts = Object.keys(ours).map((name) => {
        const first = said.findings.find((finding: any) => finding.trajectory_id === name);
        return [name, first === undefined ? 'valid' : `${first.seq} ${first.code}`];
      });
      expect({ findings: said.findings, verdicts: Object.fromEntries(theirVerdicts) }).toMatchObject({
        verdicts: ours,
      });
      expect(said.valid).toBe(Object.values(ours).every((one) => one === 'valid') && (await readable(ledger)));
    });
  });
});
