import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  damaged,
  entries,
  flipped,
  hex,
  LOG,
  logOf,
  ORIGIN,
  RUBBISH,
  STRANGER,
  seed,
  signedNote,
  WITNESSES,
} from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import { formatAddCheckpoint } from './add-checkpoint.ts';
import { formatCheckpoint } from './checkpoint.ts';
import { cosign, cosignedAt } from './cosignature.ts';
import { emptyRoot } from './hash.ts';
import { formatNote, parseNote } from './note.ts';
import { signerKey } from './note-key.ts';
import { type KnownLog, openCheckpoint } from './open-checkpoint.ts';
import { signNote } from './open-note.ts';
import { signCheckpoint } from './sign-checkpoint.ts';
import { consistencyProof, rootAt } from './tree.ts';
import type { TreeHead } from './verify.ts';
import { decideCheckpoint, type WitnessDecision, type WitnessRecord } from './witness.ts';

const KNOWN: KnownLog = { origin: ORIGIN, keys: [LOG] };
const MAX = 40;
const { read } = logOf(entries(MAX));
const other = logOf(entries(MAX).with(11, 'rewritten'));
const head = (size: number): WitnessRecord => ({ size: BigInt(size), root: rootAt(size, read) });

/** A witness that has recorded that tree, or no tree. */
function decide(
  body: string | Uint8Array,
  recorded?: TreeHead,
  log: KnownLog | undefined = KNOWN,
): WitnessDecision {
  return decideCheckpoint(body, {
    log: (origin) => (origin === log?.origin ? log : undefined),
    recorded: (origin) => {
      expect(origin).toBe(ORIGIN);
      return recorded;
    },
  });
}

function request(old: number, size: number, { from = old, tree = read } = {}): string {
  return formatAddCheckpoint(
    old,
    consistencyProof(from, size, tree),
    signCheckpoint({ size, root: rootAt(size, tree) }, LOG),
  );
}

describe('a witness cosigns', () => {
  test('every step of a log that only grows, for all sizes', () => {
    for (let size = 0; size <= MAX; size++) {
      for (let old = 0; old <= size; old++) {
        const decision = decide(request(old, size), old === 0 ? undefined : head(old));
        expect(decision, `${old} to ${size}`).toMatchObject({
          status: 200,
          origin: ORIGIN,
          record: head(size),
        });
      }
    }
  });

  test('the text it received, and returns the signature that it verified', () => {
    const text = formatCheckpoint({ origin: ORIGIN, ...head(5), extensions: ['an extension'] });
    const signatures = [
      signNote(text, STRANGER),
      signNote(text, LOG),
      cosign(text, WITNESSES[1]!, 9),
    ];
    const decision = decide(formatAddCheckpoint(0, [], formatNote({ text, signatures })));
    if (decision.status !== 200) throw new Error(decision.body);
    expect(decision.text).toBe(text);
    expect(decision.signatures.map(({ name }) => name)).toEqual([LOG.name]);
    const mine = cosign(decision.text, WITNESSES[0]!, 7);
    expect(cosignedAt(text, mine, WITNESSES[0]!)).toBe(7n);
    const shown = formatNote({ text: decision.text, signatures: [...decision.signatures, mine] });
    expect(openCheckpoint(shown, KNOWN, WITNESSES)).toMatchObject({
      valid: true,
      cosignatures: [{ time: 7n }],
    });
  });

  test('the same checkpoint again, and the empty one', () => {
    expect(decide(request(9, 9), head(9))).toMatchObject({ status: 200, record: head(9) });
    expect(decide(request(0, 0))).toMatchObject({ status: 200, record: { size: 0n } });
    expect(decide(request(0, 0), { size: 0, root: emptyRoot() })).toMatchObject({
      status: 200,
      record: { size: 0n },
    });
    expect(decide(request(0, 3), { size: 0, root: emptyRoot() })).toMatchObject({
      status: 200,
      record: { size: 3n },
    });
  });

  test('by a record of number or bigint, and by any key of the log', () => {
    expect(decide(request(3, 5), { size: 3, root: head(3).root })).toMatchObject({ status: 200 });
    const next = signerKey('log.example/other-name', 'note', seed(40));
    const text = formatCheckpoint({ origin: ORIGIN, ...head(5) });
    const signed = formatNote({ text, signatures: [signNote(text, next)] });
    const body = formatAddCheckpoint(0, [], signed);
    expect(decide(body, undefined, { origin: ORIGIN, keys: [LOG, next] })).toMatchObject({
      status: 200,
    });
    expect(decide(body)).toMatchObject({ status: 403 });
  });
});

