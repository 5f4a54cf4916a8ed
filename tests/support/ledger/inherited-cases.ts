/**
 * Ledgers of the memory that branches inherit: one honest ledger of several trajectories, and
 * ledgers with one corruption each.
 */

import { MemoryStore } from '@assize/testing/memory';
import { writId } from '#authority';
import { importLines } from '#export';
import { type BlobRow, type EntryRow, type ErasedRow, type Hash, placedProvenance } from '#ledger';
import { verifyStore } from '#runtime';
import { Beliefs } from './belief-cases.ts';
import { type ErasureCase, type Ledger, linesOf } from './erasure-cases.ts';
import {
  branchMembers,
  ChainWriter,
  childMembers,
  commitMembers,
  DELEGATED,
  delegationMembers,
  erasureMembers,
  HELD,
  type Members,
  rootMembers,
  salted,
  second,
  WRIT,
} from './rows.ts';

/** Something that a test changes as it likes. */
type Loose = Record<string, any>;

/** The commits that change something, in the order in which they are written. */
const STEPS = ['said', 'moved', 'tried', 'later', 'others', 'asked', 'deeper', 'deepest'] as const;
type Step = (typeof STEPS)[number];

/** A test's change to one commit before it is written. It receives the entries so far. */
type Spoil = (changes: Loose[], made: Made) => unknown;

const named = (predicate: string, branch?: string): { [name: string]: string } => ({
  space: 's',
  subject: 'alice',
  predicate,
  ...(branch !== undefined && { branch }),
});

interface Made {
  readonly beliefs: Beliefs;
  /** By the commit. */
  readonly rows: Map<Step, EntryRow>;
}

/**
 * `root` changes shared facts, and so does `other`. `first` branches off after two changes of
 * `root`, and delegates to `child`. `second` branches off `first` before the first change of
 * `first`, and `third` after it.
 */
