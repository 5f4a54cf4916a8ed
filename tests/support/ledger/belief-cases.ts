/**
 * Ledgers that record fact changes: honest ones, erased ones, and the honest one corrupted in one
 * way each.
 */
import {
  type BeliefChange,
  type BlobRow,
  type ErasedRow,
  type Hash,
  OPEN_END,
  OPEN_START,
  storeSalted,
} from '#ledger';
import type { ErasureCase, Ledger } from './erasure-cases.ts';
import {
  ChainWriter,
  COUNSELOR,
  commitMembers,
  erasureMembers,
  type Members,
  pendingMembers,
  rootMembers,
  salted,
  second,
  VECTOR,
} from './rows.ts';

const HASH: Hash = 'ab'.repeat(32);

/** Something that a test changes as it likes. */
type Loose = Record<string, any>;

export const MEDICATION: { readonly [name: string]: string } = {
  space: 's',
  subject: 'alice',
  predicate: 'medication',
};
/** The same in a branch. */
export const TRIED: { readonly [name: string]: string } = { ...MEDICATION, branch: 't' };
export const ALLERGY: { readonly [name: string]: string } = {
  space: 's',
  subject: 'alice',
  predicate: 'allergy',
};

/** Where what stands in the honest one. */
const AT = { said: 1, contested: 2, taken: 3, pending: 4, approved: 5 };

/** The blobs of a ledger, and the changes that refer to them. */
export class Beliefs {
  readonly blobs: BlobRow[] = [];

  row(fact_id: string, object: string, rest: Members = {}): Members {
    return {
      fact_id,
      object: salted(object, this.blobs),
      valid_from: OPEN_START,
      valid_to: OPEN_END,
      provenance_id: 'w:@0',
      confidence: 1,
      resolution_strategy_id: 'lww',
      row_kind: 'current',
      resolution_id: null,
      lineage: fact_id,
      asserted_seq: 1,
      asserted_from: OPEN_START,
      ...rest,
    };
  }

  change(
    partition: { readonly [name: string]: string },
    version: number,
    at: number,
    rest: Members,
  ): Members {
    return {
      partition: salted(partition, this.blobs),
      version,
      cardinality: 'single-valued',
      system_time: second(at),
      close: [],
      insert: [],
      ...rest,
    };
  }

  /** A row that a branch takes over. */
  inherited(fact_id: string, object: string, rest: Members = {}): Members {
    const row = {
      system_time_start: second(0),
      entry_id: HASH,
      seq: 1,
      cardinality: 'single-valued',
    };
    return this.row(fact_id, object, { provenance_id: `w:${HASH}#0`, ...row, ...rest });
  }

  /** The first change of a branch: it has two rows of its source, and closes one of them. */
  begun(rest: Members = {}): Members {
    const rows = [
      this.inherited('p', 'penicillin', { valid_to: second(0) }),
      this.inherited('q', 'none', {
        valid_from: second(0),
        seq: 4,
        asserted_seq: 3,
        cardinality: 'multi-valued',
      }),
    ];
    return this.change(TRIED, 5, AT.said, {
      inherit: { until: second(0), rows },
      close: [{ fact_id: 'q', system_time_start: second(0) }],
      insert: [this.row('r', 'nuts', { asserted_seq: 5 })],
      ...rest,
    });
  }