describe('a witness does not cosign', () => {
  const signed = signCheckpoint(head(9), LOG);
  const refused = (status: number, reason: string) => ({
    status,
    reason,
    body: expect.stringMatching(/^.+\n$/),
  });

  test('400: a malformed request, or an old size above the new one', () => {
    for (const body of [
      '',
      'old 1\n',
      `old 1\n\n${signed}\n`,
      `old 01\n\n${signed}`,
      Buffer.of(0xff),
      EXTRA_HASHES,
    ]) {
      expect(decide(body, head(1))).toEqual({
        ...refused(400, 'malformed'),
        contentType: 'text/plain; charset=utf-8',
      });
    }
    expect(decide(formatAddCheckpoint(10, [], signed), head(10))).toMatchObject(
      refused(400, 'old_above_size'),
    );
    expect(decide(formatAddCheckpoint(10, [], signed), head(3))).toMatchObject(
      refused(400, 'old_above_size'),
    );
  });

  test('404: a log that it does not follow, even with other faults', () => {
    const text = formatCheckpoint({ ...head(9), origin: 'unknown.example' });
    const body = formatAddCheckpoint(99, [head(1).root], signedNote(text));
    expect(
      decideCheckpoint(body, { log: () => undefined, recorded: () => expect.unreachable() }),
    ).toMatchObject(refused(404, 'unknown_log'));
  });

  test('403: a text without the log’s signature, before it reveals the record', () => {
    const text = formatCheckpoint({ origin: ORIGIN, ...head(9) });
    const stranger = formatNote({ text, signatures: [signNote(text, STRANGER)] });
    expect(decide(formatAddCheckpoint(1, [], stranger), head(3))).toMatchObject(
      refused(403, 'not_signed'),
    );
    const good = signNote(text, LOG);
    const bad = { ...good, value: flipped(good.value, 5) };
    for (const signatures of [[bad], [good, bad], [bad, good]]) {
      const body = formatAddCheckpoint(10, [], formatNote({ text, signatures }));
      expect(decide(body, head(3))).toMatchObject(refused(403, 'bad_signature'));
    }
    const posing = { ...signNote(text, STRANGER), name: LOG.name, keyId: LOG.id };
    const body = formatAddCheckpoint(0, [], formatNote({ text, signatures: [posing] }));
    expect(decide(body)).toMatchObject(refused(403, 'bad_signature'));
    expect(decide(request(0, 9), undefined, { origin: ORIGIN, keys: [] })).toMatchObject(
      refused(403, 'not_signed'),
    );
    expect(
      decide(
        formatAddCheckpoint(
          0,
          [],
          signedNote(text.replace('\n9\n', '\n8\n')).replace('\n8\n', '\n9\n'),
        ),
      ),
    ).toMatchObject(refused(403, 'bad_signature'));
  });

  test('409: from a size that it has not recorded; it says which it has', () => {
    const stale = (old: number, size: number, recorded?: TreeHead) =>
      decide(request(old, size), recorded);
    const answer = (size: number) => ({
      status: 409,
      reason: 'stale',
      body: `${size}\n`,
      contentType: 'text/x.tlog.size',
    });
    expect(stale(0, 9, head(3))).toEqual(answer(3));
    expect(stale(4, 9, head(3))).toEqual(answer(3));
    expect(stale(3, 9)).toEqual(answer(0));
    expect(stale(0, 0, head(3))).toEqual(answer(3));
    // A checkpoint before the cosigned one is this case too: old must be the recorded size, and is
    // not above the new.
    expect(stale(2, 2, head(3))).toEqual(answer(3));
    expect(decide(request(5, 9), { size: 2n ** 63n, root: head(1).root })).toMatchObject({
      body: '9223372036854775808\n',
    });
  });

  test('422: a checkpoint that does not continue the record', () => {
    const root = head(9).root;
    for (let old = 1; old < 9; old++) {
      const proof = consistencyProof(old, 9, read);
      for (const bad of [
        [],
        proof.slice(1),
        [...proof, root],
        proof.with(0, flipped(proof[0]!, 0)),
        [root],
      ]) {
        expect(decide(formatAddCheckpoint(old, bad, signed), head(old))).toMatchObject(
          refused(422, 'bad_proof'),
        );
      }
    }
    expect(decide(request(0, 9, { from: 3 }), undefined)).toMatchObject(
      refused(422, 'proof_from_nothing'),
    );
    expect(decide(request(9, 9, { from: 3 }), head(9))).toMatchObject(refused(422, 'bad_proof'));
    expect(
      decide(formatAddCheckpoint(0, [root], signCheckpoint({ size: 0, root: emptyRoot() }, LOG))),
    ).toMatchObject(refused(422, 'proof_from_nothing'));
  });

  test('422: a log that was rewritten, by whichever proof', () => {
    for (const [old, size] of [
      [12, 12],
      [12, 20],
      [20, 20],
      [20, 33],
      [11, 11],
    ] as const) {
      const decision = decide(request(old, size, { tree: other.read }), head(old));
      if (old <= 11) expect(decision).toMatchObject({ status: 200 });
      else
        expect(decision).toMatchObject({
          status: 422,
          reason: old === size ? 'other_root' : 'bad_proof',
        });
      const signedOther = signCheckpoint({ size, root: rootAt(size, other.read) }, LOG);
      const honest = formatAddCheckpoint(old, consistencyProof(old, size, read), signedOther);
      if (old > 11) expect(decide(honest, head(old))).toMatchObject({ status: 422 });
    }
  });

  test('422: size 0 with a root, unless the size conflicts with the record', () => {
    const text = formatCheckpoint({ origin: ORIGIN, ...head(9) }).replace('\n9\n', '\n0\n');
    const body = formatAddCheckpoint(0, [], signedNote(text));
    expect(decide(body)).toMatchObject(refused(422, 'false_empty_root'));
    expect(decide(body, { size: 0, root: rootAt(9, read) })).toMatchObject(
      refused(422, 'false_empty_root'),
    );
    expect(decide(body, head(3))).toMatchObject({ status: 409, body: '3\n' });
  });
});

