import { delegateWrit, issueWrit, type Writ, writId } from '#authority';
import type { Json } from '#base';
import { addMicros, contentHash, generateKeys, hashText, type KeyPair } from '#canon';
import {
  type BlobRef,
  type BlobRow,
  type EntryKind,
  type EntryRow,
  type EntrySigner,
  type ErasedRow,
  entryRow,
  type Hash,
  type LedgerReader,
  type Patch,
  type Payload,
  store,
  storeSalted,
} from '#ledger';

/** Payload members of any sort: the tests build wrong ones too. */
export type Members = { readonly [name: string]: unknown };

export const DOMAIN: Members = { name: 'made', version: '1', hash: hashText('made') };
export const ROLE: Members = { name: 'worker', params: {} };
export const COUNSELOR: Members = { principal: 'dr', as: 'md', method: 'test' };
export const VECTOR: Members[] = [{ invariant_id: 'RULE', result: 'pass' }];

/** That many seconds after nine. */
export function second(n: number): string {
  return addMicros('2026-03-23T09:00:00.000000Z', n * 1_000_000);
}

export function keysOf(seed: number): KeyPair {
  return generateKeys(new Uint8Array(32).fill(seed));
}

const ISSUER = keysOf(200);

/** The writ under which everything in these chains is done. */
export const WRIT: Writ = issueWrit(
  {
    issuer: ISSUER.publicKey,
    subject: 'agent',
    actions: ['act'],
    scopes: ['role:worker'],
    not_before: second(-1),
    expires: second(1_000_000),
    max_depth: 0,
    nonce: 'rows',
  },
  ISSUER.privateKey,
);

const HOLDER = keysOf(201);

/** A writ of trajectory `first`. Its holder may delegate. */
export const HELD: Writ = issueWrit(
  {
    issuer: ISSUER.publicKey,
    subject: HOLDER.publicKey,
    trajectory: 'first',
    actions: ['act'],
    scopes: ['role:worker'],
    budget: { usd: 10 },
    not_before: second(-1),
    expires: second(1_000_000),
    max_depth: 1,
    nonce: 'held',
  },
  ISSUER.privateKey,
);

/** The part of that writ that is delegated to trajectory `child`. */
export const DELEGATED: Writ = delegateWrit(
  HELD,
  { subject: 'helper', nonce: 'delegated', trajectory: 'child', budget: { usd: 5 } },
  HOLDER.privateKey,
);

export function rootMembers(state: unknown = {}): Members {
  return { domain: DOMAIN, initial_state: state, compiler_version: 'test/1', writs: [WRIT] };
}

export function branchMembers(source: EntryRow): Members {
  return {
    source_trajectory_id: source.trajectory_id,
    source_commit_id: source.id,
    domain: DOMAIN,
    compiler_version: 'test/1',
    writs: [WRIT],
    note: 'a branch',
  };
}

export function commitMembers(state: readonly Patch[] | Members = [], rest: Members = {}): Members {
  return {
    proposal_id: hashText('proposal'),
    writ_id: writId(WRIT),
    action: { name: 'act', role: ROLE, args: {} },
    delta: { state, effects: [], beliefs: [] },
    observations: [],
    budget_cost: {},
    compiler_version: 'test/1',
    ...rest,
  };
}

export function rejectionMembers(rest: Members = {}): Members {
  return {
    intent: { action: 'act', role: ROLE, args: {}, observations: [] },
    reason: 'invariant_rejected',
    detail: 'it may not be',
    // An entry that resolves a proposal names its writ.
    ...(rest['resolves'] === undefined ? {} : { writ_id: writId(WRIT) }),
    ...rest,
  };
}

export function pendingMembers(rest: Members = {}, proposalRest: Members = {}): Members {
  const proposal = {
    proposal_id: hashText('proposal'),
    writ_id: writId(WRIT),
    action: { name: 'act', role: ROLE, args: {} },
    observations: [],
    at: second(0),
    delta: { state: [], effects: [], beliefs: [] },
    approval: [],
    budget_cost: {},
    ...proposalRest,
  };
  return {
    proposal,
    digest: contentHash(proposal),
    channel: 'md',
    reason: 'invariant_escalated',
    detail: 'a person decides',
    freezes: 'world',
    ...rest,
  };
}

export function delegationMembers(rest: Members = {}): Members {
  return { child_trajectory_id: 'child', task: 'do it', writ: DELEGATED, ...rest };
}

/** A reference to a value by salted hash; the same value has the same salt. */
export function salted(value: Json, blobs: BlobRow[]): BlobRef {
  return storeSalted(value, contentHash(value).slice(0, 32), blobs);
}