  /** An assertion, a contradiction next to another fact, a retraction, and an approved fact. */
  honest(): Loose[][] {
    const valid = { valid_from: second(-60), valid_to: second(60), asserted_from: second(-60) };
    const lost = {
      row_kind: 'audit',
      resolution_id: 'r',
      provenance_id: 'w:@0 + w:@1',
      confidence: 0.5,
    };
    return [
      [this.change(MEDICATION, 1, AT.said, { insert: [this.row('a', 'penicillin', valid)] })],
      [
        this.change(MEDICATION, 2, AT.contested, {
          close: [{ fact_id: 'a', system_time_start: second(AT.said) }],
          insert: [
            this.row('audit::a::0', 'a witness', { ...valid, ...lost, lineage: 'a' }),
            this.row('b', 'none', {
              ...valid,
              asserted_seq: 2,
              confidence: 0,
              provenance_id: '2*t:policy:v1*w:@1',
            }),
          ],
        }),
        // Of many values, and one was said before: a partition has a time of its own.
        this.change(ALLERGY, 7, AT.contested + 100, {
          cardinality: 'multi-valued',
          insert: ['lww-valid', 'evi', 'await', 'rule'].map((strategy) =>
            this.row(`c-${strategy}`, strategy, {
              resolution_strategy_id: strategy,
              asserted_seq: 6,
            }),
          ),
        }),
      ],
      [
        this.change(MEDICATION, 3, AT.taken, {
          close: [{ fact_id: 'b', system_time_start: second(AT.contested) }],
        }),
      ],
      [
        this.change(ALLERGY, 8, AT.approved + 200, {
          insert: [this.row('d', 'nuts', { asserted_seq: 8 })],
        }),
      ],
    ];
  }
}

/**
 * The chain of the honest ledger, with corrupted changes, and with further fields in its second
 * commit.
 */
function written(changes: readonly unknown[], contested: Members = {}): ChainWriter {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0 }));
  const [said, both, taken, approved] = changes;
  const delta = (beliefs: unknown): Members => ({ delta: { state: [], effects: [], beliefs } });
  writer.add('commit', commitMembers([], delta(said)));
  writer.add('commit', commitMembers([], { ...delta(both), ...contested }));
  writer.add('commit', commitMembers([], delta(taken)));
  const pending = writer.add('pending_approval', pendingMembers());
  const by = { resolves: pending.id, counselor: COUNSELOR, detection_vector: VECTOR };
  writer.add('commit', commitMembers([], { ...delta(approved), ...by }));
  return writer;
}

function ledgerOf(
  { rows }: ChainWriter,
  blobs: readonly BlobRow[],
  gone: readonly ErasedRow[] = [],
): Ledger {
  const erased = new Set(gone.map(({ hash }) => hash));
  return { rows, blobs: blobs.filter(({ hash }) => !erased.has(hash)), erased: gone };
}

/** The honest ledger with corrupted changes: by commit, by partition. */
function spoilt(
  name: string,
  verdict: string,
  spoil: (changes: Loose[][], made: Beliefs) => unknown,
): ErasureCase {
  const made = new Beliefs();
  const changes = made.honest();
  spoil(changes, made);
  return { name, verdict, ledger: ledgerOf(written(changes), made.blobs) };
}

/** A member of a change or of its first row that is not what it should be, or is not there. */
function member(of: 'change' | 'row' | 'key', name: string, ...values: unknown[]): ErasureCase[] {
  return values.map((value) =>
    spoilt(
      `${of} with ${name} ${JSON.stringify(value) ?? 'absent'}`,
      `${AT.contested} malformed`,
      (changes) => {
        const change = changes[1]![0]!;
        const object =
          of === 'change' ? change : of === 'row' ? change['insert'][0] : change['close'][0];
        if (value === undefined) delete object[name];
        else object[name] = value;
      },
    ),
  );
}

const NO_COLUMN: readonly unknown[] = [undefined, '', 'a\0b', 1, null];
const NO_TIME: readonly unknown[] = [
  undefined,
  '2026-03-23',
  '2026-02-30T00:00:00.000000Z',
  5,
  null,
];
const NO_COUNT: readonly unknown[] = [undefined, 0, -1, 1.5, '1', null];
const NO_REFERENCE: readonly unknown[] = [
  undefined,
  'in place',
  { $blob: HASH, bytes: 9 },
  { $blob: HASH, bytes: 9, salted: false },
  { $blob: 'x', bytes: 9, salted: true },
  { $blob: HASH, salted: true },
  { $blob: HASH, bytes: -1, salted: true },
  { $blob: HASH, bytes: 9, salted: true, more: 1 },
  { $erased: HASH },
  null,
];

