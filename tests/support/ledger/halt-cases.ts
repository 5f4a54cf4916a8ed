/** Ledgers with halts, honest and forged, with the faults of each. */

import type { MemoryStore } from '@assize/testing/memory';
import { attenuate, type Writ, writId } from '#authority';
import type { EntryRow } from '#ledger';
import { begun, DOCTOR, granted, lead, pendingOf, task, worker } from './delegations.ts';
import { allEntries } from './desk.ts';
import { blobOf, type RevocationCase, rewritten, storeOf } from './revocation-cases.ts';
import { intent, writFor } from './runtime.ts';

type Change = (payload: Record<string, any>) => unknown;

const office = writFor('security', {
  actions: ['assize.halt'],
  scopes: ['halt:**'],
  nonce: 'office',
});
const narrow = { actions: ['assize.halt'], scopes: ['halt:**'] };
const unnamed = writFor('unnamed', { scopes: ['halt:**'], nonce: 'unnamed' });
const unscoped = writFor('unscoped', { actions: ['assize.halt'], nonce: 'unscoped' });
const made = attenuate(granted, { subject: 'made', nonce: 'made', ...narrow }, lead.privateKey);
const halting = { writ: office, reason: 'the agents pay twice' };

/**
 * In `t`: 1 starts `c`, 2 is pending, 3 halts, 4 rejects, 5 resumes, 6 is a use, 7 halts. In `c`: 1
 * halts, 2 resumes, 3 halts.
 */
async function honest() {
  const { store, trajectory } = await begun();
  await trajectory.delegations.delegate(task());
  const asked = pendingOf(await trajectory.propose(intent('ask', { amount: 1 }, worker)));
  await trajectory.halt(halting);
  await trajectory.approvals.reject(asked, { ...DOCTOR, reason: 'no' });
  await trajectory.resume(halting);
  await trajectory.propose(intent('add', { by: 1 }, worker));
  await trajectory.halt(halting);
  const blobs = [office, unnamed, unscoped, made, granted, worker].map(blobOf);
  return { parent: await allEntries(store, 't'), child: await allEntries(store, 'c'), blobs };
}

/** Without its child: an entry with the id that it had starts the child. */
function inParent(
  name: string,
  fault: string | undefined,
  at: number,
  change: Change,
  rows = 8,
): RevocationCase {
  const make = async (): Promise<MemoryStore> => {
    const { parent, blobs } = await honest();
    return storeOf(rewritten(parent.slice(0, rows), at, change), blobs);
  };
  return { name, faults: fault === undefined ? [] : [`t ${fault}`], make };
}

function inChild(
  name: string,
  fault: string | undefined,
  at: number,
  change: (args: any, t: readonly EntryRow[]) => unknown,
  rows = 4,
) {
  const make = async (): Promise<MemoryStore> => {
    const { parent, child, blobs } = await honest();
    return storeOf(
      [
        ...parent,
        ...rewritten(child.slice(0, rows), at, ({ action }) => change(action.args, parent)),
      ],
      blobs,
    );
  };
  return { name, faults: fault === undefined ? [] : [`c ${fault}`], make };
}

/** The entries of a trajectory, without the one at a seq. */
function without(name: string, fault: string, seq: number): RevocationCase {
  const make = async (): Promise<MemoryStore> => {
    const { parent, blobs } = await honest();
    const left = parent.filter((row) => row.seq !== seq).map((row, at) => moved(row, at));
    return storeOf(
      rewritten(left, -1, () => {}),
      blobs,
    );
  };
  return { name, faults: [`t ${fault}`], make };
}

function moved(row: EntryRow, seq: number): EntryRow {
  return { ...row, seq, payload: JSON.stringify({ ...JSON.parse(row.payload), seq }) };
}

/** An approval of the pending proposal, made before the halt, is put after it. */
function approvedWhileHalted(name: string): RevocationCase {
  const make = async (): Promise<MemoryStore> => {
    const { store, trajectory } = await begun();
    const asked = pendingOf(await trajectory.propose(intent('ask', { amount: 1 }, worker)));
    await trajectory.approvals.approve(asked, DOCTOR);
    await trajectory.halt(halting);
    const [root, pending, approval, halt] = await allEntries(store, 't');
    const rows = [
      root,
      pending,
      moved(halt as EntryRow, 2),
      moved(approval as EntryRow, 3),
    ] as EntryRow[];
    return storeOf(
      rewritten(rows, -1, () => {}),
      [blobOf(office), blobOf(worker)],
    );
  };
  return { name, faults: ['t 3 rule_broken'], make };
}

