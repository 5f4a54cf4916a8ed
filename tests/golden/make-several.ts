/**
 * Writes the golden ledger of decisions that need several approvers, once:
 * `node tests/golden/make-several.ts`. The ledger is an addition to version 1. The other ledgers of
 * version 1 stay unchanged. No ledger is ever overwritten.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashText } from '#canon';
import { exportLines, integrateLog } from '#ledger';
import { signerKey } from '#merkle';
import { seededRandom } from '#oracle';
import { Assize, makeCheckpoint, type Trajectory } from '#runtime';
import { MemoryStore } from '#stores';
import { doctor, pendingOf, severalOf } from '../support/ledger/multi-approval.ts';
import { keysOf } from '../support/ledger/rows.ts';
import { HandClock, intent, operator, writFor } from '../support/ledger/runtime.ts';
import { type Change, type Golden, V1, verdictsOf } from './ledger.ts';

const FILE = 'several.jsonl';
const agent = writFor('agent');
const world = severalOf(3);
const apart = severalOf(2, 'footprint');

async function live(store: MemoryStore): Promise<void> {
  const clock = new HandClock();
  const ports = { clock, random: seededRandom('several') };
  const options = { ports, signer: keysOf(21), approvals: { timeoutMs: 60_000 } };
  const assize = new Assize({ store, domains: [world, apart], anchors: [operator.publicKey], ...options });
  const ask = async (trajectory: Trajectory, amount: number): Promise<string> => {
    clock.forward(1_000);
    return pendingOf(trajectory.propose(intent('ask', { amount }, agent, { idempotencyKey: `${amount}` })));
  };
  const step = async (trajectory: Trajectory, id: string, name: string, rest = {}): Promise<string> => {
    clock.forward(1_000);
    return pendingOf(trajectory.approvals.approve(id, doctor(name, rest)));
  };
  const first = await assize.create(apart, { trajectoryId: 'apart', writs: [agent] });
  await first.approvals.reject(await step(first, await ask(first, 1), 'a'), doctor('b', { reason: 'no' }) as never);
  await step(first, await ask(first, 2), 'a');
  clock.forward(60_000);
  await first.propose(intent('ask', { amount: 200 }, agent));
  const over = await step(first, first.approvals.pending()[0]?.id as string, 'a', { override: true });
  await first.propose(intent('keep', { value: 'beside' }, agent));
  await first.approvals.approve(over, doctor('b', { override: true, reason: 'this once' }));
  const second = await assize.create(world, { trajectoryId: 'world', writs: [agent] });
  const half = await step(second, await ask(second, 5), 'a', { reason: 'it is due' });
  const last = await step(second, half, 'Zo\u00eb');
  await second.approvals.approve(last, doctor('c'));
  const third = await assize.create(world, { trajectoryId: 'waiting', writs: [agent] });
  await step(third, await ask(third, 7), 'a');
}

function changesOf(lines: readonly string[]): [string, Change][] {
  const last = (pattern: RegExp): number => lines.findLastIndex((line) => pattern.test(line)) + 1;
  const rehashed = (line: number, from: RegExp, to: string): Change => {
    const payload = (lines[line - 1] as string).slice(83, -1).replace(/,"signature":\{[^}]*\}/, '');
    const other = payload.replace(from, to);
    if (other === payload) throw new Error(`line ${line} has no ${from}`);
    return { lines: { [line]: [`{"id":"${hashText(other)}","payload":${other}}`] } };
  };
  const commit = last(/"kind":"commit".*"trajectory_id":"world"/);
  const step = last(/"approved_by".*"trajectory_id":"waiting"/);
  return [
    ['honest', {}],
    ['the last approval by one who approved before', rehashed(commit, /"principal":"dr-c"/, '"principal":"dr-a"')],
    ['the same, in another form of Unicode', rehashed(commit, /"principal":"dr-c"/, '"principal":"dr-Zoe\u0308"')],
    ['an override by the last one alone', rehashed(commit, /"method":"test"/, '"method":"test","override":true')],
    ['an approval by nobody', rehashed(step, /"approved_by":\[[^\]]*\],/, '')],
    ['an approval of what takes fewer', rehashed(step, /"approvals":3/, '"approvals":2')],
    ['an approval of something else', rehashed(step, /"detail":"7/, '"detail":"1')],
    [
      'an approval that is not canonical',
      { lines: { [step]: [(lines[step - 1] as string).replace('"approvals":3', '"approvals": 3')] } },
    ],
    ['an approval lost', { lines: { [last(/"approved_by".*"trajectory_id":"world"/)]: [] } }],
  ];
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
writeFileSync(join(V1, 'several.json'), `${JSON.stringify(golden, null, 1)}\n`);
for (const { name, verify, export: line, checkpoint } of golden) {
  const faults = verify.flatMap(({ trajectory_id, fault }) =>
    fault ? [`${trajectory_id} ${fault.seq} ${fault.code}`] : [],
  );
  console.log(`${name}: ${faults.join(', ') || 'valid'}; export ${line ?? 'whole'}; checkpoint ${checkpoint}`);
}