/** Changes that are refused for their form. */
function forms(): ErasureCase[] {
  const list = `${AT.contested} malformed`;
  return [
    ...member('change', 'partition', ...NO_REFERENCE),
    ...member('change', 'version', ...NO_COUNT),
    ...member('change', 'cardinality', undefined, 'many', null),
    ...member('change', 'system_time', ...NO_TIME, OPEN_START, OPEN_END),
    ...member('change', 'close', undefined, {}, [1]),
    ...member('change', 'insert', undefined, {}, [1]),
    ...member('change', 'merged', {}, [1], [''], ['a\0b'], null),
    ...member('change', 'more', 1),
    ...member('key', 'fact_id', ...NO_COLUMN),
    ...member('key', 'system_time_start', ...NO_TIME, OPEN_START),
    ...member('key', 'more', 1),
    ...member('row', 'object', ...NO_REFERENCE),
    ...['fact_id', 'provenance_id', 'lineage'].flatMap((name) => member('row', name, ...NO_COLUMN)),
    // An audit row has a resolution, and a current row none.
    ...member('row', 'resolution_id', ...NO_COLUMN),
    ...member('row', 'row_kind', undefined, 'current', 'lost', null),
    ...member('row', 'valid_from', ...NO_TIME, OPEN_END, second(60), second(61)),
    ...member(
      'row',
      'valid_to',
      ...NO_TIME,
      OPEN_START,
      second(-60),
      '2026-12-31',
      '9999-01-01T00:00:00.000000Z',
    ),
    ...member('row', 'confidence', undefined, -0.1, 1.1, '1', true, null),
    ...member('row', 'resolution_strategy_id', undefined, 'first', null),
    ...member('row', 'asserted_seq', ...NO_COUNT, 3),
    ...member('row', 'asserted_from', ...NO_TIME, OPEN_END),
    ...member('row', 'more', 1),
    spoilt('a current row with a resolution', list, (changes) => {
      changes[1]![0]!['insert'][1].resolution_id = 'r';
    }),
    // No row was asserted later than it.
    ...NO_COUNT.map((version) =>
      spoilt(
        `version ${JSON.stringify(version)} of a change without rows`,
        `${AT.taken} malformed`,
        (changes) => {
          const [change] = changes[2] as [Loose];
          if (version === undefined) delete change['version'];
          else change['version'] = version;
        },
      ),
    ),
    spoilt('beliefs that are not a list', list, (changes) => {
      changes[1] = {} as never;
    }),
    spoilt('an invalid change', list, (changes) => changes[1]!.push(null as never)),
    pendingWith('a proposal with beliefs'),
  ];
}

function pendingWith(name: string): ErasureCase {
  const made = new Beliefs();
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0 }));
  const [beliefs] = made.honest();
  writer.add(
    'pending_approval',
    pendingMembers({}, { delta: { state: [], effects: [], beliefs } }),
  );
  return { name, verdict: '1 malformed', ledger: ledgerOf(writer, made.blobs) };
}

/** Contradictions that need an approver: the time of their assertion, next to their questions. */
function contradictions(): ErasureCase[] {
  const questioned = (
    name: string,
    verdict: string,
    rest: Members,
    pending: Members = {},
  ): ErasureCase => {
    const blobs: BlobRow[] = [];
    const writer = new ChainWriter('t');
    writer.add('root', rootMembers({ n: 0 }));
    const proposal = { questions: salted(['who is right'], blobs), ...rest };
    writer.add(
      'pending_approval',
      pendingMembers({ reason: 'contradiction', freezes: [], ...pending }, proposal),
    );
    return { name, verdict, ledger: ledgerOf(writer, blobs) };
  };
  return [
    questioned('a contradiction', 'valid', {}),
    questioned('a contradiction that was said before it was submitted', 'valid', {
      said_at: second(-9),
    }),
    ...NO_TIME.slice(1).map((value) =>
      questioned(`a contradiction that was said at ${JSON.stringify(value)}`, '1 malformed', {
        said_at: value as never,
      }),
    ),
    questioned('questions in place', '1 malformed', { questions: ['who is right'] as never }),
    questioned(
      'questions about something other than a contradiction',
      '1 rule_broken',
      {},
      { reason: 'invariant_escalated' },
    ),
    questioned('a contradiction that freezes', '1 rule_broken', {}, { freezes: ['/n'] }),
  ];
}

