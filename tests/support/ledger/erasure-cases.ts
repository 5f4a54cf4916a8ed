import { writId } from '#authority';
import type { Json } from '#base';
import { canonicalize, hashText } from '#canon';
import { ExportError, readExport } from '#export';
import {
  type BlobRef,
  type BlobRow,
  type EntryRow,
  type ErasedRow,
  type Fault,
  type Hash,
  type Patch,
  type Payload,
  payloadFault,
  Replayer,
  verifyTrajectory,
} from '#ledger';
import { Frontier, leafHash } from '#merkle';
import {
  blobLine,
  entryLine,
  erasedLine,
  HEADER,
  trailerLine,
} from '../../../packages/assize/src/ledger/entry/export-lines.ts';
import { referencesOf } from '../../../packages/assize/src/ledger/entry/references.ts';
import {
  ChainWriter,
  childMembers,
  commitMembers,
  DELEGATED,
  DOMAIN,
  delegationMembers,
  erasureMembers,
  HELD,
  type Members,
  pendingMembers,
  RowsReader,
  rejectionMembers,
  rootMembers,
  salted,
  WRIT,
} from './rows.ts';

/** Rows in the order of their log, the existing texts, and the recorded erasures. */
export interface Ledger {
  readonly rows: readonly EntryRow[];
  readonly blobs: readonly BlobRow[];
  readonly erased: readonly ErasedRow[];
}

export interface ErasureCase {
  readonly name: string;
  readonly ledger: Ledger;
  /** `valid`, or seq and code of the only fault. */
  readonly verdict: string;
}

/** The verdict of `verify` on each trajectory. */
export async function verdictsOf(ledger: Ledger): Promise<Record<string, string>> {
  const faults = Object.entries(await faultsByName(ledger));
  return Object.fromEntries(
    faults.map(([name, fault]) => [name, fault ? `${fault.seq} ${fault.code}` : 'valid']),
  );
}

/** The fault of each trajectory, or undefined. */
export async function faultsByName({
  rows,
  blobs,
  erased,
}: Ledger): Promise<Record<string, Fault | undefined>> {
  const replayer = new Replayer(new RowsReader(rows, blobs, erased));
  const faults: Record<string, Fault | undefined> = {};
  for (const name of new Set(rows.map(({ trajectory_id }) => trajectory_id)))
    faults[name] = (await verifyTrajectory(replayer, name)).fault;
  return faults;
}

/** An export of any ledger, also of one that an honest writer would refuse to write. */
export function linesOf({ rows, blobs, erased }: Ledger): string {
  const texts = new Map(blobs.map((blob) => [blob.hash, blobLine(blob)]));
  for (const row of erased) texts.set(row.hash, erasedLine(row));
  const frontier = new Frontier();
  let lines = HEADER;
  for (const row of rows) {
    const payload = JSON.parse(row.payload) as Payload;
    // A payload that fails validation may have no readable references.
    for (const hash of payloadFault(payload) === undefined ? referencesOf(payload) : []) {
      lines += texts.get(hash) ?? '';
      texts.delete(hash);
    }
    lines += entryLine(row);
    frontier.append([leafHash(row.payload)]);
  }
  return lines + trailerLine(frontier.size, frontier.root());
}

/** Whether the lines of its export are read without an error. */
export async function readable(ledger: Ledger): Promise<boolean> {
  async function* lines(): AsyncGenerator<string> {
    yield* linesOf(ledger).trimEnd().split('\n');
  }
  try {
    for await (const _ of readExport(lines()));
    return true;
  } catch (error) {
    if (error instanceof ExportError) return false;
    throw error;
  }
}

/** Ledgers with sensitive values: honest ones, erased ones, and each of them spoilt in one way. */
export function erasureCases(): ErasureCase[] {
  return [...honest(), ...gone(), ...erasing(), ...salts(), ...forms(), ...folds(), ...handedOn()];
}

/** A trajectory that is written by hand, with its blobs. */
class Case {
  readonly blobs: BlobRow[] = [];
  readonly writer: ChainWriter;

  constructor(name = 't', root: (made: Case) => Members = () => ({})) {
    this.writer = new ChainWriter(name);
    this.writer.add('root', { ...rootMembers({ people: {} }), ...root(this) });
  }