test('a witness with a damaged record does not go on', () => {
  for (const size of [-1, 1.5, undefined, '3', Number.NaN]) {
    expect(saidOf(() => decide(request(3, 9), { size, root: head(3).root } as never))).toMatch(
      'bad_argument: The witness has recorded a value that is not a size. Repair',
    );
  }
  expect(decide(request(3, 9), { size: 3, root: new Uint8Array(0) })).toMatchObject({
    status: 422,
  });
});

test('for any input it answers, and cosigns only continuations of the record', () => {
  const bodies = [
    request(7, 19),
    request(0, 19),
    request(19, 19),
    request(12, 33, { tree: other.read }),
  ];
  const texts = bodies.map((body) => parseNote(body.slice(body.indexOf('\n\n') + 2)).text);
  let cosigned = 0;
  fc.assert(
    fc.property(
      fc.oneof(...bodies.map((body) => damaged(body)), ...bodies.map((body) => fc.constant(body))),
      fc.constantFrom(0, 7, 12, 19),
      (body, size) => {
        const decision = decide(body, size === 0 ? undefined : head(size));
        expect([200, 400, 403, 404, 409, 422]).toContain(decision.status);
        if (decision.status !== 200) return;
        cosigned += 1;
        expect(texts).toContain(decision.text);
        expect([
          hex(rootAt(19, read)),
          ...(size === 0 ? [hex(rootAt(33, other.read))] : []),
        ]).toContain(hex(decision.record.root));
      },
    ),
    { numRuns: 2_000 },
  );
  expect(cosigned).toBeGreaterThan(20);
  fc.assert(
    fc.property(RUBBISH, (body) => {
      expect(decide(body as string)).toMatchObject({ status: 400 });
    }),
  );
});

const EXTRA_HASHES = `old 1\n${`${Buffer.alloc(32).toString('base64')}\n`.repeat(64)}\n${signCheckpoint(head(9), LOG)}`;