/** Violations of a rule inside of one entry. */
function rules(): ErasureCase[] {
  const broken = `${AT.contested} rule_broken`;
  const first = (changes: Loose[][]): Loose => changes[1]![0]!;
  return [
    spoilt('one partition twice', broken, (changes) => {
      changes[1]![1]!['partition'] = first(changes)['partition'];
    }),
    spoilt('a system time before the entry', broken, (changes) => {
      first(changes)['system_time'] = second(AT.contested - 1);
      first(changes)['close'] = [];
    }),
    spoilt('the same in what a person approved', `${AT.approved} rule_broken`, (changes) => {
      changes[3]![0]!['system_time'] = second(0);
    }),
    spoilt('a row closed twice', broken, (changes) => {
      first(changes)['close'].push({ ...first(changes)['close'][0] });
    }),
    spoilt('a row closed that begins with it', broken, (changes) => {
      first(changes)['close'][0].system_time_start = second(AT.contested);
    }),
    spoilt('a fact inserted twice', broken, (changes) => {
      first(changes)['insert'][1].fact_id = first(changes)['insert'][0].fact_id;
    }),
    spoilt('an audit row with the id of a claim', broken, (changes) => {
      first(changes)['insert'][0].fact_id = 'a';
    }),
    spoilt('an audit row whose id only looks so', broken, (changes) => {
      first(changes)['insert'][0].fact_id = 'audit:a';
    }),
    ...builtIn(),
  ];
}

/** Built-in commits that change nothing change no beliefs. */
function builtIn(): ErasureCase[] {
  return ['assize.revoke', 'assize.settle'].map((action) => {
    const made = new Beliefs();
    const role = { name: 'assize', params: {} };
    const args =
      action === 'assize.revoke'
        ? { writ: HASH, reason: 'r' }
        : { settled: [], discarded: [{ id: HASH, cost: {} }] };
    const writer = written(made.honest(), { action: { name: action, role, args } });
    return {
      name: `${action} with beliefs`,
      verdict: `${AT.contested} malformed`,
      ledger: ledgerOf(writer, made.blobs),
    };
  });
}

/** Valid ledgers that may look invalid. */
function fine(): ErasureCase[] {
  return [
    spoilt('honest', 'valid', () => undefined),
    spoilt('a change of nothing', 'valid', (changes) => {
      changes[0]![0]!['insert'] = [];
    }),
    spoilt('rows of one id that began at other times are closed', 'valid', (changes) => {
      changes[1]![0]!['close'].push({ fact_id: 'a', system_time_start: second(0) });
    }),
    spoilt('a claim that was merged', 'valid', (changes) => {
      changes[1]![0]!['merged'] = ['c'];
    }),
    spoilt('a fact that is closed goes on under its id', 'valid', (changes) => {
      changes[1]![0]!['insert'][1].fact_id = 'a';
    }),
    // Only a reader with the entries of all trajectories can check rules between entries.
    spoilt('a version that was there before', 'valid', (changes) => {
      changes[2]![0]!['version'] = 2;
    }),
  ];
}