  salted(value: Json): BlobRef {
    return salted(value, this.blobs);
  }

  plain(value: Json): BlobRef {
    const text = canonicalize(value);
    this.blobs.push({ hash: hashText(text), text });
    return { $blob: hashText(text), bytes: Buffer.byteLength(text) };
  }

  /** A blob with this value, under a reference that says it is salted. */
  unsalted(value: Json): BlobRef {
    return { ...this.plain(value), salted: true };
  }

  commit(state: readonly unknown[] | Members, rest: Members = {}): EntryRow {
    return this.writer.add('commit', commitMembers(state as readonly Patch[], rest));
  }

  /** Puts a value at a place where nothing is. */
  put(person: string, value: unknown): EntryRow {
    return this.commit([{ op: 'add', path: `/people/${person}`, value }]);
  }

  erase(values: unknown, rest: Members = {}, state: readonly unknown[] = []): EntryRow {
    return this.writer.add('commit', erasureMembers(values, rest, state as readonly Patch[]));
  }

  /** The ledger, with these values listed as erased. */
  ledger(...erased: readonly (readonly [reference: BlobRef, by: Hash])[]): Ledger {
    const rows = erased.map(([{ $blob: hash }, by]) => ({ hash, by }));
    const blobs = this.blobs.filter(({ hash }) => !rows.some((row) => row.hash === hash));
    return { rows: this.writer.rows, blobs, erased: rows };
  }
}

/** Sensitive values in every position that may have one. */
function full(): { made: Case; references: BlobRef[] } {
  const references: BlobRef[] = [];
  const made = new Case('t', (one) => {
    references.push(one.salted('Ann'));
    return { sensitive: [{ op: 'add', path: '/people/ann', value: references[0] }] };
  });
  const next = (value: Json): BlobRef => {
    const reference = made.salted(value);
    references.push(reference);
    return reference;
  };
  const action = (value: Json) => ({
    name: 'act',
    role: { name: 'worker', params: {} },
    args: next(value),
  });
  const add = (person: string, value: Json) => ({
    op: 'add',
    path: `/people/${person}`,
    value: next(value),
  });
  made.commit([add('bob', 'Bob'), { op: 'add', path: '/n', value: 1 }], {
    action: action({ name: 'Bob' }),
    observations: [{ name: 'seen', value: next('Bob was seen') }],
  });
  const intent = {
    action: 'act',
    role: { name: 'worker', params: {} },
    args: next('Eve'),
    observations: [],
  };
  made.writer.add('rejection', rejectionMembers({ intent }));
  const proposal = {
    action: action('Dan'),
    delta: { state: [add('dan', 'Dan’s')], effects: [], beliefs: [] },
    approval: [add('signed', 'by Dan')],
  };
  made.writer.add('pending_approval', pendingMembers({ freezes: [] }, proposal));
  return { made, references };
}

/** Each of those, with the seq of its entry. */
const SEQS = [0, 1, 1, 1, 2, 3, 3, 3];

function honest(): ErasureCase[] {
  const whole = full();
  const some = full();
  const values = some.references.map(({ $blob }, i) => ({ hash: $blob, seq: SEQS[i] }));
  const left = [
    { op: 'replace', path: '/people/bob', value: { $erased: some.references[1]?.$blob } },
  ];
  const erasure = some.made.erase(values, { entries: [hashText('x')], at: ['/people'] }, left);
  const blob = full();
  const args = {
    at: [],
    entries: [],
    reason: 'x',
    values: [{ hash: blob.references[0]?.$blob as string, seq: 0 }],
  };
  const byBlob = blob.made.commit([], {
    action: {
      name: 'assize.erase',
      role: { name: 'assize', params: {} },
      args: blob.made.plain(args),
    },
  });
  const kept = full();
  kept.made.erase([{ hash: kept.references[0]?.$blob, seq: 0, path: '/people/ann', more: 1 }]);
  return [
    { name: 'nothing erased', ledger: whole.made.ledger(), verdict: 'valid' },
    {
      name: 'all erased',
      ledger: some.made.ledger(
        ...some.references.map((reference) => [reference, erasure.id] as const),
      ),
      verdict: 'valid',
    },
    {
      name: 'erased by arguments in a blob',
      ledger: blob.made.ledger([blob.references[0] as BlobRef, byBlob.id]),
      verdict: 'valid',
    },
    { name: 'named by an erasure, and still there', ledger: kept.made.ledger(), verdict: 'valid' },
  ];
}