function ledgerOf(
  spoil: Partial<Record<Step, Spoil>> = {},
  erased: (made: Made) => readonly Hash[] = () => [],
): Ledger {
  const beliefs = new Beliefs();
  const made: Made = { beliefs, rows: new Map() };
  const write = (
    writer: ChainWriter,
    step: Step,
    at: number,
    changes: Members[],
    rest: Members = {},
  ): EntryRow => {
    const loose = changes as Loose[];
    spoil[step]?.(loose, made);
    const delta = { state: [], effects: [], beliefs: loose };
    const row = writer.add('commit', commitMembers([], { at: second(at), delta, ...rest }));
    made.rows.set(step, row);
    return row;
  };
  /** A row of that commit, as a branch has it. */
  const from = (step: Step, at: number, fact: string, text: string, version: number): Members => {
    const { id } = made.rows.get(step) as EntryRow;
    const place = {
      system_time_start: second(at),
      entry_id: id,
      seq: version,
      asserted_seq: version,
    };
    return beliefs.inherited(fact, text, { provenance_id: placedProvenance('w:@0', id), ...place });
  };
  const row = (fact: string, text: string, version: number): Members =>
    beliefs.row(fact, text, { asserted_seq: version });
  const begins = (
    predicate: string,
    branch: string,
    at: number,
    until: number,
    rows: Members[],
    insert: Members[],
  ) => {
    const version = Math.max(0, ...rows.map((each) => (each as Loose)['seq'] as number)) + 1;
    const inherit = { until: second(until), rows };
    const inserted = insert.map((each) => ({ ...each, asserted_seq: version }));
    return beliefs.change(named(predicate, branch), version, at, { inherit, insert: inserted });
  };

  const root = new ChainWriter('root');
  root.add('root', rootMembers());
  write(root, 'said', 1, [
    beliefs.change(named('drug'), 1, 1, { insert: [row('a', 'aspirin', 1), row('n', 'nuts', 1)] }),
  ]);
  write(root, 'moved', 2, [
    beliefs.change(named('drug'), 2, 2, {
      close: [{ fact_id: 'a', system_time_start: second(1) }],
      insert: [row('b', 'salt', 2)],
    }),
    // Ahead of the entry: the clock of another one was.
    beliefs.change(named('diet'), 1, 5, { insert: [row('d', 'no salt', 1)] }),
  ]);
  const first = new ChainWriter('first');
  const begun = first.add('branch', {
    ...branchMembers(root.head),
    writs: [WRIT, HELD],
    at: second(4),
  });
  const { head } = root;
  const second_ = new ChainWriter('second');
  second_.add('branch', { ...branchMembers(begun), at: second(4) });
  write(first, 'tried', 10, [
    begins(
      'drug',
      'first',
      10,
      2,
      [from('said', 1, 'n', 'nuts', 1), from('moved', 2, 'b', 'salt', 2)],
      [row('t', 'tea', 3)],
    ),
    begins('diet', 'first', 10, 5, [from('moved', 5, 'd', 'no salt', 1)], []),
    beliefs.change(named('mood', 'first'), 1, 10, { insert: [row('m', 'good', 1)] }),
  ]);
  write(root, 'later', 11, [
    beliefs.change(named('drug'), 3, 11, {
      close: [{ fact_id: 'b', system_time_start: second(2) }],
    }),
    beliefs.change(named('mood'), 1, 11, { insert: [row('m', 'bad', 1)] }),
  ]);
  const other = new ChainWriter('other');
  other.add('root', rootMembers());
  // A clock that is slow: as of before the branch, and there only later.
  write(other, 'others', 3, [
    beliefs.change(named('sleep'), 1, 3, { insert: [row('s', 'short', 1)] }),
  ]);
  const third = new ChainWriter('third');
  third.add('branch', { ...branchMembers(first.head), at: second(20) });
  const start = first.add('delegation', delegationMembers({ at: second(21) }));
  const child = new ChainWriter('child');
  child.add('root', childMembers(start));
  const byChild = { writ_id: writId(DELEGATED) };
  const tried = made.rows.get('tried') as EntryRow;
  write(
    child,
    'asked',
    22,
    [
      beliefs.change(named('diet', 'first'), 3, 22, {
        close: [{ fact_id: 'd', system_time_start: second(5) }],
      }),
      begins('sleep', 'first', 22, 3, [from('others', 3, 's', 'short', 1)], []),
    ],
    byChild,
  );
  // It began before `first` had anything of its own, and sees what that saw.
  write(second_, 'deeper', 23, [
    begins(
      'drug',
      'second',
      23,
      2,
      [from('said', 1, 'n', 'nuts', 1), from('moved', 2, 'b', 'salt', 2)],
      [],
    ),
    begins('diet', 'second', 23, 5, [from('moved', 5, 'd', 'no salt', 1)], []),
  ]);
  write(third, 'deepest', 24, [
    begins(
      'drug',
      'third',
      24,
      10,
      [
        from('said', 1, 'n', 'nuts', 1),
        from('moved', 2, 'b', 'salt', 2),
        { ...from('tried', 10, 't', 'tea', 3), entry_id: tried.id },
      ],
      [],
    ),
  ]);
  const hashes = erased(made);
  const seqs = new Map<Hash, number>();
  for (const { seq, payload } of root.rows)
    for (const hash of hashes) if (payload.includes(hash) && !seqs.has(hash)) seqs.set(hash, seq);
  const gone: ErasedRow[] = [];
  if (hashes.length > 0) {
    const values = hashes.map((hash) => ({ hash, seq: seqs.get(hash) as number }));
    const { id } = root.add('commit', { ...erasureMembers(values), at: second(30) });
    gone.push(...hashes.map((hash) => ({ hash, by: id })));
  }
  if (head.id !== (made.rows.get('moved') as EntryRow).id)
    throw new Error('a branch begins elsewhere');
  const rows = [root, other, first, second_, child, third].flatMap((writer) => writer.rows);
  const blobs: BlobRow[] = beliefs.blobs.filter(({ hash }) => !hashes.includes(hash));
  return { rows, blobs, erased: gone };
}

/** Where a commit stands. */
const TRAJECTORY_OF: { readonly [step in Step]: string } = {
  ...{
    said: 'root',
    moved: 'root',
    later: 'root',
    tried: 'first',
    others: 'other',
    asked: 'child',
  },
  ...{ deeper: 'second', deepest: 'third' },
};

/**
 * One corrupted commit. The verdict is that of its trajectory. All other trajectories are valid,
 * except those that branch off behind the commit.
 */
function spoilt(name: string, step: Step, verdict: string, spoil: Spoil): ErasureCase {
  const of = verdict === 'valid' ? verdict : `${TRAJECTORY_OF[step]} ${verdict}`;
  return { name, verdict: of, ledger: ledgerOf({ [step]: spoil }) };
}

const again =
  (partition: { [name: string]: string }) =>
  (changes: Loose[], made: Made, at = 0) => {
    (changes[at] as Loose)['partition'] = salted(partition, made.beliefs.blobs);
  };

