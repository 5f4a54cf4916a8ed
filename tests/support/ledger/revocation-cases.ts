/** Ledgers with revocations, honest and forged, with the faults of each. */

import { MemoryStore } from '@assize/testing/memory';
import { attenuate, type Writ, writId } from '#authority';
import { canonicalize } from '#canon';
import { type BlobRow, type EntryRow, entryRow, type Payload } from '#ledger';
import { begun, granted, helper, lead, pay, task, third, worker } from './delegations.ts';
import { allEntries } from './desk.ts';
import { writFor } from './runtime.ts';

export interface RevocationCase {
  readonly name: string;
  /** Trajectory, seq and code of each fault; none for a ledger that is valid. */
  readonly faults: readonly string[];
  make(): Promise<MemoryStore>;
}

type Change = (payload: Record<string, any>) => unknown;

const below = attenuate(
  granted,
  { subject: helper.publicKey, nonce: 'a', budget: { usd: 60 } },
  lead.privateKey,
);
const lowest = attenuate(
  below,
  { subject: third.publicKey, nonce: 'b', budget: { usd: 20 } },
  helper.privateKey,
);
const beside = attenuate(
  granted,
  { subject: 'beside', nonce: 'c', budget: { usd: 50 } },
  lead.privateKey,
);
const officer = writFor('officer', { actions: ['assize.revoke'], scopes: ['writ:**'] });
/**
 * An officer that may revoke only the other officer, and two roots that each name half of an
 * officer's rights.
 */
const narrow = writFor('narrow', {
  actions: ['assize.revoke'],
  scopes: [`writ:${writId(officer)}`, '**'],
});
const scoped = writFor('scoped', { scopes: ['writ:**'] });
const named = writFor('named', { actions: ['assize.revoke'] });
/** For any trajectory, so that they hold in branches too. */
const free = writFor(lead.publicKey, { nonce: 'free' });
const kid = attenuate(free, { subject: helper.publicKey, nonce: 'kid' }, lead.privateKey);
const reason = 'the key is lost';
const NOTHING: Change = () => undefined;

/**
 * Two uses, a revocation of `below` at seq 3, and one more use at 4. Then the child `c`. It
 * receives the revocation at its seq 1.
 */
async function honest() {
  const { store, trajectory } = await begun();
  await trajectory.propose(pay(1, { writ: lowest, chain: [below, granted] }));
  await trajectory.propose(pay(1, { writ: beside, chain: [granted] }));
  await trajectory.writs.revoke({ writ: below, reason, by: granted });
  await trajectory.propose(pay(1, granted));
  const child = await trajectory.delegations.delegate(task());
  const own = child.delegations.origin?.writ as Writ;
  await trajectory.writs.revoke({ writ: own, reason, by: officer });
  await child.propose(pay(1, own));
  const blobs = [below, lowest, beside, own, officer, narrow, scoped, named].map(blobOf);
  return { parent: await allEntries(store, 't'), child: await allEntries(store, 'c'), blobs };
}

export function blobOf(writ: Writ): BlobRow {
  return { hash: writId(writ), text: canonicalize(writ) };
}

/** The same with one payload changed, and new ids after it. */
export function rewritten(rows: readonly EntryRow[], at: number, change: Change): EntryRow[] {
  const made: EntryRow[] = [];
  let lastCommit: string | undefined;
  for (const row of rows) {
    const payload = JSON.parse(row.payload);
    payload.parent = made.at(-1)?.id ?? null;
    if (payload.kind === 'commit') payload.parent_commit = lastCommit;
    if (row.seq === at) change(payload);
    made.push(entryRow(payload as Payload, undefined));
    if (payload.kind === 'commit' || payload.kind === 'root') lastCommit = made.at(-1)?.id;
    if (payload.kind === 'branch') lastCommit = payload.source_commit_id;
  }
  return made;
}

function inParent(
  name: string,
  fault: string | undefined,
  at: number,
  change: Change,
): RevocationCase {
  const make = async (): Promise<MemoryStore> => {
    const { parent, blobs } = await honest();
    // Without its child: an entry with the id that it had starts the child.
    return storeOf(rewritten(parent.slice(0, 5), at, change), blobs);
  };
  return { name, faults: fault === undefined ? [] : [`t ${fault}`], make };
}

