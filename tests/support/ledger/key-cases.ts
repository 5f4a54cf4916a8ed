/** Ledgers with signed entries and changes of the key, honest and forged, with their faults. */
import { hashText } from '#canon';
import type { EntryRow, EntrySigner } from '#ledger';
import {
  branchMembers,
  ChainWriter,
  COUNSELOR,
  childMembers,
  commitMembers,
  delegationMembers,
  HELD,
  keysOf,
  type Members,
  pendingMembers,
  rejectionMembers,
  rootMembers,
  second,
  VECTOR,
  WRIT,
  withText,
} from './rows.ts';

export interface KeyCase {
  readonly name: string;
  readonly rows: readonly EntryRow[];
  /** The public keys that a verifier names. */
  readonly named?: readonly string[];
  /** `trajectory seq code rule`, in order. */
  readonly faults: readonly string[];
}

/** Keys of an owner, and of a forger. */
export const [OLD, NEW, NEWEST, FORGER] = [21, 22, 23, 29].map(keysOf) as [
  EntrySigner,
  EntrySigner,
  EntrySigner,
  EntrySigner,
];

const SIGNED = 'bad_signature place.signed';
const NAMED = 'bad_signature place.named';

function begun(signer: EntrySigner | undefined, name = 't'): ChainWriter {
  const writer = new ChainWriter(name, signer);
  writer.add('root', rootMembers({ n: 0 }));
  return writer;
}

/** A root, a commit and a pending proposal. */
function signedBy(signer: EntrySigner | undefined, name = 't'): ChainWriter {
  const writer = begun(signer, name);
  writer.add('commit', commitMembers());
  writer.add('pending_approval', pendingMembers({ freezes: ['/n'] }));
  return writer;
}

export function changeTo({ publicKey: to }: EntrySigner, rest: Members = {}): Members {
  return { to, reason: 'the key is replaced', ...rest };
}

/** The keys of the entries, from the first on; a change of the key signs with its first key. */
function chainOf(
  ...steps: (EntrySigner | undefined | readonly [EntrySigner | undefined, EntrySigner])[]
): ChainWriter {
  const writer = new ChainWriter('t');
  for (const [at, step] of steps.entries()) {
    const [signer, to] = Array.isArray(step) ? step : [step as EntrySigner | undefined];
    const kind = to !== undefined ? 'key_change' : at === 0 ? 'root' : 'commit';
    const members =
      to !== undefined ? changeTo(to) : at === 0 ? rootMembers({ n: 0 }) : commitMembers();
    writer.push(writer.row(kind, members, signer));
  }
  return writer;
}

function approvedBy(signer: EntrySigner | undefined): ChainWriter {
  const writer = signedBy(OLD);
  const approval = { resolves: writer.head.id, counselor: COUNSELOR, detection_vector: VECTOR };
  writer.push(writer.row('commit', commitMembers([], approval), signer));
  return writer;
}

/** The chain with an unsigned entry behind it. */
function stripped({ rows }: ChainWriter, kind: EntryRow['kind'], members: Members): ChainWriter {
  const writer = new ChainWriter('t');
  for (const row of rows) writer.push(row);
  writer.add(kind, members);
  return writer;
}

/** The approval of `approvedBy` without a signature. */
function insertedApproval(): ChainWriter {
  const writer = signedBy(OLD);
  const approval = { resolves: writer.head.id, counselor: COUNSELOR, detection_vector: VECTOR };
  return stripped(writer, 'commit', commitMembers([], approval));
}

function branchOf(source: ChainWriter, at: number, signer: EntrySigner | undefined): ChainWriter {
  const branch = new ChainWriter('b', signer);
  branch.add('branch', { ...branchMembers(source.rows[at]!), at: second(20) });
  branch.add('commit', commitMembers([], { at: second(21) }));
  return branch;
}

/** A parent under `above`, whose key may change after the start, and its child under `below`. */
function delegated(
  above: EntrySigner | undefined,
  below: EntrySigner | undefined,
  changes: readonly (readonly [EntrySigner, EntrySigner])[] = [],
): readonly EntryRow[] {
  const parent = new ChainWriter('first', above);
  parent.add('root', { ...rootMembers(), writs: [WRIT, HELD] });
  const start = parent.add('delegation', delegationMembers({ child_trajectory_id: 'child' }));
  for (const [by, to] of changes) parent.push(parent.row('key_change', changeTo(to), by));
  const child = new ChainWriter('child', below);
  child.add('root', { ...childMembers(start), at: second(9) });
  return [...parent.rows, ...child.rows];
}

