import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAssizeError } from '#base';
import { canonicalize, hashText } from '#canon';
import { type BlobRow, type EntryRow, type Payload, Replayer, verifyTrajectory } from '#ledger';
import { cases } from '../support/cases.ts';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { honestSettlements } from '../support/ledger/settlement-cases.ts';
import { generatedDomain, type RuleSpec } from '../support/models/generated-domain.ts';
import {
  clone,
  isContainer,
  jsonValue,
  oddKey,
  setMember,
  type Value,
} from '../support/models/json.ts';
import {
  askingRules,
  fitted,
  payloadOf,
  play,
  schedule,
  shopState,
} from '../support/models/schedule.ts';
import { tally } from '../support/tools/effect-sink.ts';

// A ledger that another program wrote, hashes included. For any content, verification ends with a
// report. Opening ends with a typed error or a trajectory that works. (Checkpoints detect that a
// sound-looking ledger is forged, decisions §4.1.)

interface Forgery {
  /** The entry, and the path into its payload. */
  readonly entry: number;
  readonly walk: readonly number[];
  readonly what: 'replace' | 'remove' | 'add' | 'borrow';
  readonly key: string;
  readonly value: Value;
  /** Whether what follows is linked again. */
  readonly relinked: boolean;
}

const forgery: fc.Arbitrary<Forgery> = fc.record({
  entry: fc.nat(12),
  walk: fc.array(fc.nat(9), { minLength: 1, maxLength: 5 }),
  what: fc.constantFrom('replace' as const, 'remove' as const, 'add' as const, 'borrow' as const),
  key: fc.oneof(
    oddKey,
    fc.constantFrom('resolves', 'counselor', 'detection_vector', 'expires', 'signature', '$blob'),
  ),
  value: fc.oneof(
    jsonValue,
    fc.constantFrom<Value[]>(
      { $blob: 'a'.repeat(64), bytes: 1 },
      { $blob: 5 },
      { $erased: true },
      'a'.repeat(64),
      [{ op: 'test', path: '/n', value: 1 }],
    ),
  ),
  relinked: fc.boolean(),
});

function forge(
  rows: readonly EntryRow[],
  { entry, walk, what, key, value, relinked }: Forgery,
): EntryRow[] {
  const at = entry % rows.length;
  const payloads = rows.map((row) => payloadOf(row) as unknown as { [key: string]: Value });
  let here: Value = payloads[at] as Value;
  for (const step of walk.slice(0, -1)) {
    const below = Object.values(here as object).filter(isContainer);
    if (below.length === 0) break;
    here = below[step % below.length] as Value;
  }
  const names = Object.keys(here as object);
  const name =
    what === 'add' || names.length === 0
      ? key
      : (names[(walk.at(-1) as number) % names.length] as string);
  const lent = Object.values(payloads[(at + 1) % rows.length] as object)[entry % 5] as Value;
  if (what === 'remove' && !Array.isArray(here)) delete (here as { [key: string]: Value })[name];
  else if (Array.isArray(here)) here[Number(name) || 0] = clone(value);
  else setMember(here as object, name, clone(what === 'borrow' ? lent : value));
  return relink(rows, payloads as unknown as Payload[], at, relinked);
}

function relink(
  rows: readonly EntryRow[],
  payloads: readonly Payload[],
  from: number,
  all: boolean,
): EntryRow[] {
  const forged = [...rows];
  for (let seq = from; seq < rows.length; seq++) {
    if (seq > from && !all) break;
    let payload = payloads[seq] as Payload;
    if (seq > from) payload = { ...payload, parent: (forged[seq - 1] as EntryRow).id } as Payload;
    let text: string;
    try {
      text = canonicalize(payload);
    } catch {
      return forged;
    }
    const { trajectory_id, kind } = rows[seq] as EntryRow;
    const parent = typeof payload.parent === 'string' ? payload.parent : null;
    forged[seq] = { id: hashText(text), trajectory_id, parent, seq, kind, payload: text };
  }
  return forged;
}

/** A store that has these rows, right or wrong. */
class ForgedStore extends MemoryStore {
  readonly #rows: readonly EntryRow[];
  readonly #blobs: ReadonlyMap<string, string>;

  constructor(rows: readonly EntryRow[], blobs: readonly BlobRow[] = []) {
    super();
    this.#rows = rows;
    this.#blobs = new Map(blobs.map(({ hash, text }) => [hash, text]));
  }

  override async entries(
    trajectoryId: string,
    { from = 0, limit = 1_000 } = {},
  ): Promise<EntryRow[]> {
    return trajectoryId === 't' ? this.#rows.slice(from, from + limit) : [];
  }

  override async resolve(id: string): Promise<EntryRow | undefined> {
    return this.#rows.find((row) => row.id === id);
  }

  override async blob(hash: string): Promise<string | undefined> {
    return this.#blobs.get(hash);
  }
}

test('for any content of a ledger, verification reports and opening answers', () =>
  fc.assert(
    fc.asyncProperty(
      askingRules,
      shopState,
      schedule,
      fc.array(forgery, { minLength: 1, maxLength: 3 }),
      async (drawn, start, steps, forgeries) => {
        const specs: RuleSpec[] = fitted(drawn, start);
        const { happenings } = await play(specs, start, steps);
        const rows = forgeries.reduce(forge, happenings.at(-1)?.after as EntryRow[]);
        const store = new ForgedStore(rows);
        const report = await verifyTrajectory(new Replayer(store), 't');
        expect(report.valid).toBe(report.fault === undefined);
        if (report.fault !== undefined) expect(report.fault.seq).toBeLessThan(rows.length);
        const opened = await runtimeOver(store, [generatedDomain(specs).domain])
          .open('t')
          .catch((error: unknown) => error);
        if (!isAssizeError(opened)) expect(report.valid).toBe(true);
      },
    ),
    { numRuns: cases(1_000) },
  ));

test('and also for records of effects', async () => {
  const { rows, blobs } = await honestSettlements();
  const keys = [
    'settled',
    'decided',
    'commit',
    'effects',
    'outcome',
    'by',
    'cause',
    'resolves',
    'observations',
  ];
  const ofEffects = fc
    .record({ forgery, key: fc.constantFrom(...keys) })
    .map((drawn) => ({ ...drawn.forgery, key: drawn.key }));
  const found = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(forgery, ofEffects), { minLength: 1, maxLength: 3 }),
      async (forgeries) => {
        const forged = forgeries.reduce(forge, rows);
        const store = new ForgedStore(forged, blobs);
        const report = await verifyTrajectory(new Replayer(store), 't');
        expect(report.valid).toBe(report.fault === undefined);
        if (report.fault !== undefined) found.add(report.fault.code);
        const opened = await runtimeOver(store, [tally])
          .open('t')
          .catch((error: unknown) => error);
        if (!isAssizeError(opened)) expect(report.valid).toBe(true);
      },
    ),
    { numRuns: cases(1_000) },
  );
  expect(found).toContain('malformed');
});