/** A branch that starts at an entry of a trajectory that is halted and resumed. */
function inBranch(name: string, fault: string | undefined, from: number): RevocationCase {
  const make = async (): Promise<MemoryStore> => {
    const { store, assize, trajectory } = await begun();
    const before = trajectory.head;
    await trajectory.halt(halting);
    await trajectory.resume(halting);
    await assize.branch('t', before, { trajectoryId: 'b', note: 'x' });
    const [parent, rows] = [await allEntries(store, 't'), await allEntries(store, 'b')];
    const branch = rewritten(rows, 0, (payload) =>
      Object.assign(payload, { source_commit_id: parent[from]?.id }),
    );
    return storeOf([...parent, ...branch], [blobOf(office)]);
  };
  return { name, faults: fault === undefined ? [] : [`b ${fault}`], make };
}

const args =
  (change: Change): Change =>
  ({ action }) =>
    change(action.args);
const under =
  (writ: Writ): Change =>
  (payload) => {
    payload['writ_id'] = writId(writ);
  };
const put = (given: Record<string, unknown>): Change => args((of) => Object.assign(of, given));

export const haltCases: readonly RevocationCase[] = [
  inParent('as it is made', undefined, -1, () => {}),
  approvedWhileHalted('an approval while it stands'),
  without('a use while it stands', '5 rule_broken', 5),
  without('a resume without it', '4 rule_broken', 3),
  inParent('twice', '5 rule_broken', 5, put({ does: 'halt' })),
  inParent(
    'with a change of the state',
    '3 malformed',
    3,
    ({ delta }) => delta.state.push({ op: 'add', path: '/n', value: 1 }),
    4,
  ),
  inParent(
    'with a cost',
    '3 malformed',
    3,
    (payload) => Object.assign(payload['budget_cost'], { usd: 1 }),
    4,
  ),
  inParent(
    'without a reason',
    '3 malformed',
    3,
    args((of) => delete of['reason']),
    4,
  ),
  inParent(
    'without a principal',
    '3 malformed',
    3,
    args((of) => delete of['principal']),
    4,
  ),
  inParent('of another form', '3 malformed', 3, put({ does: 'pause' }), 4),
  inParent('with a member more', '3 malformed', 3, put({ until: 'noon' }), 4),
  inParent('that remains', '3 malformed', 3, put({ remains: true }), 4),
  inParent(
    'a resume that says that another halt stands',
    '5 rule_broken',
    5,
    put({ remains: true }),
    6,
  ),
  inParent(
    'taken over where nothing was delegated',
    '3 rule_broken',
    3,
    put({ from: { trajectory_id: 'x', entry_id: 'a'.repeat(64) } }),
    4,
  ),
  inParent('under a writ for everything', '3 rule_broken', 3, under(worker), 4),
  inParent('under a writ that does not name the action', '3 rule_broken', 3, under(unnamed), 4),
  inParent('under a writ that does not name the scope', '3 rule_broken', 3, under(unscoped), 4),
  inParent('under a writ made from a writ for everything', '3 rule_broken', 3, under(made), 4),
  inParent(
    'under a writ that is not there',
    '3 writ_missing',
    3,
    (payload) => Object.assign(payload, { writ_id: 'b'.repeat(64) }),
    4,
  ),
  inChild('in a child as it is made', undefined, -1, () => {}),
  inChild('taken over for another reason', '1 rule_broken', 1, (of) =>
    Object.assign(of, { reason: 'x' }),
  ),
  inChild('taken over of another principal', '1 rule_broken', 1, (of) =>
    Object.assign(of, { principal: 'x' }),
  ),
  inChild('taken over from a resume', '1 rule_broken', 1, (of, t) =>
    Object.assign(of.from, { entry_id: t[5]?.id }),
  ),
  inChild('taken over from an entry that does not exist', '1 source_missing', 1, (of) =>
    Object.assign(of.from, { entry_id: 'c'.repeat(64) }),
  ),
  inChild('taken over from another trajectory', '1 rule_broken', 1, (of) =>
    Object.assign(of.from, { trajectory_id: 'x' }),
  ),
  inChild('as if it had been halted here', '1 rule_broken', 1, (of) => delete of.from, 2),
  inChild('a resume as if it had been made here', '2 rule_broken', 2, (of) => delete of.from),
  inBranch('a branch from before it', undefined, 0),
  inBranch('a branch from it', '0 rule_broken', 1),
  inBranch('a branch from its resume', undefined, 2),
];