function gone(): ErasureCase[] {
  const cases: ErasureCase[] = [];
  for (const i of SEQS.keys()) {
    const { made, references } = full();
    const other = references[(i + 1) % references.length]?.$blob;
    made.erase([{ hash: other, seq: SEQS[(i + 1) % references.length] }]);
    const reference = references[i] as BlobRef;
    const verdict = `${SEQS[i]} blob_missing`;
    const { rows, blobs, erased } = made.ledger();
    const without = blobs.filter(({ hash }) => hash !== reference.$blob);
    cases.push({ name: `text ${i} deleted`, ledger: { rows, blobs: without, erased }, verdict });
    const by = { 'a root': 0, 'a commit': 1, 'a rejection': 2, 'an erasure of something else': 4 };
    for (const [name, seq] of i === 0 || i === 5 ? Object.entries(by) : []) {
      const ledger = made.ledger([reference, made.writer.rows[seq]?.id as Hash]);
      cases.push({ name: `text ${i} erased by ${name}`, ledger, verdict });
    }
    if (i === 0)
      cases.push({
        name: 'erased by nothing',
        ledger: made.ledger([reference, hashText('nothing')]),
        verdict,
      });
  }
  const like = new Case();
  const named = like.salted('Ann');
  like.put('ann', named);
  const args = { at: [], entries: [], reason: 'x', values: [{ hash: named.$blob, seq: 1 }] };
  const other = like.commit([], {
    action: { name: 'act', role: { name: 'worker', params: {} }, args },
  });
  cases.push({
    name: 'erased by another action with such arguments',
    ledger: like.ledger([named, other.id]),
    verdict: '1 blob_missing',
  });
  const twice = new Case();
  const reference = twice.salted('Ann');
  twice.put('ann', reference);
  twice.put('same', { $blob: reference.$blob, bytes: reference.bytes });
  const by = twice.erase([{ hash: reference.$blob, seq: 1 }]);
  cases.push({
    name: 'erased, and referred to without salt too',
    ledger: twice.ledger([reference, by.id]),
    verdict: '2 blob_missing',
  });
  return cases;
}

