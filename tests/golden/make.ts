/**
 * Writes the golden ledgers of a format version, once: `node tests/golden/make.ts`. Existing files
 * are never overwritten, because every later version must verify them unchanged. A new format has
 * its own folder.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { hashText } from '#canon';
import { makeCheckpoint } from '#checkpoints';
import { exportLines, importLines } from '#export';
import { type Hash, integrateLog, type LedgerStore } from '#ledger';
import { Frontier, formatVerifierKey, leafHash, signerKey } from '#merkle';
import { seededRandom } from '#oracle';
import { Assize, type Ruling, type Trajectory } from '#runtime';
import { ward } from '../support/clinic/ward.ts';
import { deskOf } from '../support/ledger/desk.ts';
import { keysOf } from '../support/ledger/rows.ts';
import { HandClock, intent, operator, writFor } from '../support/ledger/runtime.ts';
import { type Change, V1 } from './ledger.ts';
import { writeVerdicts } from './write-ledger.ts';

const DOCTOR = { principal: 'dr-who', method: 'golden' } as const;
const lead = keysOf(11);
const helper = keysOf(12);
const agent = writFor('agent');
const granted = writFor(lead.publicKey, { trajectory: 'desk', budget: { usd: 100 } });
const desk = deskOf();
const apart = deskOf('footprint', 'apart');

/**
 * One of everything: all kinds of entries, rulings and starts. Values are inline, in blobs, salted,
 * and erased.
 */
async function live(store: LedgerStore): Promise<void> {
  const clock = new HandClock();
  const assize = runtime(store, clock);
  const desks = await assize.create(desk, {
    trajectoryId: 'desk',
    writs: [granted, agent],
    note: 'golden, α',
  });
  const does = async (
    trajectory: Trajectory,
    action: string,
    args: unknown,
    more: object = {},
  ): Promise<Ruling> => {
    clock.forward(1_000);
    return trajectory.propose(intent(action, args, agent, more));
  };
  await does(desks, 'add', { by: 3 }, { idempotencyKey: 'first' });
  await does(desks, 'add', { by: 30 }, { idempotencyKey: 'refused' });
  await does(desks, 'nothing', {});
  await does(desks, 'add', { by: 'three' });
  await does(desks, 'fail', {});
  await does(desks, 'keep', {
    value: { $blob: 'no reference', e: 'é\u2028', n: [1.5e-7, -0.5, 2 ** 53 - 1] },
  });
  await does(desks, 'keep', { value: 'large '.repeat(4_000) });
  await does(
    desks,
    'keep',
    { value: 1 },
    { observations: [{ name: 'seen', value: { text: 'x'.repeat(20_000) } }] },
  );
  await approved(desks, await does(desks, 'ask', { amount: 5 }, { idempotencyKey: 'approved' }));
  const second = await does(desks, 'ask', { amount: 6 }, { idempotencyKey: 'turned down' });
  await desks.approvals.reject(pendingOf(second), { ...DOCTOR, reason: 'too much' });
  await does(desks, 'ask', { amount: 7 });
  clock.forward(120_000);
  await does(desks, 'add', { by: 1 });
  await delegated(assize, desks, clock);
  await branched(assize, store);
  await warded(assize, clock);
}

async function approved(trajectory: Trajectory, ruling: Ruling): Promise<void> {
  await trajectory.approvals.approve(pendingOf(ruling), DOCTOR);
}

async function delegated(assize: Assize, desks: Trajectory, clock: HandClock): Promise<void> {
  const child = await desks.delegations.delegate({
    task: 'count',
    writ: granted,
    subject: helper.publicKey,
    budget: { usd: 60 },
    childTrajectoryId: 'child',
    privateKey: lead.privateKey,
  });
  const { writ } = child.delegations.origin as { writ: typeof granted };
  await child.propose(intent('pay', { usd: 10 }, writ));
  clock.forward(1_000);
  const grandchild = await child.delegations.delegate({
    task: 'count on',
    writ,
    subject: 'agent:third',
    budget: { usd: 20 },
    childTrajectoryId: 'grandchild',
    privateKey: helper.privateKey,
    domain: apart,
  });
  await grandchild.propose(
    intent('pay', { usd: 5 }, (grandchild.delegations.origin as { writ: typeof granted }).writ),
  );
  await child.delegations.conclude(child.delegations.open()[0]!.id, {
    finalAnswer: { counted: 5 },
  });
  await child.delegations.answer({ finalAnswer: 'fifteen' });
  await desks.delegations.conclude(desks.delegations.open()[0]!.id);
  // One that stays open.
  await desks.delegations.delegate({
    task: 'wait',
    writ: granted,
    subject: 'agent:waiter',
    budget: { usd: 1 },
    childTrajectoryId: 'waiting',
    privateKey: lead.privateKey,
  });
  await assize.open('waiting');
}