/** A commit that erases values. */
export function erasureMembers(
  values: unknown,
  rest: Members = {},
  state: readonly Patch[] = [],
): Members {
  const args = { at: [], entries: [], reason: 'asked for', values, ...rest };
  return commitMembers(state, {
    action: { name: 'assize.erase', role: { name: 'assize', params: {} }, args },
  });
}

/** The root fields of the child that this delegation entry creates. */
export function childMembers(start: EntryRow): Members {
  const { writ, at, begins } = JSON.parse(start.payload) as {
    writ: Json;
    at: string;
    begins?: Members;
  };
  const delegated_from = { trajectory_id: start.trajectory_id, entry_id: start.id };
  return { ...rootMembers(), ...begins, writs: [writ, HELD], delegated_from, at };
}

/** The fields of a child's final answer. The parent adopts them. */
export function answerMembers(start: EntryRow, rest: Members = {}): Members {
  const { child_trajectory_id, task, writ, at } = JSON.parse(start.payload) as Members;
  return {
    child_trajectory_id,
    task,
    writ,
    at,
    concludes: start.id,
    budget_cost: {},
    final_answer: 'done',
    ...rest,
  };
}

export function conclusionMembers(answer: EntryRow, rest: Members = {}): Members {
  const { child_trajectory_id, task, writ, concludes, budget_cost, final_answer } = JSON.parse(
    answer.payload,
  ) as Members;
  return {
    child_trajectory_id,
    task,
    writ,
    concludes,
    budget_cost,
    final_answer,
    child_head: answer.id,
    ...rest,
  };
}

/** A child that this entry started, and that has answered. */
export function answeredChild(start: EntryRow, said: Members = {}): ChainWriter {
  const { child_trajectory_id: name } = JSON.parse(start.payload) as {
    child_trajectory_id: string;
  };
  const child = new ChainWriter(name);
  child.add('root', childMembers(start));
  child.add('delegation', answerMembers(start, said));
  return child;
}

/** Writes one chain by hand. Missing fields follow from the earlier entries. */
export class ChainWriter {
  readonly rows: EntryRow[] = [];
  readonly #trajectoryId: string;
  #signer: EntrySigner | undefined;
  #lastCommit: Hash = '';

  constructor(trajectoryId: string, signer?: EntrySigner) {
    this.#trajectoryId = trajectoryId;
    this.#signer = signer;
  }

  get head(): EntryRow {
    return this.rows.at(-1) as EntryRow;
  }