const changed = chainOf(OLD, OLD, [OLD, NEW], NEW, [NEW, NEWEST], NEWEST);
const keyOf = ({ publicKey }: EntrySigner): string => publicKey;

export const keyCases: readonly KeyCase[] = [
  { name: 'every entry unsigned', rows: signedBy(undefined).rows, faults: [] },
  { name: 'every entry signed', rows: approvedBy(OLD).rows, faults: [] },
  { name: 'signed from the second entry on', rows: chainOf(undefined, OLD, OLD).rows, faults: [] },
  {
    name: 'an unsigned approval behind a pending',
    rows: insertedApproval().rows,
    faults: [`t 3 ${SIGNED}`],
  },
  { name: 'an approval by another key', rows: approvedBy(FORGER).rows, faults: [`t 3 ${SIGNED}`] },
  {
    name: 'an unsigned rejection',
    rows: stripped(signedBy(OLD), 'rejection', rejectionMembers()).rows,
    faults: [`t 3 ${SIGNED}`],
  },
  {
    name: 'an unsigned tail',
    rows: chainOf(OLD, OLD, undefined, undefined).rows,
    faults: [`t 2 ${SIGNED}`],
  },
  {
    name: 'an unsigned entry between signed ones',
    rows: chainOf(OLD, undefined, OLD).rows,
    faults: [`t 1 ${SIGNED}`],
  },
  {
    name: 'a signature of the key in force that does not hold',
    rows: withBadSignature(signedBy(OLD).rows),
    faults: ['t 2 bad_signature no rule'],
  },
  { name: 'the key changed twice', rows: changed.rows, faults: [] },
  {
    name: 'the old key after its change',
    rows: chainOf(OLD, [OLD, NEW], OLD).rows,
    faults: [`t 2 ${SIGNED}`],
  },
  {
    name: 'a change of the key by the new key',
    rows: chainOf(OLD, [NEW, NEW]).rows,
    faults: [`t 1 ${SIGNED}`],
  },
  {
    name: 'a change of the key by a forger',
    rows: chainOf(OLD, [FORGER, FORGER]).rows,
    faults: [`t 1 ${SIGNED}`],
  },
  {
    name: 'an unsigned change of the key',
    rows: chainOf(OLD, [undefined, NEW]).rows,
    faults: [`t 1 ${SIGNED}`],
  },
  {
    name: 'an unsigned change of the key in an unsigned ledger',
    rows: chainOf(undefined, [undefined, NEW]).rows,
    faults: ['t 1 bad_signature key.change'],
  },
  {
    name: 'a change to the key in force',
    rows: chainOf(OLD, [OLD, OLD]).rows,
    faults: ['t 1 rule_broken key.change'],
  },
  {
    name: 'a first key that signs itself in',
    rows: chainOf(undefined, undefined, [OLD, OLD], OLD).rows,
    faults: [],
  },
  {
    name: 'a first key that signs in another',
    rows: chainOf(undefined, [OLD, NEW], NEW).rows,
    faults: ['t 1 rule_broken key.change'],
  },
  {
    name: 'entries after a first key signed itself in, without a signature',
    rows: chainOf(undefined, [OLD, OLD], undefined).rows,
    faults: [`t 2 ${SIGNED}`],
  },
  {
    name: 'a change of the key while the trajectory is frozen',
    rows: (() => {
      const writer = begun(OLD);
      writer.add('pending_approval', pendingMembers());
      writer.add('key_change', changeTo(NEW));
      return writer.rows;
    })(),
    faults: [],
  },

  {
    name: 'a branch under the key of its source',
    rows: [...changed.rows, ...branchOf(changed, 1, OLD).rows],
    faults: [],
  },
  {
    name: 'a branch under a later key',
    rows: [...changed.rows, ...branchOf(changed, 1, NEWEST).rows],
    faults: [],
  },
  {
    name: 'a branch under an earlier key',
    rows: [...changed.rows, ...branchOf(changed, 3, OLD).rows],
    faults: ['b 0 bad_signature branch.key'],
  },
  {
    name: 'an unsigned branch of a signed trajectory',
    rows: [...changed.rows, ...branchOf(changed, 1, undefined).rows],
    faults: ['b 0 bad_signature branch.key'],
  },
  {
    name: 'a branch under a foreign key',
    rows: [...changed.rows, ...branchOf(changed, 1, FORGER).rows],
    faults: ['b 0 bad_signature branch.key'],
  },
  {
    name: 'a signed branch of an unsigned trajectory',
    rows: [...signedBy(undefined).rows, ...branchOf(signedBy(undefined), 1, OLD).rows],
    faults: [],
  },
  { name: 'a child under the key of its parent', rows: delegated(OLD, OLD), faults: [] },
  {
    name: 'a child under a later key of its parent',
    rows: delegated(OLD, NEW, [[OLD, NEW]]),
    faults: [],
  },
  {
    name: 'a child under the key of a forged change in its parent',
    rows: delegated(OLD, FORGER, [[FORGER, FORGER]]),
    faults: ['child 0 bad_signature root.key', `first 2 ${SIGNED}`],
  },
  {
    name: 'an unsigned child of a signed parent',
    rows: delegated(OLD, undefined),
    faults: ['child 0 bad_signature root.key'],
  },
  { name: 'a signed child of an unsigned parent', rows: delegated(undefined, OLD), faults: [] },

  { name: 'a named key', named: [keyOf(OLD)], rows: approvedBy(OLD).rows, faults: [] },
  {
    name: 'one of several named keys',
    named: [keyOf(NEW), keyOf(OLD)],
    rows: approvedBy(OLD).rows,
    faults: [],
  },
  {
    name: 'an unknown key, and one named',
    named: [keyOf(OLD)],
    rows: signedBy(FORGER).rows,
    faults: [`t 0 ${NAMED}`],
  },
  {
    name: 'no signature, and one key named',
    named: [keyOf(OLD)],
    rows: signedBy(undefined).rows,
    faults: [`t 0 ${NAMED}`],
  },
  {
    name: 'changes of the key that lead from a named one',
    named: [keyOf(OLD)],
    rows: changed.rows,
    faults: [],
  },
  {
    name: 'changes of the key, and only the last named',
    named: [keyOf(NEWEST)],
    rows: changed.rows,
    faults: [`t 0 ${NAMED}`],
  },
  {
    name: 'unsigned entries that a named key accepts',
    named: [keyOf(OLD)],
    rows: chainOf(undefined, undefined, [OLD, OLD], OLD).rows,
    faults: [],
  },
  {
    name: 'unsigned entries that a foreign key accepts',
    named: [keyOf(OLD)],
    rows: chainOf(undefined, undefined, [FORGER, FORGER], FORGER).rows,
    faults: [`t 2 ${NAMED}`],
  },
  {
    name: 'unsigned entries before signed ones, and no record that accepts them',
    named: [keyOf(OLD)],
    rows: chainOf(undefined, undefined, OLD, OLD).rows,
    faults: [`t 2 ${NAMED}`],
  },
  {
    name: 'a child under a key to which its parent leads',
    named: [keyOf(OLD)],
    rows: delegated(OLD, NEW, [[OLD, NEW]]),
    faults: [],
  },
  {
    name: 'a parent and its child under a foreign key',
    named: [keyOf(OLD)],
    rows: delegated(FORGER, FORGER),
    faults: [`child 0 ${NAMED}`, `first 0 ${NAMED}`],
  },
  {
    name: 'a branch under a key to which its source leads',
    named: [keyOf(OLD)],
    rows: [...changed.rows, ...branchOf(changed, 3, NEW).rows],
    faults: [],
  },
];

/** The last entry with the signature of the first one, under a new id. */
function withBadSignature(rows: readonly EntryRow[]): readonly EntryRow[] {
  const { value } = JSON.parse(rows[0]!.payload).signature;
  const last = withText(rows.at(-1)!, ({ signature }) =>
    Object.assign(signature as object, { value }),
  );
  return [...rows.slice(0, -1), { ...last, id: hashText(last.payload) }];
}