/** Where a change names what is not its own. */
function memories(): ErasureCase[] {
  const naming = (
    name: string,
    step: Step,
    seq: number,
    partition: { [name: string]: string },
  ): ErasureCase =>
    spoilt(name, step, `${seq} rule_broken`, (changes, made) => {
      for (const change of changes.splice(1)) delete change['inherit'];
      Object.assign(changes[0] as Loose, { version: 9, close: [], insert: [] });
      delete (changes[0] as Loose)['inherit'];
      again(partition)(changes, made);
    });
  return [
    naming('a branch that changes what is shared', 'tried', 1, named('price')),
    naming('a branch that changes what another one has', 'tried', 1, named('price', 'second')),
    naming('a branch that changes what its source has', 'deeper', 1, named('price', 'first')),
    naming('a branch of nobody', 'tried', 1, named('price', 'nobody')),
    naming('who was delegated to changes what is shared', 'asked', 1, named('price')),
    naming('who was delegated to has a memory of its own', 'asked', 1, named('price', 'child')),
    naming('a root that changes what a branch has', 'later', 3, named('price', 'first')),
    spoilt(
      'a root that calls a memory its own that nobody sees',
      'later',
      'valid',
      (changes, { beliefs }) => {
        changes.push(beliefs.change(named('drug', 'root'), 1, 11, {}));
      },
    ),
  ];
}

/** Inherited rows that differ from the facts of the source. */
function rows(): ErasureCase[] {
  const inherited = (changes: Loose[]): Loose[] => (changes[0] as Loose)['inherit'].rows;
  const member = (name: string, value: unknown): ErasureCase =>
    spoilt(`an inherited row with another ${name}`, 'tried', '1 rule_broken', (changes) => {
      (inherited(changes)[1] as Loose)[name] = value;
    });
  const broken = (name: string, step: Step, spoil: Spoil): ErasureCase =>
    spoilt(name, step, '1 rule_broken', spoil);
  return [
    member('fact_id', 'x'),
    member('valid_from', second(0)),
    member('valid_to', second(0)),
    member('provenance_id', 'w:@0'),
    member('confidence', 0.5),
    member('resolution_strategy_id', 'evi'),
    member('lineage', 'x'),
    member('asserted_seq', 1),
    member('asserted_from', second(0)),
    member('system_time_start', second(1)),
    member('entry_id', 'ab'.repeat(32)),
    member('cardinality', 'multi-valued'),
    broken('an inherited text that is another one', 'tried', (changes, { beliefs }) => {
      (inherited(changes)[1] as Loose)['object'] = salted('poison', beliefs.blobs);
    }),
    broken('an inherited row that is left out', 'tried', (changes) => inherited(changes).shift()),
    broken('nothing inherited, of what had something', 'tried', (changes) => {
      Object.assign(changes[0] as Loose, {
        version: 1,
        insert: [],
        inherit: { until: second(2), rows: [] },
      });
    }),
    broken('a row too many', 'tried', (changes, { beliefs }) =>
      inherited(changes).push(beliefs.inherited('x', 'nuts')),
    ),
    broken('a row that was closed', 'tried', (changes, { rows: entries }) => {
      const { id } = entries.get('said') as EntryRow;
      const closed = { ...inherited(changes)[0], fact_id: 'a', lineage: 'a', entry_id: id };
      inherited(changes).push(closed);
    }),
    broken(
      'what was inherited before its source changed it',
      'tried',
      (changes, { beliefs, rows: entries }) => {
        const { id } = entries.get('said') as EntryRow;
        const [nuts] = inherited(changes) as [Loose];
        const aspirin = {
          ...nuts,
          fact_id: 'a',
          lineage: 'a',
          object: salted('aspirin', beliefs.blobs),
          entry_id: id,
        };
        Object.assign(changes[0] as Loose, {
          version: 2,
          insert: [],
          inherit: { until: second(1), rows: [aspirin, nuts] },
        });
      },
    ),
    broken('a later time than the branch begins at', 'tried', (changes) => {
      (changes[0] as Loose)['inherit'].until = second(9);
    }),
    spoilt('a time between two changes of the source', 'tried', 'valid', (changes) => {
      (changes[0] as Loose)['inherit'].until = second(4);
    }),
    broken('what its source changed later', 'deepest', (changes) => {
      (changes[0] as Loose)['inherit'].until = second(23);
    }),
    broken('a branch that passes over what its source has', 'deepest', (changes) => {
      const change = changes[0] as Loose;
      Object.assign(change, { version: 3, insert: [] });
      Object.assign(change['inherit'], { until: second(2), rows: inherited(changes).slice(0, 2) });
    }),
    broken('a branch that inherits nothing where its source had something', 'tried', (changes) => {
      const change = changes[0] as Loose;
      Object.assign(change, { version: 1, insert: [] });
      delete change['inherit'];
    }),
    broken('a partition that goes on with what it never began', 'tried', (changes) => {
      delete (changes[0] as Loose)['inherit'];
    }),
    broken('a partition that begins again', 'asked', (changes, { beliefs }) => {
      const rows = [beliefs.inherited('d', 'no salt', { seq: 3 })];
      Object.assign(changes[0] as Loose, {
        version: 4,
        close: [],
        inherit: { until: second(2), rows },
      });
    }),
    broken('a partition that has one version twice', 'asked', (changes) => {
      Object.assign(changes[0] as Loose, { version: 2, close: [] });
    }),
    spoilt('what others have changed, as of before', 'asked', 'valid', (changes) => {
      Object.assign(changes[1] as Loose, { version: 1, inherit: undefined });
      delete (changes[1] as Loose)['inherit'];
    }),
  ];
}