  /** The next row, with the given fields in place of the correct ones. */
  row(kind: EntryKind, members: Members, signer: EntrySigner | undefined = this.#signer): EntryRow {
    const parent = this.rows.at(-1)?.id ?? null;
    const payload = {
      kind,
      trajectory_id: this.#trajectoryId,
      seq: this.rows.length,
      parent,
      at: second(this.rows.length),
      ...(kind === 'commit' ? { parent_commit: this.#lastCommit } : {}),
      ...(kind === 'pending_approval' ? { head: parent } : {}),
      ...members,
    };
    const given = Object.fromEntries(
      Object.entries(payload).filter(([, value]) => value !== undefined),
    );
    return entryRow(given as unknown as Payload, signer);
  }

  /** `signer` signs this entry and every later one. */
  add(kind: EntryKind, members: Members, signer: EntrySigner | undefined = this.#signer): EntryRow {
    this.#signer = signer;
    return this.push(this.row(kind, members, signer));
  }

  push(row: EntryRow): EntryRow {
    this.rows.push(row);
    if (row.kind === 'root' || row.kind === 'commit') this.#lastCommit = row.id;
    if (row.kind === 'branch') this.#lastCommit = JSON.parse(row.payload).source_commit_id;
    return row;
  }
}

/** A ledger of rows and blobs that a test may change as it likes. */
export class RowsReader implements LedgerReader {
  readonly #rows: readonly EntryRow[];
  readonly #blobs: ReadonlyMap<Hash, string>;
  readonly #erased: ReadonlyMap<Hash, Hash>;

  constructor(
    rows: readonly EntryRow[],
    blobs: readonly BlobRow[] = [],
    erased: readonly ErasedRow[] = [],
  ) {
    this.#rows = rows;
    this.#erased = new Map(erased.map(({ hash, by }) => [hash, by]));
    this.#blobs = new Map(
      blobs.flatMap(({ hash, text }) => (this.#erased.has(hash) ? [] : [[hash, text]])),
    );
  }

  async entries(trajectoryId: string, { from = 0, limit = 1_000 } = {}): Promise<EntryRow[]> {
    if (trajectoryId.includes('\0')) throw new Error('no store can be asked for such a name');
    const mine = this.#rows.filter((row) => row.trajectory_id === trajectoryId && row.seq >= from);
    return mine.slice(0, limit);
  }

  async resolve(id: Hash): Promise<EntryRow | undefined> {
    return this.#rows.find((row) => row.id === id);
  }

  async blob(hash: Hash): Promise<string | undefined> {
    return this.#blobs.get(hash);
  }

  async erasedBy(hash: Hash): Promise<Hash | undefined> {
    return this.#erased.get(hash);
  }
}

/** A row with a changed payload and an unchanged id. */
export function withText(row: EntryRow, change: (payload: Record<string, Json>) => void): EntryRow {
  const payload = JSON.parse(row.payload) as Record<string, Json>;
  change(payload);
  return { ...row, payload: JSON.stringify(payload) };
}

/** One byte of a text changed, read back as a store would read it. */
export function withByte(text: string, offset: number, xor: number): string {
  const bytes = Buffer.from(text);
  bytes[offset] = (bytes[offset] as number) ^ xor;
  return bytes.toString('utf8');
}

/**
 * A ledger with all kinds of entries: a root, its branch, a branch of that branch, and a child of
 * the first trajectory.
 */
export function everyKind(signer: EntrySigner): {
  rows: EntryRow[];
  blobs: BlobRow[];
  names: string[];
} {
  const blobs: BlobRow[] = [];
  const large = (value: Json): Members => store(value, blobs, 8) as unknown as Members;
  const first = new ChainWriter('first');
  first.add('root', {
    ...rootMembers(large({ n: 0, list: ['α'], kept: 'a long text in a blob' })),
    writs: [WRIT, HELD],
  });
  first.add('commit', commitMembers([{ op: 'replace', path: '/n', value: 1 }]));
  first.add('commit', commitMembers(large([{ op: 'add', path: '/list/1', value: 'β' }] as never)));
  first.add('rejection', rejectionMembers());
  first.add(
    'pending_approval',
    pendingMembers({ freezes: ['/list'] }, { approval: large(['a mark in a blob']) }),
  );
  const waiting = first.head.id;
  first.add(
    'commit',
    commitMembers([{ op: 'add', path: '/m', value: { '😀': [1.5, null, true] } }]),
  );
  const begins = { domain: DOMAIN, initial_state: large({ given: 'what the child begins with' }) };
  const delegation = first.add('delegation', delegationMembers({ begins }));
  const child = new ChainWriter('child');
  child.add('root', childMembers(delegation));
  child.add(
    'commit',
    commitMembers([], { writ_id: writId(DELEGATED), budget_cost: { usd: 2 }, at: second(7) }),
  );
  const said = { budget_cost: { usd: 2 }, final_answer: large('done and done'), at: second(8) };
  const answer = child.add('delegation', answerMembers(delegation, said));
  first.add(
    'commit',
    commitMembers([], { resolves: waiting, counselor: COUNSELOR, detection_vector: VECTOR }),
  );
  const spent = { writ_id: writId(HELD), budget_cost: { usd: 5 } };
  first.add('commit', commitMembers([{ op: 'remove', path: '/m' }], spent), signer);
  first.add('delegation', conclusionMembers(answer));
  first.add('pending_approval', pendingMembers({ expires: second(11) }));
  first.add(
    'rejection',
    rejectionMembers({
      proposal_id: hashText('proposal'),
      reason: 'expired',
      resolves: first.head.id,
    }),
  );
  const second_ = new ChainWriter('second', signer);
  second_.add('branch', { ...branchMembers(first.rows[8] as EntryRow), at: second(20) });
  for (let n = 1; n < 7; n++) {
    const value = { op: 'replace', path: '/n', value: n } as const;
    second_.add(
      'commit',
      commitMembers([value], {
        observations: [{ name: 'seen', value: large({ $blob: 'not one' }) }],
        at: second(20 + n),
      }),
    );
  }
  const third = new ChainWriter('third', signer);
  third.add('branch', { ...branchMembers(second_.rows[0] as EntryRow), at: second(30) });
  third.add('commit', commitMembers([{ op: 'remove', path: '/list/1' }], { at: second(31) }));
  third.add(
    'rejection',
    rejectionMembers({
      intent: { action: 'act', role: ROLE, args: large(['long', 'args']), observations: [] },
      at: second(32),
    }),
  );
  third.add('pending_approval', pendingMembers({ freezes: ['/n'], at: second(33) }));
  third.add('pending_approval', pendingMembers({ freezes: ['/list'], at: second(34) }));
  third.add(
    'commit',
    commitMembers([{ op: 'add', path: '/list/1', value: {} }], { at: second(35) }),
  );
  third.add('key_change', {
    to: 'ab'.repeat(32),
    reason: 'the first key is retired',
    at: second(36),
  });
  const writers = [first, second_, third, child];
  return {
    rows: writers.flatMap(({ rows }) => rows),
    blobs,
    names: ['first', 'second', 'third', 'child'],
  };
}