async function branched(assize: Assize, store: LedgerStore): Promise<void> {
  const commit = (await store.entries('desk')).findLast(({ kind }) => kind === 'commit')!;
  const branch = await assize.branch('desk', commit.id, {
    trajectoryId: 'branch',
    note: 'what if',
    writs: [agent],
  });
  await branch.propose(intent('add', { by: 2 }, agent));
  const twig = await assize.branch('branch', branch.head, {
    trajectoryId: 'twig',
    note: 'and then',
    writs: [agent],
  });
  await twig.propose(intent('add', { by: -1 }, agent));
  await twig.propose(intent('ask', { amount: 9 }, agent));
}

async function warded(assize: Assize, clock: HandClock): Promise<void> {
  const patients = {
    p0: { name: 'Rosalind', visits: 0, notes: [{ text: 'allergic', urgent: true }] },
  };
  const trajectory = await assize.create(ward, {
    trajectoryId: 'ward',
    initial: { patients, flagged: 0, agreed: 0 },
  });
  const nurse = async (
    action: string,
    id: string,
    args: unknown = {},
    more: object = {},
  ): Promise<Ruling> => {
    clock.forward(1_000);
    return trajectory.propose({
      action,
      role: { name: 'nurse', params: { id } },
      args,
      writ: agent,
      ...more,
    });
  };
  await nurse('admit', 'p1', { name: 'David' });
  await nurse(
    'note',
    'p1',
    { text: 'fell' },
    { observations: [{ name: 'call', value: 'Ann', sensitive: true }] },
  );
  await nurse('correct', 'p1', { index: 0, urgent: true });
  await nurse('admit', 'p2', { name: 'Maria' });
  await approved(trajectory, await nurse('flag', 'p2', { text: 'look' }));
  await trajectory.erase({
    at: ['/patients/p1', '/patients/p0/notes'],
    reason: 'asked for',
    writ: agent,
  });
  await nurse('note', 'p1', { text: 'back' });
  for (const index of [1, 2, 3, 1]) await nurse('correct', 'p1', { index, urgent: index === 1 });
}

function pendingOf(ruling: Ruling): Hash {
  if (ruling.ruling !== 'escalated') throw new Error(`it is ${ruling.ruling}`);
  return ruling.pending;
}

function runtime(store: LedgerStore, clock: HandClock): Assize {
  return new Assize({
    store,
    domains: [desk, apart, ward],
    anchors: [operator.publicKey],
    ports: { clock, random: seededRandom('golden') },
    signer: keysOf(21),
    approvals: { timeoutMs: 60_000 },
  });
}

async function exported(store: MemoryStore): Promise<string[]> {
  await integrateLog(store);
  const lines: string[] = [];
  for await (const line of exportLines(store)) lines.push(line.slice(0, -1));
  return lines;
}

/** The trailer of a whole export of these lines. */
function trailer(lines: readonly string[]): string {
  const frontier = new Frontier();
  for (const line of lines) {
    const payload = /^\{"id":"[0-9a-f]{64}","payload":(.*)\}$/s.exec(line)?.[1];
    if (payload !== undefined) frontier.append([leafHash(payload)]);
  }
  return `{"entries":${frontier.size},"root":"${Buffer.from(frontier.root()).toString('hex')}"}`;
}

/** The first lines of another ledger, and then other entries: another history from there on. */
async function forked(lines: readonly string[], from: number): Promise<string[]> {
  const store = new MemoryStore();
  const kept = lines.slice(0, from);
  await importLines(store, asLines([...kept, trailer(kept)]));
  const clock = new HandClock();
  clock.forward(10_000_000);
  const trajectory = await runtime(store, clock).open('ward');
  for (const id of ['p3', 'p4', 'p5']) {
    await trajectory.propose({
      action: 'admit',
      role: { name: 'nurse', params: { id } },
      args: { name: `other ${id}` },
      writ: agent,
    });
  }
  return exported(store);
}

