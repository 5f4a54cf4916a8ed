/**
 * Writes the golden ledger of upgrades, once: `node tests/golden/make-upgrades.ts`. The ledger is
 * an addition to version 1. The other ledgers of version 1 stay unchanged. No ledger is ever
 * overwritten.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { hashText } from '#canon';
import { exportLines, integrateLog } from '#ledger';
import { signerKey } from '#merkle';
import { seededRandom } from '#oracle';
import { Assize, makeCheckpoint, type Trajectory } from '#runtime';
import { MemoryStore } from '#stores';
import { keysOf } from '../support/ledger/rows.ts';
import { HandClock, operator, writFor } from '../support/ledger/runtime.ts';
import { asked, atMost, counter } from '../support/ledger/versions.ts';
import { type Change, type Golden, V1, verdictsOf } from './ledger.ts';

const FILE = 'upgrades.jsonl';
const DOCTOR = { principal: 'dr-who', method: 'golden' } as const;
const writ = writFor('agent');
const first = counter({ version: '1' });
const second = counter({ version: '2', state: { note: z.string() } });
const tight = counter({ version: '3', invariants: [atMost(5), asked], state: { note: z.string() } });
const doubled = counter({
  version: '2',
  ask: (state, { amount }) => {
    state.asked = 2 * amount;
  },
});
const domains = [first, second, tight, doubled];

async function live(store: MemoryStore): Promise<void> {
  const clock = new HandClock();
  const ports = { clock, random: seededRandom('upgrades') };
  const assize = new Assize({ store, domains, anchors: [operator.publicKey], ports, signer: keysOf(21) });
  const does = async (trajectory: Trajectory, action: string, args: unknown): Promise<void> => {
    clock.forward(1_000);
    await trajectory.propose({ action, role: 'clerk', args, writ });
  };
  const books = await assize.create(first, { trajectoryId: 'books', writs: [writ] });
  await does(books, 'set', { n: 7 });
  await does(books, 'ask', { amount: 3 });
  const migrate = (state: { note: string }): void => {
    state.note = 'from 1';
  };
  await books.upgrade(second, { migrate, writ, reason: 'a note' });
  await books.approvals.approve(books.approvals.pending()[0]?.id as string, DOCTOR);
  await books.upgrade(tight, { writ, reason: 'refused' });
  await books.upgrade(tight, { writ, reason: 'five at most', override: { ...DOCTOR, reason: 'until Monday' } });
  await does(books, 'set', { n: 4 });
  const closed = await assize.create(first, { trajectoryId: 'closed', writs: [writ] });
  await does(closed, 'ask', { amount: 3 });
  await closed.upgrade(doubled, { writ, reason: 'twice' });
  const rejected = await assize.create(first, { trajectoryId: 'rejected', writs: [writ] });
  await does(rejected, 'ask', { amount: 3 });
  await rejected.approvals.reject(rejected.approvals.pending()[0]?.id as string, { ...DOCTOR, reason: 'no' });
  await assize.branch('books', books.head, { trajectoryId: 'branch', note: 'of the third version', override: true });
}

function changesOf(lines: readonly string[]): [string, Change][] {
  const last = (pattern: RegExp): number => lines.findLastIndex((line) => pattern.test(line)) + 1;
  const rehashed = (line: number, ...swaps: readonly (readonly [RegExp, string])[]): Change => {
    let payload = (lines[line - 1] as string).slice(83, -1).replace(/,"signature":\{[^}]*\}/, '');
    for (const [from, to] of swaps) {
      const other = payload.replace(from, to);
      if (other === payload) throw new Error(`line ${line} has no ${from}`);
      payload = other;
    }
    return { lines: { [line]: [`{"id":"${hashText(payload)}","payload":${payload}}`] } };
  };
  const upgrade = lines.findIndex((line) => /"kind":"commit"/.test(line) && line.includes('"reason":"a note"')) + 1;
  const overridden = last(/"kind":"commit".*"reason":"five at most"|"reason":"five at most".*"kind":"commit"/);
  const closing = last(/"reason":"upgraded"/);
  const rejection = last(/"reason":"counselor_rejected"/);
  return [
    ['honest', {}],
    ['an upgrade from a version that was not in force', rehashed(upgrade, [/"from":"[0-9a-f]{4}/, '"from":"0000'])],
    ['an upgrade to the version in force', rehashed(upgrade, [second.hash as never, first.hash])],
    ['an upgrade to another domain', rehashed(upgrade, [/"name":"counter"/, '"name":"desk"'])],
    ['an upgrade without a reason', rehashed(upgrade, [/"reason":"a note",/, ''])],
    ['an upgrade without results of its rules', rehashed(upgrade, [/"detection_vector":\[[^\]]*\],/, ''])],
    ['an upgrade that breaks a rule alone', rehashed(upgrade, [/"result":"pass"/, '"result":"reject"'])],
    ['an upgrade with a cost', rehashed(upgrade, [/"budget_cost":\{\}/, '"budget_cost":{"usd":1}'])],
    ['an override without a counselor', rehashed(overridden, [/"counselor":\{[^}]*\},/, ''])],
    ['a counselor without an override', rehashed(overridden, [/"override":true,/, ''])],
    ['an override of nothing', rehashed(overridden, [/"result":"reject"/, '"result":"pass"'])],
    ['a proposal closed by an upgrade and a counselor', rehashed(closing, ...counseled())],
    [
      'a proposal closed without an upgrade',
      rehashed(rejection, [/"counselor":\{[^}]*\},/, ''], [/"reason":"counselor_rejected"/, '"reason":"upgraded"']),
    ],
    ['an upgrade lost', { lines: { [upgrade]: [] } }],
  ];
}

function counseled(): readonly (readonly [RegExp, string])[] {
  const counselor = '"counselor":{"as":"md","method":"golden","principal":"dr-who"}';
  return [[/("at":"[^"]*"),/, `$1,${counselor},`]];
}

if (existsSync(join(V1, FILE))) throw new Error(`${FILE} is there, and is never written over.`);
const store = new MemoryStore();
await live(store);
await integrateLog(store);
const lines: string[] = [];
for await (const line of exportLines(store)) lines.push(line.slice(0, -1));
writeFileSync(join(V1, FILE), `${lines.join('\n')}\n`);
const signer = signerKey('example.com/golden', 'note', keysOf(31).privateKey);
writeFileSync(join(V1, `${FILE}.checkpoint`), (await makeCheckpoint(store, { signer })).signed);
const golden: Golden[] = [];
for (const [name, change] of changesOf(lines))
  golden.push({ name, of: FILE, change, ...(await verdictsOf(FILE, change)) });
writeFileSync(join(V1, 'upgrades.json'), `${JSON.stringify(golden, null, 1)}\n`);
for (const { name, verify, export: line, checkpoint } of golden) {
  const faults = verify.flatMap(({ trajectory_id, fault }) =>
    fault ? [`${trajectory_id} ${fault.seq} ${fault.code}`] : [],
  );
  console.log(`${name}: ${faults.join(', ') || 'valid'}; export ${line ?? 'whole'}; checkpoint ${checkpoint}`);
}