/** The contents that the references lead to. */
function contents(): ErasureCase[] {
  const at = AT.contested;
  const change = (changes: Loose[][]): Loose => changes[1]![0]!;
  const partitions: [string, unknown][] = [
    ['a text', 'alice'],
    ['one name less', { space: 's', subject: 'alice' }],
    ['one name more', { ...ALLERGY, more: 'x' }],
    ...['space', 'subject', 'predicate'].flatMap((name): [string, unknown][] => [
      [`an empty ${name}`, { ...ALLERGY, [name]: '' }],
      [`a ${name} with a NUL`, { ...ALLERGY, [name]: 'a\0' }],
      [`a ${name} that is a number`, { ...ALLERGY, [name]: 1 }],
    ]),
  ];
  const objects: [string, unknown][] = [
    ['a number', 1],
    ['an object', { a: 1 }],
    ['an empty text', ''],
    ['a text with a NUL', 'a\0'],
  ];
  return [
    ...partitions.map(([name, value]) =>
      spoilt(`a partition that is ${name}`, `${at} malformed`, (changes, { blobs }) => {
        change(changes)['partition'] = salted(value as never, blobs);
      }),
    ),
    ...objects.map(([name, value]) =>
      spoilt(`an object that is ${name}`, `${at} malformed`, (changes, { blobs }) => {
        change(changes)['insert'][1].object = salted(value as never, blobs);
      }),
    ),
    spoilt('a partition without salt', `${at} malformed`, (changes, { blobs }) => {
      change(changes)['partition'] = storeSalted(ALLERGY, 'no salt', blobs);
    }),
    spoilt('a partition of another length', `${at} blob_tampered`, (changes) => {
      change(changes)['partition'].bytes++;
    }),
    spoilt('an object that is not there', `${at} blob_missing`, (changes) => {
      change(changes)['insert'][1].object.$blob = HASH;
    }),
    spoilt('a partition that is not there', `${at} blob_missing`, (changes) => {
      change(changes)['partition'].$blob = HASH;
    }),
  ];
}

/** Erased contents, with or without a commit that records the erasure. */
function gone(): ErasureCase[] {
  const erasing = (
    name: string,
    verdict: string,
    what: (changes: Loose[][]) => Hash[],
    seq: number = AT.contested,
  ): ErasureCase => {
    const made = new Beliefs();
    const changes = made.honest();
    const writer = written(changes);
    const hashes = what(changes);
    const by = writer.add('commit', erasureMembers(hashes.map((hash) => ({ hash, seq })))).id;
    return {
      name,
      verdict,
      ledger: ledgerOf(
        writer,
        made.blobs,
        hashes.map((hash) => ({ hash, by })),
      ),
    };
  };
  const ofChange = ([, changes]: Loose[][]): Hash[] =>
    changes!.flatMap((change) => {
      const { partition, insert } = change as unknown as BeliefChange;
      return [partition.$blob, ...insert.map(({ object }) => object.$blob)];
    });
  const made = new Beliefs();
  const writer = written(made.honest());
  const lost = made.blobs[0]!.hash;
  return [
    erasing('all that one commit says erased', 'valid', ofChange),
    erasing('an object erased', 'valid', (changes) => [changes[1]![0]!['insert'][1].object.$blob]),
    erasing('a partition erased', 'valid', (changes) => [changes[1]![1]!['partition'].$blob]),
    erasing('erased as of an entry that has it not', '6 rule_broken', ofChange, AT.taken),
    {
      name: 'erased by nobody',
      verdict: `${AT.said} blob_missing`,
      ledger: ledgerOf(writer, made.blobs, [{ hash: lost, by: HASH }]),
    },
  ];
}

/** The honest one, with the first change of a branch spoilt beside what is said first. */
function begun(
  name: string,
  verdict: string,
  spoil: (change: Loose, made: Beliefs) => unknown,
): ErasureCase {
  return spoilt(name, verdict, (changes, made) => {
    const change: Loose = made.begun();
    spoil(change, made);
    changes[0]!.push(change);
  });
}