function erasing(): ErasureCase[] {
  const cases: ErasureCase[] = [];
  const add = (
    name: string,
    verdict: string,
    values: (made: Case, all: BlobRef[]) => unknown,
    rest: Members = {},
  ) => {
    const { made, references } = full();
    made.erase(values(made, references), rest);
    cases.push({ name: `an erasure of ${name}`, ledger: made.ledger(), verdict });
  };
  const first = (all: BlobRef[]) => all[0]?.$blob as Hash;
  add('what no entry has', '4 rule_broken', () => [{ hash: hashText('x'), seq: 0 }]);
  add('what another entry has', '4 rule_broken', (_, all) => [{ hash: first(all), seq: 1 }]);
  add('what it would itself have', '4 rule_broken', (_, all) => [{ hash: first(all), seq: 4 }]);
  add('what comes later', '4 rule_broken', (_, all) => [{ hash: first(all), seq: 5 }]);
  add('far away', '4 rule_broken', (_, all) => [{ hash: first(all), seq: 2 ** 53 - 1 }]);
  add('one good and one not', '4 rule_broken', (_, all) => [
    { hash: first(all), seq: 0 },
    { hash: first(all), seq: 1 },
  ]);
  add('nothing', 'valid', () => []);
  for (const [name, values] of Object.entries({
    'no list': {},
    'no hash': [{ hash: 'x', seq: 0 }],
    'no seq': [{ hash: hashText('x') }],
    'a seq below': [{ hash: hashText('x'), seq: -1 }],
    'a half seq': [{ hash: hashText('x'), seq: 0.5 }],
    'an invalid path': [{ hash: hashText('x'), seq: 0, path: null }],
    'no object': [null],
  }))
    add(name, '4 malformed', () => values);
  for (const name of ['at', 'entries', 'reason', 'beliefs'])
    add(`with ${name} of the wrong type`, '4 malformed', () => [], { [name]: 1 });
  const partitions = [hashText('x')];
  for (const [name, verdict, belief] of [
    ['a subject', 'valid', { space: 's', partitions }],
    ['what it has nothing of', 'valid', { space: 's', partitions: [] }],
    ['a claim, and more', 'valid', { space: 's', partitions, claim: 'c', more: 1 }],
    ['no object', '4 malformed', null],
    ['a list', '4 malformed', ['s', partitions]],
    ['no space', '4 malformed', { partitions }],
    ['no partitions', '4 malformed', { space: 's' }],
    ['partitions by name', '4 malformed', { space: 's', partitions: ['x'] }],
    ['one that is not a list', '4 malformed', { space: 's', partitions: partitions[0] }],
    ['an invalid claim', '4 malformed', { space: 's', partitions, claim: null }],
  ] as const)
    add(`beliefs of ${name}`, verdict, () => [], { beliefs: [belief] });

  const unsalted = new Case();
  const plain = unsalted.plain('a large one');
  unsalted.put('ann', plain);
  unsalted.erase([{ hash: plain.$blob, seq: 1 }]);
  cases.push({
    name: 'an erasure of an unsalted value',
    ledger: unsalted.ledger(),
    verdict: '2 rule_broken',
  });

  const own = new Case();
  const seen = own.salted('seen');
  const { action } = erasureMembers([{ hash: seen.$blob, seq: 1 }]);
  own.commit([], { action, observations: [{ name: 'seen', value: seen }] });
  cases.push({
    name: 'an erasure of a value of its own',
    ledger: own.ledger(),
    verdict: '1 rule_broken',
  });

  const later = new Case();
  const ann = later.salted('Ann');
  later.put('bob', 'Bob');
  later.erase([{ hash: ann.$blob, seq: 3 }]);
  later.put('ann', ann);
  cases.push({
    name: 'an erasure of a later value',
    ledger: later.ledger(),
    verdict: '2 rule_broken',
  });

  const here = new Case();
  const there = new Case('other');
  const theirs = there.salted('Ann');
  there.put('ann', theirs);
  here.put('bob', 'Bob');
  const by = here.erase([{ hash: theirs.$blob, seq: 1 }]);
  const rows = [...there.writer.rows, ...here.writer.rows];
  const erased = [{ hash: theirs.$blob, by: by.id }];
  cases.push(
    {
      name: 'an erasure of a value of another trajectory',
      ledger: { rows, blobs: there.blobs, erased: [] },
      verdict: '2 rule_broken',
    },
    {
      name: 'the same, and it is gone',
      ledger: { rows, blobs: [], erased },
      verdict: '2 rule_broken',
    },
  );

  const withArgs = (args: unknown) => ({
    action: { name: 'assize.erase', role: { name: 'assize', params: {} }, args },
  });
  const secret = new Case();
  secret.commit([], withArgs(secret.salted({ at: [], entries: [], reason: 'x', values: [] })));
  cases.push({
    name: 'salted arguments of an erasure',
    ledger: secret.ledger(),
    verdict: '1 malformed',
  });
  const circle = new Case();
  const itself = circle.salted({ at: [], entries: [], reason: 'x', values: [] });
  const round = circle.commit([], withArgs(itself));
  cases.push({
    name: 'an erasure of its own arguments',
    ledger: circle.ledger([itself, round.id]),
    verdict: '1 blob_missing',
  });
  return cases;
}