async function* asLines(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** Every sort of change, at every sort of place: name and change. */
function changesOf(lines: readonly string[]): [string, Change][] {
  const at = (pattern: RegExp, nth = 0): number => {
    const found = lines.flatMap((line, i) => (pattern.test(line) ? [i + 1] : []));
    const line = found.at(nth);
    if (line === undefined) throw new Error(`no line is like ${pattern}`);
    return line;
  };
  const text = (line: number): string => lines[line - 1] as string;
  const replaced = (line: number, from: string | RegExp, to: string): Change => {
    const other = text(line).replace(from, to);
    if (other === text(line)) throw new Error(`line ${line} has no ${from}`);
    return { lines: { [line]: [other] } };
  };
  const gone = (line: number): Change => ({ lines: { [line]: [] } });
  const entry = (kind: string, nth = 0): number =>
    at(new RegExp(`^\\{"id".*"kind":"${kind}"`), nth);
  const rehashed = (line: number, from: string | RegExp, to: string): Change => {
    const payload = text(line).slice(83, -1).replace(from, to);
    return { lines: { [line]: [`{"id":"${hashText(payload)}","payload":${payload}}`] } };
  };
  const erased = at(/^\{"by"/);
  const salted = at(/^\{"blob":\{"salt"/);
  const commit = entry('commit');
  const last = lines.length;
  const shorter = lines.slice(0, last - 3);
  return [
    ['honest', {}],
    ...['root', 'commit', 'rejection', 'pending_approval', 'delegation', 'branch'].map(
      (kind): [string, Change] => [
        `the time of a ${kind} changed`,
        replaced(entry(kind), /"at":"2026-03-23T09:/, '"at":"2026-03-23T08:'),
      ],
    ),
    ['a member added to a commit', replaced(commit, '"kind":"commit"', '"kind":"commit","x":1')],
    ['a commit not canonical any more', replaced(commit, '"kind":"commit"', '"kind": "commit"')],
    ['a change of state changed', replaced(commit, '"op":"', '"op":"x')],
    [
      'a change of state changed, and the entry hashed anew',
      rehashed(commit, '"value":', '"value":9'),
    ],
    [
      'an invariant that refused renamed, and the entry hashed anew',
      rehashed(entry('rejection'), 'TEN_AT', 'ONE_AT'),
    ],
    [
      'a signature exchanged, and the entry hashed anew',
      rehashed(entry('commit'), /"value":"[0-9a-f]{8}/, '"value":"00000000'),
    ],
    ['a commit lost', gone(commit)],
    ['a branch lost', gone(entry('branch'))],
    ['the start of a delegation lost', gone(entry('delegation'))],
    ['the conclusion of a delegation lost', gone(at(/"child_head":/))],
    ['a commit twice', { lines: { [commit]: [text(commit), text(commit)] } }],
    [
      'two entries exchanged',
      { lines: { [commit]: [text(entry('commit', 1))], [entry('commit', 1)]: [text(commit)] } },
    ],
    ['a large value lost', gone(at(/^\{"blob":\{"value":"large/))],
    ['a large value changed', replaced(at(/^\{"blob":\{"value":"large/), 'large', 'small')],
    ['a salted value lost', gone(salted)],
    ['a salted value changed', replaced(salted, '"value":"', '"value":"x')],
    [
      'a salted value said to be erased by what erases others',
      {
        lines: {
          [salted]: [
            `{"by":"${/"by":"([0-9a-f]{64})/.exec(text(erased))![1]}","erased":"${/"hash":"([0-9a-f]{64})/.exec(text(salted))![1]}"}`,
          ],
        },
      },
    ],
    ['an erased value lost', gone(erased)],
    [
      'an erased value said to be erased by another entry',
      replaced(erased, /"by":"[0-9a-f]{64}/, `"by":"${text(commit).slice(7, 71)}`),
    ],
    ['the end cut off', { cut: last - 3 }],
    [
      'the end cut off, with a trailer that fits',
      { cut: last - 3, lines: { [last - 3]: [text(last - 3), trailer(shorter)] } },
    ],
    ['the root of the trailer changed', replaced(last, /"root":"[0-9a-f]{4}/, '"root":"0000')],
    ['no header', gone(1)],
  ];
}

if (existsSync(V1)) throw new Error(`${V1} is there, and is never written over.`);
mkdirSync(V1, { recursive: true });
const store = new MemoryStore();
await live(store);
const lines = await exported(store);
writeFileSync(join(V1, 'honest.jsonl'), `${lines.join('\n')}\n`);
const signer = signerKey('example.com/golden', 'note', keysOf(31).privateKey);
writeFileSync(
  join(V1, 'honest.jsonl.checkpoint'),
  (await makeCheckpoint(store, { signer })).signed,
);
writeFileSync(join(V1, 'honest.jsonl.vkey'), `${formatVerifierKey(signer)}\n`);
/**
 * The position is after the erasure. Without the erasure entry, erased values look like missing
 * values.
 */
const fork = lines.length - 3;
const changes: [string, Change][] = [
  ...changesOf(lines),
  [
    'another history, from one entry on',
    {
      cut: fork,
      lines: { [fork]: [lines[fork - 1] as string, ...(await forked(lines, fork)).slice(fork)] },
    },
  ],
];
await writeVerdicts('golden.json', 'honest.jsonl', changes);