function inChild(
  name: string,
  fault: string | undefined,
  change: (args: any, rows: readonly EntryRow[]) => unknown,
) {
  const make = async (): Promise<MemoryStore> => {
    const { parent, child, blobs } = await honest();
    const changed = rewritten(child, 1, ({ action }) => change(action.args, parent));
    return storeOf([...parent, ...changed], blobs);
  };
  return { name, faults: fault === undefined ? [] : [`c ${fault}`], make };
}

/** The revocation there is changed that the child takes over. */
function inBoth(name: string, faults: readonly string[], change: Change): RevocationCase {
  const make = async (): Promise<MemoryStore> => {
    const { parent, child, blobs } = await honest();
    const there = rewritten(parent, parent.length - 1, change);
    const here = rewritten(child, 1, ({ action }) =>
      Object.assign(action.args.from, { entry_id: there.at(-1)?.id }),
    );
    return storeOf([...there, ...here], blobs);
  };
  return { name, faults, make };
}

/** First what stands above the child's writ is revoked, then that. */
function inChildTwice(name: string): RevocationCase {
  const make = async (): Promise<MemoryStore> => {
    const { store, trajectory } = await begun();
    const child = await trajectory.delegations.delegate(
      task({ writ: { writ: below, chain: [granted] }, privateKey: helper.privateKey }),
    );
    await trajectory.writs.revoke({ writ: below, reason, by: granted });
    await trajectory.writs.revoke({
      writ: child.delegations.origin?.writ as Writ,
      reason,
      by: granted,
    });
    return store.below as MemoryStore;
  };
  return { name, faults: [], make };
}

/**
 * A branch from before the revocation of `kid` uses `kid` or delegates under it. The branch names
 * another entry of the source as its start.
 */
function inBranch(
  name: string,
  fault: string | undefined,
  from: number,
  does: 'uses' | 'delegates',
): RevocationCase {
  const make = async (): Promise<MemoryStore> => {
    const { store, assize, trajectory } = await begun();
    await trajectory.propose(pay(0, { writ: kid, chain: [free] }));
    const [, before] = await allEntries(store, 't');
    await trajectory.writs.revoke({ writ: kid, reason, by: free });
    await trajectory.propose(pay(0, free));
    const branch = await assize.branch('t', before?.id as string, {
      trajectoryId: 'b',
      writs: [free],
      note: 'x',
    });
    if (does === 'uses') await branch.propose(pay(0, { writ: kid, chain: [free] }));
    else
      await branch.delegations.delegate(
        task({
          writ: { writ: kid, chain: [free] },
          privateKey: helper.privateKey,
          childTrajectoryId: 'd',
          budget: {},
        }),
      );
    const [parent, rows] = [await allEntries(store, 't'), await allEntries(store, 'b')];
    const moved = rewritten(rows, 0, (payload) =>
      Object.assign(payload, { source_commit_id: parent[from]?.id }),
    );
    return storeOf([...parent, ...moved], [blobOf(kid), blobOf(free)]);
  };
  return { name, faults: fault === undefined ? [] : [`b ${fault}`], make };
}

export async function storeOf(
  rows: readonly EntryRow[],
  blobs: readonly BlobRow[],
): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.commit({ entries: rows, blobs });
  return store;
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