/**
 * A provenance with a token that contains the text of a write of its own entry: nothing is
 * substituted in it.
 */
function provenances(): ErasureCase[] {
  return ['t:x,w:@0', 'w:x,w:@0', 'w:@0,w:@1'].map((provenance_id) => {
    const isNuts = ({ fact_id }: Loose): boolean => fact_id === 'n';
    const spoil: Spoil = ([{ insert, inherit }]: any) => {
      for (const row of [...insert, ...(inherit?.rows ?? [])].filter(isNuts))
        row.provenance_id = provenance_id;
    };
    const ledger = ledgerOf({ said: spoil, tried: spoil, deeper: spoil, deepest: spoil });
    return { name: `a row with the provenance ${provenance_id}`, verdict: 'valid', ledger };
  });
}

/** Where what it comes from was erased. */
function gone(): ErasureCase[] {
  const names = ({ rows: entries }: Made): Hash[] => {
    const { delta } = JSON.parse((entries.get('said') as EntryRow).payload);
    return [delta.beliefs[0].partition.$blob];
  };
  const ahead = ({ rows: entries }: Made): Hash[] => {
    const { delta } = JSON.parse((entries.get('moved') as EntryRow).payload);
    return [delta.beliefs[1].partition.$blob];
  };
  const texts = ({ rows: entries }: Made): Hash[] => {
    const { delta } = JSON.parse((entries.get('moved') as EntryRow).payload);
    return [delta.beliefs[0].insert[0].object.$blob];
  };
  const leftOut: Spoil = (changes) => (changes[0] as Loose)['inherit'].rows.shift();
  return [
    {
      name: 'inherited before its names were erased',
      verdict: 'valid',
      ledger: ledgerOf({}, names),
    },
    {
      name: 'inherited before the names were erased of what was ahead',
      verdict: 'valid',
      ledger: ledgerOf({}, ahead),
    },
    { name: 'inherited before a text was erased', verdict: 'valid', ledger: ledgerOf({}, texts) },
    {
      name: 'a row left out of what has no names any more',
      verdict: 'first 1 rule_broken',
      ledger: ledgerOf({ tried: leftOut }, names),
    },
  ];
}

export function inheritedCases(): ErasureCase[] {
  return [
    { name: 'honest', verdict: 'valid', ledger: ledgerOf() },
    ...memories(),
    ...rows(),
    ...provenances(),
    ...gone(),
  ];
}

/** The faults of the invalid trajectories, by name. */
export async function faultsOf(ledger: Ledger): Promise<string[]> {
  return faultsIn(await importedStore(ledger));
}

/** A store with the export of a ledger. */
export async function importedStore(ledger: Ledger): Promise<MemoryStore> {
  const store = new MemoryStore();
  async function* lines(): AsyncGenerator<string> {
    yield* linesOf(ledger).trimEnd().split('\n');
  }
  await importLines(store, lines());
  return store;
}

/** The same of a ledger that no export would have: its rows are kept as they are. */
export async function faultsOfRows({ rows, blobs, erased }: Ledger): Promise<string[]> {
  const store = new MemoryStore();
  await store.commit({ entries: rows, blobs, erased });
  return faultsIn(store);
}

async function faultsIn(store: MemoryStore): Promise<string[]> {
  const reports = await verifyStore(store);
  const faults = reports.flatMap(({ trajectory_id, fault }) =>
    fault === undefined ? [] : [`${trajectory_id} ${fault.seq} ${fault.code}`],
  );
  return faults.sort();
}