function salts(): ErasureCase[] {
  const salt = '0'.repeat(32);
  const texts: Record<string, Json> = {
    'a salt': 'Ann',
    'a list': ['salt', 'value'],
    'no salt': { value: 'Ann' },
    'no value': { salt },
    'a short salt': { salt: '00', value: 'Ann' },
    'a salt in capitals': { salt: 'A'.repeat(32), value: 'Ann' },
    'a salt that is a number': { salt: 1, value: 'Ann' },
    'a third member': { salt, value: 'Ann', x: 1 },
  };
  return Object.entries(texts).flatMap(([name, text]): ErasureCase[] => {
    const patch = new Case();
    patch.put('ann', patch.unsalted(text));
    const args = new Case();
    args.commit([], {
      action: { name: 'act', role: { name: 'worker', params: {} }, args: args.unsalted(text) },
    });
    const root = new Case('t', (one) => ({
      sensitive: [{ op: 'add', path: '/people/ann', value: one.unsalted(text) }],
    }));
    const of = `a salted blob that has ${name}`;
    return [
      { name: `${of}, in a patch`, ledger: patch.ledger(), verdict: '1 malformed' },
      { name: `${of}, in arguments`, ledger: args.ledger(), verdict: '1 malformed' },
      { name: `${of}, in a root`, ledger: root.ledger(), verdict: '0 malformed' },
    ];
  });
}

function forms(): ErasureCase[] {
  const cases: ErasureCase[] = [];
  const hash = hashText('x');
  const wrong: Record<string, Members> = {
    'no bytes': { $blob: hash },
    'no hash': { $blob: 'x', bytes: 1 },
    'salted: false': { $blob: hash, bytes: 1, salted: false },
    'a fourth member': { $blob: hash, bytes: 1, salted: true, x: 1 },
    'another third member': { $blob: hash, bytes: 1, more: true },
    'a marker and more': { $erased: hash, x: 1 },
    'a marker of no hash': { $erased: 'x' },
    'a marker in a reference': { $erased: hash, $blob: hash, bytes: 1 },
  };
  for (const [name, value] of Object.entries(wrong)) {
    for (const op of ['add', 'remove']) {
      const made = new Case();
      made.commit([{ op, path: '/people/ann', value }]);
      cases.push({ name: `${op} with ${name}`, ledger: made.ledger(), verdict: '1 malformed' });
    }
    const pending = new Case();
    pending.writer.add(
      'pending_approval',
      pendingMembers({}, { approval: [{ op: 'add', path: '/x', value }] }),
    );
    const root = new Case('t', () => ({ sensitive: [{ op: 'add', path: '/x', value }] }));
    cases.push(
      { name: `an approval with ${name}`, ledger: pending.ledger(), verdict: '1 malformed' },
      { name: `a root with ${name}`, ledger: root.ledger(), verdict: '0 malformed' },
    );
  }
  const args = new Case();
  args.commit([], {
    action: { name: 'act', role: { name: 'worker', params: {} }, args: { $erased: hash } },
  });
  const list = new Case();
  list.commit({ ...list.salted([]) });
  const approval = new Case();
  approval.writer.add('pending_approval', pendingMembers({}, { approval: approval.salted([]) }));
  const state = new Case('t', (one) => ({ initial_state: one.salted({}) }));
  const marked = new Case();
  marked.put('ann', { $erased: hash });
  const deep = new Case();
  deep.put('ann', { name: { $blob: 'x' }, was: { $erased: 1 } });
  cases.push(
    { name: 'a marker in place of arguments', ledger: args.ledger(), verdict: '1 malformed' },
    { name: 'a salted list of changes', ledger: list.ledger(), verdict: '1 malformed' },
    { name: 'a salted approval', ledger: approval.ledger(), verdict: '1 malformed' },
    { name: 'a salted initial state', ledger: state.ledger(), verdict: '0 malformed' },
    { name: 'a marker in a change', ledger: marked.ledger(), verdict: 'valid' },
    { name: 'inside a value all is data', ledger: deep.ledger(), verdict: 'valid' },
  );
  return cases;
}

/**
 * Cases of the fold at a path: a value, an erased value, and data that only resembles a reference.
 */