export const revocationCases: readonly RevocationCase[] = [
  inParent('as it is made', undefined, 3, NOTHING),
  inParent('a use before, under it', undefined, 2, under(below)),
  inParent('by an officer of the root’s issuer', undefined, 3, under(officer)),
  inParent('of a root, by an officer of its issuer', undefined, 3, (payload) => {
    payload['writ_id'] = writId(officer);
    payload['action'].args.writ = writId(worker);
  }),
  inParent('of another officer', undefined, 3, (payload) => {
    payload['writ_id'] = writId(narrow);
    payload['action'].args.writ = writId(officer);
  }),
  inParent('by an officer, for another writ', '3 rule_broken', 3, under(narrow)),
  inParent('by an officer, of their own writ', '3 rule_broken', 3, (payload) => {
    payload['writ_id'] = writId(officer);
    payload['action'].args.writ = writId(officer);
  }),
  inParent(
    'by who has another root of the same issuer, for everything',
    '3 rule_broken',
    3,
    under(worker),
  ),
  inParent(
    'by who has another root, with the scope and the action by a star',
    '3 rule_broken',
    3,
    under(scoped),
  ),
  inParent(
    'by who has another root, with the action and the scope by a star',
    '3 rule_broken',
    3,
    under(named),
  ),
  inParent('of an officer, by who has another root', '3 rule_broken', 3, (payload) => {
    payload['writ_id'] = writId(worker);
    payload['action'].args.writ = writId(officer);
  }),
  inParent('a use afterwards, under it', '4 rule_broken', 4, under(below)),
  inParent('a use afterwards, below it', '4 rule_broken', 4, under(lowest)),
  inParent('by who stands beside', '3 rule_broken', 3, under(beside)),
  inParent('by who holds it', '3 rule_broken', 3, under(below)),
  inParent('by who stands below', '3 rule_broken', 3, (payload) =>
    Object.assign(payload, { writ_id: writId(lowest) }),
  ),
  inParent(
    'of itself',
    '3 rule_broken',
    3,
    args((of) => Object.assign(of, { writ: writId(granted) })),
  ),
  inParent(
    'of a writ that is not there',
    '3 writ_missing',
    3,
    args((of) => Object.assign(of, { writ: '0'.repeat(64) })),
  ),
  inParent(
    'of no writ',
    '3 malformed',
    3,
    args((of) => Object.assign(of, { writ: 'x' })),
  ),
  inParent(
    'without a reason',
    '3 malformed',
    3,
    args((of) => delete of['reason']),
  ),
  inParent(
    'with a member more',
    '3 malformed',
    3,
    args((of) => Object.assign(of, { more: 1 })),
  ),
  inParent('with arguments that are a list', '3 malformed', 3, ({ action }) =>
    Object.assign(action, { args: [] }),
  ),
  inParent('with a change', '3 malformed', 3, ({ delta }) =>
    delta.state.push({ op: 'replace', path: '/n', value: 9 }),
  ),
  inParent('with a cost', '3 malformed', 3, ({ budget_cost }) =>
    Object.assign(budget_cost, { usd: 1 }),
  ),
  inParent('with an observation', '3 malformed', 3, ({ observations }) =>
    observations.push({ name: 'x', value: 1 }),
  ),
  inParent(
    'from a trajectory that did not delegate here',
    '3 rule_broken',
    3,
    args((of) => Object.assign(of, { from: { trajectory_id: 'other', entry_id: '0'.repeat(64) } })),
  ),
  inChild('taken over, as it is made', undefined, NOTHING),
  inChildTwice('taken over under a writ that was revoked above'),
  inChild('taken over from no entry', '1 source_missing', (of) =>
    Object.assign(of.from, { entry_id: '0'.repeat(64) }),
  ),
  inChild('taken over from another sort of entry', '1 rule_broken', (of, [root]) =>
    Object.assign(of.from, { entry_id: root?.id }),
  ),
  inChild('taken over from a revocation of another', '1 rule_broken', (of, rows) =>
    Object.assign(of.from, { entry_id: rows[3]?.id }),
  ),
  inChild('taken over for another reason', '1 rule_broken', (of) =>
    Object.assign(of, { reason: 'another' }),
  ),
  inChild(
    'taken over, of a writ that is not above',
    '1 rule_broken',
    (of, rows) =>
      Object.assign(of, { writ: writId(below) }) &&
      Object.assign(of.from, { entry_id: rows[3]?.id }),
  ),
  ...[null, 'x', 3, [], { $blob: writId(below), bytes: canonicalize(below).length }].map((none) =>
    inBoth(
      `taken over from invalid arguments: ${JSON.stringify(none)}`,
      ['t 6 malformed', 'c 1 rule_broken'],
      ({ action }) => Object.assign(action, { args: none }),
    ),
  ),
  inBoth(
    'taken over from arguments with a member more',
    ['t 6 malformed', 'c 1 rule_broken'],
    args((of) => Object.assign(of, { more: 1 })),
  ),
  inBoth(
    'taken over from arguments without a reason',
    ['t 6 malformed', 'c 1 rule_broken'],
    args((of) => delete of['reason']),
  ),
  inBranch('a branch from before it', undefined, 1, 'uses'),
  inBranch('a branch from before it, with a delegation', undefined, 1, 'delegates'),
  inBranch('a branch from it, and a use under it', '1 rule_broken', 2, 'uses'),
  inBranch('a branch from after it, and a use under it', '1 rule_broken', 3, 'uses'),
  inBranch('a branch from after it, and a delegation under it', '1 rule_broken', 3, 'delegates'),
  inChild('as if it had been revoked here', '1 rule_broken', (of) => delete of.from),
];