/** The facts that branches start with. */
function inheritances(): ErasureCase[] {
  const [malformed, broken] = [`${AT.said} malformed`, `${AT.said} rule_broken`];
  const with_ = (of: 'inherit' | 'row', name: string, ...values: unknown[]): ErasureCase[] =>
    values.map((value) =>
      begun(
        `inherited ${of} with ${name} ${JSON.stringify(value) ?? 'absent'}`,
        malformed,
        ({ inherit }) => {
          const object = of === 'row' ? inherit.rows[1] : inherit;
          if (value === undefined) delete object[name];
          else object[name] = value;
        },
      ),
    );
  const naming = (name: string, verdict: string, value: unknown): ErasureCase =>
    begun(name, verdict, (change, { blobs }) => {
      change['partition'] = salted(value as never, blobs);
    });
  return [
    begun('what a branch begins with', 'valid', () => undefined),
    begun('a branch that begins with nothing, where there was something', 'valid', (change) => {
      Object.assign(change, {
        version: 1,
        close: [],
        insert: [],
        inherit: { until: second(0), rows: [] },
      });
    }),
    begun('a branch whose source never had it', 'valid', (change) => {
      delete change['inherit'];
      Object.assign(change, { version: 1, close: [], insert: [] });
    }),
    begun('a row that began just then', 'valid', ({ inherit }) => {
      inherit.until = inherit.rows[0].system_time_start;
    }),
    ...[null, {}, [], 1].map((value) =>
      begun(`an inheritance that is ${JSON.stringify(value)}`, malformed, (change) => {
        change['inherit'] = value;
      }),
    ),
    ...with_('inherit', 'until', ...NO_TIME, OPEN_START, OPEN_END),
    ...with_('inherit', 'rows', undefined, {}, [1], null),
    ...with_('inherit', 'more', 1),
    ...with_('row', 'object', ...NO_REFERENCE),
    ...['fact_id', 'provenance_id', 'lineage'].flatMap((name) => with_('row', name, ...NO_COLUMN)),
    ...with_('row', 'row_kind', undefined, 'audit', null),
    ...with_('row', 'resolution_id', undefined, 'r', 1),
    ...with_('row', 'valid_from', ...NO_TIME, OPEN_END),
    ...with_('row', 'valid_to', ...NO_TIME, OPEN_START, second(0)),
    ...with_('row', 'confidence', undefined, 2, null),
    ...with_('row', 'resolution_strategy_id', undefined, 'first'),
    ...with_('row', 'asserted_seq', ...NO_COUNT, 5),
    ...with_('row', 'asserted_from', ...NO_TIME, OPEN_END),
    ...with_('row', 'system_time_start', ...NO_TIME, OPEN_START),
    ...with_('row', 'entry_id', undefined, 'x', null),
    ...with_('row', 'seq', ...NO_COUNT, 2),
    ...with_('row', 'cardinality', undefined, 'many', null),
    ...with_('row', 'more', 1),
    begun('a version that does not follow', broken, (change) => {
      change['version'] = 6;
    }),
    begun('a version that is too early', broken, (change) => {
      Object.assign(change, { version: 4, insert: [] });
    }),
    begun('what is believed when it begins', broken, ({ inherit }) => {
      inherit.until = second(AT.said);
    }),
    begun('a row that began later', broken, ({ inherit }) => {
      inherit.rows[0].system_time_start = second(0).replace('.000000', '.000001');
    }),
    begun('a row taken over twice', broken, ({ inherit }) =>
      inherit.rows.push({ ...inherit.rows[0] }),
    ),
    begun('a row closed that is not taken over', broken, ({ close }) => {
      close[0].fact_id = 'x';
    }),
    naming('what is inherited by no branch', malformed, ALLERGY),
    ...['', 'a\0', 1, null].map((branch) =>
      naming(`a branch called ${JSON.stringify(branch)}`, malformed, { ...MEDICATION, branch }),
    ),
    begun('an inherited text that is a number', malformed, ({ inherit }, { blobs }) => {
      inherit.rows[1].object = salted(1, blobs);
    }),
    begun('an inherited text that is not there', `${AT.said} blob_missing`, ({ inherit }) => {
      inherit.rows[1].object.$blob = HASH;
    }),
    begun('an inherited text of another length', `${AT.said} blob_tampered`, ({ inherit }) => {
      inherit.rows[1].object.bytes++;
    }),
  ];
}

export function beliefCases(): ErasureCase[] {
  return [
    ...fine(),
    ...forms(),
    ...contradictions(),
    ...rules(),
    ...inheritances(),
    ...contents(),
    ...gone(),
  ];
}