function folds(): ErasureCase[] {
  const there = (made: Case, path: string) => made.commit([{ op: 'replace', path, value: 'x' }]);
  const value = new Case('t', (one) => ({
    sensitive: [{ op: 'add', path: '/people/ann', value: one.salted({ name: 'Ann' }) }],
  }));
  there(value, '/people/ann/name');
  const unsalted = new Case();
  unsalted.put('ann', unsalted.plain({ name: 'Ann' }));
  there(unsalted, '/people/ann/name');
  const erased = new Case();
  const ann = erased.salted({ name: 'Ann' });
  erased.put('ann', ann);
  const by = erased.erase([{ hash: ann.$blob, seq: 1 }]);
  there(erased, '/people/ann/$erased');
  const member = new Case();
  const bob = member.salted({ name: 'Bob' });
  member.put('bob', bob);
  const of = member.erase([{ hash: bob.$blob, seq: 1 }]);
  there(member, '/people/bob/name');
  const data = new Case();
  data.commit(
    data.plain([
      { op: 'add', path: '/people/ann', value: { $blob: hashText('x'), bytes: 1 } },
    ] as never),
  );
  there(data, '/people/ann/bytes');
  const bad = new Case('t', (one) => ({
    sensitive: [{ op: 'replace', path: '/people/ann', value: one.salted('Ann') }],
  }));
  const removed = new Case();
  removed.put('ann', 1);
  removed.commit([
    { op: 'remove', path: '/people/ann', value: { $blob: hashText('x'), bytes: 1 } },
  ]);
  const lists = new Case();
  const state = lists.plain({ no: 'list' });
  lists.writer.add('pending_approval', pendingMembers({}, { approval: state }));
  return [
    { name: 'the fold has the value', ledger: value.ledger(), verdict: 'valid' },
    { name: 'also of a blob without salt', ledger: unsalted.ledger(), verdict: 'valid' },
    {
      name: 'the fold has a marker where it was erased',
      ledger: erased.ledger([ann, by.id]),
      verdict: 'valid',
    },
    { name: 'and not the value', ledger: member.ledger([bob, of.id]), verdict: '3 bad_patch' },
    { name: 'in a list that is a blob all is data', ledger: data.ledger(), verdict: 'valid' },
    { name: 'sensitive parts that can’t be added', ledger: bad.ledger(), verdict: '0 bad_patch' },
    {
      name: 'a removal refers to what is not there',
      ledger: removed.ledger(),
      verdict: '2 blob_missing',
    },
    { name: 'an approval that is not a list', ledger: lists.ledger(), verdict: '1 malformed' },
  ];
}

/** Cases of the initial state that a delegation gives to its child. */
function handedOn(): ErasureCase[] {
  const handed = (
    change: (sensitive: readonly Patch[]) => Members,
    erase: 'parent' | 'child' | 'nobody',
  ): Ledger => {
    const made = new Case('first', () => ({ writs: [WRIT, HELD] }));
    const ann = made.salted('Ann');
    const sensitive = [{ op: 'add', path: '/ann', value: ann }] as const;
    const begins = { domain: DOMAIN, initial_state: {}, sensitive };
    const start = made.writer.add('delegation', delegationMembers({ begins }));
    const child = new ChainWriter('child');
    child.add('root', { ...childMembers(start), ...change(sensitive) });
    const values =
      erase === 'parent' ? [{ hash: ann.$blob, seq: 1 }] : [{ hash: ann.$blob, seq: 0 }];
    const writer = erase === 'child' ? child : made.writer;
    const at = '2026-03-23T09:00:09.000000Z';
    const writ_id = writId(erase === 'child' ? DELEGATED : WRIT);
    const by =
      erase === 'nobody'
        ? undefined
        : writer.add('commit', { ...erasureMembers(values), writ_id, at });
    const rows = [...made.writer.rows.slice(0, 2), ...child.rows, ...made.writer.rows.slice(2)];
    const ledger = made.ledger(...(by === undefined ? [] : [[ann, by.id] as const]));
    return { ...ledger, rows };
  };
  const same = () => ({});
  return [
    {
      name: 'a child begins with sensitive parts',
      ledger: handed(same, 'nobody'),
      verdict: 'valid',
    },
    { name: 'its parent erases them', ledger: handed(same, 'parent'), verdict: 'valid' },
    { name: 'it erases them itself', ledger: handed(same, 'child'), verdict: 'valid' },
    {
      name: 'a child begins without them',
      ledger: handed(() => ({ sensitive: undefined }), 'nobody'),
      verdict: '0 rule_broken',
    },
    {
      name: 'a child begins with more',
      ledger: handed(
        (sensitive) => ({ sensitive: [...sensitive, { op: 'add', path: '/x', value: 1 }] }),
        'nobody',
      ),
      verdict: '0 rule_broken',
    },
  ];
}
